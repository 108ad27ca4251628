"""Moving bodies stay in their swept volumes, and contacts within their windows."""

import functools
import itertools

import numpy as np
import pytest

from jostle.continuous.interpolate import STRAIGHT, turn_between
from jostle.continuous.moving_surface import MovingSurface
from jostle.geometry.pose import rotation_about
from jostle.geometry.rigid import transform_points
from jostle.kernels.jit import kernel
from jostle.kernels.structs import opener, record_viewer
from jostle.methods.bounding_tree import sweep_search
from jostle.methods.bounding_tree.build import build
from jostle.methods.bounding_tree.dynamic import Mover
from jostle.methods.bounding_tree.leaves import AXES_OF_FACE
from jostle.methods.bounding_tree.motions import (
    IDENTITY,
    Instant,
    MovingShape,
    instant_of,
    moving_tree,
    pads_of,
    resting_template,
)
from jostle.methods.bounding_tree.moving_faces import fill_moving_leaf, window_of_faces
from jostle.methods.bounding_tree.near_faces import EVERY_FACE
from jostle.methods.bounding_tree.near_moving_faces import MovingLeaf, near_moving_faces
from jostle.methods.bounding_tree.refit import refit_ends
from jostle.methods.bounding_tree.show import _swept
from jostle.methods.bounding_tree.swept import set_up_axes, set_up_node, window_of_centres, window_of_places
from jostle.methods.bounding_tree.swept_body import (
    CurrentLeaf,
    Interval,
    MovingAxis,
    MovingFace,
    SweepScratch,
    SweptBody,
    SweptNode,
)
from jostle.methods.bounding_tree.tree import AXES, HALF, RADIUS, SPHERE
from jostle.shapes.mesh import Mesh
from tests.tiny import random_pose, random_soup

VOLUMES = ("obb", "aabb", "sphere")


def skewed(rng, pose):
    """A pose as a file may hold it: orthonormal only to 1e-6."""
    pose = pose.copy()
    pose[:3, :3] *= 1.0 + 3e-6 * rng.uniform(-1.0, 1.0, (3, 3))
    return pose


@functools.cache
def soup(number, volume):
    mesh = random_soup(np.random.default_rng(number), 12)
    return mesh, build(mesh, volume, "gottschalk", leaf_faces=2)


def mover(mesh, tree, start, end, deformed=None):
    if deformed is None:
        turn = turn_between(start, end)
        world = transform_points(start, mesh.vertices), transform_points(end, mesh.vertices)
        moving = moving_tree(resting_template(tree, mesh.vertices), (tree.volumes, tree.volumes), (start, end), turn, world)
    else:
        turn = STRAIGHT
        world = transform_points(start, mesh.vertices), transform_points(end, deformed)
        template = resting_template(tree, mesh.vertices)
        moving = moving_tree(template, refit_ends(tree, *world), (IDENTITY, IDENTITY), turn, world)
    return tree, Mover(moving, MovingSurface(*world, mesh.faces, turn), deformed is None, 2)


def random_mover(rng, volume, what):
    """A small soup that turns by up to 170°, has skewed poses, shifts, or deforms."""
    mesh, tree = soup(int(rng.integers(6)), volume)
    start = random_pose(rng, 2.0)
    end = rotation_about(rng.normal(size=3), rng.uniform(0.0, np.radians(170))) @ start if what != "shifts" else start.copy()
    end[:3, 3] += rng.normal(size=3) * 10.0 ** rng.uniform(-3, 1)
    if what == "skewed":
        start, end = skewed(rng, start), skewed(rng, end)
    deformed = mesh.vertices + rng.normal(size=mesh.vertices.shape) if what == "deforms" else None
    return mover(mesh, tree, start, end, deformed)


open_shape, open_scratch = opener(MovingShape), opener(SweepScratch)
FACES = [field.name for field in SweepScratch.layout].index("faces")
view_place, view_face = record_viewer(SweptNode), record_viewer(MovingFace)


@kernel
def set_up_place(shape, scratch, node, halvings, s, e):
    body, interval = SweptBody(open_shape(shape), open_scratch(scratch)), Interval(halvings, s, e, 0, 1, 2)
    set_up_node(body, node, interval)
    set_up_axes(body, interval)


@kernel
def set_up_leaf(shape, scratch, node, halvings, s, e):
    fill_moving_leaf(SweptBody(open_shape(shape), open_scratch(scratch)), node, Interval(halvings, s, e, 0, 1, 2))


@kernel
def near_faces_of(shape, scratch, other_shape, other_scratch, node, halvings, s, e, padding, limit):
    interval = Interval(halvings, s, e, 0, 1, 2)
    other = SweptBody(open_shape(other_shape), open_scratch(other_scratch))
    set_up_node(other, node, interval)
    leaf = MovingLeaf(SweptBody(open_shape(shape), open_scratch(scratch)), 0, EVERY_FACE)
    return near_moving_faces(leaf, other, 1, interval, padding, limit)


@kernel
def centres_meet(relative, exact, a, b, padding):
    return window_of_centres(relative, exact, view_place(a), view_place(b), padding)


@kernel
def places_meet(relative, exact, a, b, skew, padding):
    window = window_of_centres(relative, exact, view_place(a), view_place(b), padding)
    if window.low <= window.high:
        window = window_of_places(relative, window, view_place(a), view_place(b), skew, padding)
    return window


@kernel
def faces_meet(a, b, padding):
    return window_of_faces(view_face(a), view_face(b), padding)


def scratch_of(moving, interval, faces=0):
    """What the traversal knows of a body over an interval, without nodes and faces."""
    _halvings, s, e = interval
    motion = moving.tree.motion
    return {
        "instants": np.concatenate([instant_of(motion, t) for t in (s, 0.5 * (s + e), e)]).astype(Instant.dtype),
        "pads": pads_of(motion),
        "place": np.zeros(1, SweptNode.dtype),
        "leaf": np.zeros(1, CurrentLeaf.dtype),
        "faces": np.zeros(faces, MovingFace.dtype),
        "axes": np.zeros(AXES_OF_FACE * faces, MovingAxis.dtype),
    }


def placed(moving, node, interval):
    """The place of a node over an interval: what the kernel knows of it."""
    scratch = scratch_of(moving, interval)
    table = SweepScratch.table(**scratch)
    set_up_place(moving.tree.table.table[0], table.table[0], node, *interval)
    return scratch["place"]


def axes_of(place):
    return np.array([place[axis][0] for axis in "uvw"])


def largest(moving):
    return moving.tree.motion["largest"][0]


def skew_of(moving):
    return moving.tree.motion["skew"][0]


def random_interval(rng):
    halvings = int(rng.integers(0, 5))
    number = int(rng.integers(0, 1 << halvings))
    return halvings, number / (1 << halvings), (number + 1) / (1 << halvings)


WHAT = ("turns", "skewed", "shifts", "deforms")


@pytest.mark.parametrize("what", ["turns", "skewed", "shifts"])
def test_at_every_instant_a_rigid_body_is_an_affine_image_of_its_mesh(what):
    rng = np.random.default_rng(1)
    for _ in range(20):
        _tree, moving = random_mover(rng, "aabb", what)
        start = moving.tree.motion["start"]
        local = np.linalg.solve(axes_of(start), (moving.surface.vertices_t0 - start["origin"][0]).T).T
        for t in (0.0, 1.0, *rng.random(5)):
            place = instant_of(moving.tree.motion, t)["place"]
            image = local @ axes_of(place).T + place["origin"][0]
            assert np.allclose(image, moving.surface.placed(t), rtol=0, atol=2e-14 * largest(moving))


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("what", WHAT)
def test_swept_nodes_hold_all_their_vertices_at_200_instants(volume, what):
    rng = np.random.default_rng(2)
    for _ in range(12):
        tree, moving = random_mover(rng, volume, what)
        _halvings, s, e = interval = random_interval(rng)
        slack = 1e-13 * largest(moving)
        nodes = rng.integers(0, len(tree.volumes), 3)
        held = [tree.vertex_list[tree.vertex_start[n] : tree.vertex_start[n + 1]] for n in nodes]
        places = [placed(moving, n, interval) for n in nodes]
        for share in np.linspace(0.0, 1.0, 200):
            world = moving.surface.placed(s + share * (e - s))
            for place, vertices in zip(places, held, strict=True):
                offset = world[vertices] - (place["centre"] + share * place["shift"])
                assert (np.linalg.norm(offset, axis=1) <= place["radius"] * (1 + 1e-5) + place["blur"] + slack).all()
                if volume != "sphere":
                    along = np.abs(offset @ axes_of(place).T)
                    # Axes of poses from files are not quite orthonormal: by as much as the kernel adds.
                    lacking = 4.0 * skew_of(moving) * np.abs(place["half"]).sum()
                    assert (along <= place["half"] + place["blur"] + slack + lacking).all()


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("relative", [True, False])
def test_no_contact_is_outside_of_the_window_of_its_nodes(volume, relative):
    rng = np.random.default_rng(3)
    kinds = list(itertools.product(WHAT, WHAT))
    empty = 0
    for k in range(240):
        (tree_a, a), (tree_b, b) = (random_mover(rng, volume, what) for what in kinds[k % len(kinds)])
        _halvings, s, e = interval = random_interval(rng)
        share = rng.choice([0.0, 1.0, rng.random()])
        node_a, node_b = rng.integers(0, len(tree_a.volumes)), rng.integers(0, len(tree_b.volumes))
        place_a, place_b = placed(a, node_a, interval), placed(b, node_b, interval)
        time = s + share * (e - s)
        touching = a.surface.placed(time)[rng.choice(vertices_of(tree_a, node_a))]
        touched = b.surface.placed(time)[rng.choice(vertices_of(tree_b, node_b))]
        size = largest(a) + largest(b) + np.abs(touching - touched).max()
        padding, skew = sweep_search.ROUNDING * size, 4.0 * (skew_of(a) + skew_of(b))
        for shift in (touching - touched, rng.normal(size=3)):
            moved = place_b.copy()
            moved["centre"] += shift
            two = place_a.view(float), moved.view(float)
            if volume == "sphere":
                low, high = centres_meet(relative, True, *two, padding)
            else:
                low, high = places_meet(relative, False, *two, skew, padding)
            if np.array_equal(shift, touching - touched):
                assert low <= share <= high, (k, kinds[k % len(kinds)], low, share, high)
            empty += low > high
    assert empty > 20  # windows say no at all


def vertices_of(tree, node):
    return tree.vertex_list[tree.vertex_start[node] : tree.vertex_start[node + 1]]


def leaf_of(moving, faces, world, interval):
    """Return the tables of a body of one leaf, with these vertices at both ends, and of its scratch."""
    order = np.array(faces, np.int32)
    one, scratch = np.zeros(1, np.int32), scratch_of(moving, interval, len(order))
    volumes = np.zeros((1, 16))
    shape = MovingShape.table(
        volumes_t0=volumes, volumes_t1=volumes, first_child=one, child_count=one, first_face=one,
        face_count=np.full(1, len(order), np.int32), order=order, faces=moving.surface.faces, vertices_t0=world[0],
        vertices_t1=world[1], motion=moving.tree.motion,
    )  # fmt: skip
    return shape, SweepScratch.table(**scratch)


def moving_leaf(moving, faces, world, interval):
    """Return the faces of a leaf over an interval, with these vertices at both ends."""
    shape, scratch = leaf_of(moving, faces, world, interval)
    set_up_leaf(shape.table[0], scratch.table[0], 0, *interval)
    return scratch.array(0, FACES)


def test_no_contact_is_outside_of_the_window_of_its_faces():
    rng = np.random.default_rng(4)
    kinds = list(itertools.product(WHAT, WHAT))
    empty = 0
    for k in range(400):
        (tree_a, a), (tree_b, b) = (random_mover(rng, "aabb", what) for what in kinds[k % len(kinds)])
        halvings, s, e = random_interval(rng)
        share = rng.choice([0.0, 1.0, rng.random()])
        time = s + share * (e - s)
        faces = int(rng.integers(len(tree_a.faces))), int(rng.integers(len(tree_b.faces)))
        points = []
        for moving, face in ((a, faces[0]), (b, faces[1])):
            weights = rng.dirichlet(np.ones(3)) if rng.random() < 0.7 else np.eye(3)[rng.integers(3)]
            points.append(weights @ moving.surface.placed(time)[moving.surface.faces[face]])
        shift = points[0] - points[1]
        found = []
        for moving, face, by in ((a, faces[0], np.zeros(3)), (b, faces[1], shift)):
            world = moving.surface.vertices_t0 + by, moving.surface.vertices_t1 + by
            found.append(moving_leaf(moving, [face], world, (halvings, s, e)))
        padding = sweep_search.ROUNDING * (largest(a) + largest(b) + np.abs(shift).max())
        low, high = faces_meet(found[0].view(float), found[1].view(float), padding)
        assert low <= share <= high, (k, low, share, high)
        found[1].view(float)[:30] += np.tile(rng.normal(size=3), 10)  # all but the blur
        low, high = faces_meet(found[0].view(float), found[1].view(float), padding)
        empty += low > high
    assert empty > 100


def test_the_blur_of_a_face_is_the_height_of_its_arcs():
    rng = np.random.default_rng(6)
    for _ in range(50):
        tree, moving = random_mover(rng, "aabb", "turns")
        halvings, s, e = random_interval(rng)
        blur = moving_leaf(moving, range(12), (moving.surface.vertices_t0, moving.surface.vertices_t1), (halvings, s, e))["blur"]
        start, end, middle = (moving.surface.placed(t)[tree.faces] for t in (s, e, 0.5 * (s + e)))
        heights = np.linalg.norm(middle - 0.5 * (start + end), axis=2).max(axis=1)
        assert (heights <= blur + 1e-14).all()
        # Half a turn, at most, makes the bound π²/8 times as large as it need be; this is what it may cost.
        assert (blur <= 1.25 * heights + 1e-12).all()


@pytest.mark.parametrize("volume", VOLUMES)
def test_no_contact_is_outside_of_the_window_of_a_face_and_a_node(volume):
    """A face is near a node as long as the limit is not before their contact."""
    rng = np.random.default_rng(7)
    kinds = list(itertools.product(WHAT, WHAT))
    parted = 0
    for k in range(480):
        (tree_a, a), (tree_b, b) = (random_mover(rng, volume, what) for what in kinds[k % len(kinds)])
        _halvings, s, e = interval = random_interval(rng)
        share = rng.choice([0.0, 1.0, rng.random()])
        time = s + share * (e - s)
        node = int(rng.integers(len(tree_b.volumes)))
        face = int(rng.integers(len(tree_a.faces)))
        weights = rng.dirichlet(np.ones(3)) if rng.random() < 0.7 else np.eye(3)[rng.integers(3)]
        touching = weights @ a.surface.placed(time)[a.surface.faces[face]]
        touched = b.surface.placed(time)[rng.choice(vertices_of(tree_b, node))]
        shift = touched - touching
        padding = sweep_search.ROUNDING * (largest(a) + largest(b) + np.abs(shift).max())
        for by in (shift, shift + rng.normal(size=3)):
            world = a.surface.vertices_t0 + by, a.surface.vertices_t1 + by
            shape, scratch = leaf_of(a, range(12), world, interval)
            other = scratch_of(b, interval)
            near, tests = near_faces_of(
                shape.table[0], scratch.table[0], b.tree.table.table[0], SweepScratch.table(**other).table[0], node, *interval,
                padding, min(1.0, time + 1e-9),
            )  # fmt: skip
            assert tests == 12
            assert by is not shift or near >> face & 1, (k, kinds[k % len(kinds)])
            parted += 12 - near.bit_count()
    assert parted > 1500


@pytest.mark.parametrize("volume", VOLUMES)
def test_drawn_swept_volumes_hold_all_vertices(volume):
    rng = np.random.default_rng(5)
    for what in WHAT:
        tree, moving = random_mover(rng, volume, what)
        nodes = np.arange(len(tree.volumes))
        drawn = _swept(moving, nodes)
        for share in np.linspace(0.0, 1.0, 50):
            world = moving.surface.placed(share)
            for node in nodes:
                offset = world[vertices_of(tree, node)] - drawn[node, :3]
                assert (np.linalg.norm(offset, axis=1) <= drawn[node, RADIUS] * (1 + 1e-5)).all()
                if tree.kind != SPHERE:
                    along = np.abs(offset @ drawn[node, AXES : AXES + 9].reshape(3, 3).T)
                    assert (along <= drawn[node, HALF : HALF + 3] * (1 + 1e-4) + 1e-12).all()


def test_a_flat_and_a_single_face():
    flat = Mesh([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    end = rotation_about((0, 0, 1), 3.0)
    _tree, moving = mover(flat, build(flat), np.eye(4), end)
    place = placed(moving, 0, (0, 0.0, 1.0))
    for share in np.linspace(0.0, 1.0, 50):
        offset = moving.surface.placed(share) - (place["centre"] + share * place["shift"])
        assert (np.abs(offset @ axes_of(place).T) <= place["half"] + place["blur"]).all()

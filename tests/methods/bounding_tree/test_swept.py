"""Bodies within a step and their swept volumes: nothing that moves leaves them, and no contact is outside of a window."""

import functools
import itertools

import numpy as np
import pytest

from jostle.continuous.moving_surface import MovingSurface
from jostle.geometry.rigid import transform_points
from jostle.methods.bounding_tree import sweep_search
from jostle.methods.bounding_tree.build import build
from jostle.methods.bounding_tree.dynamic import Mover
from jostle.methods.bounding_tree.motions import (
    IDENTITY,
    INSTANT,
    LACK,
    LARGEST,
    MOST_HALVINGS,
    moving_tree,
    set_up_instant,
    set_up_pads,
)
from jostle.methods.bounding_tree.moving_faces import BLUR, MOVING_FACE, fill_moving_leaf, window_of_faces
from jostle.methods.bounding_tree.refit import refit_ends
from jostle.methods.bounding_tree.show import _swept
from jostle.methods.bounding_tree.swept import PLACE, set_up_axes, set_up_node, window_of_centres, window_of_places
from jostle.methods.bounding_tree.tree import AXES, HALF, RADIUS, SPHERE
from jostle.motion.interpolate import STRAIGHT, turn_between
from jostle.motion.pose import rotation_about
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
        moving = moving_tree(tree, (tree.volumes, tree.volumes), (start, end), turn, world)
    else:
        turn = STRAIGHT
        world = transform_points(start, mesh.vertices), transform_points(end, deformed)
        moving = moving_tree(tree, refit_ends(tree, *world), (IDENTITY, IDENTITY), turn, world)
    return tree, Mover(moving, MovingSurface(*world, mesh.faces, turn), deformed is None, 2)


def random_mover(rng, volume, what):
    """A small soup that turns by up to 170°, is turned by poses from a file, shifts, or deforms."""
    mesh, tree = soup(int(rng.integers(6)), volume)
    start = random_pose(rng, 2.0)
    end = rotation_about(rng.normal(size=3), rng.uniform(0.0, np.radians(170))) @ start if what != "shifts" else start.copy()
    end[:3, 3] += rng.normal(size=3) * 10.0 ** rng.uniform(-3, 1)
    if what == "skewed":
        start, end = skewed(rng, start), skewed(rng, end)
    deformed = mesh.vertices + rng.normal(size=mesh.vertices.shape) if what == "deforms" else None
    return mover(mesh, tree, start, end, deformed)


def placed(moving, node, interval):
    """The place of a node over an interval: what the kernel knows of it."""
    halvings, s, e = interval
    table, pads, place = np.empty((3, INSTANT)), np.empty((MOST_HALVINGS + 1, 2)), np.empty(PLACE)
    for row, t in enumerate((s, 0.5 * (s + e), e)):
        set_up_instant(moving.tree.motion, t, table, row)
    set_up_pads(moving.tree.motion, pads)
    volumes = moving.tree.volumes_t0, moving.tree.volumes_t1
    set_up_node(*volumes, moving.tree.motion, pads, node, table, halvings, s, e, 0, 2, place)
    set_up_axes(*volumes, moving.tree.motion, node, table, s, e, 1, place)
    return place


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
        local = np.linalg.solve(moving.tree.motion[:9].reshape(3, 3), (moving.surface.vertices_t0 - moving.tree.motion[9:12]).T).T
        for t in (0.0, 1.0, *rng.random(5)):
            table = np.empty((1, INSTANT))
            set_up_instant(moving.tree.motion, t, table, 0)
            image = local @ table[0, :9].reshape(3, 3).T + table[0, 9:12]
            assert np.allclose(image, moving.surface.placed(t), rtol=0, atol=2e-14 * moving.tree.motion[LARGEST])


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("what", WHAT)
def test_swept_nodes_hold_all_their_vertices_at_200_instants(volume, what):
    rng = np.random.default_rng(2)
    for _ in range(12):
        tree, moving = random_mover(rng, volume, what)
        _halvings, s, e = interval = random_interval(rng)
        slack = 1e-13 * moving.tree.motion[LARGEST]
        nodes = rng.integers(0, len(tree.volumes), 3)
        held = [tree.vertex_list[tree.vertex_start[n] : tree.vertex_start[n + 1]] for n in nodes]
        places = [placed(moving, n, interval) for n in nodes]
        for share in np.linspace(0.0, 1.0, 200):
            world = moving.surface.placed(s + share * (e - s))
            for place, vertices in zip(places, held, strict=True):
                offset = world[vertices] - (place[:3] + share * place[3:6])
                assert (np.linalg.norm(offset, axis=1) <= place[6] * (1 + 1e-5) + place[7] + slack).all()
                if volume != "sphere":
                    along = np.abs(offset @ place[8:17].reshape(3, 3).T)
                    # Axes of poses from files are not quite orthonormal: by as much as the kernel adds.
                    lacking = 4.0 * moving.tree.motion[LACK] * np.abs(place[17:20]).sum()
                    assert (along <= place[17:20] + place[7] + slack + lacking).all()


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
        size = a.tree.motion[LARGEST] + b.tree.motion[LARGEST] + np.abs(touching - touched).max()
        padding, lack = sweep_search.ROUNDING * size, 4.0 * (a.tree.motion[LACK] + b.tree.motion[LACK])
        for shift in (touching - touched, rng.normal(size=3)):
            moved = place_b.copy()
            moved[:3] += shift
            low, high = window_of_centres(relative, volume == "sphere", place_a, moved, padding)
            if volume != "sphere" and low <= high:
                low, high = window_of_places(relative, low, high, place_a, moved, lack, padding)
            if np.array_equal(shift, touching - touched):
                assert low <= share <= high, (k, kinds[k % len(kinds)], low, share, high)
            empty += low > high
    assert empty > 20  # windows say no at all


def vertices_of(tree, node):
    return tree.vertex_list[tree.vertex_start[node] : tree.vertex_start[node + 1]]


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
        lanes = np.empty((2, 1, MOVING_FACE))
        for lane, moving, face, by in ((lanes[0], a, faces[0], np.zeros(3)), (lanes[1], b, faces[1], shift)):
            table, pads = np.empty((2, INSTANT)), np.empty((MOST_HALVINGS + 1, 2))
            set_up_pads(moving.tree.motion, pads)
            for row, t in enumerate((s, e)):
                set_up_instant(moving.tree.motion, t, table, row)
            world = moving.surface.vertices_t0 + by, moving.surface.vertices_t1 + by
            fill_moving_leaf(
                lane, moving.surface.faces, np.array([face], np.int32), 0, 1, *world, moving.tree.motion, table, 0, 1, s, e,
                pads[halvings, 1],
            )  # fmt: skip
        padding = sweep_search.ROUNDING * (a.tree.motion[LARGEST] + b.tree.motion[LARGEST] + np.abs(shift).max())
        low, high = window_of_faces(lanes[0], 0, lanes[1], 0, padding)
        assert low <= share <= high, (k, low, share, high)
        lanes[1, 0, :30] += np.tile(rng.normal(size=3), 10)
        low, high = window_of_faces(lanes[0], 0, lanes[1], 0, padding)
        empty += low > high
    assert empty > 100


def test_the_blur_of_a_face_is_the_height_of_its_arcs():
    rng = np.random.default_rng(6)
    for _ in range(50):
        tree, moving = random_mover(rng, "aabb", "turns")
        halvings, s, e = random_interval(rng)
        table, pads, lanes = np.empty((2, INSTANT)), np.empty((MOST_HALVINGS + 1, 2)), np.empty((12, MOVING_FACE))
        set_up_pads(moving.tree.motion, pads)
        for row, t in enumerate((s, e)):
            set_up_instant(moving.tree.motion, t, table, row)
        world = moving.surface.vertices_t0, moving.surface.vertices_t1
        fill_moving_leaf(
            lanes,
            tree.faces,
            np.arange(12, dtype=np.int32),
            0,
            12,
            *world,
            moving.tree.motion,
            table,
            0,
            1,
            s,
            e,
            pads[halvings, 1],
        )
        start, end, middle = (moving.surface.placed(t)[tree.faces] for t in (s, e, 0.5 * (s + e)))
        heights = np.linalg.norm(middle - 0.5 * (start + end), axis=2).max(axis=1)
        assert (heights <= lanes[:, BLUR] + 1e-14).all()
        # Half a turn, at most, makes the bound π²/8 times as large as it need be; this is what it may cost.
        assert (lanes[:, BLUR] <= 1.25 * heights + 1e-12).all()


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
        offset = moving.surface.placed(share) - (place[:3] + share * place[3:6])
        assert (np.abs(offset @ place[8:17].reshape(3, 3).T) <= place[17:20] + place[7]).all()

"""The point shell: what it consists of, that no voxel of the map slips through it, and the accuracy that follows.

No-slip: a cube of the map's voxel size, in any orientation, that is pushed along any straight way from wholly outside to the
inside holds a shell point at some moment. (Not at every moment: with its centre exactly on the surface 2 % of random cubes hold
none, just before or after they do.) Parts thinner than a voxel are excepted.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import jostle
from jostle.geometry.morton import codes_of_cells
from jostle.methods.voxmap.map import lattice_of
from jostle.methods.voxmap.ray_casting import crossings_of_faces, filled_between
from jostle.methods.voxmap.shape import prepare
from jostle.methods.voxmap.shell import CURVE
from jostle.methods.voxmap.voxel_size import REACH, SHELL_SHARE, ray_axis
from jostle.shapes import analytic, build
from tests.methods.voxmap.brute_look_up import meet
from tests.methods.voxmap.settings import Settings, random_rotation
from tests.methods.voxmap.test_map import surface_of
from tests.methods.voxmap.voxel_bits import filled_voxels
from tests.oracle.solids import farther_apart, largest_erosion


def fine_voxels(shape, mesh):
    """The coordinates of the shell's voxels in the lattice of the shell's map."""
    at = (shape.middle + shape.points.astype(float) - mesh.bounds[0]) / (shape.voxel * SHELL_SHARE) - 0.5
    voxels = np.rint(at).astype(np.int64)
    np.testing.assert_allclose(at, voxels, atol=1e-4)
    return voxels


@pytest.mark.parametrize("make", [build.stellated_dodecahedron, lambda: build.torus(segments=24, sides=12), build.comb])
def test_the_shell_is_the_centres_of_surface_voxels_in_the_order_of_the_curve(make):
    mesh = make()
    shape = prepare(mesh, Settings(across=24))
    lattice = lattice_of(mesh.bounds, shape.voxel * SHELL_SHARE)
    axis = ray_axis(mesh, Settings())
    words, _ = filled_between(crossings_of_faces(mesh.vertices, mesh.faces, lattice, axis), lattice, axis)
    surface = surface_of(filled_voxels(words, lattice.cells))
    voxels = fine_voxels(shape, mesh)
    assert len(voxels) == surface.sum()
    assert surface[tuple(voxels.T)].all()
    assert (np.diff(codes_of_cells(*voxels.T[::-1])) > 0).all()
    points = shape.points.astype(float)
    np.testing.assert_allclose(points.min(axis=0), -points.max(axis=0), atol=1e-6)


@pytest.mark.small
def test_the_curve_visits_every_voxel_of_a_word_once():
    assert sorted(CURVE.tolist()) == list(range(64))
    assert CURVE[:8].tolist() == [0, 1, 4, 5, 16, 17, 20, 21]


@pytest.mark.parametrize("surface_only", [False, True])
def test_the_ball_holds_shell_points_filled_voxels_and_vertices(surface_only):
    mesh = build.stellated_dodecahedron()
    shape = prepare(mesh, Settings(across=9, surface_only=surface_only))
    voxels = np.argwhere(filled_voxels(shape.words, shape.cells))
    corners = (voxels[:, None] + np.array(list(np.ndindex(2, 2, 2)))).reshape(-1, 3)
    for points in (mesh.vertices, shape.origin + shape.voxel * corners, shape.middle + shape.points):
        assert np.linalg.norm(points - shape.middle, axis=1).max() <= shape.radius


def holds_a_point_on_its_way(points, start, direction, length, rotation, edge):
    """Whether a cube that moves from `start` along a unit direction holds one of the points at some moment."""
    at, way = (points - start) @ rotation, direction @ rotation
    begin, end = np.zeros(len(points)), np.full(len(points), length)
    with np.errstate(divide="ignore"):
        for k in range(3):
            times = np.sort(np.stack([(at[:, k] - edge / 2) / way[k], (at[:, k] + edge / 2) / way[k]]), axis=0)
            begin, end = np.maximum(begin, times[0]), np.minimum(end, times[1])
    return bool((begin <= end).any())


SLAB = build.box((1.0, 1.0, 0.4))
LARGE = {
    "slab": (SLAB, 40),
    "sphere": (build.icosphere(4), 40),
    "box": (build.box((1.0, 0.7, 0.6)), 33),
    "torus": (build.torus(segments=96, sides=48), 56),
}


@pytest.mark.parametrize("axis", [0, 2])
@pytest.mark.parametrize("name", LARGE)
def test_no_voxel_slips_through_the_shell(name, axis):
    mesh, across = LARGE[name]
    rng = np.random.default_rng(len(name) + axis)
    slips, pushes = 0, 0
    for _ in range(3):
        body = jostle.Mesh(mesh.vertices @ random_rotation(rng).T, mesh.faces)
        shape = prepare(body, Settings(across=across, axis=axis))
        points = shape.middle + shape.points.astype(float)
        corners = body.vertices[body.faces]
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        for face in rng.choice(len(area), size=120, p=area / area.sum()):
            target = rng.dirichlet((1.0, 1.0, 1.0)) @ corners[face]
            direction = rng.standard_normal(3)
            direction /= np.linalg.norm(direction)
            inward = -body.face_normals[face] @ direction
            if abs(inward) < 0.6:
                continue
            direction *= np.sign(inward)
            near = points[(np.abs(points - target) < 8 * shape.voxel).all(axis=1)]
            # At least from three voxels outside to three inside: the cube's half diagonal is 0.87 of a voxel.
            start, length = target - 5 * shape.voxel * direction, 10 * shape.voxel
            pushes += 1
            slips += not holds_a_point_on_its_way(near, start, direction, length, random_rotation(rng), shape.voxel)
    assert pushes > 80
    assert slips == 0


def test_a_larger_spacing_lets_voxels_through():
    """The test above can fail: with the shell of voxels twice as large it does."""
    rng = np.random.default_rng(0)
    mesh = build.box((1.0, 1.0, 0.4))
    shape = prepare(mesh, Settings(across=20))
    points = shape.middle + shape.points.astype(float)
    top = np.array([0.0, 0.0, 0.2])
    down = np.array([0.0, 0.0, -1.0])
    slips = 0
    for _ in range(300):
        start = top + np.append(rng.uniform(-0.3, 0.3, 2), 0.0) - 0.2 * down
        slips += not holds_a_point_on_its_way(points, start, down, 0.39, random_rotation(rng), 0.025)
    assert slips > 0


def test_every_cube_of_a_maps_voxel_size_holds_a_centre_of_the_finer_lattice():
    """Why nothing slips: a cube of edge √2, however turned, holds a point of the lattice of edge 1."""
    rng = np.random.default_rng(2)
    lattice = np.array(list(np.ndindex(5, 5, 5))) - 2.0
    largest = 0.0
    for _ in range(4000):
        centre, rotation = rng.uniform(0.0, 1.0, 3), random_rotation(rng)
        largest = max(largest, 2.0 * np.abs((lattice - centre) @ rotation).max(axis=1).min())
    assert 1.2 < largest <= np.sqrt(2.0)


# ------------------------------------------------------------------ the accuracy: √2.5 of the larger voxel


def random_pose(rng, spread):
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = random_rotation(rng), rng.uniform(-spread, spread, 3)
    return pose


def in_world(mesh, pose):
    return (mesh.vertices @ pose[:3, :3].T + pose[:3, 3])[mesh.faces].tolist()


def test_convex_solids_meet_within_the_accuracy():
    """Against exact fractions: hit when both shrunk by r still meet, no hit when they are farther apart than r."""
    rng = np.random.default_rng(4)
    boxes = [build.box((1.0, 0.8, 0.6)), build.icosahedron(0.6), build.polytope36(seed=1)]
    shapes = [[prepare(mesh, Settings(accuracy=r)) for r in (0.13, 0.19)] for mesh in boxes]
    answers = []
    for _ in range(20):
        a, b = rng.integers(len(boxes), size=2)
        one, other = shapes[a][rng.integers(2)], shapes[b][rng.integers(2)]
        poses = [random_pose(rng, 0.1), random_pose(rng, 0.1)]
        poses[0][:3, 3] += random_rotation(rng)[0] * rng.uniform(0.5, 1.5)
        r = REACH * max(one.voxel, other.voxel)
        answers.append(meet(one, other, *poses))
        triangles = [in_world(boxes[k], pose) for k, pose in zip((a, b), poses, strict=True)]
        if answers[-1]:
            assert not farther_apart(*triangles, r)
        else:
            assert largest_erosion(*triangles) < r
    assert 4 < sum(answers) < 16


def test_the_accuracy_is_nearly_used_up_in_the_worst_place():
    """A hit over 1.57 voxels: a ray that only just meets the corner of a box, and a shell point half a voxel above a face."""
    little = 1e-3
    settings = Settings(accuracy=math.sqrt(2.5), axis=2)
    upper = np.array([3.5 + little, 3.5 + little, 3.0 + little])
    corner_box = build.box(upper, 0.5 * upper)
    fine = math.sqrt(0.5)
    size = np.array([6 * fine, 6 * fine, 4 * fine + little])
    slab = build.box(size, 0.5 * size)
    away = np.array([0.5, 0.5, 1.0]) / math.sqrt(1.5)
    side = np.cross(away, [1.0, 0.0, 0.0])
    side /= np.linalg.norm(side)
    pose = np.eye(4)
    pose[:3, :3] = np.stack([side, np.cross(-away, side), -away], axis=1)
    # The shell point in the middle of the slab's last layer goes to the far corner of the box's last voxel.
    pose[:3, 3] = np.full(3, 4.0 - little) - pose[:3, :3] @ (fine * np.array([3.5, 3.5, 4.5]))
    shapes = prepare(slab, settings), prepare(corner_box, settings)
    assert [shape.voxel for shape in shapes] == pytest.approx([1.0, 1.0])
    assert meet(*shapes, pose, np.eye(4))
    triangles = in_world(slab, pose), in_world(corner_box, np.eye(4))
    assert farther_apart(*triangles, 1.57)
    assert not farther_apart(*triangles, REACH)


def test_concave_solids_meet_within_the_accuracy():
    """A ball and a ring, of which the distance is known: also the ball in the hole, and inside the tube."""
    rng = np.random.default_rng(8)
    ring, tube, radius = 1.0, 0.4, 0.33
    torus = jostle.Mesh(analytic=analytic.Torus(ring, tube))
    ball = jostle.Mesh(analytic=analytic.Sphere(radius))
    shapes = [(prepare(torus, Settings(accuracy=r)), prepare(ball, Settings(accuracy=s))) for r, s in ((0.1, 0.12), (0.12, 0.05))]
    seen = {True: 0, False: 0}
    for _ in range(250):
        pose_torus, pose_ball = random_pose(rng, 1.0), np.eye(4)
        # Places near the surface of the tube, where the answer changes.
        angle, turn, out = rng.uniform(0, 2 * np.pi), rng.uniform(0, 2 * np.pi), rng.choice([tube + radius, 0.0, 0.1])
        out = abs(out + rng.uniform(-0.4, 0.4))
        local = np.array(
            [(ring + out * np.cos(turn)) * np.cos(angle), (ring + out * np.cos(turn)) * np.sin(angle), out * np.sin(turn)]
        )
        pose_ball[:3, :3] = random_rotation(rng)
        pose_ball[:3, 3] = pose_torus[:3, :3] @ local + pose_torus[:3, 3]
        gap = np.hypot(np.hypot(*local[:2]) - ring, local[2]) - tube - radius
        for one, other in shapes:
            r = REACH * max(one.voxel, other.voxel)
            hit = meet(one, other, pose_torus, pose_ball)
            if gap > r:
                assert not hit
                seen[False] += 1
            elif gap <= -2 * r:
                assert hit
                seen[True] += 1
    assert min(seen.values()) > 40


def test_a_body_wholly_inside_is_found_whichever_gives_the_shell():
    rng = np.random.default_rng(9)
    outer, inner = jostle.Mesh(analytic=analytic.Sphere(1.0)), jostle.Mesh(analytic=analytic.Sphere(0.3))
    for coarse, fine in (((0.2, 0.05)), (0.05, 0.2)):
        shapes = prepare(outer, Settings(accuracy=coarse)), prepare(inner, Settings(accuracy=fine))
        for _ in range(20):
            pose = random_pose(rng, 0.25)
            assert meet(*shapes, np.eye(4), pose)
            assert meet(*shapes[::-1], pose, np.eye(4))

"""Closest faces by trees, against the oracle, analytic and rational truth."""

import threading
from fractions import Fraction

import numpy as np
import pytest

from jostle import Mesh
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.rigid import transform_points
from jostle.kernels.scratch import Workspaces
from jostle.methods.brute_force.closest_faces import find_closest_faces
from jostle.methods.wide_tree import nearest_search
from jostle.methods.wide_tree.build import build_tree
from jostle.methods.wide_tree.nearest_bounds import MOST_TIES
from jostle.methods.wide_tree.nearest_search import NearestWorkspace
from jostle.methods.wide_tree.tree import Forest
from jostle.shapes import build
from tests.methods.plain.families import case
from tests.oracle import rational
from tests.oracle.rows import world_vertices
from tests.tiny import box, random_pose, random_soup

IDENTITY = np.eye(4)


def by_tree(a, b, pose_a=IDENTITY, pose_b=IDENTITY):
    return closest_faces(build_tree(a), build_tree(b), pose_a, pose_b)


def closest_faces(tree_a, tree_b, pose_a, pose_b):
    return nearest_search.closest_faces(Forest([tree_a, tree_b]), 0, 1, pose_a, pose_b, nearest_search.NO_SEED.copy())


def by_brute_force(a, b, pose_a=IDENTITY, pose_b=IDENTITY):
    return find_closest_faces(transform_points(pose_a, a.vertices), a.faces, transform_points(pose_b, b.vertices), b.faces)


def triangle(mesh, pose, face):
    return [world_vertices(pose, mesh.vertices[k][None])[0] for k in mesh.faces[face]]


def assert_same_answer(a, b, pose_a=IDENTITY, pose_b=IDENTITY):
    """Compare in both orders; of touching bodies any touching face pair will do."""
    for first, second, pose_1, pose_2 in ((a, b, pose_a, pose_b), (b, a, pose_b, pose_a)):
        found, truth = by_tree(first, second, pose_1, pose_2), by_brute_force(first, second, pose_1, pose_2)
        assert found.distance == truth.distance
        if truth.distance == 0.0:
            assert rational.triangles_touch(triangle(first, pose_1, found.face_a), triangle(second, pose_2, found.face_b))
            assert (found.point_a == found.point_b).all()
        else:
            assert (found.face_a, found.face_b) == (truth.face_a, truth.face_b)
            assert found.point_a.tobytes() == truth.point_a.tobytes()
            assert found.point_b.tobytes() == truth.point_b.tobytes()
    return found


@pytest.mark.small
def test_boxes_on_a_grid_are_apart_by_what_lies_between():
    found = assert_same_answer(box(), box((5, 0.25, 0.25), (6, 1.25, 1.25)))
    assert found.distance == 4.0
    found = by_tree(box(), box((5, 0.25, 0.25), (6, 1.25, 1.25)))
    assert found.point_b[0] - found.point_a[0] == 4.0


@pytest.mark.small
def test_the_least_rational_distance_of_small_soups():
    rng = np.random.default_rng(1)
    for faces in (1, 3, 9):
        a, b = random_soup(rng, faces, 0.4), random_soup(rng, faces, 0.4)
        pose_a, pose_b = random_pose(rng, 0.1), translation([1.2, 0.3, 0.1]) @ random_pose(rng, 0.1)
        found = by_tree(a, b, pose_a, pose_b)
        squares = [
            [rational.squared_distance(triangle(a, pose_a, i), triangle(b, pose_b, j)) for j in range(faces)] for i in range(faces)
        ]
        truth = min(min(row) for row in squares)
        assert found.distance == pytest.approx(float(truth) ** 0.5, rel=1e-13)
        assert abs(squares[found.face_a][found.face_b] - truth) <= Fraction(1, 10**13) * truth
        assert np.linalg.norm(found.point_b - found.point_a) == pytest.approx(found.distance, rel=1e-12)


@pytest.mark.small
def test_a_corner_that_touches_a_face_exactly():
    tent = Mesh([[0.25, 0.25, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], [[0, 1, 2]])
    floor = Mesh([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[0, 1, 2]])
    found = assert_same_answer(tent, floor)
    assert found.distance == 0.0
    assert found.point_a.tolist() == [0.25, 0.25, 0.0]
    assert assert_same_answer(tent, floor, translation([0.0, 0.0, 2.0**-52])).distance == 2.0**-52


def test_soups_of_every_size_at_every_scale_and_offset():
    rng = np.random.default_rng(2)
    distances = []
    for scale in (1e-9, 1.0, 1e9):
        for offset in (0.0, 1e7):
            for faces_a, faces_b in ((1, 1), (1, 30), (7, 9), (64, 65), (200, 90)):
                a, b = random_soup(rng, faces_a, 0.3 * scale), random_soup(rng, faces_b, 0.5 * scale)
                pose_a, pose_b = random_pose(rng, 0.5 * scale), random_pose(rng, 0.5 * scale)
                pose_a[:3, 3] += offset * scale
                pose_b[:3, 3] += offset * scale + rng.uniform(0.0, 0.6, 3) * scale
                distances.append(assert_same_answer(a, b, pose_a, pose_b).distance)
    assert 3 < sum(d == 0.0 for d in distances) < 25


def surfaces():
    rng = np.random.default_rng(3)
    shapes = [
        build.torus(segments=24, sides=16),
        build.blob(1500, seed=4),
        build.blob(2400, seed=5, roughness=0.6),
        build.icosphere(3),
        build.hand(),
    ]
    for k, a in enumerate(shapes):
        for b in shapes[k:]:
            yield a, b, random_pose(rng, 0.0), random_pose(rng, 0.0), rng.normal(size=3)


def test_surfaces_apart_and_close():
    for a, b, pose_a, pose_b, way in surfaces():
        way /= np.linalg.norm(way)
        for far in (2.6, 1.9, 1.4):
            assert_same_answer(a, b, pose_a, translation(far * way) @ pose_b)


def test_a_body_inside_another_one():
    rng = np.random.default_rng(6)
    for _ in range(4):
        inner = build.blob(600, seed=7).scaled(rng.uniform(0.02, 0.4))
        assert_same_answer(build.icosphere(3), inner, random_pose(rng, 0.2), random_pose(rng, 0.2))


def test_bodies_that_cross_deeply_are_at_distance_zero():
    rng = np.random.default_rng(8)
    for _ in range(5):
        a, b = build.blob(1000, seed=9), build.torus(segments=20, sides=12)
        assert assert_same_answer(a, b, random_pose(rng, 0.3), random_pose(rng, 0.3)).distance == 0.0


def grid(n, height=0.0, size=1.0):
    """A square of 2 n² faces in the plane z = height."""
    x, y = np.meshgrid(np.linspace(0.0, size, n + 1), np.linspace(0.0, size, n + 1))
    corner = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    faces = np.concatenate(
        [np.stack([corner, corner + 1, corner + n + 1], 1), np.stack([corner + 1, corner + n + 2, corner + n + 1], 1)]
    )
    return Mesh(np.stack([x.ravel(), y.ravel(), np.full(x.size, height)], 1), faces)


def test_of_many_ties_the_lowest_faces():
    rng = np.random.default_rng(10)
    order = rng.permutation(2 * 12 * 12)
    plate = grid(12)
    shuffled = Mesh(plate.vertices, plate.faces[order])
    turned = rotation_about([1.0, 2.0, 3.0], 0.7)
    for upper in (grid(12, 1.0), grid(7, 1.0), grid(16, 0.125, 4.0)):
        for pose in (IDENTITY, translation([0.25, 0.5, 0.0]), translation([3.0, 0.0, 0.0])):
            assert_same_answer(shuffled, upper, IDENTITY, pose)
            assert_same_answer(shuffled, upper, turned, turned @ pose)
    blocks = [box((2 * i, 2 * j, 0), (2 * i + 1, 2 * j + 1, 1)) for i in range(4) for j in range(4)]
    city = Mesh(np.concatenate([m.vertices for m in blocks]), np.concatenate([m.faces + 8 * k for k, m in enumerate(blocks)]))
    assert assert_same_answer(city, city, IDENTITY, translation([0.0, 0.0, 3.0])).distance == 2.0
    assert assert_same_answer(city, city, IDENTITY, translation([8.5, 0.0, 0.0])).distance == 1.5
    assert assert_same_answer(city, city, IDENTITY, translation([1.0, 1.0, 0.0])).distance == 0.0


def test_more_ties_than_are_settled():
    plate, turned = grid(110), rotation_about([1.0, 2.0, 3.0], 0.7)
    found = by_tree(plate, plate, turned, turned @ translation([0.001, 0.002, 1.0]))
    assert nearest_search.WORKSPACES.take().arrays["counts"]["ties"][0] > MOST_TIES
    assert found.distance == pytest.approx(1.0, rel=2.0**-45)
    assert np.linalg.norm(found.point_b - found.point_a) == pytest.approx(1.0, rel=1e-13)


def test_faces_without_area():
    rng = np.random.default_rng(11)
    for _ in range(12):
        a, b = random_soup(rng, 20), random_soup(rng, 20)
        corners_a, corners_b = a.vertices[a.faces].copy(), b.vertices[b.faces].copy()
        corners_a[::2, 2] = corners_a[::2, 1]
        corners_a[::4, 1] = corners_a[::4, 0] = corners_a[::4, 2]
        corners_b[::3, 2] = 0.5 * (corners_b[::3, 0] + corners_b[::3, 1])
        a, b = (Mesh(c.reshape(-1, 3), np.arange(60).reshape(-1, 3)) for c in (corners_a, corners_b))
        assert_same_answer(a, b, random_pose(rng), translation([1.5, 0.0, 0.0]) @ random_pose(rng))


@pytest.mark.parametrize("sizes", [20.0, 1e3, 1e6, 1e10])
def test_bodies_many_sizes_apart(sizes):
    rng = np.random.default_rng(12)
    a, b = build.blob(800, seed=13), build.torus(segments=16, sides=10)
    for scale in (1e-6, 1.0, 1e12):
        far = translation(sizes * scale * np.array([0.6, 0.0, -0.8])) @ random_pose(rng)
        assert_same_answer(a.scaled(scale), b.scaled(scale), random_pose(rng), far)


def test_a_small_body_over_a_large_floor():
    rng = np.random.default_rng(14)
    floor, body = grid(20, size=1e4), build.blob(500, seed=15).scaled(1e-3)
    for height in (1e-1, 3e-3, 1.2e-3):
        pose = translation([rng.uniform(0, 1e4), rng.uniform(0, 1e4), height]) @ random_pose(rng, 0.0)
        found = assert_same_answer(floor, body, IDENTITY, pose)
        assert 0.0 < found.distance <= height


def test_poses_that_are_not_quite_rigid():
    rng = np.random.default_rng(16)
    a, b = build.blob(800, seed=17), build.torus(segments=16, sides=10)
    for sizes in (2.1, 5.0, 1e5):
        pose_a, pose_b = random_pose(rng, 0.1), translation([sizes, 0.0, 0.0]) @ random_pose(rng, 0.1)
        for pose in (pose_a, pose_b):
            pose[:3, :3] += rng.uniform(-3e-6, 3e-6, (3, 3))
        assert_same_answer(a, b, pose_a, pose_b)


def test_scales_that_float32_cannot_hold_together():
    large, small = build.icosphere(1).scaled(1e25), box().scaled(1e-25)
    assert_same_answer(large, small, IDENTITY, translation([2e25, 1e24, 0.0]))
    assert_same_answer(small, small, IDENTITY, translation([1e29, 0.0, -1e28]))
    assert_same_answer(box(), Mesh([[3.0, 0.2, 0.2]], [[0, 0, 0]]))


def test_spheres_at_a_known_gap():
    """A polyhedron inscribed in a unit sphere is less than its sagitta away from it."""
    sphere = build.icosphere(4)
    radius = 1.0
    corners = sphere.vertices[sphere.faces]
    sagitta = radius - float(np.linalg.norm(corners.mean(axis=1), axis=1).min())
    rng = np.random.default_rng(18)
    tree = build_tree(sphere)
    for gap in (0.5, 0.01, 1e-3):
        way = rng.normal(size=3)
        pose = translation((2.0 * radius + gap) * way / np.linalg.norm(way)) @ random_pose(rng, 0.0)
        found = closest_faces(tree, tree, IDENTITY, pose)
        assert gap * (1.0 - 1e-12) <= found.distance <= gap + 2.0 * sagitta
        assert abs(np.linalg.norm(found.point_a) - radius) <= sagitta


def test_faces_apart_by_less_than_can_be_computed_do_not_touch():
    """Corners rounded onto a slanted plane: half miss it; the exact test decides."""
    rng = np.random.default_rng(19)
    touching = 0
    for _ in range(60):
        floor = rng.uniform(-1.0, 1.0, (3, 3))
        weights = rng.dirichlet(np.ones(3))
        tip = weights @ floor
        normal = np.cross(floor[1] - floor[0], floor[2] - floor[0])
        tent = np.array([tip, tip + normal + [0.1, 0.0, 0.0], tip + normal + [0.0, 0.1, 0.0]])
        a, b = Mesh(floor, [[0, 1, 2]]), Mesh(tent, [[0, 1, 2]])
        touches = rational.triangles_touch(floor.tolist(), tent.tolist())
        found = assert_same_answer(a, b)
        assert (found.distance == 0.0) == touches
        assert found.distance < 1e-15
        touching += touches
    assert 10 < touching < 50


def test_a_search_in_small_slices_and_on_a_small_stack_gives_the_same(monkeypatch):
    a, b = build.blob(3000, seed=20), build.blob(2000, seed=21)
    pose = translation([1.7, 0.3, 0.2])
    whole = by_tree(a, b, IDENTITY, pose)
    calls = []
    search = nearest_search.search_nearest

    def counted(*arguments):
        calls.append(0)
        return search(*arguments)

    monkeypatch.setattr(nearest_search, "OPERATIONS", 1)
    monkeypatch.setattr(nearest_search, "search_nearest", counted)
    monkeypatch.setattr(nearest_search, "FIRST_STACK", 66)
    monkeypatch.setattr(nearest_search, "WORKSPACES", Workspaces(NearestWorkspace))
    sliced = by_tree(a, b, IDENTITY, pose)
    assert len(calls) > 20
    assert (sliced.distance, sliced.face_a, sliced.face_b) == (whole.distance, whole.face_a, whole.face_b)
    assert sliced.point_a.tobytes() == whole.point_a.tobytes()


def test_threads_do_not_disturb_each_other():
    rng = np.random.default_rng(22)
    trees = build_tree(build.blob(2000, seed=23)), build_tree(build.torus(segments=24, sides=16))
    poses = [translation(2.0 * way / np.linalg.norm(way)) @ random_pose(rng, 0.0) for way in rng.normal(size=(40, 3))]

    def answers(out):
        out += [(c.distance, c.face_a, c.face_b) for c in (closest_faces(*trees, IDENTITY, pose) for pose in poses)]

    results = [[] for _ in range(3)]
    answers(results[0])
    threads = [threading.Thread(target=answers, args=(out,)) for out in results[1:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[0] == results[1] == results[2]


def test_after_a_tie_leaves_are_compared_along_one_direction():
    (a, pose_a), (b, pose_b) = ((Mesh(*mesh), pose) for mesh, pose in case("all_sizes", 7017))
    assert by_tree(a, b, pose_a, pose_b).distance == 0.0  # some of their faces touch
    assert by_brute_force(a, b, pose_a, pose_b).distance == 0.0

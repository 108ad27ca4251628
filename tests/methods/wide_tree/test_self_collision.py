"""Self-collision of one tree equals brute force for any shape, pose and room."""

from __future__ import annotations

import contextlib
import gc
import math
import threading
import weakref

import numpy as np
import pytest

from jostle.geometry.contact_kind import CROSSING, NEAR, TOUCHING
from jostle.geometry.rigid import transform_points
from jostle.kernels import pool
from jostle.methods.brute_force.all_faces import find_face_rows
from jostle.methods.wide_tree import self_search
from jostle.methods.wide_tree.build import build_tree
from jostle.methods.wide_tree.pair_work import MOST_NEW
from jostle.methods.wide_tree.refit import refit_tree
from jostle.methods.wide_tree.self_search import find_self_rows
from jostle.methods.wide_tree.self_work import SelfQuery
from jostle.methods.wide_tree.tree import Forest
from jostle.report.packing import ALL, FACE_BITS, FIRST, KIND_BITS
from jostle.shapes.build import blob
from jostle.shapes.mesh import Mesh
from tests.patience import let_helpers_begin

NO_POSE = np.eye(4)


def random_pose(seed: int, offset: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    q = rng.normal(size=4)
    w, x, y, z = q / np.linalg.norm(q)
    pose = np.eye(4)
    pose[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    pose[:3, 3] = offset * rng.uniform(-1.0, 1.0, 3)
    return pose


def self_rows(tree, *question):
    forest = Forest([tree])
    return find_self_rows(tree, forest.alone(0), *question)


def rows_by_brute_force(mesh: Mesh, pose, adjacent, clearance, welded_faces=None):
    world = transform_points(pose, mesh.vertices)
    welded = mesh.welded_faces if welded_faces is None else welded_faces
    rows, _ = find_face_rows(world, mesh.faces, world, mesh.faces, clearance, welded, adjacent)
    return packed(rows.face_a, rows.face_b, rows.kind), rows.distance


def packed(face_a, face_b, kind):
    a, b = np.asarray(face_a, np.int64), np.asarray(face_b, np.int64)
    return (a << (FACE_BITS + KIND_BITS)) | (b << KIND_BITS) | np.asarray(kind, np.int64)


def assert_same_rows(mesh: Mesh, pose=NO_POSE, adjacent=False, clearance=0.0, welded_faces=None) -> np.ndarray:
    """Compare with the brute force and return the rows."""
    welded = mesh.welded_faces if welded_faces is None else welded_faces
    rows, distances, _ = self_rows(build_tree(mesh), welded, pose, adjacent, clearance)
    expected_rows, expected_distances = rows_by_brute_force(mesh, pose, adjacent, clearance, welded_faces)
    assert rows.dtype == np.int64
    np.testing.assert_array_equal(rows, expected_rows)
    assert distances.tobytes() == expected_distances.tobytes()
    return rows


def soup(count: int, seed: int, size: float = 0.3) -> Mesh:
    """Random triangles, some with common vertices."""
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-1.0, 1.0, (count, 1, 3))
    vertices = (middles + rng.normal(0.0, size, (count, 3, 3))).reshape(-1, 3)
    faces = np.arange(3 * count).reshape(-1, 3)
    some = rng.random(faces.shape) < 0.1
    faces[some] = rng.integers(0, 3 * count, int(some.sum()))
    return Mesh(vertices, faces)


def crumpled(face_count: int, seed: int, amount: float) -> Mesh:
    """A blob with noise on its vertices, `amount` times the length of its edges."""
    mesh = blob(face_count, seed)
    edge = np.linalg.norm(mesh.vertices[mesh.faces[:, 0]] - mesh.vertices[mesh.faces[:, 1]], axis=1).mean()
    return mesh.with_vertices(mesh.vertices + np.random.default_rng(seed).normal(0.0, amount * edge, mesh.vertices.shape))


def grid_of_slivers(count: int) -> Mesh:
    """Long faces along x, and others along y standing across them: all pairs cross."""
    at, one = np.arange(count, dtype=float), np.ones(count)
    begin, middle, end = -2.0 * one, 0.5 * count * one, (count + 1.0) * one
    flat = np.stack([np.c_[begin, at, 0 * one], np.c_[end, at, 0 * one], np.c_[end, at + 0.25, 0 * one]], axis=1)
    x = at + 0.125
    upright = np.stack([np.c_[x, begin, -one], np.c_[x, end, -one], np.c_[x, middle, 1e3 * one]], axis=1)
    corners = np.concatenate([flat, upright]).reshape(-1, 3)
    return Mesh(corners, np.arange(6 * count).reshape(-1, 3))


@pytest.mark.small
@pytest.mark.parametrize("faces", [1, 2, 8, 9, 20])
@pytest.mark.parametrize(("adjacent", "clearance"), [(False, 0.0), (True, 0.0), (False, 0.2), (True, 0.2)])
def test_few_faces(faces, adjacent, clearance):
    assert_same_rows(soup(faces, faces, 0.5), random_pose(faces, 1.0), adjacent, clearance)


@pytest.mark.small
def test_two_faces_through_each_other():
    corners = [[-1, -1, 0], [1, -1, 0], [0, 1, 0], [0, 0, -1], [0, 0.5, 1], [0, -0.5, 1], [3, 0, 0.0], [4, 0, 0], [3, 1, 0]]
    mesh = Mesh(corners, [[6, 7, 8], [3, 4, 5], [0, 1, 2]])
    rows, distances, counters = self_rows(build_tree(mesh), mesh.welded_faces, NO_POSE, False, 0.0)
    assert rows.tolist() == packed([1], [2], [CROSSING]).tolist()
    assert distances.tolist() == [0.0]
    assert counters.triangle_tests == 1
    # The first is nearest to the second at its origin, 3 away, and to the third at its corner (1, -1, 0), 2 away in x and 1 in y.
    rows, distances, _ = self_rows(build_tree(mesh), mesh.welded_faces, NO_POSE, False, 3.5)
    assert rows.tolist() == packed([0, 0, 1], [1, 2, 2], [NEAR, NEAR, CROSSING]).tolist()
    assert distances.tolist() == [3.0, math.sqrt(5.0), 0.0]


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
@pytest.mark.parametrize(("adjacent", "clearance"), [(False, 0.0), (True, 0.0), (False, 0.03), (True, 0.03)])
def test_random_soups(adjacent, clearance, offset):
    rows = assert_same_rows(soup(700, 3), random_pose(int(offset), offset), adjacent, clearance)
    assert len(rows) > 700


@pytest.mark.parametrize("amount", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("adjacent", [False, True])
def test_crumpled_closed_meshes(amount, adjacent):
    mesh = crumpled(3000, 1, amount)
    rows = assert_same_rows(mesh, random_pose(5, 10.0), adjacent)
    assert (len(rows) == 0) == (amount == 0.0)
    assert_same_rows(mesh, random_pose(6, 10.0), adjacent, 0.02)


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1e9, 1e28])
def test_sizes(scale):
    mesh = soup(200, 4).scaled(scale) if scale > 1e-30 else Mesh(np.round(soup(200, 4).vertices * 50.0) * 1e-30, soup(200, 4).faces)
    assert len(assert_same_rows(mesh, random_pose(7, scale), False, 0.01 * scale)) > 100
    assert len(assert_same_rows(mesh, random_pose(7, scale), True)) > 100


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_all_faces_in_one_plane(offset):
    flat = soup(300, 5).vertices * [1.0, 1.0, 0.0]
    assert len(assert_same_rows(Mesh(flat, soup(300, 5).faces), random_pose(8, offset), True)) > 300


@pytest.mark.small
def test_all_faces_identical():
    corners, count = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.3]]), 70
    mesh = Mesh(np.tile(corners, (count, 1)), np.arange(3 * count).reshape(-1, 3))
    tree = build_tree(mesh)
    assert len(self_rows(tree, mesh.welded_faces, NO_POSE, False, 0.0)[0]) == 0
    a, b = np.triu_indices(count, 1)
    every = packed(a, b, np.full(len(a), TOUCHING)).tolist()
    assert self_rows(tree, mesh.welded_faces, NO_POSE, True, 0.0)[0].tolist() == every
    # Faces that lie on each other and share nothing, as far as the welding says.
    assert self_rows(tree, mesh.faces, random_pose(1, 1e3), False, 0.0)[0].tolist() == every


@pytest.mark.parametrize("adjacent", [False, True])
def test_a_fan_of_slivers(adjacent):
    count = 500
    angle = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    rim = np.c_[1e6 * np.cos(angle), 1e6 * np.sin(angle), 1e-6 * np.sin(7.0 * angle)]
    spokes = np.arange(1, count + 1)
    mesh = Mesh(np.vstack([[[0.0, 0.0, 0.0]], rim]), np.c_[0 * spokes, spokes, np.roll(spokes, -1)])
    assert len(assert_same_rows(mesh, random_pose(9, 1.0), adjacent)) == 0
    turned = Mesh(mesh.vertices, np.c_[0 * spokes, spokes, np.roll(spokes, -2)])
    assert (len(assert_same_rows(turned, NO_POSE, adjacent)) > 0) == adjacent


def test_faces_that_only_the_rounding_of_the_world_brings_together():
    # 8e-10 apart in the body's frame, where boxes near 0 are sharp; at 1e7 coordinates are multiples of 1.9e-9.
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    plates = np.vstack([np.c_[square, np.full(4, -4e-10)], np.c_[0.9 * square, np.full(4, 4e-10)]])
    mesh = Mesh(plates, [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]])
    assert len(assert_same_rows(mesh)) == 0
    pose = np.eye(4)
    pose[2, 3] = 1e7
    # Each of the one plate lies on both of the other: half of it, or along the diagonal.
    assert assert_same_rows(mesh, pose).tolist() == packed([0, 0, 1, 1], [2, 3, 2, 3], [TOUCHING] * 4).tolist()
    assert sum(len(assert_same_rows(mesh, random_pose(seed, 1e7))) for seed in range(20)) > 0


def test_a_clearance_as_the_boxes_are_apart():
    # On a grid distances are exact: faces just as far apart as the clearance are not near.
    x, y, z = np.meshgrid(np.arange(6.0), np.arange(6.0), np.arange(3.0), indexing="ij")
    at = np.stack([x, y, z], axis=-1).reshape(-1, 1, 3)
    corners = at + np.array([[0, 0, 0], [0.5, 0, 0], [0, 0.5, 0]])
    mesh = Mesh(corners.reshape(-1, 3), np.arange(3 * len(at)).reshape(-1, 3))
    assert len(assert_same_rows(mesh, NO_POSE, False, 0.5)) == 0
    pose = np.array([[0.0, -1, 0, 8], [1, 0, 0, -4], [0, 0, 1, 2], [0, 0, 0, 1]])
    assert len(assert_same_rows(mesh, pose, False, np.nextafter(0.5, 1.0))) == 2 * 5 * 6 * 3
    assert len(assert_same_rows(mesh, random_pose(3, 1e3), False, 0.5)) < len(
        assert_same_rows(mesh, random_pose(3, 1e3), False, 0.51)
    )


@pytest.mark.parametrize("adjacent", [False, True])
def test_more_vertices_than_float32_can_number(adjacent):
    mesh = crumpled(1000, 2, 0.5)
    far = (mesh.welded_faces + ((1 << 24) + 1)).astype(np.int32)
    rows = assert_same_rows(mesh, NO_POSE, adjacent, 0.0, far)
    np.testing.assert_array_equal(rows, assert_same_rows(mesh, NO_POSE, adjacent))


def test_two_hundred_thousand_pairs_come_back_whole():
    count = 450
    mesh = grid_of_slivers(count)
    rows, _, _ = self_rows(build_tree(mesh), mesh.welded_faces, NO_POSE, False, 0.0)
    a, b = np.divmod(np.arange(count * count), count)
    np.testing.assert_array_equal(rows, packed(a, b + count, np.full(len(a), CROSSING)))


def test_rows_do_not_depend_on_room_or_slices(monkeypatch):
    mesh = soup(400, 6, 0.5)
    tree = build_tree(mesh)
    forest, query = Forest([tree]), SelfQuery(True, 0.05, ALL)
    whole = self_rows(tree, mesh.welded_faces, NO_POSE, True, 0.05)
    for room, operations in ((MOST_NEW, 1), (1, 7), (100, 1000), (1 << 20, 1 << 40)):
        monkeypatch.setattr(self_search, "FIRST_ROOM", room)
        work = self_search.SelfWorkspace()
        walk = self_search.Walk.begun(work, tree, forest.alone(0), mesh.welded_faces, NO_POSE, query)
        steps, used, done = 0, 0, False
        while not done:
            done, did = walk.resume(operations)
            assert done or did >= operations
            steps, used = steps + 1, used + did
        rows, distances = walk.found()
        order = np.argsort(rows)
        np.testing.assert_array_equal(rows[order], whole[0])
        np.testing.assert_array_equal(distances[order], whole[1])
        assert used == work.progress.node_tests + work.progress.triangle_tests
        assert operations > 1000 or steps > 3


@pytest.mark.parametrize(("mesh", "adjacent", "clearance"), [
    (crumpled(3000, 4, 0.5), True, 0.02), (soup(700, 3), False, 0.0), (grid_of_slivers(60), False, 0.1), (soup(1, 1), True, 0.0),
])  # fmt: skip
def test_rows_and_counters_do_not_depend_on_threads(monkeypatch, mesh, adjacent, clearance):
    tree, pose = build_tree(mesh), random_pose(5, 10.0)
    rows, distances, counters = self_rows(tree, mesh.welded_faces, pose, adjacent, clearance)
    monkeypatch.setattr(self_search, "LARGE", 1)
    let_helpers_begin(monkeypatch)
    threads = set()
    resume = self_search.Walk.resume

    def watched(*given):
        threads.add(threading.get_ident())
        return resume(*given)

    monkeypatch.setattr(self_search.Walk, "resume", watched)
    for processors, seeds in ((1, 4), (2, 4), (3, 1), (8, 1000)):
        monkeypatch.setattr(self_search, "SEEDS", seeds)
        monkeypatch.setattr(pool, "usable_processors", lambda processors=processors: processors)
        for _ in range(3):
            again = self_rows(tree, mesh.welded_faces, pose, adjacent, clearance, ALL, None)
            assert again[0].tobytes() == rows.tobytes()
            assert again[1].tobytes() == distances.tobytes()
            assert again[2] == counters
    assert (len(threads) > 1) == (len(mesh.faces) > 8)


def test_helpers_keep_the_tree_of_a_caller_that_was_interrupted(monkeypatch):
    mesh = crumpled(3000, 4, 0.5)
    monkeypatch.setattr(self_search, "LARGE", 1)
    monkeypatch.setattr(pool, "usable_processors", lambda: 2)
    let_helpers_begin(monkeypatch)
    resume, dropped, ended, alive = self_search.Walk.resume, threading.Event(), threading.Event(), []

    def slow_in_helpers(walk, operations):
        if threading.current_thread() is not threading.main_thread():
            assert dropped.wait(20.0)
            alive.extend(array() is not None for array in arrays)
            ended.set()
            return True, 0
        return resume(walk, operations)

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(self_search.Walk, "resume", slow_in_helpers)
    monkeypatch.setattr(pool, "_wait_for", interrupted)
    tree = build_tree(mesh)
    arrays = [weakref.ref(array) for array in tree]
    with contextlib.suppress(KeyboardInterrupt):  # `raises` would keep the traceback, and with it the tree
        self_rows(tree, mesh.welded_faces, NO_POSE, False, 0.0, ALL, None)
    del tree
    gc.collect()
    dropped.set()
    assert ended.wait(20.0)
    assert len(alive) == len(arrays)
    assert all(alive)


def test_a_workspace_knows_of_which_tree_its_numbers_are():
    """Those of a body that deforms are kept, of another tree or other welded numbers they are made anew."""
    mesh = crumpled(800, 2, 0.5)
    tree, others = build_tree(mesh), [build_tree(soup(700, 3)), build_tree(crumpled(900, 5, 0.5))]
    moved = tree._replace(boxes=np.empty_like(tree.boxes), frame=np.empty_like(tree.frame))
    moved, _ = refit_tree(moved, mesh.vertices[:, [1, 2, 0]].copy(), True)
    apart = np.arange(mesh.faces.size, dtype=np.int32).reshape(-1, 3)
    for one, welded in ((tree, mesh.welded_faces), (moved, mesh.welded_faces), (others[0], None), (moved, mesh.welded_faces),
                        (moved, apart), (others[1], None), (tree, mesh.welded_faces)):  # fmt: skip
        numbers = np.arange(one.faces.size, dtype=np.int32).reshape(-1, 3) if welded is None else welded
        kept = self_rows(one, numbers, NO_POSE, False, 0.01)
        self_search.WORKSPACES._idle.clear()
        anew = self_rows(one, numbers, NO_POSE, False, 0.01)
        assert kept[0].tobytes() == anew[0].tobytes()
        assert kept[2] == anew[2]
        assert len(kept[0]) > 50


@pytest.mark.small
def test_one_row_is_enough():
    mesh = soup(30, 8, 0.5)
    tree = build_tree(mesh)
    every, _, all_counters = self_rows(tree, mesh.welded_faces, NO_POSE, False, 0.0)
    one, distances, counters = self_rows(tree, mesh.welded_faces, NO_POSE, False, 0.0, FIRST)
    assert len(one) == len(distances) == 1
    assert one[0] in every
    assert counters.triangle_tests < all_counters.triangle_tests
    lonely = Mesh(mesh.vertices[:3], [[0, 1, 2]])
    assert len(self_rows(build_tree(lonely), lonely.welded_faces, NO_POSE, False, 0.0, FIRST)[0]) == 0


def test_neighbours_are_sorted_out_before_the_exact_test():
    mesh = blob(5000, 3)
    rows, _, counters = self_rows(build_tree(mesh), mesh.welded_faces, NO_POSE, False, 0.0)
    assert len(rows) == 0
    assert counters.triangle_tests < 1000  # of some 30,000 pairs whose boxes meet
    assert counters.box_tests < 5000 * 100


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_pose_that_shrinks_by_what_is_accepted(axis):
    # RᵀR is off by nearly 1e-5, so lengths along an axis by half of that: what is near in the world must not be culled in the body.
    shrink = np.eye(4)
    shrink[axis, axis] = 1.0 - 0.49e-5
    small = np.roll(1e-3 * np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), axis, axis=1)
    gaps = 1.0 + np.arange(0.5, 20.0) * 1e-6
    corners = np.concatenate([small, *(small + gap * np.eye(3)[axis] for gap in gaps)])
    rows = assert_same_rows(Mesh(corners, np.arange(len(corners)).reshape(-1, 3)), shrink, False, 1.0)
    assert np.count_nonzero(rows >> (FACE_BITS + KIND_BITS) == 0) == 5  # the gaps up to 1 + 4.5e-6

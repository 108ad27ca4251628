"""From overlap regions to rows: regions, the node checklist by rational arithmetic, and slices so small that every array grows."""

import numpy as np
import pytest

import jostle
from jostle.broad_phase.volumes import Volumes
from jostle.geometry.box_box import PADDING
from jostle.geometry.pose import translation
from jostle.geometry.rigid import transform_points
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.jit import kernel
from jostle.methods.octree_update.black_nodes import complete_face_octree
from jostle.methods.octree_update.face_pairs import put_on_checklist
from jostle.methods.octree_update.overlap_regions import find_overlap_regions
from jostle.methods.octree_update.search import Octrees, Room, Search
from jostle.methods.octree_update.standard_octree import FULL_CHECKLIST
from jostle.methods.octree_update.work import open_work
from tests.oracle.boxes import oriented_box_meets_box
from tests.tiny import box, random_pose, random_soup, tetrahedron


def world_of(meshes, poses, method="octree_update"):
    world = jostle.World(method)
    for mesh, pose in zip(meshes, poses, strict=True):
        world.add(mesh, pose)
    return world


def stages(meshes, poses, level, body_level):
    """The search of these bodies and their overlap regions, all pairs of which overlap."""
    frame = world_of(meshes, poses, "brute_force")._frame()
    corners = [frame.world_vertices(k) for k in range(len(meshes))]
    volumes = Volumes(np.array([c.min(axis=0) for c in corners]), np.array([c.max(axis=0) for c in corners]))
    a, b = (index.astype(np.int32) for index in np.triu_indices(len(meshes), 1))
    regions = find_overlap_regions(CandidatePairs(a, b), volumes)
    shapes = {id(mesh): complete_face_octree(mesh, body_level) for mesh in meshes}
    search = Search(Octrees(tuple(shapes[id(mesh)] for mesh in meshes), tuple(meshes)), level)
    return frame, regions, search


@pytest.mark.small
def test_regions_are_the_common_parts_of_boxes_and_each_body_knows_its_own():
    rng = np.random.default_rng(0)
    lower = rng.uniform(0, 2, (6, 3))
    upper = lower + rng.uniform(0.5, 2, (6, 3))
    a, b = np.array([1, 1, 3], np.int32), np.array([3, 5, 5], np.int32)
    regions = find_overlap_regions(CandidatePairs(a, b), Volumes(lower, upper))
    assert regions.bodies.tolist() == [1, 3, 5]
    for pair, (i, j) in enumerate(zip(a, b, strict=True)):
        assert np.array_equal(regions.boxes.lower[pair], np.maximum(lower[i], lower[j]))
        assert np.array_equal(regions.boxes.upper[pair], np.minimum(upper[i], upper[j]))
    start = regions.boxes.start
    of_body = [sorted(regions.boxes.pairs[start[k] : start[k + 1]].tolist()) for k in range(3)]
    assert of_body == [[0, 1], [0, 2], [1, 2]]
    assert regions.pairs.start.tolist() == [0, 2, 3, 3]
    assert regions.pairs.partner.tolist() == [1, 2, 2]
    assert np.array_equal(regions.box_lower, lower[[1, 3, 5]].min(axis=0))
    assert np.array_equal(regions.box_upper, upper[[1, 3, 5]].max(axis=0))


@pytest.mark.small
def test_the_node_checklist_has_every_node_that_meets_a_region():
    rng = np.random.default_rng(1)
    mesh = tetrahedron()
    listed_in_all = 0
    for _ in range(3):
        poses = [random_pose(rng, 0.2), random_pose(rng, 0.2)]
        frame, regions, search = stages([mesh, mesh], poses, 4, 2)
        checklist = search.node_checklist(regions, frame)
        found = {tuple(row) for row in checklist.nodes.tolist()}
        assert list(map(list, sorted(found))) == checklist.nodes.tolist()
        octree = complete_face_octree(mesh, 2)
        side = octree.cube[3] / 4
        for body, pose in enumerate(poses):
            axes = pose[:3, :3].T * (side / 2)
            for node, cell in enumerate(octree.cells):
                centre = pose[:3, :3] @ (octree.cube[:3] + (cell + 0.5) * side) + pose[:3, 3]
                lower, upper = regions.boxes.lower[0], regions.boxes.upper[0]
                # Cubes that are smaller or larger by a little: what is between is left to rounding.
                if oriented_box_meets_box(centre, axes * (1 - 1e-12), lower, upper):
                    assert (body, node) in found
                elif (body, node) in found:
                    assert oriented_box_meets_box(centre, axes * (1 + 1e-12), lower, upper)
        listed_in_all += len(found)
        assert len(found) < 2 * len(octree.cells)
    assert listed_in_all > 10


@pytest.mark.small
def test_slices_of_one_operation_and_arrays_of_one_row_give_the_same():
    rng = np.random.default_rng(2)
    meshes = [random_soup(rng, 4), random_soup(rng, 4), box()]
    poses = [random_pose(rng, 0.2) for _ in meshes]
    frame, regions, search = stages(meshes, poses, 2, 1)
    checklist = search.node_checklist(regions, frame)
    rows, counters = search.touching_faces(regions, checklist, frame)
    assert len(rows.kind) > 3
    search._room = Room(1)
    again = search.node_checklist(regions, frame, operations=1)
    assert again.nodes.tolist() == checklist.nodes.tolist()
    assert np.array_equal(again.centres, checklist.centres)
    assert again.tests == checklist.tests
    for record in (False, True):
        few, work = search.touching_faces(regions, again, frame, record=record, operations=1)
        for one, other in zip(rows, few, strict=True):
            assert np.array_equal(one, other)
        assert work == counters
    cells = search.cells_with_two_bodies().tolist()
    assert len(set(map(tuple, cells))) == len(cells) > 5
    truth = world_of(meshes, poses, "brute_force").detect().contacts
    assert np.array_equal(rows.face_a, truth.face_a)
    assert np.array_equal(rows.kind, truth.kind)


def test_one_operation_at_a_time_in_the_kernels_themselves(monkeypatch):
    """The slices above grow with the clock; these do not."""
    from jostle.methods.octree_update import search as module

    def one_by_one(step, state, operations):
        while not step(state, 1)[0]:
            pass

    rng = np.random.default_rng(3)
    meshes = [random_soup(rng, 10), random_soup(rng, 10)]
    frame, regions, search = stages(meshes, [None, None], 3, 2)
    rows, counters = search.touching_faces(regions, search.node_checklist(regions, frame), frame)
    monkeypatch.setattr(module, "run_in_slices", one_by_one)
    search._room = Room(1)
    few, work = search.touching_faces(regions, search.node_checklist(regions, frame), frame)
    for one, other in zip(rows, few, strict=True):
        assert np.array_equal(one, other)
    assert work == counters
    assert len(rows.kind) > 10


@pytest.mark.small
def test_a_face_pair_is_checked_once_however_many_voxels_it_is_in():
    wall = jostle.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    for level in (0, 1, 3):
        frame, regions, search = stages([wall, wall], [None, None], level, 2)
        rows, counters = search.touching_faces(regions, search.node_checklist(regions, frame), frame, record=True)
        assert len(rows.kind) == counters.triangle_tests == 1
        voxels = (search.cells_with_two_bodies()[:, 0] == level).sum()
        assert voxels == 1 if level == 0 else voxels >= 4


@kernel
def put_at(addresses, pair, face_a, face_b):
    """Put a pair of faces on a checklist."""
    return put_on_checklist(open_work(addresses).checklist, pair, face_a, face_b)


@pytest.mark.small
def test_the_checklist_of_pairs_of_faces_tells_new_from_old():
    room = Room(64)
    small = room.table
    # More than half full, so that entries with equal faces and different pairs of bodies come to stand side by side.
    entries = [(p, a, b) for p in range(10, 16) for a in (0, 3, 2**31 - 1) for b in (0, 3, 2**31 - 1)]
    assert all(put_at(small.table[0], *entry) for entry in entries)
    room.grow(FULL_CHECKLIST)
    assert len(room.array("checklist")) == 128
    for held in (small, room.table):
        assert not any(put_at(held.table[0], *entry) for entry in entries)
        assert put_at(held.table[0], 1, 0, 3)


def test_without_the_padding_of_cubes_touching_faces_would_be_lost(monkeypatch):
    """Points on corners of a body far away, where world vertices are rounded by more than the cube about it has to spare."""
    from jostle.methods.octree_update import search as module

    place = module.node_checklist.place_octrees

    def place_without_padding(poses, cubes, levels, half_axes):
        place(poses, cubes, levels, half_axes)
        half_axes[:, PADDING] = 0.0

    rng = np.random.default_rng(5)
    body, point = tetrahedron(), jostle.Mesh([[0.0, 0.0, 0.0]], [[0, 0, 0]])
    lost = 0
    for _ in range(30):
        pose = random_pose(rng, 1e11)
        corner = transform_points(pose, body.vertices)[rng.integers(4)]
        frame, regions, search = stages([body, point], [pose, translation(corner)], 3, 3)
        rows, _ = search.touching_faces(regions, search.node_checklist(regions, frame), frame)
        truth = world_of([body, point], [pose, translation(corner)], "brute_force").detect().contacts
        assert rows.face_a.tolist() == truth.face_a.tolist()
        assert len(truth) >= 3
        with monkeypatch.context() as broken:
            broken.setattr(module.node_checklist, "place_octrees", place_without_padding)
            few, _ = search.touching_faces(regions, search.node_checklist(regions, frame), frame)
        lost += len(few.kind) < len(rows.kind)
    assert lost > 3

"""The precomputed octrees: every face in every node it meets, by rational arithmetic, in nodes without gaps."""

import itertools

import numpy as np
import pytest

import jostle
from jostle.methods.octree_update import black_nodes
from jostle.methods.octree_update.black_nodes import complete_face_octree
from jostle.methods.octree_update.cubes import cell_boxes, cube_about
from jostle.shapes import build
from tests.oracle.boxes import polygon_meets_box
from tests.tiny import box, random_soup, tetrahedron

POINT = jostle.Mesh([[0.25, 0.5, -1.0]], [[0, 0, 0]], name="point")
MESHES = {
    "tetrahedron": tetrahedron(),
    "soup": random_soup(np.random.default_rng(0), 3),
    "degenerate": jostle.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0.5, 0.5, 0.5]], [[0, 1, 1], [0, 2, 2], [3, 3, 3], [0, 1, 2]]),
    "point": POINT,
    "small and far away": jostle.Mesh(tetrahedron().vertices * 1e-3 + 1e7, tetrahedron().faces),
}


def lists_of(octree):
    """{cell: faces} of the black nodes."""
    return {
        tuple(cell): octree.node_faces[octree.node_start[k] : octree.node_start[k + 1]].tolist()
        for k, cell in enumerate(octree.cells.tolist())
    }


def all_cells(level):
    return np.array(list(itertools.product(range(2**level), repeat=3)))


@pytest.mark.small
@pytest.mark.parametrize("name", MESHES)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_a_node_lists_exactly_the_faces_that_meet_it(name, level):
    mesh = MESHES[name]
    octree = complete_face_octree(mesh, level)
    lists = lists_of(octree)
    assert int(octree.level) == level
    assert all(lists.values())
    cells = all_cells(level)
    padding = 2.0**-44 * (octree.cube[3] + np.abs(octree.cube[:3]).max())
    for cell, (lower, upper) in zip(cells.tolist(), cell_boxes(octree.cube, np.full(len(cells), level), cells), strict=True):
        listed = lists.get(tuple(cell), [])
        assert listed == sorted(set(listed))
        for face, corners in enumerate(mesh.vertices[mesh.faces]):
            if polygon_meets_box(corners, lower, upper):
                assert face in listed, (cell, face)
            elif face in listed:
                assert polygon_meets_box(corners, lower, upper, padding), (cell, face)
    assert len(lists) <= len(cells)


def test_finer_levels_refine_the_coarser_ones():
    mesh = build.icosphere(2)
    nodes = [lists_of(complete_face_octree(mesh, level)) for level in range(6)]
    assert len(nodes[5]) > 1000
    for coarse, fine in itertools.pairwise(nodes):
        parents: dict = {}
        for cell, faces in fine.items():
            parents.setdefault(tuple(k // 2 for k in cell), set()).update(faces)
        assert parents == {cell: set(faces) for cell, faces in coarse.items()}


def test_every_point_of_a_face_is_in_a_node_that_lists_it():
    rng = np.random.default_rng(1)
    mesh = build.torus(segments=12, sides=8)
    octree = complete_face_octree(mesh, 5)
    boxes = cell_boxes(octree.cube, np.full(len(octree.cells), 5), octree.cells)
    listed = [set(faces) for faces in lists_of(octree).values()]
    for face in rng.integers(0, len(mesh.faces), 100).tolist():
        point = rng.dirichlet(np.ones(3)) @ mesh.vertices[mesh.faces[face]]
        holding = np.flatnonzero(((boxes[:, 0] <= point + 1e-12) & (point - 1e-12 <= boxes[:, 1])).all(axis=1))
        assert any(face in listed[k] for k in holding)


@pytest.mark.small
def test_building_in_portions_of_one_entry_is_the_same(monkeypatch):
    def one_by_one(step, state, operations):
        while not step(state, 1)[0]:
            pass

    mesh = tetrahedron()
    whole = complete_face_octree(mesh, 2)
    monkeypatch.setattr(black_nodes, "run_in_slices", one_by_one)
    for one, other in zip(whole, complete_face_octree(mesh, 2), strict=True):
        assert np.array_equal(one, other)


def test_progress_is_told_level_by_level():
    told = []
    complete_face_octree(box(), 4, lambda share, what: told.append(share))
    assert told == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.small
def test_cells_share_their_planes_bit_for_bit():
    rng = np.random.default_rng(2)
    for scale in (1.0, 1e-25, 1e25):
        cube = np.append(rng.normal(size=3), abs(rng.normal())) * scale
        numbers = np.arange(1 << 6)
        cells = np.stack([numbers] * 3, axis=1)
        boxes = cell_boxes(cube, np.full(1 << 6, 6), cells)
        assert (boxes[1:, 0] == boxes[:-1, 1]).all()
        coarser = cell_boxes(cube, np.full(1 << 5, 5), cells[: 1 << 5])
        assert (coarser[:, 0] == boxes[::2, 0]).all()
        assert (coarser[:, 1] == boxes[1::2, 1]).all()


@pytest.mark.small
@pytest.mark.parametrize("size", [0.0, 1e-30, 1e-9, 1.0, 1e30])
@pytest.mark.parametrize("place", [0.0, 1e-30, 1.0, -1e7, 1e30])
def test_a_cube_holds_its_box_with_all_its_cells(size, place):
    rng = np.random.default_rng(3)
    lower = place * rng.uniform(-1, 1, 3)
    upper = lower + size * rng.uniform(0, 1, 3)
    cube = cube_about(lower, upper)
    assert (cube[:3] <= lower).all()
    assert (cube_about(lower, lower)[3] > 0).all()
    last = cell_boxes(cube, np.array([10]), np.full((1, 3), 1023))[0]
    assert (last[1] >= upper).all()
    assert (last[0] < last[1]).all()

"""Lattices: mass, embedded surfaces and cells."""

import numpy as np
import pytest

from jostle import Mesh
from jostle.geometry.winding import winding_number
from jostle.shapes import build
from jostle.sim.lattice import SAMPLES, _inside, lattice_of
from tests.tiny import random_soup

SHAPES = {
    "box": build.box((1.0, 2.0, 0.5)),
    "ball": build.blob(500, roughness=0.0),
    "blob": build.blob(400, seed=3, roughness=0.4),
    "torus": build.torus(1.0, 0.35, 24, 12),
    "plate": build.plate(3, 2),
    "soup": random_soup(np.random.default_rng(1)),
}


@pytest.mark.small
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cells", [1, 5])
def test_vertices_follow_every_affine_map_of_the_nodes(shape, cells):
    mesh, rng = SHAPES[shape], np.random.default_rng(0)
    lattice = lattice_of(mesh, cells)
    assert lattice.vertex_weight.sum(axis=1) == pytest.approx(1.0)
    assert (lattice.vertex_weight >= -1e-9).all()
    turn, shift = rng.normal(size=(3, 3)), rng.normal(size=3)
    for places in (lattice.node, lattice.node @ turn + shift):
        found = (lattice.vertex_weight[:, :, None] * places[lattice.cell[lattice.vertex_cell]]).sum(axis=1)
        wanted = mesh.vertices if places is lattice.node else mesh.vertices @ turn + shift
        assert np.abs(found - wanted).max() < 1e-12
    middles = (lattice.face_weight[:, :, None] * lattice.node[lattice.cell[lattice.face_cell]]).sum(axis=1)
    assert np.abs(middles - mesh.vertices[mesh.faces].mean(axis=1)).max() < 1e-12


@pytest.mark.small
@pytest.mark.parametrize("shape", ["box", "ball", "torus"])
def test_a_lattice_weighs_what_its_mesh_does(shape):
    mesh = SHAPES[shape]
    lattice = lattice_of(mesh, 8)
    assert lattice.mass.sum() == pytest.approx(mesh.volume)
    assert (lattice.mass > 0.0).all()
    centre = (lattice.mass[:, None] * lattice.node).sum(axis=0) / lattice.mass.sum()
    assert np.abs(centre).max() < 0.02
    # Counted by the cells, before it is fitted to the mesh, it is right within a tenth: cells at the border count by their share.
    assert (lattice.share * lattice.edge**3).sum() == pytest.approx(mesh.volume, rel=0.1)


@pytest.mark.small
def test_the_share_of_a_cell_is_that_of_the_samples_that_the_surface_winds_around():
    mesh, counts, edge = SHAPES["blob"], np.array([4, 4, 4]), 0.7
    origin = np.array([-1.4, -1.35, -1.3])
    steps = (np.stack(np.meshgrid(*(range(SAMPLES * count) for count in counts), indexing="ij"), axis=-1)).reshape(-1, 3)
    points = origin + edge / SAMPLES * (steps + np.array([0.50071828, 0.49914159, 0.5]))
    wanted = (np.abs(winding_number(points, mesh.vertices, mesh.faces)) > 0.5).reshape(4, 4, 4, 4, 4, 4).mean(axis=(1, 3, 5))
    assert (_inside(mesh, origin, edge, counts) == wanted).all()
    assert 0.0 < wanted.mean() < 1.0


@pytest.mark.small
def test_springs_of_a_whole_block_count_once_inside_and_less_at_its_border():
    lattice = lattice_of(build.box(), 3)
    assert len(lattice.cell) == 27
    assert len(lattice.node) == 64
    lengths = np.unique(lattice.rest.round(9))
    assert lengths == pytest.approx([1 / 3, 2**0.5 / 3])
    axial = lattice.rest < 0.4
    assert axial.sum() == 3 * 3 * 16
    assert (~axial).sum() == 3 * 2 * 9 * 4
    assert set(lattice.weight[axial].round(9)) == {0.25, 0.5, 1.0}
    assert set(lattice.weight[~axial].round(9)) == {0.5, 1.0}


@pytest.mark.small
def test_an_open_mesh_is_the_middle_of_one_layer_of_cells():
    lattice = lattice_of(build.plate(4, 4, (2.0, 1.0)), 4)
    assert len(lattice.cell) == 4 * 2
    assert set(lattice.node[:, 2].round(9)) == {-0.25, 0.25}
    assert (lattice.share == 1.0).all()


@pytest.mark.small
def test_large_faces_and_vertices_of_no_face_have_cells():
    corners = [[0.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 9.0, 3.0], [5.0, 5.0, 5.0]]
    lattice = lattice_of(Mesh(corners, [[0, 1, 2]]), 9)
    assert len(lattice.cell) > 30  # all that the triangle passes, though only three hold a corner
    found = (lattice.vertex_weight[:, :, None] * lattice.node[lattice.cell[lattice.vertex_cell]]).sum(axis=1)
    assert found == pytest.approx(np.array(corners))

"""Lattices with cells of two sizes: mass, stored energy and hanging nodes."""

import numpy as np
import pytest

from jostle.shapes import build
from jostle.sim import SoftMaterial
from jostle.sim.deform import cells_of, elastic_energy, springs_of
from jostle.sim.lattice import lattice_of
from jostle.sim.resolutions import resolutions_of, with_split
from jostle.sim.ties import fulfil_ties, ties_of

SHAPES = {
    "box": build.box((1.0, 2.0, 0.5)),
    "ball": build.blob(500, roughness=0.0),
    "blob": build.blob(400, seed=3, roughness=0.4),
    "plate": build.plate(3, 2),
}


def middles(lattice):
    return lattice.node[lattice.cell].mean(axis=1)


def half_split(mesh, cells, axis=2):
    resolutions = resolutions_of(mesh, cells)
    return with_split(resolutions, middles(resolutions.coarse)[:, axis] > 0.0)


@pytest.mark.small
def test_a_lattice_that_is_split_all_over_is_that_with_twice_as_many_cells():
    mesh = SHAPES["ball"]
    resolutions, wanted = resolutions_of(mesh, 4), lattice_of(mesh, 8)
    found = with_split(resolutions, np.ones(len(resolutions.coarse.cell), bool))
    assert np.abs(found.node - wanted.node).max() < 1e-12
    assert found.mass == pytest.approx(wanted.mass, rel=1e-12)
    assert sorted(found.volume * found.share) == pytest.approx(sorted(wanted.volume * wanted.share))
    assert len(found.tied) == 0
    stiffness = []
    for lattice in (found, wanted):
        order = np.lexsort(np.sort(lattice.spring, axis=1).T)
        material = springs_of(lattice, SoftMaterial())
        stiffness.append((np.sort(lattice.spring, axis=1)[order], material.compliance[order], material.rest[order]))
    assert (stiffness[0][0] == stiffness[1][0]).all()
    assert stiffness[0][1] == pytest.approx(stiffness[1][1])
    assert stiffness[0][2] == pytest.approx(stiffness[1][2])


@pytest.mark.small
@pytest.mark.parametrize("shape", SHAPES)
def test_vertices_and_tied_nodes_follow_every_affine_map_and_the_mass_is_the_same(shape):
    mesh, rng = SHAPES[shape], np.random.default_rng(0)
    resolutions = resolutions_of(mesh, 5)
    lattice = with_split(resolutions, rng.random(len(resolutions.coarse.cell)) < 0.5)
    assert lattice.mass.sum() == pytest.approx(resolutions.coarse.mass.sum(), rel=1e-12)
    turn, shift = rng.normal(size=(3, 3)), rng.normal(size=3)
    places = lattice.node @ turn + shift
    found = (lattice.vertex_weight[:, :, None] * places[lattice.cell[lattice.vertex_cell]]).sum(axis=1)
    assert np.abs(found - (mesh.vertices @ turn + shift)).max() < 1e-12
    found = (lattice.face_weight[:, :, None] * places[lattice.cell[lattice.face_cell]]).sum(axis=1)
    assert np.abs(found - (mesh.vertices[mesh.faces].mean(axis=1) @ turn + shift)).max() < 1e-12
    assert len(lattice.tied) > 0
    assert np.abs((lattice.tied_by[:, :, None] * places[lattice.tied_to]).sum(axis=1) - places[lattice.tied]).max() < 1e-12
    assert not np.isin(lattice.tied_to[lattice.tied_by > 0.0], lattice.tied).any()


@pytest.mark.small
def test_what_hangs_is_what_lies_within_edges_and_faces_of_larger_cells():
    lattice = half_split(build.box(), 2)
    on_the_border = np.abs(lattice.node[:, 2]) < 1e-9
    odd = (np.rint(lattice.node[:, :2] / 0.25).astype(int) % 2 == 1).any(axis=1)
    assert set(lattice.tied) == set(np.flatnonzero(on_the_border & odd))
    assert len(lattice.tied) == 5 * 5 - 3 * 3


@pytest.mark.small
@pytest.mark.parametrize("poisson", [0.25, 0.45])
def test_a_block_half_of_it_fine_stores_what_an_elastic_solid_of_its_material_does(poisson):
    material, strain = SoftMaterial(young=3.0, poisson=poisson, cells=4), 1e-4
    lattice = half_split(build.box(), 4, axis=0)
    parts = springs_of(lattice, material), cells_of(lattice, material)

    def stored(gradient):
        return elastic_energy(lattice.node @ (np.eye(3) + gradient).T, *parts)

    pulled = np.diag([strain, -poisson * strain, -poisson * strain])
    sheared = np.array([[0.0, strain, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    assert stored(pulled) == pytest.approx(0.5 * 3.0 * strain**2, rel=1e-3)
    assert stored(sheared) == pytest.approx(0.5 * material.shear * strain**2, rel=1e-3)
    assert stored(turn @ pulled @ turn.T) == pytest.approx(0.5 * 3.0 * strain**2, rel=1e-3)


@pytest.mark.small
def test_uniform_strain_leaves_no_net_force_inside_where_fine_cells_meet_coarse_ones():
    material, strain = SoftMaterial(young=3.0, poisson=0.4), 1e-4
    lattice = half_split(build.box(), 3)
    parts = springs_of(lattice, material), cells_of(lattice, material)
    gradient = strain * np.array([[1.0, 0.3, 0.0], [0.2, -0.5, 0.1], [0.0, 0.4, 0.6]])
    place = lattice.node @ (np.eye(3) + gradient).T
    force = np.zeros_like(place)
    for n, k in np.ndindex(place.shape):
        for side in (1.0, -1.0):
            moved = place.copy()
            moved[n, k] += side * 1e-5
            force[n, k] -= side * elastic_energy(moved, *parts) / 2e-5
    for tied, corners, weights in zip(lattice.tied, lattice.tied_to, lattice.tied_by, strict=True):
        np.add.at(force, corners, weights[:, None] * force[tied])
    inside = (np.abs(lattice.node) < 0.49).all(axis=1)
    inside[lattice.tied] = False
    border = inside & (np.abs(lattice.node[:, 2] - lattice.node[lattice.tied[0], 2]) < 1e-9)
    assert border.sum() == 4
    assert np.abs(force[~inside]).max() > 1e-6
    assert np.abs(force[inside]).max() < 1e-3 * np.abs(force[~inside]).max()


@pytest.mark.small
def test_ties_are_all_fulfilled_at_once_and_keep_momentum_and_affine_motions():
    rng = np.random.default_rng(0)
    resolutions = resolutions_of(SHAPES["blob"], 5)
    lattice = with_split(resolutions, rng.random(len(resolutions.coarse.cell)) < 0.5)
    ties = ties_of(lattice.tied, lattice.tied_to, lattice.tied_by, lattice.mass)
    away = np.empty((len(ties.node), 3))

    place = lattice.node + 0.1 * rng.normal(size=lattice.node.shape)
    before = place.copy()
    fulfil_ties(ties, place, away)
    assert np.abs((ties.weight[:, :, None] * place[ties.corner]).sum(axis=1) - place[ties.node]).max() < 1e-15
    moved = lattice.mass[:, None] * (place - before)
    assert np.abs(moved).sum() > 1e-3
    assert np.abs(moved.sum(axis=0)).max() < 1e-14 * np.abs(moved).sum()

    affine = lattice.node @ rng.normal(size=(3, 3)) + rng.normal(size=3)
    place = affine.copy()
    fulfil_ties(ties, place, away)
    assert np.abs(place - affine).max() < 1e-14


@pytest.mark.small
def test_all_cells_that_a_face_passes_are_known():
    resolutions = resolutions_of(build.box(), 6)
    upper = resolutions.coarse.node[resolutions.coarse.cell].max(axis=1)[:, 2] > 0.49
    faces = np.flatnonzero((build.box().vertices[build.box().faces][:, :, 2] > 0.49).all(axis=1))
    passed = resolutions.passed_cell[np.isin(resolutions.passing_face, faces)]
    assert set(passed) == set(np.flatnonzero(upper))  # 36 cells below two triangles

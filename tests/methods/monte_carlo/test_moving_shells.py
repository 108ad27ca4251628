"""Shells of deforming bodies: rigid motions move them rigidly, the bound holds up to its limit and is reported beyond it."""

from __future__ import annotations

import numpy as np
import pytest

from jostle.methods.monte_carlo.moving_shells import FacetArrays, check_bound, moved_facet, start_of_bound_check
from jostle.methods.monte_carlo.shape import prepare
from jostle.shapes import build
from jostle.shapes.mesh import Mesh
from tests.methods.monte_carlo.shell_meshes import ancestors, levels_of, mesh_of, shape_of

FIELDS = 8  # centre, normal, radius, thickness


def moved(shape, vertices, deformation=0.0, facets=None):
    """What `moved_facet` says of the facets, (f, 8)."""
    arrays = FacetArrays(*(np.ascontiguousarray(a).reshape(-1) for a in (shape.corner, shape.anchor, shape.in_frame, vertices)))
    facets = range(len(shape.radius)) if facets is None else facets
    first = int(shape.level_first[1])
    discs = [moved_facet(arrays, f, f < first, shape.radius[f], shape.thickness[f], deformation) for f in facets]
    return np.array([(*disc.centre, *disc.normal, disc.radius, disc.thickness) for disc in discs]).reshape(-1, FIELDS)


def rotation(rng):
    q, r = np.linalg.qr(rng.normal(size=(3, 3)))
    q *= np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else -q


def whole_round(shape, vertices, deformation):
    state = start_of_bound_check(shape)
    report = check_bound(state, shape, vertices, deformation, operations=int(shape.under_first[-1]) + 9 * len(shape.radius))
    while report.rounds < 1:
        report = check_bound(state, shape, vertices, deformation, 1000)
    return report, state


def excess_by_hand(mesh, shape, vertices):
    """The largest excess of each coarser facet as a share of its radius, from the faces and the frames."""
    discs = moved(shape, vertices)
    worst = np.zeros(len(shape.radius))
    for level in levels_of(shape)[1:]:
        facet = np.repeat(ancestors(shape, level), 3)
        away = vertices[mesh.faces.ravel()] - discs[facet, :3]
        height = (away * discs[facet, 3:6]).sum(axis=1)
        aside = np.linalg.norm(away - height[:, None] * discs[facet, 3:6], axis=1)
        beyond = np.maximum(np.maximum(height, -height - shape.thickness[facet]), aside - shape.radius[facet])
        np.maximum.at(worst, facet, beyond / shape.radius[facet])
    return worst


@pytest.mark.parametrize("name", ["torus", "cloth", "bad faces", "soup"])
def test_a_rigid_motion_moves_the_discs_rigidly(name):
    mesh, shape = mesh_of(name), shape_of(name)
    rng = np.random.default_rng(1)
    turn, shift = rotation(rng), np.array([3.0, -2.0, 0.5])
    proper = np.ones(len(shape.radius), bool)
    if name == "bad faces":  # what is on a line may turn about it
        proper[: len(mesh.faces)] = np.linalg.norm(mesh.face_normals, axis=1) > 0.0
        proper[shape.parent[np.flatnonzero(~proper)]] = False
    for vertices, r, t in ((mesh.vertices, np.eye(3), np.zeros(3)), (mesh.vertices @ turn.T + shift, turn, shift)):
        discs = moved(shape, vertices)
        np.testing.assert_allclose(discs[:, :3], shape.centre @ r.T + t, atol=1e-9)
        np.testing.assert_allclose(discs[proper, 3:6], (shape.normal @ r.T)[proper], atol=1e-9)
        np.testing.assert_allclose(discs[:, 6], shape.radius, atol=1e-12)
        np.testing.assert_allclose(discs[:, 7], shape.thickness, atol=1e-12)
        report, _ = whole_round(shape, vertices, 0.0)
        assert report.broken == 0
        assert report.worst < 1e-9


def deformed(mesh, amount):
    """A smooth bend and a stretch."""
    x, y, z = (mesh.vertices / mesh.size).T
    bend = np.column_stack([np.sin(5.0 * y + 1.0) * z, np.cos(4.0 * z) * x, np.sin(6.0 * x) * y])
    return mesh.vertices + amount * mesh.size * bend


@pytest.mark.parametrize("name", ["blob", "cloth", "box"])
def test_up_to_the_bound_everything_stays_inside_and_beyond_it_the_check_reports(name):
    mesh, shape = mesh_of(name), shape_of(name)
    vertices = deformed(mesh, 0.05)
    worst = excess_by_hand(mesh, shape, vertices)
    limit = float(worst.max())
    assert 0.01 < limit < 1.0
    for deformation, broken in ((limit * (1.0 + 1e-6), 0), (limit * (1.0 - 1e-6), 1), (0.5 * limit, None), (0.0, None)):
        report, _ = whole_round(shape, vertices, deformation)
        assert report.worst == pytest.approx(limit, rel=1e-9)
        assert report.broken == (np.sum(worst > deformation + 1e-9) if broken is None else broken)
    # At the bound the grown cylinders hold every corner; a little below it one is outside.
    for deformation, inside in ((limit * (1.0 + 1e-6), True), (limit * (1.0 - 1e-3), False)):
        discs = moved(shape, vertices, deformation)
        outside = 0
        for level in levels_of(shape):
            facet = np.repeat(ancestors(shape, level), 3)
            away = vertices[mesh.faces.ravel()] - discs[facet, :3]
            height = (away * discs[facet, 3:6]).sum(axis=1)
            aside = np.linalg.norm(away - height[:, None] * discs[facet, 3:6], axis=1)
            outside += np.sum((height > 1e-14) | (-height > discs[facet, 7] + 1e-14) | (aside > discs[facet, 6] + 1e-14))
        assert (outside == 0) == inside


def test_a_vertex_pulled_out_breaks_the_facets_above_it_and_is_forgotten_when_it_returns():
    mesh, shape = mesh_of("torus"), shape_of("torus")
    pulled = mesh.vertices.copy()
    pulled[100] *= 1.5
    state = start_of_bound_check(shape)
    whole = int(shape.under_first[-1]) + 9 * len(shape.radius)
    report = check_bound(state, shape, pulled, 0.1, whole)
    above = {
        int(ancestors(shape, level)[f]) for level in levels_of(shape)[1:] for f in np.flatnonzero((mesh.faces == 100).any(axis=1))
    }
    assert report.broken > 0
    assert set(np.flatnonzero(state.excess > 0.1).tolist()) <= above
    assert report.worst > 0.5
    for _ in range(3):
        report = check_bound(state, shape, mesh.vertices, 0.1, whole)
    assert report.broken == 0
    assert report.worst < 1e-9


def test_small_slices_find_the_same():
    mesh, shape = mesh_of("blob"), shape_of("blob")
    vertices = deformed(mesh, 0.08)
    whole, all_at_once = whole_round(shape, vertices, 0.1)
    state = start_of_bound_check(shape)
    calls = 0
    report = check_bound(state, shape, vertices, 0.1, 37)
    while report.rounds < 1:
        report = check_bound(state, shape, vertices, 0.1, 37)
        calls += 1
    assert calls > 100
    first = int(shape.level_first[1])
    np.testing.assert_array_equal(state.excess[first:], all_at_once.excess[first:])
    assert (report.broken, report.worst) == (whole.broken, whole.worst)


def test_a_mesh_without_coarser_levels_has_nothing_to_check():
    mesh = build.box()
    shape = prepare(mesh)
    assert check_bound(start_of_bound_check(shape), shape, mesh.vertices * 3.0, 0.1) == (0, 0.0, 0)


def test_faces_are_exact_however_they_deform():
    mesh, shape = mesh_of("cloth"), shape_of("cloth")
    vertices = np.random.default_rng(0).normal(size=mesh.vertices.shape)
    faces = range(0, len(mesh.faces), 50)
    discs = moved(shape, vertices, 0.1, faces)
    again = prepare(mesh.with_vertices(vertices), 1)
    np.testing.assert_array_equal(discs[:, :3], again.centre[faces])
    np.testing.assert_array_equal(discs[:, 3:6], again.normal[faces])
    np.testing.assert_array_equal(discs[:, 6], again.radius[faces])
    np.testing.assert_array_equal(discs[:, 7], again.thickness[faces])


def test_vertices_welded_at_rest_may_part():
    """Faces that share coordinates, not vertices, are neighbours at rest; when one comes off, facets above it are broken."""
    ball = build.icosphere(3)
    mesh = Mesh(ball.vertices[ball.faces].reshape(-1, 3), np.arange(3 * len(ball.faces)).reshape(-1, 3))
    shape = prepare(mesh)
    assert len(shape.level_first) == len(shape_of("sphere").level_first)
    vertices = mesh.vertices.copy()
    vertices[mesh.faces[500]] *= 1.6
    report, state = whole_round(shape, vertices, 0.1)
    broken = np.flatnonzero(state.excess > 0.1)
    assert report.broken == len(broken) > 0
    assert set(broken.tolist()) <= {int(ancestors(shape, level)[500]) for level in levels_of(shape)[1:]}

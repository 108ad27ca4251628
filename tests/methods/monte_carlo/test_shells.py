"""The theorem of the shells: whatever is under a facet lies in the cylinder of its disc, on every level, for every mesh.

Checked in extended precision for all corners, in rational arithmetic for those that come nearest to a side, and by
dense samples of the faces. The slack is rounding: a share of 1e-14 of the coordinates.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from jostle.geometry.vector import Vec3
from jostle.methods.monte_carlo.frames import corners_of_facet, frame_of_corners
from jostle.methods.monte_carlo.shape import prepare
from jostle.methods.monte_carlo.shells import PAD, any_normal, disc_of_face, discs_of_groups, normal_of_corners
from jostle.shapes import build
from tests.methods.monte_carlo.shell_meshes import MESHES, ancestors, levels_of, mesh_of, shape_of
from tests.values import triangles

LONG = np.longdouble


def excess(shape, facet, points):
    """How far points (n, 3) are beyond the cylinders of facets (n,): in front, behind, and aside."""
    normal, away = shape.normal[facet].astype(LONG), points.astype(LONG) - shape.centre[facet].astype(LONG)
    length = np.sqrt((normal**2).sum(axis=1))
    height = (normal * away).sum(axis=1) / length
    aside = np.sqrt((np.cross(normal, away) ** 2).sum(axis=1)) / length
    return height, -height - shape.thickness[facet], aside - shape.radius[facet]


def offsets(mesh, shape):
    """How far discs are in front of the barycentres of their corners: the face's, and above level 0 those of the frame."""
    corners = mesh.vertices[shape.anchor.reshape(-1, 3, 4)].mean(axis=2)
    corners[: len(mesh.faces)] = mesh.vertices[mesh.faces]
    return ((shape.centre - corners.mean(axis=1)) * shape.normal).sum(axis=1)


@pytest.mark.parametrize("name", MESHES)
def test_all_corners_lie_in_the_cylinders_of_all_levels(name):
    mesh, shape = mesh_of(name), shape_of(name)
    slack = 4.0 * PAD * float(np.abs(mesh.vertices).max(initial=0.0))
    for level, corner in itertools.product(levels_of(shape), range(3)):
        facet = ancestors(shape, level)
        for beyond in excess(shape, facet, mesh.vertices[mesh.faces[:, corner]]):
            assert (beyond <= 0.0).all()
    # Not larger than needed: for each facet some corner is within rounding of each side.
    for level in levels_of(shape):
        facet = np.repeat(ancestors(shape, level), 3)
        for beyond in excess(shape, facet, mesh.vertices[mesh.faces.ravel()]):
            nearest = np.full(shape.level_first[level + 1], -np.inf)
            np.maximum.at(nearest, facet, beyond.astype(float))
            assert (nearest[shape.level_first[level] :] >= -slack).all()


@pytest.mark.parametrize("name", ["blob", "box", "needles", "far away", "bad faces"])
def test_the_theorem_in_rational_arithmetic(name):
    mesh, shape = mesh_of(name), shape_of(name)
    for level in levels_of(shape):
        facet = np.repeat(ancestors(shape, level), 3)
        corner = mesh.faces.ravel()
        for beyond in excess(shape, facet, mesh.vertices[corner])[:3]:
            for k in np.argsort(-beyond)[:12]:
                assert rationally_inside(shape, facet[k], mesh.vertices[corner[k]])


def rationally_inside(shape, facet, point):
    normal, centre = ([Fraction(float(x)) for x in row[facet]] for row in (shape.normal, shape.centre))
    away = [Fraction(float(x)) - c for x, c in zip(point, centre, strict=True)]
    height = sum(n * w for n, w in zip(normal, away, strict=True))
    square = sum(n * n for n in normal)
    aside = sum(w * w for w in away) * square - height * height
    thickness, radius = Fraction(float(shape.thickness[facet])), Fraction(float(shape.radius[facet]))
    return height <= 0 and height * height <= thickness**2 * square and aside <= radius**2 * square


@pytest.mark.parametrize("name", ["sphere", "torus", "cloth", "box", "horseshoe", "many parts"])
def test_no_holes_between_the_discs(name):
    """Every sample of the surface lies behind the disc that stands for it, and under it: the discs of a level cover the surface."""
    mesh, shape = mesh_of(name), shape_of(name)
    rng = np.random.default_rng(0)
    face = rng.integers(0, len(mesh.faces), 20_000)
    weight = rng.dirichlet((0.6, 0.6, 0.6), len(face))  # many of them near edges and corners
    points = (mesh.vertices[mesh.faces[face]] * weight[:, :, None]).sum(axis=1)
    slack = 1e-14 * float(np.abs(mesh.vertices).max())
    for level in levels_of(shape):
        for beyond in excess(shape, ancestors(shape, level)[face], points):
            assert (beyond <= slack).all()


@pytest.mark.parametrize("name", MESHES)
def test_faces_have_discs_about_their_barycentres(name):
    """At level 0: centre and normal of the face, radius to its farthest corner, nothing in front and nothing behind."""
    mesh, shape = mesh_of(name), shape_of(name)
    count = len(mesh.faces)
    size = float(np.abs(mesh.vertices).max(initial=0.0))
    corners = mesh.vertices[mesh.faces]
    middle = corners.mean(axis=1)
    np.testing.assert_allclose(shape.centre[:count], middle, rtol=0.0, atol=1e-13 * size)
    farthest = np.linalg.norm(corners - middle[:, None], axis=2).max(axis=1, initial=0.0)
    np.testing.assert_allclose(shape.radius[:count], farthest, rtol=1e-12, atol=1e-13 * size)
    assert (shape.thickness[:count] <= 1e-13 * size).all()
    assert (np.abs(offsets(mesh, shape)[:count]) <= 1e-13 * size).all()
    np.testing.assert_allclose(np.linalg.norm(shape.normal, axis=1), 1.0, rtol=1e-15)
    if name in ("sphere", "torus", "blob", "cloth", "box"):
        assert ((shape.normal[:count] * mesh.face_normals).sum(axis=1) > 1.0 - 1e-12).all()


@pytest.mark.parametrize("name", ["sphere", "torus", "blob", "cloth", "box"])
def test_coarser_discs_face_outward(name):
    """The normals of coarser facets are about those of the surface under them."""
    mesh, shape = mesh_of(name), shape_of(name)
    for level in levels_of(shape)[1:]:
        along = (shape.normal[ancestors(shape, level)] * mesh.face_normals).sum(axis=1)
        assert (along > 0.0).mean() > 0.95
    assert (offsets(mesh, shape) >= 0.0).all()


def test_discs_on_a_sphere_are_as_thin_as_its_caps():
    """The thickness is the sagitta of what is under the disc, within a half."""
    shape = shape_of("sphere")
    coarse = slice(shape.level_first[1], None)
    cap = 1.0 - np.sqrt(1.0 - np.minimum(shape.radius[coarse], 1.0) ** 2)
    assert (shape.thickness[coarse] <= 1.5 * cap).all()
    assert np.median(shape.thickness[coarse] / cap) < 1.1


def test_under_lists_the_vertices_of_all_descendants():
    for name in ("box", "bad faces", "many parts"):
        mesh, shape = mesh_of(name), shape_of(name)
        expected = [set() for _ in shape.parent]
        for level in levels_of(shape)[1:]:
            for facet, corners in zip(ancestors(shape, level), mesh.faces.tolist(), strict=True):
                expected[facet] |= set(corners)
        for facet, vertices in enumerate(expected):
            assert shape.under[shape.under_first[facet] : shape.under_first[facet + 1]].tolist() == sorted(vertices)


@pytest.mark.small
def test_the_circle_about_a_group_is_the_smallest():
    """Against the smallest of all circles through two or three of the points that hold the rest."""
    rng = np.random.default_rng(1)
    groups = [rng.normal(size=(n, 2)) for n in (1, 2, 3, 4, 5, 8, 12)]
    groups += [np.repeat(rng.normal(size=(3, 2)), 4, axis=0), np.outer(np.arange(7.0), [1.0, 2.0])]
    groups += [np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [0.6, 0.8]])]
    points = np.concatenate([np.column_stack([g, np.full(len(g), 0.25)]) for g in groups])
    first = np.cumsum([0] + [len(g) for g in groups]).astype(np.int32)
    discs, anchor = discs_of_groups(
        points, first, np.arange(len(points), dtype=np.int32), np.tile([0.0, 0.0, 2.0], (len(groups), 1))
    )
    for k, group in enumerate(groups):
        assert discs.radius[k] == pytest.approx(smallest_radius(group), rel=1e-7, abs=1e-12)
        assert discs.thickness[k] < 1e-12
        assert (first[k] <= anchor[k]).all()
        assert (anchor[k] < first[k + 1]).all()


def smallest_radius(points):
    middles = [(p + q) / 2 for p, q in itertools.combinations_with_replacement(points, 2)]
    for p, q, r in itertools.combinations(points, 3):
        matrix = 2.0 * np.array([q - p, r - p])
        if abs(np.linalg.det(matrix)) > 1e-9:
            middles.append(np.linalg.solve(matrix, [q @ q - p @ p, r @ r - p @ p]))
    return min(np.linalg.norm(points - middle, axis=1).max() for middle in middles)


@pytest.mark.small
def test_groups_without_a_direction_get_that_of_their_vertices():
    flat = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 4.0], [0.0, 1.0, 0.0], [4.0, 1.0, 4.0], [2.0, 0.5, 2.0]])
    line = np.outer(np.arange(4.0), [1.0, 1.0, 0.0])
    points = np.concatenate([flat, line, [[7.0, 7.0, 7.0]]])
    discs, _ = discs_of_groups(points, np.array([0, 5, 9, 10], np.int32), np.arange(10, dtype=np.int32), np.zeros((3, 3)))
    assert (discs.thickness < 1e-12).all()
    assert abs(discs.normal[0] @ [math.sqrt(0.5), 0.0, -math.sqrt(0.5)]) == pytest.approx(1.0)
    assert discs.radius[1] == pytest.approx(1.5 * math.sqrt(2.0))
    assert discs.radius[2] < 1e-12


@pytest.mark.small
def test_normals_of_slivers_keep_all_corners_in_the_plane():
    rng = np.random.default_rng(2)
    for thin in (0.1, 1e-8, 1e-15, 1e-17, 0.0):
        for _ in range(20):
            a, along = rng.uniform(5.0, 9.0, 3), rng.normal(size=3)
            b, c = a + along, a + 0.3 * along + thin * rng.normal(size=3)
            face = triangles([*a, *b, *c])[0]
            normal = np.array(normal_of_corners(face))
            assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-14)
            assert np.abs((np.array([b, c]) - a) @ normal).max() < 1e-14
            assert disc_of_face(face).thickness < 2e-13
    assert normal_of_corners(triangles(3 * [1.0, 2.0, 3.0])[0]) == (0.0, 0.0, 1.0)


@pytest.mark.small
def test_frames_are_orthonormal_and_right_handed():
    rng = np.random.default_rng(3)
    for flat in (1.0, 1e-9, 0.0):
        corners = rng.normal(size=(3, 3)) * [1.0, flat, flat]
        frame = frame_of_corners(triangles(corners)[0])
        axes = np.array([frame.along, frame.across, frame.normal])
        np.testing.assert_allclose(axes @ axes.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(axes) == pytest.approx(1.0)
        np.testing.assert_allclose(frame.origin, corners.mean(axis=0), atol=1e-15)
    for vector in np.vstack([rng.normal(size=(20, 3)), np.eye(3), np.zeros((1, 3))]):
        normal = np.array(any_normal(Vec3(*vector)))
        assert abs(normal @ vector) < 1e-15
        assert np.linalg.norm(normal) == pytest.approx(1.0)


def test_corners_of_coarser_facets_are_means_of_four_vertices():
    mesh, shape = mesh_of("blob"), shape_of("blob")
    coarse = slice(shape.level_first[1], None)
    means = mesh.vertices[shape.anchor[coarse].reshape(-1, 3, 4)].mean(axis=2)
    anchor, vertices = shape.anchor.reshape(-1), mesh.vertices.reshape(-1)
    corners = [corners_of_facet(anchor, vertices, f) for f in range(shape.level_first[1], len(shape.radius))]
    np.testing.assert_allclose(corners, means, atol=1e-15)
    sides = np.linalg.norm(means - np.roll(means, -1, axis=1), axis=2)
    assert (sides[:, 0] >= sides.max(axis=1) * (1.0 - 1e-12)).all() or (sides[:, 0] > 0.5 * sides.max(axis=1)).all()
    # Well apart: the triangle of the corners is not a sliver.
    area = 0.5 * np.linalg.norm(np.cross(means[:, 1] - means[:, 0], means[:, 2] - means[:, 0]), axis=1)
    assert (area > 0.05 * sides.max(axis=1) ** 2).mean() > 0.95


def test_a_larger_mesh_has_tight_discs():
    """How much larger than a disc of the same area the discs are, on a smooth mesh of 20,000 faces.

    Four right triangles that make a larger one, the usual case on the first level of this mesh, have 1.77.
    """
    mesh = build.torus(segments=144, sides=70)
    shape = prepare(mesh)
    p, q, r = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    area = 0.5 * np.linalg.norm(np.cross(q - p, r - p), axis=1)
    for level in levels_of(shape)[1:]:
        part = slice(*shape.level_first[level : level + 2])
        under = np.bincount(ancestors(shape, level), area, shape.level_first[level + 1])[part]
        assert np.median(shape.radius[part] / np.sqrt(under / np.pi)) < (1.8 if level == 1 else 1.6)

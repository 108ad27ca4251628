"""Normals at points near a surface: of the nearest face by brute force, pseudo-normals at edges and corners, outward always."""

import numpy as np
import pytest

from jostle import Mesh
from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.methods.voxmap.method import Voxmap
from jostle.methods.voxmap.normals import area_of_point, feature_normals, feet_and_normals
from jostle.shapes import build
from jostle.shapes.build.rings import joined
from tests.tiny import box, random_pose, tetrahedron
from tests.values import triangles, vec3s


def inverted(mesh):
    return Mesh(mesh.vertices, mesh.faces[:, ::-1], name="inverted")


def normals_at(mesh, points, spacing):
    middle = mesh.bounds.mean(axis=0)
    return feet_and_normals(mesh, (np.asarray(points) - middle).astype(np.float32), middle, spacing)[1]


def points_near(mesh, rng, count, reach):
    corners = mesh.vertices[mesh.faces[rng.integers(0, len(mesh.faces), count)]]
    offset = rng.normal(size=(count, 3))
    offset *= reach * rng.uniform(0.0, 1.0, (count, 1)) / np.linalg.norm(offset, axis=1, keepdims=True)
    return np.einsum("ij,ijk->ik", rng.dirichlet((1.0, 1.0, 1.0), count), corners) + offset


@pytest.mark.parametrize(
    "mesh", [build.torus(segments=24, sides=12), build.icosphere(2), tetrahedron()], ids=lambda mesh: mesh.name
)
def test_they_are_those_of_the_nearest_face(mesh):
    rng = np.random.default_rng(3)
    points = points_near(mesh, rng, 300, 0.03)
    normals, middle = normals_at(mesh, points, 0.02), mesh.bounds.mean(axis=0)
    feet = feet_and_normals(mesh, (points - middle).astype(np.float32), middle, 0.02)[0] + middle
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0, abs=1e-6)
    decided = 0
    for point, foot, normal in zip(points, feet, normals, strict=True):
        found = [closest_point_on_triangle(*vec3s(point), t) for t in triangles(mesh.vertices[mesh.faces])]
        closest = np.array([(*one.point, one.squared) for one in found])
        order = np.argsort(closest[:, 3])
        nearest, second = closest[order[:2], 3]
        assert np.linalg.norm(foot - closest[order[0], :3]) < 1e-5 or np.linalg.norm(foot - point) < np.sqrt(nearest) + 1e-6
        if second - nearest > 1e-4 * nearest + 1e-9:  # one face alone is nearest, within itself
            assert normal == pytest.approx(mesh.face_normals[order[0]], abs=1e-5)
            decided += 1
    assert decided > 100


def test_they_point_away_from_the_surface_outside_and_to_it_inside():
    """What pseudo-normals are for: their sign tells the side, at edges and corners too."""
    mesh = build.icosphere(1)
    directions = np.concatenate([mesh.vertices, 0.5 * (mesh.vertices[mesh.faces[:, 0]] + mesh.vertices[mesh.faces[:, 1]])])
    for share in (0.98, 1.02):
        normals = normals_at(mesh, share * directions, 0.05)
        assert np.einsum("ij,ij->i", normals, directions).min() > 0.9


@pytest.mark.small
def test_corners_and_edges_of_a_box_have_the_mean_whatever_the_diagonals_of_its_sides():
    for mesh, sign in ((box(), 1.0), (inverted(box()), 1.0)):
        points = [(1.01, 1.01, 1.01), (-0.01, -0.01, -0.01), (0.4, 1.01, 1.01), (0.3, 0.6, 1.01), (0.3, 0.6, 0.99)]
        expected = [(1, 1, 1), (-1, -1, -1), (0, 1, 1), (0, 0, 1), (0, 0, 1)]
        for normal, direction in zip(normals_at(mesh, points, 0.05), expected, strict=True):
            assert normal == pytest.approx(sign * np.array(direction) / np.linalg.norm(direction), abs=1e-6)


@pytest.mark.small
def test_vertices_that_are_written_twice_count_as_one():
    mesh = box()
    split = Mesh(mesh.vertices[mesh.faces].reshape(-1, 3), np.arange(36).reshape(-1, 3), name="split")
    assert normals_at(split, [(1.01, 1.01, 1.01)], 0.05)[0] == pytest.approx([3**-0.5] * 3, abs=1e-6)


@pytest.mark.small
def test_the_normals_of_a_cavity_point_into_it():
    mesh = joined([box(), inverted(box((0.25, 0.25, 0.25), (0.75, 0.75, 0.75)))], "hollow")
    assert normals_at(mesh, [(0.5, 0.5, 0.26)], 0.05)[0] == pytest.approx([0.0, 0.0, 1.0], abs=1e-6)


@pytest.mark.small
def test_points_farther_than_the_reach_are_found_all_the_same():
    normals = normals_at(box(), [(0.5, 0.5, 1.0001), (0.5, 0.5, 1.3), (9.0, 0.5, 0.5)], 0.001)
    assert normals == pytest.approx(np.array([(0.0, 0.0, 1.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)]), abs=1e-6)


@pytest.mark.small
def test_faces_without_area_are_passed_over_and_folded_sheets_keep_their_own():
    sheet = Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.5, 0, 0)], [(0, 1, 2), (0, 2, 1), (0, 3, 1)], name="folded")
    normals = normals_at(sheet, [(0.2, 0.2, 0.01), (0.5, -0.01, 0.0)], 0.05)
    assert np.abs(normals) == pytest.approx(np.array([(0.0, 0.0, 1.0), (0.0, 0.0, 1.0)]), abs=1e-6)
    line = Mesh([(0, 0, 0), (1, 0, 0)], [(0, 1, 1)], name="line")
    assert not normals_at(line, [(0.5, 0.01, 0.0)], 0.05).any()


@pytest.mark.small
def test_directions_of_features_are_those_of_faces_corners_and_sides():
    features = feature_normals(box())
    units = features / np.linalg.norm(features, axis=2, keepdims=True)
    assert units[:, 0] == pytest.approx(box().face_normals)
    assert np.abs(units[:, 1:4]) == pytest.approx(np.full((12, 3, 3), 3**-0.5))
    assert (np.sort(np.round(np.abs(units[:, 4:7]), 6), axis=2)[:, :, 2] >= 0.7).all()


def test_areas_add_up_to_the_surface_of_turned_boxes_and_balls():
    """What makes forces independent of the resolution: the areas of all points are the surface of the body."""
    for mesh, surface in (
        (build.icosphere(4), 4.0 * np.pi),
        (build.box((1.0, 1.0, 1.0)).moved(random_pose(np.random.default_rng(6))), 6.0),
    ):
        shape = Voxmap(across=60).prepare_shape(mesh)
        assert sum(area_of_point(normal, 0.5 * shape.voxel**2) for normal in vec3s(shape.normals)) == pytest.approx(
            surface, rel=0.06
        )


@pytest.mark.small
def test_points_beyond_the_reach_are_their_own_feet():
    points = np.array([(0.0, 0.0, 0.5001), (0.0, 0.0, 0.9)], np.float32)
    feet, _ = feet_and_normals(box((-0.5,) * 3, (0.5,) * 3), points, np.zeros(3), 0.001)
    assert feet == pytest.approx(np.array([(0.0, 0.0, 0.5), (0.0, 0.0, 0.9)]), abs=1e-6)

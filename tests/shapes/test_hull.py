"""Convex hulls: closed, outward, exactly convex, against an exact oracle."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.shapes import build
from jostle.shapes import hull as hull_module
from jostle.shapes.hull import hull, hull_faces
from jostle.shapes.mesh import Mesh
from tests.oracle import rational
from tests.tiny import box, random_pose

SMALL = pytest.mark.small


def in_front(points, face, p):
    return rational.orient3d(*points[face].ravel().tolist(), *points[p].tolist())


def assert_is_hull(points, mesh):
    """By whole numbers: closed, every point on or behind every face, every vertex a corner of the hull."""
    assert mesh.is_closed
    assert not mesh.component_of_face.any()
    assert mesh.volume > 0.0
    assert len(mesh.faces) == 2 * len(mesh.vertices) - 4  # Euler: a sphere, of triangles
    joined = np.vstack([mesh.vertices, points])
    for face in mesh.faces:
        assert all(in_front(joined, face, p) <= 0 for p in range(len(mesh.vertices), len(joined)))
    for v in range(len(mesh.vertices)):
        # A corner has neighbours in at least three directions that no plane through it holds: its faces have three planes.
        around = [face for face in mesh.faces if v in face]
        others = sorted({int(w) for face in around for w in face} - {v})
        planes = []
        for face in around:
            if not any(all(in_front(mesh.vertices, plane, w) == 0 for w in face) for plane in planes):
                planes.append(face)
        assert len(planes) >= 3, others


@SMALL
@pytest.mark.parametrize("seed", range(4))
def test_random_points(seed):
    points = np.random.default_rng(seed).normal(size=(25, 3))
    mesh = hull(points)
    assert_is_hull(points, mesh)
    assert mesh.is_convex


@SMALL
@pytest.mark.parametrize("seed", range(6))
def test_points_of_a_grid_with_many_in_common_planes(seed):
    points = np.random.default_rng(seed).integers(-1, 2, (40, 3)).astype(float)
    mesh = hull(points)
    assert_is_hull(points, mesh)
    assert mesh.is_convex


@SMALL
def test_a_cube_of_grid_points_has_eight_corners():
    places = np.array(list(itertools.product(range(4), repeat=3)), float)
    order = np.random.default_rng(1).permutation(len(places))
    mesh = hull(places[order])
    assert len(mesh.vertices) == 8
    assert len(mesh.faces) == 12
    assert mesh.volume == 27.0
    assert mesh.is_convex


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_rotated_grids_are_convex_whatever_rounding_did_to_their_planes(offset):
    places = np.array(list(itertools.product(range(5), repeat=3)), float)
    for seed in range(5):
        pose = random_pose(np.random.default_rng(seed))
        points = places @ pose[:3, :3].T + offset
        mesh = hull(points)
        assert mesh.is_convex
        assert mesh.volume == pytest.approx(64.0, abs=1e-5)
        assert len(mesh.vertices) >= 8


@pytest.mark.parametrize("scale", [1e-30, 1e-9, 1.0, 1e9, 1e29])
def test_every_accepted_scale(scale):
    points = np.random.default_rng(3).uniform(1.0, 2.0, (60, 3)) * scale
    mesh = hull(points)
    assert mesh.is_convex
    assert len(mesh.vertices) > 10


@pytest.mark.parametrize("mesh", [build.sphere(960), build.icosphere(3), build.polytope36(), build.box()], ids=lambda m: m.name)
def test_the_hull_of_a_convex_mesh_is_that_mesh(mesh):
    made = hull(mesh)
    assert made.is_convex
    np.testing.assert_array_equal(made.vertices, mesh.vertices)
    assert made.volume == pytest.approx(mesh.volume, rel=1e-12)


@pytest.mark.parametrize("mesh", [build.shuttle(), build.torus(), build.hand(), build.head()], ids=lambda m: m.name)
def test_the_hull_of_a_concave_mesh_holds_it(mesh):
    made = hull(mesh)
    assert made.is_convex
    assert made.volume > abs(mesh.volume)
    np.testing.assert_array_equal(made.bounds, mesh.bounds)
    normal, on = made.face_normals, made.vertices[made.faces[:, 0]]
    height = mesh.vertices @ normal.T - np.einsum("ij,ij->i", normal, on)
    assert height.max() < 1e-9 * mesh.size


@SMALL
def test_vertices_that_no_face_uses_are_left_out():
    lonely = Mesh(np.vstack([box().vertices, [[9.0, 9.0, 9.0]]]), box().faces)
    assert hull(lonely).bounds.max() == 1.0


@SMALL
def test_faces_refer_to_the_points_given_and_do_not_depend_on_repetition():
    points = np.random.default_rng(5).normal(size=(20, 3))
    faces = hull_faces(points)
    np.testing.assert_array_equal(hull_faces(np.vstack([points, points])), faces)
    assert Mesh(points, faces).is_convex


@SMALL
@pytest.mark.parametrize(
    ("points", "why"),
    [
        ([[1.0, 2.0, 3.0]], "one point"),
        ([[1.0, 2.0, 3.0]] * 7, "one point"),
        ([[k, 2.0 * k, -k] for k in range(6)], "one line"),
        ([[k % 3, k // 3, k % 3 + 2 * (k // 3)] for k in range(9)], "one plane"),
    ],
)
def test_flat_input_is_refused(points, why):
    with pytest.raises(InputError, match=why):
        hull(points, name="flat")


@SMALL
def test_a_point_off_the_plane_by_one_bit_is_seen():
    points = [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, np.nextafter(1.0, 2.0)]]
    mesh = hull(points)
    assert len(mesh.faces) == 4
    assert mesh.is_convex


def test_many_points():
    random = np.random.default_rng(0)
    points = random.normal(size=(5000, 3))
    assert hull(points).is_convex
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    mesh = hull(points)
    assert len(mesh.vertices) == 5000
    assert mesh.is_convex


def on_a_sphere(count):
    points = np.random.default_rng(1).normal(size=(count, 3))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def rotated_grid(count):
    side = round(count ** (1 / 3))
    return np.array(list(itertools.product(range(side), repeat=3)), float) @ random_pose(np.random.default_rng(2))[:3, :3].T


def two_rings(count):
    """The point between them sees half of all faces, and all points are orphans of one rim after the other."""
    angles = np.arange(count // 2) * (4.0 * np.pi / count)
    return np.vstack([np.stack([np.cos(angles), np.sin(angles), np.full_like(angles, z)], axis=1) for z in (-1.0, 1.0)])


@pytest.mark.parametrize("make", [on_a_sphere, rotated_grid, two_rings])
def test_no_call_of_the_kernel_does_more_than_it_is_asked_to(make, monkeypatch):
    """Ctrl-C is heard between calls."""
    points = make(3000)
    expected = hull_faces(points)
    grow, spent = hull_module.grow_hull, []
    monkeypatch.setattr(
        hull_module, "grow_hull", lambda *arguments: spent.append((arguments[-1], grow(*arguments))) or spent[-1][1]
    )
    for operations in (1, 50, 1000):
        spent.clear()

        def run(step, state, _first, most=operations):
            while not step(state, most)[0]:
                pass

        monkeypatch.setattr(hull_module, "run_in_slices", run)
        np.testing.assert_array_equal(hull_faces(points), expected)
        assert all(0 < did <= asked + 3 for asked, did in spent)  # a face has three edges, a point four faces to begin with
        assert len(spent) > len(points) // operations


def test_operations_grow_with_the_points(monkeypatch):
    grow, spent = hull_module.grow_hull, []
    monkeypatch.setattr(hull_module, "grow_hull", lambda *arguments: spent.append(grow(*arguments)) or spent[-1])
    for count in (1000, 10_000, 100_000):
        spent.clear()
        hull_faces(on_a_sphere(count))
        assert sum(spent) < 200 * count


def test_points_are_sorted_a_portion_at_a_time(monkeypatch):
    points = np.random.default_rng(4).integers(-2, 3, (500, 3)).astype(float)
    expected = hull_faces(points)
    sizes, unique = [], np.unique
    monkeypatch.setattr(hull_module, "MOST_SORTED", 50)
    monkeypatch.setattr(hull_module.np, "unique", lambda rows, **options: sizes.append(len(rows)) or unique(rows, **options))
    np.testing.assert_array_equal(hull_faces(points), expected)
    assert len(sizes) == 11
    assert sum(sizes) == len(points)
    assert max(sizes) < 150

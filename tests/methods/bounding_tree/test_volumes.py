"""Bounding objects hold their vertices exactly, are small, and measure correctly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from jostle.geometry.vector import Vec3
from jostle.methods.bounding_tree.tree import KINDS, SPHERE
from jostle.methods.bounding_tree.volumes.quality import box_measure
from tests.methods.bounding_tree.sets import degenerate_meshes, holds_exactly, object_of, random_rotations, soup_mesh

CUBE = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
CUBE_FACES = [
    [0, 1, 3],
    [0, 3, 2],
    [4, 6, 7],
    [4, 7, 5],
    [0, 4, 5],
    [0, 5, 1],
    [2, 3, 7],
    [2, 7, 6],
    [0, 2, 6],
    [0, 6, 4],
    [1, 5, 7],
    [1, 7, 3],
]


@pytest.mark.small
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("offset", [0.0, 1.0 / 3.0, -1e7, 1e15])
def test_objects_hold_their_vertices_exactly(kind, offset):
    for seed in range(4):
        points = soup_mesh(5, seed, 1.0).vertices + offset
        volume, _ = object_of(kind, points)
        assert holds_exactly(KINDS[kind], volume, points)
        assert not holds_exactly(
            KINDS[kind], np.r_[volume[:3], (1 - 1e-9) * volume[3:6], volume[6:15], (1 - 1e-9) * volume[15]], points
        )


@pytest.mark.small
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", degenerate_meshes())
def test_objects_of_degenerate_sets(kind, name):
    mesh = degenerate_meshes()[name]
    for quality in ("volume", "surface", "hausdorff"):
        volume, measure = object_of(kind, mesh.vertices, mesh.faces[:12], quality)
        assert np.isfinite(volume).all()
        assert 0.0 <= measure < np.inf
        assert holds_exactly(KINDS[kind], volume, mesh.vertices[np.unique(mesh.faces[:12])])
        axes = volume[6:15].reshape(3, 3)
        assert np.abs(axes @ axes.T - np.eye(3)).max() < 1e-15


def circumscribed(points):
    """Return the smallest sphere through all of 2 … 4 points in general position."""
    edges = points[1:] - points[0]
    solution = np.linalg.lstsq(2.0 * edges @ edges.T, (edges * edges).sum(axis=1), rcond=None)[0]
    offset = solution @ edges
    return points[0] + offset, np.linalg.norm(offset)


@pytest.mark.small
def test_the_sphere_is_the_smallest_of_all_that_could_be():
    rng = np.random.default_rng(3)
    for count in (3, 6, 6, 9):
        for stretch in ([1.0, 1.0, 1.0], [1.0, 1.0, 0.9], [1.0, 0.9, 1.0], [1.0, 0.1, 0.01], [1.0, 1.0, 0.0]):
            points = rng.normal(size=(count, 3)) * stretch
            candidates = [circumscribed(points[list(s)]) for size in (2, 3, 4) for s in itertools.combinations(range(count), size)]
            holding = [r for c, r in candidates if (np.linalg.norm(points - c, axis=1) <= r * (1 + 1e-9)).all()]
            volume, _ = object_of("sphere", points)
            assert volume[15] == pytest.approx(min(holding), rel=1e-9)


def holds_zero(vectors) -> bool:
    """Return whether 0 is in the convex hull of vectors: of at most four of them."""
    for size in range(1, 5):
        for chosen in itertools.combinations(range(len(vectors)), size):
            matrix = np.vstack([vectors[list(chosen)].T, np.ones(size)])
            weights, *_ = np.linalg.lstsq(matrix, [0.0, 0.0, 0.0, 1.0], rcond=None)
            if (weights > -1e-6).all() and np.abs(matrix @ weights - [0, 0, 0, 1]).max() < 1e-6:
                return True
    return False


def test_the_sphere_rests_on_its_support():
    # A sphere is the smallest if and only if its centre is in the hull of the points on it.
    rng = np.random.default_rng(4)
    spheres = rng.normal(size=(40, 60, 3))
    spheres[20:] /= np.linalg.norm(spheres[20:], axis=2, keepdims=True)  # all points on a sphere, or almost
    spheres[30:] += 100.0
    for points in spheres:
        volume, _ = object_of("sphere", points)
        offsets = points - volume[:3]
        distances = np.linalg.norm(offsets, axis=1)
        on_it = offsets[distances > distances.max() * (1 - 1e-9)] / distances.max()
        assert len(on_it) >= 2
        assert holds_zero(on_it[:12])


@pytest.mark.small
def test_points_that_repeat_do_not_change_the_sphere():
    points = np.repeat(soup_mesh(4).vertices, 3, axis=0)
    assert object_of("sphere", points)[0][15] == pytest.approx(object_of("sphere", points[::3])[0][15], rel=1e-12)
    tetrahedron = CUBE[[0, 3, 5, 6, 0, 3]]
    assert object_of("sphere", tetrahedron)[0][15] == pytest.approx(np.sqrt(3.0), rel=1e-12)
    volume, _ = object_of("sphere", CUBE, CUBE_FACES)
    assert volume[15] == pytest.approx(np.sqrt(3.0), rel=1e-12)
    np.testing.assert_allclose(volume[:3], 0.0, atol=1e-12)


def measure_along(axes, points, quality):
    """Volume or surface of the boxes of points along axes (..., 3, 3)."""
    along = points @ np.swapaxes(axes, -1, -2)
    x, y, z = np.moveaxis(along.max(axis=-2) - along.min(axis=-2), -1, 0)
    return x * y * z if quality == "volume" else 2.0 * (x * y + y * z + z * x)


def smallest_by_search(points, quality, rng):
    """Return the least measure of boxes over many orientations, refined near the best."""
    axes = random_rotations(1500, rng)
    best = np.inf
    for start in axes[np.argsort(measure_along(axes, points, quality))[:5]]:
        here, step = measure_along(start, points, quality), 0.2
        while step > 2e-4:
            near = random_rotations_near(start, step, 40, rng)
            tried = measure_along(near, points, quality)
            if tried.min() < here:
                here, start = tried.min(), near[tried.argmin()]
            else:
                step *= 0.7
        best = min(best, here)
    return best


def random_rotations_near(axes, step, count, rng):
    turn = rng.normal(0.0, step, (count, 3))
    skew = np.zeros((count, 3, 3))
    skew[:, 0, 1], skew[:, 0, 2], skew[:, 1, 2] = -turn[:, 2], turn[:, 1], -turn[:, 0]
    skew -= np.swapaxes(skew, 1, 2)
    return np.linalg.inv(np.eye(3) - 0.5 * skew) @ (np.eye(3) + 0.5 * skew) @ axes  # Cayley


@pytest.mark.parametrize("quality", ["volume", "surface"])
def test_oriented_boxes_are_near_the_smallest(quality):
    rng = np.random.default_rng(1)
    ratios = []
    for count in (6, 12, 24, 60, 300):
        for _ in range(2):
            points = rng.normal(size=(count, 3)) * rng.uniform(0.05, 1.0, 3) @ random_rotations(1, rng)[0]
            volume, measure = object_of("obb", points, None, quality)
            own = measure_along(volume[6:15].reshape(3, 3), points, quality)
            assert measure == pytest.approx(own, rel=1e-4)  # thickened
            ratios.append(own / smallest_by_search(points, quality, rng))
    assert np.mean(ratios) < 1.04  # measured: 1.02 by volume, 1.01 by surface
    assert max(ratios) < 1.25  # 1.15 and 1.12


@pytest.mark.small
def test_boxes_of_boxes_are_exact():
    rng = np.random.default_rng(2)
    for turn in random_rotations(10, rng):
        sides = rng.uniform(0.1, 3.0, 3)
        volume, measure = object_of("obb", (CUBE * sides) @ turn + 5.0, CUBE_FACES)
        np.testing.assert_allclose(np.sort(volume[3:6]), np.sort(sides), rtol=1e-9)
        assert measure == pytest.approx(8.0 * sides.prod(), rel=1e-4)


@pytest.mark.small
def test_the_box_of_a_triangle_lies_in_its_plane_along_a_side():
    corners = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [1.0, 1.0, 0.0]]) @ random_rotations(1, np.random.default_rng(5))[0]
    volume, _ = object_of("obb", corners)
    np.testing.assert_allclose(np.sort(volume[3:6]), [0.0, 0.5, 1.5], atol=1e-12)


@pytest.mark.small
def test_sizes():
    assert object_of("sphere", CUBE, CUBE_FACES, "volume")[1] == pytest.approx(4.0 / 3.0 * np.pi * 3.0**1.5)
    assert object_of("sphere", CUBE, CUBE_FACES, "surface")[1] == pytest.approx(12.0 * np.pi)
    assert object_of("aabb", CUBE, CUBE_FACES, "volume")[1] == pytest.approx(8.0, rel=1e-4)
    assert object_of("aabb", CUBE, CUBE_FACES, "surface")[1] == pytest.approx(24.0, rel=1e-4)


@pytest.mark.small
def test_flat_sets_have_a_volume_that_tells_them_apart():
    volume = 0
    short, long, square, wide = (
        box_measure(Vec3(*sides, 0.0), volume) for sides in ((1.0, 0.0), (2.0, 0.0), (1.0, 1.0), (2.0, 1.0))
    )
    assert 0.0 < square < wide
    assert 0.0 < short < long < square


@pytest.mark.small
def test_hausdorff_distances_that_are_known():
    # The centre of a hollow cube is farthest from its faces; around it, a point of the sphere over the middle of a face is nearer.
    assert object_of("aabb", CUBE, CUBE_FACES, "hausdorff")[1] == pytest.approx(1.0)
    assert object_of("sphere", CUBE, CUBE_FACES, "hausdorff")[1] == pytest.approx(1.0)
    half_square = [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]]
    assert object_of("aabb", half_square, None, "hausdorff")[1] == pytest.approx(np.sqrt(2.0))
    # Its smallest sphere is about the middle of the hypotenuse, and reaches radius √2 out of the plane.
    assert object_of("sphere", half_square, None, "hausdorff")[1] == pytest.approx(np.sqrt(2.0))


def distance_to_triangle(points, corners):
    """Return distances of points (n,3) to a fine grid on a triangle: an upper bound."""
    steps = 40
    weights = np.array([(i, j, steps - i - j) for i in range(steps + 1) for j in range(steps + 1 - i)]) / steps
    grid = weights @ corners
    return np.sqrt(((points[:, None] - grid) ** 2).sum(axis=2)).min(axis=1)


@pytest.mark.parametrize("kind", KINDS)
def test_hausdorff_distances_against_dense_points(kind):
    rng = np.random.default_rng(6)
    width = 1.5 / 40  # of the grid
    lattice = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=3)))
    for seed in range(4):
        mesh = soup_mesh(6, seed, 0.4)
        volume, measure = object_of(kind, mesh.vertices, mesh.faces, "hausdorff")
        inside = np.r_[lattice, rng.uniform(-1.0, 1.0, (500, 3))]
        part = 0.5 * np.linalg.norm(volume[3:6])
        if KINDS[kind] == SPHERE:
            inside /= np.maximum(1.0, np.linalg.norm(inside, axis=1))[:, None]
            part = volume[15]  # no point of a sphere is farther from its centre
        points = volume[:3] + (inside * volume[3:6]) @ volume[6:15].reshape(3, 3)
        nearest = np.min([distance_to_triangle(points, mesh.vertices[face]) for face in mesh.faces], axis=0)
        assert nearest[:27].max() - width <= measure <= nearest[:27].max()
        assert measure - 1e-9 <= nearest.max() <= measure + part + width

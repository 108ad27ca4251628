"""Segments and normals in columns are those of the kernels, to the bit."""

import numpy as np
import pytest

from jostle.geometry.contact import describe_rows
from jostle.geometry.contact_kind import A_IN_B, B_IN_A, NEAR
from jostle.geometry.predicates import exact_volume, signed_area, signed_volume
from jostle.geometry.triangle import Triangle
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.vector import Vec2, Vec3
from jostle.kernels.deferral import load_numba
from jostle.methods.plain import contact_geometry, volumes
from tests.methods.plain.triangle_pairs import FAMILIES, coplanar, general, lines_and_points, pairs, shared_corners

families = pytest.mark.parametrize("family", FAMILIES, ids=[family.__name__ for family in FAMILIES])


def signed_zeros(rng, count):
    """Corners on a coarse grid whose zeros have any sign."""
    return rng.choice([-1.0, -0.0, 0.0, 1.0], (2, count, 3, 3))


def touching(family, count, seed=0):
    """Return the pairs of a family that touch, and their kinds."""
    a, b = pairs(family, count, seed)
    made = [[Triangle(*(Vec3(*corner) for corner in t)) for t in triangles.tolist()] for triangles in (a, b)]
    kind = np.array([triangles_touch(*pair) for pair in zip(*made, strict=True)], np.uint8)
    rows = np.flatnonzero(kind)
    return a[rows], b[rows], kind[rows]


def assert_equal(a, b, kind):
    given = []
    for describe in (contact_geometry.describe_columns, describe_rows):
        segment, normal = np.empty((len(kind), 2, 3)), np.empty((len(kind), 3))
        describe(a, b, kind, segment, normal)
        given.append(np.concatenate([segment.reshape(-1, 6), normal], axis=1).view(np.int64))
    different = np.flatnonzero((given[0] != given[1]).any(axis=1))
    assert not len(different), (a[different[0]].tolist(), b[different[0]].tolist())


@pytest.fixture(autouse=True)
def _numba():
    """Load Numba: until then `describe_rows` would be the columns themselves."""
    load_numba("jostle.kernels.dispatch")


@pytest.mark.parametrize("family", [*FAMILIES, signed_zeros], ids=lambda family: family.__name__)
def test_touching_rows(family):
    a, b, kind = touching(family, 400)
    assert_equal(a, b, kind)


@families
@pytest.mark.parametrize("kinds", [[NEAR], [A_IN_B, B_IN_A]], ids=["near", "inside"])
def test_rows_that_do_not_touch(family, kinds):
    """Of any triangles: near ones may round to one point, and parts inside have any shape."""
    a, b = pairs(family, 300, seed=3)
    assert_equal(a, b, np.resize(np.array(kinds, np.uint8), len(a)))


def test_rows_of_all_kinds_together_and_in_parts(monkeypatch):
    monkeypatch.setattr(contact_geometry, "AT_ONCE", 7)
    parts = [touching(family, 60, seed=4) for family in (general, coplanar, shared_corners, lines_and_points)]
    near = pairs(general, 20, seed=5)
    parts.append((*near, np.full(20, NEAR, np.uint8)))
    a, b, kind = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.random.default_rng(0).permutation(len(kind))
    assert_equal(a[order], b[order], kind[order])
    assert_equal(a[:0], b[:0], kind[:0])


@families
def test_determinants(family):
    """Those of corners of two triangles: nearly coplanar, too long for 58 bits, and ordinary ones."""
    a, b = pairs(family, 300, seed=6)
    points = np.concatenate([a, b[:, :1]], axis=1).transpose(1, 2, 0)
    quadruples = [[Vec3(*point) for point in row] for row in points.transpose(2, 0, 1).tolist()]
    assert volumes.signed_volumes(*points).tobytes() == np.array([signed_volume(*row) for row in quadruples]).tobytes()
    assert volumes.exact_volumes(points).tobytes() == np.array([exact_volume(*row) for row in quadruples]).tobytes()
    areas = np.array([signed_area(*(Vec2(point.x, point.y) for point in row[:3])) for row in quadruples])
    assert volumes.signed_areas(*points[:3, :2]).tobytes() == areas.tobytes()


def test_python_rounds_long_determinants_as_the_kernel_does():
    rng = np.random.default_rng(7)
    sizes = 10.0 ** rng.integers(-29, 30, (4, 3, 200)) * rng.uniform(0.1, 1.0, (4, 3, 200))
    points = rng.choice([-1.0, 0.0, 1.0], (4, 3, 200)) * sizes
    points[3, :, ::2] = (0.5 * points[0] + 0.5 * points[1])[:, ::2]
    points[np.abs(points) < 1e-30] = 0.0
    expected = [exact_volume(*(Vec3(*point) for point in row)) for row in points.transpose(2, 0, 1).tolist()]
    assert volumes.exact_volumes(points).tobytes() == np.array(expected).tobytes()

"""Signs in columns against rational arithmetic, for every stage."""

from fractions import Fraction

import numpy as np
import pytest

from jostle.methods.plain import signs
from tests.methods.plain.families import random_rotation

pytestmark = pytest.mark.small

COUNT = 60


def families():
    rng = np.random.default_rng(1)
    grid = rng.integers(-3, 4, (4, 3, COUNT)).astype(float)
    yield "general", rng.normal(size=(4, 3, COUNT))
    yield "grid", grid
    yield "tenths", 0.1 * grid
    turned = np.einsum("ij,kjn->kin", random_rotation(rng), grid)
    yield "turned", turned
    yield "far away", turned + 1e7
    sizes = 10.0 ** rng.integers(-29, 30, (4, 3, COUNT)) * rng.uniform(0.1, 1.0, (4, 3, COUNT))
    mixed = rng.choice([-1.0, 0.0, 1.0], (4, 3, COUNT)) * sizes
    yield "all sizes", mixed
    halfway = mixed.copy()
    halfway[3] = 0.5 * halfway[0] + 0.5 * halfway[1]
    yield "halfway", np.where(np.abs(halfway) < 1e-30, 0.0, halfway)
    long = rng.integers(-(2**57), 2**57, (4, 3, COUNT)).astype(float)
    long[3] = np.nextafter(long[2], np.inf)
    yield "58 bits", long
    flat = long.copy()
    flat[3] = flat[1]
    yield "58 bits, flat", flat


def determinant(points):
    """((b-a) x (c-a)) . (d-a) of points (4,3), exactly."""
    a, *others = ([Fraction(x) for x in point] for point in points.tolist())
    (ux, uy, uz), (vx, vy, vz), (wx, wy, wz) = ([x - y for x, y in zip(other, a, strict=True)] for other in others)
    return wx * (uy * vz - uz * vy) + wy * (uz * vx - ux * vz) + wz * (ux * vy - uy * vx)


def sign(value):
    return int(value > 0) - int(value < 0)


def bounds(points):
    span = 2.0 * float(np.abs(points[1:] - points[0]).max())
    return signs.certain_signs(points.transpose(1, 0, 2).reshape(3, -1), span)


@pytest.mark.parametrize(("name", "points"), list(families()), ids=[name for name, _ in families()])
def test_every_stage_has_the_sign_of_the_determinant(name, points):
    expected = [sign(determinant(points[:, :, k])) for k in range(COUNT)]
    assert signs.orient3d(*points, bounds(points)).tolist() == expected
    assert signs.filtered_sign(*points).tolist() == expected
    assert signs.exact_sign(points).tolist() == expected
    assert signs._sign_by_python(points).tolist() == expected


@pytest.mark.parametrize(("name", "points"), list(families()), ids=[name for name, _ in families()])
def test_turns_in_the_plane(name, points):
    flat = points.copy()
    flat[:, 2] = 0.0
    flat[3, :2] = flat[0, :2]
    flat[3, 2] = 1.0
    expected = [sign(determinant(flat[:, :, k])) for k in range(COUNT)]
    assert signs.orient2d(*points[:3, :2], bounds(points)).tolist() == expected


def test_only_small_multiples_of_one_power_of_two_need_no_bound():
    grid = np.random.default_rng(0).integers(-(2**15) + 1, 2**15, (3, 50)).astype(float)
    for unit in (1.0, 2.0**-40, 2.0**60):
        assert signs.certain_signs(unit * grid, 1.0) == (0.0, 0.0)
    for other in (0.1 * grid, grid + 2.0**40, np.append(grid, [[2.0**-3]] * 3, axis=1)):
        assert min(signs.certain_signs(other, 1.0)) > 0.0


def test_digits_and_python_agree_where_columns_are_mixed():
    points = np.stack([points for _, points in families()], axis=-1).reshape(4, 3, -1)
    assert signs.exact_sign(points).tolist() == signs._sign_by_python(points).tolist()

"""Morton codes against bits interleaved one by one."""

import itertools

import numpy as np
import pytest

from jostle.geometry.morton import CURVE_BITS, codes_of_cells, codes_of_points, morton_code, spread_bits

pytestmark = pytest.mark.small

NUMBERS = sorted({0, 1, 2, 3, 5, 1023, 1024, 65535, 65536, 2**20, 2**21 - 1, *(1 << bit for bit in range(21))})


def with_zeros_between(number):
    return sum(((number >> bit) & 1) << (3 * bit) for bit in range(21))


def test_bits_are_spread():
    assert [spread_bits(number) for number in NUMBERS] == [with_zeros_between(number) for number in NUMBERS]


def test_a_code_interleaves_the_bits_of_three_axes():
    numbers = np.arange(1 << 16)
    expected = sum((numbers >> bit & 1) << (3 * bit) for bit in range(16))
    zero = np.zeros_like(numbers)
    assert np.array_equal(codes_of_cells(numbers, zero, zero), expected << 2)
    assert np.array_equal(codes_of_cells(zero, numbers, zero), expected << 1)
    assert np.array_equal(codes_of_cells(zero, zero, numbers), expected)


def test_arrays_and_single_cells_have_the_same_codes():
    cells = np.array(list(itertools.product([0, 1, 6, 1023, 2**21 - 1], repeat=3)))
    expected = [with_zeros_between(x) << 2 | with_zeros_between(y) << 1 | with_zeros_between(z) for x, y, z in cells.tolist()]
    assert codes_of_cells(*cells.T).tolist() == expected
    assert [morton_code(*cell) for cell in cells.tolist()] == expected
    assert len(set(expected)) == len(cells)


def test_points_have_codes_in_the_cube_about_them():
    points = np.array([[0.0, 0.0, 0.0], [65535.0, 0.0, 0.0], [0.0, 65535.0, 0.0], [0.0, 0.0, 65535.0], [5.0, 3.0, 1.0]])
    ones = with_zeros_between(2**CURVE_BITS - 1)
    assert codes_of_points(points).tolist() == [0, ones << 2, ones << 1, ones, 0b100_010_111]
    assert codes_of_points(1e-30 * points).tolist()[:4] == [0, ones << 2, ones << 1, ones]
    corners = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]], dtype=float)
    assert codes_of_points(corners - 7.0).tolist() == [0, ones, 2 * ones, 4 * ones, 7 * ones]


def test_one_point_and_none():
    assert codes_of_points(np.ones((3, 3))).tolist() == [0, 0, 0]
    assert codes_of_points(np.ones((1, 3))).tolist() == [0]
    assert codes_of_points(np.empty((0, 3))).tolist() == []

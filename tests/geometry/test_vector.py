"""Vector helpers against NumPy and exact integers."""

import math

import numpy as np
import pytest

from jostle.geometry import vector


@pytest.mark.small
def test_products_of_whole_numbers_are_exact():
    rng = np.random.default_rng(1)
    for _ in range(50):
        a, b = rng.integers(-1000, 1000, size=(2, 3))
        assert vector.dot(*map(float, a), *map(float, b)) == int(np.dot(a, b))
        assert vector.cross(*map(float, a), *map(float, b)) == tuple(np.cross(a, b).tolist())


@pytest.mark.small
def test_length_spans_the_accepted_range():
    assert vector.length(3.0, 4.0, 12.0) == 13.0
    assert math.isclose(vector.length(2e-46, 3e-46, 6e-46), 7e-46)
    assert math.isclose(vector.length(2e30, 3e30, 6e30), 7e30)

"""Distinct shapes, numbered once for all methods."""

import numpy as np
import pytest

from jostle.interface.shape_numbers import number_shapes


@pytest.mark.small
def test_shapes_are_numbered_in_the_order_of_bodies():
    a, b, equal_to_a = np.zeros(1), np.ones(1), np.zeros(1)
    first, shape_of_body = number_shapes([a, b, a, equal_to_a, b])
    assert first == [0, 1, 3]
    assert shape_of_body.tolist() == [0, 1, 0, 2, 1]
    assert shape_of_body.dtype == np.int32
    assert number_shapes([])[0] == []
    assert number_shapes([])[1].shape == (0,)


@pytest.mark.small
def test_a_body_that_is_alone_shares_with_nobody():
    a = np.zeros(1)
    first, shape_of_body = number_shapes([a, a, a, a], alone=np.array([True, False, True, False]))
    assert first == [0, 1, 2]
    assert shape_of_body.tolist() == [0, 1, 2, 1]

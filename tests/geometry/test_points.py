"""Points on their way in: one pass that copies, cleans and judges as `cast` does."""

import numpy as np
import pytest

from jostle.geometry.points import copy_accepted

SMALLEST, LARGEST = 1e-30, 1e30


@pytest.mark.small
@pytest.mark.parametrize(
    ("value", "accepted"),
    [
        (0.0, True),
        (-0.0, True),
        (1e-30, True),
        (-1e30, True),
        (np.nextafter(1e-30, 0.0), True),
        (-np.nextafter(1e30, np.inf), False),
        (-5e-324, True),
        (np.nan, False),
        (np.inf, False),
        (-np.inf, False),
    ],
)
def test_each_coordinate_alone_decides(value, accepted):
    for place in range(7):
        given = np.arange(1.0, 8.0)
        given[place] = value
        out = np.empty(7)
        assert bool(copy_accepted(given, SMALLEST, LARGEST, out)) is accepted
        given[place] = 0.0 if abs(value) < SMALLEST else value
        assert np.array_equal(out, given, equal_nan=True)
        assert not np.signbit(out[place]) or value <= -SMALLEST

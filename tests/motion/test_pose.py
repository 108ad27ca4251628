"""Poses from what people say."""

import numpy as np
import pytest

from jostle import InputError
from jostle.motion.pose import rotation_about

pytestmark = pytest.mark.small


@pytest.mark.parametrize("length", [5e-324, 1e-300, 1e-160, 1.0, 1e160, 1e300, 1.7e308])
def test_axes_of_any_length_turn_alike(length):
    pose = rotation_about([0.0, 0.0, length], np.pi / 2)
    assert np.abs(pose - [[0, -1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]).max() < 1e-15


@pytest.mark.parametrize(
    "axis", [[0.0, 0.0, 0.0], [np.inf, 0.0, 0.0], [np.nan, 1.0, 0.0], [1.0, 0.0], [], "up", None, [[1], [2, 3]]]
)
def test_what_is_no_axis_is_refused(axis):
    with pytest.raises(InputError, match="axis"):
        rotation_about(axis, 1.0)

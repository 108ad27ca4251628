"""Poses from what people say."""

import numpy as np
import pytest

import jostle
from jostle import InputError
from jostle.geometry.pose import rotation_about

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


def test_pose_helpers_are_public_and_compose():
    turned = jostle.rotation((0, 0, 1), np.pi / 2, through=(1, 0, 0))
    assert np.allclose(turned @ [1, 0, 0, 1], [1, 0, 0, 1])
    assert np.allclose(jostle.translation((0, 0, 2)) @ turned @ [2, 0, 0, 1], [1, 1, 2, 1])
    assert jostle.rotation is rotation_about  # its older name
    world = jostle.World()
    pose = jostle.translation([1, 2, 3]) @ jostle.rotation((1, 1, 0), 0.3)
    assert np.array_equal(world.add(([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), pose).pose, pose)


@pytest.mark.parametrize("bad", [(1, 2), (np.nan, 0, 0), (np.inf, 0, 0), None, "up", [[1, 2, 3]], 5])
def test_what_is_no_offset_or_point_is_refused(bad):
    with pytest.raises(InputError, match="offset"):
        jostle.translation(bad)
    with pytest.raises(InputError, match="through"):
        jostle.rotation((0, 0, 1), 1.0, through=bad)
    with pytest.raises(InputError, match="angle"):
        jostle.rotation((0, 0, 1), np.nan)


def test_the_old_place_works_with_a_warning():
    with pytest.warns(DeprecationWarning, match=r"jostle\.motion\.pose\.rotation_about has moved: use jostle\.rotation"):
        from jostle.motion.pose import rotation_about as old
    assert old is jostle.rotation
    with pytest.raises(ImportError):
        from jostle.motion.pose import nothing  # noqa: F401

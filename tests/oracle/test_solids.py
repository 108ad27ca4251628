"""The oracle of solids, against what can be said of boxes and of single faces by hand."""

from fractions import Fraction

import numpy as np
import pytest

from tests.oracle import rational, solids
from tests.tiny import box, random_pose, tetrahedron

pytestmark = pytest.mark.small


def triangles(mesh, pose=None):
    pose = np.eye(4) if pose is None else pose
    return (mesh.vertices @ pose[:3, :3].T + pose[:3, 3])[mesh.faces].tolist()


@pytest.mark.parametrize(
    ("lower", "upper", "erosion"),
    [
        ((0.5, 0, 0), (1.5, 1, 1), 0.25),  # half of it is common
        ((0.75, 0.5, 0), (2, 2, 2), 0.125),
        ((0.25, 0.25, 0.25), (0.75, 0.75, 0.75), 0.25),  # inside: all of its own half-width
        ((0, 0, 0), (1, 1, 1), 0.5),
        ((1, 0, 0), (2, 1, 1), 0.0),  # touching
        ((1, 1, 1), (2, 2, 2), 0.0),
        ((2, 0, 0), (3, 1, 1), -0.5),
    ],
)
def test_boxes_erode_by_half_of_their_least_overlap(lower, upper, erosion):
    found = solids.largest_erosion(triangles(box()), triangles(box(lower, upper)))
    assert float(found) == pytest.approx(erosion, abs=1e-12)
    assert (found > 0, found < 0) == (erosion > 0, erosion < 0)
    assert found <= Fraction(erosion) or erosion < 0  # never overestimated


@pytest.mark.parametrize("shift", [(1.5, 0, 0), (1.5, 1.25, 0), (1.5, 1.25, 3.0), (0.25, 0.5, 1.125)])
def test_boxes_apart_have_the_distance_of_their_gaps(shift):
    a, b = triangles(box()), triangles(box(shift, np.array(shift) + 1))
    gap = float(np.linalg.norm([max(0.0, s - 1) for s in shift]))
    assert solids.distance(a, b) == pytest.approx(gap, abs=1e-15)
    assert solids.farther_apart(a, b, gap * (1 - 1e-9))
    assert not solids.farther_apart(a, b, gap * (1 + 1e-9))
    assert not solids.farther_apart(a, triangles(box((0.5, 0, 0), (2, 1, 1))), 0.0)


def test_closest_points_are_those_of_fractions():
    rng = np.random.default_rng(3)
    apart = 0
    for _ in range(12):
        a, b = triangles(tetrahedron()), triangles(tetrahedron(), random_pose(rng, 2.0))
        squared = min(rational.squared_distance(one, other) for one in a for other in b)
        if squared > 0 and solids.largest_erosion(a, b) < 0:
            assert solids.distance(a, b) == pytest.approx(float(squared) ** 0.5, abs=1e-14)
            apart += 1
    assert apart > 5

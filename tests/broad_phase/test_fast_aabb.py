"""The sorted list and the sweep: sorted for any coordinates, along the axis with the fewest comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from jostle.broad_phase import FastAabb, Volumes
from jostle.broad_phase.sorted_boxes import SortedBoxes, SweepAxis, best_axis, sort_along
from jostle.geometry.vector import Vec3


@pytest.mark.small
@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e12])
def test_the_list_is_sorted_and_holds_every_box(scale):
    random = np.random.default_rng(1)
    n = 50
    lower = np.round(random.normal(size=(n, 3)) * 4.0) * scale
    lower[3, 1], lower[9, 1] = -np.inf, -0.0
    upper = lower + scale
    boxes = SortedBoxes.of(n)
    sort_along(boxes, lower, upper, SweepAxis(1, Vec3(0.25 * scale, 0.0, 0.0)), boxes.ends.view(np.uint32))
    rows = boxes.ends.reshape(6, -1)
    assert np.isnan(rows[:, n:]).all()
    assert sorted(boxes.body) == list(range(n))
    assert (np.diff(rows[0, :n]) >= 0.0)[1:].all()
    middle = np.array([0.25 * scale, 0.0, 0.0])
    expected = np.concatenate([lower - middle, upper - middle], axis=1)[boxes.body][:, [1, 2, 0, 4, 5, 3]]
    np.testing.assert_array_equal(rows[:, :n].T, expected.astype(np.float32))


@pytest.mark.small
@pytest.mark.parametrize("axis", range(3))
def test_the_best_axis_is_the_one_along_which_boxes_are_far_apart_for_their_size(axis):
    random = np.random.default_rng(axis)
    stretch = np.ones(3)
    stretch[axis] = 3.0
    lower = random.random((200, 3)) * 10.0 * stretch + 1e6
    assert best_axis(lower, lower + 0.5).axis == axis
    np.testing.assert_allclose(best_axis(lower, lower + 0.5).middle, lower.mean(axis=0) + 0.25)
    flat = np.full(3, 4.0)
    flat[axis] = 0.1  # plates: spread no wider, but thin
    lower = random.random((200, 3)) * 10.0
    assert best_axis(lower, lower + flat).axis == axis
    endless = lower.copy()
    endless[:5] = -np.inf
    assert best_axis(endless, lower + flat).axis == axis


def test_boxes_along_a_line_are_compared_with_their_neighbours_only():
    n = 3000
    lower = np.zeros((n, 3))
    lower[:, 2] = np.random.default_rng(3).permutation(n) * 2.0
    finder = FastAabb().start(n)
    assert len(finder.find(Volumes(lower, lower + 1.0)).body_a) == 0
    assert finder.counters == {"box_tests": 0, "axis": 2, "pairs": 0}
    upper = lower + 1.0
    upper[:, 2] += 1.0  # now each touches the next
    found = finder.find(Volumes(lower, upper))
    assert len(found.body_a) == n - 1
    assert finder.counters["box_tests"] <= 8 * n

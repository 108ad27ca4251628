"""Three lists kept between frames: right over long motions, jumps and changes, and cheap if little moves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jostle.broad_phase import Volumes
from jostle.broad_phase.sweep_and_prune import SweepAndPrune
from tests.broad_phase.overlapping_boxes import assert_right, interrupted


@pytest.mark.small
@pytest.mark.parametrize("seed", range(3))
def test_it_follows_a_long_motion_without_sorting_anew(seed):
    random = np.random.default_rng(seed)
    n = 25
    centre, velocity = random.random((n, 3)) * 5.0, random.normal(size=(n, 3)) * 0.05
    size = random.uniform(0.2, 1.0, (n, 3))
    finder = SweepAndPrune().start(n)
    anew, seen = 0, set()
    for _ in range(150):
        found = assert_right(finder, centre - size, centre + size)
        anew += finder.counters["sorted_anew"]
        seen |= set(map(tuple, found.T.tolist()))
        velocity = np.where((centre < 0.0) | (centre > 5.0), -velocity, velocity)
        centre = centre + velocity
    assert anew == 1
    assert len(seen) > found.shape[1] + 20  # pairs came and went


@pytest.mark.small
def test_boxes_on_a_lattice_that_step_by_whole_cells_touch_and_part():
    random = np.random.default_rng(7)
    n = 20
    lower = random.integers(0, 4, (n, 3)).astype(float)
    finder = SweepAndPrune().start(n)
    for _ in range(60):
        assert_right(finder, lower, lower + 1.0)
        lower = lower + random.integers(-1, 2, (n, 3)) * (random.random((n, 1)) < 0.3)


def test_a_motion_that_moves_little_costs_little():
    random = np.random.default_rng(1)
    n = 2000
    centre = random.random((n, 3)) * n ** (1 / 3) * 2.0
    finder = SweepAndPrune().start(n)
    finder.find(Volumes(centre - 0.5, centre + 0.5))
    first = finder.counters
    assert first["sorted_anew"] == 1
    finder.find(Volumes(centre - 0.5, centre + 0.5))
    assert finder.counters == {"box_tests": 0, "exchanges": 0, "sorted_anew": 0, "pairs": first["pairs"]}
    centre = centre + random.normal(size=(n, 3)) * 1e-3
    assert_right(finder, centre - 0.5, centre + 0.5)
    assert finder.counters["sorted_anew"] == 0
    assert 0 < finder.counters["exchanges"] < 20 * n
    assert finder.counters["box_tests"] < finder.counters["exchanges"]


def test_a_jump_sorts_anew_and_the_motion_goes_on_from_there():
    random = np.random.default_rng(2)
    n = 2000
    finder = SweepAndPrune().start(n)
    for _ in range(3):
        centre = random.random((n, 3)) * 30.0
        assert_right(finder, centre - 0.5, centre + 0.5)
        assert finder.counters["sorted_anew"] == 1
    centre = centre + 1e-3
    assert_right(finder, centre - 0.5, centre + 0.5)
    assert finder.counters["sorted_anew"] == 0
    centre = np.zeros((n, 3))
    assert_right(finder, centre - 0.5, centre + 0.5)  # all of them begin to overlap at once


@pytest.mark.small
def test_bodies_that_come_and_go_keep_the_lists_of_the_others():
    random = np.random.default_rng(3)
    n = 30
    lower = random.random((n, 3)) * 3.0
    finder = SweepAndPrune().start(n)
    assert_right(finder, lower, lower + 0.7)
    for _ in range(25):
        stay = random.random(n) < 0.9
        old_to_new = np.where(stay, np.cumsum(stay) - 1, -1).astype(np.int32)
        new = random.random((int(random.integers(0, 5)), 3)) * 3.0
        lower = np.vstack([lower[stay] + random.normal(size=(int(stay.sum()), 3)) * 0.01, new])
        n = len(lower)
        finder.change(n, old_to_new)
        if random.random() < 0.3:  # two changes between two frames
            finder.change(n - 1, np.r_[np.arange(n - 1), -1].astype(np.int32))
            finder.change(n, np.arange(n - 1, dtype=np.int32))
        assert_right(finder, lower, lower + 0.7)
        assert finder.counters["sorted_anew"] == 0


@pytest.mark.small
def test_an_interrupted_frame_leaves_nothing_behind(monkeypatch):
    from jostle.broad_phase import sweep_and_prune

    random = np.random.default_rng(4)
    lower = random.random((40, 3)) * 3.0
    finder = SweepAndPrune().start(40)
    assert_right(finder, lower, lower + 0.5)

    with monkeypatch.context() as patched:
        patched.setattr(sweep_and_prune, "merge_changes", interrupted)
        moved = lower + random.normal(size=lower.shape)
        with pytest.raises(KeyboardInterrupt):
            finder.find(Volumes(moved, moved + 0.5))
    assert_right(finder, lower, lower + 0.5)
    finder.change(39, np.arange(-1, 39, dtype=np.int32))
    assert_right(finder, lower[1:], lower[1:] + 0.5)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_any_sequence_of_lattice_boxes(data):
    n = data.draw(st.integers(0, 8))
    row = st.tuples(*[st.integers(-3, 3)] * 3, *[st.sampled_from([0, 1, 2, 50])] * 3)
    finder = SweepAndPrune().start(n)
    for _ in range(data.draw(st.integers(1, 4))):
        boxes = np.array(data.draw(st.lists(row, min_size=n, max_size=n)), dtype=float).reshape(-1, 6)
        assert_right(finder, boxes[:, :3], boxes[:, :3] + boxes[:, 3:])

"""The list kept between frames: cheap if little moves, right after jumps, interruptions and deformation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jostle.broad_phase import FastAabb, Volumes
from jostle.broad_phase.coherent_aabb import CoherentAabb
from jostle.broad_phase.margin_updates import MarginArrays, Margins, find_left, give_margins, open_margins
from jostle.kernels.jit import kernel
from tests.broad_phase.overlapping_boxes import assert_right, interrupted


def crowd(n, seed=1, speed=0.05):
    random = np.random.default_rng(seed)
    way = random.normal(size=(n, 3))
    way *= random.uniform(0.0, speed, (n, 1)) / np.linalg.norm(way, axis=1)[:, None]
    return random.random((n, 3)) * (n * 4.0 / 0.05) ** (1 / 3), way


def test_it_compares_fewer_boxes_than_a_sweep_on_coherent_motion():
    # The finding of docs/broad_phases.md in counts: a few in a hundred bodies leave their margins in a frame.
    n = 2000
    centre, velocity = crowd(n)
    coherent, fast = CoherentAabb().start(n), FastAabb().start(n)
    tests, left, sweeps = [], [], []
    for frame in range(60):
        volumes = Volumes(centre - 1.0, centre + 1.0)
        found = coherent.find(volumes)
        np.testing.assert_array_equal(found, fast.find(volumes))
        if frame > 3:
            assert coherent.counters["sorted_anew"] == 0
            tests.append(coherent.counters["box_tests"])
            left.append(coherent.counters["left_margins"])
            sweeps.append(fast.counters["box_tests"])
        centre = centre + velocity
    assert np.mean(tests) < 0.4 * np.mean(sweeps)
    assert 0.0 < np.mean(left) < 0.12 * n
    assert max(left) < 0.25 * n  # they do not all leave in one frame


@pytest.mark.small
def test_a_world_at_rest_costs_a_look_at_each_box_and_pair():
    lower = np.random.default_rng(2).random((30, 3)) * 4.0
    finder = CoherentAabb().start(30)
    for _ in range(3):
        found = assert_right(finder, lower, lower + 1.0)
    pairs = found.shape[1]
    assert finder.counters == {
        "box_tests": pairs, "left_margins": 0, "sorted_anew": 0, "pairs_with_margins": pairs, "pairs": pairs
    }  # fmt: skip


@kernel
def find_who_left(lower: Any, upper: Any, margins: Any, every: bool, left: Any) -> int:
    return find_left(lower, upper, open_margins(margins), every, left)


@kernel
def give_them_margins(lower: Any, upper: Any, margins: Any, left: Any, count: int, frame: int) -> None:
    give_margins(lower, upper, open_margins(margins), left, count, frame, 1.0)


@pytest.mark.small
def test_margins_hold_the_box_and_reach_where_it_goes():
    lower = np.array([[0.0, 0.0, 0.0], [5.0, 5.0, -np.inf]])
    upper = lower + 1.0
    upper[1, 2] = np.inf
    margins, left = MarginArrays.of(2), np.empty(2, np.int32)
    table = Margins.table(**margins._asdict())
    row = table.table[0]
    assert find_who_left(lower, upper, row, False, left) == 2
    give_them_margins(lower, upper, row, left, 2, 1)
    np.testing.assert_array_equal(margins.lower, lower)  # nothing is known of the motion yet
    np.testing.assert_array_equal(margins.upper, upper)
    assert find_who_left(lower, upper, row, False, left) == 0
    assert find_who_left(lower, upper, row, True, left) == 2
    step = np.array([0.01, -0.01, 0.0])
    lower, upper = lower + step, upper + step
    assert find_who_left(lower, upper, row, False, left) == 2
    give_them_margins(lower, upper, row, left, 2, 2)
    assert (margins.lower <= lower).all()
    assert (margins.upper >= upper).all()
    assert 0.08 <= margins.upper[0, 0] - upper[0, 0] <= 0.26
    assert 0.0 < lower[0, 0] - margins.lower[0, 0] < 0.03
    assert margins.upper[0, 2] == upper[0, 2]
    lower[0, 0] += 1e6
    upper[0, 0] += 1e6
    give_them_margins(lower, upper, row, left, 1, 3)
    assert margins.upper[0, 0] - upper[0, 0] <= 1.0  # a jump is no speed


def test_a_crowd_that_turns_over_is_sorted_along_another_axis():
    random = np.random.default_rng(8)
    n, frames = 300, 300
    place = random.random((n, 3)) * (20.0, 1.0, 1.0)
    finder = CoherentAabb().start(n)
    anew = []
    for frame in range(frames):
        share = frame / (frames - 1)
        centre = place * (1.0 - share * 0.95, 1.0 + 19.0 * share, 1.0)
        assert_right(finder, centre - 0.2, centre + 0.2)
        anew.append(finder.counters["sorted_anew"])
    assert 2 < sum(anew) < frames / 2
    assert finder._axis["axis"][0] == 1


def test_motion_without_coherence_gets_no_margins_until_it_becomes_coherent():
    random = np.random.default_rng(6)
    n = 300
    finder = CoherentAabb().start(n)
    more, centre = [], np.zeros((n, 3))
    for frame in range(70):
        centre = random.random((n, 3)) * 12.0 if frame < 40 else centre + 0.01
        assert_right(finder, centre - 0.5, centre + 0.5)
        more.append(finder.counters["pairs_with_margins"] > finder.counters["pairs"])
        if frame == 39:
            assert sum(more) < 8
    assert finder.counters["sorted_anew"] == 0


def test_a_jump_sorts_anew_and_the_motion_goes_on_from_there():
    random = np.random.default_rng(2)
    n = 2000
    finder = CoherentAabb().start(n)
    for _ in range(3):
        centre = random.random((n, 3)) * 30.0
        assert_right(finder, centre - 0.5, centre + 0.5)
        assert finder.counters["sorted_anew"] == 1
    centre = np.zeros((n, 3))
    assert_right(finder, centre - 0.5, centre + 0.5)  # all of them begin to overlap at once
    centre = random.random((n, 3)) * 30.0
    assert_right(finder, centre - 0.5, centre + 0.5)
    centre[77] = centre[78]
    assert_right(finder, centre - 0.5, centre + 0.5)
    assert finder.counters["sorted_anew"] == 0


@pytest.mark.small
def test_bodies_that_come_and_go_keep_the_list_of_the_others():
    random = np.random.default_rng(3)
    n = 40
    lower = random.random((n, 3)) * 3.0
    finder = CoherentAabb().start(n)
    assert_right(finder, lower, lower + 0.7)
    for _ in range(25):
        stay = random.random(n) < 0.95
        old_to_new = np.where(stay, np.cumsum(stay) - 1, -1).astype(np.int32)
        new = random.random((int(random.integers(0, 5)), 3)) * 3.0
        moving = random.random(int(stay.sum()))[:, None] < 0.05
        lower = np.vstack([lower[stay] + moving * random.normal(size=(int(stay.sum()), 3)) * 0.01, new])
        n = len(lower)
        finder.change(n, old_to_new)
        if random.random() < 0.3:  # two changes between two frames
            finder.change(n - 1, np.r_[np.arange(n - 1), -1].astype(np.int32))
            finder.change(n, np.arange(n - 1, dtype=np.int32))
        assert_right(finder, lower, lower + 0.7)
        assert finder.counters["left_margins"] <= 12


@pytest.mark.small
def test_an_interrupted_frame_leaves_nothing_behind(monkeypatch):
    from jostle.broad_phase import coherent_aabb

    random = np.random.default_rng(4)
    lower = random.random((40, 3)) * 3.0
    finder = CoherentAabb().start(40)
    assert_right(finder, lower, lower + 0.5)

    for place in ("follow_boxes", "own_boxes_overlap"):
        with monkeypatch.context() as patched:
            patched.setattr(coherent_aabb, place, interrupted)
            moved = lower.copy()
            moved[:30] += random.normal(size=(30, 3))
            with pytest.raises(KeyboardInterrupt):
                finder.find(Volumes(moved, moved + 0.5))
        assert_right(finder, lower, lower + 0.5)
    finder.change(39, np.arange(-1, 39, dtype=np.int32))
    assert_right(finder, lower[1:], lower[1:] + 0.5)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.data())
def test_any_sequence_of_lattice_boxes(data):
    n = data.draw(st.integers(0, 12))
    row = st.tuples(*[st.integers(-3, 3)] * 3, *[st.sampled_from([0, 1, 2, 50])] * 3)
    finder = CoherentAabb().start(n)
    boxes = np.zeros((n, 6))
    for _ in range(data.draw(st.integers(1, 5))):
        others = np.array(data.draw(st.lists(row, min_size=n, max_size=n)), dtype=float).reshape(-1, 6)
        moves = np.array(data.draw(st.lists(st.sampled_from([True, False, False, False]), min_size=n, max_size=n)), bool)
        boxes = np.where(moves[:, None], others, boxes)
        assert_right(finder, boxes[:, :3], boxes[:, :3] + boxes[:, 3:])

"""The budget alone, by a clock and a search that are made up: what is spent, what is learnt, what never looks at a clock."""

import numpy as np
import pytest

from jostle.methods.monte_carlo.budget import (
    FIXED_SLICE,
    SLICE_SECONDS,
    Cost,
    Pace,
    search_operations,
    search_seconds,
)

pytestmark = pytest.mark.small


class MadeUp:
    """A search of so many operations, each of which takes so many seconds of a clock of its own."""

    def __init__(self, operations, seconds=lambda done: 1e-7, overhead=2e-6):
        self.left, self.seconds, self.overhead = operations, seconds, overhead
        self.now, self.done, self.slices, self.took = 5.0, 0, [], []

    def clock(self):
        self.now += 1e-7
        return self.now

    def step(self, operations):
        used = min(operations, self.left)
        took = self.overhead + used * self.seconds(self.done)
        self.now += took
        self.left -= used
        self.done += used
        self.slices.append(operations)
        self.took.append(took)
        return self.left == 0, used

    def search(self, seconds, pace, reserved=lambda done: 0.0):
        end = self.now + seconds
        self.slices, self.took = [], []
        done = search_seconds(self.step, lambda: end - reserved(self.done), pace, self.clock)
        return done, self.now - end


def test_a_search_of_seconds_ends_at_its_deadline_within_a_slice():
    made_up, pace = MadeUp(10**9), Pace()
    for seconds in (5e-4, 1e-3, 2e-3, 5e-3):
        done, late = made_up.search(seconds, pace)
        assert not done
        assert -2e-5 < late < 1e-5
        assert max(made_up.took) < 1.1 * SLICE_SECONDS


def test_a_pace_that_is_wrong_is_learnt_within_two_frames():
    for wrong in (1e-9, 1e-5):
        made_up, pace = MadeUp(10**9), Pace(wrong)
        for _ in range(2):
            made_up.search(5e-3, pace)
        _, late = made_up.search(5e-3, pace)
        assert -2e-5 < late < 2e-5
        assert pace.seconds == pytest.approx(1e-7, rel=0.5)


def test_operations_of_changing_cost_and_a_hiccup_cost_less_than_three_slices():
    rng = np.random.default_rng(2)
    made_up, pace = MadeUp(10**9, lambda done: 1e-7 * rng.lognormal(0.0, 0.5)), Pace()
    late = [made_up.search(2e-3, pace)[1] for _ in range(400)]
    assert np.percentile(late[20:], 99.5) < 2.5 * SLICE_SECONDS
    hiccup, learnt = MadeUp(10**9, lambda done: 5e-6 if done == 0 else 1e-7), Pace()
    hiccup.search(2e-2, learnt)
    assert max(hiccup.took) > 10 * SLICE_SECONDS
    assert learnt.seconds < 3e-7  # all but forgotten within the frame


def test_what_the_report_will_take_is_left_for_it():
    each = 4e-8  # a row for every tenth operation takes 0.4 µs of the report

    def reserved(done):
        return 1e-4 + each * done

    made_up, pace = MadeUp(10**9), Pace()
    for _ in range(5):
        start = made_up.done
        _, late = made_up.search(2e-3, pace, lambda done, start=start: reserved(done - start))
        assert -3e-5 < late + reserved(made_up.done - start) < 3e-5


def test_one_slice_is_searched_when_there_is_no_time_at_all():
    made_up = MadeUp(10**9)
    done, late = made_up.search(-1.0, Pace())
    assert not done
    assert len(made_up.slices) == 1
    assert late < 1.0 + 2e-5


def test_a_search_that_is_done_says_so():
    assert MadeUp(100).search(1.0, Pace())[0]
    made_up = MadeUp(3 * FIXED_SLICE + 1)
    assert search_operations(made_up.step)
    assert made_up.slices == [FIXED_SLICE] * 4


@pytest.mark.parametrize("operations", [1, 100, FIXED_SLICE, FIXED_SLICE + 1, 7 * FIXED_SLICE])
def test_operations_are_counted_and_no_clock_is_looked_at(operations, monkeypatch):
    def no_clock():
        raise AssertionError("a clock was looked at")

    monkeypatch.setattr("time.perf_counter", no_clock)
    made_up = MadeUp(10**9)
    assert not search_operations(made_up.step, operations)
    assert made_up.done == sum(made_up.slices) == operations
    assert search_operations(MadeUp(operations).step, operations)
    assert not search_operations(MadeUp(operations + 1).step, operations)


def test_a_search_that_overshoots_is_not_asked_for_more():
    made_up = MadeUp(10**9)

    def coarse(operations):
        return made_up.step(-(-operations // 64) * 64)

    assert not search_operations(coarse, 100)
    assert made_up.done == 128


def test_costs_follow_what_is_measured_and_are_seldom_exceeded():
    rng = np.random.default_rng(1)
    cost, exceeded = Cost(1e-3, 1e-6), []
    for frame in range(4000):
        items = int(rng.integers(0, 4000))
        took = (5e-5 + 2e-7 * items) * rng.lognormal(0.0, 0.1)
        if frame >= 2000:
            exceeded.append(took > cost.expected(items))
        cost.learn(items, took)
    assert np.mean(exceeded) < 0.1
    assert cost.expected(0) < 2e-4
    assert cost.expected(4000) < 2.0 * (5e-5 + 2e-7 * 4000)
    before = cost.expected(100)
    cost.learn(100, 1.0)  # a second of hiccup
    assert cost.expected(100) <= 1.2 * before

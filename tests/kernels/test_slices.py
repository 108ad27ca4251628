"""Slices of long kernels: budgets, sizes, progress, cancelling, on a test clock."""

from __future__ import annotations

import os
import signal

import pytest

from jostle.kernels.slices import SLICE_SECONDS, SLICE_SECONDS_UNDER_BUDGET, run_in_slices

pytestmark = pytest.mark.small


class Counting:
    """Work of a number of operations, each taking some time of a clock of its own."""

    def __init__(self, total: int, seconds_each: float = 1e-6) -> None:
        self.total = total
        self.each = seconds_each
        self.position = 0
        self.now = 0.0
        self.slices: list[int] = []

    def step(self, state: list[int], operations: int) -> tuple[bool, int]:
        did = min(operations, self.total - self.position)
        state.extend(range(self.position, self.position + did))
        self.position += did
        self.now += did * self.each
        self.slices.append(operations)
        return self.position == self.total, did

    def clock(self) -> float:
        return self.now

    def run(self, state: list[int] | None = None, **options) -> bool:
        return run_in_slices(self.step, [] if state is None else state, clock=self.clock, **options)


def test_all_of_it_is_done_once_and_in_order():
    state: list[int] = []
    work = Counting(12345)
    assert work.run(state, operations=10) is True
    assert state == list(range(12345))


@pytest.mark.parametrize("seconds_each", [1e-9, 1e-6, 1e-3])
def test_slices_without_a_budget_grow_to_a_tenth_of_a_second(seconds_each):
    work = Counting(int(2.0 / seconds_each) if seconds_each > 1e-9 else 10**9, seconds_each)
    state = type("Nothing", (), {"extend": lambda self, values: None})()
    assert run_in_slices(work.step, state, 10, clock=work.clock)
    assert max(work.slices) * seconds_each == pytest.approx(SLICE_SECONDS, rel=0.02)


def test_a_slice_ten_times_too_long_is_shortened_at_once():
    work = Counting(10**6, 1e-5)
    work.run(operations=100_000)
    assert work.slices[0] * work.each == pytest.approx(1.0)
    assert all(size * work.each <= 0.2 for size in work.slices[1:])


def test_a_time_budget_has_short_slices_and_ends_in_time():
    work = Counting(10**7, 1e-7)
    assert work.run(operations=50, seconds=0.02) is False
    assert 0.02 <= work.now < 0.02 + 2 * SLICE_SECONDS_UNDER_BUDGET
    assert max(work.slices) * work.each == pytest.approx(SLICE_SECONDS_UNDER_BUDGET, rel=0.02)
    assert work.run(operations=50, seconds=10.0) is True  # and it can be resumed
    assert work.position == work.total


def test_even_no_time_at_all_gets_on():
    work = Counting(100, 1.0)
    assert work.run(operations=3, seconds=0.0) is False
    assert work.position == 3


@pytest.mark.parametrize("operations", [1, 7, 100, 10**6])
@pytest.mark.parametrize("seconds_each", [0.0, 1e-6, 0.01])
def test_an_operations_budget_stops_at_the_same_place_whatever_the_clock(operations, seconds_each):
    work = Counting(10_000, seconds_each)
    assert work.run(operations=operations, total_operations=4321) is False
    assert work.position == 4321
    assert work.run(operations=operations, total_operations=10_000 - 4321) is True
    assert work.run(total_operations=0) is False


def test_progress_is_reported_sparingly_and_at_the_end():
    reports: list[int] = []
    work = Counting(10**6, 1e-6)  # one second
    assert work.run(operations=100, seconds=5.0, progress=reports.append)
    assert 9 <= len(reports) <= 11
    assert reports == sorted(reports)
    assert reports[-1] == 10**6


def test_cancelling_ends_it_between_slices():
    work = Counting(10**6)
    assert work.run(operations=100, cancel=lambda: work.position >= 500) is False
    assert 500 <= work.position < 10**6
    finished = Counting(10)
    assert finished.run(operations=100, cancel=lambda: True) is True  # too late: it was done


def test_a_step_that_does_nothing_is_an_error_not_an_endless_loop():
    with pytest.raises(RuntimeError, match="no operations"):
        run_in_slices(lambda state, operations: (False, 0), None)


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_an_interrupt_comes_through_between_slices():
    work = Counting(10**9)

    def step(state, operations):
        os.kill(os.getpid(), signal.SIGINT)
        return False, operations

    with pytest.raises(KeyboardInterrupt):
        run_in_slices(step, None, clock=work.clock)

"""Rows out of kernels: exact size, grown when needed, kept per thread."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from jostle.kernels import buffers
from jostle.kernels.buffers import GrowingRows

pytestmark = pytest.mark.small


def writer(count, seen=None):
    def run(rows):
        if seen is not None:
            seen.append(rows)
        for k in range(min(count, len(rows))):
            rows[k] = k
        return count

    return run


@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 100])
def test_the_rows_are_all_there_and_no_more(count):
    rows = GrowingRows(np.int32, width=2, capacity=4).fill(writer(count))
    assert rows.dtype == np.int32
    assert rows.tolist() == [[k, k] for k in range(count)]
    assert rows.base is None  # a copy: the next call may write over the scratch array


def test_it_runs_again_only_when_it_must_and_keeps_the_larger_array():
    seen: list[np.ndarray] = []
    growing = GrowingRows(np.float64, capacity=4)
    assert growing.fill(writer(9, seen)).tolist() == list(range(9))
    assert [len(rows) for rows in seen] == [4, 9]
    growing.fill(writer(9, seen))
    assert len(seen) == 3
    assert seen[2] is seen[1]


def test_results_of_two_calls_are_independent():
    growing = GrowingRows(np.int64, capacity=4)
    first = growing.fill(writer(3))
    growing.fill(lambda rows: rows.fill(-1) or 4)
    assert first.tolist() == [0, 1, 2]


def test_a_nested_call_and_another_thread_get_arrays_of_their_own():
    seen: list[np.ndarray] = []
    growing = GrowingRows(np.int64, capacity=4)

    def nested(rows):
        seen.append(rows)
        growing.fill(writer(2, seen))
        thread = threading.Thread(target=lambda: growing.fill(writer(2, seen)))
        thread.start()
        thread.join()
        return 0

    growing.fill(writer(1))  # there is an array to share
    growing.fill(nested)
    assert len({id(rows) for rows in seen}) == 3


def test_an_error_leaves_it_usable_and_a_negative_count_is_one():
    growing = GrowingRows(np.int64, capacity=4)
    with pytest.raises(ZeroDivisionError):
        growing.fill(lambda rows: 1 // 0)
    with pytest.raises(ValueError, match="-1 rows"):
        growing.fill(lambda rows: -1)
    assert growing.fill(writer(2)).tolist() == [0, 1]


def test_a_huge_array_is_not_kept(monkeypatch):
    monkeypatch.setattr(buffers, "KEPT_BYTES", 100)
    seen: list[np.ndarray] = []
    growing = GrowingRows(np.int64, capacity=4)
    growing.fill(writer(50, seen))
    growing.fill(writer(1, seen))
    assert [len(rows) for rows in seen] == [4, 50, 4]


def test_long_arrays_are_copied_and_filled_in_pieces(monkeypatch):
    monkeypatch.setattr(buffers, "PIECE", 4)
    assert list(buffers.pieces(10)) == [(0, 4), (4, 8), (8, 10)]
    assert list(buffers.pieces(0)) == []
    rows = np.arange(22).reshape(11, 2)
    larger = buffers.doubled(rows)
    assert larger.shape == (22, 2)
    assert (larger[:11] == rows).all()
    filled = buffers.full(11, -1, np.int32)
    assert filled.dtype == np.int32
    assert filled.tolist() == [-1] * 11

"""Results of unknown length: grow the array and run the kernel again.

A kernel cannot return a list cheaply. It writes the rows that fit into a given array, counts the rest, and returns the number
needed; if the array is too small, the caller runs it again with a larger one. The scratch array is kept for the next call, one for
each thread (new ones double the cost of a small query).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

PIECE = 1 << 18  # rows: 1 ms of copying, 30 ms of entering them into a table that fits in no cache
KEPT_BYTES = 1 << 26  # a scratch array larger than this is released after the call


def pieces(rows: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of pieces of many rows; Python sees Ctrl-C between them."""
    for begin in range(0, rows, PIECE):
        yield begin, min(begin + PIECE, rows)


def doubled(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return an array of twice the rows that starts with `array`, copied in pieces."""
    larger = np.empty((2 * len(array), *array.shape[1:]), array.dtype)
    for begin, end in pieces(len(array)):
        larger[begin:end] = array[begin:end]
    return larger


def full(rows: int, value: int, dtype: type[Scalar]) -> NDArray[Scalar]:
    """Return an array filled with one value, in pieces."""
    array = np.empty(rows, dtype)
    for begin, end in pieces(rows):
        array[begin:end] = value
    return array


class GrowingRows(Generic[Scalar]):
    """A scratch array of rows that grows until they fit.

    Parameters
    ----------
    dtype : type
        Of the entries, for instance `numpy.int32`.
    width : int, optional
        Entries per row; by default rows are single entries and the array has one dimension.
    capacity : int
        Rows of the first array.
    """

    def __init__(self, dtype: type[Scalar], width: int | None = None, capacity: int = 1024) -> None:
        self._dtype = dtype
        self._row_shape = () if width is None else (width,)
        self._capacity = max(1, capacity)
        self._kept = threading.local()

    def fill(self, run: Callable[[NDArray[Scalar]], int]) -> NDArray[Scalar]:
        """Return exactly the rows that `run(scratch)` writes.

        `run` writes the first `len(scratch)` rows and returns the number of all. If that is more, it is called again from the start
        with a larger array.
        """
        # Taken out while in use: a `run` that calls `fill` in turn gets an array of its own.
        scratch: NDArray[Scalar] | None = self._kept.__dict__.pop("scratch", None)
        if scratch is None:
            scratch = self._empty(self._capacity)
        try:
            while True:
                needed = int(run(scratch))
                if needed < 0:
                    raise ValueError(f"a kernel requested {needed} rows")
                if needed <= len(scratch):
                    return scratch[:needed].copy()
                scratch = self._empty(max(needed, 2 * len(scratch)))
        finally:
            if scratch.nbytes <= KEPT_BYTES:
                self._kept.scratch = scratch

    def _empty(self, rows: int) -> NDArray[Any]:
        return np.empty((rows, *self._row_shape), dtype=self._dtype)

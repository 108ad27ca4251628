"""The workspace of the software renderer: maps, lists, rows, and the search state.

Kernels take it as one struct, `work: Work`, together with the pair that they draw, `pair: DrawnPair`. A thread keeps its
workspace from frame to frame.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bytes, Floats
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses, One, Record, Rows, Struct, float64, int32, int64, opener, uint8
from jostle.render.clipping import Slack
from jostle.render.drawn_body import DrawnBody
from jostle.render.spans import scratch_for_drawing

INTERVAL, STENCIL, CONSERVATIVE = 0, 1, 2  # tests
ALL, ONE_PER_PAIR, ONE = 0, 1, 2  # row modes
LOW, HIGH, NEAR, FAR, MAPS = 0, 1, 2, 3, 4  # common depths of both bodies, depths of one
MASK, OTHER, COUNTS = 0, 1, 2  # maps of small numbers


class Search(Record):
    """The query, and where the search stands."""

    test: int64  # INTERVAL, STENCIL or CONSERVATIVE
    row_mode: int64  # ALL, ONE_PER_PAIR or ONE
    quick: int64  # whether any pixel of a pair will do
    last_view: int64  # the view after the last
    next_view: int64
    rows: int64  # written so far
    pair_rows: int64  # of those, before the current pair
    drawn: int64  # pixels compared
    rows_needed: int64  # in all, where the search ran out of them
    lists_needed: int64  # numbers in lists, likewise


class Standing(NamedTuple):
    """Where a search stands; reading it whole is 1 µs faster than field by field."""

    next_view: int
    rows: int
    pair_rows: int
    drawn: int
    rows_needed: int
    lists_needed: int


class Work(Struct):
    """Maps and lists of the current tile, scratch, and the rows of all views."""

    search: One[Search]
    maps: Rows[float64]  # MAPS of size × size numbers
    counts: Rows[uint8]  # COUNTS of these
    firsts: Rows[int64]  # where the lists of each pixel begin: size * size + 2 of A, then of B
    depths: Rows[float64]  # crossings, or where ranges begin: those of A, then those of B
    ends: Rows[float64]  # where ranges end
    labels: Rows[int32]
    scratch: Rows[float64]
    row_view: Rows[int32]
    row_pixel: Rows[int32]
    row_low: Rows[float64]
    row_high: Rows[float64]


open_work = opener(Work)
_PLACES = {field.name: place for place, field in enumerate(Work.layout)}
_ROWS = ("row_view", "row_pixel", "row_low", "row_high")
_ASKED = len(Search.dtype.names or ()) - len(Standing._fields)  # fields before those of `Standing`


class DrawnPair(NamedTuple):
    """Two bodies in one tile."""

    a: DrawnBody
    b: DrawnBody
    slack: Slack
    both_convex: bool


class Workspace:
    """The arrays of one thread, for tiles of up to size × size pixels."""

    def __init__(self, size: int = 1, lists: int = 1024) -> None:
        row = np.empty((2, 64), np.int32), np.empty((2, 64))
        self._hold(
            Work.table(
                search=np.zeros(1, Search.dtype), scratch=scratch_for_drawing(), **_maps_of(size), **_lists_of(lists),
                row_view=row[0][0], row_pixel=row[0][1], row_low=row[1][0], row_high=row[1][1],
            )
        )  # fmt: skip

    def _hold(self, table: AddressTable) -> None:
        """Take a table and look up once what every search reads."""
        arrays = {name: table.array(0, place) for name, place in _PLACES.items()}
        numbers = arrays["maps"].size + 2 * arrays["row_low"].size + 2 * arrays["depths"].size
        addresses: Addresses = table.table[0]
        self._table, self._arrays, self._search = table, arrays, arrays["search"]
        self.addresses = addresses  # what kernels take: `open_work(addresses)`; it does not keep the arrays alive
        self.numbers = numbers  # how many it holds

    def array(self, name: str) -> NDArray[Any]:
        """Return an array by the name of its field."""
        return self._arrays[name]

    @property
    def search(self) -> Search:
        """The search, to read and write field by field."""
        return Search(self._search[0])

    def begin(self, test: int, row_mode: int, quick: bool, first: int, last: int) -> None:
        """Start a search of views first … last-1; one assignment saves 2 µs."""
        self._search[0] = (test, row_mode, quick, last, first, 0, 0, 0, 0, 0)

    def standing(self) -> Standing:
        """Return where the search stands."""
        return Standing(*self._search.item()[_ASKED:])

    def rows(self, count: int) -> list[NDArray[Any]]:
        """Return copies of the first rows: view, pixel, low and high."""
        return [self._arrays[name][:count].copy() for name in _ROWS]

    def fit(self, size: int) -> None:
        """Make room for tiles of size × size pixels."""
        if MAPS * size * size > self._arrays["maps"].size:
            self._replace(**_maps_of(size))

    def grow(self) -> Standing:
        """Grow lists and rows to the requested sizes; return where the search is."""
        search, lists, room = self.standing(), len(self._arrays["depths"]), len(self._arrays["row_view"])
        if search.lists_needed > lists:
            self._replace(**_lists_of(max(search.lists_needed, 2 * lists)))
        if search.rows_needed > room:
            most, columns = max(search.rows_needed, 2 * room), {}
            for name, kept in zip(_ROWS, self.rows(search.rows), strict=True):
                columns[name] = np.empty(most, kept.dtype)
                columns[name][: search.rows] = kept
            self._replace(**columns)
        return search

    def _replace(self, **arrays: NDArray[Any]) -> None:
        self._hold(self._table.with_arrays(0, Work.places(**arrays)))


def _maps_of(size: int) -> dict[str, NDArray[Any]]:
    pixels = size * size
    maps, counts = np.empty(MAPS * pixels), np.empty(COUNTS * pixels, np.uint8)
    return {"maps": maps, "counts": counts, "firsts": np.empty(2 * pixels + 4, np.int64)}


def _lists_of(count: int) -> dict[str, NDArray[Any]]:
    return {"depths": np.empty(count), "ends": np.empty(count), "labels": np.empty(count, np.int32)}


@kernel(forceinline=True)
def depth_map(work: Work, which: int, size: int) -> Floats:
    """Return map LOW, HIGH, NEAR or FAR (size, size)."""
    maps: Any = work.maps
    found: Floats = maps[which * size * size : (which + 1) * size * size].reshape((size, size))
    return found


@kernel(forceinline=True)
def count_map(work: Work, which: int, size: int) -> Bytes:
    """Return map MASK or OTHER (size, size)."""
    counts: Any = work.counts
    found: Bytes = counts[which * size * size : (which + 1) * size * size].reshape((size, size))
    return found


@kernel
def fill_map(values: Floats, value: float) -> None:
    """Set all of values (size, size)."""
    for j in range(values.shape[0]):
        for i in range(values.shape[1]):
            values[j, i] = value


@kernel
def mask_meeting_depths(low: Floats, high: Floats, mask: Bytes) -> None:
    """Set mask (size, size) where low <= high."""
    for j in range(mask.shape[0]):
        for i in range(mask.shape[1]):
            mask[j, i] = low[j, i] <= high[j, i]


@kernel
def meet_maps(work: Work, size: int) -> int:
    """Cut LOW … HIGH to NEAR … FAR at each pixel; return how many keep some depths."""
    low, high = depth_map(work, LOW, size), depth_map(work, HIGH, size)
    near, far = depth_map(work, NEAR, size), depth_map(work, FAR, size)
    count = 0
    for j in range(size):
        for i in range(size):
            low[j, i] = max(low[j, i], near[j, i])
            high[j, i] = min(high[j, i], far[j, i])
            count += low[j, i] <= high[j, i]
    return count

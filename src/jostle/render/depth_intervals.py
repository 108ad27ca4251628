"""Intervals inside a body along the ray of a pixel, and those two bodies share.

A list has, pixel by pixel, the sorted crossings of a body's surface with the ray through the centre (`depth_layers.py`),
or the sorted ranges of its faces over the whole pixel (`depth_ranges.py`). Intervals are closed: bodies that share a
single depth meet.
"""

from __future__ import annotations

from typing import NamedTuple

from jostle._types import Floats, Ints, Longs
from jostle.kernels.jit import kernel


class DepthList(NamedTuple):
    """Crossings or ranges of pixels: pixel p has the rows first[p] … first[p + 1].

    Crossings have the same array for `low` and `high`.
    """

    first: Longs  # (size * size + 2,)
    low: Floats  # (n,)
    high: Floats  # (n,)
    label: Ints  # (n,) see `depth_layers.py` and `depth_ranges.py`


class CommonInterval(NamedTuple):
    """Rows of two lists where their common interval begins and ends, or all -1.

    The common depths run from the greater `low` of the two first rows to the smaller `high` of the two last ones.
    """

    in_a: int
    out_a: int
    in_b: int
    out_b: int


@kernel
def next_inside(label: Ints, begin: int, end: int) -> tuple[int, int]:
    """Return where the first interval of crossings begin … end is entered and left.

    end, end if there is none.
    """
    winding = 0
    for i in range(begin, end):
        winding += 1 if label[i] > 0 else -1
        if winding == 0:
            return begin, i
    return (begin, end - 1) if begin < end else (end, end)


@kernel(forceinline=True)
def face_of_range(label: int) -> int:
    """Return the face of a range, in the order of the patches."""
    return label >> 2


@kernel(forceinline=True)
def sign_of_range(label: int) -> int:
    """Return the sign of a face's crossing with the ray of the centre, 0 without one."""
    return (label & 3) - 1


@kernel
def next_possible(low: Floats, high: Floats, label: Ints, begin: int, end: int) -> tuple[int, int, int]:
    """Return first and last range of the next possible interval, and the one after.

    end, end, end if the sorted ranges begin … end have none.
    """
    if begin >= end:
        return end, end, end
    last, winding, i = begin, sign_of_range(label[begin]), begin + 1
    while i < end and (winding != 0 or low[i] <= high[last]):
        winding += sign_of_range(label[i])
        if high[i] > high[last]:
            last = i
        i += 1
    return begin, last, i


@kernel(forceinline=True)
def next_interval(depths: DepthList, begin: int, end: int, ranges: bool) -> tuple[int, int, int]:
    """Return the first and last row of the next interval inside, and the row after it."""
    if ranges:
        return next_possible(depths.low, depths.high, depths.label, begin, end)
    entered, left = next_inside(depths.label, begin, end)
    return entered, left, left + 1


@kernel(forceinline=True)
def intervals_meet(a: DepthList, b: DepthList, pixel: int, ranges: bool, longest: bool) -> CommonInterval:
    """Return the first interval that two bodies share at a pixel, or the longest one."""
    low_a, high_a, low_b, high_b = a.low, a.high, b.low, b.high
    end_a, end_b = a.first[pixel + 1], b.first[pixel + 1]
    in_a, out_a, next_a = next_interval(a, a.first[pixel], end_a, ranges)
    in_b, out_b, next_b = next_interval(b, b.first[pixel], end_b, ranges)
    best, found = -1.0, CommonInterval(-1, -1, -1, -1)
    while in_a < end_a and in_b < end_b:
        length = min(high_a[out_a], high_b[out_b]) - max(low_a[in_a], low_b[in_b])
        if length > best and length >= 0.0:
            best, found = length, CommonInterval(in_a, out_a, in_b, out_b)
            if not longest:
                return found
        if high_a[out_a] <= high_b[out_b]:
            in_a, out_a, next_a = next_interval(a, next_a, end_a, ranges)
        else:
            in_b, out_b, next_b = next_interval(b, next_b, end_b, ranges)
    return found

"""In-place sorts of short lists in kernels: insertion, or Shell with Knuth's gaps.

| kernel | sorts | rows with equal keys |
|---|---|---|
| `sort_keys` | keys alone | cannot be told apart |
| `sort_with_values` | keys, and values along with them | stay in order up to `INSERTION_SORTED` rows |
| `sort_by_two_keys` | two columns, by the first and then the second | are equal rows |
| `sort_by_three_keys` | three columns likewise | are equal rows |

The forms are written out: a comparison as an argument would be part of a kernel's signature. Keys are compared by `>`: none is NaN.
For dozens to hundreds of rows; NumPy takes a tenth of the time for thousands.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from jostle.kernels.jit import kernel
from jostle.kernels.structs import Rows

INSERTION_SORTED = 24  # rows up to which insertion alone is the fastest

Column = NDArray[Any] | Rows[Any]


@kernel(forceinline=True)
def first_gap(count: int) -> int:
    """Return the first gap for so many rows; the next ones are a third, down to 1."""
    gap = 1
    while count > INSERTION_SORTED and 3 * gap + 1 < count:
        gap = 3 * gap + 1
    return gap


@kernel
def sort_keys(keys: Column, begin: int, end: int) -> None:
    """Sort keys begin … end - 1."""
    gap = first_gap(end - begin)
    while gap > 0:
        for i in range(begin + gap, end):
            key, to = keys[i], i
            while to - gap >= begin and keys[to - gap] > key:
                keys[to] = keys[to - gap]
                to -= gap
            keys[to] = key
        gap //= 3


@kernel(forceinline=True)
def sort_with_values(keys: Column, values: Column, begin: int, end: int) -> None:
    """Sort rows begin … end - 1 by their keys, moving their values along."""
    gap = first_gap(end - begin)
    while gap > 0:
        for i in range(begin + gap, end):
            key, value, to = keys[i], values[i], i
            while to - gap >= begin and keys[to - gap] > key:
                keys[to], values[to] = keys[to - gap], values[to - gap]
                to -= gap
            keys[to], values[to] = key, value
        gap //= 3


@kernel
def sort_by_two_keys(first: Column, second: Column, begin: int, end: int) -> None:
    """Sort rows begin … end - 1 by (first, second)."""
    gap = first_gap(end - begin)
    while gap > 0:
        for i in range(begin + gap, end):
            a, b, to = first[i], second[i], i
            while to - gap >= begin and (first[to - gap] > a or (first[to - gap] == a and second[to - gap] > b)):
                first[to], second[to] = first[to - gap], second[to - gap]
                to -= gap
            first[to], second[to] = a, b
        gap //= 3


@kernel
def sort_by_three_keys(first: Column, second: Column, third: Column, begin: int, end: int) -> None:
    """Sort rows begin … end - 1 by (first, second, third)."""
    gap = first_gap(end - begin)
    while gap > 0:
        for i in range(begin + gap, end):
            a, b, c, to = first[i], second[i], third[i], i
            while to - gap >= begin and comes_later(first[to - gap], second[to - gap], third[to - gap], (a, b, c)):
                first[to], second[to], third[to] = first[to - gap], second[to - gap], third[to - gap]
                to -= gap
            first[to], second[to], third[to] = a, b, c
        gap //= 3


@kernel(forceinline=True)
def comes_later(first: Any, second: Any, third: Any, row: tuple[Any, Any, Any]) -> bool:
    """Return whether three keys come after those of a row."""
    if first != row[0]:
        return first > row[0]
    if second != row[1]:
        return second > row[1]
    return third > row[2]

"""Hash sets in kernels: open addressing with linear probing, power-of-two size.

| keys | table | a place is free where | look-up |
|---|---|---|---|
| one word, 0 or more | int64 | it has `EMPTY` | `place_of_key` |
| two words | `KeyRow` | its stamp is another | `find_key` |

The stamp of two words is the upper half of the first: a new stamp empties a table at once. Sets without stamps use 0, and `EMPTY`
in both words of free places. A look-up ends at its key or at a free place, so a table is never full: Python doubles it when it is
half full, and enters the keys again, in pieces. Only the places depend on the order of insertion. Tables that hold something else,
such as rows of another array, begin at `first_place` of their keys.
"""

from __future__ import annotations

from typing import Any

from jostle._types import Longs
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Record, Rows, int64

EMPTY = -1
HALF_WORD = 32
LOWER_HALF = (1 << HALF_WORD) - 1


class KeyRow(Record):
    """A key of two words; the upper half of the first is its stamp."""

    first: int64
    second: int64


# Halves of words times primes below 2^27: nothing overflows, with a compiler or without one.
@kernel(forceinline=True)
def mixed(word: int) -> int:
    """Return a number that mixes the two halves of a word."""
    return ((word >> HALF_WORD) * 73856093) ^ ((word & LOWER_HALF) * 19349663)


@kernel(forceinline=True)
def mixed_otherwise(word: int) -> int:
    """Return another mix, for the second of two words."""
    return ((word >> HALF_WORD) * 49979687) ^ ((word & LOWER_HALF) * 83492791)


@kernel(forceinline=True)
def folded(number: int, places: int) -> int:
    """Return a place for a mixed number: its lowest bits, and some above them."""
    return (number ^ (number >> 17)) & (places - 1)


@kernel(forceinline=True)
def first_place(first: int, second: int, places: int) -> int:
    """Return where a look-up of two words begins."""
    return folded(mixed_otherwise(first) ^ mixed(second), places)


@kernel
def place_of_key(table: Any, key: int) -> int:
    """Return the place of a key of one word, or the free place for it."""
    places = len(table)
    place = folded(mixed(key), places)
    while table[place] != EMPTY and table[place] != key:
        place = (place + 1) & (places - 1)
    return place


@kernel
def enter_keys(keys: Longs, begin: int, end: int, table: Longs) -> None:
    """Enter keys begin … end - 1 of one word into a table."""
    for k in range(begin, end):
        table[place_of_key(table, keys[k])] = keys[k]


@kernel
def find_key(table: Rows[KeyRow], first: int, second: int) -> tuple[int, bool]:
    """Return the place of a key of two words, or a free one, and whether it is there."""
    places, stamp = len(table), first >> HALF_WORD
    place = first_place(first, second, places)
    while table[place].first >> HALF_WORD == stamp:
        if table[place].second == second and table[place].first == first:
            return place, True
        place = (place + 1) & (places - 1)
    return place, False


@kernel(forceinline=True)
def write_key(table: Rows[KeyRow], place: int, first: int, second: int) -> None:
    """Write a key to the free place that `find_key` returned."""
    table[place].first, table[place].second = first, second


@kernel(forceinline=True)
def enter_again(old: Rows[KeyRow], at: int, table: Rows[KeyRow], stamp: int) -> int:
    """Enter the key at a place of an old table; return its place.

    `EMPTY` if there is none with this stamp.
    """
    first, second = old[at].first, old[at].second
    if first >> HALF_WORD != stamp:
        return EMPTY
    place, _ = find_key(table, first, second)
    write_key(table, place, first, second)
    return place

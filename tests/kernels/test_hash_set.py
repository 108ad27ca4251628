"""Hash sets against Python's: collisions, one free place, growth, stamps."""

import numpy as np
import pytest

from jostle.kernels.buffers import pieces
from jostle.kernels.hash_set import (
    EMPTY,
    HALF_WORD,
    KeyRow,
    enter_again,
    enter_keys,
    find_key,
    first_place,
    place_of_key,
    write_key,
)
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Rows, Struct, opener

pytestmark = pytest.mark.small

LARGEST = 2**63 - 1


class Table(Struct):
    keys: Rows[KeyRow]


open_table = opener(Table)


@kernel
def add_key(addresses, first, second):
    """Enter a key of two words; return its place and whether it was there."""
    table = open_table(addresses)
    place, is_known = find_key(table.keys, first, second)
    if not is_known:
        write_key(table.keys, place, first, second)
    return place, is_known


@kernel
def add_again(old_addresses, addresses, stamp):
    """Enter all keys of a table with a stamp into another; return how many."""
    old, table, count = open_table(old_addresses), open_table(addresses), 0
    for at in range(len(old.keys)):
        count += int(enter_again(old.keys, at, table.keys, stamp) != EMPTY)
    return count


def empty_table(places):
    return Table.table(keys=np.full(2 * places, EMPTY).view(KeyRow.dtype))


def words(table):
    """The words (places, 2) of a table."""
    return table.array(0, 0).view(np.int64).reshape(-1, 2)


def add_one_word(table, key):
    place = place_of_key(table, key)
    is_known = table[place] == key
    assert is_known or table[place] == EMPTY
    table[place] = key
    return bool(is_known)


def colliding_words(count, places=64):
    """Keys of one word that all begin at the same place."""
    table = np.full(places, EMPTY)
    wanted = place_of_key(table, 5)
    keys = [key for key in range(200_000) if place_of_key(table, key) == wanted]
    assert len(keys) >= count
    return keys[:count]


KEYS = {
    "few": [3, 3, 0, 7, 0],
    "none": [],
    "random": np.random.default_rng(1).integers(0, LARGEST, 300).tolist() * 2,
    "in a row": [*range(200), *range(100, 300)],
    "halves exchanged": [a << HALF_WORD | b for a in range(15) for b in range(15)] * 2,
    "extreme": [0, LARGEST, LARGEST - 1, 2**32 - 1, 2**32, 2**62, 0, LARGEST],
}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_of_one_word_is_new_once(name):
    table, seen = np.full(1024, EMPTY), set()
    for key in KEYS[name]:
        assert add_one_word(table, key) == (key in seen)
        seen.add(key)
    assert set(table.tolist()) - {EMPTY} == seen
    assert all(table[place_of_key(table, key)] == key for key in seen)


@pytest.mark.parametrize("name", KEYS)
def test_a_key_of_two_words_is_new_once(name):
    table, seen = empty_table(2048), {}
    for key in KEYS[name]:
        for first in (0, key & 3):
            place, is_known = add_key(table.table[0], first, key)
            assert is_known == ((first, key) in seen)
            assert seen.setdefault((first, key), place) == place  # a key stays where it is
    rows = words(table)
    assert {tuple(row) for row in rows.tolist()} - {(EMPTY, EMPTY)} == set(seen)
    assert all(tuple(rows[place].tolist()) == key for key, place in seen.items())


def test_keys_that_collide_are_told_apart():
    keys = colliding_words(20)
    table = np.full(64, EMPTY)
    assert not any(add_one_word(table, key) for key in keys)
    assert all(add_one_word(table, key) for key in keys)
    begin = place_of_key(np.full(64, EMPTY), keys[0])
    assert [place_of_key(table, key) for key in keys] == [(begin + k) % 64 for k in range(len(keys))]


def test_two_words_that_collide_are_told_apart():
    wanted = first_place(0, 5, 64)
    keys = [(first, second) for first in range(40) for second in range(100) if first_place(first, second, 64) == wanted][:30]
    assert len(keys) == 30
    table = empty_table(64)
    assert [add_key(table.table[0], *key) for key in keys] == [((wanted + k) % 64, False) for k in range(30)]
    assert [add_key(table.table[0], *key) for key in keys] == [((wanted + k) % 64, True) for k in range(30)]
    # Equal second words, and first words that differ.
    assert [add_key(table.table[0], first, 9)[1] for first in (50, 51, 50)] == [False, False, True]


def test_the_last_place_is_followed_by_the_first():
    key = next(key for key in range(1000) if place_of_key(np.full(8, EMPTY), key) == 7)
    other = next(other for other in range(key + 1, 1000) if place_of_key(np.full(8, EMPTY), other) == 7)
    table = np.full(8, EMPTY)
    table[7] = key
    assert place_of_key(table, other) == 0
    assert place_of_key(table, key) == 7


def test_one_free_place_is_enough():
    table = np.full(16, EMPTY)
    assert not any(add_one_word(table, key) for key in range(15))
    free = int(np.flatnonzero(table == EMPTY)[0])
    assert {place_of_key(table, key) for key in range(15, 200)} == {free}
    assert all(table[place_of_key(table, key)] == key for key in range(15))
    two = empty_table(16)
    assert not any(add_key(two.table[0], 1, key)[1] for key in range(15))
    rows = words(two)
    free = int(np.flatnonzero(rows[:, 0] == EMPTY)[0])
    assert rows[free].tolist() == [EMPTY, EMPTY]
    assert all(add_key(two.table[0], 1, key)[1] for key in range(15))
    assert add_key(two.table[0], 1, 99) == (free, False)


@pytest.mark.parametrize("count", [0, 1, 100])
def test_tables_of_one_word_grow(count):
    keys = np.random.default_rng(count).permutation(10 * count)[:count] + 2**40
    larger = np.full(256, EMPTY)
    for begin, end in pieces(count):
        enter_keys(keys, begin, end, larger)
    assert set(larger.tolist()) - {EMPTY} == set(keys.tolist())
    assert all(larger[place_of_key(larger, key)] == key for key in keys.tolist())
    assert larger[place_of_key(larger, 1)] == EMPTY


@pytest.mark.parametrize("stamp", [0, 1, 2**31 - 1])
def test_tables_of_two_words_grow_and_keep_what_has_the_stamp(stamp):
    table, larger = empty_table(64), empty_table(128)
    kept = {(stamp << HALF_WORD | k % 5, k) for k in range(20)}
    for k in range(30):
        add_key(table.table[0], (stamp ^ 1) << HALF_WORD | 1, k)  # of another stamp: some are overwritten, none is kept
    for key in sorted(kept):
        add_key(table.table[0], *key)
    rows = {tuple(row) for row in words(table).tolist()}
    assert kept < rows - {(EMPTY, EMPTY)}
    assert add_again(table.table[0], larger.table[0], stamp) == len(kept)
    assert {tuple(row) for row in words(larger).tolist()} - {(EMPTY, EMPTY)} == kept
    assert all(add_key(larger.table[0], *key)[1] for key in kept)


def test_a_new_stamp_empties_a_table():
    table = empty_table(32)
    for stamp in range(1, 6):
        keys = [(stamp << HALF_WORD | k % 2, k) for k in range(20)]
        assert not any(add_key(table.table[0], *key)[1] for key in keys)
        assert all(add_key(table.table[0], *key)[1] for key in keys)


def test_negative_words_have_places():
    for first in (-1, -5, -(2**31), 3):
        for second in (-1, 7, -(2**62)):
            assert 0 <= first_place(first, second, 1024) < 1024

"""Sorts in kernels against NumPy's: any size, ties, every order, no other row moved."""

import numpy as np
import pytest

from jostle.kernels.sort import INSERTION_SORTED, first_gap, sort_by_three_keys, sort_by_two_keys, sort_keys, sort_with_values

pytestmark = pytest.mark.small

COUNTS = [0, 1, 2, 3, 9, 10, 11, INSERTION_SORTED, INSERTION_SORTED + 1, 40, 41, 300]
MARGIN = 2  # rows before and behind those that are sorted


def reversed_by_gaps(count):
    """Rows that every pass but the last finds in descending order, gap by gap."""
    keys = np.arange(count)[::-1].copy()
    gap = first_gap(count)
    return np.concatenate([keys[start::gap] for start in range(gap)]) if count else keys


ORDERS = {
    "shuffled": lambda count: np.random.default_rng(count).permutation(count),
    "sorted": np.arange,
    "reversed": lambda count: np.arange(count)[::-1],
    "equal": lambda count: np.full(count, 7),
    "many ties": lambda count: np.random.default_rng(count).integers(0, max(count // 3, 1), count),
    "two values": lambda count: np.arange(count) % 2,
    "organ pipe": lambda count: np.minimum(np.arange(count), np.arange(count)[::-1]),
    "reversed by gaps": reversed_by_gaps,
}
by_orders = pytest.mark.parametrize("order", ORDERS)
by_counts = pytest.mark.parametrize("count", COUNTS)


def column(order, count, dtype):
    """Keys in an order, between some that are not to be touched."""
    return np.concatenate([[99, -99], ORDERS[order](count), [-99, 99]]).astype(dtype)


def sorted_between(columns, order):
    """The columns with the rows between the margins in an order."""
    expected = [one.copy() for one in columns]
    for one, target in zip(columns, expected, strict=True):
        target[MARGIN:-MARGIN] = one[MARGIN:-MARGIN][order]
    return expected


def assert_equal(columns, expected):
    for one, other in zip(columns, expected, strict=True):
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


@by_orders
@by_counts
@pytest.mark.parametrize("dtype", [np.int64, np.int32])
def test_keys_are_sorted(order, count, dtype):
    keys = column(order, count, dtype)
    expected = keys.copy()
    expected[MARGIN:-MARGIN].sort()
    sort_keys(keys, MARGIN, MARGIN + count)
    assert_equal([keys], [expected])


@by_orders
@by_counts
def test_values_move_with_their_keys(order, count):
    keys, values = column(order, count, np.int64), np.arange(count + 2 * MARGIN, dtype=float)
    by_key = np.argsort(keys[MARGIN:-MARGIN], kind="stable")
    expected = sorted_between((keys, values), by_key)
    pairs = set(zip(keys.tolist(), values.tolist(), strict=True))
    sort_with_values(keys, values, MARGIN, MARGIN + count)
    if count <= INSERTION_SORTED:  # equal keys stay in order
        assert_equal((keys, values), expected)
    assert_equal([keys, values[:MARGIN], values[-MARGIN:]], [expected[0], expected[1][:MARGIN], expected[1][-MARGIN:]])
    assert set(zip(keys.tolist(), values.tolist(), strict=True)) == pairs


@by_orders
@by_counts
def test_rows_are_sorted_by_two_keys(order, count):
    first = column(order, count, np.float64)
    second = np.random.default_rng(count).integers(-9, 9, count + 2 * MARGIN).astype(np.int32)
    expected = sorted_between((first, second), np.lexsort((second[MARGIN:-MARGIN], first[MARGIN:-MARGIN])))
    sort_by_two_keys(first, second, MARGIN, MARGIN + count)
    assert_equal((first, second), expected)


@by_orders
@by_counts
def test_rows_are_sorted_by_three_keys(order, count):
    rng = np.random.default_rng(count)
    first, second = column(order, count, np.float64) // 3, rng.integers(0, 3, count + 2 * MARGIN).astype(float)
    third = rng.permutation(count + 2 * MARGIN).astype(np.int32)
    inside = slice(MARGIN, -MARGIN)
    expected = sorted_between((first, second, third), np.lexsort((third[inside], second[inside], first[inside])))
    sort_by_three_keys(first, second, third, MARGIN, MARGIN + count)
    assert_equal((first, second, third), expected)


def test_few_rows_are_sorted_by_insertion_and_gaps_of_many_stay_below_their_number():
    assert {first_gap(count) for count in range(INSERTION_SORTED + 1)} == {1}
    for count in range(INSERTION_SORTED + 1, 2000):
        gap = first_gap(count)
        assert gap < count <= 3 * (3 * gap + 1)
        while gap > 1:
            gap //= 3
        assert gap == 1


@pytest.mark.parametrize("keys", [[np.inf, 0.0, -np.inf, 1e308, -1e-320], [3.0, 3.0, -np.inf]])
def test_endless_keys_are_sorted(keys):
    keys, values = np.array(keys), np.arange(len(keys), dtype=np.int8)
    expected = np.sort(keys)
    order = np.argsort(keys, kind="stable")
    sort_with_values(keys, values, 0, len(keys))
    assert keys.tolist() == expected.tolist()
    assert values.tolist() == order.tolist()

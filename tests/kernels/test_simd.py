"""Eight float32 lanes against NumPy: random numbers, infinities, zeros and NaN."""

from __future__ import annotations

import numpy as np
import pytest

from jostle.kernels import simd
from jostle.kernels.jit import JIT_DISABLED, kernel
from jostle.kernels.simd import (
    bit_count,
    f32x8_abs,
    f32x8_add,
    f32x8_equal,
    f32x8_less,
    f32x8_less_equal,
    f32x8_load,
    f32x8_max,
    f32x8_min,
    f32x8_mul,
    f32x8_multiply_add,
    f32x8_of,
    f32x8_overlap,
    f32x8_splat,
    f32x8_store,
    f32x8_sub,
    f32x8_transpose,
    f64x8_load,
    lowest_bit,
    without_lowest_bit,
)

pytestmark = pytest.mark.small

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-40, 3e38, -3e38], dtype=np.float32)


@kernel
def arithmetic(a, b, c, start, x, out):
    """Write eight rows of results to out (64,), from lanes at `start` of a, b, c."""
    va, vb, vc = f32x8_load(a, start), f32x8_load(b, start), f32x8_load(c, start)
    f32x8_store(out, 0, f32x8_add(va, vb))
    f32x8_store(out, 8, f32x8_sub(va, vb))
    f32x8_store(out, 16, f32x8_mul(va, vb))
    f32x8_store(out, 24, f32x8_min(va, vb))
    f32x8_store(out, 32, f32x8_max(va, vb))
    f32x8_store(out, 40, f32x8_abs(va))
    f32x8_store(out, 48, f32x8_splat(x))
    f32x8_store(out, 56, f32x8_multiply_add(va, vb, vc))


@kernel
def comparisons(a, b, start, masks):
    """Write three masks."""
    va, vb = f32x8_load(a, start), f32x8_load(b, start)
    masks[0] = f32x8_less(va, vb)
    masks[1] = f32x8_less_equal(va, vb)
    masks[2] = f32x8_equal(va, vb)


@kernel
def boxes_met(boxes, lower, upper, found):
    """Write the lanes of boxes (48,) that meet the box lower (3,) to upper (3,).

    Returns how many, counted and listed.
    """
    mask = f32x8_overlap(
        f32x8_load(boxes, 0), f32x8_load(boxes, 8), f32x8_load(boxes, 16),
        f32x8_load(boxes, 24), f32x8_load(boxes, 32), f32x8_load(boxes, 40),
        f32x8_splat(lower[0]), f32x8_splat(lower[1]), f32x8_splat(lower[2]),
        f32x8_splat(upper[0]), f32x8_splat(upper[1]), f32x8_splat(upper[2]),
    )  # fmt: skip
    count = bit_count(mask)
    listed = 0
    while mask != 0:
        found[listed] = lowest_bit(mask)
        listed += 1
        mask = without_lowest_bit(mask)
    return count, listed


@kernel
def transposed(rows, out):
    """Write the transpose of rows (64,) to out (64,)."""
    columns = f32x8_transpose(
        f32x8_load(rows, 0), f32x8_load(rows, 8), f32x8_load(rows, 16), f32x8_load(rows, 24),
        f32x8_load(rows, 32), f32x8_load(rows, 40), f32x8_load(rows, 48), f32x8_load(rows, 56),
    )  # fmt: skip
    for k in range(8):
        f32x8_store(out, 8 * k, columns[k])


@kernel
def numbers_as_lanes(v, out):
    """Write eight float64 as lanes."""
    f32x8_store(out, 0, f32x8_of(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]))


@kernel
def bits_of(mask):
    return lowest_bit(mask), without_lowest_bit(mask), bit_count(mask)


def lanes(seed, special):
    rng = np.random.default_rng(seed)
    if special:
        return [rng.choice(SPECIAL, 19) for _ in range(3)]
    return [(rng.normal(size=19) * 10.0 ** rng.integers(-5, 6, 19)).astype(np.float32) for _ in range(3)]


def same_bits(x, y):
    """Equal bit for bit, any NaN being as good as any other."""
    x, y = np.asarray(x, np.float32), np.asarray(y, np.float32)
    return bool(np.all((x.view(np.uint32) == y.view(np.uint32)) | (np.isnan(x) & np.isnan(y))))


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_arithmetic_lane_for_lane(seed, special):
    a, b, c = lanes(seed, special)
    start = seed % 12  # loads need no alignment
    out = np.full(64, 77, np.float32)
    arithmetic(a, b, c, start, -1.1 * seed, out)
    x, y, z = (values[start : start + 8] for values in (a, b, c))
    with np.errstate(all="ignore"):
        expected = [
            x + y,
            x - y,
            x * y,
            np.where(x < y, x, y),
            np.where(x > y, x, y),
            np.abs(x),
            np.full(8, np.float32(-1.1 * seed)),
        ]
        product = x.astype(np.float64) * y  # exact: 24 bits times 24 bits
        twice_rounded = (x * y) + z
        once_rounded = (product + z).astype(np.float32)  # but for a second rounding in one case of 2^29
    for row, values in zip(out[:56].reshape(7, 8), expected, strict=True):
        assert same_bits(row, values)
    for one, once, twice in zip(out[56:], once_rounded, twice_rounded, strict=True):
        assert same_bits(one, once) or same_bits(one, twice)


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_comparisons_are_false_for_nan(seed, special):
    a, b, _ = lanes(seed, special)
    b[::3] = a[::3]
    masks = np.full(3, 999, np.uint32)
    comparisons(a, b, seed % 12, masks)
    for k in range(8):
        x, y = float(a[seed % 12 + k]), float(b[seed % 12 + k])
        assert [bool(mask & (1 << k)) for mask in masks.tolist()] == [x < y, x <= y, x == y]
    assert masks.max() < 256


@pytest.mark.parametrize("seed", range(30))
def test_boxes_on_a_small_grid_touching_included(seed):
    rng = np.random.default_rng(seed)
    corners = rng.integers(-4, 5, (2, 3, 8)).astype(np.float32)
    low, high = corners.min(axis=0), corners.max(axis=0)
    if seed % 3 == 0:
        low[:, 2], high[:, 2] = -np.inf, np.inf
        low[:, 5], high[:, 5] = np.inf, -np.inf  # an empty box, as padding is
        low[1, 6] = np.nan
    other = np.sort(rng.integers(-4, 5, (2, 3)), axis=0).astype(np.float32)
    found = np.full(8, -1)
    boxes = np.concatenate([low.ravel(), high.ravel()])
    counted, listed = boxes_met(boxes, other[0], other[1], found)
    truth = [
        k
        for k in range(8)
        if all(float(low[d, k]) <= float(other[1, d]) and float(other[0, d]) <= float(high[d, k]) for d in range(3))
    ]
    assert found[:listed].tolist() == truth
    assert counted == listed == len(truth)


def test_transposing_eight_vectors():
    rows, out = np.arange(64, dtype=np.float32), np.full(64, 77, np.float32)
    transposed(rows, out)
    assert out.tolist() == [8.0 * k + row for row in range(8) for k in range(8)]


def test_eight_numbers_are_rounded_to_nearest():
    numbers = np.array([0.1, -0.1, 0.0, 1.0 + 2.0**-24, 1.0 + 3 * 2.0**-24, 1e60, -np.inf, np.nan])
    out = np.full(8, 77, np.float32)
    numbers_as_lanes(numbers, out)
    expected = [13421773 / 2**27, -13421773 / 2**27, 0.0, 1.0, 1.0 + 2.0**-22, np.inf, -np.inf, np.nan]
    assert same_bits(out, expected)


@pytest.mark.parametrize("mask", [0, 1, 2, 3, 0x80, 0xFF, 0x80000000, 0xFFFFFFFF, 0x00F0])
def test_bits_of_masks(mask):
    lowest = next((k for k in range(32) if mask >> k & 1), 32)
    cleared = mask - (1 << lowest) if mask else 0
    assert [int(value) for value in bits_of(np.uint32(mask))] == [lowest, cleared, bin(mask).count("1")]


def test_arrays_that_do_not_fit_are_refused():
    masks = np.zeros(3, np.uint32)
    good = np.zeros(32, np.float32)
    for bad in (np.zeros(32), np.zeros((4, 8), np.float32), good[::2]):
        with pytest.raises((TypeError, Exception), match="flat C-contiguous float32"):
            comparisons(bad, good, 0, masks)
    sealed = np.zeros(64, np.float32)
    sealed.flags.writeable = False
    with pytest.raises(Exception, match=r"writable|read-only"):
        arithmetic(good, good, good, 0, 0.0, sealed)


def test_every_name_has_an_intrinsic():
    names = [
        name for name in vars(simd) if name.startswith(("f32x8_", "f64x8_")) or "_bit" in name or name in ("bit_count", "prefetch")
    ]
    assert len(names) == 33
    if not JIT_DISABLED:
        assert [getattr(simd, name).compiled.__name__ for name in names] == names


def test_vectors_of_two_types_do_not_mix():
    @kernel
    def mixed(a, b, out):
        f32x8_store(out, 0, f32x8_add(f32x8_load(a, 0), f64x8_load(b, 0)))

    if not JIT_DISABLED:
        with pytest.raises(Exception, match="this takes f32x8, not f64x8"):
            mixed(np.zeros(8, np.float32), np.zeros(8), np.zeros(8, np.float32))


def test_called_from_python_a_load_sees_the_end_of_an_array():
    for index in (1, -1, 9):
        with pytest.raises(IndexError, match="pad it"):
            f32x8_load(np.zeros(8, np.float32), index)

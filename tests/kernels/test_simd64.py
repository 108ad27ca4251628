"""Eight float64 lanes against NumPy, bit for bit, special values included."""

from __future__ import annotations

import numpy as np
import pytest

from jostle.kernels.jit import kernel
from jostle.kernels.simd import (
    f32x8_store,
    f64x8_abs,
    f64x8_add,
    f64x8_flushed,
    f64x8_gather,
    f64x8_load,
    f64x8_max,
    f64x8_min,
    f64x8_mul,
    f64x8_splat,
    f64x8_sqrt,
    f64x8_store,
    f64x8_sub,
    f64x8_to_f32x8,
    prefetch,
)

pytestmark = pytest.mark.small

SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e-310, -1e-31, 1e308, -1e308])


@kernel
def arithmetic(a, b, start, x, out, narrow):
    """Write nine rows to out (72,) and one to narrow (8,), from lanes at `start`."""
    va, vb = f64x8_load(a, start), f64x8_load(b, start)
    prefetch(a, start)
    f64x8_store(out, 0, f64x8_add(va, vb))
    f64x8_store(out, 8, f64x8_sub(va, vb))
    f64x8_store(out, 16, f64x8_mul(va, vb))
    f64x8_store(out, 24, f64x8_min(va, vb))
    f64x8_store(out, 32, f64x8_max(va, vb))
    f64x8_store(out, 40, f64x8_abs(va))
    f64x8_store(out, 48, f64x8_splat(x))
    f64x8_store(out, 56, f64x8_sqrt(f64x8_abs(vb)))
    f64x8_store(out, 64, f64x8_flushed(va, f64x8_splat(x)))
    f32x8_store(narrow, 0, f64x8_to_f32x8(va))


@kernel
def gathered(array, at, offset, out):
    """Write array[at + offset] to out (8,)."""
    f64x8_store(out, 0, f64x8_gather(array, (at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7]), offset))


def same_bits(x, y):
    """Equal bit for bit, any NaN being as good as any other."""
    whole = f"u{x.dtype.itemsize}"
    return bool(((x.view(whole) == y.view(whole)) | (np.isnan(x) & np.isnan(y))).all())


@pytest.mark.parametrize("seed", range(6))
def test_every_operation_rounds_as_numpy_does(seed):
    rng = np.random.default_rng(seed)
    if seed % 2:
        a, b = rng.choice(SPECIAL, 19), rng.choice(SPECIAL, 19)
    else:
        a, b = (rng.normal(size=19) * 10.0 ** rng.integers(-40, 40, 19) for _ in range(2))
    start, x = seed, 1e-30
    out, narrow = np.empty(72), np.empty(8, np.float32)
    arithmetic(a, b, start, x, out, narrow)
    p, q = a[start : start + 8], b[start : start + 8]
    with np.errstate(all="ignore"):
        expected = [
            p + q,
            p - q,
            p * q,
            np.where(p < q, p, q),
            np.where(p > q, p, q),
            np.abs(p),
            np.full(8, x),
            np.sqrt(np.abs(q)),
            np.where(np.abs(p) >= x, p, 0.0),
        ]
        assert same_bits(narrow, p.astype(np.float32))
    for row, values in enumerate(expected):
        assert same_bits(out[8 * row : 8 * row + 8], values), row


def test_gather_takes_one_number_for_each_lane():
    rng = np.random.default_rng(1)
    array, at, out = rng.normal(size=100), rng.integers(0, 90, 8), np.empty(8)
    for offset in range(3):
        gathered(array, at, offset, out)
        assert same_bits(out, array[at + offset])


def test_the_plain_twin_refuses_what_passes_the_end():
    array = np.zeros(10)
    with pytest.raises(IndexError):
        f64x8_load(array, 3)
    with pytest.raises(IndexError):
        f64x8_store(array, -1, np.zeros(8))
    with pytest.raises(IndexError):
        f64x8_gather(array, (0, 1, 2, 3, 4, 5, 6, 8), 2)
    with pytest.raises(TypeError):
        f64x8_load(array.astype(np.float32), 0)

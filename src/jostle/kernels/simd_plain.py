"""The plain NumPy twin of `simd_compiled.py`.

A vector is an array of shape (8,), of float32 or float64. Results equal those of the intrinsics, lane for lane, except that
`f32x8_multiply_add` always rounds twice: compare decisions between the two, not bits. A load or store past the end of its array,
which the intrinsics cannot see, raises here.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Singles
from jostle.kernels.numbers import Real, Whole

Element = TypeVar("Element", np.float32, np.float64)
Lanes = TypeVar("Lanes", Singles, Floats)


def loaded(dtype: type[Element], array: Any, index: Whole) -> NDArray[Element]:
    """Return a copy of array[index : index + 8]."""
    _require_inside(dtype, array, index)
    found: NDArray[Element] = array[index : index + 8].copy()
    return found


def store(dtype: type[Element], array: Any, index: Whole, a: NDArray[Element]) -> None:
    """Write eight lanes to array[index : index + 8]."""
    _require_inside(dtype, array, index)
    array[index : index + 8] = a


def _require_inside(dtype: type, array: NDArray[Any], index: Whole) -> None:
    if array.dtype != dtype or array.ndim != 1 or not array.flags.c_contiguous:
        raise TypeError(f"eight lanes of {np.dtype(dtype)} need a flat C-contiguous {np.dtype(dtype)} array")
    if index < 0 or index + 8 > len(array):
        raise IndexError(f"eight lanes at {index} pass the end of an array of {len(array)}; pad it")


def in_all_lanes(dtype: type[Element], value: Real) -> NDArray[Element]:
    """Return one number in all lanes."""
    with np.errstate(all="ignore"):
        return np.full(8, value).astype(dtype)


def f32x8_of(*values: Real) -> Singles:
    """Return eight numbers as lanes."""
    with np.errstate(all="ignore"):
        return np.array(values, np.float64).astype(np.float32)


def f64x8_gather(array: Any, at: tuple[Whole, ...], offset: Whole) -> Floats:
    """Return array[at[k] + offset] in lane k."""
    indices = np.array([int(index) + int(offset) for index in at])
    if indices.min() < 0:
        raise IndexError(f"a gather at {indices.min()} is before the array")
    found: Floats = array[indices]
    return found


def f64x8_to_f32x8(a: Floats) -> Singles:
    """Return the lanes rounded to float32."""
    with np.errstate(all="ignore"):
        return a.astype(np.float32)


def added(a: Lanes, b: Lanes) -> Lanes:
    """Return a + b."""
    with np.errstate(all="ignore"):
        return a + b


def subtracted(a: Lanes, b: Lanes) -> Lanes:
    """Return a - b."""
    with np.errstate(all="ignore"):
        return a - b


def multiplied(a: Lanes, b: Lanes) -> Lanes:
    """Return a * b."""
    with np.errstate(all="ignore"):
        return a * b


def minimum(a: Lanes, b: Lanes) -> Lanes:
    """Return a where a < b, else b."""
    return np.where(a < b, a, b)


def maximum(a: Lanes, b: Lanes) -> Lanes:
    """Return a where a > b, else b."""
    return np.where(a > b, a, b)


def absolute(a: Lanes) -> Lanes:
    """Return |a|."""
    return np.abs(a)


def f32x8_multiply_add(a: Singles, b: Singles, c: Singles) -> Singles:
    """Return a * b + c."""
    with np.errstate(all="ignore"):
        return a * b + c


def f64x8_sqrt(a: Floats) -> Floats:
    """Return the square root."""
    with np.errstate(all="ignore"):
        return np.sqrt(a)


def f64x8_flushed(a: Floats, smallest: Floats) -> Floats:
    """Return a where |a| >= smallest, else +0 (also where a is NaN)."""
    return np.where(np.abs(a) >= smallest, a, 0.0)


def _as_mask(truths: NDArray[np.bool_]) -> np.uint32:
    return np.uint32(np.packbits(truths, bitorder="little")[0])


def f32x8_less(a: Singles, b: Singles) -> np.uint32:
    """Return the mask of a < b."""
    return _as_mask(a < b)


def f32x8_less_equal(a: Singles, b: Singles) -> np.uint32:
    """Return the mask of a <= b."""
    return _as_mask(a <= b)


def f32x8_equal(a: Singles, b: Singles) -> np.uint32:
    """Return the mask of a == b."""
    return _as_mask(a == b)


def f32x8_overlap(*boxes: Singles) -> np.uint32:
    """Return the mask of closed boxes that overlap.

    Lower and upper of one (six vectors), then of the other.
    """
    lower, upper, other_lower, other_upper = (np.stack(boxes[k : k + 3]) for k in (0, 3, 6, 9))
    meet: Any = (lower <= other_upper) & (other_lower <= upper)
    return _as_mask(meet.all(axis=0))


def f32x8_transpose(*rows: Singles) -> tuple[Singles, ...]:
    """Return eight vectors: first lane 0 of the eight given, last lane 7 of them."""
    return tuple(np.stack(rows).T.copy())


def lowest_bit(mask: Whole) -> int:
    """Return the index of the lowest set bit of a uint32; 32 if there is none."""
    bits = int(mask)
    return (bits & -bits).bit_length() - 1 if bits else 32


def without_lowest_bit(mask: Whole) -> np.uint32:
    """Return a uint32 with its lowest set bit cleared."""
    bits = int(mask)
    return np.uint32(bits & (bits - 1))


def bit_count(mask: Whole) -> int:
    """Return how many bits of a uint32 are set."""
    return int(mask).bit_count()


def prefetch(array: NDArray[Any], index: Whole) -> None:
    """Do nothing."""

"""Determinants of many quadruples of points, with the bytes of `geometry/predicates.py`.

`signs.py` has signs only, by other arithmetic. Here the value counts: the same operations in the same order, and where float64 is
too coarse the same digits, of 30 bits in int64 columns or, row by row, of 28 bits in Python's integers.

A point is an array (3, n): its coordinates in n questions.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from jostle._types import Floats, Longs
from jostle.geometry.predicates import (
    ACCURATE,
    DIGIT,
    DIGIT_BASE,
    DIGIT_MASK,
    FILTER_3D,
    LEADING_BIT,
    LEADING_BIT_INVERSE,
    LIMB,
    LIMB_BASE,
    LIMB_MASK,
    NEXT_BINADE,
    UNIT_ROUNDOFF,
)
from jostle.methods.plain.distances import dot

Minor: TypeAlias = tuple[Longs, Longs, Longs, Longs]  # four digits of 30 bits, lowest first; the highest is signed


def signed_volumes(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """Return ((b-a) x (c-a)) . (d-a) (n,), as `signed_volume` rounds it."""
    u, v, w = b - a, c - a, d - a
    first = np.stack((u[1] * v[2], u[2] * v[0], u[0] * v[1]))
    second = np.stack((u[2] * v[1], u[0] * v[2], u[1] * v[0]))
    volume = dot(w, first - second)
    size = dot(np.abs(w), np.abs(first) + np.abs(second))
    doubtful = ~(np.abs(volume) > ACCURATE * FILTER_3D * size)
    volume[doubtful] = 0.0  # what it is where the size is 0
    left = np.flatnonzero(doubtful & (size > 0.0))
    if len(left):
        volume[left] = exact_volumes(np.stack([point.take(left, axis=1) for point in (a, b, c, d)]))
    return volume


def signed_areas(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return twice the areas (n,) of triangles of points (2, n), as `signed_area` rounds them."""
    zero, one = np.zeros(a.shape[1]), np.ones(a.shape[1])
    return signed_volumes(*(np.stack((*point, height)) for point, height in ((a, zero), (b, zero), (c, zero), (a, one))))


def exact_volumes(points: Floats) -> Floats:
    """Return the determinants (n,) of points (4, 3, n), as `exact_volume` rounds them."""
    leading = _leading_bits(points)
    scaled = points * (LEADING_BIT / leading)
    numbers = scaled.astype(np.int64)
    unit = leading * LEADING_BIT_INVERSE
    unit[np.abs(points).max(axis=0) == 0.0] = 1.0
    fits = (numbers == scaled).all(axis=(0, 1))
    found = _integer_volumes(numbers[1:] - numbers[0]) * (unit[0] * unit[1] * unit[2])
    for k in np.flatnonzero(~fits).tolist():
        found[k] = _long_volume(points[:, :, k].T.tolist())
    return found


def _leading_bits(points: Floats) -> Floats:
    """Return the leading bit of the largest of four coordinates each (3, n); 1 for zeros."""
    largest = np.abs(points).max(axis=0)
    enlarged = NEXT_BINADE * np.where(largest == 0.0, 1.0, largest)
    leading: Floats = enlarged - (1.0 - UNIT_ROUNDOFF) * enlarged
    return leading


def _integer_volumes(rows: Longs) -> Floats:
    """Return the determinants of 59-bit integers (3, 3, n), exact in sign."""
    u, v, w = rows
    f, g, h = (_minor(u[i], u[j], v[i], v[j]) for i, j in ((1, 2), (2, 0), (0, 1)))
    (x1, y1, z1), (x0, y0, z0) = w >> DIGIT, w & DIGIT_MASK
    low = [f[k] * x0 + g[k] * y0 + h[k] * z0 for k in range(4)]
    high = [f[k] * x1 + g[k] * y1 + h[k] * z1 for k in range(4)]
    digits = [low[0], high[0] + low[1], high[1] + low[2], high[2] + low[3], high[3]]
    for k in range(4):
        digits[k + 1] = digits[k + 1] + (digits[k] >> DIGIT)
    value: Floats = (digits[4] >> DIGIT).astype(float)
    for digit in digits[::-1]:
        value = value * DIGIT_BASE + (digit & DIGIT_MASK).astype(float)
    return value


def _minor(p: Longs, q: Longs, r: Longs, s: Longs) -> Minor:
    """Return p s - q r."""
    (p, ph), (q, qh), (r, rh), (s, sh) = ((number & DIGIT_MASK, number >> DIGIT) for number in (p, q, r, s))
    low = p * s - q * r
    middle = ph * s + p * sh - qh * r - q * rh + (low >> DIGIT)
    high = ph * sh - qh * rh + (middle >> DIGIT)
    return low & DIGIT_MASK, middle & DIGIT_MASK, high & DIGIT_MASK, high >> DIGIT


def _long_volume(columns: list[list[float]]) -> float:
    """Return the determinant of four points, given as columns x, y and z.

    Python's integers have the digits that the kernel computes one by one; they are added up in the kernel's order.
    """
    weight = LIMB_BASE * LIMB_BASE
    ratios, most = [], 0  # of whole numbers and powers of two; the bits after the point
    for column in columns:
        largest = max(map(abs, column))
        if largest > 0.0:
            enlarged = NEXT_BINADE * largest
            unit = (enlarged - (1.0 - UNIT_ROUNDOFF) * enlarged) / (0.5 * LIMB_BASE)
            weight *= unit
            column = [value / unit for value in column]
        ratios.append([value.as_integer_ratio() for value in column])
        most = max(most, *(below.bit_length() - 1 for _, below in ratios[-1]))
    count = 1 + -(-most // LIMB)
    shift = LIMB * (count - 1)
    whole = [[above << (shift - below.bit_length() + 1) for above, below in column] for column in ratios]
    (ux, vx, wx), (uy, vy, wy), (uz, vz, wz) = ((b - a, c - a, d - a) for a, b, c, d in whole)
    volume = wx * (uy * vz - uz * vy) + wy * (uz * vx - ux * vz) + wz * (ux * vy - uy * vx)
    place = LIMB * (3 * count - 1)
    value = 0.0 + float(volume >> place) * weight
    while place > 0:
        place -= LIMB
        weight /= LIMB_BASE
        value += float((volume >> place) & LIMB_MASK) * weight
    return value

"""Signs of determinants, always right, for whole columns of points at once.

A point is an array (3, n), or (2, n) in the plane: its coordinates in n questions. Four stages, each for what the one before leaves
open. (1) float64, and one bound for all rows, `Certain`. (2) The bound of each row, as in `geometry/predicates.py`. (3) Integers of
two 30-bit digits in int64 columns, where each coordinate spans at most 58 bits over the four points. (4) Python's integers in
object columns. Coordinates are 0 or 1e-30 … 1e31 in magnitude, so that nothing underflows.

Where all coordinates are small multiples of one power of two, float64 rounds nothing and the first stage decides everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Longs
from jostle.geometry.predicates import COORDINATE_BITS, DIGIT, DIGIT_MASK, FILTER_2D, FILTER_3D

EXACT_BITS = 16  # of differences: their products of three, summed six at a time, stay below 2^53
Signs = NDArray[np.int8]


class Certain(NamedTuple):
    """Magnitudes above which a determinant's sign is certain; 0 if nothing is rounded."""

    area: float
    volume: float


def certain_signs(points: Floats, span: float) -> Certain:
    """Return the bounds for points (3, v) of which any two in a question differ by `span`.

    span : largest difference of one coordinate
    """
    if _round_nothing(points):
        return Certain(0.0, 0.0)
    # A determinant's terms add up to at most 2 span² or 6 span³; the rest is for the rounding of this very number.
    return Certain(FILTER_2D * 3.0 * float(span) ** 2, FILTER_3D * 8.0 * float(span) ** 3)


def _round_nothing(points: Floats) -> bool:
    """Return whether float64 computes determinants of these points exactly."""
    largest = float(np.abs(points).max(initial=0.0))
    scaled = np.ldexp(points, EXACT_BITS - 1 - int(np.frexp(largest)[1]))
    return bool((scaled == np.rint(scaled)).all())


def orient3d(a: Floats, b: Floats, c: Floats, d: Floats, certain: Certain) -> Signs:
    """Return the sides (n,) of the planes abc on which the points d lie: 1, 0 or -1."""
    return sides_of_plane((a, b, c), (d,), certain)[0]


def sides_of_plane(plane: Sequence[Floats] | Floats, points: Sequence[Floats] | Floats, certain: Certain) -> list[Signs]:
    """Return the sides of each of some points of the planes through three others."""
    a, b, c = plane
    (ux, uy, uz), (vx, vy, vz) = b - a, c - a
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return [_signs_of_volumes(a, b, c, d, (nx, ny, nz), certain.volume) for d in points]


def _signs_of_volumes(a: Floats, b: Floats, c: Floats, d: Floats, normal: tuple[Floats, Floats, Floats], certain: float) -> Signs:
    wx, wy, wz = d - a
    wx *= normal[0]
    wy *= normal[1]
    wz *= normal[2]
    wx += wy
    wx += wz
    signs = _signs(wx, certain)
    if certain > 0.0:
        np.abs(wx, out=wx)
        doubtful = np.flatnonzero(wx <= certain)
        if len(doubtful):
            signs[doubtful] = filtered_sign(*(point.take(doubtful, axis=1) for point in (a, b, c, d)))
    return signs


def _signs(values: Floats, certain: float) -> Signs:
    found: Signs = (values > certain).view(np.int8) - (values < -certain).view(np.int8)
    return found


def filtered_sign(a: Floats, b: Floats, c: Floats, d: Floats) -> Signs:
    """Return the signs (n,) of ((b-a) x (c-a)) . (d-a), with a bound for each."""
    (ux, uy, uz), (vx, vy, vz), (wx, wy, wz) = b - a, c - a, d - a
    terms = (uy * vz, uz * vy, wx), (uz * vx, ux * vz, wy), (ux * vy, uy * vx, wz)
    volume, size = np.zeros(len(ux)), np.zeros(len(ux))
    for one, other, factor in terms:
        volume += factor * (one - other)
        size += np.abs(factor) * (np.abs(one) + np.abs(other))
    bound = FILTER_3D * size
    signs: Signs = (volume > bound).view(np.int8) - (volume < -bound).view(np.int8)
    left = np.flatnonzero((signs == 0) & (size > 0.0))  # a size of 0: products of exact zeros
    if len(left):
        signs[left] = exact_sign(np.stack([point.take(left, axis=1) for point in (a, b, c, d)]))
    return signs


def orient2d(a: Floats, b: Floats, c: Floats, certain: Certain) -> Signs:
    """Return the turns (n,) of a, b, c in the plane: 1, 0 or -1."""
    area = (b[0] - a[0]) * (c[1] - a[1])
    area -= (b[1] - a[1]) * (c[0] - a[0])
    signs = _signs(area, certain.area)
    if certain.area > 0.0:
        doubtful = np.flatnonzero(np.abs(area) <= certain.area)
        if len(doubtful):
            signs[doubtful] = filtered_turn(*(point.take(doubtful, axis=1) for point in (a, b, c)))
    return signs


def filtered_turn(a: Floats, b: Floats, c: Floats) -> Signs:
    """Return the turns (n,) of a, b, c in the plane, with a bound for each."""
    left, right = (b[0] - a[0]) * (c[1] - a[1]), (b[1] - a[1]) * (c[0] - a[0])
    area, size = left - right, np.abs(left) + np.abs(right)
    bound = FILTER_2D * size
    signs: Signs = (area > bound).view(np.int8) - (area < -bound).view(np.int8)
    open_rows = np.flatnonzero((signs == 0) & (size > 0.0))
    if len(open_rows):
        points = np.zeros((4, 3, len(open_rows)))
        for place, point in enumerate((a, b, c, a)):
            points[place, :2] = point[:, open_rows]
        points[3, 2] = 1.0  # one unit above a: the volume is the area
        signs[open_rows] = exact_sign(points)
    return signs


def exact_sign(points: Floats) -> Signs:
    """Return the signs (n,) of the determinants of points (4, 3, n), by integers."""
    exponent = np.frexp(np.abs(points).max(axis=0))[1]
    scaled = np.ldexp(points, COORDINATE_BITS - exponent)  # exact: the largest has 58 bits before the point
    numbers = scaled.astype(np.int64)
    fits = (numbers == scaled).all(axis=(0, 1))
    if fits.all():
        return _sign_by_digits(numbers[1:] - numbers[0])
    signs = np.empty(points.shape[2], np.int8)
    short = numbers[:, :, fits]
    signs[fits] = _sign_by_digits(short[1:] - short[0])
    signs[~fits] = _sign_by_python(points[:, :, ~fits])
    return signs


def _sign_by_digits(rows: Longs) -> Signs:
    """Return the signs of determinants of 59-bit integers (3, 3, n)."""
    u, v, w = rows
    digits = [np.zeros(rows.shape[2], np.int64) for _ in range(6)]  # of the sum, lowest first
    for axis in range(3):
        i, j = (axis + 1) % 3, (axis + 2) % 3
        high, low = w[axis] >> DIGIT, w[axis] & DIGIT_MASK
        for place, digit in enumerate(_minor(u[i], u[j], v[i], v[j])):
            digits[place] += digit * low
            digits[place + 1] += digit * high
    below = np.zeros(rows.shape[2], bool)
    for place in range(4):
        digits[place + 1] += digits[place] >> DIGIT
        below |= (digits[place] & DIGIT_MASK) != 0
    # Carried upward, the lower digits are not negative and add less than one unit of the highest.
    top = digits[4]
    found: Signs = ((top > 0) | ((top == 0) & below)).view(np.int8) - (top < 0).view(np.int8)
    return found


def _minor(p: Longs, q: Longs, r: Longs, s: Longs) -> tuple[Longs, Longs, Longs, Longs]:
    """Return p s - q r as four digits, lowest first; the highest is signed."""
    (p, ph), (q, qh), (r, rh), (s, sh) = ((number & DIGIT_MASK, number >> DIGIT) for number in (p, q, r, s))
    first = p * s - q * r
    second = (first >> DIGIT) + (ph * s + p * sh) - (qh * r + q * rh)
    third = (second >> DIGIT) + ph * sh - qh * rh
    return first & DIGIT_MASK, second & DIGIT_MASK, third & DIGIT_MASK, third >> DIGIT


def _sign_by_python(points: Floats) -> Signs:
    """Return the same by Python's integers, for any accepted coordinates."""
    mantissa, exponent = np.frexp(points)
    shift = exponent - exponent.min(axis=0)
    numbers = np.ldexp(mantissa, 53).astype(np.int64).astype(object) << shift.astype(object)
    (ux, uy, uz), (vx, vy, vz), (wx, wy, wz) = numbers[1:] - numbers[0]
    volume = wx * (uy * vz - uz * vy) + wy * (uz * vx - ux * vz) + wz * (ux * vy - uy * vx)
    return (volume > 0).astype(np.int8) - (volume < 0).astype(np.int8)

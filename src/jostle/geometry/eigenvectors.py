"""Eigenvectors of a symmetric matrix: the principal axes of points and faces."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

from jostle.geometry.vector import minus, plus, point_from, times, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Record, Run, float64

SWEEPS = 12  # of rotations; they converge quadratically: 4 to 6 are enough


class Matrix(Record):
    """A matrix (3,3), row after row."""

    rows: Run[float64, Literal[9]]


class Moments(NamedTuple):
    """Second moments: a symmetric matrix."""

    xx: float
    xy: float
    xz: float
    yy: float
    yz: float
    zz: float


@kernel
def eigenvectors(moments: Moments, matrix: Matrix, out: Matrix) -> None:
    """Write the unit eigenvectors of a symmetric matrix as rows, by Jacobi's rotations.

    For 0 they are the unit matrix. `matrix` is scratch, and has the eigenvalues, relative to their sum, on its diagonal.
    """
    for k in range(9):
        matrix.rows[k] = out.rows[k] = 1.0 if k % 4 == 0 else 0.0
    trace = (moments.xx + moments.yy) + moments.zz
    if not trace > 0.0:
        return
    a = matrix.rows
    a[0], a[4], a[8] = moments.xx / trace, moments.yy / trace, moments.zz / trace
    a[1] = a[3] = moments.xy / trace
    a[2] = a[6] = moments.xz / trace
    a[5] = a[7] = moments.yz / trace
    for _ in range(SWEEPS):
        if abs(a[1]) + abs(a[2]) + abs(a[5]) < 1e-18:
            break
        for p in range(2):
            for q in range(p + 1, 3):
                if a[3 * p + q] != 0.0:
                    _rotate(matrix, out, p, q)


@kernel
def _rotate(matrix: Matrix, vectors: Matrix, p: int, q: int) -> None:
    """Zero entry (p, q) of a symmetric matrix by a rotation, also of the vectors."""
    a, r = matrix.rows, 3 - p - q
    off = a[3 * p + q]
    half = 0.5 * (a[4 * q] - a[4 * p]) / off
    t = 1.0 / (abs(half) + math.sqrt(half * half + 1.0))
    if half < 0.0:
        t = -t
    c = 1.0 / math.sqrt(t * t + 1.0)
    s = t * c
    a[4 * p] -= t * off
    a[4 * q] += t * off
    rp, rq = a[3 * r + p], a[3 * r + q]
    a[3 * r + p] = a[3 * p + r] = c * rp - s * rq
    a[3 * r + q] = a[3 * q + r] = s * rp + c * rq
    a[3 * p + q] = a[3 * q + p] = 0.0
    vp, vq = point_from(vectors.rows, 3 * p), point_from(vectors.rows, 3 * q)
    write_point_from(vectors.rows, 3 * p, minus(times(c, vp), times(s, vq)))
    write_point_from(vectors.rows, 3 * q, plus(times(s, vp), times(c, vq)))

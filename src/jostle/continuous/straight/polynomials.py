"""Contact on straight lines as signs of polynomials in t, and their float values.

A query has four corners: a point p and a triangle abc, or the ends of two edges. Everything consists of six vectors between
corners, linear in t (`FROM`, `TO`): point–triangle A = a-p, B = b-p, C = c-p, b-a, c-a; edge–edge d1 along the first edge, d2 along
the second, r from the start of the first to the start of the second, and the other three vectors between their ends.

    point–triangle  n = (b-a) × (c-a)   f = A·n   crosses  B × C, C × A, A × B                 (their sum is n)
    edge–edge       n = d1 × d2         f = r·n   crosses  r × d2, d2 × (q1-p2), r × d1, d1 × (q2-p1)  (pairs sum to n)

There is contact at t exactly if the cubic f is 0, no two crosses have opposite signs on an axis, and, if all crosses are 0, one of
the dots (of the two vectors from a corner to the ends of an edge) is not positive. Proof: if f = 0, all crosses are multiples of
one vector: of n, by the barycentric coordinates, if n is not 0; else of the normal of the plane through a line and a point or a
line beside it, with both signs. So any axis with a cross other than 0 decides. All crosses are 0 only on a line.

Floats: Bernstein coefficients of f and of the crosses on [0,1], after scaling by a power of two so that differences are below 1.
Errors (u = 2^-53; M, N bounds of the components of two factors at both ends): a cross has 5 roundings, so its error is below
8u (Mp Nq + Mq Np); f has 11, so 16u Σ MR perm(n). Halving an interval adds at most 3u max|f| and 2u perm.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Record, Rows, Run, float64

POINT_TRIANGLE = 0
EDGE_EDGE = 1

# For point–triangle, then edge–edge: the corners that each vector joins, and the vectors of each product.
FROM = np.array([[0, 0, 0, 1, 1, 0], [0, 2, 0, 1, 0, 1]])
TO = np.array([[1, 2, 3, 2, 3, 1], [1, 3, 2, 2, 3, 3]])
CROSS_LEFT = np.array([[1, 2, 0, 0], [2, 1, 2, 0]])
CROSS_RIGHT = np.array([[2, 0, 1, 0], [1, 3, 0, 4]])
DOT_LEFT = np.array([[1, 2, 0, 0], [2, 3, 2, 4]])
DOT_RIGHT = np.array([[2, 0, 1, 0], [4, 5, 3, 5]])
NORMAL_LEFT = np.array([3, 0])
NORMAL_RIGHT = np.array([4, 1])
RADIUS = np.array([0, 2])  # f is this vector times n

UNIT_ROUNDOFF = 2.0**-53
CROSS_ERROR = 8.0 * UNIT_ROUNDOFF
F_ERROR = 16.0 * UNIT_ROUNDOFF
F_ERROR_OF_HALVING = 4.0 * UNIT_ROUNDOFF
CROSS_GROWTH_OF_HALVING = 0.5  # of the error of a cross: 4u perm
UNDERFLOW = 1e-290

VECTORS = 6
AXES = 3
CROSSES = 12  # components of crosses, at most


FourCorners = Run[float64, Literal[12]]


class FeatureMotion(Record):
    """The four corners of a query at both ends of the step."""

    start: FourCorners
    end: FourCorners


class LinearVector(Record):
    """A vector at both ends of the step."""

    start: Run[float64, Literal[3]]
    end: Run[float64, Literal[3]]


class Node(Record):
    """An interval, its depth, and Bernstein coefficients of f and the crosses on it."""

    start: float64
    end: float64
    depth: float64
    f: Run[float64, Literal[4]]
    crosses: Run[float64, Literal[36]]


class CornersOnAxis(NamedTuple):
    """One coordinate of each of the four corners."""

    c0: float
    c1: float
    c2: float
    c3: float


class Quadratic(NamedTuple):
    """Bernstein coefficients of a component of a cross, and a bound of its terms."""

    start: float
    middle: float
    end: float
    permanent: float


@kernel(forceinline=True)
def cross_place(cross: int, axis: int) -> int:
    """Return where the three coefficients of a component of a cross are in a node."""
    return 3 * (3 * cross + axis)


@kernel(forceinline=True)
def corners_on_axis(corners: FourCorners, k: int) -> CornersOnAxis:
    """Return coordinate k of the corners at an end of the step."""
    return CornersOnAxis(corners[k], corners[k + AXES], corners[k + 2 * AXES], corners[k + 3 * AXES])


@kernel(forceinline=True)
def order_of_parts(kind: int, c: CornersOnAxis) -> int:
    """Return -1 if the first part is strictly below the second, 1 if above, else 0."""
    low, high, least, most = c.c0, c.c0, min(c.c2, c.c3), max(c.c2, c.c3)
    if kind == POINT_TRIANGLE:
        least, most = min(c.c1, least), max(c.c1, most)
    else:
        low, high = min(c.c0, c.c1), max(c.c0, c.c1)
    if high < least:
        return -1
    return 1 if low > most else 0


@kernel
def kept_apart_by_an_axis(kind: int, motion: FeatureMotion) -> bool:
    """Return whether the parts have the same strict order on an axis at both ends."""
    for k in range(AXES):
        before = order_of_parts(kind, corners_on_axis(motion.start, k))
        if before != 0 and before == order_of_parts(kind, corners_on_axis(motion.end, k)):
            return True
    return False


@kernel
def share_a_coordinate(motion: FeatureMotion) -> bool:
    """Return whether all corners share a coordinate at both ends, so that f is 0."""
    for k in range(AXES):
        a, b = corners_on_axis(motion.start, k), corners_on_axis(motion.end, k)
        if a.c0 == a.c1 == a.c2 == a.c3 and b.c0 == b.c1 == b.c2 == b.c3:
            return True
    return False


@kernel
def scaled_vectors_into(kind: int, motion: FeatureMotion, vectors: Rows[LinearVector]) -> bool:
    """Write the scaled vectors of a query; return False if all corners coincide."""
    largest = 0.0
    for corner in range(1, 4):
        for k in range(3):
            largest = max(largest, abs(motion.start[3 * corner + k] - motion.start[k]))
            largest = max(largest, abs(motion.end[3 * corner + k] - motion.end[k]))
    if largest == 0.0:
        return False
    scale = math.ldexp(1.0, -math.frexp(largest)[1] - 1)  # differences of any two corners are below 1
    for v in range(VECTORS):
        i, j, vector = as_int64(FROM[kind, v]), as_int64(TO[kind, v]), vectors[v]
        for k in range(3):
            vector.start[k] = (motion.start[3 * j + k] - motion.start[3 * i + k]) * scale
            vector.end[k] = (motion.end[3 * j + k] - motion.end[3 * i + k]) * scale
    return True


@kernel(forceinline=True)
def cross_component(a: LinearVector, b: LinearVector, k: int) -> Quadratic:
    """Return component k of a × b."""
    p, q = (k + 1) % 3, (k + 2) % 3
    ap0, aq0, ap1, aq1 = a.start[p], a.start[q], a.end[p], a.end[q]
    bp0, bq0, bp1, bq1 = b.start[p], b.start[q], b.end[p], b.end[q]
    permanent = max(abs(ap0), abs(ap1)) * max(abs(bq0), abs(bq1)) + max(abs(aq0), abs(aq1)) * max(abs(bp0), abs(bp1))
    middle = 0.5 * ((ap0 * bq1 - aq0 * bp1) + (ap1 * bq0 - aq1 * bp0))
    return Quadratic(ap0 * bq0 - aq0 * bp0, middle, ap1 * bq1 - aq1 * bp1, permanent)


@kernel
def cubic_into(kind: int, vectors: Rows[LinearVector], node: Node) -> float:
    """Write the coefficients of f into a node and return the bound of their errors."""
    radius = vectors[as_int64(RADIUS[kind])]
    left, right = vectors[as_int64(NORMAL_LEFT[kind])], vectors[as_int64(NORMAL_RIGHT[kind])]
    f0, f1, f2, f3, size = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        n = cross_component(left, right, k)
        start, end = radius.start[k], radius.end[k]
        f0 += start * n.start
        f1 += end * n.start + 2.0 * (start * n.middle)
        f2 += start * n.end + 2.0 * (end * n.middle)
        f3 += end * n.end
        size += max(abs(start), abs(end)) * n.permanent
    node.f[0], node.f[1], node.f[2], node.f[3] = f0, f1 / 3.0, f2 / 3.0, f3
    return size * F_ERROR + UNDERFLOW


@kernel
def crosses_into(kind: int, vectors: Rows[LinearVector], node: Node, errors: Rows[float64]) -> None:
    """Write the crosses into a node, and error bounds (12,).

    A bound is 0 if the component is 0 at all times.
    """
    for j in range(3 + kind):
        left, right = vectors[as_int64(CROSS_LEFT[kind, j])], vectors[as_int64(CROSS_RIGHT[kind, j])]
        for k in range(3):
            at, c = cross_place(j, k), cross_component(left, right, k)
            node.crosses[at], node.crosses[at + 1], node.crosses[at + 2] = c.start, c.middle, c.end
            errors[3 * j + k] = c.permanent * CROSS_ERROR + UNDERFLOW if c.permanent > 0.0 else 0.0

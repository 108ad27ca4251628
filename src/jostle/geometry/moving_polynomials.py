"""Contact of points that move on straight lines, as signs of polynomials in t: which ones, and their values in floats.

A query has four corners: a point p and a triangle abc, or the ends of two edges. Everything is made of six vectors between
corners, linear in t (`FROM`, `TO`): point–triangle A = a-p, B = b-p, C = c-p, b-a, c-a; edge–edge d1 along the first edge, d2 along
the second, r from the start of the first to the start of the second, and the other three ways between their ends.

    point–triangle  n = (b-a) × (c-a)   f = A·n   crosses  B × C, C × A, A × B                 (their sum is n)
    edge–edge       n = d1 × d2         f = r·n   crosses  r × d2, d2 × (q1-p2), r × d1, d1 × (q2-p1)  (pairs sum to n)

There is contact at t exactly if the cubic f is 0, on no axis two of the crosses have opposite signs, and, where all crosses are 0,
one of the dots (`DOTS`: of the two ways from a corner to the ends of an edge) is not positive. For where f = 0 all crosses are
multiples of one vector: of n, by the barycentric coordinates, if n is not 0; else of the normal of the plane through a line and a
point or a line beside it, with both signs. So any axis with a cross other than 0 decides. All crosses are 0 only on a line.

Floats: Bernstein coefficients of f and of the crosses on [0,1], after scaling by a power of two so that differences are below 1.
Errors (u = 2^-53; M, N bounds of the components of two factors at both ends): a cross passes 5 roundings, so its error is below
8u (Mp Nq + Mq Np); f passes 11, so 16u Σ MR perm(n). Halving an interval adds at most 3u max|f| and 2u perm.
"""

import math

import numpy as np

from jostle.kernels.jit import kernel

POINT_TRIANGLE = 0
EDGE_EDGE = 1

# Of each kind, first point–triangle, then edge–edge: the corners between which the vectors go, and the vectors of each product.
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

COEFFICIENTS = 40  # of a node: 4 of f, then 3 for each axis of each cross
VECTORS = 36  # numbers of the vectors: 6, at 2 ends, of 3 components


@kernel
def kept_apart_by_an_axis(kind, corners, row):
    """Whether on some axis the two parts of query `row` of corners (n,8,3) are in the same strict order at both ends."""
    for k in range(3):
        a0, a1, a2, a3 = corners[row, 0, k], corners[row, 1, k], corners[row, 2, k], corners[row, 3, k]
        b0, b1, b2, b3 = corners[row, 4, k], corners[row, 5, k], corners[row, 6, k], corners[row, 7, k]
        if kind == POINT_TRIANGLE:
            if a0 < min(a1, min(a2, a3)) and b0 < min(b1, min(b2, b3)):
                return True
            if a0 > max(a1, max(a2, a3)) and b0 > max(b1, max(b2, b3)):
                return True
        else:
            if max(a0, a1) < min(a2, a3) and max(b0, b1) < min(b2, b3):
                return True
            if min(a0, a1) > max(a2, a3) and min(b0, b1) > max(b2, b3):
                return True
    return False


@kernel
def share_a_coordinate(corners, row):
    """Whether the four corners have a coordinate in common at t = 0, and the same one at t = 1: then f is 0 at all times."""
    for k in range(3):
        a, b = corners[row, 0, k], corners[row, 4, k]
        same = corners[row, 1, k] == a and corners[row, 2, k] == a and corners[row, 3, k] == a
        if same and corners[row, 5, k] == b and corners[row, 6, k] == b and corners[row, 7, k] == b:
            return True
    return False


@kernel
def scaled_vectors_into(kind, corners, row, vectors):
    """Write the vectors of a query, scaled, into vectors (36,); return False if all corners are one point at both ends."""
    largest = 0.0
    for corner in range(1, 4):
        for k in range(3):
            largest = max(largest, abs(corners[row, corner, k] - corners[row, 0, k]))
            largest = max(largest, abs(corners[row, 4 + corner, k] - corners[row, 4, k]))
    if largest == 0.0:
        return False
    scale = math.ldexp(1.0, -math.frexp(largest)[1] - 1)  # differences of any two corners are below 1
    for v in range(6):
        i, j = FROM[kind, v], TO[kind, v]
        for k in range(3):
            vectors[6 * v + k] = (corners[row, j, k] - corners[row, i, k]) * scale
            vectors[6 * v + 3 + k] = (corners[row, 4 + j, k] - corners[row, 4 + i, k]) * scale
    return True


@kernel(forceinline=True)
def cross_component(vectors, a, b, k):
    """Component k of a × b of two vectors that start at a and b in vectors: three Bernstein coefficients and the permanent."""
    p, q = (k + 1) % 3, (k + 2) % 3
    ap0, aq0, ap1, aq1 = vectors[a + p], vectors[a + q], vectors[a + 3 + p], vectors[a + 3 + q]
    bp0, bq0, bp1, bq1 = vectors[b + p], vectors[b + q], vectors[b + 3 + p], vectors[b + 3 + q]
    permanent = max(abs(ap0), abs(ap1)) * max(abs(bq0), abs(bq1)) + max(abs(aq0), abs(aq1)) * max(abs(bp0), abs(bp1))
    middle = 0.5 * ((ap0 * bq1 - aq0 * bp1) + (ap1 * bq0 - aq1 * bp0))
    return ap0 * bq0 - aq0 * bp0, middle, ap1 * bq1 - aq1 * bp1, permanent


@kernel
def cubic_into(kind, vectors, node):
    """Write the coefficients of f into node (40,) and return the bound of their errors."""
    radius, left, right = 6 * RADIUS[kind], 6 * NORMAL_LEFT[kind], 6 * NORMAL_RIGHT[kind]
    f0, f1, f2, f3, size = 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(3):
        n0, n1, n2, permanent = cross_component(vectors, left, right, k)
        start, end = vectors[radius + k], vectors[radius + 3 + k]
        f0 += start * n0
        f1 += end * n0 + 2.0 * (start * n1)
        f2 += start * n2 + 2.0 * (end * n1)
        f3 += end * n2
        size += max(abs(start), abs(end)) * permanent
    node[0], node[1], node[2], node[3] = f0, f1 / 3.0, f2 / 3.0, f3
    return size * F_ERROR + UNDERFLOW


@kernel
def crosses_into(kind, vectors, node, errors):
    """Write the coefficients of the crosses into node (40,), from 4 + 9 cross + 3 axis; errors (12,) are bounds, 0 if it is 0."""
    for j in range(3 + kind):
        left, right = 6 * CROSS_LEFT[kind, j], 6 * CROSS_RIGHT[kind, j]
        for k in range(3):
            at = 4 + 9 * j + 3 * k
            node[at], node[at + 1], node[at + 2], permanent = cross_component(vectors, left, right, k)
            errors[3 * j + k] = permanent * CROSS_ERROR + UNDERFLOW if permanent > 0.0 else 0.0

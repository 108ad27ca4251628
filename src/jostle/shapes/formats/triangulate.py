"""Polygon triangulation: fans for convex polygons, exact ear clipping for others.

A polygon is projected along the axis nearest to its normal (Newell: the sum of its edges' cross products). The projection decides,
exactly, by integers where floats cannot:

| projection                                   | triangles                                                     |
|----------------------------------------------|---------------------------------------------------------------|
| convex, with or without straight corners     | fan about the first corner, in order                          |
| not convex, its outline does not cross itself| ears, in the order in which they are found from corner 0      |
| no area                                      | fan; its triangles have no area either, or cancel             |
| its outline crosses itself                   | refused, unless rounding of the file explains it              |

A polygon of n corners always gives n - 2 triangles, each with its corners in the polygon's order, so that edges stay matched with
those of its neighbours: repeated and straight corners may give triangles without area. The outline may touch itself: a hole joined
to the outline by an edge there and back is cut out (none of the formats has holes of its own). A non-planar polygon is cut as
projected.

Files round to six digits, and rounding crosses outlines that touched: a crossing no deeper than 1e-5 of the polygon's largest
coordinate counts as a touch. If no ears are found then, ears that the outline enters no deeper than that are accepted, as long as
the triangles exceed the polygon by no more than a border of this width. A polygon thinner than that is a fan.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle._types import Floats, Longs
from jostle.shapes.formats.ears import EarClipping, Point, along_edges, turn
from jostle.shapes.formats.polygons import Polygons
from jostle.shapes.formats.source import Budget, UnreadableError

# Error of (b - a) x (c - a) in float64, relative to the sum of the two products (Shewchuk's ccwerrboundA).
_ORIENTATION_ERROR = (3.0 + 16.0 * 2.0**-53) * 2.0**-53
_UNCLEAR = 2
_MANY_CORNERS = 64  # larger polygons with repeated corners use exact arithmetic, one at a time
_AT_A_TIME = 1 << 15  # polygons; arrays of this size stay in the cache
_ROUNDING = 1e-5  # of the largest coordinate: half a unit of the last of six digits, on both sides


def triangles(polygons: Polygons, budget: Budget) -> tuple[Longs, NDArray[np.int32]]:
    """Return (m, 3) triangles in the order of the polygons, and the polygon of each."""
    points, corners, sizes = polygons
    count = int((sizes - 2).sum())
    budget.take("faces", count)
    if count == len(sizes):
        return corners.reshape(-1, 3), np.arange(count, dtype=np.int32)
    starts = np.cumsum(sizes) - sizes
    first = np.cumsum(sizes - 2) - (sizes - 2)
    source = np.repeat(np.arange(len(sizes)), sizes - 2)
    step = np.arange(count) - first[source]
    start = starts[source]
    faces = np.stack([corners[start], corners[start + step + 1], corners[start + step + 2]], axis=1)
    size = np.abs(points)
    if size.max() > cast.LARGEST_COORDINATE:
        return faces, source.astype(np.int32)  # Mesh refuses them and names the vertex
    points = np.where(size < cast.SMALLEST_COORDINATE, 0.0, points)
    for polygon in _perhaps_not_convex(points, corners, starts, sizes, budget):
        own = corners[starts[polygon] : starts[polygon] + sizes[polygon]]
        try:
            ears = _cut(points[own], budget)
        except _CrossesItself:
            raise UnreadableError(
                f"face {polygon} crosses itself, so it has no inside; split it into triangles or simple polygons"
            ) from None
        if ears is not None:
            faces[first[polygon] : first[polygon] + len(ears)] = own[ears]
    return faces, source.astype(np.int32)


class _CrossesItself(Exception):
    """The outline of a polygon crosses itself."""


def _perhaps_not_convex(points: Floats, corners: Longs, starts: Longs, sizes: Longs, budget: Budget) -> Iterator[int]:
    """Yield the polygons that floats do not prove to be convex, in order of size."""
    columns = np.ascontiguousarray(points.T)
    for size in np.unique(sizes[sizes > 3]).tolist():
        of_size = np.flatnonzero(sizes == size)
        step, steps = max(_AT_A_TIME // size, 1), np.arange(size)[:, None]
        for low in range(0, len(of_size), step):
            budget.tick()
            some = of_size[low : low + step]
            u, v = _seen_along_axis(columns, corners[starts[some] + steps])
            convex = _turns_left_once(u, v)
            unclear = np.flatnonzero(~convex)
            convex[unclear] = _surely_convex(u[:, unclear], v[:, unclear])
            yield from some[~convex].tolist()


def _seen_along_axis(columns: Floats, corners: Longs) -> tuple[Floats, Floats]:
    """Return the projected coordinates of m polygons of (k, m) corners.

    They are counter-clockwise, along the main axis of each normal.
    """
    x, y, z = (column[corners] for column in columns)
    with np.errstate(all="ignore"):
        normal = np.stack([_double_area(y, z), _double_area(z, x), _double_area(x, y)])
    axis = np.abs(normal).argmax(axis=0)
    clockwise = normal[axis, np.arange(len(axis))] < 0.0
    first, second = (axis + 1 + clockwise) % 3, (axis + 2 - clockwise) % 3
    count = columns.shape[1]
    return columns.ravel()[first * count + corners], columns.ravel()[second * count + corners]


def _double_area(u: Floats, v: Floats) -> Floats:
    """Twice the signed area of (k, m) corners, by a fan about the first."""
    u, v = u[1:] - u[0], v[1:] - v[0]
    return (u[:-1] * v[1:] - v[:-1] * u[1:]).sum(axis=0)


def _turns_left_once(u: Floats, v: Floats) -> NDArray[np.bool_]:
    """Return whether quadrilaterals certainly have four left turns; False for others."""
    if len(u) > 4:
        return np.zeros(u.shape[1], dtype=bool)
    with np.errstate(all="ignore"):
        du, dv = _cyclic_difference(u), _cyclic_difference(v)
        left, right = du * np.roll(dv, -1, axis=0), dv * np.roll(du, -1, axis=0)
        # Half a unit of error each, as in `_orientation`.
        sure: NDArray[np.bool_] = np.all(left - right > _ORIENTATION_ERROR * (np.abs(left) + np.abs(right)), axis=0)
    return sure


def _cyclic_difference(u: Floats) -> Floats:
    return np.concatenate([u[1:], u[:1]]) - u


def _surely_convex(u: Floats, v: Floats) -> NDArray[np.bool_]:
    """Return whether each of (k, m) polygons is convex; False if floats cannot decide."""
    before_u, before_v = np.roll(u, 1, axis=0), np.roll(v, 1, axis=0)
    still = (u == before_u) & (v == before_v)
    if still.any() and len(u) <= _MANY_CORNERS:
        _put_last_distinct(before_u, before_v, still)
        still[:] = False
    with np.errstate(all="ignore"):
        turns = _orientation(before_u, before_v, u, v, np.roll(u, -1, axis=0), np.roll(v, -1, axis=0))
    # Once round: the direction along u (of equal ones along v) changes twice. A star has left turns only as well.
    forward = (u > before_u) | ((u == before_u) & (v > before_v))
    once = np.count_nonzero(forward != np.roll(forward, 1, axis=0), axis=0) == 2
    return np.all((turns == 0) | (turns == 1), axis=0) & once & ~still.any(axis=0)


def _put_last_distinct(before_u: Floats, before_v: Floats, still: NDArray[np.bool_]) -> None:
    """Replace each corner's predecessor by the last different one before it."""
    for k in 2 * list(range(len(still))):
        same = still[k]
        before_u[k, same], before_v[k, same] = before_u[k - 1, same], before_v[k - 1, same]


def _orientation(au: Floats, av: Floats, bu: Floats, bv: Floats, cu: Floats, cv: Floats) -> NDArray[np.int8]:
    """Return 1 for left turns, -1 right, 0 collinear, 2 undecided by floats."""
    left, right = (bu - au) * (cv - av), (bv - av) * (cu - au)
    turn = left - right
    error = _ORIENTATION_ERROR * (np.abs(left) + np.abs(right))
    # Coordinates are 0 or 1e-30 at least, so products do not underflow: an error of zero is that of differences of zero.
    sign = np.where(np.abs(turn) > error, np.sign(turn), np.where(error == 0.0, 0.0, _UNCLEAR))
    return np.where(np.isfinite(turn), sign, _UNCLEAR).astype(np.int8)


# ---------------------------------------------------------------------- one polygon, exactly


def _cut(outline: Floats, budget: Budget) -> list[tuple[int, int, int]] | None:
    """Return the triangles of a polygon as corner numbers; None for a fan."""
    columns, unit = _as_integers(outline)
    normal = [_doubled_area(columns[(k + 1) % 3], columns[(k + 2) % 3]) for k in range(3)]
    axis = max(range(3), key=lambda k: abs(normal[k]))
    if normal[axis] == 0:
        return None
    first, second = (axis + 1, axis + 2) if normal[axis] > 0 else (axis + 2, axis + 1)
    seen = list(zip(columns[first % 3], columns[second % 3], strict=True))
    if _is_convex(seen):
        return None
    flat = np.ascontiguousarray(outline[:, [first % 3, second % 3]].T)
    rounding = _ROUNDING * float(np.abs(outline).max())
    if not _crosses_itself(seen, flat, rounding, budget):
        ears = EarClipping(seen, flat, budget).triangles()
        if ears is not None:
            return ears
        ears = EarClipping(seen, flat, budget, slack=int(rounding / unit)).triangles()
        if ears is not None and _area_too_much(flat, ears) <= rounding * _perimeter(flat):
            return ears
    if _is_thin(outline, rounding):
        return None
    raise _CrossesItself


def _as_integers(values: Floats) -> tuple[list[list[int]], float]:
    """Return columns as integer multiples of a power of two, and this unit."""
    mantissas, exponents = np.frexp(values)
    lowest = int(exponents.min())
    whole = (mantissas * 2.0**53).astype(np.int64)
    shifts = exponents - lowest
    columns = [[m << s for m, s in zip(*both, strict=True)] for both in zip(whole.T.tolist(), shifts.T.tolist(), strict=True)]
    return columns, 2.0 ** (lowest - 53)


def _doubled_area(u: list[int], v: list[int]) -> int:
    return sum(u[k - 1] * v[k] - u[k] * v[k - 1] for k in range(len(u)))


def _is_convex(seen: list[Point]) -> bool:
    distinct = [p for k, p in enumerate(seen) if p != seen[k - 1]]
    if any(turn(distinct[k - 2], distinct[k - 1], distinct[k]) < 0 for k in range(len(distinct))):
        return False
    forward = [distinct[k] > distinct[k - 1] for k in range(len(distinct))]
    return sum(forward[k] != forward[k - 1] for k in range(len(forward))) == 2


def _crosses_itself(seen: list[Point], flat: Floats, rounding: float, budget: Budget) -> bool:
    """Return whether two edges cross in their interiors, deeper than rounding."""
    turned, error = along_edges(flat)
    low, high = np.minimum(turned, np.roll(turned, -1, axis=1)), np.maximum(turned, np.roll(turned, -1, axis=1)) + 2.0 * error
    # An edge is compared with edges that begin beside it along the axis on which edges are short.
    axis = int((high - low).sum(axis=1).argmin())
    order = np.argsort(low[axis], kind="stable")  # edge k leads from corner k to corner k + 1
    (low_along, low_across), (high_along, high_across) = (bounds[[axis, 1 - axis]][:, order] for bounds in (low, high))
    (au, av), (bu, bv) = flat[:, order], np.roll(flat, -1, axis=1)[:, order]
    n = len(order)
    for k, last in enumerate(np.searchsorted(low_along, high_along, side="right").tolist()):
        budget.tick()
        beside = slice(k + 1, last)
        j = k + 1 + np.flatnonzero((low_across[beside] <= high_across[k]) & (high_across[beside] >= low_across[k]))
        with np.errstate(all="ignore"):
            # An edge does not cross another with both ends on one side of it, or one on its line.
            edge = au[k], av[k], bu[k], bv[k]
            j = j[_may_be_opposite(_orientation(*edge, au[j], av[j]), _orientation(*edge, bu[j], bv[j]))]
            edges = au[j], av[j], bu[j], bv[j]
            j = j[_may_be_opposite(_orientation(*edges, *edge[:2]), _orientation(*edges, *edge[2:]))]
        first = int(order[k])
        for second in order[j].tolist():
            corners = (first, (first + 1) % n, second, (second + 1) % n)
            if _properly_cross(*(seen[corner] for corner in corners)) and _depth(flat[:, corners]) > rounding:
                return True
    return False


def _depth(ends: Floats) -> float:
    """Return how far an end of two edges (2, 4) must move for them to only touch."""
    a, b, c, d = ends.T
    with np.errstate(all="ignore"):
        distances = [
            abs(float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))) / float(np.hypot(*(q - p)))
            for p, q, r in ((a, b, c), (a, b, d), (c, d, a), (c, d, b))
        ]
    return min(distances)


def _may_be_opposite(one: NDArray[np.int8], other: NDArray[np.int8]) -> NDArray[np.bool_]:
    return (one != 0) & (other != 0) & ((one != other) | (one == _UNCLEAR))


def _properly_cross(a: Point, b: Point, c: Point, d: Point) -> bool:
    return _opposite(turn(a, b, c), turn(a, b, d)) and _opposite(turn(c, d, a), turn(c, d, b))


def _opposite(one: int, other: int) -> bool:
    return (one < 0 < other) or (other < 0 < one)


def _area_too_much(flat: Floats, ears: list[tuple[int, int, int]]) -> float:
    """Area of the triangles, each counted as positive, beyond that of the polygon."""
    with np.errstate(all="ignore"):
        areas = 0.5 * _double_area(*flat[:, np.array(ears).T])
        return float(np.abs(areas).sum() - abs(areas.sum()))


def _perimeter(flat: Floats) -> float:
    return float(np.hypot(*(flat - np.roll(flat, 1, axis=1))).sum())


def _is_thin(outline: Floats, width: float) -> bool:
    shifted = outline - outline[0]
    with np.errstate(all="ignore"):
        area = 0.5 * float(np.linalg.norm(np.cross(shifted[1:-1], shifted[2:]).sum(axis=0)))
        length = float(np.linalg.norm(np.ptp(outline, axis=0)))
    return area <= length * width

"""Whether a mesh touches itself, in columns: what the kernels of `shapes/topology.py` find.

Importing this module makes `touches_later_face` and `chosen_face_touches` run so until Numba is loaded, and wherever nothing is
compiled (`kernels/interpreting.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.kernels.interpreting import in_columns
from jostle.methods.plain.neighbours import neighbours_touch, share_vertices
from jostle.methods.plain.signs import Certain
from jostle.methods.plain.tree import AT_ONCE, ranges
from jostle.methods.plain.triangles import triangles_touch
from jostle.methods.plain.windings import certain_of, facings
from jostle.shapes.topology import chosen_face_touches, touches_later_face


@in_columns(touches_later_face)
def touches_later_columns(
    vertices: Floats, faces: Ints, welded_faces: Ints, boxes: Floats, order: NDArray[np.int64], first: int, last: int
) -> bool:
    """Return whether one of the faces first … last - 1 touches a later one.

    Boxes (m,6) ascend by their first coordinate.
    """
    points = np.ascontiguousarray(vertices.T)
    certain = certain_of(points)
    has_area = facings(points[:, faces[order].T].transpose(1, 0, 2), certain) != 0
    one = np.arange(first, min(last, len(order)))
    count = np.searchsorted(boxes[:, 0], boxes[one, 3], side="right") - one - 1
    ends = np.cumsum(count)
    begin = 0
    while begin < len(one):
        end = max(begin + 1, int(np.searchsorted(ends, (ends[begin - 1] if begin else 0) + AT_ONCE, side="right")))
        i = np.repeat(one[begin:end], count[begin:end])
        j = ranges(one[begin:end] + 1, count[begin:end])
        begin = end
        near = has_area[i] & has_area[j]
        for axis in (1, 2):
            near &= (boxes[j, axis] <= boxes[i, axis + 3]) & (boxes[i, axis] <= boxes[j, axis + 3])
        if _any_touch(points, faces, welded_faces, order[i[near]], order[j[near]], certain):
            return True
    return False


@in_columns(chosen_face_touches)
def chosen_touches_columns(
    chosen: Ints, vertices: Floats, faces: Ints, welded_faces: Ints, most: int, turned: NDArray[np.int8]
) -> bool:
    """Return whether a chosen face touches another, or tests exceed `most`; write `facing` of each."""
    points = np.ascontiguousarray(vertices.T)
    certain = certain_of(points)
    corners = points[:, faces.T]
    lower, upper = corners.min(axis=1), corners.max(axis=1)
    turned[:] = facings(corners[:, :, chosen].transpose(1, 0, 2), certain)
    if len(chosen) == 0:
        return False
    around_lower, around_upper = lower[:, chosen].min(axis=1)[:, None], upper[:, chosen].max(axis=1)[:, None]
    others = np.flatnonzero(((lower <= around_upper) & (around_lower <= upper)).all(axis=0))
    if len(chosen) * len(others) > most:
        return True
    others = others[facings(corners[:, :, others].transpose(1, 0, 2), certain) != 0]
    mine = chosen[turned != 0].astype(np.int64)
    for begin in range(0, len(mine), max(1, AT_ONCE // max(1, len(others)))):
        some = mine[begin : begin + max(1, AT_ONCE // max(1, len(others)))]
        meet = some[:, None] != others
        for low, high in zip(lower, upper, strict=True):
            meet &= (low[some][:, None] <= high[others]) & (low[others] <= high[some][:, None])
        f, g = np.nonzero(meet)
        if _any_touch(points, faces, welded_faces, some[f], others[g], certain):
            return True
    return False


def _any_touch(points: Floats, faces: Ints, welded_faces: Ints, f: Longs, g: Longs, certain: Certain) -> bool:
    """Return whether any faces f and g of one mesh share more than welded vertices and edges."""
    shared = share_vertices(welded_faces[f].T, welded_faces[g].T)
    if neighbours_touch(points, faces, welded_faces, f[shared], g[shared], certain).any():
        return True
    a, b = (points[:, faces[face[~shared]].T].transpose(1, 0, 2) for face in (f, g))
    return bool(triangles_touch(a, b, certain).any())

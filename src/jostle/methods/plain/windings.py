"""Winding numbers in columns: what the kernels of `geometry/winding.py` find, exactly.

All flags and faces at once: comparisons leave the faces that are neither beside nor under a flag, and signs decide those.

Points are (3, n), flags and triangles (3, 3, n): point or corner, coordinate, question. Importing this module makes `windings_into`
and `sample_sheets` run so until Numba is loaded, and wherever nothing is compiled (`kernels/interpreting.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats, Ints, Longs
from jostle.geometry.winding_columns import windings_into
from jostle.kernels.interpreting import in_columns
from jostle.methods.plain.signs import Certain, Signs, certain_signs, orient2d, orient3d
from jostle.shapes.topology import sample_sheets

AT_ONCE = 1 << 20  # comparisons of a flag with a face
ROLLED = [1, 2, 0]  # coordinates y, z, x: the next axis points up


@in_columns(windings_into)
def windings_columns(flags: Floats, vertices: Floats, faces: Ints, across: int, found: Ints) -> int:  # noqa: ARG001
    """Write `flag_winding` of flags (q,9) into found (q,3); return faces tested."""
    corners = np.ascontiguousarray(vertices.T)[:, faces.T]
    lower, upper = corners.min(axis=1), corners.max(axis=1)
    certain = certain_of(np.concatenate([vertices.T, flags.reshape(-1, 3).T], axis=1))
    many, tests = max(1, AT_ONCE // max(1, len(faces))), 0
    for begin in range(0, len(flags), many):
        some = flags[begin : begin + many]
        at = some[:, :3].T[:, :, None]
        near = (lower[1] <= at[1]) & (at[1] <= upper[1]) & (lower[0] <= at[0]) & (at[0] <= upper[0]) & (upper[2] >= at[2])
        flag, face = np.nonzero(near)
        tests += len(flag)
        asked = np.ascontiguousarray(some[flag].reshape(-1, 3, 3).transpose(1, 2, 0))
        triangles = np.ascontiguousarray(corners[:, :, face].transpose(1, 0, 2))
        crossing, on_it = face_crossings(asked, triangles, certain)
        balance = np.zeros(len(on_it), np.int64)
        held = np.flatnonzero(on_it)
        if len(held):
            balance[held] = facings(triangles.take(held, axis=2), certain)
        for place, column in enumerate((crossing, on_it, balance)):
            found[begin : begin + many, place] = np.bincount(flag, column, len(some))
    return tests


@in_columns(sample_sheets)
def sample_columns(vertices: Floats, faces: Ints, sheet_of_face: Ints, sample: Ints, turned: NDArray[np.int8]) -> None:
    """Write each sheet's lowest face with an area, and its normal's direction."""
    points = np.ascontiguousarray(vertices.T)
    directions = facings(points[:, faces.T].transpose(1, 0, 2), certain_of(points))
    with_area = np.flatnonzero(directions)[::-1]  # of equal sheets the last one written stays: the lowest face
    sample[sheet_of_face[with_area]], turned[sheet_of_face[with_area]] = with_area, directions[with_area]


def certain_of(points: Floats) -> Certain:
    """Return when signs are certain, for any of these points (3, v)."""
    span = float((points.max(axis=1, initial=-np.inf) - points.min(axis=1, initial=np.inf)).max()) if points.size else 0.0
    return certain_signs(points, span)


def facings(t: Floats, certain: Certain) -> Signs:
    """Return the signs (n,) of the first nonzero coordinate of normals, in the order z, x, y."""
    signs = orient2d(t[0, :2], t[1, :2], t[2, :2], certain)
    for axes in ([1, 2], [2, 0]):
        left = np.flatnonzero(signs == 0)
        if len(left):
            seen = t.take(left, axis=2)[:, axes]
            signs[left] = orient2d(seen[0], seen[1], seen[2], certain)
    return signs


def face_crossings(flags: Floats, t: Floats, certain: Certain) -> tuple[Longs, Bools]:
    """Return each face's share of a flag's winding number, and whether it holds the flag.

    For faces that are not beside the flags.
    """
    around, _ = _shadows(flags, t, certain)
    lower = t[:, 2].min(axis=0) <= flags[0, 2]
    side = np.zeros(len(around), np.int8)
    below = np.flatnonzero(lower & (around != 0))
    side[below] = _sides_of_faces(flags.take(below, axis=2), t.take(below, axis=2), certain)
    passes = ~lower | (side * around < 0)
    on_it = lower & (around != 0) & (side == 0)
    beside = np.flatnonzero(lower & (around == 0))
    on_it[beside] = _on_faces(flags.take(beside, axis=2), t.take(beside, axis=2), certain)
    return np.where(passes, around, 0), on_it


def _shadows(flags: Floats, t: Floats, certain: Certain) -> tuple[Longs, Bools]:
    """Return how shadows of faces wind around flags, and whether those with an area hold them."""
    around = np.zeros(t.shape[2], np.int64)
    lowest, highest = np.zeros(t.shape[2], np.int8), np.zeros(t.shape[2], np.int8)
    is_below = [_is_below(flags, corner) for corner in t]
    for k in range(3):
        side = _sides_of_edges(flags, t[k], t[(k + 1) % 3], certain)
        lowest, highest = np.minimum(lowest, side), np.maximum(highest, side)
        here, there = is_below[k], is_below[(k + 1) % 3]
        around -= here & ~there & (side < 0)
        around += ~here & there & (side > 0)
    return around, (lowest == 0) | (highest == 0)


def _is_below(flags: Floats, a: Floats) -> Bools:
    """Return whether flags have a smaller y than points."""
    p, q, r = flags[:, 1]
    y = a[1]
    below: Bools = np.where(p != y, p < y, (q < y) | ((q == y) & (r < y)))
    return below


def _sides_of_edges(flags: Floats, a: Floats, b: Floats, certain: Certain) -> Signs:
    """Return the sides of lines ab of flags, seen from above."""
    side = orient2d(a[:2], b[:2], flags[0, :2], certain)
    for point in flags[1:]:
        left = np.flatnonzero(side == 0)
        if len(left):
            side[left] = orient2d(a[:2, left], b[:2, left], point[:2, left], certain)
    return side


def _sides_of_faces(flags: Floats, t: Floats, certain: Certain) -> Signs:
    """Return the sides of planes of flags."""
    side = np.zeros(t.shape[2], np.int8)
    for point in flags:
        left = np.flatnonzero(side == 0)
        if len(left):
            p, q, r = t.take(left, axis=2)
            side[left] = orient3d(p, q, r, point[:, left], certain)
    return side


def _on_faces(flags: Floats, t: Floats, certain: Certain) -> Bools:
    """Return whether closed triangles contain flags; their points p are in the bounding boxes."""
    on_it: Bools = np.zeros(t.shape[2], bool)
    left = np.flatnonzero(_sides_of_faces(flags, t, certain) == 0)
    flags, t = flags.take(left, axis=2), t.take(left, axis=2)
    on_one_line = np.ones(len(left), bool)
    for _ in range(3):
        has_area = orient2d(t[0, :2], t[1, :2], t[2, :2], certain) != 0
        chosen, rest = np.flatnonzero(has_area), np.flatnonzero(~has_area)
        on_it[left[chosen]] = _shadows(flags.take(chosen, axis=2), t.take(chosen, axis=2), certain)[1]
        left, on_one_line, flags, t = left[rest], on_one_line[rest], flags.take(rest, axis=2), t.take(rest, axis=2)
        on_one_line &= _sides_of_edges(flags, t[0], t[1], certain) == 0
        on_one_line &= _sides_of_edges(flags, t[1], t[2], certain) == 0
        flags, t = flags[:, ROLLED], t[:, ROLLED]
    on_it[left] = on_one_line
    return on_it

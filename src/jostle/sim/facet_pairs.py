"""Choice of near facet pairs: each facet with the closest one of the other body.

These are the sample pairs of Guy and Debunne 2004, §3.1, among the rows of a report. Rows come from any method that reports faces,
touching or within the clearance. The facets of a pair must face each other (n_a · n_b below a bound), so that sides and backs of
thin parts do not push. Each facet chooses its closest partner, and a pair is kept if either side has chosen it: about as many pairs
as facets, where all near rows are several times as many and add nothing. A partner of the last step is replaced only by a clearly
closer one, so that pairs last while bodies rest (§5.5 needs ages). If a budget ended the search, pairs of the last step that are
still near are kept as well, so that a contact missed for a frame is not lost.

An open mesh has two sides; the other facet's side at the creation of the pair counts.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.triangle import face_at
from jostle.geometry.vector import Vec3
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.sim.back_projection import ALIKE, FacetPairs
from jostle.sim.surfaces import FIXED, Surfaces, facet_of

Rows = tuple[Ints, Ints, Ints, Ints]  # body_a, body_b, and the faces of each

FACING = -0.2  # largest n_a · n_b of facets that push each other
CLEARLY_CLOSER = 0.7  # share of the squared distance to the last partner


def no_pairs() -> FacetPairs:
    """Return no pairs."""
    ints, floats, bools = np.empty(0, np.int32), np.empty(0), np.empty(0, bool)
    return FacetPairs(ints, ints, ints, ints, floats, floats, bools, bools, floats, floats, floats, floats)


def chosen_pairs(rows: Rows, surfaces: Surfaces, points: Floats, last: FacetPairs) -> FacetPairs:
    """Return the facet pairs of sorted rows (n,), given by body numbers and faces.

    Parameters
    ----------
    points : (v, 3)
        World positions of all vertices.
    last : FacetPairs
        Of the last step: pairs that remain keep their age, their side, and whether they are held.
    """
    body_a, body_b, face_a, face_b = rows
    count, faces = len(body_a), len(surfaces.face)
    if count == 0:
        return no_pairs()
    keys = last.face_a.astype(np.int64) * faces + last.face_b
    order = np.argsort(keys, kind="stable")
    row, known = np.empty(count, np.int64), np.empty(count, np.int64)
    side_a, side_b = np.empty(count), np.empty(count)
    columns = read_only_view(body_a), read_only_view(body_b), read_only_view(face_a), read_only_view(face_b)
    scratch = np.empty(count), np.full(faces, np.inf), np.full(faces, -1, np.int64)
    count = choose_pairs(
        *columns, surfaces, read_only_view(points), keys[order], last.side_a[order], last.side_b[order], *scratch,
        row, known, side_a, side_b,
    )  # fmt: skip
    row, known = row[:count], known[:count]
    a, b = body_a[row], body_b[row]
    there = known >= 0
    pairs = FacetPairs(
        a.astype(np.int32),
        b.astype(np.int32),
        (surfaces.first_face[a] + face_a[row]).astype(np.int32),
        (surfaces.first_face[b] + face_b[row]).astype(np.int32),
        side_a[:count].copy(),
        side_b[:count].copy(),
        np.ones(count, bool),
        np.zeros(count, bool),
        np.full(count, np.inf),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count),
    )
    before = order[known[there]]
    for name in ("work", "held", "gap", "slip", "speed", "age"):
        getattr(pairs, name)[there] = getattr(last, name)[before]
    return pairs


def with_remembered(rows: Rows, last: FacetPairs, surfaces: Surfaces, points: Floats, clearance: float) -> Rows:
    """Return sorted rows of a report with the previous step's near pairs.

    Near: within the clearance of their plane, and centres no farther apart than the sum of the radii (§4.2).
    """
    corners_a, corners_b = points[surfaces.face[last.face_a]], points[surfaces.face[last.face_b]]
    middle_a, middle_b = corners_a.mean(axis=1), corners_b.mean(axis=1)
    reach = sum(
        np.sqrt(((corners - middle[:, None]) ** 2).sum(axis=2).max(axis=1))
        for corners, middle in ((corners_a, middle_a), (corners_b, middle_b))
    )
    near = (last.gap <= clearance) & (((middle_a - middle_b) ** 2).sum(axis=1) <= reach**2)
    body_a, body_b = last.body_a[near], last.body_b[near]
    kept = body_a, body_b, last.face_a[near] - surfaces.first_face[body_a], last.face_b[near] - surfaces.first_face[body_b]
    together = np.stack([np.concatenate([one, other]) for one, other in zip(rows, kept, strict=True)])
    together = together[:, np.lexsort(together[::-1])]
    new = np.ones(together.shape[1], bool)
    new[1:] = (together[:, 1:] != together[:, :-1]).any(axis=0)
    a, b, c, d = np.ascontiguousarray(together[:, new]).astype(np.int32)
    return a, b, c, d


@kernel
def choose_pairs(  # type: ignore[no-untyped-def]
    body_a, body_b, face_a, face_b, surfaces, points, keys, old_side_a, old_side_b, distance, nearest, best,
    row, known, side_a, side_b,
):  # fmt: skip
    """Write the chosen rows (k,), their index in keys (-1: new) and sides; return k.

    keys (m,) sorted, of the last pairs; distance (n,), nearest (f,) inf and best (f,) -1 are scratch.
    """
    rows, faces = body_a.shape[0], surfaces.face.shape[0]
    count, first = 0, 0
    while first < rows:
        a, b = body_a[first], body_b[first]
        last = first
        while last < rows and body_a[last] == a and body_b[last] == b:
            last += 1
        if surfaces.kind[a] != FIXED or surfaces.kind[b] != FIXED:
            from_a, from_b = surfaces.first_face[a], surfaces.first_face[b]
            for r in range(first, last):
                fa, fb = from_a + face_a[r], from_b + face_b[r]
                place = place_of(keys, np.int64(fa) * faces + fb)
                one, other = surfaces.outward[a], surfaces.outward[b]
                if place >= 0:
                    one, other = old_side_a[place], old_side_b[place]
                away, sa, sb = apart(surfaces, points, fa, fb, one, other)
                if place >= 0:
                    away *= CLEARLY_CLOSER
                distance[r], known[r], side_a[r], side_b[r] = away, place, sa, sb
                if away < nearest[fa]:
                    nearest[fa], best[fa] = away, r
                if away < nearest[fb]:
                    nearest[fb], best[fb] = away, r
            # Columns are filled from the front, never beyond the row being read.
            for r in range(first, last):
                fa, fb = from_a + face_a[r], from_b + face_b[r]
                if distance[r] < np.inf and (best[fa] == r or best[fb] == r):
                    row[count], known[count], side_a[count], side_b[count] = r, known[r], side_a[r], side_b[r]
                    count += 1
            for r in range(first, last):
                fa, fb = from_a + face_a[r], from_b + face_b[r]
                nearest[fa], nearest[fb], best[fa], best[fb] = np.inf, np.inf, -1, -1
        first = last
    return count


@kernel
def place_of(keys, key):  # type: ignore[no-untyped-def]
    """Return the index of a key in sorted keys, or -1."""
    low, high = 0, keys.shape[0]
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < keys.shape[0] and keys[low] == key else -1


@kernel
def apart(surfaces, points, fa, fb, side_a, side_b):  # type: ignore[no-untyped-def]
    """Return the squared distance of two facets' centres, and the sides.

    The distance is inf if the facets do not face each other.

    A side of 0 means either.
    """
    i, j, k = surfaces.face[fa, 0], surfaces.face[fa, 1], surfaces.face[fa, 2]
    px, py, pz, ax, ay, az, ra = facet_of(
        points[i, 0], points[i, 1], points[i, 2], points[j, 0], points[j, 1], points[j, 2],
        points[k, 0], points[k, 1], points[k, 2], 1.0,
    )  # fmt: skip
    i, j, k = surfaces.face[fb, 0], surfaces.face[fb, 1], surfaces.face[fb, 2]
    qx, qy, qz, bx, by, bz, rb = facet_of(
        points[i, 0], points[i, 1], points[i, 2], points[j, 0], points[j, 1], points[j, 2],
        points[k, 0], points[k, 1], points[k, 2], 1.0,
    )  # fmt: skip
    dx, dy, dz = qx - px, qy - py, qz - pz
    if side_a == 0.0:
        side_a = 1.0 if (ax * dx + ay * dy) + az * dz >= 0.0 else -1.0
    if side_b == 0.0:
        side_b = 1.0 if (bx * dx + by * dy) + bz * dz <= 0.0 else -1.0
    facing = (side_a * side_b) * ((ax * bx + ay * by) + az * bz)
    if not facing < FACING:
        return np.inf, side_a, side_b
    if ra > ALIKE * rb:
        # Distance of the small centre from the large triangle, whose own centre may be far away.
        return beside(surfaces, points, fa, qx, qy, qz), side_a, side_b
    if rb > ALIKE * ra:
        return beside(surfaces, points, fb, px, py, pz), side_a, side_b
    return (dx * dx + dy * dy) + dz * dz, side_a, side_b


@kernel
def beside(surfaces, points, face, x, y, z):  # type: ignore[no-untyped-def]
    """Return the squared distance of a point from a face."""
    return closest_point_on_triangle(Vec3(x, y, z), face_at(points, surfaces.face, face)).squared

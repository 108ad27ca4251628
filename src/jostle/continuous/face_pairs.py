"""First times of contact of face pairs: Eckstein and Schömer, section 4.2.

Exactly the faces that touch at t = 0, by the exact static test, have the time 0. If both surfaces move along straight lines and
there is no separation, queries of corners against faces and of pairs of edges decide the rest, each made once although several face
pairs share it: exactly with `roots="certified"` (never late, early by at most `tolerance`), or with the paper's root finders, which
may miss contacts. If a surface rotates, or with a separation, the distance of the two faces is followed
(`continuous/certified/triangles.py`): no contact is missed or late, and there is one if the distance falls to the separation plus a
stated δ.

Deviation: the paper tests all features of two leaves; here signs of coordinate differences cull queries first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.continuous.certified.triangles import KEPT_SHARE, early, first_times_within, new_lead
from jostle.continuous.feature_queries import CODES, QuerySet, collect_queries, least_times, mark_meeting, write_features
from jostle.continuous.moving_faces import moving_faces
from jostle.continuous.moving_surface import MovingSurface
from jostle.continuous.queries import EDGE_EDGE, ITERATIONS, POINT_TRIANGLE, certified_times
from jostle.continuous.regula_falsi import regula_falsi_times
from jostle.continuous.start_contacts import least_start_distance, start_contacts
from jostle.geometry.aabb import box_of_points
from jostle.geometry.features import Features
from jostle.kernels.arrays import read_only_view
from jostle.kernels.hash_set import EMPTY

__all__ = ["FaceTimes", "Features", "MovingSurface", "first_times"]

Codes = NDArray[np.int8]

LARGEST_CHUNK = 8192  # face pairs whose queries are collected at once: at most 24 MB
LARGEST_START = 1 << 16  # face pairs tested at the start at once: at most 0.1 s
FIRST_CHUNK = 128  # in order of earliest times; each further chunk has twice as many
TOGETHER = 1e-9  # of the step: among features that meet within this, corners on faces are reported before edges
WITHIN = 1.001  # bodies nearer than this times the separation have reached it
# Times of faces that do not touch at the start are at least this: 0.0 means contact at the start.
LEAST_TIME = float(np.finfo(np.float64).tiny)


class FaceTimes(NamedTuple):
    """First times of face pairs, and the features that meet then."""

    time: Floats  # (n,) 0 … 1, inf if they do not meet (or were not tested)
    features: Features


def first_times(
    a: MovingSurface,
    b: MovingSurface,
    face_a: Ints,
    face_b: Ints,
    separation: float = 0.0,
    roots: str = "certified",
    tolerance: float = 1e-6,
    earliest: Floats | None = None,
    only_first: bool = False,
    lead: Floats | None = None,
) -> FaceTimes:
    """Return the first times of contact of face pairs.

    Parameters
    ----------
    a, b : MovingSurface
        The same object for a surface against itself.
    face_a, face_b : (n,) int32
        Faces by number; each pair once.
    separation : float
        The distance at which faces count as in contact (docs/conventions.md: motion); `kept_separation` of the two bodies. Above 0,
        times are always certified.
    roots : {"certified", "regula_falsi", "linear_interpolation"}
    tolerance : float
        How early a time may be, as a part of the step.
    earliest : (n,) float64, optional
        For `only_first`: a time before which each face pair cannot come within the separation plus `slack(a, b)`.
    only_first : bool
        Find only the first contact: face pairs are tested in order of `earliest`, and those that cannot come before the best one so
        far are left out (inf). The least time, and the lowest (face_a, face_b) that has it, are the same as without; but if the
        distance is followed and more than 255 face pairs meet, the time is a tenth of the tolerance earlier, and any of the faces
        that meet within that may be reported.
    lead : (5,) float64, optional
        With `only_first`, from `triangles.new_lead`: shared by several calls of which the first contact of all is wanted. The
        caller subtracts `triangles.early` from the least time.
    """
    face_a, face_b = np.ascontiguousarray(face_a, np.int32), np.ascontiguousarray(face_b, np.int32)
    count = len(face_a)
    time, code = np.full(count, np.inf), np.full(count, -1, np.int8)
    own_lead = only_first and lead is None
    work = _Work(a, b, float(separation), roots, float(tolerance), new_lead() if own_lead else lead)
    waiting = work.contacts_at_start(face_a, face_b, time, code) if separation == 0.0 else None
    if waiting is None or (len(waiting) and not (only_first and len(waiting) < count)):
        work.search(face_a, face_b, waiting, earliest if only_first else None, time, code)
    if own_lead:
        shift_earlier(time, early(work.lead, tolerance))
    features = Features.none(count)
    write_features(code, read_only_view(face_a), read_only_view(face_b), work.faces_a.faces, work.faces_b.faces, features)
    return FaceTimes(time, features)


def start_distance(a: MovingSurface, b: MovingSurface, face_a: Ints, face_b: Ints, most: float) -> float:
    """Return the least distance of face pairs (n,) at t = 0, at most `most`.

    It is exactly 0.0 if some touch.
    """
    faces_a, faces_b = moving_faces(*a), moving_faces(*b)
    rows_a, rows_b = read_only_view(face_a), read_only_view(face_b)
    for begin in range(0, len(face_a), LARGEST_START):  # not all at once, so that Ctrl-C is heard
        part = slice(begin, begin + LARGEST_START)
        most = least_start_distance(faces_a, faces_b, rows_a[part], rows_b[part], float(most))
    return most


def kept_separation(separation: float, distance: float) -> float:
    """Return the separation that two bodies at this distance at t = 0 must keep.

    It is the requested one, or a little less than they have. It is one length for all of their faces, so that a body within the
    separation slides from face to face of the other. A body that was stopped at the separation is within it, though it was stopped
    a little before. The length stays above 0: faces that touch at the start are free where they part.
    """
    return separation if distance > WITHIN * separation else max(KEPT_SHARE * distance, LEAST_TIME)


def shift_earlier(time: Floats, by: float) -> None:
    """Subtract `by` from all times after the start."""
    if by > 0.0:
        later = time > 0.0
        time[later] = np.maximum(time[later] - by, LEAST_TIME)


def slack(a: MovingSurface, b: MovingSurface, tolerance: float = 1e-6) -> float:
    """Return how much beyond the separation two faces may be at their contact.

    A bound on when and where faces may meet must hold for the separation plus this, so that it leaves out no contact.
    """
    corners = np.empty((8, 3))
    for k, vertices in enumerate((a.vertices_t0, a.vertices_t1, b.vertices_t0, b.vertices_t1)):
        box_of_points(read_only_view(vertices), corners[2 * k], corners[2 * k + 1])
    return _share(tolerance) * float(np.ptp(corners, axis=0).max())


def _share(tolerance: float) -> float:
    """Return twice the δ of `certified/triangles.py` for faces of size 1."""
    return 2.0 * max(1e-6 * tolerance, 2.0**-39)


def _room_for(most: int) -> QuerySet:
    """Return an empty set with room for this many queries."""
    table = np.full(1 << most.bit_length(), EMPTY, np.int32)  # more than there can be queries
    return QuerySet(table, np.empty((most, 2), np.int64), np.empty((most, 8, 3)), np.zeros(1, np.int64))


class _Work:
    """One call of `first_times`, with its arrays for kernels."""

    def __init__(
        self, a: MovingSurface, b: MovingSurface, separation: float, roots: str, tolerance: float, lead: Floats | None
    ) -> None:
        self.separation, self.roots, self.tolerance = separation, roots, tolerance
        self.a, self.b = a, b
        self.faces_a, self.faces_b = moving_faces(*a), moving_faces(*b)
        self.lead = lead
        self.follows_distance = separation > 0.0 or (roots == "certified" and not (a.is_straight and b.is_straight))

    def contacts_at_start(self, face_a: Ints, face_b: Ints, time: Floats, code: Codes) -> Longs | None:
        """Write time 0 for face pairs that touch at the start; return the other rows.

        None stands for all rows.
        """
        kind = np.empty(len(face_a), np.uint8)
        count, touching = len(face_a), 0
        rows_a, rows_b = read_only_view(face_a), read_only_view(face_b)
        for begin in range(0, count, LARGEST_START):  # not all at once, so that Ctrl-C is heard
            part = slice(begin, begin + LARGEST_START)
            touching += start_contacts(self.faces_a, self.faces_b, rows_a[part], rows_b[part], kind[part], code[part])
        if touching == 0:
            return None
        time[kind != 0] = 0.0
        return np.flatnonzero(kind == 0)

    def search(self, face_a: Ints, face_b: Ints, rows: Longs | None, earliest: Floats | None, time: Floats, code: Codes) -> None:
        """Write times and codes of these rows (None: all), in chunks.

        With `earliest` in its order, and only as long as they can be the first.
        """
        if earliest is not None:
            order = np.argsort(earliest if rows is None else earliest[rows], kind="stable")
            rows = order if rows is None else rows[order]
        count = len(face_a) if rows is None else len(rows)
        begin, size, best = 0, LARGEST_CHUNK if earliest is None else FIRST_CHUNK, np.inf
        while begin < count:
            end = min(count, begin + size)
            if rows is None and end - begin == count:
                self.times_of(face_a, face_b, time, code)
                return
            chunk = np.arange(begin, end) if rows is None else rows[begin:end]
            if earliest is not None:
                # A time is early by up to the tolerance: rows left out must be later than the best even so.
                chunk = chunk[: int(np.searchsorted(earliest[chunk], best + self.tolerance, side="right"))]
                if len(chunk) == 0:
                    return
            part_time, part_code = np.empty(len(chunk)), np.empty(len(chunk), np.int8)
            self.times_of(face_a[chunk], face_b[chunk], part_time, part_code)
            time[chunk], code[chunk] = part_time, part_code
            best = min(best, float(part_time.min()))
            begin, size = end, min(2 * size, LARGEST_CHUNK)

    def times_of(self, face_a: Ints, face_b: Ints, time: Floats, code: Codes) -> None:
        """Write times and codes of face pairs that do not touch at the start.

        With a separation they may touch.
        """
        if self.follows_distance:
            self._by_distance(face_a, face_b, time, code)
        else:
            self._by_features(face_a, face_b, time, code)
        if self.separation == 0.0:
            np.maximum(time, LEAST_TIME, out=time)

    def _by_features(self, face_a: Ints, face_b: Ints, time: Floats, code: Codes) -> None:
        """Write times by queries of corners against faces and of pairs of edges."""
        count = len(face_a)
        points, edges, slots = _room_for(6 * count), _room_for(9 * count), np.empty((count, CODES), np.int32)
        collect_queries(self.faces_a, self.faces_b, read_only_view(face_a), read_only_view(face_b), points, edges, slots)
        point_times, edge_times = self._query_times(POINT_TRIANGLE, points), self._query_times(EDGE_EDGE, edges)
        least_times(slots, point_times, edge_times, TOGETHER, time, code)

    def _query_times(self, kind: int, queries: QuerySet) -> Floats:
        """Return the first times of queries; names of faces are negative."""
        count = int(queries.filled[0])
        corners, names = queries.corners[:count], queries.names[:count]
        if count == 0:
            return np.empty(0)
        if self.roots == "certified":
            return certified_times(kind, corners, self.tolerance)
        iterations, a, b = ITERATIONS[self.roots], self.a.turn, self.b.turn
        if kind == EDGE_EDGE:
            return regula_falsi_times(kind, corners, a, b, iterations)
        times, of_b = np.empty(len(corners)), names[:, 0] < 0
        times[~of_b] = regula_falsi_times(kind, corners[~of_b], a, b, iterations)
        times[of_b] = regula_falsi_times(kind, corners[of_b], b, a, iterations)
        return times

    def _by_distance(self, face_a: Ints, face_b: Ints, time: Floats, code: Codes) -> None:
        """Write times by following the distance of the two faces."""
        meeting = np.empty(len(face_a), bool)
        rows_a, rows_b, a, b = read_only_view(face_a), read_only_view(face_b), self.faces_a, self.faces_b
        mark_meeting(a, b, rows_a, rows_b, self.separation, _share(self.tolerance), meeting)
        time.fill(np.inf)
        code.fill(-1)
        rows = np.flatnonzero(meeting)
        if len(rows) == 0:
            return
        corners_a, corners_b = a.faces[face_a[rows]], b.faces[face_b[rows]]
        found = first_times_within(
            a.start[corners_a], a.end[corners_a], self.a.turn, b.start[corners_b], b.end[corners_b], self.b.turn,
            self.separation, self.tolerance, self.lead,
        )  # fmt: skip
        time[rows], code[rows] = found.time, found.feature

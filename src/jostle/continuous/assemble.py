"""Reports of queries along a motion, from face pairs and their first times.

A method passes `MovingRows`: face pairs that meet within the step, with the time and the features of their first contact. Here the
first row of each body pair is chosen (least time, then lowest faces) unless the query wants all, rows get their kinds and
distances, and are filtered for the query.

Kinds: faces that touch or cross at t = 0 have that of the static test; later contacts are TOUCHING; with a separation they are
NEAR, with the distance at the time of contact. Segment, point and normal are those at the time of contact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.continuous.contact_geometry import details_in_motion
from jostle.continuous.moving_bodies import MovingBodies
from jostle.continuous.moving_faces import moving_faces
from jostle.continuous.start_contacts import start_contacts
from jostle.geometry.contact_kind import NEAR, TOUCHING
from jostle.geometry.features import Features
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Frame
from jostle.interface.query import Query
from jostle.kernels.arrays import read_only_view
from jostle.report.report import Contacts, Counters, Pairs, Report, replaced

NO_CONTACTS = replaced(Contacts.empty(), features=Features.none(0))  # features are never None along a motion


class MovingRows(NamedTuple):
    """Face pairs in any order: body pair number, faces, first time and features."""

    pair: Ints
    face_a: Ints
    face_b: Ints
    time: Floats  # inf if they do not meet
    features: Features

    def select(self, rows: NDArray[np.integer] | NDArray[np.bool_]) -> MovingRows:
        """Return the rows of a mask or index array."""
        return MovingRows(self.pair[rows], self.face_a[rows], self.face_b[rows], self.time[rows], self.features.select(rows))

    @staticmethod
    def joined(parts: list[MovingRows]) -> MovingRows:
        """Return all rows of the parts."""
        if not parts:
            none = np.empty(0, np.int32)
            return MovingRows(none, none, none, np.empty(0), Features.none(0))
        pair, face_a, face_b, time = (np.concatenate([part[k] for part in parts]) for k in range(4))
        return MovingRows(pair, face_a, face_b, time, Features.joined([part.features for part in parts]))


def first_of_each_pair(rows: MovingRows) -> MovingRows:
    """Return the earliest row of each body pair; ties go to the lowest faces."""
    if len(rows.pair) == 1:
        return rows
    order = np.lexsort((rows.face_b, rows.face_a, rows.time, rows.pair))
    first = np.ones(len(order), bool)
    first[1:] = np.diff(rows.pair[order]) != 0
    return rows.select(order[first])


def first_of_all_pairs(rows: MovingRows) -> MovingRows:
    """Return the earliest row; ties go to the lowest body pair, then the lowest faces."""
    return rows.select(np.lexsort((rows.face_b, rows.face_a, rows.pair, rows.time))[:1])


def motion_report(
    rows: MovingRows, pairs: CandidatePairs, bodies: MovingBodies, frame: Frame, query: Query, counters: Counters
) -> Report:
    """Return the report of the face pairs that meet within the step.

    Parameters
    ----------
    rows : MovingRows
        Rows that the method found: all, or at least the first of each body pair; with `rows="any"` at least the first of all. In
        any order, each once.
    pairs : CandidatePairs
        The body pairs, by number, sorted.
    bodies : MovingBodies
        The surfaces that the method tested.
    """
    met = np.isfinite(rows.time)
    if not met.all():
        rows = rows.select(met)
    if len(rows.pair) == 0:
        return Report(contacts=NO_CONTACTS, counters=counters)
    if query.rows == "any":
        rows = first_of_all_pairs(rows)
    elif not query.all_contacts or query.rows == "first":
        rows = first_of_each_pair(rows)
    else:
        rows = rows.select(np.lexsort((rows.face_b, rows.face_a, rows.pair)))
    contacts = contacts_in_motion(rows, pairs, bodies, frame, query.separation)
    found = Pairs.of(contacts)
    if query.rows in ("faces", "first"):
        return Report(found, contacts, counters)
    return Report(found.without_rows(), NO_CONTACTS, counters)


def contacts_in_motion(rows: MovingRows, pairs: CandidatePairs, bodies: MovingBodies, frame: Frame, separation: float) -> Contacts:
    """Return sorted rows as contacts.

    Their geometry is computed on first access, or at once if distances need it.
    """
    body_a, body_b = pairs.body_a[rows.pair], pairs.body_b[rows.pair]
    kind = _kinds_at_start(rows, body_a, body_b, bodies, frame)
    kind[kind == 0] = NEAR if separation > 0.0 else TOUCHING
    contacts = Contacts(
        body_a=body_a, body_b=body_b, face_a=rows.face_a, face_b=rows.face_b, kind=kind, distance=np.zeros(len(kind)),
        time=rows.time, features=rows.features,
    )  # fmt: skip
    compute = details_in_motion(bodies, frame, contacts)
    if separation == 0.0:
        return replaced(contacts, _details=compute)
    details, near = compute(), kind == NEAR
    contacts.distance[near] = np.linalg.norm(details.segment[near, 1] - details.segment[near, 0], axis=1)
    return replaced(contacts, _details=details)


def _kinds_at_start(rows: MovingRows, body_a: Ints, body_b: Ints, bodies: MovingBodies, frame: Frame) -> NDArray[np.uint8]:
    """Return the kinds of rows with time 0 (sorted by pair), 0 for the others."""
    kind = np.zeros(len(rows.pair), np.uint8)
    at_start = np.flatnonzero(rows.time == 0.0)
    if len(at_start) == 0:
        return kind
    for chosen in np.split(at_start, np.flatnonzero(np.diff(rows.pair[at_start])) + 1):
        a, b = (moving_faces(*bodies.of(frame, int(body[chosen[0]]))) for body in (body_a, body_b))
        found, code = np.empty(len(chosen), np.uint8), np.empty(len(chosen), np.int8)
        start_contacts(a, b, read_only_view(rows.face_a[chosen]), read_only_view(rows.face_b[chosen]), found, code)
        kind[chosen] = found
    return kind

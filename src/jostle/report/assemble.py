"""From rows of face pairs to a report: the steps shared by all methods.

A method passes `Rows`: faces, kinds, distances, and the number of each row's body pair. The columns become those of the contacts;
here they get their bodies, are summarised by pair, get the rows that `solid` adds, and are filtered for the query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.contact_kind import OVERLAPPING
from jostle.interface.body_pairs import CandidatePairs, pair_key
from jostle.interface.frame import Frame
from jostle.interface.query import Query
from jostle.report.contact_geometry import details_of_rows
from jostle.report.containment import PairRows, any_boxes_meet, solid_rows
from jostle.report.report import CONTACT_COLUMNS, Contacts, Counters, Pairs, Report, replaced
from jostle.report.row_kernels import label_runs


class Rows(NamedTuple):
    """Rows of many pairs, sorted by (pair, face_a, face_b); `pair` is a number."""

    pair: Ints
    face_a: Ints
    face_b: Ints
    kind: NDArray[np.uint8]
    distance: Floats

    @staticmethod
    def of_pair(number: int, face_a: Ints, face_b: Ints, kind: NDArray[np.uint8], distance: Floats) -> Rows:
        """Return the rows of one pair."""
        return Rows(np.full(len(face_a), number, np.int32), face_a, face_b, kind, distance)

    @staticmethod
    def joined(parts: Sequence[Rows]) -> Rows:
        """Return all rows, one part after the other."""
        return Rows(*(np.concatenate(column) for column in zip(*parts, strict=True))) if parts else NO_ROWS

    def chosen(self, which: NDArray[Any]) -> Rows:
        """Return the rows of a mask or index array."""
        return Rows(self.pair[which], self.face_a[which], self.face_b[which], self.kind[which], self.distance[which])


NO_ROWS = Rows(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8), np.empty(0))


def labelled(rows: Rows, pairs: CandidatePairs, frame: Frame) -> tuple[Contacts, Pairs]:
    """Return rows as contacts, and their pairs.

    One kernel does it: NumPy's dozen calls take longer than many a search.
    """
    count = len(rows.pair)
    if count == 0:
        return Contacts.empty(), Pairs.empty()
    body_a, body_b = np.empty(count, np.int32), np.empty(count, np.int32)
    most = min(count, len(pairs.body_a))
    a, b, number = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.int32)
    kind, distance = np.empty(most, np.uint8), np.empty(most)
    n = label_runs(rows.pair, rows.kind, rows.distance, pairs.body_a, pairs.body_b, body_a, body_b, a, b, kind, number, distance)
    if n < most:
        a, b, kind, number, distance = a[:n], b[:n], kind[:n], number[:n], distance[:n]
    found = {"body_a": a, "body_b": b, "kind": kind, "rows": number, "distance": distance}
    return contacts_of(body_a, body_b, rows, frame), Pairs.unchecked(found)


def contacts_of(body_a: Ints, body_b: Ints, rows: Rows, frame: Frame) -> Contacts:
    """Return rows as contacts of these bodies, with geometry on first access."""
    _, face_a, face_b, kind, distance = rows
    columns = {"body_a": body_a, "body_b": body_b, "face_a": face_a, "face_b": face_b, "kind": kind, "distance": distance}
    columns["_details"] = details_of_rows(frame, body_a, body_b, face_a, face_b, kind)
    return Contacts.unchecked(columns)


def merged(one: Contacts, other: Contacts, frame: Frame) -> Contacts:
    """Return all rows of both, sorted."""
    both: dict[str, Any] = {name: np.concatenate([getattr(one, name), getattr(other, name)]) for name in CONTACT_COLUMNS}
    faces = (both["face_a"].astype(np.int64) << 32) + both["face_b"]  # a face may be -1
    order = np.lexsort((faces, pair_key(both["body_a"], both["body_b"])))  # four columns would take twice as long
    rows = {name: column[order] for name, column in both.items()}
    details = details_of_rows(frame, *(rows[name] for name in ("body_a", "body_b", "face_a", "face_b", "kind")))
    return Contacts(**rows, _details=details)


def with_solids(contacts: Contacts, touching: Pairs, pairs: CandidatePairs, frame: Frame) -> tuple[Contacts, Pairs]:
    """Add a row for every part of a body inside another, and mark overlapping pairs.

    `contacts` are all rows of the pairs, `touching` the pairs with rows.
    """
    if len(contacts) == 0 and not any_boxes_meet(pairs.body_a, pairs.body_b, frame):
        return contacts, touching
    ends = np.cumsum(touching.rows, dtype=np.int64)
    last = np.zeros(len(pairs.body_a), np.int64)
    first = last.copy()
    key, of_touching = pair_key(pairs.body_a, pairs.body_b), pair_key(touching.body_a, touching.body_b)
    order = np.argsort(key, kind="stable")
    place = order[np.searchsorted(key, of_touching, sorter=order)]
    first[place], last[place] = ends - touching.rows, ends
    rows = PairRows(pairs.body_a, pairs.body_b, first, last, contacts.face_a, contacts.face_b, contacts.kind)
    found = solid_rows(rows, frame)
    if len(found.pair):
        added = Rows(found.pair, found.face_a, found.face_b, found.kind, np.zeros(len(found.pair)))
        a, b = pairs.body_a[found.pair], pairs.body_b[found.pair]
        contacts = merged(contacts, contacts_of(a, b, added, frame), frame)
        touching = Pairs.of(contacts)
    overlapping = CandidatePairs(pairs.body_a[found.overlapping], pairs.body_b[found.overlapping])
    return contacts, with_overlapping(touching, overlapping)


def with_overlapping(pairs: Pairs, overlapping: CandidatePairs | Pairs) -> Pairs:
    """Return the pairs with the kind OVERLAPPING for some of them."""
    if len(overlapping.body_a) == 0:
        return pairs
    kind = pairs.kind.copy()
    places = np.searchsorted(pair_key(pairs.body_a, pairs.body_b), pair_key(overlapping.body_a, overlapping.body_b))
    kind[places] = OVERLAPPING
    return replaced(pairs, kind=kind)


def summed_up(contacts: Contacts, before: Pairs) -> Pairs:
    """Summarise contacts again after rows were added; keep the kind OVERLAPPING."""
    return with_overlapping(Pairs.of(contacts), before.select(before.kind == OVERLAPPING))


def report_of(rows: Rows, pairs: CandidatePairs, frame: Frame, query: Query, counters: Counters, itself: Rows = NO_ROWS) -> Report:
    """Return the report of all touching rows of these pairs, filtered for the query.

    itself : rows of bodies against themselves, sorted; `pair` is the number of the body
    """
    contacts, touching = labelled(rows, pairs, frame)
    if query.solid:
        contacts, touching = with_solids(contacts, touching, pairs, frame)
    if len(itself.pair):
        contacts = merged(contacts, contacts_of(itself.pair, itself.pair, itself, frame), frame)
        touching = summed_up(contacts, touching)
    return filter_for_query(contacts, touching, counters, query)


def report_of_bodies(
    pairs: CandidatePairs, met: NDArray[Any], kind: NDArray[np.uint8], distance: Floats, counters: Counters
) -> Report:
    """Return the report of the pairs that `met` selects, for methods without faces."""
    if len(met) == 0:
        return Report(Pairs.empty(), counters=counters)
    body_a, body_b = pairs.body_a[met], pairs.body_b[met]
    found = Pairs(body_a=body_a, body_b=body_b, kind=kind, rows=np.zeros(len(body_a), np.int32), distance=distance)
    return Report(found, counters=counters)


def filter_for_query(contacts: Contacts, pairs: Pairs, counters: Counters, query: Query) -> Report:
    """Return the report with the rows that the query wants."""
    if len(pairs.body_a) == 0 or query.rows == "faces" or (query.rows == "first" and len(contacts) == len(pairs)):
        return Report(pairs, contacts, counters)
    if query.rows == "first":
        if query.clearance > 0.0:
            one_row_each = replaced(pairs, rows=np.ones(len(pairs), np.int32))  # kind and distance: of all rows
            return Report(one_row_each, contacts.select(_nearest_rows(contacts, pairs)), counters)
        contacts = contacts.select(_first_of_the_worst(contacts, pairs))
        return Report(summed_up(contacts, pairs), contacts, counters)
    if query.rows == "any":
        pairs = pairs.select(np.s_[:1])
    return Report(pairs.without_rows(), counters=counters)


def _nearest_rows(contacts: Contacts, pairs: Pairs) -> NDArray[np.int64]:
    """Return the row of least distance of each pair; ties go to the lowest faces."""
    return _first_marked(contacts.distance == np.repeat(pairs.distance, pairs.rows), pairs)


def _first_of_the_worst(contacts: Contacts, pairs: Pairs) -> NDArray[np.int64]:
    """Return the first row of the most severe kind of each pair."""
    # Kinds of rows: the pair may be OVERLAPPING.
    return _first_marked(contacts.kind == np.repeat(Pairs.of(contacts).kind, pairs.rows), pairs)


def _first_marked(marked: NDArray[np.bool_], pairs: Pairs) -> NDArray[np.int64]:
    """Return the first marked row of each pair; each has one."""
    if len(pairs) == 0:
        return np.empty(0, np.int64)
    starts = np.cumsum(pairs.rows, dtype=np.int64) - pairs.rows
    index = np.where(marked, np.arange(len(marked)), len(marked))
    return np.minimum.reduceat(index, starts)

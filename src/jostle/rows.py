"""Rows of face pairs on their way into a report: what every method does with the rows it found, once.

A method hands over `Rows` (faces, kinds, distances, and which of its pairs of bodies each belongs to); here they get their
bodies and are summarised by pair, parts of bodies inside others are added where solids were asked for, and what the query
does not want is left out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.broad_phase.volumes import CandidatePairs
from jostle.containment import contained_parts
from jostle.details import details_of_rows
from jostle.frame import Floats, Frame, Ints
from jostle.pair_rows import label_runs
from jostle.query import Query
from jostle.report import Contacts, Counters, Pairs, Report, unknown_column


class Rows(NamedTuple):
    """Rows of many pairs: the number of the pair in the list, faces, kind and distance; sorted by (pair, face_a, face_b)."""

    pair: Ints
    face_a: Ints
    face_b: Ints
    kind: NDArray[np.uint8]
    distance: Floats


def labelled(rows: Rows, pairs: CandidatePairs, frame: Frame) -> tuple[Contacts, Pairs]:
    """Rows as contacts, and the pairs that they make, by one kernel: NumPy's dozen calls take longer than many a search."""
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
    return contacts_of(body_a, body_b, rows, frame), Pairs(a, b, kind, number, distance, unknown_column(n))


def contacts_of(body_a: Ints, body_b: Ints, rows: Rows, frame: Frame) -> Contacts:
    """Return rows as contacts of these bodies; where they touch is computed when it is asked for."""
    unknown = unknown_column(len(rows.kind))
    details = details_of_rows(frame, body_a, body_b, rows.face_a, rows.face_b, rows.kind)
    return Contacts(body_a, body_b, rows.face_a, rows.face_b, rows.kind, rows.distance, unknown, unknown, details)


def merged(one: Contacts, other: Contacts, frame: Frame) -> Contacts:
    """All rows of both, in order."""
    columns = [
        np.concatenate([getattr(one, n), getattr(other, n)]) for n in ("body_a", "body_b", "face_a", "face_b", "kind", "distance")
    ]
    order = np.lexsort(columns[3::-1])
    body_a, body_b, face_a, face_b, kind, distance = (column[order] for column in columns)
    return contacts_of(body_a, body_b, Rows(body_a, face_a, face_b, kind, distance), frame)


def with_contained(contacts: Contacts, pairs: CandidatePairs, frame: Frame) -> Contacts:
    """Add a row for every part of a body that lies inside the other of its pair."""
    parts = contained_parts(pairs, contacts, frame)
    if not parts:
        return contacts
    a, b, face_a, face_b, kind = (np.array(column) for column in zip(*parts, strict=True))
    none = np.zeros(len(a), np.int32)
    added = Rows(none, face_a.astype(np.int32), face_b.astype(np.int32), kind.astype(np.uint8), np.zeros(len(a)))
    return merged(contacts, contacts_of(a.astype(np.int32), b.astype(np.int32), added, frame), frame)


def report_of(rows: Rows, pairs: CandidatePairs, frame: Frame, query: Query, counters: Counters) -> Report:
    """Return the report of all touching rows of these pairs, as the query wants it."""
    contacts, touching = labelled(rows, pairs, frame)
    if query.solid:
        contacts = with_contained(contacts, pairs, frame)
        touching = Pairs.of(contacts)
    return as_asked(contacts, touching, counters, query)


def as_asked(contacts: Contacts, pairs: Pairs, counters: Counters, query: Query) -> Report:
    """Keep the rows that the query wants."""
    if query.rows == "faces" or (query.rows == "first" and len(contacts) == len(pairs)):
        return Report(pairs, contacts, counters)
    if query.rows == "first":
        worst = _first_of_the_worst(contacts, pairs)
        contacts = contacts.select(worst)
        return Report(Pairs.of(contacts), contacts, counters)
    if query.rows == "any":
        pairs = pairs.select(np.s_[:1])
    return Report(pairs.without_rows(), counters=counters)


def _first_of_the_worst(contacts: Contacts, pairs: Pairs) -> NDArray[np.int64]:
    """Of each pair the first row of its most severe kind."""
    starts = np.cumsum(pairs.rows) - pairs.rows
    severe = contacts.kind == np.repeat(pairs.kind, pairs.rows)
    # The first True of each run: the lowest index among the severe rows.
    index = np.where(severe, np.arange(len(severe)), len(severe))
    return np.minimum.reduceat(index, starts) if len(starts) else np.empty(0, np.int64)

"""Body pairs by their touching faces: decided along edges, or left open.

A contact along an edge is tested once, in the row of the lowest faces at its edges: every face around an edge that lies in a face
has a row with it. Rows that meet in a point alone say only that a sheet touches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.contact_kind import CROSSING, NEAR
from jostle.geometry.triangle import Bounds, face_at
from jostle.geometry.vector import Vec3, point_from, write_point_from
from jostle.geometry.winding import flag_winding
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, borrowed
from jostle.report.containment.contact_work import (
    CROSSED,
    FREE_PART,
    SHEET,
    TOUCHED,
    TOUCHING_PART,
    UNTESTED,
    ContactRows,
    ContactWork,
    PairAnswers,
    PairRows,
    SolidPair,
    open_work,
)
from jostle.report.containment.edge_contacts import meet_along_edges
from jostle.report.containment.sectors import MEETING
from jostle.report.containment.solid_bodies import BodyFacts, SolidBody, open_body, start_of


class Inclusion(NamedTuple):
    """One body of a pair, and the box of the other, inside which it may lie."""

    pair: int
    of_b: int  # whether b may lie inside a, instead of a inside b
    inner: SolidBody
    inner_closed: bool
    bounds: Bounds


@kernel
def test_pairs(
    addresses: Addresses, bodies: Addresses, facts: BodyFacts, pairs: PairRows, answers: PairAnswers, first: int, last: int
) -> tuple[int, int]:
    """Decide pairs first … last - 1 along edges, and list what needs a winding number.

    addresses of a `ContactWork`, bodies a table of `SolidBody`. Returns the number of questions, written as far as there is room,
    and the number of contacts along edges.
    """
    work = open_work(addresses)
    rows = ContactRows(borrowed(pairs.face_a), borrowed(pairs.face_b), borrowed(pairs.kind), borrowed(answers.undecided))
    edges, count = 0, as_int64(0)
    for number in range(first, last):
        a, b = as_int64(pairs.body_a[number]), as_int64(pairs.body_b[number])
        closed_a, closed_b = facts.closed[a], facts.closed[b]
        answers.meet[number] = UNTESTED
        if a == b or not (closed_a or closed_b):
            continue
        pair = SolidPair(open_body(bodies, a), open_body(bodies, b), pairs.first[number], pairs.last[number])
        touches, crosses = mark_rows(work, rows, pair)
        sheets_decide = False
        if closed_a and closed_b and touches and not crosses:
            answer, tests = meet_along_edges(work, rows, pair)
            answers.meet[number] = answer
            edges += tests
            sheets_decide = answer != MEETING
        for of_b in range(2):
            inner, outer, outer_closed, inner_closed = (pair.b, a, closed_a, closed_b) if of_b else (pair.a, b, closed_b, closed_a)
            if not outer_closed:
                continue
            box = facts.boxes[outer]
            inclusion = Inclusion(number, of_b, inner, inner_closed, Bounds(point_from(box, 0), point_from(box, 3)))
            count = ask_for_parts(work, inclusion, count)
            if sheets_decide:
                count = ask_for_sheets(work, inclusion, count)
    return count, edges


@kernel
def mark_rows(work: ContactWork, rows: ContactRows, pair: SolidPair) -> tuple[bool, bool]:
    """Mark sheets and parts that touch or cross; return whether any do."""
    a, b, marks = pair.a, pair.b, work.marks
    for i in range(max(len(a.inner), len(b.inner), len(a.first_face_of_part), len(b.first_face_of_part))):
        for of_b in range(2):
            marks[i].sheet[of_b] = 0
            marks[i].part[of_b] = 0
    touches, crosses = False, False
    for row in range(pair.first_row, pair.last_row):
        kind = rows.kind[row]
        if kind == NEAR:
            continue
        touches = True
        mark = TOUCHED
        if kind == CROSSING:
            mark = CROSSED
            crosses = True
        face_a, face_b = rows.face_a[row], rows.face_b[row]
        marks[a.sheet_of_face[face_a]].sheet[0] |= mark
        marks[b.sheet_of_face[face_b]].sheet[1] |= mark
        marks[a.part_of_face[face_a]].part[0] |= mark
        marks[b.part_of_face[face_b]].part[1] |= mark
    return touches, crosses


@kernel
def ask_for_parts(work: ContactWork, inclusion: Inclusion, count: int) -> int:
    """List the parts that may lie inside; return the question count.

    Parts of touching closed bodies are left out.
    """
    inner = inclusion.inner
    for part in range(len(inner.first_face_of_part)):
        face = as_int64(inner.first_face_of_part[part])
        mark = work.marks[part].part[inclusion.of_b]
        if mark == 0:
            if is_within(start_of(inner, 3 * face), inclusion.bounds):
                count = ask(work, inclusion, as_int64(FREE_PART), face, count)
        elif mark == TOUCHED and not inclusion.inner_closed:
            count = ask(work, inclusion, as_int64(TOUCHING_PART), face, count)
    return count


@kernel
def ask_for_sheets(work: ContactWork, inclusion: Inclusion, count: int) -> int:
    """List the sheets that touch in single points only; return the question count."""
    inner = inclusion.inner
    for sheet in range(len(inner.inner)):
        if work.marks[sheet].sheet[inclusion.of_b] == TOUCHED and inner.inner[sheet] != 0:
            count = ask(work, inclusion, as_int64(SHEET), as_int64(inner.sample[sheet]), count)
    return count


@kernel
def ask(work: ContactWork, inclusion: Inclusion, subject: int, face: int, count: int) -> int:
    """Write one question, if there is room; return the new number of questions."""
    if count < len(work.questions):
        question = work.questions[count]
        question.pair, question.of_b, question.subject, question.face = inclusion.pair, inclusion.of_b, subject, face
        for k in range(3):
            # For a part that touches nothing a corner is tested; for a touching sheet a point beside it.
            side = 3 * face + (k if subject == SHEET else 0)
            write_point_from(question.flag, 3 * k, start_of(inclusion.inner, side))
    return count + 1


@kernel(forceinline=True)
def is_within(point: Vec3, bounds: Bounds) -> bool:
    """Return whether a point lies in a closed box."""
    lower, upper = bounds.lower, bounds.upper
    return lower.x <= point.x <= upper.x and lower.y <= point.y <= upper.y and lower.z <= point.z <= upper.z


@kernel
def part_is_inside(
    vertices: Floats, faces: Ints, part_of_face: Ints, outer_vertices: Floats, outer_faces: Ints, first_face: int, box: Floats
) -> bool:
    """Return whether a part of an open body that crosses nothing lies inside.

    Its first face not on the other surface decides.

    vertices (n,3), faces (m,3), box (6,) of the outer body's vertices.
    """
    part = part_of_face[first_face]
    bounds = Bounds(point_from(box, 0), point_from(box, 3))
    for f in range(first_face, faces.shape[0]):
        if part_of_face[f] == part:
            t = face_at(vertices, faces, f)
            if not (is_within(t.p, bounds) and is_within(t.q, bounds) and is_within(t.r, bounds)):
                return False
    flag, every = np.empty(9), np.arange(outer_faces.shape[0])
    for f in range(first_face, faces.shape[0]):
        if part_of_face[f] == part:
            t = face_at(vertices, faces, f)
            write_point_from(flag, 0, t.p)
            write_point_from(flag, 3, t.q)
            write_point_from(flag, 6, t.r)
            winding, holding, _ = flag_winding(flag, outer_vertices, outer_faces, every)
            if holding == 0:
                return winding != 0
    return False

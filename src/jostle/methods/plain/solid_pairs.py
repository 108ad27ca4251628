"""Pairs of solids by their touching faces, in columns: what `test_pairs` in `report/containment/` finds.

All bodies stand in one flat table of faces; side 3 f + k goes from corner k of face f to the next. Importing this module makes
`test_pairs` run so until Numba is loaded, and wherever nothing is compiled (`kernels/interpreting.py`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jostle._types import Bools, Floats, Longs
from jostle.geometry.contact_kind import CROSSING, NEAR
from jostle.kernels.interpreting import in_columns
from jostle.kernels.structs import Addresses
from jostle.methods.plain.edge_sectors import EdgePlaces, Fans, places_of_edges, sectors_meet
from jostle.methods.plain.flat_triangles import projected
from jostle.methods.plain.signs import orient2d, orient3d, sides_of_plane
from jostle.methods.plain.tree import ranges
from jostle.methods.plain.windings import certain_of
from jostle.report.containment.contact_work import (
    ALONG_EDGES,
    CROSSED,
    FREE_PART,
    SHEET,
    TOUCHED,
    TOUCHING_PART,
    UNTESTED,
    PairAnswers,
    PairRows,
    open_work,
)
from jostle.report.containment.edge_place import INSIDE, NO_AREA
from jostle.report.containment.face_contacts import test_pairs
from jostle.report.containment.sectors import APART, MEETING, UNDECIDED
from jostle.report.containment.solid_bodies import BodyFacts, open_body

AFTER, BEFORE = np.array([1, 1, -2]), np.array([2, -1, -1])  # from a side of a face to the next, and to the one before


class SolidTable(NamedTuple):
    """The faces, sheets and parts of some bodies, one body after the other."""

    corners: Floats  # (3, 3, m) corner, coordinate, face
    first_side: Longs  # (3m,) of the fan of each side
    next_side: Longs  # (3m,) -1 after the last
    sheet_of_face: Longs  # (m,)
    part_of_face: Longs
    inner: Longs  # (sheets,)
    sample: Longs  # (sheets,) a face
    first_face_of_part: Longs  # (parts,)
    first_face: Longs  # (n + 1,) of each body, by its number in the frame
    first_sheet: Longs
    first_part: Longs

    @staticmethod
    def of(table: Addresses, used: Bools) -> SolidTable:
        """Return the used bodies of a table of `SolidBody`."""
        columns: dict[str, list[Any]] = {name: [] for name in SolidTable._fields[:8]}
        counts = np.zeros((3, len(used) + 1), np.int64)
        for body in np.flatnonzero(used).tolist():
            opened: Any = open_body(table, body)
            arrays = {name: np.asarray(getattr(opened, name)).astype(np.int64) for name in SolidTable._fields[1:8]}
            face, sheet, part = counts[:, : body + 1].sum(axis=1).tolist()
            faces = np.asarray(opened.faces).reshape(-1, 3)
            columns["corners"].append(np.asarray(opened.vertices).reshape(-1, 3)[faces].transpose(1, 2, 0))
            columns["first_side"].append(arrays["first_side"] + 3 * face)
            columns["next_side"].append(np.where(arrays["next_side"] < 0, -1, arrays["next_side"] + 3 * face))
            columns["sheet_of_face"].append(arrays["sheet_of_face"] + sheet)
            columns["part_of_face"].append(arrays["part_of_face"] + part)
            columns["inner"].append(arrays["inner"])
            columns["sample"].append(arrays["sample"] + face)
            columns["first_face_of_part"].append(arrays["first_face_of_part"] + face)
            counts[:, body + 1] = len(faces), len(arrays["inner"]), len(arrays["first_face_of_part"])
        return SolidTable(*(np.concatenate(parts, axis=-1) for parts in columns.values()), *np.cumsum(counts, axis=1))

    def start_of(self, side: Longs) -> Floats:
        """Return the corners (3, n) at which sides begin."""
        return self.corners[side % 3, :, side // 3].T


class Marks:
    """Marks of the sheets, or the parts, of both bodies of each pair."""

    def __init__(self, first: Longs, body_a: Longs, body_b: Longs) -> None:
        self._first, self._body = first, (body_a, body_b)
        count = np.stack([first[body + 1] - first[body] for body in self._body])  # (2, pairs)
        ends = np.cumsum(count.T.reshape(-1)).reshape(-1, 2).T
        self._begin = ends - count
        self.pair = np.repeat(np.repeat(np.arange(len(body_a)), 2), count.T.reshape(-1))
        self.of_b = np.repeat(np.tile([0, 1], len(body_a)), count.T.reshape(-1))
        self.number = ranges(np.stack([first[body] for body in self._body]).T.reshape(-1), count.T.reshape(-1))
        self.mark = np.zeros(len(self.pair), np.uint8)

    def add(self, pair: Longs, of_b: Longs, number: Longs, mark: int) -> None:
        """Mark sheets or parts of bodies of pairs."""
        body = np.where(of_b == 1, self._body[1][pair], self._body[0][pair])
        self.mark[self._begin[of_b, pair] + number - self._first[body]] |= mark


class Edges(NamedTuple):
    """Edges of rows in the plane of the other face; see `ContactEdge`."""

    row: Longs  # by number among the rows that are tested
    of_b: Longs
    side: Longs
    corners: Floats  # (3, 3, n) of the face; the edge leads from the first to the second
    third_lies: Longs
    other: Longs  # the other face

    def chosen(self, rows: Longs) -> Edges:
        """Return some of the edges."""
        return Edges(
            self.row[rows], self.of_b[rows], self.side[rows], self.corners[:, :, rows], self.third_lies[rows], self.other[rows]
        )  # fmt: skip


@in_columns(test_pairs)
def test_columns(
    addresses: Addresses, bodies: Addresses, facts: BodyFacts, pairs: PairRows, answers: PairAnswers, first: int, last: int
) -> tuple[int, int]:
    """Decide pairs first … last - 1 along edges, and list what needs a winding number."""
    answers.meet[first:last] = UNTESTED
    closed_a, closed_b = facts.closed[pairs.body_a[first:last]], facts.closed[pairs.body_b[first:last]]
    numbers = first + np.flatnonzero((pairs.body_a != pairs.body_b)[first:last] & (closed_a | closed_b))
    if not len(numbers):
        return 0, 0
    a, b = pairs.body_a[numbers].astype(np.int64), pairs.body_b[numbers].astype(np.int64)
    used = np.zeros(len(facts.closed), bool)
    used[a] = used[b] = True
    table = SolidTable.of(bodies, used)
    sheets, parts = Marks(table.first_sheet, a, b), Marks(table.first_part, a, b)
    row = ranges(pairs.first[numbers], pairs.last[numbers] - pairs.first[numbers])
    pair = np.repeat(np.arange(len(numbers)), pairs.last[numbers] - pairs.first[numbers])
    row, pair = row[pairs.kind[row] != NEAR], pair[pairs.kind[row] != NEAR]
    face_a, face_b = pairs.face_a[row] + table.first_face[a[pair]], pairs.face_b[row] + table.first_face[b[pair]]
    is_crossing = pairs.kind[row] == CROSSING
    for mark, chosen in ((TOUCHED, np.flatnonzero(~is_crossing)), (CROSSED, np.flatnonzero(is_crossing))):
        for of_b, face in enumerate((face_a[chosen], face_b[chosen])):
            side = np.full(len(chosen), of_b)
            sheets.add(pair[chosen], side, table.sheet_of_face[face], mark)
            parts.add(pair[chosen], side, table.part_of_face[face], mark)
    touches, crosses = np.zeros(len(numbers), bool), np.zeros(len(numbers), bool)
    touches[pair], crosses[pair[is_crossing]] = True, True
    tested = facts.closed[a] & facts.closed[b] & touches & ~crosses
    meet, tests = np.full(len(numbers), UNTESTED), 0
    some = np.flatnonzero(tested[pair])
    if len(some):
        contacts = _Contacts(table, sheets, pair[some], face_a[some], face_b[some])
        undecided, tests = contacts.decide(meet, tested)
        answers.undecided[row[some[undecided]]] = True
    answers.meet[numbers] = meet
    asked = _questions(table, facts, sheets, parts, (a, b), tested & (meet != MEETING))
    return _ask(addresses, table, asked, numbers), tests


class _Contacts:
    """The contacts along edges of rows of touching closed bodies."""

    def __init__(self, table: SolidTable, sheets: Marks, pair: Longs, face_a: Longs, face_b: Longs) -> None:
        self._table, self._sheets, self._pair = table, sheets, pair
        self._faces = face_a, face_b
        corners = table.corners[:, :, np.concatenate([face_a, face_b])]
        self._certain = certain_of(corners.transpose(1, 0, 2).reshape(3, -1))

    def decide(self, meet: Longs, tested: Bools) -> tuple[Longs, int]:
        """Write the answers of tested pairs; return undecided rows, and the number of tests.

        Like the kernel, a pair ends at its first edge where interiors meet.
        """
        edges = self._edges()
        found, tests = self._tested(edges)
        pair = self._pair[edges.row]
        order = np.arange(len(found))
        first_meeting = np.full(len(meet), len(found))
        np.minimum.at(first_meeting, pair[found == MEETING], order[found == MEETING])
        meet[tested] = APART
        meet[pair[found == UNDECIDED]] = UNDECIDED
        meet[first_meeting < len(found)] = MEETING
        last_row = np.full(len(meet), len(self._pair))
        ends = first_meeting < len(found)
        last_row[ends] = edges.row[first_meeting[ends]]
        undecided = edges.row[(found == UNDECIDED) & (edges.row < last_row[pair])]
        return undecided, int(tests[order <= first_meeting[pair]].sum())

    def _edges(self) -> Edges:
        """Return the edges to test, in the kernel's order: by row, body and corner."""
        table, certain, (face_a, face_b) = self._table, self._certain, self._faces
        a, b = table.corners[:, :, face_a], table.corners[:, :, face_b]
        lower = np.maximum(a.min(axis=0), b.min(axis=0))
        upper = np.minimum(a.max(axis=0), b.max(axis=0))
        rows = np.flatnonzero((lower < upper).any(axis=0))  # the others share a point only
        a, b, face_a, face_b = a.take(rows, axis=2), b.take(rows, axis=2), face_a[rows], face_b[rows]
        found: list[Edges] = []
        for of_b, (mine, other, face, other_face) in enumerate(((a, b, face_a, face_b), (b, a, face_b, face_a))):
            sides = sides_of_plane(other, mine, certain)
            for k in range(3):
                side = 3 * face + k
                here, there, third = sides[k], sides[(k + 1) % 3], sides[(k + 2) % 3].astype(np.int64)
                chosen = np.flatnonzero((here == 0) & (there == 0) & (table.first_side[side] == side))
                turned = mine[[k, (k + 1) % 3, (k + 2) % 3]].take(chosen, axis=2)
                of = np.full(len(chosen), of_b)
                found.append(Edges(rows[chosen], of, side[chosen], turned, third[chosen], other_face[chosen]))
        edges = Edges(*(np.concatenate(column, axis=-1) for column in zip(*found, strict=True)))
        return edges.chosen(np.lexsort((edges.side % 3, edges.of_b, edges.row)))

    def _tested(self, edges: Edges) -> tuple[Longs, Longs]:
        """Return what edges decide, and 1 for each that is tested."""
        table = self._table
        place = places_of_edges(edges.corners[0], edges.corners[1], table.corners[:, :, edges.other], self._certain)
        found, tests = np.full(len(edges.row), APART), np.zeros(len(edges.row), np.int64)
        found[place.where == NO_AREA] = UNDECIDED
        inside = np.flatnonzero(place.where == INSIDE)
        found[inside] = self._in_faces(edges.chosen(inside), place.chosen(inside))
        other_side = 3 * edges.other + np.maximum(place.where, 0)
        along = np.flatnonzero((place.where >= 0) & (edges.of_b == 0) & (table.first_side[other_side] == other_side))
        found[along] = self._along_edges(edges.chosen(along), other_side[along])
        tests[inside] = tests[along] = 1
        return found, tests

    def _in_faces(self, edges: Edges, place: EdgePlaces) -> Longs:
        """Return whether interiors meet where edges enter faces of the other body; see `edge_in_face`."""
        table, certain, t, third = self._table, self._certain, edges.corners, edges.third_lies
        sheet, other_sheet = table.sheet_of_face[edges.side // 3], table.sheet_of_face[edges.other]
        inner, other_inner = table.inner[sheet], table.inner[other_sheet]
        pair = self._pair[edges.row]
        self._sheets.add(pair, edges.of_b, sheet, ALONG_EDGES)
        self._sheets.add(pair, 1 - edges.of_b, other_sheet, ALONG_EDGES)
        second = table.next_side[edges.side]
        odd = (second < 0) | (table.next_side[second] >= 0) | (np.abs(inner) != 1) | (np.abs(other_inner) != 1)
        second = np.where(second < 0, edges.side, second)
        beside = table.start_of(second + BEFORE[second % 3])
        other = table.corners[:, :, edges.other]
        second_lies = orient3d(other[0], other[1], other[2], beside, certain).astype(np.int64)
        lies = orient3d(t[0], t[1], t[2], beside, certain)
        both_outside = np.where(lies == inner, APART, np.where(lies == -inner, MEETING, UNDECIDED))
        seen = projected(np.stack((t[0], t[1], t[2], beside)), place.axis)
        first_turned = np.where(third == 0, orient2d(seen[0], seen[1], seen[2], certain), 0)
        second_turned = np.where(second_lies == 0, -orient2d(seen[0], seen[1], seen[3], certain), 0)
        unclear = (
            ((third == 0) & (first_turned == 0)) | ((second_lies == 0) & (second_turned == 0)) | (first_turned == -second_turned)
        )
        face_turned = np.where(third == 0, first_turned, second_turned)
        in_plane = np.where(inner * face_turned == other_inner * place.turned, MEETING, APART)
        found = np.where(unclear, UNDECIDED, in_plane)
        found = np.where((third != 0) & (second_lies != 0), both_outside, found)
        found = np.where((third == other_inner) | (second_lies == other_inner), MEETING, found)
        return np.where(odd, UNDECIDED, found)

    def _along_edges(self, edges: Edges, other_side: Longs) -> Longs:
        """Return whether interiors meet at edges of a that run along edges of b; see `edge_along_edge`."""
        found = np.full(len(other_side), UNDECIDED)
        start, end, _ = edges.corners
        pair = self._pair[edges.row]
        known, a = self._fans(pair, edges.side, 0, start, end)
        left = np.flatnonzero(known)
        start, end = start[:, left], end[:, left]
        known, b = self._fans(pair[left], other_side[left], 1, start, end)
        both = np.flatnonzero(known)
        fans = a.chosen(left[both]), b.chosen(both)
        found[left[both]] = sectors_meet(start[:, both], end[:, both], *fans, self._certain)
        return found

    def _fans(self, pair: Longs, side: Longs, of_b: int, start: Floats, end: Floats) -> tuple[Bools, Fans]:
        """Return which edges have two half planes with known sides, and these; mark their sheets."""
        table = self._table
        known = np.ones(len(side), bool)
        halves: list[tuple[Floats, Bools]] = []
        left, at = np.arange(len(side)), side
        while len(left):
            sheet = table.sheet_of_face[at // 3]
            self._sheets.add(pair[left], np.full(len(left), of_b), sheet, ALONG_EDGES)
            inner = table.inner[sheet]
            known[left] &= np.abs(inner) == 1
            if len(halves) < 2:
                direction = table.start_of(at + AFTER[at % 3]) - table.start_of(at)
                along = _run_along(end[:, left] - start[:, left], direction)
                corner, is_left = np.zeros((3, len(side))), np.zeros(len(side), bool)
                corner[:, left], is_left[left] = table.start_of(at + BEFORE[at % 3]), along == (inner > 0)
                halves.append((corner, is_left))
            else:
                known[left] = False
            following = table.next_side[at]
            if len(halves) == 1:
                known[left] &= following >= 0
            left, at = left[following >= 0], following[following >= 0]
        while len(halves) < 2:
            halves.append((np.zeros((3, len(side))), np.zeros(len(side), bool)))
        return known, Fans(*halves[0], *halves[1])


def _run_along(ahead: Floats, direction: Floats) -> Bools:
    """Return whether directions on lines are the lines' own."""
    x, y, z = direction * ahead
    along: Bools = np.where(x != 0.0, x > 0.0, np.where(y != 0.0, y > 0.0, z > 0.0))
    return along


class _Asked(NamedTuple):
    """Questions for winding numbers, sorted; the pair by its place among the chosen ones, faces in the flat table."""

    pair: Longs
    of_b: Longs
    subject: Longs
    face: Longs


def _questions(
    table: SolidTable, facts: BodyFacts, sheets: Marks, parts: Marks, bodies: tuple[Longs, Longs], sheets_decide: Bools
) -> _Asked:
    """Return what needs a winding number; see `ask_for_parts` and `ask_for_sheets`."""
    inner, outer = np.stack(bodies), np.stack(bodies[::-1])  # (2, pairs) by of_b
    face = table.first_face_of_part[parts.number]
    box = facts.boxes[outer[parts.of_b, parts.pair]].T
    corner = table.corners[0, :, face].T
    within = ((box[:3] <= corner) & (corner <= box[3:])).all(axis=0)
    is_free = (parts.mark == 0) & within
    touches = (parts.mark == TOUCHED) & ~facts.closed[inner[parts.of_b, parts.pair]]
    of_part = np.flatnonzero((is_free | touches) & facts.closed[outer[parts.of_b, parts.pair]])
    subject = np.where(is_free, FREE_PART, TOUCHING_PART)
    of_sheet = (sheets.mark == TOUCHED) & (table.inner[sheets.number] != 0) & sheets_decide[sheets.pair]
    of_sheet = np.flatnonzero(of_sheet & facts.closed[outer[sheets.of_b, sheets.pair]])
    asked = _Asked(
        np.concatenate([parts.pair[of_part], sheets.pair[of_sheet]]),
        np.concatenate([parts.of_b[of_part], sheets.of_b[of_sheet]]),
        np.concatenate([subject[of_part], np.full(len(of_sheet), SHEET)]),
        np.concatenate([face[of_part], table.sample[sheets.number[of_sheet]]]),
    )
    order = np.lexsort((asked.subject == SHEET, asked.of_b, asked.pair))
    return _Asked(*(column[order] for column in asked))


def _ask(addresses: Addresses, table: SolidTable, asked: _Asked, numbers: Longs) -> int:
    """Write questions as far as there is room; return their number."""
    work: Any = open_work(addresses)
    questions = np.asarray(work.questions)
    count = min(len(questions), len(asked.pair))
    pair, of_b, subject, face = (column[:count] for column in asked)
    corners = table.corners[:, :, face]
    flag = np.where(subject == SHEET, corners, corners[:1])
    body = np.searchsorted(table.first_face, face, side="right") - 1
    questions["pair"][:count], questions["of_b"][:count] = numbers[pair], of_b
    questions["subject"][:count], questions["face"][:count] = subject, face - table.first_face[body]
    questions["flag"][:count] = flag.transpose(2, 0, 1).reshape(-1, 9)
    return len(asked.pair)

"""Solid answers for body pairs: which interiors meet, which parts lie inside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Ints
from jostle.geometry.contact_kind import A_IN_B, B_IN_A, NEAR
from jostle.geometry.winding_columns import windings
from jostle.interface.frame import Frame
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import KEPT_BYTES
from jostle.kernels.scratch import Workspaces
from jostle.report.containment.contact_work import (
    SHEET,
    TOUCHING_PART,
    UNTESTED,
    ContactWork,
    Marks,
    PairAnswers,
    PairRows,
    Question,
)
from jostle.report.containment.edge_pieces import interiors_meet
from jostle.report.containment.face_contacts import part_is_inside, test_pairs
from jostle.report.containment.rational import Surface
from jostle.report.containment.sectors import MEETING, UNDECIDED
from jostle.report.containment.solid_bodies import SolidBodies, boxes_meet
from jostle.shapes.mesh import Mesh
from jostle.shapes.topology import is_regular_at, touches_itself

Questions = NDArray[np.void]  # of `Question`

ROWS_AT_ONCE = 200_000  # rows, or sixteenths of pairs, per call of the kernel: some 50 ms, so that Ctrl-C is heard
FEW_FACES = 500  # up to here finding out whether a mesh touches itself takes less than 2 ms
TIMES_IN_PART = 50  # testing only the faces with contacts this often takes as long as testing all faces once


class SolidRows(NamedTuple):
    """The rows and marks that solids add to rows of faces."""

    pair: Ints  # (k,) by number, of each part that lies inside the other body, sorted; a's parts before b's
    face_a: Ints  # (k,) lowest face of the part, or -1
    face_b: Ints
    kind: NDArray[np.uint8]
    overlapping: NDArray[np.bool_]  # (n,) which pairs touch, do not cross, and have common interior points
    edge_tests: int  # contacts along edges that were tested
    winding_tests: int  # faces tested for winding numbers


def any_boxes_meet(body_a: Ints, body_b: Ints, frame: Frame) -> bool:
    """Return whether boxes of any of these pairs meet; deformable ones always do."""
    if len(body_a) == 0:
        return False
    return bool(boxes_meet(read_only_view(frame.poses), frame.bodies.bounds, read_only_view(body_a), read_only_view(body_b)))


def solid_rows(rows: PairRows, frame: Frame) -> SolidRows:
    """Return the rows that solids add to these pairs, and which pairs overlap."""
    bodies = _bodies_of(rows, frame)
    meet, undecided = np.zeros(len(rows.body_a), np.uint8), np.zeros(len(rows.kind), bool)
    questions, edge_tests = _tested_pairs(rows, bodies, PairAnswers(meet, undecided))
    inside, winding_tests = _inside(questions, rows, bodies, frame)
    overlapping = meet == MEETING
    by_sheet = questions["pair"][inside & (questions["subject"] == SHEET)]
    overlapping[by_sheet], meet[by_sheet] = True, UNTESTED  # a sheet inside decides, for any body
    touch_themselves = _touch_themselves(rows, meet, bodies, frame)
    for pair in np.flatnonzero(touch_themselves | (meet == UNDECIDED)).tolist():
        overlapping[pair] = _rational_answer(rows, pair, None if touch_themselves[pair] else undecided, frame)
    found = questions[inside & (questions["subject"] != SHEET)]
    of_a = found["of_b"] == 0
    face = found["face"].astype(np.int32)
    return SolidRows(
        found["pair"].astype(np.int32),
        np.where(of_a, face, np.int32(-1)),
        np.where(of_a, np.int32(-1), face),
        np.where(of_a, A_IN_B, B_IN_A).astype(np.uint8),
        overlapping,
        edge_tests,
        winding_tests,
    )


def _bodies_of(rows: PairRows, frame: Frame) -> SolidBodies:
    """Return the bodies of these pairs."""
    used, touching = np.zeros(len(frame), bool), np.zeros(len(frame), bool)
    touched = rows.last > rows.first
    for numbers in (rows.body_a, rows.body_b):
        used[numbers] = True
        touching[numbers[touched]] = True
    return SolidBodies(frame, used, touching)


def _tested_pairs(rows: PairRows, bodies: SolidBodies, answers: PairAnswers) -> tuple[Questions, int]:
    """Decide pairs along edges; return open questions and the number of contacts."""
    columns = PairRows(*(read_only_view(column) for column in rows))
    asked, edge_tests = [], 0
    scratch = SCRATCH.take()
    for first, last in _slices(rows):
        needed = 2 * (last - first)
        while True:
            scratch.make_room(bodies.most, needed)
            count, tests = test_pairs(scratch.addresses, bodies.table, bodies.facts, columns, answers, first, last)
            if count <= len(scratch.questions):
                break
            needed = count
        asked.append(scratch.questions[:count].copy())
        edge_tests += tests
    if scratch.questions.nbytes <= KEPT_BYTES:
        SCRATCH.give_back(scratch)
    return asked[0] if len(asked) == 1 else np.concatenate(asked), edge_tests


class _Scratch:
    """A `ContactWork` with room for some sheets and parts, and questions."""

    def __init__(self) -> None:
        self._made(16, 256)

    def make_room(self, marks: int, questions: int) -> None:
        """Grow to these numbers at least."""
        if marks > self._marks or questions > len(self.questions):
            self._made(max(marks, self._marks), max(questions, len(self.questions)))

    def _made(self, marks: int, questions: int) -> None:
        self._marks, self.questions = marks, np.empty(questions, Question.dtype)
        self._table = ContactWork.table(marks=np.zeros(marks, Marks.dtype), questions=self.questions)
        self.addresses = self._table.table[0]


SCRATCH = Workspaces(_Scratch)


def _slices(rows: PairRows) -> list[tuple[int, int]]:
    """Cut the list of pairs into pieces of about equal work."""
    work = np.cumsum(rows.last - rows.first + 16)
    if len(work) == 0 or work[-1] <= ROWS_AT_ONCE:
        return [(0, len(work))]
    ends = np.unique(np.searchsorted(work, np.arange(ROWS_AT_ONCE, int(work[-1]), ROWS_AT_ONCE)) + 1).tolist()
    return list(zip([0, *ends], [*ends, len(work)], strict=True))


def _inside(questions: Questions, rows: PairRows, bodies: SolidBodies, frame: Frame) -> tuple[NDArray[np.bool_], int]:
    """Return which points lie inside, and the number of tested faces.

    One winding number decides each.
    """
    inside = np.zeros(len(questions), bool)
    if len(questions) == 0:
        return inside, 0
    a, b, of_b = rows.body_a[questions["pair"]], rows.body_b[questions["pair"]], questions["of_b"] != 0
    inner, outer = np.where(of_b, b, a), np.where(of_b, a, b)
    tests = 0
    by_point = np.flatnonzero(questions["subject"] != TOUCHING_PART)
    by_point = by_point[np.argsort(outer[by_point], kind="stable")]
    flags = questions["flag"]
    for group in np.split(by_point, np.flatnonzero(np.diff(outer[by_point])) + 1):
        if len(group):
            body = int(outer[group[0]])
            found, tested = windings(flags[group], frame.world_vertices(body), frame.bodies.meshes[body].faces)
            inside[group] = (found[:, 0] != 0) & (found[:, 1] == 0)
            tests += tested
    for k in np.flatnonzero(questions["subject"] == TOUCHING_PART).tolist():
        one, other = int(inner[k]), int(outer[k])
        meshes = frame.bodies.meshes
        inside[k] = part_is_inside(
            frame.world_vertices(one), meshes[one].faces, read_only_view(meshes[one].topology.part_of_face),
            frame.world_vertices(other), meshes[other].faces, int(questions["face"][k]), bodies.facts.boxes[other],
        )  # fmt: skip
    return inside, tests


def _touch_themselves(rows: PairRows, meet: NDArray[np.uint8], bodies: SolidBodies, frame: Frame) -> NDArray[np.bool_]:
    """Return which tested pairs have a body that touches itself.

    Sectors and sheets do not suffice there. A body that is regular around its faces with contacts may touch itself elsewhere: that
    does not matter for these pairs.
    """
    tested: NDArray[np.bool_] = meet != UNTESTED
    chosen = np.flatnonzero(tested)
    found = np.zeros(len(frame), bool)
    for body in np.unique(np.concatenate([rows.body_a[chosen], rows.body_b[chosen]])).tolist():
        mesh = frame.bodies.meshes[body]
        deforms = bool(frame.bodies.deformable[body])
        if _is_cheaper_in_part(mesh, deforms):
            faces = _touching_faces(rows, chosen, body)
            inner = bodies.sides[body].inner[mesh.topology.sheet_of_face[faces]]
            if is_regular_at(faces, frame.vertices[body], (mesh.faces, mesh.welded_faces), inner):
                continue
        if deforms:
            found[body] = touches_itself(frame.vertices[body], mesh.faces, mesh.welded_faces)
        else:
            found[body] = mesh.touches_itself
    return tested & (found[rows.body_a] | found[rows.body_b])


def _is_cheaper_in_part(mesh: Mesh, deforms: bool) -> bool:
    """Return whether to test only faces with contacts first.

    For a rigid body only a few times, because the answer for the whole mesh is kept.
    """
    if len(mesh.faces) < FEW_FACES or (not deforms and mesh.knows_whether_it_touches_itself):
        return False
    mesh._looks_in_part[0] += 1
    return deforms or mesh._looks_in_part[0] <= TIMES_IN_PART


def _touching_faces(rows: PairRows, pairs: NDArray[np.int64], body: int) -> Ints:
    """Return the faces of a body that touch others in these pairs, each once."""
    found: list[Ints] = []
    for bodies, faces in ((rows.body_a, rows.face_a), (rows.body_b, rows.face_b)):
        for pair in pairs[bodies[pairs] == body].tolist():
            chosen = slice(int(rows.first[pair]), int(rows.last[pair]))
            found.append(faces[chosen][rows.kind[chosen] != NEAR])
    return np.unique(np.concatenate(found))


def _rational_answer(rows: PairRows, pair: int, undecided: NDArray[np.bool_] | None, frame: Frame) -> bool:
    """Decide one pair by its undecided rows, or by all."""
    chosen = slice(int(rows.first[pair]), int(rows.last[pair]))
    touching = rows.kind[chosen] != NEAR
    a, b = (
        Surface(frame.world_vertices(body), frame.bodies.meshes[body].faces)
        for body in (int(rows.body_a[pair]), int(rows.body_b[pair]))
    )
    left = None if undecided is None else undecided[chosen][touching]
    return interiors_meet(a, b, rows.face_a[chosen][touching], rows.face_b[chosen][touching], left)

"""Plain: exact rows in NumPy alone, for a first answer without a compiler.

It neither imports Numba nor compiles: what the report adds to the rows is computed in columns (`contact_geometry.py`), or by
interpreted kernels (`kernels/interpreting.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jostle._types import Ints
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import EXACT, Answer, Semantics, Serve, Traits
from jostle.kernels.interpreting import called_without_compiler, without_compiler
from jostle.methods.plain import contact_geometry  # noqa: F401  makes `describe_rows` run in columns
from jostle.methods.plain.closest import closest_faces
from jostle.methods.plain.face_table import FaceTable
from jostle.methods.plain.operations import operations_of, operations_of_closest, operations_of_details
from jostle.methods.plain.rows import PlacedBodies, body_pairs, rows_of_bodies, rows_of_pairs
from jostle.methods.plain.tree import face_order, plan_trees
from jostle.report.assemble import NO_ROWS, Rows, report_of
from jostle.report.contact_geometry import closest_of_faces
from jostle.report.report import Closest, Counters, Details, Report, replaced
from jostle.shapes.mesh import Mesh

FIRST_PAIRS = 64  # of bodies that `rows="any"` tests first; four times as many each time

TRAITS = Traits(
    semantics=Semantics.BOTH,
    answers={Answer.FACES: EXACT, Answer.POINTS: EXACT, Answer.NORMAL: EXACT, Answer.DISTANCE: EXACT},
    serves=frozenset({Serve.CLEARANCE, Serve.SELF, Serve.ADJACENT, Serve.DEFORM, Serve.SOLID}),
    overlays={"boxes of bodies": ""},
)


class FaceOrder(NamedTuple):
    """The faces of a mesh along a space-filling curve."""

    order: Ints  # (m,)


@dataclass(frozen=True)
class Plain:
    """Exact rows in NumPy alone: quick for one question, slow in a loop.

    Examples
    --------
    >>> world = jostle.World("plain")
    >>> same = jostle.World(jostle.Plain())
    >>> world.method == same.method
    True
    >>> ball, wall = world.add("ball.stl", jostle.translation((0, 0, 0.9))), world.add("wall.obj")
    >>> bool(world.detect())
    True
    """

    @property
    def traits(self) -> Traits:
        """Exact, for any mesh."""
        return TRAITS

    @property
    def shape_type(self) -> type:
        """FaceOrder."""
        return FaceOrder

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> FaceOrder:
        """Sort the faces."""
        return FaceOrder(face_order(mesh.vertices, mesh.faces))

    def start(self, bodies: Bodies, shapes: tuple[FaceOrder, ...]) -> PlainDetector:
        """Create the detector."""
        return PlainDetector(bodies, shapes)


class PlainDetector(Detector):
    """Detector of `Plain`; it keeps the shape of the trees between frames.

    Parameters
    ----------
    enter : callable, optional
        Called with the operations of each piece of work (`operations.py`), also of contact geometry that is computed later.
    """

    def __init__(self, bodies: Bodies, shapes: tuple[FaceOrder, ...], enter: Callable[[int], object] = int) -> None:
        self._enter = enter
        self._set_bodies(bodies, shapes)

    def _set_bodies(self, bodies: Bodies, shapes: tuple[FaceOrder, ...]) -> None:
        self._table = FaceTable.of(bodies.meshes)
        self._plan = plan_trees([shape.order for shape in shapes])
        self._faces = sum(len(shape.order) for shape in shapes)

    def change(self, bodies: Bodies, shapes: tuple[FaceOrder, ...], old_to_new: OldToNew) -> None:
        """Plan the trees anew."""
        self._set_bodies(bodies, shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Find the body pairs whose boxes meet, then their faces, all pairs at once."""
        if query.solid:  # their kernels run in columns; imported here, since few ask and all wait
            from jostle.methods.plain import self_contact, solid_pairs, windings  # noqa: F401
        with without_compiler():
            placed = PlacedBodies.of(frame, self._table, self._plan)
            pairs = body_pairs(placed, frame, query.clearance)
            rows, counters = _first_rows(placed, pairs, query)
            counters += Counters(body_pairs=len(pairs.body_a))
            itself = NO_ROWS
            if query.itself:
                itself, work = rows_of_bodies(placed, frame.bodies.meshes, query.clearance, query.adjacent)
                counters += work + Counters(body_pairs=len(frame))
            report = report_of(rows, pairs, frame, query, counters, itself)
        self._enter(operations_of(counters, self._faces, query.solid))
        if len(report.contacts) == 0:
            return report

        @called_without_compiler
        def details() -> Details:
            self._enter(operations_of_details(len(report.contacts)))
            return report.contacts.details

        return replaced(report, contacts=replaced(report.contacts, _details=details))

    def closest(self, frame: Frame, body_a: int, body_b: int) -> Closest:
        """Return the closest faces of two bodies."""
        with without_compiler():
            placed = PlacedBodies.of(frame, self._table, self._plan)
            (distance, face_a, face_b), counters = closest_faces(placed, body_a, body_b)
            self._enter(operations_of_closest(counters, self._faces))
            faces = np.array([face_a, face_b]) + placed.table.first_face[[body_a, body_b]]
            triangle_a, triangle_b = np.ascontiguousarray(placed.corners(faces).T)
            return closest_of_faces(distance, face_a, face_b, triangle_a, triangle_b)

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show the boxes of all bodies."""
        with without_compiler():
            boxes = PlacedBodies.of(frame, self._table, self._plan).boxes
        ends = np.stack([boxes.lower[:, self._plan.root], boxes.upper[:, self._plan.root]])
        return Overlay("boxes of bodies", boxes=ends.transpose(2, 0, 1).copy())


def _first_rows(placed: PlacedBodies, pairs: CandidatePairs, query: Query) -> tuple[Rows, Counters]:
    """Return all rows, or for `rows="any"` those of the first body pairs that have some."""
    if query.rows != "any" or query.solid or query.itself:
        return rows_of_pairs(placed, pairs, query.clearance)
    begin, many = 0, FIRST_PAIRS
    rows, counters = NO_ROWS, Counters()
    while begin < len(pairs.body_a) and not len(rows.pair):
        some = CandidatePairs(*(column[begin : begin + many] for column in pairs))
        rows, work = rows_of_pairs(placed, some, query.clearance)
        rows = rows._replace(pair=rows.pair + np.int32(begin))
        counters += work
        begin, many = begin + many, 4 * many
    return rows, counters

"""BruteForce: every face against every face. The oracle of all exact methods.

It has no broad phase and no tree, so nothing can be lost before the last test. Every exact method equals it to the byte, for
surfaces and solids.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jostle._types import Ints
from jostle.continuous.assemble import MovingRows, motion_report
from jostle.continuous.moving_bodies import MovingBodies, moving_bodies_of
from jostle.geometry.aabb import face_boxes
from jostle.geometry.contact_kind import OVERLAPPING
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import EXACT, NO_MISS, Answer, Semantics, Serve, Traits
from jostle.methods.brute_force.all_faces import FaceRows, find_face_rows
from jostle.methods.brute_force.closest_faces import find_closest_faces
from jostle.methods.brute_force.moving_faces import find_moving_rows
from jostle.report.assemble import Rows, filter_for_query, labelled
from jostle.report.containment import PairRows, solid_rows
from jostle.report.report import Closest, Counters, Report
from jostle.shapes.mesh import Mesh

TRAITS = Traits(
    semantics=Semantics.BOTH,
    answers={Answer.FACES: EXACT, Answer.POINTS: EXACT, Answer.NORMAL: EXACT, Answer.DISTANCE: EXACT, Answer.TIME: NO_MISS},
    serves=frozenset({Serve.CLEARANCE, Serve.SELF, Serve.ADJACENT, Serve.DEFORM, Serve.SOLID, Serve.MOTION}),
    overlays={"boxes of faces": ""},
)


class FaceShape(NamedTuple):
    """The faces of a mesh, as given and welded."""

    faces: Ints  # (m,3)
    welded_faces: Ints  # (m,3) faces with welded vertex numbers


@dataclass(frozen=True)
class BruteForce:
    """Every body against every other, every face against every face: slow and exact.

    Examples
    --------
    >>> world = jostle.World("brute_force")
    >>> same = jostle.World(jostle.BruteForce())
    >>> world.method == same.method
    True
    """

    @property
    def traits(self) -> Traits:
        """Exact, for any mesh."""
        return TRAITS

    @property
    def shape_type(self) -> type:
        """FaceShape."""
        return FaceShape

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> FaceShape:
        """Collect the faces."""
        return FaceShape(mesh.faces, mesh.welded_faces)

    def start(self, bodies: Bodies, shapes: tuple[FaceShape, ...]) -> BruteForceDetector:
        """Create the detector, which holds the shapes only."""
        return BruteForceDetector(shapes)


class BruteForceDetector(Detector):
    """Detector of `BruteForce`; it keeps nothing between frames."""

    def __init__(self, shapes: tuple[FaceShape, ...]) -> None:
        self._shapes = shapes
        self._moving = MovingBodies()

    def detect(self, frame: Frame, query: Query) -> Report:
        """Test all body pairs that the filters allow."""
        pairs = self._all_pairs(frame, query.itself)
        if query.motion:
            return answer_along_motion(pairs, self._shapes, self._moving, frame, query)
        return answer(pairs, self._shapes, frame, query)

    def _all_pairs(self, frame: Frame, itself: bool) -> Iterator[tuple[int, int]]:
        """Yield body pairs in order. A generator: 10,000 bodies have 50 million."""
        for a in range(len(frame)):
            if itself:
                yield a, a
            others = np.arange(a + 1, len(frame), dtype=np.int32)
            for b in others[frame.may_meet(np.full_like(others, a), others)].tolist():
                yield a, b

    def change(self, bodies: Bodies, shapes: tuple[FaceShape, ...], old_to_new: OldToNew) -> None:
        """Replace the shapes; nothing else depends on the bodies."""
        self._shapes = shapes
        self._moving.forget()

    def closest(self, frame: Frame, body_a: int, body_b: int) -> Closest:
        """Return the closest faces of two bodies."""
        return find_closest_faces(
            frame.world_vertices(body_a), self._shapes[body_a].faces, frame.world_vertices(body_b), self._shapes[body_b].faces
        )

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show the boxes of all faces."""
        boxes = [np.stack(face_boxes(frame.world_vertices(k), shape.faces), axis=1) for k, shape in enumerate(self._shapes)]
        return Overlay("boxes of faces", boxes=np.concatenate([np.empty((0, 2, 3)), *boxes]))


def answer(pairs: Iterable[tuple[int, int]], shapes: tuple[FaceShape, ...], frame: Frame, query: Query) -> Report:
    """Test body pairs in order and report the rows that the query asks for."""
    met: list[tuple[int, int]] = []
    found: list[Rows] = []
    overlapping: list[bool] = []
    counters = Counters()
    for a, b in pairs:
        rows, overlap, work = rows_of_pair(a, b, shapes, frame, query)
        counters += work
        if len(rows.kind):
            found.append(Rows.of_pair(len(met), *rows))
            met.append((a, b))
            overlapping.append(overlap)
            if query.rows == "any":
                break
    contacts, touching = labelled(Rows.joined(found), _listed(met), frame)
    touching.kind[overlapping] = OVERLAPPING
    return filter_for_query(contacts, touching, counters, query)


def answer_along_motion(
    pairs: Iterable[tuple[int, int]], shapes: tuple[FaceShape, ...], moving: MovingBodies, frame: Frame, query: Query
) -> Report:
    """Report the first times of all face pairs; rigid bodies do not meet themselves."""
    for body in moving_bodies_of(frame):
        moving.of(frame, body)  # rejects half a turn, even where nothing can be met
    tested: list[tuple[int, int]] = []
    found: list[MovingRows] = []
    counters = Counters()
    for a, b in pairs:
        if a == b and not frame.bodies.deformable[a]:
            continue
        surface_a, surface_b = moving.of(frame, a), moving.of(frame, b)
        welded = shapes[a].welded_faces if a == b else None
        rows, box_tests = find_moving_rows(len(tested), surface_a, surface_b, query.separation, welded)
        counters += Counters(body_pairs=1, box_tests=box_tests)
        tested.append((a, b))
        found.append(rows)
    return motion_report(MovingRows.joined(found), _listed(tested), moving, frame, query, counters)


def _listed(pairs: list[tuple[int, int]]) -> CandidatePairs:
    numbers = np.array(pairs, np.int32).reshape(-1, 2)
    return CandidatePairs(numbers[:, 0].copy(), numbers[:, 1].copy())


def rows_of_pair(a: int, b: int, shapes: tuple[FaceShape, ...], frame: Frame, query: Query) -> tuple[FaceRows, bool, Counters]:
    """Return the rows of a and b, or of a with itself, and whether solids overlap."""
    shape_a, shape_b = shapes[a], shapes[b]
    world_a, world_b = frame.world_vertices(a), frame.world_vertices(b)
    welded = shape_a.welded_faces if a == b else None
    rows, work = find_face_rows(world_a, shape_a.faces, world_b, shape_b.faces, query.clearance, welded, query.adjacent)
    counters = work + Counters(body_pairs=1)
    if not query.solid or a == b:
        return rows, False, counters
    one, first, last = np.zeros(1, np.int32), np.zeros(1, np.int64), np.full(1, len(rows.kind))
    solids = solid_rows(PairRows(one + np.int32(a), one + np.int32(b), first, last, rows.face_a, rows.face_b, rows.kind), frame)
    if len(solids.pair):  # contained parts share points: their distance is 0
        inside = FaceRows(solids.face_a, solids.face_b, solids.kind, np.zeros(len(solids.pair)))
        columns = [np.concatenate(column) for column in zip(*[rows, inside], strict=True)]
        order = np.lexsort((columns[1], columns[0]))
        rows = FaceRows(*(column[order] for column in columns))
    return rows, bool(solids.overlapping[0]), counters

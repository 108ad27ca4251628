"""EdgeFace: every pair of bodies, every edge against every face. Exact, for surfaces and solids, rigid or deforming.

It is the naive method that §1 of Kitamura et al. 1998 starts from (Boyse 1979), kept as the baseline of all others: it prepares
nothing but a list of edges, remembers nothing, and culls nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jostle import cast
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import EXACT, Answer, Semantics, Serve, Traits
from jostle.methods.edge_face.edge_face_tests import rows_of_pair
from jostle.methods.edge_face.edges import EdgeShape, edges_with_their_faces
from jostle.report.assemble import Rows, report_of
from jostle.report.report import Counters, Report
from jostle.shapes.mesh import Mesh

TRAITS = Traits(
    semantics=Semantics.BOTH,
    answers={Answer.FACES: EXACT, Answer.POINTS: EXACT, Answer.NORMAL: EXACT},
    serves=frozenset({Serve.DEFORM, Serve.SOLID}),
    paper="boyse1979",
    overlays={"edges": "edges"},
)


@dataclass(frozen=True)
class EdgeFace:
    """All edges against all faces: the baseline, whose cost is the number of edges times the number of faces."""

    @property
    def traits(self) -> Traits:
        """Exact, for any mesh."""
        return TRAITS

    @property
    def shape_type(self) -> type:
        """EdgeShape."""
        return EdgeShape

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> EdgeShape:
        """Collect the edges."""
        return edges_with_their_faces(mesh.faces)

    def start(self, bodies: Bodies, shapes: tuple[EdgeShape, ...]) -> EdgeFaceDetector:
        """Begin detecting; there is nothing to keep but the shapes."""
        return EdgeFaceDetector(shapes)


class EdgeFaceDetector(Detector):
    """The naive test at work. It keeps nothing from frame to frame."""

    def __init__(self, shapes: tuple[EdgeShape, ...]) -> None:
        self._shapes = shapes

    def detect(self, frame: Frame, query: Query) -> Report:
        """Test all pairs of bodies that the filters allow."""
        tested: list[tuple[int, int]] = []
        found: list[Rows] = []
        tests = 0
        for a, b in _all_pairs(frame):
            rows, work = rows_of_pair(self._shapes[a], frame.world_vertices(a), self._shapes[b], frame.world_vertices(b))
            tests += work
            found.append(Rows.of_pair(len(tested), rows[:, 0], rows[:, 1], rows[:, 2].astype(np.uint8), np.zeros(len(rows))))
            tested.append((a, b))
            if query.rows == "any" and not query.solid and len(rows):
                break
        bodies = np.array(tested, np.int32).reshape(-1, 2)
        pairs = CandidatePairs(np.ascontiguousarray(bodies[:, 0]), np.ascontiguousarray(bodies[:, 1]))
        counters = Counters(body_pairs=len(tested), triangle_tests=tests)
        return report_of(Rows.joined(found), pairs, frame, query, counters)

    def change(self, bodies: Bodies, shapes: tuple[EdgeShape, ...], old_to_new: OldToNew) -> None:
        """Take the new bodies; nothing else depends on them."""
        self._shapes = shapes

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show all "edges": there is nothing else to see."""
        title = cast.as_choice(what or "edges", ("edges",), "what")
        edges = [frame.world_vertices(body)[shape.edges] for body, shape in enumerate(self._shapes)]
        return Overlay(title, segments=np.concatenate([np.empty((0, 2, 3)), *edges]))


def _all_pairs(frame: Frame) -> Iterator[tuple[int, int]]:
    """Every pair in order, one row of the table at a time."""
    for a in range(len(frame)):
        others = np.arange(a + 1, len(frame), dtype=np.int32)
        for b in others[frame.may_meet(np.full_like(others, a), others)].tolist():
            yield a, b

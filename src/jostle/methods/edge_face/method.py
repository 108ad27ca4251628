"""EdgeFace: every edge against every face of every body pair. Exact.

This is the naive method from which §1 of Kitamura et al. 1998 starts (Boyse 1979), and the baseline of all others: it prepares only
a list of edges, keeps nothing between frames, and culls nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle import cast
from jostle.broad_phase.candidates import allowed_pairs
from jostle.interface.body_pairs import every_pair
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
    """All edges against all faces: the baseline; it costs edges times faces.

    Examples
    --------
    >>> world = jostle.World("edge_face")
    >>> same = jostle.World(jostle.EdgeFace())
    >>> world.method == same.method
    True
    """

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
        """Create the detector, which holds the shapes only."""
        return EdgeFaceDetector(shapes)


class EdgeFaceDetector(Detector):
    """Detector of `EdgeFace`; it keeps nothing between frames."""

    def __init__(self, shapes: tuple[EdgeShape, ...]) -> None:
        self._shapes = shapes

    def detect(self, frame: Frame, query: Query) -> Report:
        """Test all body pairs that the filters allow."""
        pairs = allowed_pairs(every_pair(len(frame)), frame)
        found: list[Rows] = []
        tests = 0
        for a, b in zip(pairs.body_a.tolist(), pairs.body_b.tolist(), strict=True):
            rows, work = rows_of_pair(self._shapes[a], frame.world_vertices(a), self._shapes[b], frame.world_vertices(b))
            tests += work
            found.append(Rows.of_pair(len(found), rows[:, 0], rows[:, 1], rows[:, 2].astype(np.uint8), np.zeros(len(rows))))
            if query.rows == "any" and not query.solid and len(rows):
                break
        return report_of(Rows.joined(found), pairs, frame, query, Counters(body_pairs=len(found), triangle_tests=tests))

    def change(self, bodies: Bodies, shapes: tuple[EdgeShape, ...], old_to_new: OldToNew) -> None:
        """Replace the shapes; nothing else depends on the bodies."""
        self._shapes = shapes

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show all "edges"."""
        title = cast.as_choice(what or "edges", ("edges",), "what")
        edges = [frame.world_vertices(body)[shape.edges] for body, shape in enumerate(self._shapes)]
        return Overlay(title, segments=np.concatenate([np.empty((0, 2, 3)), *edges]))

"""What is true in each frame of a motion, by the exact engine, and how far an answer is from it.

The truth of surfaces is what `wide_tree` finds, that of solids what it finds with `solid=True`. It keeps nothing from frame to
frame where bodies deform: their trees are built anew from the vertices of the very frame, so that an engine which loses something
by following a deformation is found out. Where only pairs of bodies are compared, and nothing deforms, it is `bounding_tree` that is
asked, with trees other than those of its default. Rows are compared as multisets: a row told twice is one extra.

Along a motion the truth is what the certified test of `bounding_tree` finds between the frame before and this one, with boxes other
than those of its default; compared are the pairs of bodies that meet on the way. The contract tests hold that test against all
pairs of faces.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.bench.case import Case, Found
from jostle.bench.compare import compare
from jostle.interface.method import Method
from jostle.interface.traits import Answer, Semantics
from jostle.motion.record import Motion
from jostle.report.report import Report
from jostle.shapes.mesh import Mesh
from jostle.world.world import World

FACES, BODY_PAIRS, NOTHING = "faces", "body pairs", ""
EXACT_ENGINE = "wide_tree"
# Of rigid bodies, surfaces. Slivers fill boxes badly: 100 cones of 2,304 faces take it 0.6 ms a frame, and the one above 250.
EXACT_ENGINE_FOR_PAIRS = "bounding_tree(splitting=binary_gottschalk)"
EXACT_ENGINE_ALONG_THE_MOTION = "bounding_tree(volume=aabb)"

Rows = NDArray[np.int64]


@dataclasses.dataclass(frozen=True)
class Question:
    """What a method is asked in every frame, and what of its answer can be compared."""

    options: dict[str, Any]  # for `World.detect`
    solid: bool
    compared: str  # FACES | BODY_PAIRS | NOTHING


def question_for(method: Method, asked: Mapping[str, Any] | None = None) -> Question:
    """Return the question that a method answers by its traits: surfaces unless it knows solids only, faces where it tells them.

    What is asked of it beside the usual goes along. Along a motion, and where pairs are asked for, pairs of bodies are compared;
    nothing is of a method that says of itself that it finds nothing (`finds_nothing`: it is there for its time).
    """
    if asked and asked.get("motion"):
        return Question(dict(asked), False, BODY_PAIRS)
    traits = method.traits
    solid = traits.semantics is Semantics.SOLID
    options: dict[str, Any] = {"solid": True} if solid else {}
    if not traits.tells_where:
        options["rows"] = "pairs"
    options |= asked or {}
    if getattr(method, "finds_nothing", False):
        return Question(options, solid, NOTHING)
    return Question(options, solid, FACES if Answer.FACES in traits.answers and options.get("rows") != "pairs" else BODY_PAIRS)


class Truth:
    """The exact rows of a motion, frame by frame, each computed when it is first asked for.

    Where no body fits into another the truth of surfaces is that of solids, at a fiftieth of the time (64 bodies).
    """

    def __init__(self, motion: Motion, may_be_inside: bool = True) -> None:
        self.motion, self._may_be_inside = motion, may_be_inside
        self._rows: dict[tuple[int, bool, float | str | None], Rows] = {}
        self._worlds: dict[str, World] = {}
        self._moving: World | None = None

    def rows(self, frame: int, solid: bool = False) -> Rows:
        """(k,4) body_a, body_b, face_a, face_b of one frame."""
        solid = solid and self._may_be_inside
        key = (frame, solid, None)
        if key not in self._rows:
            self._rows[key] = _rows_of(self.world_at(frame).detect(solid=solid))
        return self._rows[key]

    def pairs(self, frame: int, solid: bool = False) -> Rows:
        """(k,4) of the pairs of bodies that meet in one frame, without faces (-1)."""
        solid = solid and self._may_be_inside
        key = (frame, solid, BODY_PAIRS)
        if key not in self._rows:
            engine = EXACT_ENGINE if self.motion.vertices or solid else EXACT_ENGINE_FOR_PAIRS
            found = self.world_at(frame, engine).detect(solid=solid, rows="pairs").pairs
            nothing = np.full(len(found), -1)
            self._rows[key] = np.stack([found.body_a, found.body_b, nothing, nothing], axis=1).astype(np.int64)
        return self._rows[key]

    def rows_along(self, frame: int, separation: float = 0.0) -> Rows:
        """(k,4) of the first contact of each pair of bodies on the way from the frame before; frame 0 is at rest."""
        key = (frame, False, separation)
        if key not in self._rows:
            if self._moving is None:
                self._moving = self.motion.world(EXACT_ENGINE_ALONG_THE_MOTION)
            self.motion.apply(self._moving, max(0, frame - 1))
            self._moving.detect(rows="any")  # what moves, moves from here
            self.motion.apply(self._moving, frame)
            self._rows[key] = _rows_of(self._moving.detect(motion=True, separation=separation))
        return self._rows[key]

    def rows_for(self, question: Question, frame: int) -> Rows:
        """(k,4) of the true answer to a question."""
        if question.options.get("motion"):
            return self.rows_along(frame, question.options.get("separation", 0.0))
        return self.pairs(frame, question.solid) if question.compared == BODY_PAIRS else self.rows(frame, question.solid)

    def world_at(self, frame: int, engine: str = EXACT_ENGINE) -> World:
        """Return a world of an exact engine with all bodies as in one frame."""
        motion = self.motion
        if motion.vertices:
            meshes = tuple(
                Mesh(motion.vertices[k][frame], mesh.faces, name=mesh.name, units=mesh.units) if k in motion.vertices else mesh
                for k, mesh in enumerate(motion.meshes)
            )
            still = dataclasses.replace(motion, meshes=meshes, poses=motion.poses[frame : frame + 1], vertices={})
            return still.world(engine)
        if engine not in self._worlds:
            self._worlds[engine] = motion.world(engine)
        motion.apply(self._worlds[engine], frame)
        return self._worlds[engine]


def _rows_of(report: Report) -> Rows:
    contacts = report.contacts
    columns = (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b)
    return np.stack(columns, axis=1).astype(np.int64)


def missed_and_extra(found: NDArray[Any], true: Rows, compared: str) -> tuple[int, int]:
    """Return how many rows are missing and how many are too many; `found` is (k,4) for faces, (k,2) for body pairs."""
    kind = "rows" if compared == FACES else "bodies"
    question = Case("lab", "", "faces" if compared == FACES else "bodies", (), (), np.empty((0, 0, 4, 4)))
    check = compare(question, Found(kind, found), Found("rows", true))
    return check.missed, check.extra

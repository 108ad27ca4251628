"""The exact answer of each frame of a motion, and the errors of other answers.

The truth is that of `wide_tree`, with `solid=True` for solids. Where bodies deform it keeps nothing from frame to frame: trees are
built from the vertices of that frame, which exposes an engine that loses contacts by following a deformation. If only body pairs
are compared and nothing deforms, it is that of `bounding_tree`, with other trees than its default. Rows are compared as multisets:
a row reported twice is one extra.

Along a motion the truth is the certified test of `bounding_tree` from the previous frame to this one, with other boxes than its
default; body pairs are compared. The contract tests check that test against all face pairs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Longs
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
# For surfaces of rigid bodies. Slivers fill boxes badly: 100 cones of 2,304 faces take it 0.6 ms a frame, wide_tree 250.
EXACT_ENGINE_FOR_PAIRS = "bounding_tree(splitting=binary_gottschalk)"
EXACT_ENGINE_ALONG_THE_MOTION = "bounding_tree(volume=aabb)"


@dataclasses.dataclass(frozen=True)
class Question:
    """The query of every frame, and the part of its answer that is compared."""

    options: dict[str, Any]  # for `World.detect`
    solid: bool
    compared: str  # FACES | BODY_PAIRS | NOTHING


def question_for(method: Method, extra: Mapping[str, Any] | None = None) -> Question:
    """Return the question that a method answers, with extra query options.

    It is about surfaces unless the method knows solids only. Faces are compared if the method names them, body pairs along a
    motion or with `rows="pairs"`, and nothing of a method that declares `finds_nothing` and is there for its time.
    """
    if extra and extra.get("motion"):
        return Question(dict(extra), False, BODY_PAIRS)
    traits = method.traits
    solid = traits.semantics is Semantics.SOLID
    options: dict[str, Any] = {"solid": True} if solid else {}
    if not traits.tells_where:
        options["rows"] = "pairs"
    options |= extra or {}
    if getattr(method, "finds_nothing", False):
        return Question(options, solid, NOTHING)
    return Question(options, solid, FACES if Answer.FACES in traits.answers and options.get("rows") != "pairs" else BODY_PAIRS)


class Truth:
    """The exact rows of a motion, computed on first use.

    Parameters
    ----------
    may_be_inside : bool
        If no body fits into another, the truth of surfaces is that of solids, in a fiftieth of the time (64 bodies).
    engine : str, optional
        The exact method for all questions but those along the motion, instead of those above.
    """

    def __init__(self, motion: Motion, may_be_inside: bool = True, engine: str | None = None) -> None:
        self.motion, self._may_be_inside, self._engine = motion, may_be_inside, engine
        self._rows: dict[tuple[int, bool, float | str | None], Longs] = {}
        self._worlds: dict[str, World] = {}
        self._moving: World | None = None

    def rows(self, frame: int, solid: bool = False) -> Longs:
        """Return (k,4) body_a, body_b, face_a, face_b of one frame."""
        solid = solid and self._may_be_inside
        key = (frame, solid, None)
        if key not in self._rows:
            self._rows[key] = face_rows(self.world_at(frame).detect(solid=solid))
        return self._rows[key]

    def pairs(self, frame: int, solid: bool = False) -> Longs:
        """Return (k,4) touching body pairs of one frame, with -1 for faces."""
        solid = solid and self._may_be_inside
        key = (frame, solid, BODY_PAIRS)
        if key not in self._rows:
            engine = EXACT_ENGINE if self.motion.vertices or solid else EXACT_ENGINE_FOR_PAIRS
            found = self.world_at(frame, engine).detect(solid=solid, rows="pairs").pairs
            nothing = np.full(len(found), -1)
            self._rows[key] = np.stack([found.body_a, found.body_b, nothing, nothing], axis=1).astype(np.int64)
        return self._rows[key]

    def rows_along(self, frame: int, separation: float = 0.0) -> Longs:
        """Return (k,4) first contacts since the previous frame; frame 0 is at rest."""
        key = (frame, False, separation)
        if key not in self._rows:
            if self._moving is None:
                self._moving = self.motion.world(EXACT_ENGINE_ALONG_THE_MOTION)
            self.motion.apply(self._moving, max(0, frame - 1))
            self._moving.detect(rows="any")  # the start of the motion
            self.motion.apply(self._moving, frame)
            self._rows[key] = face_rows(self._moving.detect(motion=True, separation=separation))
        return self._rows[key]

    def rows_for(self, question: Question, frame: int) -> Longs:
        """Return (k,4) the true answer to a question."""
        if question.options.get("motion"):
            return self.rows_along(frame, question.options.get("separation", 0.0))
        return self.pairs(frame, question.solid) if question.compared == BODY_PAIRS else self.rows(frame, question.solid)

    def world_at(self, frame: int, engine: str = EXACT_ENGINE) -> World:
        """Return a world of an exact engine with all bodies as in one frame."""
        motion, engine = self.motion, self._engine or engine
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


def face_rows(report: Report) -> Longs:
    """Return (k,4) body_a, body_b, face_a, face_b of a report."""
    contacts = report.contacts
    columns = (contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b)
    return np.stack(columns, axis=1).astype(np.int64)


def missed_and_extra(found: NDArray[Any], true: Longs, compared: str) -> tuple[int, int]:
    """Return the number of missed and extra rows of found faces (k,4) or bodies (k,2)."""
    kind = "rows" if compared == FACES else "bodies"
    question = Case("lab", "", "faces" if compared == FACES else "bodies", (), (), np.empty((0, 0, 4, 4)))
    check = compare(question, Found(kind, found), Found("rows", true))
    return check.missed, check.extra

"""BoundingTree: trees of spheres or boxes of any degree, also along the motion.

Eckstein and Schömer 1999. Without motion the test is static, exact, and equal to all exact methods to the byte. With motion it
finds when two bodies first touch and with which features, for rigid bodies along screws and deforming ones along straight lines;
`mode="pseudo_dynamic"` runs static tests at equal steps instead, which the paper compares with. The deviations from the paper
that make it miss nothing are in the README of this folder.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle import cast
from jostle._types import Floats, Ints
from jostle.broad_phase.body_volumes import FrameVolumes
from jostle.broad_phase.candidates import Candidates, with_self_pairs
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.protocol import BroadPhase
from jostle.continuous.assemble import MovingRows, motion_report
from jostle.continuous.queries import ROOTS
from jostle.errors import InputError
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import EXACT, NO_MISS, Answer, Guarantee, Semantics, Serve, Traits, statistical
from jostle.methods.bounding_tree.bodies import BodyTrees
from jostle.methods.bounding_tree.build import build, checked_settings
from jostle.methods.bounding_tree.dynamic import DynamicSearch, SweepSettings
from jostle.methods.bounding_tree.motions import MOST_HALVINGS
from jostle.methods.bounding_tree.pseudo_dynamic import contacts_at_instants
from jostle.methods.bounding_tree.search import PosedPairs, StaticSearch
from jostle.methods.bounding_tree.show import overlay_of
from jostle.methods.bounding_tree.tree import KINDS, Tree
from jostle.report.assemble import Rows, report_of
from jostle.report.packing import ALL, ANY, ROW_MODES, WORST_OF_ANY
from jostle.report.report import Counters, Report
from jostle.shapes.mesh import Mesh

MODES = ("continuous", "pseudo_dynamic")
SWEEPS = ("relative", "enclosing")
SERVES = frozenset({Serve.MOTION, Serve.SELF, Serve.ADJACENT, Serve.DEFORM, Serve.SOLID})

SHOWN = {
    **{f"volumes of level {level}": f"level {level}" for level in range(6)},
    "nodes visited": "visited",
    "swept volumes": "swept 0",
    "contacts": "contacts",
}


@dataclass(frozen=True)
class BoundingTree:
    """Trees of bounding objects; exact at one instant; first contact along the motion.

    Parameters
    ----------
    volume : {"obb", "aabb", "sphere"}
        The bounding objects.
    splitting : {"without_optimisation", "insertion", "gottschalk", "binary_gottschalk"}
        How a set of faces is split: §3.1, §3.2, §3.3 of the paper, and the rival of that.
    quality : {"surface", "volume", "hausdorff"}
        The measure by which bounding objects are compared.
    degree : int, optional
        Children of a node, 2 … 6; None takes the least that brings the improvement, node by node.
    improvement : float
        The paper's α: the largest share of its parent's measure that a child may have.
    leaf_faces : int
        Largest number of faces of a leaf.
    mode : {"continuous", "pseudo_dynamic"}
        What `motion=True` does. Queries without motion are always static.
    instants : int
        Pseudo-dynamic: parts of the step, with a static test at both ends of each.
    sweep : {"relative", "enclosing"}
        Continuous: compare bounding objects by their relative motion, or enclose the path of each (§4.1).
    time_splits : int
        Continuous: how often, 0 … 7, an interval of time may be halved where a body turns much (or, enclosing, goes far).
    roots : {"certified", "regula_falsi", "linear_interpolation"}
        Continuous: how times of contact are found. "certified" misses none; the others are the paper's, need `separation`
        0, and may miss some.
    tolerance : float
        Share of the step by which a time may be early.
    broad : str or BroadPhase
        Finds the body pairs that may meet.

    Examples
    --------
    >>> world = jostle.World("bounding_tree(volume=sphere)")
    >>> same = jostle.World(jostle.BoundingTree(volume="sphere"))
    >>> world.method == same.method
    True
    """

    volume: str = "obb"
    splitting: str = "without_optimisation"
    quality: str = "surface"
    degree: int | None = None
    improvement: float = 0.75
    leaf_faces: int = 4
    mode: str = "continuous"
    instants: int = 8
    sweep: str = "relative"
    time_splits: int = MOST_HALVINGS
    roots: str = "certified"
    tolerance: float = 1e-6
    broad: str | BroadPhase = "uniform_grid"

    def __post_init__(self) -> None:
        """Check the settings."""
        owner = "BoundingTree"
        checked_settings(owner, self.volume, self.splitting, self.quality, self.degree, self.improvement, self.leaf_faces)
        cast.as_choice(self.mode, MODES, f"{owner}: mode")
        cast.as_count(self.instants, "instants", lowest=1, owner=owner)
        cast.as_choice(self.sweep, SWEEPS, f"{owner}: sweep")
        cast.as_count(self.time_splits, "time_splits", highest=MOST_HALVINGS, owner=owner)
        cast.as_choice(self.roots, ROOTS, f"{owner}: roots")
        tolerance = cast.as_number(self.tolerance, "tolerance", owner)
        if not 0.0 < tolerance <= 0.01:
            raise InputError(f"{owner}: tolerance is {tolerance}; it is a part of the step, above 0 and at most 0.01")
        broad_phase_of(self.broad, owner)

    @property
    def traits(self) -> Traits:
        """Exact at one instant; along a motion it depends on mode and roots."""
        certified = self.mode == "continuous" and self.roots == "certified"
        times: Guarantee = NO_MISS if certified else statistical(0.0)
        return Traits(
            semantics=Semantics.BOTH,
            answers={Answer.FACES: EXACT, Answer.POINTS: EXACT, Answer.NORMAL: EXACT, Answer.TIME: times},
            serves=SERVES,
            paper="eckstein1999",
            overlays=SHOWN,
        )

    @property
    def shape_type(self) -> type:
        """Tree."""
        return Tree

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Tree:
        """Build the tree of a mesh."""
        return build(mesh, self.volume, self.splitting, self.quality, self.degree, self.improvement, self.leaf_faces, progress)

    def start(self, bodies: Bodies, shapes: tuple[Tree, ...]) -> BoundingTreeDetector:
        """Create the detector."""
        return BoundingTreeDetector(self, bodies, shapes)


class BoundingTreeDetector(Detector):
    """Detector of `BoundingTree`; between frames it keeps refitted trees and scratch."""

    def __init__(self, method: BoundingTree, bodies: Bodies, shapes: tuple[Tree, ...]) -> None:
        self._method = method
        self._kind = KINDS[method.volume]
        self._candidates = Candidates(bodies, method.broad, few=2)
        self._trees = BodyTrees(bodies, shapes)
        self._static, self._dynamic = StaticSearch(), DynamicSearch()

    def change(self, bodies: Bodies, shapes: tuple[Tree, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed."""
        self._candidates.change(bodies, old_to_new)
        self._trees = BodyTrees(bodies, shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Test the body pairs that may meet, at this instant or along the motion."""
        if query.motion:
            return self._along_the_motion(frame, query)
        self._trees.follow(frame)
        pairs = self._pairs_now(frame)
        # Solids and self-collision add rows: then the query is answered from all rows at the end.
        row_mode = ALL if query.solid or query.itself else ROW_MODES[query.rows]
        if row_mode == WORST_OF_ANY and not query.kinds:
            row_mode = ANY
        posed = PosedPairs.of(pairs, self._trees.tree_of_body, frame.poses)
        rows, counters = self._static.find(self._trees.shapes, self._kind, posed, row_mode)
        counters += Counters(body_pairs=len(pairs.body_a), box_tests=self._candidates.box_tests)
        if not query.itself:
            return report_of(rows, pairs, frame, query, counters)
        itself, work = self._self_rows(frame, query)
        return report_of(rows, pairs, frame, query, counters + work, itself)

    def _pairs_now(self, frame: Frame) -> CandidatePairs:
        if self._candidates.takes_all:
            return self._candidates.pairs(frame)
        return self._pairs_of_boxes(self._candidates.boxes.in_the_world(frame), frame)

    def _pairs_of_boxes(self, boxes: tuple[Floats, Floats], frame: Frame) -> CandidatePairs:
        # Spheres are those of the boxes, with or without motion: a broad phase that bounds speeds needs one kind of centre.
        return self._candidates.among(FrameVolumes(*boxes, dt=frame.dt, frame=frame), frame)

    def _self_rows(self, frame: Frame, query: Query) -> tuple[Rows, Counters]:
        """Return the rows of every body against itself; the pair is the body's number."""
        every: Ints = np.arange(len(frame), dtype=np.int32)
        posed = PosedPairs.of(CandidatePairs(every, every), self._trees.tree_of_body, frame.poses)
        rows, counters = self._static.find(self._trees.shapes, self._kind, posed, ALL, query.adjacent)
        return rows, counters + Counters(body_pairs=len(frame))

    def _along_the_motion(self, frame: Frame, query: Query) -> Report:
        pairs = self._pairs_of_boxes(self._trees.swept_boxes(self._candidates.boxes, frame, query.separation), frame)
        counters = Counters(box_tests=self._candidates.box_tests)
        if self._method.mode == "pseudo_dynamic":
            rows, work = self._at_instants(frame, pairs, query)
        else:
            if query.itself:
                pairs = with_self_pairs(pairs, frame.bodies.deforming)  # a rigid body does not meet itself
            rows, work = self._first_times(frame, pairs, query)
        return motion_report(rows, pairs, self._trees.moving, frame, query, counters + work)

    def _at_instants(self, frame: Frame, pairs: CandidatePairs, query: Query) -> tuple[MovingRows, Counters]:
        if query.separation > 0.0 or query.itself:
            option = "separation" if query.separation > 0.0 else "itself=True"
            raise InputError(f"BoundingTree: mode is 'pseudo_dynamic', which has no {option}; use mode='continuous'")
        self._trees.follow(frame)
        return contacts_at_instants(self._trees, self._static, self._kind, frame, pairs, self._method.instants, query.all_contacts)

    def _first_times(self, frame: Frame, pairs: CandidatePairs, query: Query) -> tuple[MovingRows, Counters]:
        method, trees = self._method, self._trees
        relative = method.sweep == "relative"
        how = SweepSettings(self._kind, relative, method.time_splits, method.roots, method.tolerance, query.separation)
        found, counters, before = [], Counters(), np.inf
        for number, (a, b) in enumerate(zip(pairs.body_a.tolist(), pairs.body_b.tolist(), strict=True)):
            welded = trees.welded[trees.tree_of_body[a]] if a == b else None
            movers = trees.mover(frame, a), trees.mover(frame, b)
            rows, work = self._dynamic.find(number, *movers, how, query.all_contacts, welded, before)
            counters += work
            if len(rows.pair):
                found.append(rows)
                if query.rows == "any" and not query.all_contacts:
                    before = min(before, float(rows.time.min()))
        return MovingRows.joined(found), counters

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show "level k" (default "level 0"), "visited", "swept k" or "contacts"."""
        self._trees.follow(frame)
        return overlay_of(self._trees, self._static, self._kind, frame, self._pairs_now(frame), what)

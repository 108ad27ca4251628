"""The search of a detector, from frame to frame (§3, §4).

Sample pairs over layered shells: `begin_frame`, then `advance` as often as time allows, then `rows` and `end_frame`. The kernel is
`examine.examine`; this class runs it, grows its arrays and reads its results. A search that ends (`complete`) has found every row:
each root pair of each body pair was tested, and all that are not separated were refined. One that is cut short has first examined
what touched in the last frame, and its rows are exact as well. The same seed and operations give the same answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import doubled
from jostle.kernels.random import random_state
from jostle.methods.monte_carlo.body_pairs import BY_CAMERA, BY_MOTION, set_up_body_pairs
from jostle.methods.monte_carlo.examine import examine
from jostle.methods.monte_carlo.frame_results import share_of_lone_seeds, write_rows
from jostle.methods.monte_carlo.moving_shells import BoundState, check_bound, start_of_bound_check
from jostle.methods.monte_carlo.next_item import SWEEPING
from jostle.methods.monte_carlo.packed import Packed
from jostle.methods.monte_carlo.pair_list import SamplePairs, make_list
from jostle.methods.monte_carlo.shape import ShellShape
from jostle.methods.monte_carlo.work import DONE, OUT_OF_OPERATIONS
from jostle.methods.monte_carlo.workspace import Workspace
from jostle.report.assemble import Rows
from jostle.report.report import Counters

if TYPE_CHECKING:
    from jostle.methods.monte_carlo.method import MonteCarlo

STILL = 0.01  # of the size of the largest body, a second: what moves no faster ages (§5.5)
CHECKED = 500  # vertices of each deforming body that a frame checks against the bound on deformation
ORDERS = {"far": 0, "motion": BY_MOTION, "camera": BY_CAMERA}


class Search:
    """The search among the bodies of a detector.

    Parameters
    ----------
    bodies : Bodies
    shapes : tuple of ShellShape
        One for each body; equal meshes have the same object.
    settings : MonteCarlo
    """

    def __init__(self, bodies: Bodies, shapes: tuple[ShellShape, ...], settings: MonteCarlo) -> None:
        self._settings = settings
        self._random = random_state(settings.seed)
        self._work = Workspace(settings.most_pairs)
        self._body_pairs = CandidatePairs(np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._bounds: dict[int, BoundState] = {}
        self._broken, self._worst = 0, 0.0
        self._set_bodies(bodies, shapes)

    def _set_bodies(self, bodies: Bodies, shapes: tuple[ShellShape, ...]) -> None:
        packed = self._packed = Packed(bodies, shapes)
        self._bodies = bodies
        self._poses = np.zeros((max(1, len(bodies)), 4, 4))
        self._work.put(
            facets=packed.facets, links=packed.links, child=packed.child, neighbour=packed.neighbour, stamps=packed.stamp,
            planes=packed.planes, seed_order=packed.seeds, bodies=packed.bodies, poses=self._poses,
        )  # fmt: skip
        task, settings = self._work.task, self._settings
        task.deformation, task.follow, task.epsilon = settings.deformation, settings.k, settings.epsilon
        task.seeds_each, task.thorough, task.order = settings.seeds, settings.thorough, ORDERS[settings.order]
        task.still = STILL * packed.largest
        if settings.camera is not None:
            for k, coordinate in enumerate(settings.camera):
                task.camera[k] = coordinate
        task.most_children, task.most_neighbours = packed.most_children, packed.most_neighbours

    @property
    def near(self) -> float:
        """Bodies nearer than this are followed, so the broad phase should find them."""
        return self._settings.epsilon * self._packed.largest

    def change(self, bodies: Bodies, shapes: tuple[ShellShape, ...], old_to_new: NDArray[np.integer[Any]]) -> None:
        """Update after bodies were added or removed; the others keep pairs and seeds."""
        before = self._packed.bodies["first"]
        self._set_bodies(bodies, shapes)
        after, work, ends = self._packed.bodies["first"], self._work, self._work.ends
        listed = work["listed"][: ends.all]
        a, b = old_to_new[listed["body_a"]], old_to_new[listed["body_b"]]
        stays = (a >= 0) & (b >= 0)
        kept, a, b = listed[stays], a[stays], b[stays]
        kept["facet_a"] += (after[a] - before[kept["body_a"]]).astype(np.int32)
        kept["facet_b"] += (after[b] - before[kept["body_b"]]).astype(np.int32)
        kept["body_a"], kept["body_b"] = a, b
        listed[: len(kept)] = kept
        ends.representatives, ends.tracked = int(stays[: ends.representatives].sum()), int(stays[: ends.tracked].sum())
        ends.all = len(kept)
        known = work["known"][: work.task.known_body_pairs]
        known["body"] = old_to_new[known["body"]]
        known = known[(known["body"] >= 0).all(axis=1)]
        work["known"][: len(known)] = known
        work.task.known_body_pairs = len(known)
        self._bounds = {int(old_to_new[body]): bound for body, bound in self._bounds.items() if old_to_new[body] >= 0}

    def begin_frame(
        self,
        pairs: CandidatePairs,
        frame: Frame,
        boxes: tuple[Floats, Floats],
        clearance: float,
        row_mode: int,
        error: float = 0.0,
    ) -> None:
        """Begin with the body pairs of a frame.

        Parameters
        ----------
        pairs : CandidatePairs
            Sorted; (a, a) asks for a's collisions with itself.
        frame : Frame
        boxes : two (n,3) arrays
            Lower and upper corners of the current boxes of all bodies, in their own frames.
        clearance : float
            Also look for faces nearer than this length.
        row_mode : int
            Which rows are wanted, as in `report/packing.py`.
        error : float
            Facets of two bodies whose points are all within this length of each other are not refined (§4.1).
        """
        work, task = self._work, self._work.task
        count = len(pairs.body_a)
        self._packed.follow(frame, boxes)
        self._frame, self._body_pairs = frame, pairs
        self._poses[: len(frame.poses)] = frame.poses
        while len(work["body_pairs"]) < count:
            work.put(**{name: doubled(work[name]) for name in ("body_pairs", "known", "relative")})
        task.body_pairs, task.row_mode, task.clearance, task.error = count, row_mode, clearance, error
        body_a, body_b, before = (read_only_view(array) for array in (pairs.body_a, pairs.body_b, frame.poses_t0))
        work.begin_frame()
        set_up_body_pairs(work.addresses, body_a, body_b, self._poses, before, self._random)

    def advance(self, operations: int) -> tuple[bool, int]:
        """Search for about this many operations; return whether done, and those used."""
        used = 0
        while True:
            why, more = examine(self._work.addresses, operations - used)
            used += more
            if why <= OUT_OF_OPERATIONS:
                return why == DONE, used
            self._work.grow(why)

    def complete(self) -> bool:
        """Whether every seed of every body pair was used, with all that followed from it."""
        return bool(self._work.state.complete)

    def examined_all_known(self) -> bool:
        """Whether everything known to touch or not separated was examined.

        Only further seeds may be left.
        """
        return bool(self._work.state.phase >= SWEEPING)

    def operations(self) -> int:
        """Return the operations so far in this frame."""
        return int(self._work.counts.operations)

    def row_count(self) -> int:
        """Return the number of rows so far."""
        return int(self._work.state.rows)

    def rows(self) -> Rows:
        """Return the rows so far, sorted; `pair` is the frame's body pair."""
        count = self.row_count()
        body_pair, face_a, face_b = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32)
        kind, distance = np.empty(count, np.uint8), np.empty(count)
        write_rows(self._work.addresses, body_pair, face_a, face_b, kind, distance)
        return Rows(body_pair, face_a, face_b, kind, distance)

    def end_frame(self, dt: float) -> None:
        """Write the list for the next frame; dt seconds have passed since the last."""
        self._old_pairs = int(self._work.ends.all)
        make_list(self._work.addresses, float(dt))
        self._work.adopt_next_list()
        self._check_bounds()

    def _check_bounds(self) -> None:
        """Check some vertices of deforming bodies against the stated bound."""
        broken, worst = 0, 0.0
        for body in self._bodies.deforming:
            shape = self._packed.shapes[body]
            if body not in self._bounds:
                self._bounds[body] = start_of_bound_check(shape)
            report = check_bound(self._bounds[body], shape, self._frame.vertices[body], self._settings.deformation, CHECKED)
            broken, worst = broken + report.broken, max(worst, report.worst)
        self._broken, self._worst = broken, worst

    def counters(self) -> Counters:
        """Return how many facets, faces and distances were tested in this frame."""
        facets, exact, distances, *_ = self._work["counts"].item()  # all at once: one by one they take 0.3 µs each
        return Counters(box_tests=facets, triangle_tests=exact, distance_tests=distances)

    def reached(self) -> tuple[int, int, float, int, int, float, int, float]:
        """Return the first eight fields of `Reached`.

        `undiscovered` is the share of the last 256 seeds that alone found their region (Good and Turing).
        """
        _, _, _, samples, looked, regions, operations, _ = self._work["counts"].item()
        updated = looked / self._old_pairs if self._old_pairs else 1.0
        undiscovered = share_of_lone_seeds(self._work["ring"])
        return operations, samples, updated, int(self._work.ends.all), regions, undiscovered, self._broken, self._worst

    def sample_pairs(self) -> SamplePairs:
        """Return the list of sample pairs, as the last frame left it."""
        listed = self._work["listed"][: self._work.ends.all]
        columns = {name: listed[name].copy() for name in listed.dtype.names or ()}
        first, level = self._packed.bodies["first"], self._packed.links["level"]
        a, b, facet_a, facet_b = columns["body_a"], columns["body_b"], columns["facet_a"], columns["facet_b"]
        return SamplePairs(
            a, b, level[facet_a], (facet_a - first[a]).astype(np.int32), level[facet_b], (facet_b - first[b]).astype(np.int32),
            columns["distance"], columns["gap"], columns["age"], columns["region"], columns["kind"] > 0,
        )  # fmt: skip

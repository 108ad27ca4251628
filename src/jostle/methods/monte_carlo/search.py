"""The search of a detector: sample pairs over layered shells, from frame to frame (Guy and Debunne §3, §4).

`begin_frame`, then `advance` as often as time allows, then `rows` and `end_frame`. The kernel is `examine.examine`; here are its
arrays, their growth, and what is told of it. A search that ends (`complete`) has found every row: each pair of coarsest facets
of each couple was tested, and all that is not parted was refined. One that is cut has looked first at what touched in
the last frame, and the rows that it tells are exact as well. The same seed and the same operations give the same answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.kernels.arrays import read_only_view
from jostle.kernels.random import random_state
from jostle.methods.monte_carlo.couples import BY_CAMERA, BY_MOTION, set_up_couples
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
CHECKED = 500  # vertices that a frame compares with the bound on deformation, of each deforming body
ORDERS = {"far": 0, "motion": BY_MOTION, "camera": BY_CAMERA}


class Search:
    """What is looked for among bodies, and what is known of it.

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
        self._couples = CandidatePairs(np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._bounds: dict[int, BoundState] = {}
        self._broken, self._worst = 0, 0.0
        self._take(bodies, shapes)

    def _take(self, bodies: Bodies, shapes: tuple[ShellShape, ...]) -> None:
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
        """Bodies nearer than this length are followed before they touch: the broad phase should find them."""
        return self._settings.epsilon * self._packed.largest

    def change(self, bodies: Bodies, shapes: tuple[ShellShape, ...], old_to_new: NDArray[np.integer[Any]]) -> None:
        """Follow bodies that came and went; pairs and seeds of the others are kept."""
        before = self._packed.bodies["first"]
        self._take(bodies, shapes)
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
        known = work["known"][: work.task.known_couples]
        known["body"] = old_to_new[known["body"]]
        known = known[(known["body"] >= 0).all(axis=1)]
        work["known"][: len(known)] = known
        work.task.known_couples = len(known)
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
        """Begin with the couples of a frame.

        Parameters
        ----------
        pairs : CandidatePairs
            Sorted; (a, a) asks for a's collisions with itself.
        frame : Frame
        boxes : two (n,3) arrays
            Lower and upper corners of the boxes of all bodies in their own frames, as they are in this frame.
        clearance : float
            Also look for faces nearer than this length.
        row_mode : int
            Which rows are wanted, as in `packed_rows`.
        error : float
            Facets of two bodies whose points are all within this length of each other are not refined (§4.1).
        """
        work, task = self._work, self._work.task
        count = len(pairs.body_a)
        self._packed.follow(frame, boxes)
        self._frame, self._couples = frame, pairs
        self._poses[: len(frame.poses)] = frame.poses
        if len(work["couples"]) < count:
            work.put(**{name: _resized(work[name], 2 * count) for name in ("couples", "known", "relative")})
        task.couples, task.row_mode, task.clearance, task.error = count, row_mode, clearance, error
        body_a, body_b, before = (read_only_view(array) for array in (pairs.body_a, pairs.body_b, frame.poses_t0))
        work.begin_frame()
        set_up_couples(work.addresses, body_a, body_b, self._poses, before, self._random)

    def advance(self, operations: int) -> tuple[bool, int]:
        """Go on for about so many operations; return whether all is done, and the operations used."""
        used = 0
        while True:
            why, more = examine(self._work.addresses, operations - used)
            used += more
            if why <= OUT_OF_OPERATIONS:
                return why == DONE, used
            self._work.grow(why)

    def complete(self) -> bool:
        """Whether every seed of every couple was used, and all that came of it looked at."""
        return bool(self._work.state.complete)

    def saw_all_it_knew_of(self) -> bool:
        """Whether all that was known to touch, or not to be parted, was looked at; only further seeds may be left."""
        return bool(self._work.state.phase >= SWEEPING)

    def operations(self) -> int:
        """Return the operations so far in this frame."""
        return int(self._work.counts.operations)

    def row_count(self) -> int:
        """Return the number of rows so far."""
        return int(self._work.state.rows)

    def rows(self) -> Rows:
        """Return the rows so far, sorted; `pair` is the place in the couples of the frame."""
        count = self.row_count()
        couple, face_a, face_b = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32)
        kind, distance = np.empty(count, np.uint8), np.empty(count)
        write_rows(self._work.addresses, couple, face_a, face_b, kind, distance)
        return Rows(couple, face_a, face_b, kind, distance)

    def end_frame(self, dt: float) -> None:
        """Make the list for the next frame; dt seconds have passed since the last."""
        self._old_pairs = int(self._work.ends.all)
        make_list(self._work.addresses, float(dt))
        self._work.adopt_next_list()
        self._check_bounds()

    def _check_bounds(self) -> None:
        """Compare some vertices of deforming bodies with the stated bound."""
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
        """Return operations, samples, the share of the list looked at, pairs, regions, undiscovered, broken and worst.

        Undiscovered is the share of the last 256 seeds that led to a region to which no other did (Good and Turing).
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


def _resized(array: NDArray[Any], count: int) -> NDArray[Any]:
    """Return an array of more rows, the first being those of another one."""
    larger = np.zeros(count, array.dtype)
    larger[: len(array)] = array
    return larger

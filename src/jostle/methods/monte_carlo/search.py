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

from jostle.broad_phase.volumes import CandidatePairs
from jostle.frame import Bodies, Floats, Frame, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.random import random_state
from jostle.methods.monte_carlo import workspace as ws
from jostle.methods.monte_carlo.couples import BY_CAMERA, BY_MOTION, set_up_couples
from jostle.methods.monte_carlo.examine import examine
from jostle.methods.monte_carlo.moving_shells import BoundState, check_bound, start_of_bound_check
from jostle.methods.monte_carlo.next_item import SWEEPING
from jostle.methods.monte_carlo.packed import FIRST, LEVEL, Packed
from jostle.methods.monte_carlo.pair_list import SamplePairs, make_list
from jostle.methods.monte_carlo.shape import ShellShape
from jostle.methods.monte_carlo.what_is_told import share_of_lone_seeds, told_rows
from jostle.report import Counters
from jostle.rows import Rows

if TYPE_CHECKING:
    from jostle.methods.monte_carlo.method import MonteCarlo

STILL = 0.01  # of the size of the largest body, a second: what moves no faster ages (§5.5)
CHECKED = 500  # vertices that a frame compares with the bound on deformation, of each deforming body
LAST_STAMP = 2**31 - 1
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
        self._work = ws.Workspace(settings.most_pairs, self._random)
        self._camera = np.zeros(3) if settings.camera is None else np.array(settings.camera, np.float64)
        self._known = np.zeros(0, np.int32)  # couples of the last frame
        self._couples = CandidatePairs(np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._bounds: dict[int, BoundState] = {}
        self._broken, self._worst = 0, 0.0
        self._work.put((ws.COUPLE_INTS, np.zeros(8 * ws.COUPLE, np.int32)), (ws.COUPLE_FLOATS, np.zeros(8 * ws.COUPLE_FLOAT)))
        self._take(bodies, shapes)

    def _take(self, bodies: Bodies, shapes: tuple[ShellShape, ...]) -> None:
        packed = self._packed = Packed(bodies, shapes)
        self._bodies = bodies
        self._poses = np.zeros((max(1, len(bodies)), 4, 4))
        self._work.put(
            (ws.DATA, packed.data), (ws.LINK, packed.links), (ws.CHILD, packed.child), (ws.AROUND_FACET, packed.neighbour),
            (ws.STAMPS, packed.stamp), (ws.BODIES, packed.bodies), (ws.SEED_ORDER, packed.seeds), (ws.POSES, self._poses),
            (ws.PLANES, packed.planes),
        )  # fmt: skip
        numbers, state, largest = self._work.numbers, self._work.state, float(packed.size.max(initial=0.0))
        numbers[ws.DEFORMATION], numbers[ws.FOLLOW], numbers[ws.STILL] = (
            self._settings.deformation,
            self._settings.k,
            STILL * largest,
        )
        state[ws.MOST_CHILDREN], state[ws.MOST_NEIGHBOURS] = packed.most_children, packed.most_neighbours

    @property
    def near(self) -> float:
        """Bodies nearer than this length are followed before they touch: the broad phase should find them."""
        return self._settings.epsilon * float(self._packed.size.max(initial=0.0))

    def change(self, bodies: Bodies, shapes: tuple[ShellShape, ...], old_to_new: NDArray[np.integer[Any]]) -> None:
        """Follow bodies that came and went; pairs and seeds of the others are kept."""
        before = self._packed.bodies[:, FIRST]
        self._take(bodies, shapes)
        after, state = self._packed.bodies[:, FIRST], self._work.state
        ints, floats, ends = self._list()
        a, b = old_to_new[ints[:, ws.OF_A]], old_to_new[ints[:, ws.OF_B]]
        stays = (a >= 0) & (b >= 0)
        kept, a, b = ints[stays], a[stays], b[stays]
        kept[:, ws.FACET_A] += (after[a] - before[kept[:, ws.OF_A]]).astype(np.int32)
        kept[:, ws.FACET_B] += (after[b] - before[kept[:, ws.OF_B]]).astype(np.int32)
        kept[:, ws.OF_A], kept[:, ws.OF_B] = a, b
        self._work[ws.LIST_INTS][: kept.size] = kept.reshape(-1)
        self._work[ws.LIST_FLOATS][: ws.PAIR_FLOAT * len(kept)] = floats[stays].reshape(-1)
        reps, trackers = int(stays[: ends[0]].sum()), int(stays[ends[0] : ends[1]].sum())
        state[ws.OLD_REPS], state[ws.OLD_TRACKERS], state[ws.OLD_PAIRS] = reps, trackers, len(kept)
        known = self._known.reshape(-1, ws.COUPLE)
        a, b = old_to_new[known[:, ws.BODY_A]], old_to_new[known[:, ws.BODY_B]]
        known[:, ws.BODY_A], known[:, ws.BODY_B] = a, b
        self._known = np.ascontiguousarray(known[(a >= 0) & (b >= 0)]).reshape(-1)
        self._bounds = {int(old_to_new[body]): bound for body, bound in self._bounds.items() if old_to_new[body] >= 0}

    def begin_frame(
        self,
        pairs: CandidatePairs,
        frame: Frame,
        boxes: tuple[Floats, Floats],
        clearance: float,
        how_many: int,
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
        how_many : int
            Rows that are wanted, as in `packed_rows`.
        error : float
            Facets of two bodies whose points are all within this length of each other are not refined (§4.1).
        """
        settings, work, state = self._settings, self._work, self._work.state
        count = len(pairs.body_a)
        self._packed.follow(frame, boxes)
        self._frame, self._couples = frame, pairs
        self._poses[: len(frame.poses)] = frame.poses
        if len(work[ws.COUPLE_INTS]) < ws.COUPLE * count:
            room = 2 * count
            work.put((ws.COUPLE_INTS, np.zeros(room * ws.COUPLE, np.int32)), (ws.COUPLE_FLOATS, np.zeros(room * ws.COUPLE_FLOAT)))
        set_up_couples(
            read_only_view(pairs.body_a), read_only_view(pairs.body_b), self._packed.bodies, self._poses,
            read_only_view(frame.poses_t0), self._packed.farthest, self._packed.size, self._packed.middle, clearance,
            settings.epsilon, ORDERS[settings.order], self._camera, self._known, work[ws.COUPLE_INTS], work[ws.COUPLE_FLOATS],
            self._random,
        )  # fmt: skip
        stamp, ring = state[ws.STAMP] + 1, state[ws.RING_PLACE]
        if stamp >= LAST_STAMP:  # keys have 31 bits for it
            work[ws.TABLE].fill(0)
            stamp = 1
        state[: ws.COMPLETE + 1] = 0
        state[ws.FACET_TESTS :] = 0
        state[ws.STAMP], state[ws.RING_PLACE], state[ws.COUPLES] = stamp, ring, count
        state[ws.HOW_MANY], state[ws.SEEDS_EACH], state[ws.THOROUGH] = how_many, settings.seeds, settings.thorough
        state[ws.ORDERED] = ORDERS[settings.order] != 0
        work.numbers[ws.CLEARANCE], work.numbers[ws.ERROR] = clearance, error
        work[ws.TAGS].fill(-1)
        work[ws.LOOKED_AT][: int(state[ws.OLD_PAIRS])] = 0

    def advance(self, operations: int) -> tuple[bool, int]:
        """Go on for about so many operations; return whether all is done, and the operations used."""
        used = 0
        while True:
            why, more = examine(self._work.addresses, self._work.state, self._work.numbers, operations - used)
            used += more
            if why <= ws.OUT_OF_OPERATIONS:
                return why == ws.DONE, used
            self._work.grow(why)

    def complete(self) -> bool:
        """Whether every seed of every couple was used, and all that came of it looked at."""
        return bool(self._work.state[ws.COMPLETE])

    def saw_all_it_knew_of(self) -> bool:
        """Whether all that was known to touch, or not to be parted, was looked at; only further seeds may be left."""
        return bool(self._work.state[ws.PHASE] >= SWEEPING)

    def operations(self) -> int:
        """Return the operations so far in this frame."""
        return int(self._work.state[ws.OPERATIONS])

    def row_count(self) -> int:
        """Return the number of rows so far."""
        return int(self._work.state[ws.ROWS])

    def rows(self) -> Rows:
        """Return the rows so far, sorted; `pair` is the place in the couples of the frame."""
        count = self.row_count()
        couple, face_a, face_b = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32)
        kind, distance = np.empty(count, np.uint8), np.empty(count)
        told_rows(self._work.addresses, self._work.state, couple, face_a, face_b, kind, distance)
        return Rows(couple, face_a, face_b, kind, distance)

    def end_frame(self, dt: float) -> None:
        """Make the list for the next frame; dt seconds have passed since the last."""
        work, state = self._work, self._work.state
        ints, floats = work.next_list()
        region = np.empty(max(1, int(state[ws.CELLS])), np.int32)
        self._old_pairs = int(state[ws.OLD_PAIRS])
        make_list(work.addresses, state, work.numbers, ints, floats, region, self._settings.most_pairs, float(dt))
        work.adopt()
        self._known = work[ws.COUPLE_INTS][: ws.COUPLE * int(state[ws.COUPLES])].copy()
        self._check_bounds()

    def _check_bounds(self) -> None:
        """Compare some vertices of deforming bodies with the stated bound."""
        broken, worst = 0, 0.0
        for body in self._bodies.deforming:
            shape = self._packed.shapes[body]
            bound = self._bounds.setdefault(body, start_of_bound_check(shape))
            told = check_bound(bound, shape, self._frame.vertices[body], self._settings.deformation, CHECKED)
            broken, worst = broken + told.broken, max(worst, told.worst)
        self._broken, self._worst = broken, worst

    def counters(self) -> Counters:
        """Return how many facets, faces and distances were tested in this frame."""
        state = self._work.state
        facets, exact, distances = state[ws.FACET_TESTS : ws.DISTANCE_TESTS + 1].tolist()
        return Counters(box_tests=facets, triangle_tests=exact, distance_tests=distances)

    def reached(self) -> tuple[int, int, float, int, int, float, int, float]:
        """Return operations, samples, the share of the list looked at, pairs, regions, undiscovered, broken and worst.

        Undiscovered is the share of the last 256 seeds that led to a region to which no other did (Good and Turing).
        """
        state = self._work.state
        operations, samples, looked, pairs, regions = state[
            [ws.OPERATIONS, ws.SAMPLES, ws.LOOKED, ws.OLD_PAIRS, ws.REGIONS]
        ].tolist()
        updated = looked / self._old_pairs if self._old_pairs else 1.0
        undiscovered = share_of_lone_seeds(self._work[ws.RING])
        return operations, samples, updated, pairs, regions, undiscovered, self._broken, self._worst

    def _list(self) -> tuple[Ints, Floats, tuple[int, int, int]]:
        """The list as two tables, and where representatives, followed pairs and all pairs end."""
        state = self._work.state
        reps, pairs = int(state[ws.OLD_REPS]), int(state[ws.OLD_PAIRS])
        ints = self._work[ws.LIST_INTS][: ws.PAIR * pairs].reshape(-1, ws.PAIR)
        floats = self._work[ws.LIST_FLOATS][: ws.PAIR_FLOAT * pairs].reshape(-1, ws.PAIR_FLOAT)
        return ints, floats, (reps, reps + int(state[ws.OLD_TRACKERS]), pairs)

    def sample_pairs(self) -> SamplePairs:
        """Return the list of sample pairs, as the last frame left it."""
        ints, floats, _ = self._list()
        first, level = self._packed.bodies[:, FIRST], self._packed.links[:, LEVEL]
        a, b, facet_a, facet_b, touches, region = (np.ascontiguousarray(column) for column in ints.T)
        return SamplePairs(
            a, b, level[facet_a], (facet_a - first[a]).astype(np.int32), level[facet_b], (facet_b - first[b]).astype(np.int32),
            floats[:, ws.DISTANCE].copy(), floats[:, ws.GAP].copy(), floats[:, ws.AGE].copy(), region, touches > 0,
        )  # fmt: skip

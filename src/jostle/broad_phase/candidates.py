"""Candidates: the body pairs that a method has to test.

They come from volumes, a broad phase and the world's filters. Every method has one. Most call `pairs`; methods with their own or
larger volumes pass them to `among`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle._types import Floats
from jostle.broad_phase.body_volumes import FrameVolumes, LocalBoxes
from jostle.broad_phase.brute_force import AllPairs
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.protocol import BroadPhase, PairFinder
from jostle.broad_phase.volumes import Volumes
from jostle.interface.body_pairs import CandidatePairs, every_pair
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import OldToNew

FEW_BOXES = 600  # up to here comparing all boxes is cheaper than a grid (70 µs against 75, or 95 against 120 where they are dense)


class Candidates:
    """The search for body pairs that may meet, kept from frame to frame.

    Parameters
    ----------
    bodies : Bodies
    broad : str, BroadPhase or None
        The broad phase that compares volumes; None takes every pair.
    few : int
        Up to this many bodies `pairs` takes every pair, without volumes: testing one pair costs less than comparing boxes.
    few_boxes : int
        Up to this many bodies all boxes are compared instead, which finds the same pairs as a grid.

    Attributes
    ----------
    takes_all : bool
        Whether `pairs` takes every pair that the filters allow.
    box_tests : int
        Comparisons of volumes in the last search.
    """

    def __init__(self, bodies: Bodies, broad: str | BroadPhase | None, *, few: int = 0, few_boxes: int = 0) -> None:
        self._broad, self._few, self._few_boxes = broad, few, few_boxes
        self._finder: PairFinder | None = None
        self.box_tests = 0
        self._set_bodies(bodies)

    def _set_bodies(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self._boxes: LocalBoxes | None = None
        self._every: CandidatePairs | None = None
        self.takes_all = self._broad is None or len(bodies) <= self._few
        if self._finder is None and not self.takes_all:
            self._finder = self._start()

    def _start(self) -> PairFinder:
        assert self._broad is not None
        count = len(self._bodies)
        broad = AllPairs() if count <= self._few_boxes else broad_phase_of(self._broad)
        return broad.start(count)

    def change(self, bodies: Bodies, old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed."""
        compared_all = len(self._bodies) <= self._few_boxes
        if self._finder is not None:
            if compared_all == (len(bodies) <= self._few_boxes):
                self._finder.change(len(bodies), old_to_new)
            else:
                self._finder = None
        self._set_bodies(bodies)

    def pairs(self, frame: Frame, clearance: float = 0.0, beyond: Floats | None = None) -> CandidatePairs:
        """Return the pairs to test, sorted.

        The filters allow them, and their volumes are within the clearance.

        beyond : (n,) how far each body extends beyond its vertices.
        """
        if self.takes_all:
            return self.every(frame)
        volumes = self.volumes(frame, clearance)
        return self.among(volumes if beyond is None else volumes.grown(beyond), frame)

    def every(self, frame: Frame) -> CandidatePairs:
        """Return every pair that the filters allow."""
        self.box_tests = 0
        if self._every is None:
            self._every = every_pair(len(frame))
        return allowed_pairs(self._every, frame)

    def among(self, volumes: Volumes, frame: Frame) -> CandidatePairs:
        """Return the pairs whose volumes overlap and that the filters allow."""
        if self._broad is None:
            return self.every(frame)
        if self._finder is None:
            self._finder = self._start()
        pairs = self._finder.find(volumes)
        self.box_tests = self._finder.counters.get("box_tests", 0)
        return allowed_pairs(pairs, frame)

    def volumes(self, frame: Frame, clearance: float = 0.0) -> FrameVolumes:
        """Return the volumes of all bodies, grown by half the clearance."""
        boxes = self.boxes
        lower, upper = boxes.in_the_world(frame)
        volumes = FrameVolumes(lower, upper, dt=frame.dt, frame=frame, fitted=boxes)
        return volumes.grown(0.5 * clearance) if clearance > 0.0 else volumes  # half for each body of a pair

    @property
    def boxes(self) -> LocalBoxes:
        """The boxes of the bodies in their own frames."""
        if self._boxes is None:
            self._boxes = LocalBoxes(self._bodies)
        return self._boxes


def allowed_pairs(pairs: CandidatePairs, frame: Frame) -> CandidatePairs:
    """Return the pairs that the filters allow."""
    if frame.unfiltered:
        return pairs
    allowed = frame.may_meet(pairs.body_a, pairs.body_b)
    return CandidatePairs(pairs.body_a[allowed], pairs.body_b[allowed])


def with_self_pairs(pairs: CandidatePairs, bodies: Sequence[int]) -> CandidatePairs:
    """Return the pairs and (i, i) for each of these bodies, sorted."""
    itself = np.array(bodies, np.int32)
    body_a, body_b = np.concatenate([pairs.body_a, itself]), np.concatenate([pairs.body_b, itself])
    order = np.lexsort((body_b, body_a))
    return CandidatePairs(body_a[order], body_b[order])

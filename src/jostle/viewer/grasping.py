"""Grasping hands: a closed hand carries a body that it touches, until it opens.

(Kitamura et al. 1998, §4.3: one hand grasps and carries bodies, another changes their motion by touching them, as any held body
does that pushes.) Opening and closing a hand is separate from dragging it, since a path takes many drags: a closed hand and what
it holds stay that person's. A hand holds one body, and a body is in one hand; to hand it over, one hand opens while the other is
closed on it. Thread-safe.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Hashable, Iterable, Mapping

import numpy as np

from jostle._types import Floats
from jostle.viewer.holding import Holding


class Grasping:
    """Who drags what, whose hands are closed, and what they hold.

    Parameters
    ----------
    holding : Holding
        Who holds which body: dragged bodies, closed hands, and what is in them.
    hands : collection of int
        The bodies that can grasp.
    fixed : collection of int
        The bodies that cannot be carried.
    """

    def __init__(self, holding: Holding, hands: Collection[int], fixed: Collection[int]) -> None:
        self._holding, self._hands = holding, frozenset(hands)
        self._never = self._hands | frozenset(fixed)
        self._dragged: dict[int, Hashable] = {}
        self._hand_of: dict[Hashable, int] = {}  # each person's last hand
        self._closed: set[Hashable] = set()
        self._grips: dict[int, tuple[int, Floats]] = {}  # body -> the hand that it is in, and its pose there
        self._lock = threading.RLock()

    def take(self, body: int, holder: Hashable) -> bool:
        """Start dragging a body, even from one's own hand; False if another holds it."""
        with self._lock:
            if not self._holding.take(body, holder):
                return False
            self._dragged[body] = holder
            self._grips.pop(body, None)
            if body in self._hands:
                self._hand_of[holder] = body
            return True

    def release(self, body: int, holder: Hashable) -> bool:
        """Stop dragging a body; return whether it is free now.

        A closed hand stays its holder's.
        """
        with self._lock:
            if self._dragged.get(body) == holder:
                del self._dragged[body]
            if body in self._hands and holder in self._closed:
                return False
            return self._holding.release(body, holder)

    def leave(self, holder: Hashable) -> bool:
        """Release everything held by someone who left; return whether there was anything."""
        with self._lock:
            self._dragged = {body: by for body, by in self._dragged.items() if by != holder}
            self._hand_of.pop(holder, None)
            return self.open(holder)

    def close(self, holder: Hashable) -> None:
        """Close a person's hands, starting with the last used: they carry what they touch."""
        with self._lock:
            self._closed.add(holder)
            if holder in self._hand_of:
                self._holding.take(self._hand_of[holder], holder)

    def open(self, holder: Hashable) -> bool:
        """Open a person's hands, freeing bodies not dragged; return whether any were."""
        with self._lock:
            self._closed.discard(holder)
            free = [body for body, by in self._holding.held().items() if by == holder and body not in self._dragged]
            for body in free:
                self._grips.pop(body, None)
                self._holding.release(body, holder)
            return bool(free)

    def lose_all(self) -> None:
        """Empty all hands: bodies were placed elsewhere."""
        with self._lock:
            for body, (hand, _) in self._grips.items():
                self._holding.release(body, self._holding.holder_of(hand))
            self._grips.clear()

    def grasp_touched(self, pairs: Iterable[tuple[int, int]], poses: Floats) -> None:
        """Let each closed empty hand grasp the first free body it touches."""
        with self._lock:
            full = {hand for hand, _ in self._grips.values()}
            for hand, body in sorted((one, other) for pair in pairs for one, other in (pair, pair[::-1])):
                holder = self._holding.holder_of(hand)
                if hand not in self._hands or holder not in self._closed or hand in full or body in self._never:
                    continue
                if self._holding.holder_of(body) is None and self._holding.take(body, holder):
                    self._grips[body] = hand, np.linalg.inv(poses[hand]) @ poses[body]
                    full.add(hand)

    def carried(self, goals: Mapping[int, Floats]) -> dict[int, Floats]:
        """Return goals (4,4) of bodies, including carried ones."""
        with self._lock:
            along = {body: goals[hand] @ pose for body, (hand, pose) in self._grips.items() if hand in goals and body not in goals}
        return {**goals, **along}

    def dragged(self) -> frozenset[int]:
        """Return the dragged bodies, with what is in dragged hands."""
        with self._lock:
            return frozenset(self._dragged) | {body for body, (hand, _) in self._grips.items() if hand in self._dragged}

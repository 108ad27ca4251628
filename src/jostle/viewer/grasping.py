"""Grasping hands: a closed hand carries a body that it touches, until it opens.

(Kitamura et al. 1998, §4.3: one hand grasps bodies and carries them, another one changes their motion by touching them, which any
held body does where bodies are pushed.) A person opens and closes a hand apart from dragging it: a way is made of many drags. So
a closed hand stays that person's, and so does what is in it. A hand has room for one body, and a body is in one hand: to hand it
over, the one opens while the other is closed on it. Safe to use from any thread.
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
        Who holds which body, for all to see: what is dragged, closed hands, and what is in them.
    hands : collection of int
        The bodies that can grasp.
    fixed : collection of int
        The bodies that cannot be carried.
    """

    def __init__(self, holding: Holding, hands: Collection[int], fixed: Collection[int]) -> None:
        self._holding, self._hands = holding, frozenset(hands)
        self._never = self._hands | frozenset(fixed)
        self._dragged: dict[int, Hashable] = {}
        self._hand_of: dict[Hashable, int] = {}  # the hand that a person took last
        self._closed: set[Hashable] = set()
        self._grips: dict[int, tuple[int, Floats]] = {}  # body -> the hand that it is in, and its pose there
        self._lock = threading.RLock()

    def take(self, body: int, holder: Hashable) -> bool:
        """Start dragging a body, also out of one's own hand; return False if somebody else holds it."""
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
        """Release everything of a holder who left; return whether there was anything."""
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
        """Open a person's hands; bodies they do not drag become free. Return whether any did."""
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

    def grasp_touched(self, pairs: Iterable[tuple[int, int]], poses: Floats) -> bool:
        """Let each closed empty hand grasp the first free body it touches; return whether one did."""
        grasped = False
        with self._lock:
            full = {hand for hand, _ in self._grips.values()}
            for hand, body in sorted((one, other) for pair in pairs for one, other in (pair, pair[::-1])):
                holder = self._holding.holder_of(hand)
                if hand not in self._hands or holder not in self._closed or hand in full or body in self._never:
                    continue
                if self._holding.holder_of(body) is None and self._holding.take(body, holder):
                    self._grips[body] = hand, _inverse(poses[hand]) @ poses[body]
                    full.add(hand)
                    grasped = True
        return grasped

    def carried(self, goals: Mapping[int, Floats]) -> dict[int, Floats]:
        """Return goals (4,4) of bodies, including what is in the hands."""
        with self._lock:
            along = {body: goals[hand] @ pose for body, (hand, pose) in self._grips.items() if hand in goals and body not in goals}
        return {**goals, **along}

    def dragged(self) -> frozenset[int]:
        """Return the dragged bodies, with what is in dragged hands."""
        with self._lock:
            return frozenset(self._dragged) | {body for body, (hand, _) in self._grips.items() if hand in self._dragged}


def _inverse(pose: Floats) -> Floats:
    back = np.eye(4)
    back[:3, :3] = pose[:3, :3].T
    back[:3, 3] = -pose[:3, :3].T @ pose[:3, 3]
    return back

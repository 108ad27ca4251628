"""The loop of a session: a thread of its own that goes round while there is something to do, and waits where there is not.

Whoever asks for something only leaves a note and never waits: a method that takes seconds keeps the loop busy, not the page. Goals
of bodies that are dragged are kept apart from other notes, the latest of each body only, so that a slow loop goes where the hand
is now, not everywhere it has been.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jostle._types import Floats

Note = Callable[[], Any]

FASTEST = 1.0 / 60.0  # seconds of a round of the loop, at least: no browser shows more


class Loop:
    """Rounds, and what was wished since the last of them.

    Parameters
    ----------
    go_round : callable
        Does what was wished (`taken`).
    seconds_until_due : callable
        Until a round is due though nobody wishes anything; None for never.
    """

    def __init__(self, go_round: Callable[[], object], seconds_until_due: Callable[[], float | None]) -> None:
        self._go_round, self._seconds_until_due = go_round, seconds_until_due
        self._goals: dict[int, Floats] = {}
        self._notes: list[Note] = []
        # Held by `with self._lock`, whose begin and end no interrupt can part; those of a condition are in Python.
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._stopped = False
        self._thread: threading.Thread | None = None

    def note(self, what: Note) -> None:
        """Do something in the next round."""
        with self._lock:
            self._notes.append(what)
            self._wake.notify()

    def draw(self, body: int, pose: Floats) -> None:
        """Draw a body to a pose in the next round, and nowhere else."""
        with self._lock:
            self._goals[body] = np.array(pose, np.float64)
            self._wake.notify()

    def draw_on(self, goals: Mapping[int, Floats]) -> None:
        """Go on towards goals that were not reached, unless the hand has moved on."""
        with self._lock:
            for body, goal in goals.items():
                self._goals.setdefault(body, goal)

    def taken(self) -> tuple[list[Note], dict[int, Floats]]:
        """Return notes and goals since the last round; from now on others are gathered."""
        # Without the lock, and without a call: neither another thread nor an interrupt can come in between.
        notes, goals, self._notes, self._goals = self._notes, self._goals, [], {}
        return notes, goals

    def put_back(self, notes: list[Note], goals: Mapping[int, Floats]) -> None:
        """Gather again what a round that was interrupted has not done, before what came since."""
        with self._lock:
            self._notes, self._goals = [*notes, *self._notes], {**goals, **self._goals}

    def start(self) -> None:
        """Begin to go round."""
        self._thread = threading.Thread(target=self._run, name="jostle viewer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after the round that runs."""
        with self._lock:
            self._stopped = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join(timeout=5.0)

    def _run(self) -> None:
        while not self._stopped:
            begin = time.perf_counter()
            self._go_round()
            with self._lock:
                rest = self._seconds_to_wait(begin)
                if self._stopped or (rest is not None and rest <= 0.0):
                    continue
                # Up to the next round that is due; or, where none is, until somebody wishes something.
                self._wake.wait_for(self._wished if rest is None else self._ended, rest)

    def _ended(self) -> bool:
        return self._stopped

    def _wished(self) -> bool:
        return self._stopped or bool(self._notes) or bool(self._goals)

    def _seconds_to_wait(self, begin: float) -> float | None:
        """Until the next round; None until somebody wishes something."""
        least = FASTEST - (time.perf_counter() - begin)
        if self._notes or self._goals:
            return least
        due = self._seconds_until_due()
        return None if due is None else max(due, least)

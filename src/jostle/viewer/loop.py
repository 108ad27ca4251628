"""The loop of a session: a thread that runs rounds while there is work, and waits otherwise.

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
    """Rounds, and the requests since the last one.

    Parameters
    ----------
    go_round : callable
        Handles the requests (`taken`).
    seconds_until_due : callable
        Seconds until a round is due without any request; None for never.
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
        """Continue towards goals that were not reached, unless the hand has moved on."""
        with self._lock:
            for body, goal in goals.items():
                self._goals.setdefault(body, goal)

    def taken(self) -> tuple[list[Note], dict[int, Floats]]:
        """Return notes and goals since the last round; from now on others are gathered."""
        # Without the lock, and without a call: neither another thread nor an interrupt can come in between.
        notes, goals, self._notes, self._goals = self._notes, self._goals, [], {}
        return notes, goals

    def put_back(self, notes: list[Note], goals: Mapping[int, Floats]) -> None:
        """Put back what an interrupted round has not done, before newer requests."""
        with self._lock:
            self._notes, self._goals = [*notes, *self._notes], {**goals, **self._goals}

    def start(self) -> None:
        """Start the thread."""
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
                # Until the next round is due or, if none is, until a request comes.
                self._wake.wait_for(self._wished if rest is None else self._ended, rest)

    def _ended(self) -> bool:
        return self._stopped

    def _wished(self) -> bool:
        return self._stopped or bool(self._notes) or bool(self._goals)

    def _seconds_to_wait(self, begin: float) -> float | None:
        """Return seconds until the next round; None until a request comes."""
        least = FASTEST - (time.perf_counter() - begin)
        if self._notes or self._goals:
            return least
        due = self._seconds_until_due()
        return None if due is None else max(due, least)

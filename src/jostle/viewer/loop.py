"""The loop of a session: a thread that runs rounds while there is work.

A request never waits: a method that takes seconds keeps the loop busy, not the page. Of a dragged body only the latest goal is
kept, so that a slow loop moves it to where the hand is now, not along everywhere the hand has been.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from jostle._types import Floats

Request = Callable[[], Any]

SHORTEST_ROUND = 1.0 / 60.0  # seconds: no browser shows more


class Loop:
    """Rounds, and the requests since the last one.

    Parameters
    ----------
    run_round : callable
        Handles the requests (`take_requests`).
    seconds_until_due : callable
        Seconds until a round is due without any request; None for never.
    """

    def __init__(self, run_round: Callable[[], object], seconds_until_due: Callable[[], float | None]) -> None:
        self._run_round, self._seconds_until_due = run_round, seconds_until_due
        self._goals: dict[int, Floats] = {}
        self._requests: list[Request] = []
        # Taken by `with self._lock`: an interrupt cannot come between acquiring and entering, as it can with a condition.
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._stopped = False
        self._thread: threading.Thread | None = None

    def request(self, handler: Request) -> None:
        """Call a handler in the next round."""
        with self._lock:
            self._requests.append(handler)
            self._wake.notify()

    def drag(self, body: int, pose: Floats) -> None:
        """Move a body to a pose in the next round, and to no earlier goal."""
        with self._lock:
            self._goals[body] = np.array(pose, np.float64)
            self._wake.notify()

    def resume_drags(self, goals: Mapping[int, Floats]) -> None:
        """Keep goals that were not reached, unless there are newer ones."""
        with self._lock:
            for body, goal in goals.items():
                self._goals.setdefault(body, goal)

    def take_requests(self) -> tuple[list[Request], dict[int, Floats]]:
        """Return requests and goals since the last round, and start new lists."""
        # One statement without a lock or a call: no other thread and no interrupt can come in between.
        requests, goals, self._requests, self._goals = self._requests, self._goals, [], {}
        return requests, goals

    def put_back(self, requests: list[Request], goals: Mapping[int, Floats]) -> None:
        """Put back what an interrupted round has not done, before newer requests."""
        with self._lock:
            self._requests, self._goals = [*requests, *self._requests], {**goals, **self._goals}

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="jostle viewer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after the running round."""
        with self._lock:
            self._stopped = True
            self._wake.notify()
        if self._thread is not None:
            self._thread.join(timeout=5.0)

    def _run(self) -> None:
        while not self._stopped:
            begin = time.perf_counter()
            self._run_round()
            with self._lock:
                rest = self._seconds_to_wait(begin)
                if self._stopped or (rest is not None and rest <= 0.0):
                    continue
                # Until the next round is due or, if none is, until a request comes.
                self._wake.wait_for(self._has_work if rest is None else lambda: self._stopped, rest)

    def _has_work(self) -> bool:
        return self._stopped or bool(self._requests) or bool(self._goals)

    def _seconds_to_wait(self, begin: float) -> float | None:
        """Return seconds until the next round; None until a request comes."""
        least = SHORTEST_ROUND - (time.perf_counter() - begin)
        if self._requests or self._goals:
            return least
        due = self._seconds_until_due()
        return None if due is None else max(due, least)

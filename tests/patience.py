"""Callers that wait for a helper: otherwise they may do all tasks of a small test before a thread is awake."""

from __future__ import annotations

import time

from jostle.kernels import pool


def let_helpers_begin(monkeypatch):
    """Let the calling thread begin its first task when a helper has taken one."""
    take_first = pool._Work.take_first

    def patient(work):
        serve, left = take_first(work), len(work._left)

        def wait_and_serve():
            end = time.monotonic() + 20.0
            while len(work._left) == left and not work.stopped and time.monotonic() < end:
                time.sleep(0.0001)
            serve()

        return wait_and_serve

    monkeypatch.setattr(pool._Work, "take_first", patient)

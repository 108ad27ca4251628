"""Claims on kernels being compiled, so that no other process compiles them too.

A claim is a lock on a file beside the kernel's. The system releases it when its process ends, however it ends. A process waits for
a claimed kernel while it holds claims on callers of that kernel only, so no two wait for each other. Where files cannot be locked,
and after `PATIENCE_SECONDS`, a kernel is compiled twice, as it would be without claims.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PATIENCE_SECONDS = 120.0
POLL_SECONDS = 0.02
ENDING = ".claim"


class Claim:
    """A claim on one file; `release` ends it."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path, self._descriptor = path, descriptor

    def release(self) -> None:
        """Remove the lock and its file."""
        with contextlib.suppress(OSError):
            self._path.unlink()  # still locked; who has it open gets a lock that excludes nobody, and finds the kernel made
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


def claim(file: Path, *, give_up: Callable[[], bool] = bool) -> Claim | None:
    """Claim a file, after waiting for another process; None if that is impossible."""
    if fcntl is None:
        return None
    path = file.with_name(file.name + ENDING)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    except OSError:
        return None
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return Claim(path, descriptor)
        except BlockingIOError:
            if give_up() or time.monotonic() > end:
                break
            time.sleep(POLL_SECONDS)
        except OSError:  # no locks in this folder
            break
    os.close(descriptor)
    return None

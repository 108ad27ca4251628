"""A server in its own process: the owner's handle and the process itself.

The process is spawned, never forked, and single-threaded: environment variables limit OpenMP and the BLAS libraries, and CPU
affinity limits schedulers without a setting. Messages and answers go over a pipe; output goes to a file. A process that dies
or hangs is the answer `Gone`, never an exception, and only the owner sees Ctrl-C. `jostle bench` runs other libraries and bad
input in such processes, `jostle lab` runs methods.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from jostle.bench.main_guard import check_main_guard

SINGLE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "IGL_NUM_THREADS"), "1"
)
LISTEN_SECONDS = 0.1  # polling interval of the owner: keeps Ctrl-C working on every system
END_SECONDS = 2.0

Server = Callable[..., Any]
"""Takes a verb and its arguments and returns the answer; must not raise."""


@dataclass(frozen=True)
class Gone:
    """Returned instead of an answer; `status` is "crashed" or "timeout"."""

    status: str
    why: str


class ServerProcess:
    """The handle of a process; `start` also restarts one that is gone.

    Parameters
    ----------
    make_server : callable that can be pickled
        Called with `arguments` in the new process; returns the `Server`.
    name : str
        Of the process, for process listings.
    processors : tuple of int
        Those it may run on; () for any.
    daemon : bool
        Daemons end with their owner, but cannot have children.
    """

    def __init__(
        self,
        make_server: Callable[..., Server],
        arguments: tuple[Any, ...],
        name: str,
        processors: tuple[int, ...] = (),
        daemon: bool = True,
    ) -> None:
        self._make_server, self._arguments, self._processors = make_server, arguments, processors
        self._name, self._daemon = name, daemon
        self._process: Any = None
        self._pipe: Connection[Any, Any] | None = None
        self._messages: Path | None = None

    @property
    def running(self) -> bool:
        """Whether the process was started and is not known to be gone."""
        return self._process is not None

    def start(self) -> None:
        """Start the process."""
        check_main_guard()
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        handle, file = tempfile.mkstemp(prefix="jostle-", suffix=".txt")
        os.close(handle)
        self._messages = Path(file)
        arguments = (self._make_server, self._arguments, theirs, file, self._processors)
        self._process = context.Process(target=serve, args=arguments, name=self._name, daemon=self._daemon)
        with _environment(SINGLE_THREAD), _interrupts_blocked():
            self._process.start()
        theirs.close()

    def ask(self, message: tuple[Any, ...], timeout: float) -> Any:
        """Send a verb with arguments; return the answer, or `Gone` after ending it."""
        if self._process is None or self._pipe is None:
            return Gone("crashed", "its process is gone")
        end = time.monotonic() + timeout
        try:
            self._pipe.send(message)
            while not self._pipe.poll(min(LISTEN_SECONDS, max(0.0, end - time.monotonic()))):
                if time.monotonic() > end:
                    self.end()
                    return Gone("timeout", f"no answer within {timeout:g} s")
            return self._pipe.recv()
        except (EOFError, OSError):
            return self._cause_of_death()

    def _cause_of_death(self) -> Gone:
        """Return how the process died, with its last line of output."""
        self._process.join(END_SECONDS)
        code = self._process.exitcode
        how = f"its process ended with code {code}"
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                how = f"its process died of {signal.Signals(-code).name}"
        lines = self._messages.read_text(errors="replace").strip().splitlines() if self._messages is not None else []
        self.end()
        return Gone("crashed", how + (f": {lines[-1][:200]}" if lines else ""))

    def end(self) -> None:
        """End the process, now."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._pipe is not None:
            self._pipe.close()
        if self._messages is not None:
            self._messages.unlink(missing_ok=True)
        self._process = self._pipe = self._messages = None


def processors_to_time_on() -> tuple[int, ...]:
    """Return the usable processors, or () if the system has no affinity."""
    return tuple(sorted(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else ()


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables for a process about to start."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextlib.contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT until a new process ignores it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # starting it with the first process would unblock SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)  # delivers a Ctrl-C that came meanwhile


# ---------------------------------------------------------------------- inside the process


def serve(
    make_server: Callable[..., Server],
    arguments: tuple[Any, ...],
    pipe: Connection[Any, Any],
    messages: str,
    processors: tuple[int, ...],
) -> None:
    """Run a server until the pipe is closed; the target of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["JOSTLE_QUIET"] = "1"  # the last line of its output is the reported cause of death
    with Path(messages).open("a") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    if processors and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, processors)
    server = make_server(*arguments)
    while True:
        try:
            message = pipe.recv()
        except (EOFError, OSError):
            return
        answer = server(*message)
        sys.stdout.flush()
        pipe.send(answer)

"""A contestant in a process of its own: what runs there (`serve`), and the handle that the bench holds of it (`Worker`).

The process is started fresh, never forked, with one thread everywhere: variables for OpenMP and the BLAS libraries, and its
affinity set to as many processors as it may use, which is what schedulers without a setting look at. It stays alive from case
to case. A message in, an answer out, over a pipe; what a library prints goes to a file. A process that dies, hangs or cannot
import its library is an `Outcome` with words, never an exception of the bench; Ctrl-C is for the bench alone.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.metadata
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from jostle.bench.case import Case, Contestant, Found, Job, Unable
from jostle.bench.peers import distribution_of, load_peer

SINGLE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "IGL_NUM_THREADS"), "1"
)
LISTEN_SECONDS = 0.1  # how often the bench looks up while it waits, so that Ctrl-C is heard on every system
END_SECONDS = 2.0


@dataclass(frozen=True)
class WayInfo:
    """What the bench knows of one way of a contestant."""

    name: str
    note: str
    other_question: str


@dataclass(frozen=True)
class Outcome:
    """An answer of a worker. `status` is "ok", or why there is none: missing, unable, failed, crashed, timeout."""

    status: str
    why: str = ""
    ways: tuple[WayInfo, ...] = ()
    seconds: tuple[float, ...] = ()  # one per call
    found: Found | None = None


class Worker:
    """The handle of one contestant's process; the process is started on first use, and again after it died."""

    def __init__(self, contestant: Contestant, processors: tuple[int, ...] = ()) -> None:
        self.contestant = contestant
        self._processors = processors
        self._process: Any = None
        self._pipe: Connection[Any, Any] | None = None
        self._messages: Path | None = None

    @property
    def version(self) -> str:
        """Version of the library, or '' when it is not installed."""
        try:
            return importlib.metadata.version(distribution_of(self.contestant.peer))
        except importlib.metadata.PackageNotFoundError:
            return ""

    def prepare(self, case: Case, timeout: float) -> Outcome:
        """Let it prepare a case: import, trees, transforms. A case that was prepared before is forgotten."""
        return self._ask(("prepare", case), timeout)

    def call(self, way: str, first_frame: int, calls: int, timeout: float, want_found: bool = False) -> Outcome:
        """Let it do the case `calls` times, frame after frame, and return the seconds of each call."""
        return self._ask(("call", way, first_frame, calls, want_found), timeout)

    def _ask(self, message: tuple[Any, ...], timeout: float) -> Outcome:
        if self._process is None:
            if message[0] != "prepare":
                return Outcome("crashed", "its process is gone")
            self._start()
        assert self._pipe is not None
        end = time.monotonic() + timeout
        try:
            self._pipe.send(message)
            while not self._pipe.poll(LISTEN_SECONDS):
                if time.monotonic() > end:
                    self.end()
                    return Outcome("timeout", f"no answer within {timeout:.0f} s")
            answer = self._pipe.recv()
        except (EOFError, OSError):
            return self._epitaph()
        assert isinstance(answer, Outcome)
        return answer

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        handle, name = tempfile.mkstemp(prefix="jostle-bench-", suffix=".txt")
        os.close(handle)
        self._messages = Path(name)
        self._process = context.Process(
            target=serve, args=(self.contestant, theirs, name, self._processors), name=f"bench {self.contestant.label}", daemon=True
        )
        with _environment(SINGLE_THREAD):
            self._process.start()
        theirs.close()

    def _epitaph(self) -> Outcome:
        """Say how the process died, with the last line it wrote."""
        self._process.join(END_SECONDS)
        code = self._process.exitcode
        how = f"its process ended with code {code}"
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                how = f"its process died of {signal.Signals(-code).name}"
        lines = self._messages.read_text(errors="replace").strip().splitlines() if self._messages is not None else []
        self.end()
        return Outcome("crashed", how + (f": {lines[-1][:200]}" if lines else ""))

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


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Any:
    """Set variables for a process that is about to start; they are read before it runs a line of ours."""
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


# ---------------------------------------------------------------------- inside the process


def serve(contestant: Contestant, pipe: Connection[Any, Any], messages: str, processors: tuple[int, ...]) -> None:
    """Be the process of a contestant until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Path(messages).open("a") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    if processors and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, processors)
    server = _Server(contestant)
    while True:
        try:
            verb, *arguments = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            outcome = server.prepare(*arguments) if verb == "prepare" else server.call(*arguments)
        except Unable as error:
            outcome = Outcome("unable", str(error))
        except ImportError as error:
            outcome = Outcome("missing", f"{distribution_of(contestant.peer)} is not installed ({error})")
        except Exception as error:
            outcome = Outcome("failed", f"{type(error).__name__}: {error}"[:300])
        sys.stdout.flush()
        pipe.send(outcome)


class _Server:
    """A contestant and the jobs of its present case."""

    def __init__(self, contestant: Contestant) -> None:
        self._contestant = contestant
        self._peer: Any = None
        self._jobs: dict[str, Job] = {}
        self._frames = 1

    def prepare(self, case: Case) -> Outcome:
        self._jobs = {}
        gc.collect()
        if self._peer is None:
            self._peer = load_peer(self._contestant)
        self._jobs = self._peer.ways(case)
        self._frames = case.frame_count
        return Outcome("ok", ways=tuple(WayInfo(name, job.note, job.other_question) for name, job in self._jobs.items()))

    def call(self, way: str, first_frame: int, calls: int, want_found: bool) -> Outcome:
        job = self._jobs[way]
        run, clock, count = job.run, time.perf_counter, self._frames
        seconds = []
        result: Any = None
        gc.collect()
        gc.disable()
        try:
            for k in range(first_frame, first_frame + calls):
                frame = k % count
                result = None  # what the last call returned is freed outside the clock
                begin = clock()
                result = run(frame)
                seconds.append(clock() - begin)
        finally:
            gc.enable()
        found = job.found(result) if want_found else None
        return Outcome("ok", seconds=tuple(seconds), found=found)

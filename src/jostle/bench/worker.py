"""A contestant in its own process: the server and the bench's handle.

`process.py` starts, calls and ends the process, which stays alive from case to case. A process that dies, hangs or cannot
import its library becomes an `Outcome` with a reason, never an exception.
"""

from __future__ import annotations

import gc
import importlib.metadata
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jostle.bench.case import Case, Contestant, Found, Job, Unable
from jostle.bench.peers import distribution_of, load_peer
from jostle.bench.process import Gone, ServerProcess

COARSE = 1e-4  # seconds, of a processor clock that times nothing: Windows has 16 ms


@dataclass(frozen=True)
class Variant:
    """One variant of a contestant, as the bench sees it."""

    name: str
    note: str
    other_question: str


@dataclass(frozen=True)
class Outcome:
    """A worker's answer: ok, missing, unable, failed, crashed or timeout."""

    status: str
    why: str = ""
    variants: tuple[Variant, ...] = ()
    seconds: tuple[float, ...] = ()  # one per call
    found: Found | None = None


class Worker:
    """The handle of a contestant's process, which restarts after a crash."""

    def __init__(self, contestant: Contestant, processors: tuple[int, ...] = ()) -> None:
        self.contestant = contestant
        self._process = ServerProcess(_Server, (contestant,), f"bench {contestant.label}", processors)

    @property
    def version(self) -> str:
        """The version of the library, or "" if it is not installed."""
        try:
            return importlib.metadata.version(distribution_of(self.contestant.peer))
        except importlib.metadata.PackageNotFoundError:
            return ""

    def prepare(self, case: Case, timeout: float) -> Outcome:
        """Prepare a case (import, trees, transforms), dropping the previous one."""
        return self._ask(("prepare", case), timeout)

    def call(self, variant: str, first_frame: int, calls: int, timeout: float, want_found: bool = False) -> Outcome:
        """Run the case `calls` times, frame after frame; return the seconds of each."""
        return self._ask(("call", variant, first_frame, calls, want_found), timeout)

    def _ask(self, message: tuple[Any, ...], timeout: float) -> Outcome:
        if not self._process.running and message[0] == "prepare":
            self._process.start()
        answer = self._process.ask(message, timeout)
        if isinstance(answer, Gone):
            return Outcome(answer.status, answer.why)
        assert isinstance(answer, Outcome)
        return answer

    def end(self) -> None:
        """End the process, now."""
        self._process.end()


# ---------------------------------------------------------------------- inside the process


class _Server:
    """A contestant and the jobs of its current case."""

    def __init__(self, contestant: Contestant) -> None:
        self._contestant = contestant
        self._peer: Any = None
        self._jobs: dict[str, Job] = {}
        self._frames, self._clock = 1, time.perf_counter

    def __call__(self, verb: str, *arguments: Any) -> Outcome:
        """Handle a message."""
        try:
            return self.prepare(*arguments) if verb == "prepare" else self.call(*arguments)
        except Unable as error:
            return Outcome("unable", str(error))
        except ImportError as error:
            return Outcome("missing", f"{distribution_of(self._contestant.peer)} is not installed ({error})")
        except Exception as error:
            return Outcome("failed", f"{type(error).__name__}: {error}"[:300])

    def prepare(self, case: Case) -> Outcome:
        self._jobs = {}
        gc.collect()
        if self._peer is None:
            self._peer = load_peer(self._contestant)
        self._jobs = self._peer.variants(case)
        self._frames, self._clock = case.frame_count, _cpu_clock() if case.cpu_time else time.perf_counter
        return Outcome("ok", variants=tuple(Variant(name, job.note, job.other_question) for name, job in self._jobs.items()))

    def call(self, variant: str, first_frame: int, calls: int, want_found: bool) -> Outcome:
        job = self._jobs[variant]
        run, clock, count = job.run, self._clock, self._frames
        seconds = []
        result: Any = None
        gc.collect()
        gc.disable()
        try:
            for k in range(first_frame, first_frame + calls):
                frame = k % count
                result = None  # freed outside the clock
                begin = clock()
                result = run(frame)
                seconds.append(clock() - begin)
        finally:
            gc.enable()
        return Outcome("ok", seconds=tuple(seconds), found=job.found(result) if want_found else None)


def _cpu_clock() -> Callable[[], float]:
    """Return the clock of this process's processor time, or of the wall where that is coarse."""
    return time.process_time if time.get_clock_info("process_time").resolution < COARSE else time.perf_counter

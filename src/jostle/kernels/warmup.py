"""Ahead-of-time compilation, for `jostle warmup`.

Signatures are lazy, so a kernel is compiled by calling it. A module with kernels to warm up has a function without arguments,
marked by `warms("a name")`, that runs the public path on tiny data. `warm_up` runs these functions in a few fresh processes, each
taking the next one when it has finished the last; the compiled code goes to the cache on disk. Two processes halve the time on two
processors (21 → 10 s measured); threads do not help, Numba compiles under one lock.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO

from jostle.errors import JostleError
from jostle.kernels.deferral import load_numba
from jostle.kernels.jit import JIT_DISABLED
from jostle.kernels.progress import ticking

Outcome = tuple[str, float, str | None]
"""Name of the entry, seconds it took, and what went wrong or None."""

WARMUPS: list[tuple[str, Callable[[], None]]] = []
"""Every entry, in the order of definition."""

JOIN_SECONDS = 2.0
POLL_SECONDS = 0.2  # so that Ctrl-C works on every system
COUNT_SECONDS = 1.0  # how often a process reports how many kernels it has compiled

_CHILD = (
    "import json, sys\n"
    "task = json.loads(sys.stdin.readline())\n"
    "sys.path[:] = task['path']\n"
    "from jostle.kernels.warmup import _serve\n"
    "_serve(task['modules'])\n"
)


def warms(name: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Return a decorator that adds a function without arguments to `WARMUPS`.

    The function calls kernels on tiny data.
    """

    def enter(function: Callable[[], None]) -> Callable[[], None]:
        if any(taken == name for taken, _ in WARMUPS):
            raise ValueError(f"there are two warm-ups named {name!r}")
        WARMUPS.append((name, function))
        return function

    return enter


def warm_up(
    modules: Sequence[str],
    entries: Sequence[str] | None = None,
    *,
    processes: int = 2,
    progress: Callable[[int, int, str, int], None] | None = None,
) -> list[Outcome]:
    """Run warm-up entries in fresh processes; return (name, seconds, error or None).

    One for each, in order.

    Parameters
    ----------
    modules : sequence of str
        Names of the modules to import; they define the entries.
    entries : sequence of str, optional
        Names of the entries to run; all by default.
    processes : int
        How many run side by side.
    progress : callable, optional
        Called with (entries done, all entries, name of the one that ended last, kernels compiled so far) when any of it changes.

    An entry that raises, or crashes its process, is reported and does not stop the others. Ctrl-C ends the processes.
    """
    with WarmUp(modules, entries, processes) as running:
        reported = (0, 0)
        while running.left:
            running.next_outcome(POLL_SECONDS)
            state = (len(running.outcomes), running.compiled)
            if progress is not None and state != reported:
                reported = state
                last = running.outcomes[-1][0] if running.outcomes else ""
                progress(state[0], len(running.names), last, state[1])
    by_name = {outcome[0]: outcome for outcome in running.outcomes}
    return [by_name[name] for name in running.names]


class WarmUp:
    """Entries that run in fresh processes, which end with the `with` block.

    Take outcomes with `next_outcome`, at any time; `warm_up` has the parameters.
    """

    def __init__(self, modules: Sequence[str], entries: Sequence[str] | None = None, processes: int = 2) -> None:
        for module in modules:
            importlib.import_module(module)
        known = [name for name, _ in WARMUPS]
        self.names = list(dict.fromkeys(known if entries is None else entries))
        unknown = sorted(set(self.names) - set(known))
        if unknown:
            raise ValueError(f"no warm-up named {', '.join(map(repr, unknown))} in {', '.join(modules)}")
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        for name in self.names:
            waiting.put(name)
        self._ended: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        self._workers = [_Worker(modules, waiting, self._ended) for _ in range(max(1, min(processes, len(self.names))))]
        self.outcomes: list[Outcome] = []

    @property
    def left(self) -> bool:
        """Whether there are outcomes to come or to be taken."""
        return len(self.outcomes) < len(self.names)

    @property
    def ended(self) -> int:
        """The number of entries that have ended."""
        return len(self.outcomes) + self._ended.qsize()

    @property
    def compiled(self) -> int:
        """The number of kernels compiled so far."""
        return sum(worker.compiled for worker in self._workers)

    def next_outcome(self, seconds: float) -> Outcome | None:
        """Return the next outcome, in the order in which entries end; None if none comes in time."""
        try:
            outcome = self._ended.get(timeout=seconds)
        except queue.Empty:
            return None
        self.outcomes.append(outcome)
        return outcome

    @contextlib.contextmanager
    def kept_off(self, processors: Sequence[int]) -> Iterator[None]:
        """Leave some processors to others for a while, where the system can and there are more.

        Times that are measured there are not those of a machine that compiles.
        """
        usable = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
        others = usable - set(processors)
        if others:
            self._move_to(others)
        try:
            yield
        finally:
            if others:
                self._move_to(usable)

    def _move_to(self, processors: set[int]) -> None:
        for worker in self._workers:
            worker.move_to(processors)

    def __enter__(self) -> WarmUp:
        try:
            for worker in self._workers:
                worker.start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        for worker in self._workers:
            worker.end()
        for worker in self._workers:
            if worker.ident is not None:
                worker.join(JOIN_SECONDS)


class _Worker(threading.Thread):
    """A thread that feeds one process: a name in, an answer out.

    A process that died is replaced.
    """

    def __init__(self, modules: Sequence[str], waiting: queue.SimpleQueue[str], outcomes: queue.SimpleQueue[Outcome]) -> None:
        super().__init__(daemon=True)
        self._modules = list(modules)
        self._waiting = waiting
        self._outcomes = outcomes
        self._process: subprocess.Popen[str] | None = None
        self._ending = threading.Event()
        self._compiled_before = 0  # by processes that have died
        self.compiled = 0
        self._processors: set[int] = set()  # any

    def run(self) -> None:
        with tempfile.TemporaryFile("w+", errors="replace") as messages:
            while not self._ending.is_set():
                try:
                    name = self._waiting.get_nowait()
                except queue.Empty:
                    break
                begin = time.perf_counter()
                try:
                    error = self._ask(name, messages)
                except Exception as trouble:  # the process could not be started or has died
                    error = f"{self._exit_report(messages)} ({trouble})"
                self._outcomes.put((name, time.perf_counter() - begin, error))
            self.end()

    def _ask(self, name: str, messages: TextIO) -> str | None:
        process = self._process
        if process is None or process.poll() is not None:
            pipe = subprocess.PIPE
            process = subprocess.Popen([sys.executable, "-c", _CHILD], stdin=pipe, stdout=pipe, stderr=messages, text=True)
            self._process = process
            self._compiled_before = self.compiled
            if self._processors:
                self.move_to(self._processors)
            if self._ending.is_set():  # `end` ran before the new process was known
                raise InterruptedError("no longer needed")
            self._send(process, json.dumps({"path": sys.path, "modules": self._modules}))
        self._send(process, json.dumps(name))
        assert process.stdout is not None
        while True:
            answer: dict[str, Any] = json.loads(process.stdout.readline() or "null")
            self.compiled = self._compiled_before + int(answer["compiled"])
            if "error" in answer:
                return answer["error"]

    @staticmethod
    def _send(process: subprocess.Popen[str], line: str) -> None:
        assert process.stdin is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()

    def _exit_report(self, messages: TextIO) -> str:
        code = None
        if self._process is not None:
            try:
                code = self._process.wait(JOIN_SECONDS)
            except subprocess.TimeoutExpired:  # alive, but its answer is not JSON
                self._process.kill()
                code = self._process.wait()
        messages.seek(0)
        last = messages.read().strip().rpartition("\n")[2]
        return f"the process ended with code {code}" + (f": {last}" if last else "")

    def move_to(self, processors: set[int]) -> None:
        """Run the threads of the process on these processors, from now on and in new ones."""
        self._processors = processors
        if self._process is not None:
            with contextlib.suppress(OSError):  # it has ended
                for thread in Path(f"/proc/{self._process.pid}/task").iterdir():
                    os.sched_setaffinity(int(thread.name), processors)

    def end(self) -> None:
        """End the process now."""
        self._ending.set()
        process = self._process
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()


@contextlib.contextmanager
def _private_stdout() -> Iterator[TextIO]:
    """Redirect what an entry prints to stderr; yield the stream for answers."""
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        yield answers


def _serve(modules: list[str]) -> None:
    """Import the modules, then run the entries named on standard input.

    This is the main function of a child process.
    """
    os.environ["JOSTLE_QUIET"] = "1"  # the parent shows progress, and takes the last line as the cause of a crash
    with _private_stdout() as answers:
        for module in modules:
            importlib.import_module(module)
        if not JIT_DISABLED:
            load_numba("jostle.kernels.dispatch")  # until then kernels with a NumPy form are not compiled
        functions = dict(WARMUPS)
        for line in sys.stdin:
            error = None
            with ticking(COUNT_SECONDS, lambda: _count(answers)):
                try:
                    functions[json.loads(line)]()
                except JostleError as trouble:
                    error = str(trouble)
                except Exception as trouble:
                    error = f"{type(trouble).__name__}: {trouble}"
            _answer(answers, error=error)


def _answer(answers: TextIO, **fields: Any) -> None:
    from jostle.kernels.cache_state import cache_statistics

    answers.write(json.dumps({"compiled": cache_statistics.misses, **fields}) + "\n")
    answers.flush()


def _count(answers: TextIO) -> None:
    """Report how many kernels are compiled so far."""
    with contextlib.suppress(OSError, ValueError):  # the parent is gone
        _answer(answers)

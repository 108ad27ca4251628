"""Progress of long compilations on stderr: the kernels ready, of those needed.

Shown after a second. On a terminal, and in the output of a notebook's cell, it is one line that is rewritten, elsewhere
a line every ten seconds; JOSTLE_QUIET=1 silences it. A call may compile several kernels one after another, each with its
callees. They count as one piece of work if they follow each other closely; its end is reported when nothing has been
compiled for a while, or earlier by `finish`.

| state | enters when | leaves to |
|---|---|---|
| idle | nothing was compiled lately | compiling |
| compiling | a kernel is not in the cache | pausing, when the outermost kernel is ready |
| pausing | | compiling, at the next kernel that is not in the cache; idle, after `PAUSE_SECONDS` or by `finish` |
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from jostle.kernels.cache_state import where_kept
from jostle.kernels.deferral import interrupted
from jostle.kernels.notebook import NotebookLine, notebook_shell

Function = Callable[..., Any]

PATIENCE_SECONDS = 1.0  # shorter compilations are not reported
LINE_SECONDS = 10.0  # between two lines of a log
PAUSE_SECONDS = 2.0
TICK_SECONDS = 0.2


def is_quiet() -> bool:
    """Return whether JOSTLE_QUIET asks for silence: set, and not 0."""
    return os.environ.get("JOSTLE_QUIET", "") not in ("", "0")


@contextlib.contextmanager
def ticking(seconds: float, tick: Callable[[], object]) -> Iterator[None]:
    """Call a function every so many seconds in a thread, during a `with` block."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(seconds):
            tick()

    thread = threading.Thread(target=run, name="jostle-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class StatusLine:
    """A status on stderr, rewritten in place on a terminal. It never raises.

    In a notebook it is a line of the cell's output that is rewritten, elsewhere a new line now and then.

    Parameters
    ----------
    now : callable
        The clock, in seconds.
    """

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._shown = ""  # on the terminal's last line
        self._last: float | None = None  # when the last line of a log was written
        self._in_notebook: NotebookLine | None = None

    @property
    def is_in_notebook(self) -> bool:
        """Whether the status is shown in a notebook."""
        return self._in_notebook is not None

    def show(self, text: str) -> None:
        """Show the status; on a log only if the last line is old enough."""
        if self._in_notebook is None and (shell := notebook_shell()) is not None:
            self._in_notebook = NotebookLine(shell)
        if self._in_notebook is not None:
            self._in_notebook.show(text)
        elif self._is_terminal():
            text = text[: max(20, shutil.get_terminal_size().columns - 1)]
            if text != self._shown:
                self._write("\r" + text.ljust(len(self._shown)))
                self._shown = text
        elif self._last is None or self._now() - self._last >= LINE_SECONDS:
            self._last = self._now()
            self._write(text + "\n")

    def clear(self) -> None:
        """Clear the line for other output; in a notebook it is not in the way, and stays."""
        if self._shown:
            self._write("\r" + " " * len(self._shown) + "\r")
            self._shown = ""

    def end(self, text: str) -> None:
        """Write a last line."""
        if self._in_notebook is not None:
            self._in_notebook.show(text)
            self._in_notebook = None
            return
        self.clear()
        self._last = None
        self._write(text + "\n")

    @staticmethod
    def _is_terminal() -> bool:
        with contextlib.suppress(Exception):
            return bool(sys.stderr.isatty())
        return False

    @staticmethod
    def _write(text: str) -> None:
        with contextlib.suppress(Exception):  # closed, full, or None: no reason to stop compiling
            sys.stderr.write(text)
            sys.stderr.flush()


@contextlib.contextmanager
def shown_progress(doing: str) -> Iterator[Callable[[float, str], None]]:
    """Show long work on a `StatusLine`: yields a function of a share 0 … 1 and a text.

    Nothing is shown within the first second, or with JOSTLE_QUIET.
    """
    line, begin = StatusLine(), time.monotonic()
    was_shown = False

    def show(share: float, what: str) -> None:
        nonlocal was_shown
        if not is_quiet() and time.monotonic() - begin >= PATIENCE_SECONDS:
            line.show(f"jostle: {doing}, {share:.0%}: {what}")
            was_shown = True

    try:
        yield show
    except BaseException:  # Ctrl-C, too
        if was_shown:
            line.end(f"jostle: {doing} ended after {time.monotonic() - begin:.0f} s, unfinished")
        raise
    if was_shown:
        line.end(f"jostle: {doing} took {time.monotonic() - begin:.0f} s")


class CompileProgress:
    """Kernels ready, of those the present work needs; both grow until `finish`.

    Needed are the kernel that was called and its callees by name, at any depth, unless ready in this process. Some of them may be
    in the cache, and are ready at once; some may never be called for these types, and count as ready when the outermost kernel is.

    Parameters
    ----------
    now : callable
        The clock, in seconds.
    summary : callable
        Returns where compiled kernels are kept, for the last line.
    is_interrupted : callable
        Returns whether an interrupt is pending.
    watched : bool
        Whether a thread reports while kernels are compiled. Otherwise call `tick`.
    """

    def __init__(
        self,
        summary: Callable[[], str] = str,
        *,
        now: Callable[[], float] = time.monotonic,
        is_interrupted: Callable[[], bool] = bool,
        watched: bool = False,
    ) -> None:
        self._summary, self._now, self.is_interrupted, self._watched = summary, now, is_interrupted, watched
        self._lock = threading.RLock()
        self._line = StatusLine(now)
        self._ready: set[Function] = set()
        self._depth = 0
        self._silenced = 0
        self._watcher: threading.Thread | None = None
        self._stopped = threading.Event()
        self._start_over()

    def _start_over(self) -> None:
        self.needed = self.done = self.compiled = 0
        self._waiting: set[Function] = set()
        self._spent = 0.0
        self._since: float | None = None
        self._paused_at = 0.0
        self._announced = False

    @property
    def seconds(self) -> float:
        """Seconds spent compiling."""
        return self._spent + (0.0 if self._since is None else self._now() - self._since)

    def enter(self) -> None:
        """Note that a kernel is requested that this process does not have."""
        with self._lock:
            self._depth += 1

    def miss(self, function: Function, visible: Callable[[Function], set[Function]]) -> None:
        """Note that a kernel is not in the cache; `visible` returns its callees."""
        with self._lock:
            if function not in self._waiting:
                new = {function}
                with contextlib.suppress(Exception):  # odd objects among the globals: the count then grows later
                    new |= visible(function)
                new -= self._ready | self._waiting
                self._waiting |= new
                self.needed += len(new) + (function in self._ready)  # again, for other argument types
            if self._since is None:
                self._since = self._now()
                self._watch()

    def leave(self, function: Function, compiled: bool, failed: bool) -> None:
        """Note that a kernel is ready, or has failed."""
        with self._lock:
            self._depth -= 1
            if not failed:
                self.compiled += compiled
                if function in self._waiting:
                    self._waiting.remove(function)
                    self.done += 1
                elif compiled:
                    self.done += 1
                self._ready.add(function)
            if self._depth == 0:
                self._pause(failed)

    def _pause(self, failed: bool) -> None:
        if not failed:  # after a failure they are still needed, by the next call
            self._ready |= self._waiting
            self._waiting.clear()
            self.done = self.needed
        if self._since is not None:
            self._paused_at = self._now()
            self._spent, self._since = self.seconds, None
            self._line.clear()

    def tick(self) -> None:
        """Report if it is time."""
        with self._lock:
            if self._since is None:
                if self.needed and self._now() - self._paused_at >= PAUSE_SECONDS:
                    self.finish(at_prompt=hasattr(sys, "ps1") and not self._line.is_in_notebook)
            elif self.seconds >= PATIENCE_SECONDS and not self._silenced and not is_quiet():
                self._announced = True
                what = "compiling kernels, for the first use only"
                if self.is_interrupted():
                    what = "interrupted, stops after the present kernel"
                self._line.show(f"jostle: {what}: {self.done} of {self.needed} ready, {self.seconds:.0f} s")

    def finish(self, at_prompt: bool = False) -> None:
        """Report the end if the start was reported, except at a prompt; start over."""
        with self._lock:
            if self._since is not None:
                return
            if self._announced and not at_prompt and not self._silenced and not is_quiet():
                kernels = "1 kernel" if self.compiled == 1 else f"{self.compiled} kernels"
                kept = ""
                with contextlib.suppress(Exception):  # there may be no home
                    kept = self._summary()
                self._line.end(f"jostle: compiled {kernels} in {self.seconds:.0f} s{kept}")
            self._start_over()

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """Be silent while something else shows progress on the terminal."""
        self._silenced += 1
        try:
            yield
        finally:
            self._silenced -= 1

    def _watch(self) -> None:
        if self._watched and self._watcher is None and not self._stopped.is_set():
            watcher = threading.Thread(target=self._tick_until_finished, name="jostle-compile-progress", daemon=True)
            with contextlib.suppress(RuntimeError):  # no thread is available: nothing is reported
                watcher.start()
                self._watcher = watcher

    def _tick_until_finished(self) -> None:
        while not self._stopped.wait(TICK_SECONDS):
            with self._lock:
                self.tick()
                if not self.needed:
                    self._watcher = None
                    return

    def stop(self) -> None:
        """End the thread and report the end, at exit.

        A thread must not write while the interpreter shuts down.
        """
        self._stopped.set()
        watcher = self._watcher
        if watcher is not None:
            watcher.join(PAUSE_SECONDS)
        self.finish()

    def reset_after_fork(self) -> None:
        """Forget the parent's thread and its pending report."""
        self._lock = threading.RLock()
        self._stopped = threading.Event()
        self._watcher = None
        self._depth = 0
        self._line = StatusLine(self._now)
        self._start_over()


compile_progress = CompileProgress(where_kept, is_interrupted=interrupted, watched=True)
atexit.register(compile_progress.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=compile_progress.reset_after_fork)

"""The console of a command, and its progress: a bar on a terminal, lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

Show = Callable[[str, float, float], None]
"""Called with a description, the amount done and the total."""


def open_console(stderr: bool = False, log_width: int = 160) -> Console:
    """Return a console as wide as the terminal, or `log_width` characters in a log."""
    from rich.console import Console

    return Console(stderr=stderr, width=None if sys.stdout.isatty() else log_width)


def print_machine(console: Console, machine: Mapping[str, Any]) -> None:
    """Print the machine of a measurement, with a warning if it is busy."""
    load = machine["load_average"]
    console.print(f"{machine['cpu']}, {machine['usable_cores']} of {machine['cores']} cores, {machine['system']}", highlight=False)
    if load is not None and load[0] > 0.5:
        console.print(f"[yellow]warning: machine is busy (load {load[0]:.1f}); times are inflated, compare ratios only[/yellow]")


@contextmanager
def progress_bar(console: Console, total: float | None = None) -> Iterator[Callable[..., None]]:
    """Show a bar on a terminal; yield a function of (done, text, optional new total)."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from jostle.kernels.progress import is_quiet

    columns = (BarColumn(30), TimeElapsedColumn(), TextColumn("{task.description}"))
    silent = is_quiet() or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=silent) as bar:
        task = bar.add_task("preparing (a first run compiles)", total=total)
        yield lambda done, text, total=None: bar.update(task, completed=done, description=text, total=total)


@contextmanager
def progress_shown(console: Console, work: str, transient: bool = False) -> Iterator[Show]:
    """Show progress, unless JOSTLE_QUIET is set; a transient bar is removed at the end."""
    from jostle.kernels.progress import is_quiet

    if is_quiet():
        yield lambda *_: None
        return
    if not console.is_terminal:
        from jostle.kernels.progress import TICK_SECONDS, ticking

        lines = Lines(lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True), work)
        with ticking(TICK_SECONDS, lines.tick):
            yield lines.show
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from jostle.kernels.progress import compile_progress

    count, what = TextColumn("{task.fields[count]}"), TextColumn("{task.description}", markup=False)
    columns = (TextColumn(work), BarColumn(20), count, TimeElapsedColumn(), what)
    with compile_progress.silent(), Progress(*columns, console=console, transient=transient) as bar:
        task = bar.add_task("", total=None, count="")
        room = max(10, console.width - len(work) - 44)  # beside the bar, the count, the time and gaps

        def show(what: str, done: float, total: float) -> None:
            bar.update(
                task,
                description=what if len(what) <= room else f"{what[: room - 1]}…",
                completed=done,
                total=total,
                count=_count(done, total),
            )

        yield show


def _count(done: float, total: float) -> str:
    """Return "3 of 5" for whole counts; fractions give no text."""
    return f"{done} of {total}" if isinstance(done, int) and isinstance(total, int) else ""


class Lines:
    """A line of progress after a second, then one every ten seconds.

    Parameters
    ----------
    write : callable
        Takes a line.
    work : str
        What is being done.
    now : callable
        The clock, in seconds.
    """

    def __init__(self, write: Callable[[str], object], work: str, now: Callable[[], float] = time.monotonic) -> None:
        from jostle.kernels.progress import LINE_SECONDS, PATIENCE_SECONDS

        self._write, self._work, self._now = write, work, now
        self._begin = now()
        self._next, self._every = PATIENCE_SECONDS, LINE_SECONDS
        self._state = ("", "")

    def show(self, what: str, done: float, total: float) -> None:
        """Store the state for the next line."""
        self._state = (_count(done, total), what)

    def tick(self) -> None:
        """Write a line if one is due."""
        seconds = self._now() - self._begin
        if seconds >= self._next:
            self._next = seconds + self._every
            count, what = self._state
            words = (f"{self._work} {count}".strip(), what, f"{seconds:.0f} s")
            self._write(", ".join(filter(None, words)))

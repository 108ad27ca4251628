"""The tour's table, row by row: results, times, guarantee and agreement.

A row is one line of at most `WIDTH` characters, on a terminal and in a log; what does not fit into a column is a line of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from jostle.cli.tour.experiment import EXACT, GIVEN, SHORT, bodies_for
from jostle.interface.traits import Answer, Guarantee
from jostle.lab.results import MethodRun
from jostle.registry import METHODS

WIDTH = 100
NOTHING = "–"
# Heading, width, and whether to align it on the right.
COLUMNS = (
    ("method", 16, False),
    ("given", 9, False),
    ("bodies", 6, True),
    ("faces", 6, True),
    ("median ms", 9, True),
    ("worst ms", 8, True),
    ("  guarantee", 15, False),
    ("exact in", 8, True),
    ("missed", 6, True),
    ("extra", 5, True),
)


def print_heading(console: Console) -> None:
    """Print the names of the columns."""
    _print_line(console, as_line([heading for heading, *_ in COLUMNS]), "bold")


def print_row(console: Console, run: MethodRun) -> None:
    """Print the row of a method, and a remark if there is one."""
    _print_line(console, as_line(cells_of(run)), "" if run.served and run.keeps_guarantee is not False else "red")
    words = remark(run)
    if words:
        console.print(Text(f"  {run.method}: {words}"), style="yellow", highlight=False)


def print_legend(console: Console, frames: int) -> None:
    """Print what the columns mean."""
    given = "; ".join(f"{SHORT[bodies]}, {words}" for bodies, words in GIVEN.items())
    console.print(
        f"Given: {given}. Bodies and faces: touching pairs, summed over {frames} frames (contact points if a method names no "
        "faces). Times are per frame and include setting poses and vertices. Exact in: frames with the exact answer, with the "
        f"pairs missed or extra in the others; the exact answer is that of {EXACT}, found anew in every frame. A percentage is a "
        "share of the size of the bodies.",
        highlight=False,
        style="dim",
    )


def _print_line(console: Console, line: str, style: str) -> None:
    console.print(Text(line, style), soft_wrap=True, highlight=False)


def as_line(cells: Sequence[str]) -> str:
    """Return cells in their columns."""
    aligned = [f"{cell:>{width}}" if right else f"{cell:<{width}}" for cell, (_, width, right) in zip(cells, COLUMNS, strict=True)]
    return " ".join(aligned).rstrip()


def cells_of(run: MethodRun) -> list[str]:
    """Return the cells of a row, as in `COLUMNS`."""
    method = METHODS[run.method]()
    counts = [f"{sum(each):,}" if sum(each) else NOTHING for each in (run.pairs, run.contacts)]
    times = [NOTHING if seconds is None else _milliseconds(1e3 * seconds) for seconds in (run.median, run.maximum)]
    right = NOTHING if run.frames_right is None else f"{run.frames_right}/{len(run.pairs)}"
    wrong = [NOTHING if count is None else f"{count:,}" for count in (run.missed, run.extra)]
    promise = next((method.traits.answers[each] for each in Answer if each in method.traits.answers), None)
    words = NOTHING if promise is None else _short(promise)
    return [run.method, SHORT[bodies_for(method)], *counts, *times, f"  {words}", right, *wrong]


def _milliseconds(time: float) -> str:
    return f"{time:.3g}" if time < 1000.0 else f"{time:,.0f}"


def _short(guarantee: Guarantee) -> str:
    if guarantee.value is not None and guarantee.name.endswith(" share"):
        return f"{guarantee.name.removesuffix(' share')} {100.0 * guarantee.value:.3g} %"
    return str(guarantee)


def remark(run: MethodRun) -> str:
    """Return why a method has no results or fewer, and how far it broke its guarantee."""
    if not run.served:
        return f"{run.status}: {run.why}"
    broken = [f"{run.beyond:,} beyond its guarantee"] if run.keeps_guarantee is False else []
    return "; ".join([*broken, *([run.why] if run.why else [])])

"""The tour's table: results, times, guarantee and agreement of each method."""

from __future__ import annotations

from rich import box
from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table

from jostle.cli.methods import guarantee_words
from jostle.cli.tour.experiment import GIVEN
from jostle.lab.results import ExperimentResult, MethodRun, Point
from jostle.registry import METHODS

NOTHING = "–"


def print_table(console: Console, result: ExperimentResult) -> None:
    """Print one table per kind of bodies."""
    tables = [_table(point, first=k == 0) for k, point in enumerate(result.points) if point.runs]
    console.print(Group(*tables))
    frames = max((point.frames for point in result.points), default=0)
    console.print(
        f"Pairs are sums over {frames} frames: of touching bodies, and of their faces (of contact points if a method reports no "
        "faces). Times are per frame and include setting poses and vertices. The exact answer is that of wide_tree with trees "
        "rebuilt in every frame, for the bodies in the heading; brute_force tests every face against every face.",
        highlight=False,
        style="dim",
    )


def _table(point: Point, first: bool) -> Table:
    table = Table(
        title=escape(GIVEN[str(point.value)]), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    table.add_column("method", min_width=max(map(len, METHODS)), no_wrap=True)
    # The same widths in all tables, so that columns line up.
    for heading, width in (("bodies", 6), ("faces", 6), ("median ms", 9), ("worst ms", 8)):
        table.add_column(heading if first else "", justify="right", min_width=width, no_wrap=True)
    table.add_column("guarantee" if first else "", min_width=12, ratio=3)
    table.add_column("agreement with exact" if first else "", min_width=14, ratio=4)
    for run in point.runs:
        table.add_row(*(escape(cell) for cell in cells_of(run)), style="" if run.served else "dim")
    return table


def cells_of(run: MethodRun) -> list[str]:
    """Return a row: method, body pairs, rows, median, worst, guarantee, agreement."""
    counts = [f"{sum(each):,}" if each else NOTHING for each in (run.pairs, run.contacts)]
    times = [NOTHING if seconds is None else f"{1e3 * seconds:.3g}" for seconds in (run.median, run.maximum)]
    return [run.method, *counts, *times, guarantee_words(METHODS[run.method]().traits), agreement(run)]


def agreement(run: MethodRun) -> str:
    """Return the number of exact frames, and whether the rest keeps the guarantee."""
    if not run.served:
        return f"{run.status}: {run.why}"
    if run.frames_right is None:
        return "not compared"
    what = "faces" if run.compared == "faces" else "bodies"
    words = [f"same {what} in {run.frames_right} of {len(run.pairs)} frames"]
    if not run.agrees:
        words.append(f"{run.missed:,} missed, {run.extra:,} extra")
        if run.keeps_guarantee is not None:
            words.append("as it guarantees" if run.keeps_guarantee else f"{run.beyond:,} beyond its guarantee")
    return "; ".join([*words, *([run.why] if run.why else [])])

"""Print a run: a table with a row for each point and method, verdicts, advice."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from jostle.bench.table import milliseconds
from jostle.lab.results import ExperimentResult, MethodRun, quality_of

_STYLES = {"reproduced": "green", "partly": "yellow", "refuted": "red", "not judged": "dim"}


def print_result(console: Console, result: ExperimentResult) -> None:
    """Print a run."""
    title = f"{result.paper}, {result.figure}: {result.title}" if result.figure else result.title
    table = Table(title=escape(title), title_justify="left", title_style="bold", header_style="dim")
    if result.parameter is not None:
        table.add_column(result.parameter, justify="right")
    table.add_column("method", overflow="fold")
    for heading in ("median ms", "95 % ms", "max ms", "± ms", "prepare ms", "memory MB", "contacts", "missed", "extra"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("answer", overflow="fold")
    for point in result.points:
        for run in point.runs:
            cells = ([] if result.parameter is None else [point.label]) + cells_of(run)
            table.add_row(*(escape(cell) for cell in cells), style="" if run.served else "dim")
    frames = sorted({point.frames for point in result.points})
    if frames:
        table.caption = f"{' to '.join(str(n) for n in (frames[0], frames[-1])[: len(frames)])} frames; counts are sums over them"
    console.print(table)
    for verdict in result.verdicts:
        style = _STYLES.get(verdict.verdict, "")
        console.print(f"[{style}]{verdict.verdict}[/{style}]: {escape(verdict.claim)} ({verdict.paper}, {escape(verdict.place)})",
                      highlight=False)  # fmt: skip
        console.print(f"  {escape(verdict.why)}" + (f" Ours: {escape(verdict.ours)}" if verdict.ours else ""), highlight=False)
    if result.advice:
        console.print(escape(result.advice), style="bold", highlight=False)


def cells_of(run: MethodRun) -> list[str]:
    """Return the cells of one run, from its method to its answer."""
    times = [milliseconds(value) for value in (run.median, run.p95, run.maximum, run.deviation, run.prepare_seconds)]
    memory = "–" if run.memory_bytes is None else "<0.1" if run.memory_bytes < 5e4 else f"{run.memory_bytes / 1e6:.1f}"
    contacts = f"{sum(run.contacts):,}" if run.contacts else "–"
    wrong = ["–" if count is None else f"{count:,}" for count in (run.missed, run.extra)]
    return [run.method, *times, memory, contacts, *wrong, _answer(run)]


def _answer(run: MethodRun) -> str:
    if not run.served:
        return f"{run.status}: {run.why}"
    if run.agrees is None:
        return "not compared"
    once = (", timed in the warm-up" if run.rounds == 0 else "") + (f", {run.why}" if run.why else "")
    return quality_of(run) + (", body pairs" if run.compared == "body pairs" else "") + once

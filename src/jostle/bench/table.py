"""Results of the bench for people (a table per case) and for programs (JSON)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from jostle.bench.compare import Check
from jostle.bench.run import CaseResult, Result, Row

_STATUS = {
    "missing": "not installed",
    "unable": "cannot do this",
    "failed": "failed",
    "crashed": "crashed",
    "timeout": "hung",
}


def print_case(console: Console, result: CaseResult) -> None:
    """Print one case: times, findings, and the ratio of jostle to its best peer."""
    table = Table(title=f"{result.scenario}: {result.name}", title_justify="left", title_style="bold", header_style="dim")
    for heading in ("who", "how"):
        table.add_column(heading, overflow="fold")
    for heading in ("median ms", "min ms", "found", "missed", "extra"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("answer", overflow="fold")
    for row in sorted(result.rows, key=by_place):
        style = "bold" if row.is_jostle else ("dim" if row.seconds is None else "")
        table.add_row(*(escape(cell) for cell in as_cells(row)), style=style)
    if result.frames > 1:
        table.caption = f"counts are sums over {result.frames} frames"
    console.print(table)
    for line in summary(result):
        console.print(line, highlight=False)
    console.print()


def summary(result: CaseResult) -> list[str]:
    """Return a sentence per row of jostle: its speed over the best correct peer's."""
    lines = []
    for row in result.rows:
        if not row.is_jostle:
            continue
        name = row.contestant.label
        if row.seconds is None:
            lines.append(f"{name}: no time ({_STATUS.get(row.status, row.status)})")
            continue
        if not row.correct:
            lines.append(f"[red]{name}: its answer is not the exact one, so there is no ratio[/red]")
            continue
        for correct, whom in ((True, "the best correct peer"), (False, "the fastest peer, none being correct")):
            best, ratio = result.best_peer(correct), result.ratio(row, correct)
            if best is not None and ratio is not None:
                peer = f"{best.contestant.label}, {escape(best.variant)}"
                lines.append(f"{name}: [bold]{ratio:.3g}[/bold] times the speed of {whom} ({peer})")
                break
        else:
            lines.append(f"{name}: no peer to compare with")
    return lines


def as_json(result: Result, machine: dict[str, Any], command: str) -> dict[str, Any]:
    """Return all measurements, ready for `json.dump`; times are in seconds.

    Cases of the kinds have labels.
    """
    versions = {row.contestant.peer: row.version for case in result.cases for row in case.rows if row.version}
    return {
        "command": command,
        "machine": machine,
        "versions": versions,
        "interrupted": result.interrupted,
        "cases": [_case_as_json(case) for case in result.cases],
    }


def _case_as_json(result: CaseResult) -> dict[str, Any]:
    return {
        "scenario": result.scenario,
        "case": result.name,
        **({} if result.label is None else {"label": result.label._asdict()}),
        "question": result.question,
        "frames": result.frames,
        "best_correct_peer": _name(result.best_peer()),
        "fastest_peer": _name(result.best_peer(correct=False)),
        "rows": [
            {
                **_row_as_json(row),
                "times_the_best_correct_peer": result.ratio(row) if row.is_jostle else None,
                "times_the_fastest_peer": result.ratio(row, correct=False) if row.is_jostle else None,
            }
            for row in result.rows
        ],
    }


def _row_as_json(row: Row) -> dict[str, Any]:
    check = row.check
    return {
        "peer": row.contestant.peer,
        "threads": row.contestant.threads,
        "way": row.variant,
        "note": row.note,
        "status": row.status,
        "why": row.why,
        "median_seconds": row.seconds,
        "min_seconds": row.least if math.isfinite(row.least) else None,
        "round_seconds": row.rounds,
        "calls": row.calls,
        "answers_another_question": row.other_question or None,
        "correct": row.correct,
        "found": None if check is None else _finite(check.found),
        "expected": None if check is None else _finite(check.expected),
        "missed": None if check is None or check.missed < 0 else check.missed,
        "extra": None if check is None or check.extra < 0 else check.extra,
        "error": None if check is None or check.missed >= 0 else _finite(check.error),
    }


def as_cells(row: Row) -> list[str]:
    """Return the cells of one row."""
    check = row.check
    who = row.contestant.label + (f" {row.version}" if row.version else "")
    least = row.least if math.isfinite(row.least) else None
    counts = ["", "", ""] if check is None else _counts(check)
    return [who, row.variant, milliseconds(row.seconds), milliseconds(least), *counts, _answer(row, check)]


def _counts(check: Check) -> list[str]:
    if check.missed < 0:
        return [f"{check.found:.9f}", "", ""]
    return [f"{int(check.found):,}", f"{check.missed:,}", f"{check.extra:,}"]


def _answer(row: Row, check: Check | None) -> str:
    """Return the last column."""
    if row.status != "ok":
        return f"{_STATUS.get(row.status, row.status)}: {row.why}"
    words = []
    if row.other_question:
        words.append(f"another question: {row.other_question}")
    elif check is not None and check.missed < 0 and not check.correct:
        words.append(f"off by {check.error:.1e}")
    elif check is not None:
        words.append("exact" if row.correct else "wrong")
    if row.note:
        words.append(row.note)
    return "; ".join(words)


def by_place(row: Row) -> tuple[int, float]:
    """Sort key: jostle, then peers by time, then peers without a time."""
    seconds = row.seconds
    return (0 if row.is_jostle else 1 if seconds is not None else 2, seconds or 0.0)


def milliseconds(seconds: float | None) -> str:
    """Format seconds as milliseconds for a column."""
    if seconds is None:
        return "–"
    value = 1e3 * seconds
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}" if value < 10.0 else f"{value:,.1f}"


def markdown_line(cells: Sequence[str]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _name(row: Row | None) -> str | None:
    return None if row is None else f"{row.contestant.peer}: {row.variant}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

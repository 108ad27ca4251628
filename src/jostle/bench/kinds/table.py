"""The tables of the kinds: each case, and for each question the worst of both halves.

A ratio is the other's time over ours: below 1 we are slower. It compares with the fastest peer that is correct, and with the
fastest correct answer of ours by another method or call. An answer of ours that is wrong, or none, counts as 0. Where no peer is
correct there is no ratio, and the case says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from jostle.bench.case import KindLabel
from jostle.bench.kinds.catalogue import CHECKED_ON, CHOSEN_ON
from jostle.bench.kinds.part import Asked
from jostle.bench.run import CaseResult, Row
from jostle.bench.table import markdown_line, milliseconds

HALVES = {"chosen on": CHOSEN_ON, "checked on": CHECKED_ON}
_RIVALS = ("best correct peer", "its ms", "ratio", "best other of ours", "its ms", "ratio")
EACH_HEADINGS = ("kind", "part", "asked", "ours, ms", *_RIVALS)
WORST_HEADINGS = ("asked", "half", "cases", "worst to peers", "of", "median", "worst to ours", "of", "median")


class Compared(NamedTuple):
    """One case: our answer, the best peer's, and our best other one."""

    label: KindLabel
    ours: Row | None
    peer: Row | None
    other: Row | None

    @property
    def to_peer(self) -> float | None:
        """The peer's time over ours; None if no peer is correct."""
        return self._ratio(self.peer)

    @property
    def to_other(self) -> float | None:
        """The time of our best other answer over ours; None if there is none."""
        return self._ratio(self.other)

    def _ratio(self, rival: Row | None) -> float | None:
        if rival is None or rival.seconds is None:
            return None
        if self.ours is None or self.ours.seconds is None or not self.ours.correct:
            return 0.0
        return rival.seconds / self.ours.seconds


def compared(results: Sequence[CaseResult], method: str) -> list[Compared]:
    """Return the cases of the kinds; ours is the first answer of a method, by its name."""
    found = []
    for result in results:
        if result.label is not None:
            own = [row for row in result.rows if row.is_jostle]
            ours = next((row for row in own if row.variant.partition(":")[0] == method), None)
            others = [row for row in own if row is not ours and row.correct and row.seconds is not None]
            other = min(others, key=lambda row: row.seconds or 0.0, default=None)
            found.append(Compared(result.label, ours, result.best_peer(), other))
    return found


def each_case(cases: Sequence[Compared]) -> list[list[str]]:
    """Return the rows of the table by kind, under `EACH_HEADINGS`."""
    rows, before = [], ""
    for case in cases:
        kind = "" if case.label.kind == before else case.label.kind
        before = case.label.kind
        peer, other = _rival(case.peer, case.to_peer, "none is correct"), _rival(case.other, case.to_other, "")
        rows.append([kind, case.label.part, case.label.asked, _ours(case.ours), *peer, *other])
    return rows


def worst_rows(cases: Sequence[Compared]) -> list[list[str]]:
    """Return the worst and the median of each question in each half, under `WORST_HEADINGS`."""
    rows = []
    for asked in Asked:
        for half, kinds in HALVES.items():
            some = [case for case in cases if case.label.asked == asked and case.label.kind in kinds]
            if some:
                rows.append([str(asked), half, str(len(some)), *_worst(some, "to_peer"), *_worst(some, "to_other")])
    return rows


def one_line(case: Compared) -> str:
    """Return a case as one line, for a log."""
    parts = [f"{case.label.kind}, {case.label.part}: {case.label.asked}: {_ours(case.ours)} ms"]
    for rival, ratio in ((case.peer, case.to_peer), (case.other, case.to_other)):
        if rival is not None and ratio is not None:
            parts.append(f"{_ratio(ratio)} to {_name(rival)}")
    return "; ".join(parts)


def print_tables(console: Console, cases: Sequence[Compared]) -> None:
    """Print both tables."""
    for title, headings, rows in _tables(cases):
        table = Table(title=title, title_justify="left", title_style="bold", header_style="dim")
        for heading in headings:
            number = heading in ("cases", "ratio", "median") or heading.endswith("ms") or heading.startswith("worst")
            table.add_column(heading, justify="right" if number else "left", no_wrap=number, overflow="fold")
        for row in rows:
            table.add_row(*(escape(cell) for cell in row))
        console.print(table)
        console.print()


def _tables(cases: Sequence[Compared]) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    return [("By kind", EACH_HEADINGS, each_case(cases)), ("Worst rows", WORST_HEADINGS, worst_rows(cases))]


def as_json(cases: Sequence[Compared]) -> list[dict[str, Any]]:
    """Return all cases with their ratios, ready for `json.dump`."""
    return [
        {
            **case.label._asdict(),
            "half": next((half for half, kinds in HALVES.items() if case.label.kind in kinds), None),
            "our_seconds": None if case.ours is None else case.ours.seconds,
            "ours_correct": case.ours is not None and case.ours.correct,
            "best_correct_peer": None if case.peer is None else _name(case.peer),
            "times_the_best_correct_peer": case.to_peer,
            "best_other_of_ours": None if case.other is None else _name(case.other),
            "times_the_best_other_of_ours": case.to_other,
        }
        for case in cases
    ]


def as_markdown(cases: Sequence[Compared]) -> list[str]:
    """Return both tables."""
    lines = []
    for title, headings, rows in _tables(cases):
        table = [markdown_line(row) for row in (headings, ["---"] * len(headings), *rows)]
        lines += [f"**{title}**", "", *table, ""]
    return lines[:-1]


def _ours(row: Row | None) -> str:
    if row is None or row.seconds is None:
        return "no answer"
    return milliseconds(row.seconds) + ("" if row.correct else " (wrong)")


def _rival(row: Row | None, ratio: float | None, if_none: str) -> list[str]:
    if row is None or ratio is None:
        return [if_none, "", ""]
    return [_name(row), milliseconds(row.seconds), _ratio(ratio)]


def _worst(cases: Sequence[Compared], which: str) -> list[str]:
    """Return the least ratio, its case, and the median."""
    rated = [(getattr(case, which), case) for case in cases if getattr(case, which) is not None]
    if not rated:
        return ["", "", ""]
    least, case = min(rated, key=lambda each: each[0])
    return [_ratio(least), f"{case.label.kind}, {case.label.part}", _ratio(median(ratio for ratio, _ in rated))]


def _ratio(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 100.0 else f"{ratio:.1f}" if ratio >= 10.0 else f"{ratio:.3g}"


def _name(row: Row) -> str:
    return row.variant if row.is_jostle else f"{row.contestant.peer} ({row.variant})"

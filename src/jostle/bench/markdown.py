"""Benchmark results as Markdown: machine, versions, ratios, every contestant.

`docs/benchmarks.md` holds these tables as one run wrote them; none of its numbers was typed by hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jostle.bench.kinds import table as kinds_table
from jostle.bench.kinds.table import Compared
from jostle.bench.run import CaseResult, Result, Row
from jostle.bench.table import as_cells, by_place, markdown_line


def as_markdown(result: Result, machine: dict[str, Any], command: str, kinds: Sequence[Compared] = ()) -> str:
    """Return the page of one run; of the kinds it has their tables, not every contestant."""
    lines = _machine(result, machine, command)
    cases = [case for case in result.cases if case.label is None]
    if cases:
        lines += ["", *_ratios(cases), "", *_every_row(cases)]
    if kinds:
        lines += ["", *kinds_table.as_markdown(kinds)]
    return "\n".join(lines) + "\n"


def _machine(result: Result, machine: dict[str, Any], command: str) -> list[str]:
    versions = {row.contestant.peer: row.version for case in result.cases for row in case.rows if row.version}
    load = machine["load_average"]
    return [
        f"- machine: {machine['cpu']}, {machine['usable_cores']} of {machine['cores']} cores usable, {machine['system']}",
        f"- Python {machine['python']}, NumPy {machine['numpy']}, Numba {machine['numba']}; "
        + ", ".join(f"{peer} {version}" for peer, version in versions.items()),
        f"- command: `{command}`" + ("" if load is None else f"; load average at the start {load[0]:.2f}"),
    ]


def _ratios(cases: Sequence[CaseResult]) -> list[str]:
    lines = [
        "| scenario | case | threads | jostle ms | best correct peer | its ms | times as fast |",
        "|---|---|--:|--:|---|--:|--:|",
    ]
    return lines + [_ratio(case, row) for case in cases for row in case.rows if row.is_jostle]


def _ratio(case: CaseResult, row: Row) -> str:
    best, ratio = case.best_peer(), case.ratio(row)
    peer, its = ("none", "") if best is None else (f"{best.contestant.peer} ({best.variant})", as_cells(best)[2])
    times = "" if ratio is None else f"**{ratio:.2f}**"
    return markdown_line([case.scenario, case.name, str(row.contestant.threads), as_cells(row)[2], peer, its, times])


def _every_row(cases: Sequence[CaseResult]) -> list[str]:
    lines = []
    for case in cases:
        lines += [f"**{case.scenario}: {case.name}**" + (f" (counts over {case.frames} frames)" if case.frames > 1 else ""), ""]
        lines += ["| who | how | median ms | min ms | found | missed | extra | answer |", "|---|---|--:|--:|--:|--:|--:|---|"]
        lines += [markdown_line(as_cells(row)) for row in sorted(case.rows, key=by_place)]
        lines.append("")
    return lines[:-1]

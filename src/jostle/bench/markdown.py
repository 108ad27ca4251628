"""Benchmark results as a page: machine, versions, command, ratios, and every peer.

`docs/benchmarks.md` has these tables as they were written by one run, so that no figure there was typed by hand.
"""

from __future__ import annotations

from typing import Any

from jostle.bench.run import CaseResult, Result, Row
from jostle.bench.table import as_cells, by_place


def as_markdown(result: Result, machine: dict[str, Any], command: str) -> str:
    """Return the page of one run."""
    return "\n".join([*_machine(result, machine, command), "", *_ratios(result), "", *_every_row(result)]) + "\n"


def _machine(result: Result, machine: dict[str, Any], command: str) -> list[str]:
    versions = {row.contestant.peer: row.version for case in result.cases for row in case.rows if row.version}
    load = machine["load_average"]
    return [
        f"- machine: {machine['cpu']}, {machine['usable_cores']} of {machine['cores']} cores usable, {machine['system']}",
        f"- Python {machine['python']}, NumPy {machine['numpy']}, Numba {machine['numba']}; "
        + ", ".join(f"{peer} {version}" for peer, version in versions.items()),
        f"- command: `{command}`" + ("" if load is None else f"; load average at the start {load[0]:.2f}"),
    ]


def _ratios(result: Result) -> list[str]:
    lines = [
        "| scenario | case | threads | jostle ms | best correct peer | its ms | times as fast |",
        "|---|---|--:|--:|---|--:|--:|",
    ]
    for case in result.cases:
        for row in case.rows:
            if row.is_jostle:
                lines.append(_ratio(case, row))
    return lines


def _ratio(case: CaseResult, row: Row) -> str:
    best, ratio = case.best_peer(), case.ratio(row)
    peer, its = ("none", "") if best is None else (f"{best.contestant.peer} ({best.way})", as_cells(best)[2])
    times = "" if ratio is None else f"**{ratio:.2f}**"
    cells = [case.scenario, case.name, str(row.contestant.threads), as_cells(row)[2], peer, its, times]
    return _line(cells)


def _every_row(result: Result) -> list[str]:
    lines = []
    for case in result.cases:
        lines += [f"**{case.scenario}: {case.name}**" + (f" (counts over {case.frames} frames)" if case.frames > 1 else ""), ""]
        lines += ["| who | how | median ms | min ms | found | missed | extra | answer |", "|---|---|--:|--:|--:|--:|--:|---|"]
        lines += [_line(as_cells(row)) for row in sorted(case.rows, key=by_place)]
        lines.append("")
    return lines[:-1]


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

"""Verdicts as Markdown: a paper's claim, its printed values, ours, and the verdict.

`docs/figures.md` has these as they were written by one run, so that no figure there was typed by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

from jostle.lab.results import ExperimentResult


def verdicts_as_markdown(results: Sequence[ExperimentResult]) -> str:
    """Return a section for each run that has verdicts; "" where none has."""
    judged = [result for result in results if result.verdicts]
    return "\n".join(line for result in judged for line in _section(result))


def _section(result: ExperimentResult) -> list[str]:
    machine, load = result.machine, result.machine.get("load_average")
    lines = [f"## {f'{result.figure}: ' if result.figure else ''}{result.title}", "", result.caption or result.about, ""]
    for verdict in result.verdicts:
        lines.append(f"**{verdict.verdict}** ({verdict.place}): {verdict.claim}")
        lines += [f"- *{word}*: {text}" for word, text in (("printed", verdict.printed), ("here", verdict.ours)) if text]
        lines += [f"- {verdict.why}", ""]
    where = f"{machine.get('cpu')}, {machine.get('system')}, Python {machine.get('python')}, Numba {machine.get('numba')}"
    lines.append(f"`{result.command}`, {where}" + ("" if load is None else f", load average at the start {load[0]:.2f}") + ".")
    return [*lines, ""]

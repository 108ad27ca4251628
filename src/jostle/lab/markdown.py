"""Verdicts as Markdown: a paper's claim, its values, ours, and the verdict.

`docs/figures.md` holds these sections as one run wrote them; none of its numbers was typed by hand.
"""

from __future__ import annotations

from collections.abc import Sequence

from jostle.lab.results import ExperimentResult


def verdicts_as_markdown(results: Sequence[ExperimentResult]) -> str:
    """Return a section for each run that has verdicts."""
    return "\n".join(line for result in results if result.verdicts for line in _section(result))


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

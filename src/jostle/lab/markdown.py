"""Verdicts as Markdown: a paper's claim, its values, ours, and the verdict.

`docs/figures.md` holds these sections as one run wrote them; none of its numbers was typed by hand.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from jostle.lab.results import ExperimentResult

WIDTH = 120


def verdicts_as_markdown(results: Sequence[ExperimentResult]) -> str:
    """Return a section for each run that has verdicts."""
    return "\n".join(line for result in results if result.verdicts for line in _section(result))


def _section(result: ExperimentResult) -> list[str]:
    machine, load = result.machine, result.machine.get("load_average")
    lines = [f"## {f'{result.figure}: ' if result.figure else ''}{result.title}", "", *_wrapped(result.caption or result.about), ""]
    for verdict in result.verdicts:
        lines += _wrapped(f"**{verdict.verdict}** ({verdict.place}): {verdict.claim}")
        values = [f"*{word}*: {text}" for word, text in (("printed", verdict.printed), ("here", verdict.ours)) if text]
        lines += [line for text in (*values, verdict.why) for line in _wrapped(text, "- ")]
        lines.append("")
    where = f"{machine.get('cpu')}, {machine.get('system')}, Python {machine.get('python')}, Numba {machine.get('numba')}"
    at_start = "" if load is None else f", load average at the start {load[0]:.2f}"
    return [*lines, *_wrapped(f"`{result.command}`, {where}{at_start}."), ""]


def _wrapped(text: str, mark: str = "") -> list[str]:
    """Return a paragraph, or an item of a list, in lines of 120 columns at most."""
    indent = " " * len(mark)
    return textwrap.wrap(text, WIDTH, initial_indent=mark, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

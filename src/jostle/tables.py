"""Columns as rows: dicts for JSON, short HTML tables for notebooks.

Names of bodies and files are the user's own text, so everything in the HTML is escaped here.
"""

from __future__ import annotations

import gc
import html
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_HTML_ROWS = 20


def plain_values(column: NDArray[Any]) -> list[Any]:
    """Return an array (n, …) as n plain Python values; NaN becomes None."""
    if column.dtype.kind == "f":
        unknown = np.isnan(column)
        if column.ndim == 1 and unknown.all():
            return [None] * len(column)
        if unknown.any():
            column = column.astype(object)
            column[unknown] = None
    values: list[Any] = column.tolist()
    return values


def dicts_of(columns: Mapping[str, NDArray[Any] | list[Any]], in_words: Mapping[str, Callable[[Any], Any]]) -> list[dict[str, Any]]:
    """Return one dict per row of equally long columns.

    Parameters
    ----------
    columns : mapping of arrays (n, …) or lists
        NaN becomes None.
    in_words : mapping of functions
        Conversion of each value, by column name.
    """
    names, collects = tuple(columns), gc.isenabled()
    try:
        gc.disable()  # rows hold no cycles, and a collection takes longer than making them
        values = [column if isinstance(column, list) else plain_values(column) for column in columns.values()]
        values = [list(map(in_words[name], each)) if name in in_words else each for name, each in zip(names, values, strict=True)]
        return [dict(zip(names, row, strict=False)) for row in zip(*values, strict=True)]
    finally:
        if collects:
            gc.enable()


def counted(count: int, word: str, plural: str | None = None) -> str:
    """Return a number with its word: "1 pair", "2 pairs", "0 bodies"."""
    return f"{count} {word}" if count == 1 else f"{count} {plural or word + 's'}"


def html_table(title: str, rows: Sequence[Mapping[str, Any]], total: int | None = None) -> str:
    """Return a title and a table of at most `MOST_HTML_ROWS` rows, every text escaped.

    Parameters
    ----------
    title : str
    rows : sequence of mappings
        One per row, all with the same names.
    total : int, optional
        The number of rows, if more exist than are given.
    """
    shown = list(rows[:MOST_HTML_ROWS])
    parts = [f"<div><code>{html.escape(title)}</code>"]
    if shown:
        parts.append("<table><thead><tr>" + "".join(f"<th>{html.escape(name)}</th>" for name in shown[0]) + "</tr></thead><tbody>")
        parts += ["<tr>" + "".join(f"<td>{html.escape(_text(value))}</td>" for value in row.values()) + "</tr>" for row in shown]
        parts.append("</tbody></table>")
    left = (len(rows) if total is None else total) - len(shown)
    if left > 0:
        parts.append(f"<div>… and {left} more</div>")
    return "".join([*parts, "</div>"])


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return " ".join(_text(each) for each in value)
    return str(value)

"""Draw docs/architecture.svg and the table of layers in docs/architecture.md again: `make architecture`.

Both come from what is there: the layers from .importlinter, the sentences from the first lines of the packages' docstrings.
"""

from __future__ import annotations

import ast
import re
from configparser import ConfigParser
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "jostle"
PAGE, FIGURE = ROOT / "docs" / "architecture.md", ROOT / "docs" / "architecture.svg"
BEGIN, END = "<!-- layers: made by docs/make_architecture.py -->\n", "<!-- end of layers -->\n"
WIDTH, ROW, GAP, MARGIN = 900, 38, 6, 12  # of the figure, in pixels
FILLS = ("#eef3fb", "#e3eefc")


class Part(NamedTuple):
    """A package or a module of the root, and what it says of itself."""

    name: str
    sentence: str


def layers() -> list[list[Part]]:
    """Return the layers from top to bottom."""
    rules = ConfigParser()
    rules.read(ROOT / ".importlinter", encoding="utf-8")
    lines = rules["importlinter:contract:layers"]["layers"].split("\n")
    return [[part(name) for name in re.split(r"[|:]", line)] for line in lines if line.strip()]


def part(name: str) -> Part:
    """Return a part with the first line of its docstring."""
    name = name.strip().removeprefix("jostle.")
    path = PACKAGE / name
    text = (path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text("utf-8")
    return Part(name, (ast.get_docstring(ast.parse(text)) or "").split("\n")[0])


def parts_in_tree() -> set[str]:
    """Return the packages and modules of the root."""
    found = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    return found - {"__init__"}


def table() -> str:
    """Return the layers as Markdown, a row for each part."""
    rows = [
        f"| {number if k == 0 else ''} | `{each.name}` | {each.sentence.replace('|', '')} |\n"
        for number, layer in enumerate(layers(), 1)
        for k, each in enumerate(layer)
    ]
    return "| layer | part | what it holds |\n|--:|---|---|\n" + "".join(rows)


def page() -> str:
    """Return the page with the table of now."""
    text = PAGE.read_text("utf-8")
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + table() + "\n" + END + rest.split(END)[1]


def figure() -> str:
    """Return the layers as a picture: a band for each, a box for each part."""
    found = layers()
    height = 2 * MARGIN + len(found) * (ROW + GAP) - GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="14">',
        "<title>The layers of jostle: each knows only those below it</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for number, layer in enumerate(found):
        top = MARGIN + number * (ROW + GAP)
        width = (WIDTH - 2 * MARGIN - (len(layer) - 1) * GAP) / len(layer)
        for k, each in enumerate(layer):
            left = MARGIN + k * (width + GAP)
            box = f'x="{left:.1f}" y="{top}" width="{width:.1f}" height="{ROW}"'
            lines.append(
                f"<g><title>{escape(each.sentence)}</title>"
                f'<rect {box} rx="5" fill="{FILLS[number % 2]}" stroke="#0072b2"/>'
                f'<text x="{left + width / 2:.1f}" y="{top + ROW / 2 + 5:.0f}" text-anchor="middle">{escape(each.name)}</text></g>'
            )
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    FIGURE.write_text(figure(), encoding="utf-8")

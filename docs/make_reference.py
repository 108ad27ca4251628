"""Make the table of docs/reference/index.md again (`make reference`): every public name, its first line, and its page.

The pages are written by hand; each shows a name where `::: jostle.NAME` stands. A test compares.
"""

from __future__ import annotations

import inspect
import re
import warnings
from pathlib import Path

import jostle

FOLDER = Path(__file__).resolve().parent / "reference"
INDEX = FOLDER / "index.md"
BEGIN, END = "<!-- names: made by docs/make_reference.py -->\n", "<!-- end of names -->\n"


def shown() -> dict[str, str]:
    """Return the page of every name that the reference shows, by its full name."""
    pages = sorted(FOLDER.glob("*.md"))
    return {name: page.name for page in pages for name in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.MULTILINE)}


def first_line(name: str) -> str:
    """Return the first line of a public name's docstring."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return (inspect.getdoc(getattr(jostle, name)) or "").split("\n")[0].replace("|", "\\|")


def table() -> str:
    """Return a row for each name of `dir(jostle)`."""
    pages = shown()
    rows = [f"| [`{name}`]({pages[f'jostle.{name}']}#jostle.{name}) | {first_line(name)} |\n" for name in dir(jostle)]
    return "| name | what it is |\n|---|---|\n" + "".join(rows)


def page() -> str:
    """Return the page with the table of now."""
    text = INDEX.read_text("utf-8")
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + table() + "\n" + END + rest.split(END)[1]


if __name__ == "__main__":
    INDEX.write_text(page(), encoding="utf-8")

"""Prose wraps at 120 columns, so that a change of a word is a change of a line or two."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.small

ROOT = Path(__file__).parents[2]
WIDTH = 120
PLACES = ("docs/**/*.md", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "src/jostle/methods/*/README.md")
PAGES = sorted({path for place in PLACES for path in ROOT.glob(place)})
FENCE = re.compile(r"^( *)(`{3,}|~{3,})[^\n]*\n.*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?:    [^\n]*\n)+(?=\n)")
ONE_LINK = re.compile(r"[\s\-*+>]*!?\[[^\]]*\]\([^()\s]*\)[.,;:]?\s*|[\s\-*+>]*\S+\s*")


def long_lines(text: str) -> list[str]:
    """Return the lines of prose that are too long: not code, not rows of tables, not a line that is one link."""
    prose = text
    for code in (FENCE, INDENTED):
        prose = code.sub(lambda block: "\n" * block[0].count("\n"), prose)
    return [
        f"{number}: {line}"
        for number, line in enumerate(prose.splitlines(), 1)
        if len(line) > WIDTH and not line.lstrip().startswith("|") and not ONE_LINK.fullmatch(line)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_prose_wraps(page):
    assert long_lines(page.read_text("utf-8")) == []


def test_what_counts_as_prose():
    long = "word " * 30
    assert long_lines(f"# Title\n\n{long}\n") == [f"3: {long}"]
    assert long_lines(f"- {long}\n") != []
    for allowed in (
        f"| {long} |",
        f"```\n{long}\n```",
        f"    {long}",
        f"![{long}](picture.png)",
        f"- [{long}](page.md#place)",
        "a" * 130,
    ):
        assert long_lines(f"text\n\n{allowed}\n\ntext\n") == []
    assert len(long_lines(f"```\n{long}\n```\n\n{long}\n")) == 1

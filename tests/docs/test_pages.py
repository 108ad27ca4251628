"""The Python of the documentation's pages runs, and prints what the pages say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jostle import translation
from jostle.shapes.build import box, icosphere
from jostle.shapes.save import save
from tests.docs import run_pages

DOCS = Path(__file__).parents[2] / "docs"
FOLDERS = ("start", "tasks", "choosing", "coming_from")
GROUPS = {name: sorted((DOCS / name).glob("*.md")) for name in FOLDERS} | {"faq": sorted(DOCS.glob("faq.md"))}


@pytest.mark.parametrize("group", GROUPS)
def test_the_python_of_the_pages_runs(group, tmp_path):
    """One process for a folder: most of the time of a page would go into imports and loading compiled code."""
    ball, wall = icosphere(3), box((4, 4, 2))  # as the first page of the tutorial makes them
    save(ball, tmp_path / "ball.stl")
    save(wall.moved(translation((0, 0, -1))), tmp_path / "wall.obj")
    command = [sys.executable, "-W", "error", run_pages.__file__, tmp_path, *GROUPS[group]]
    environment = {**os.environ, "JOSTLE_QUIET": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_blocks_and_what_they_print_are_found():
    page = "```python\na = 1\n```\n\n```text\n1\n```\ntext\n```python no-run\nb\n```\n```python\nc\n```\nprose\n```text\nno\n```\n"
    page += "```python\nd\n```\n```text roughly\n2 ms\n```\n"
    found = run_pages.blocks_of(page)
    assert [(block.code, block.expected, block.roughly) for block in found] == [
        ("a = 1\n", "1\n", False),
        ("c\n", None, False),
        ("d\n", "2 ms\n", True),
    ]
    assert page.splitlines()[found[1].line] == "c"


@pytest.mark.parametrize(
    ("expected", "printed", "roughly", "same"),
    [
        ("a  \nb", "a\nb\n", False, True),
        ("a\nb", "a\nc", False, False),
        ("took … ms", "took 3.1 ms\n", False, True),
        ("took … ms", "took 3.1 s\n", False, False),
        ("12 rows in 1.5 ms", "7 rows in  11.25 ms", True, True),
        ("12 rows in 1.5 ms", "7 rows in 1.5 s", True, False),
    ],
)
def test_what_is_printed_is_compared(expected, printed, roughly, same):
    assert run_pages.agrees(expected, printed, roughly) is same


@pytest.mark.parametrize(("code", "fault"), [("1 / 0", "the block fails"), ("print(2)", "the page says")])
def test_a_wrong_page_is_told(code, fault, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"```python\nx = 1\n```\n```python\n{code}\n```\n```text\n1\n```\n")
    (found,) = run_pages.faults_of(page)
    assert found.startswith(f"{page}:4: {fault}")

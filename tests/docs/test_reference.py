"""The reference shows every public name, each has an example, and the examples run."""

from __future__ import annotations

import importlib
import inspect
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import jostle
from jostle.shapes import build
from jostle.shapes.save import save
from tests.docs import run_pages

ROOT = Path(__file__).parents[2]
made = runpy.run_path(str(ROOT / "docs" / "make_reference.py"))
PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
SECTION = re.compile(r"^Examples\n-{8}\n(?P<text>(?:.*\n?)*?)(?:\n\w+\n-{4,}\n|\Z)", re.MULTILINE)
PLACE = re.compile(r"\b(?:docs|examples)/[\w/]+\.(?:md|py)\b")

# Runs the examples of names, as doctests, in a process of their own: some register methods, or begin threads.
RUN = """
import doctest, sys, warnings
import numpy, jostle
warnings.simplefilter("error")
runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
finder = doctest.DocTestFinder(exclude_empty=True)
for name in sys.argv[1:]:
    home, _, last = name.rpartition(".")
    owner = sys.modules.get(home) or __import__(home, fromlist=[last])
    for test in finder.find(getattr(owner, last), name, module=False, globs={"jostle": jostle, "np": numpy}):
        runner.run(test)
print(runner.tries, "tried")
sys.exit(bool(runner.failures) or runner.tries < len(sys.argv[1:]))
"""


def doc(name: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return inspect.getdoc(getattr(jostle, name)) or ""


@pytest.mark.small
def test_every_public_name_is_on_one_page():
    named = [name for page in PAGES for name in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.MULTILINE)]
    assert sorted(set(named)) == sorted(named), "a name is shown twice"
    assert {f"jostle.{name}" for name in dir(jostle)} <= set(named)


@pytest.mark.small
def test_the_table_of_names_is_of_now():
    assert made["INDEX"].read_text("utf-8") == made["page"](), "make reference"


@pytest.mark.small
@pytest.mark.parametrize("name", [name for name in dir(jostle) if name not in ("continuous", "haptics")])
def test_every_public_name_has_an_example_or_a_link_to_one(name):
    section = SECTION.search(doc(name))
    assert section, f"the docstring of {name} has no Examples"
    places = PLACE.findall(section["text"])
    assert ">>>" in section["text"] or places, f"the Examples of {name} show nothing and lead nowhere"
    assert all((ROOT / place).is_file() for place in places)


@pytest.mark.small
def test_no_section_of_a_docstring_swallows_a_paragraph():
    """After `Parameters`, numpydoc takes a paragraph for one more parameter: sentences come before."""
    for name in dir(jostle):
        sections = re.split(r"^[A-Z]\w+\n-{4,}\n", doc(name), flags=re.MULTILINE)
        titles = re.findall(r"^([A-Z]\w+)\n-{4,}\n", doc(name), flags=re.MULTILINE)
        for title, text in zip(titles, sections[1:], strict=True):
            if title in ("Parameters", "Attributes"):
                entries = [line for line in text.splitlines() if line and not line.startswith(" ")]
                assert all(re.fullmatch(r"[\w, ]+( : .+)?", line) for line in entries), f"{name}, {title}: {entries}"


def home_of(path: str) -> object:
    """Return what a full name names."""
    module, _, name = path.rpartition(".")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            return importlib.import_module(path)


@pytest.mark.small
def test_what_pages_and_examples_import_is_shown():
    """docs/stability.md calls it public."""
    shown = []
    for page in PAGES:
        for name, options in re.findall(r"^::: (\S+)$((?:\n    .*)*)", page.read_text("utf-8"), re.MULTILINE):
            members = re.search(r"members:\s+\[([^\]]+)\]", options)
            shown.append(home_of(name))
            shown += [home_of(f"{name}.{member.strip()}") for member in members[1].split(",")] if members else []
    files = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py"), ROOT / "README.md"]
    text = "\n".join(file.read_text("utf-8") for file in files)
    named = {
        f"{module}.{name.strip().partition(' as ')[0]}"
        for module, names in re.findall(r"^from (jostle[\w.]*) import \(?([\w, ]+)", text, re.MULTILINE)
        for name in filter(None, map(str.strip, names.split(",")))
    }
    assert len(named) > 20
    missing = {name for name in named if not any(home_of(name) is each for each in shown)}
    assert missing <= {"jostle.scenes", "jostle.fitting"} | {f"jostle.{name}" for name in dir(jostle)}


@pytest.fixture
def folder(tmp_path):
    """A folder with the files that examples load: a ball of radius 1, and a wall whose top is at z = 0."""
    save(build.icosphere(3), tmp_path / "ball.stl")
    save(build.box((4, 4, 2)).moved(jostle.translation((0, 0, -1))), tmp_path / "wall.obj")
    return tmp_path


def run_examples(folder: Path, names: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", RUN, *names], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_python_of_the_pages_runs(folder):
    """Those of the home page and of the reference; tests/docs/test_pages.py runs the others."""
    pages = [page for page in (ROOT / "docs" / "index.md", *PAGES) if "```python" in page.read_text("utf-8")]
    done = subprocess.run([sys.executable, "-W", "error", run_pages.__file__, folder, *pages], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


COMPILED = ["Batch", "BoundBroken", "Budget", "FirstContact", "Pair", "Reached", "World", "first_contact"]


def test_examples_run_without_a_compiler(folder):
    names = [name for name in dir(jostle) if name not in COMPILED and ">>>" in doc(name)]
    assert len(names) > 30
    run_examples(folder, [f"jostle.{name}" for name in names if name not in ("continuous", "haptics")])


def test_examples_run_with_compiled_kernels(folder):
    run_examples(folder, [f"jostle.{name}" for name in COMPILED])


def test_the_examples_are_compared(folder):
    """A wrong one fails."""
    done = subprocess.run(
        [sys.executable, "-c", RUN.replace('globs={"jostle": jostle', 'globs={"jostle": None'), "jostle.translation"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1

"""The README of each method is true: every file and name in its table exists, and every section that it cites is in the paper."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

import jostle
from jostle.registry import METHODS

pytestmark = pytest.mark.small

PACKAGE = Path(jostle.__file__).parent
METHOD_FOLDERS = sorted(path.parent for path in (PACKAGE / "methods").glob("*/__init__.py"))
HEADER = ["claim", "section", "where", "deviation"]

KITAMURA_1998 = "1 2 2.1 2.2 2.2.1 2.2.2 2.2.3 2.2.4 2.2.5 2.3 3 3.1 3.2 3.3 3.4 3.5 3.6 3.7 4 4.1 4.2 4.3 4.4 5 5.1 5.2 5.3 6 7"
SECTIONS = {
    "kitamura1998": KITAMURA_1998,
    "eckstein1999": "1 2 3 3.1 3.2 3.3 4 4.1 4.2 5 6",
    "baciu1998": "1 2 3 3.1 3.2 4 5 5.1 5.2 5.3 5.4 6",
    "lock2000": "1 2 3 4 5 6 7 8 9",
    "guy2004": "1 2 3 3.1 3.2 3.3 3.4 4 4.1 4.2 5 5.1 5.2 5.3 5.4 5.5 6 6.1 7",
    "boyse1979": KITAMURA_1998,  # the test of edges against faces, as §1 there retells it
}
NAME = r"`[A-Za-z_][\w.]*`"
PLACE = re.compile(rf"`[\w/]+\.py` · {NAME}(?:, {NAME})*")
SECTION = re.compile(r"§\s*(\d+(?:\.\d+)*)(?:\s*[–-]\s*(?:§\s*)?(\d+(?:\.\d+)*))?")


def tables(text: str) -> list[list[list[str]]]:
    """Return the tables of a Markdown text: rows of cells, the header first, without the line of dashes."""
    found: list[list[list[str]]] = [[]]
    for line in text.splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            if not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                found[-1].append(cells)
        elif found[-1]:
            found.append([])
    return [table for table in found if table]


@functools.cache
def defined_names(file: Path) -> frozenset[str]:
    """Return what a source defines itself: functions, classes, constants, and `Class.name` for what stands in a class."""
    names: set[str] = set()

    def enter(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                names.add(prefix + node.name)
            if isinstance(node, ast.ClassDef):
                enter(node.body, f"{prefix}{node.name}.")
            elif isinstance(node, ast.If | ast.Try):
                enter(node.body + node.orelse, prefix)
            targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
            names.update(prefix + one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name))

    enter(ast.parse(file.read_text("utf-8")).body, "")
    return frozenset(names)


def places_that_do_not_exist(folder: Path, cell: str) -> list[str]:
    """Return what a cell names in vain: files of the folder or `jostle/...`, and after each its names, up to the next `;`."""
    missing = []
    for part in cell.split(";"):
        file = None
        for word in re.findall(r"`([^`]+)`", part):
            if word.endswith(".py"):
                file = (PACKAGE.parent if word.startswith("jostle/") else folder) / word
                if not file.is_file():
                    missing.append(f"there is no {word}")
            elif file is None:
                missing.append(f"`{word}` stands behind no file")
            elif file.is_file() and word not in defined_names(file):
                missing.append(f"{file.name} does not define {word}")
    return missing


def untruths(folder: Path, paper: str | None) -> list[str]:
    """Return what is wrong with the README of a method, as sentences."""
    readme = folder / "README.md"
    if not readme.is_file():
        return ["there is no README.md"]
    text = readme.read_text("utf-8")
    wrong = []
    claims = [table for table in tables(text) if table[0] == HEADER]
    if paper is None:
        for header, *rows in (table for table in tables(text) if "where" in table[0]):
            wrong += [one for row in rows for one in places_that_do_not_exist(folder, row[header.index("where")])]
        return wrong
    if len(claims) != 1 or len(claims[0]) < 2:
        return [f"there is not one table with the header | {' | '.join(HEADER)} | and with rows"]
    for row in claims[0][1:]:
        if len(row) != len(HEADER) or not all(row):
            wrong.append(f"the row {row} does not have {len(HEADER)} filled cells")
            continue
        claim, section, where, _ = row
        wrong += places_that_do_not_exist(folder, where)
        wrong += [f"the place {one.strip()!r} of {claim!r} is odd" for one in where.split(";") if not PLACE.fullmatch(one.strip())]
        cited = [number for numbers in SECTION.findall(section) for number in numbers if number]
        wrong += [f"{paper} has no §{number}" for number in cited if number not in SECTIONS[paper].split()]
        if "§" in SECTION.sub("", section):
            wrong.append(f"the section {section!r} of {claim!r} is odd")
    named = set(re.findall(r"`(\w+\.py)`", text))
    stages = {file.name for file in folder.glob("*.py")} - {"__init__.py"}
    wrong += [f"{stage} is named nowhere" for stage in sorted(stages - named)]
    return wrong


@pytest.mark.parametrize("folder", METHOD_FOLDERS, ids=lambda folder: folder.name)
def test_the_readme_of_a_method_is_true(folder):
    assert folder.name in METHODS
    paper = METHODS[folder.name]().traits.paper
    assert paper is None or paper in SECTIONS
    assert untruths(folder, paper) == []


def test_every_method_has_a_folder():
    assert {folder.name for folder in METHOD_FOLDERS} == set(METHODS)


GOOD = """# a method

| claim | section | where | deviation |
|---|---|---|---|
| boxes are compared | §3.3 | `boxes.py` · `compare`, `LIMIT` | none |
| and faces | §3.4–3.6, §5.1 | `boxes.py` · `Faces.meet`; `jostle/geometry/predicates.py` · `orient3d` | exact |

Run by `method.py`.
"""


def write_method(folder: Path, readme: str) -> Path:
    (folder / "boxes.py").write_text(
        "LIMIT: int = 3\nfrom os import sep\ndef compare(): ...\nclass Faces:\n    def meet(self): ...\n"
    )
    (folder / "method.py").write_text("")
    (folder / "__init__.py").write_text("")
    (folder / "README.md").write_text(readme)
    defined_names.cache_clear()
    return folder


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("`compare`", "`compares`", "boxes.py does not define compares"),
        ("`LIMIT`", "`sep`", "boxes.py does not define sep"),
        ("`Faces.meet`", "`meet`", "boxes.py does not define meet"),
        ("`orient3d`", "`orient7d`", "predicates.py does not define orient7d"),
        ("`boxes.py` · `compare`", "`box.py` · `compare`", "there is no box.py"),
        ("`jostle/geometry/predicates.py`", "`jostle/predicates.py`", "there is no jostle/predicates.py"),
        ("`boxes.py` · `compare`", "`compare`", "`compare` stands behind no file"),
        ("`boxes.py` · `compare`, `LIMIT`", "`boxes.py`", "the place '`boxes.py`' of 'boxes are compared' is odd"),
        ("§3.3", "§3.8", "kitamura1998 has no §3.8"),
        ("§3.4–3.6", "§3.4–3.9", "kitamura1998 has no §3.9"),
        ("§3.3", "§three", "the section '§three' of 'boxes are compared' is odd"),
        ("| none |", "| |", "does not have 4 filled cells"),
        ("`method.py`", "the method", "method.py is named nowhere"),
        ("deviation |", "remark |", "there is not one table"),
    ],
)
def test_the_check_finds_what_is_not_true(tmp_path, old, new, complaint):
    assert untruths(write_method(tmp_path, GOOD), "kitamura1998") == []
    assert old in GOOD
    (found,) = untruths(write_method(tmp_path, GOOD.replace(old, new, 1)), "kitamura1998")[:1]
    assert complaint in found


def test_the_check_of_a_method_without_a_paper(tmp_path):
    table = "| what | where |\n|---|---|\n| all | `boxes.py` · `compare`; run by `{}` |\n"
    assert untruths(write_method(tmp_path, table.format("method.py")), None) == []
    assert untruths(write_method(tmp_path, table.format("run.py")), None) == ["there is no run.py"]
    (tmp_path / "README.md").unlink()
    assert untruths(tmp_path, None) == ["there is no README.md"]

"""Imports find what a kernel can see: never too little, and not everything."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jostle.kernels import sources
from jostle.kernels.sources import ImportGraph, PackageSources, import_statements, package_sources

pytestmark = pytest.mark.small

STATEMENTS = '''
import trial.a, trial . b as b , other
import trial.\\
    c as c
if True: import trial.d
x = "#"; import trial.e as e; from trial.f import g
from trial.h import (  # one (1) or two
    i,  # not the last)
    j as k, \\
    # l,
    m
)
from.n import(o)
from . . import p
from .import q
from \\
    .r import \\
    s, t
def late():
    try: from trial.u import *
    except ImportError: import trial.v as v
# a comment that ends with import \\
import trial.w
"""Something taken from here import \\
"""; from trial.x import y
'''
FOUND_FROM = {
    ("trial.f", ("g",)),
    ("trial.h", ("i", "j", "m")),
    (".n", ("o",)),
    ("..", ("p",)),
    (".", ("q",)),
    (".r", ("s", "t")),
    ("trial.u", ("*",)),
    ("trial.x", ("y",)),
}
FOUND_WHOLE = {("trial.b", True), ("trial.c", True), ("trial.e", True), ("trial.v", True)}
FOUND_WHOLE |= {("trial.a", False), ("other", False), ("trial.d", False), ("trial.w", False)}


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_statements_are_found_wherever_they_stand(newline):
    parts, wholes = import_statements(STATEMENTS.replace("\n", newline))
    assert parts >= FOUND_FROM
    assert wholes >= FOUND_WHOLE


def statements_of_ast(text: str) -> Iterator[tuple[str, tuple[str, ...]] | tuple[str, bool]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((one.name, one.asname is not None) for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), tuple(one.name for one in node.names)


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_nothing_that_the_parser_finds_is_missed():
    package, library = Path(sources.__file__).parents[1], Path(json.__file__).parent
    files = [*package.rglob("*.py"), *library.parent.glob("[a-g]*.py"), *library.glob("*.py")]
    count = 0
    for text in (file.read_text("utf-8") for file in files):
        parts, wholes = import_statements(text)
        expected = set(statements_of_ast(text))
        assert expected <= parts | wholes
        count += len(expected)
    assert count > 1000
    assert {*FOUND_FROM, *FOUND_WHOLE} == set(statements_of_ast(STATEMENTS.replace('import \\\n"""; from', 'import """; from')))


def packages(folder: Path, files: dict[str, str]) -> list[PackageSources]:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return [PackageSources(top, folder / top) for top in sorted({path.partition("/")[0] for path in files})]


FILES = {
    "trial/__init__.py": "from trial.public import everything",
    "trial/public.py": "everything = 1",
    "trial/root.py": "{}",
    "trial/leaf.py": "constant = 1",
    "trial/next.py": "from trial.leaf import constant",
    "trial/late.py": "def f():\n    if True:\n        from trial.next import constant",
    "trial/package/__init__.py": "from .inside import thing\nfrom other.part import number as part\n",
    "trial/package/inside.py": "thing = 2",
    "trial/package/part.py": "from ..leaf import constant",
    "trial/package/deep/one.py": "from ... import late\nfrom ...package import inside",
    "trial/package/deep/two.py": "from . import one",
    "trial/computed.py": "module = __import__('trial.' + 'leaf')",
    "trial/kernels_of_a_kind.py": "from numba.extending import overload\nfrom trial.registered import how",
    "trial/registered.py": "how = 3",
    "other/__init__.py": "",
    "other/part.py": "number = 5",
}
ALWAYS = {"kernels_of_a_kind", "registered"}  # import numba, and what they import
INSIDE = {"package", "package.inside", "package.part", "package.deep.one", "package.deep.two"}
EVERYTHING = {path.removeprefix("trial/").removesuffix(".py").replace("/", ".") for path in FILES if path.startswith("trial/")}
EVERYTHING = {one.removesuffix(".__init__").replace("__init__", "") for one in EVERYTHING} - {"root"}


@pytest.mark.parametrize(
    ("statement", "expected", "others"),
    [
        ("import numpy, json.decoder", set(), set()),
        ("from trial.leaf import constant", {"leaf"}, set()),
        ("from trial.next import constant", {"next", "leaf"}, set()),
        ("from trial import next", {"next", "leaf"}, set()),
        ("from . import next as n", {"next", "leaf"}, set()),
        ("from trial import late", {"late", "next", "leaf"}, set()),
        ("import trial.late as late", {"late", "next", "leaf"}, set()),
        ("from trial import (\n    next,\n    leaf,\n)", {"next", "leaf"}, set()),
        ("from trial import everything", {"", "public"}, set()),
        ("from trial import public", {"", "public"}, set()),  # the word stands in trial/__init__.py
        ("from trial.package import thing", {"package", "package.inside"}, {"part"}),
        ("from trial.package.inside import thing", {"package.inside"}, set()),
        ("from trial.package import part", {"package", "package.inside", "package.part", "leaf"}, {"part"}),
        ("from trial.package import *", INSIDE | {"late", "next", "leaf"}, {"part"}),
        ("from trial import package", INSIDE | {"late", "next", "leaf"}, {"part"}),
        ("import trial.package as p", INSIDE | {"late", "next", "leaf"}, {"part"}),
        ("from trial.package.deep import two", INSIDE - {"package.part"} | {"late", "next", "leaf"}, {"part"}),
        ("import trial", EVERYTHING, {"", "part"}),
        ("import trial.leaf", EVERYTHING, {"", "part"}),
        ("from trial.extension import compiled", EVERYTHING, {"", "part"}),
        ("from trial.leaf import ?", EVERYTHING, {"", "part"}),
        ("from trial.computed import module", EVERYTHING, {"", "part"}),
        ("import other.part as part", set(), {"part"}),
    ],
)
def test_what_a_statement_leads_to(tmp_path, statement, expected, others):
    graph = ImportGraph(packages(tmp_path, FILES | {"trial/root.py": statement}))
    names = {f"trial.{one}".rstrip(".") for one in {"root"} | expected | ALWAYS} | {f"other.{one}".rstrip(".") for one in others}
    assert set(graph.reached(frozenset({"trial.root"})).names) == names


def test_the_digest_follows_the_sources_that_are_reached_and_no_others(tmp_path):
    def digest(**changes: str) -> str:
        edits = {f"trial/{name}.py": text for name, text in changes.items()}
        return ImportGraph(packages(tmp_path, files | edits)).reached(frozenset({"trial.root"})).digest

    files = FILES | {"trial/root.py": "from trial.late import f"}
    first = digest()
    assert digest() == first
    assert digest(public="everything = 2", computed="") == first
    assert digest(root="from trial.late import f  # edited") != first
    assert digest(leaf="constant = 2") != first
    assert digest(registered="how = 4") != first
    assert digest(leaf="constant = 1") == first


def test_a_file_that_changes_after_it_was_read_is_noticed_by_those_that_reach_it(tmp_path):
    (package, _) = packages(tmp_path, {"trial/a.py": "import trial.b as b", "trial/b.py": "", "trial/c.py": "", "trial2/a.py": ""})
    graph = ImportGraph([package])
    (tmp_path / "trial" / "b.py").write_text("x = 1")
    touching, apart = graph.reached(frozenset({"trial.a"})), graph.reached(frozenset({"trial.c"}))
    assert (touching.changed, touching.check(), touching.changed) == (False, False, True)
    assert apart.check()
    (tmp_path / "trial" / "c.py").unlink()
    assert not apart.check()
    (tmp_path / "trial" / "c.py").write_text("")
    assert not apart.check()  # for good


def test_a_module_without_source_may_reach_everything(tmp_path):
    graph = ImportGraph(packages(tmp_path, FILES))
    assert len(graph.reached(frozenset({"trial.generated"})).names) == len(FILES)


def test_kernels_of_methods_reach_geometry_and_not_the_rest_of_the_package():
    folder = Path(sources.__file__).parents[1]
    package = PackageSources("jostle", folder)
    graph = ImportGraph([package])
    with_kernels = [name for name, one in package.modules.items() if b"\n@kernel" in one.data]
    kernels = [name for name in with_kernels if name.split(".")[1] in ("broad_phase", "geometry", "methods", "render", "shapes")]
    assert "jostle.methods.wide_tree.pairs" in kernels
    for name in kernels:
        reached = graph.reached(frozenset({name})).names
        assert "jostle.kernels.jit" in reached
        far = [one for one in reached if f"{one}..".split(".")[1] in ("", "bench", "cli", "lab", "registry", "scenes", "world")]
        assert not far, f"an edit of {far[0]} would recompile the kernels of {name}"
    assert "jostle.geometry.predicates" in graph.reached(frozenset({"jostle.methods.wide_tree.pairs"})).names


@pytest.fixture
def unknown(monkeypatch):
    """A process that has read no package yet."""
    monkeypatch.setattr(sources, "_known", {})
    return sources._known


def test_a_package_whose_reading_was_interrupted_is_read_again(monkeypatch, unknown):
    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(sources, "PackageSources", interrupted)
        with pytest.raises(KeyboardInterrupt):
            package_sources("jostle")
    assert package_sources("jostle") is not None


def test_a_package_that_another_thread_reads_is_not_taken_as_one_without_sources(monkeypatch, unknown):
    seen = []

    def reading(*arguments):
        if not seen:
            seen.append(None)
            seen.append(package_sources("jostle"))  # as another thread does meanwhile
        return PackageSources(*arguments)

    monkeypatch.setattr(sources, "PackageSources", reading)
    found = package_sources("jostle")
    assert found is not None
    assert seen[1] is found


def test_a_package_that_cannot_be_read_raises_once(monkeypatch, unknown):
    def odd(*_):
        raise OSError("an odd loader")

    monkeypatch.setattr(sources, "PackageSources", odd)
    with pytest.raises(OSError, match="odd loader"):
        package_sources("jostle")
    assert package_sources("jostle") is None

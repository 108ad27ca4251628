"""Kernels take things, not scalars: few parameters, few lines, annotations, and no number that only its author understands.

Files that do not follow the rules yet are listed, and the list may only shrink.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

import pytest

import jostle
from tests.architecture.test_kernels_lint import is_kernel, sources

pytestmark = pytest.mark.small

SOURCES = Path(jostle.__file__).parent
MOST_PARAMETERS, MOST_OF_ENTRY, MOST_LINES, LARGEST_LITERAL = 8, 12, 70, 8
RESPONSES = "the rigid and the soft response are to be replaced"
UNCONVERTED: dict[str, str] = {
    "sim/advance.py": RESPONSES,
    "sim/ageing.py": RESPONSES,
    "sim/approach.py": RESPONSES,
    "sim/back_projection.py": RESPONSES,
    "sim/deform.py": RESPONSES,
    "sim/facet_pairs.py": RESPONSES,
    "sim/integrate.py": RESPONSES,
    "sim/lattice.py": RESPONSES,
    "sim/manifold.py": RESPONSES,
    "sim/respond.py": RESPONSES,
    "sim/soft_step.py": RESPONSES,
    "sim/surfaces.py": RESPONSES,
    "sim/ties.py": RESPONSES,
    "sim/walls.py": RESPONSES,
}


class Kernel(NamedTuple):
    """A kernel in the sources."""

    file: str
    node: ast.FunctionDef

    @property
    def parameters(self) -> list[ast.arg]:
        arguments = self.node.args
        return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]

    @property
    def lines(self) -> int:
        return (self.node.end_lineno or 0) - self.node.lineno + 1


def kernels_of(file: str, tree: ast.AST) -> list[Kernel]:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and any(map(is_kernel, node.decorator_list))]
    return [Kernel(file, node) for node in found]


def names_used_by_python(tree: ast.Module) -> set[str]:
    """Return the names that a module uses outside of kernels, except to import them."""
    waiting: list[ast.AST] = [tree]
    names = set()
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef) and any(map(is_kernel, node.decorator_list)):
            continue
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        waiting += ast.iter_child_nodes(node)
    return names


def faults_of(kernel: Kernel, entries: set[str]) -> list[str]:
    """Return what a kernel does against the rules."""
    faults = []
    most = MOST_OF_ENTRY if kernel.node.name in entries else MOST_PARAMETERS
    if len(kernel.parameters) > most:
        faults.append(f"{len(kernel.parameters)} parameters")
    if kernel.lines > MOST_LINES:
        faults.append(f"{kernel.lines} lines")
    if kernel.node.returns is None or any(parameter.annotation is None for parameter in kernel.parameters):
        faults.append("no types")
    literals = [
        part.value
        for node in ast.walk(kernel.node)
        if isinstance(node, ast.Subscript)
        for part in ast.walk(node.slice)
        if isinstance(part, ast.Constant) and isinstance(part.value, int) and part.value > LARGEST_LITERAL
    ]
    if literals:
        faults.append(f"offsets {literals[:4]}")
    return faults


def all_faults(trees: dict[str, ast.Module]) -> dict[str, dict[str, list[str]]]:
    """Return the faults of kernels by file."""
    entries = set().union(*map(names_used_by_python, trees.values()))
    found: dict[str, dict[str, list[str]]] = {}
    for file, tree in trees.items():
        for kernel in kernels_of(file, tree):
            faults = faults_of(kernel, entries)
            if faults:
                found.setdefault(file, {})[kernel.node.name] = faults
    return found


def test_kernels_take_things():
    trees = {file.relative_to(SOURCES).as_posix(): ast.parse(file.read_text("utf-8")) for file in sources()}
    found = all_faults(trees)
    assert {file: faults for file, faults in found.items() if file not in UNCONVERTED} == {}
    assert [file for file in UNCONVERTED if file not in found] == [], "these follow the rules now: take them off the list"


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("@kernel\ndef f(a: A) -> int:\n    return a.b[3]", None),
        ("@kernel\ndef f(a: A):\n    return a", ["no types"]),
        ("@kernel\ndef f(a) -> int:\n    return a", ["no types"]),
        ("@kernel\ndef f(a: A) -> int:\n    return a[48 + a.j]", ["offsets [48]"]),
        (f"@kernel\ndef f({', '.join(f'p{i}: int' for i in range(9))}) -> int:\n    return p0", ["9 parameters"]),
        (f"@kernel\ndef f({', '.join(f'p{i}: int' for i in range(9))}) -> int:\n    return p0\nf(1)", None),
        (f"@kernel\ndef f({', '.join(f'p{i}: int' for i in range(13))}) -> int:\n    return p0\nf(1)", ["13 parameters"]),
        ("@kernel(forceinline=True)\ndef f(a: A) -> int:\n" + "    a = 1\n" * 69 + "    return a", ["71 lines"]),
        ("def f(a):\n    return a[99]", None),
    ],
)
def test_the_rules_can_fail(text, faults):
    assert all_faults({"file.py": ast.parse(text)}) == ({} if faults is None else {"file.py": {"f": faults}})

"""Rules for kernels, read from the sources: one decorator for all of them, and no slice assignment inside."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import jostle

pytestmark = pytest.mark.small

SOURCES = Path(jostle.__file__).parent
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "generated_jit", "stencil", "cfunc", "jit_module"}


def bare_compilers(tree: ast.AST) -> list[int]:
    """Return the lines that use Numba's decorators, imported under whatever name."""
    modules = {"numba"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname for alias in node.names if alias.asname and alias.name.split(".")[0] == "numba"}
    lines = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numba":
            lines += [node.lineno for alias in node.names if alias.name in COMPILERS]
        elif isinstance(node, ast.Attribute) and node.attr in COMPILERS:
            root = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in modules:
                lines.append(node.lineno)
    return lines


def is_kernel(decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return (isinstance(decorator, ast.Name) and decorator.id == "kernel") or (
        isinstance(decorator, ast.Attribute) and decorator.attr == "kernel"
    )


def written_targets(node: ast.AST) -> list[ast.expr]:
    """Return what a statement assigns to, with tuples taken apart."""
    if isinstance(node, ast.Assign):
        waiting = list(node.targets)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For)):
        waiting = [node.target]
    else:
        return []
    found = []
    while waiting:
        target = waiting.pop()
        if isinstance(target, (ast.Tuple, ast.List)):
            waiting += target.elts
        elif isinstance(target, ast.Starred):
            waiting.append(target.value)
        else:
            found.append(target)
    return found


def slice_assignments(tree: ast.AST) -> list[int]:
    """Return the lines inside kernels that assign to a slice (`a[:n] = …`, `a[i, :] += …`): seconds of compilation each."""
    lines = []
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not any(map(is_kernel, function.decorator_list)):
            continue
        for node in ast.walk(function):
            for target in written_targets(node):
                if isinstance(target, ast.Subscript):
                    index = target.slice
                    parts = index.elts if isinstance(index, ast.Tuple) else [index]
                    lines += [target.lineno for part in parts if isinstance(part, ast.Slice)]
    return lines


def sources() -> list[Path]:
    files = sorted(SOURCES.rglob("*.py"))
    assert len(files) > 10
    return files


def test_kernels_are_made_by_one_decorator():
    wrong = {file.relative_to(SOURCES).as_posix(): bare_compilers(ast.parse(file.read_text("utf-8"))) for file in sources()}
    # The one place, and proof that the rule sees it.
    assert [name for name, lines in wrong.items() if lines] == ["kernels/dispatch.py"]


def test_no_kernel_assigns_to_a_slice():
    wrong = {str(file.relative_to(SOURCES)): slice_assignments(ast.parse(file.read_text("utf-8"))) for file in sources()}
    assert {name: lines for name, lines in wrong.items() if lines} == {}


@pytest.mark.parametrize(
    "text",
    [
        "from numba import njit",
        "from numba import jit as quick",
        "from numba.core.decorators import njit",
        "import numba\n@numba.njit\ndef f(): pass",
        "import numba as nb\n@nb.guvectorize\ndef f(): pass",
        "import numba\nx = numba.core.decorators.jit(nopython=True)",
    ],
)
def test_the_rule_catches_a_bare_compiler(text):
    assert bare_compilers(ast.parse(text)) != []


def test_the_rule_lets_other_things_be():
    assert bare_compilers(ast.parse("from numba import types\nimport jostle.kernels.jit as own\nown.jit\nself.jit()")) == []


@pytest.mark.parametrize("line", ["a[:n] = b[:n]", "a[i, :] += 1.0", "a[1:], k = b, 2", "a[0][2:3] = c", "for a[:] in b: pass"])
@pytest.mark.parametrize("decorator", ["kernel", "kernel(forceinline=True)", "jit.kernel", "jit.kernel()"])
def test_the_rule_catches_a_slice_assignment(decorator, line):
    assert slice_assignments(ast.parse(f"@{decorator}\ndef f(a, b, n):\n    if n:\n        {line}\n")) == [4]


def test_slices_may_be_read_in_kernels_and_written_elsewhere():
    text = "@kernel\ndef f(a, n):\n    b = a[:n]\n    a[n] = b[n]\n    a[b[:n].sum() - n] = 0\ndef g(a):\n    a[:3] = 0\n"
    assert slice_assignments(ast.parse(text)) == []

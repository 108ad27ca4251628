"""Rules for kernels, read from the sources: one compiler, no slice assignment, few parameters, few lines, types, no offsets.

The sources of jostle are 4 MB: they are parsed and walked once for all rules (`findings`), and only what breaks a rule is kept.
"""

from __future__ import annotations

import ast
import functools
import gc
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import jostle

SOURCES = Path(jostle.__file__).parent
COMPILERS = {"njit", "jit", "vectorize", "guvectorize", "generated_jit", "stencil", "cfunc", "jit_module"}
MOST_PARAMETERS, MOST_OF_ENTRY, MOST_LINES, LARGEST_LITERAL = 8, 12, 70, 8


class Kernel(NamedTuple):
    """A kernel in the sources, and what it does against the rules whoever calls it."""

    name: str
    parameters: int
    faults: list[str]


class Findings(NamedTuple):
    """What the rules say of one module."""

    bare_compilers: list[int]  # lines that use Numba's decorators, imported under whatever name
    slice_assignments: list[int]  # lines in kernels
    kernels: list[Kernel]
    used_by_python: set[str]  # names that are used outside of kernels, except to import them


@functools.cache
def findings() -> dict[str, Findings]:
    """Return what the rules say of every module of jostle."""
    files = sorted(SOURCES.rglob("*.py"))
    assert len(files) > 10
    return {file.relative_to(SOURCES).as_posix(): findings_in(file.read_text("utf-8")) for file in files}


def findings_in(text: str) -> Findings:
    """Return what the rules say of a module."""
    collecting = gc.isenabled()
    gc.disable()  # trees have no cycles; collections between take two thirds of the time
    try:
        tree = ast.parse(text)
        waiting: list[ast.AST] = [tree]
        elsewhere, kernels = [], []
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.FunctionDef) and any(map(is_kernel, node.decorator_list)):
                kernels.append((node, list(ast.walk(node))))
            else:
                elsewhere.append(node)
                waiting += ast.iter_child_nodes(node)
        everything = [*elsewhere, *(node for _, inside in kernels for node in inside)]
        return Findings(
            bare_compilers(everything),
            [line for _, inside in kernels for line in slice_assignments(inside)],
            [Kernel(node.name, len(parameters_of(node)), faults_of(node, inside)) for node, inside in kernels],
            names_in(elsewhere),
        )
    finally:
        if collecting:
            gc.enable()


def is_kernel(decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    return (isinstance(decorator, ast.Name) and decorator.id == "kernel") or (
        isinstance(decorator, ast.Attribute) and decorator.attr == "kernel"
    )


def bare_compilers(nodes: list[ast.AST]) -> list[int]:
    modules = {"numba"}
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {alias.asname for alias in node.names if alias.asname and alias.name.split(".")[0] == "numba"}
    lines = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numba":
            lines += [node.lineno for alias in node.names if alias.name in COMPILERS]
        elif isinstance(node, ast.Attribute) and node.attr in COMPILERS:
            root = node.value
            while isinstance(root, ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name) and root.id in modules:
                lines.append(node.lineno)
    return lines


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


def slice_assignments(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Yield the lines that assign to a slice (`a[:n] = …`, `a[i, :] += …`): in a kernel seconds of compilation each."""
    for node in nodes:
        for target in written_targets(node):
            if isinstance(target, ast.Subscript):
                index = target.slice
                parts = index.elts if isinstance(index, ast.Tuple) else [index]
                yield from (target.lineno for part in parts if isinstance(part, ast.Slice))


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    return {node.id if isinstance(node, ast.Name) else node.attr for node in nodes if isinstance(node, (ast.Name, ast.Attribute))}


def parameters_of(kernel: ast.FunctionDef) -> list[ast.arg]:
    arguments = kernel.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]


def faults_of(kernel: ast.FunctionDef, nodes: Iterable[ast.AST]) -> list[str]:
    """Return what a kernel does against the rules, whoever calls it."""
    faults = []
    lines = (kernel.end_lineno or 0) - kernel.lineno + 1
    if lines > MOST_LINES:
        faults.append(f"{lines} lines")
    if kernel.returns is None or any(parameter.annotation is None for parameter in parameters_of(kernel)):
        faults.append("no types")
    literals = [
        part.value
        for node in nodes
        if isinstance(node, ast.Subscript)
        for part in ast.walk(node.slice)
        if isinstance(part, ast.Constant) and isinstance(part.value, int) and part.value > LARGEST_LITERAL
    ]
    if literals:
        faults.append(f"offsets {literals[:4]}")
    return faults


def faults_by_file(modules: dict[str, Findings]) -> dict[str, dict[str, list[str]]]:
    """Return the faults of kernels; those that Python calls may have more parameters."""
    entries = set().union(*(found.used_by_python for found in modules.values()))
    faults: dict[str, dict[str, list[str]]] = {}
    for file, found in modules.items():
        for kernel in found.kernels:
            most = MOST_OF_ENTRY if kernel.name in entries else MOST_PARAMETERS
            too_many = [f"{kernel.parameters} parameters"] if kernel.parameters > most else []
            if too_many or kernel.faults:
                faults.setdefault(file, {})[kernel.name] = too_many + kernel.faults
    return faults

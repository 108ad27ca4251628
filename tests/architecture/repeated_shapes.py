"""Places of the source that share statements in shape: what is left when names, attributes, constants and annotations are equal."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

FEWEST = 12  # statements in a row, nested ones and headers counted
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class Repetition(NamedTuple):
    """Two places that share `statements`; a place is a file and its first and last line."""

    statements: int
    one: tuple[str, int, int]
    other: tuple[str, int, int]


class Statement(NamedTuple):
    """A statement without those that it holds."""

    shape: int
    depth: int
    line: int


def repetitions(sources: dict[str, str], fewest: int = FEWEST) -> list[Repetition]:
    """Return the longest runs of statements of functions that occur twice, in one file or in two; overlapping ones do not count."""
    files = {name: list(_statements(ast.parse(text), 0)) for name, text in sources.items()}
    starts: dict[Any, list[tuple[str, int]]] = defaultdict(list)
    for name, found in files.items():
        for first in range(len(found) - fewest + 1):
            run = found[first : first + fewest]
            outermost = min(each.depth for each in run)
            starts[tuple((each.shape, each.depth - outermost) for each in run)].append((name, first))
    pairs = {
        (one, other)
        for places in starts.values()
        for number, one in enumerate(places)
        for other in places[number + 1 :]
        if one[0] != other[0] or other[1] - one[1] >= fewest
    }
    return sorted((_longest(files, pairs, *pair, fewest) for pair in pairs if _before(*pair) not in pairs), reverse=True)


def sources_in(root: Path) -> dict[str, str]:
    """Return the text of all modules below a folder."""
    return {str(file.relative_to(root)): file.read_text() for file in sorted(root.rglob("*.py"))}


def _before(one: tuple[str, int], other: tuple[str, int]) -> tuple[tuple[str, int], tuple[str, int]]:
    return (one[0], one[1] - 1), (other[0], other[1] - 1)


def _longest(files: dict[str, list[Statement]], pairs: set[Any], one: Any, other: Any, fewest: int) -> Repetition:
    count = fewest
    while ((one[0], one[1] + count - fewest + 1), (other[0], other[1] + count - fewest + 1)) in pairs:
        count += 1

    def place(name: str, first: int) -> tuple[str, int, int]:
        return name, files[name][first].line, files[name][first + count - 1].line

    return Repetition(count, place(*one), place(*other))


def _statements(node: ast.AST, depth: int) -> Iterator[Statement]:
    """Yield functions and what is in them, outermost first; not imports and docstrings, nor the data of modules and classes."""
    inside = not isinstance(node, ast.Module | ast.ClassDef)
    for block in BLOCKS:
        for each in getattr(node, block, ()):
            if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef) or (inside and _counts(each)):
                yield Statement(hash(_shape(each)), depth, each.lineno)
            yield from _statements(each, depth + 1)


def _counts(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)
    return isinstance(node, ast.stmt) and not isinstance(node, ast.Import | ast.ImportFrom)


def _shape(node: ast.AST) -> tuple[Any, ...]:
    """Return a statement or expression without names and numbers, and without the statements that it holds."""
    is_statement = isinstance(node, ast.stmt)
    parts: list[Any] = [type(node)]
    for field in node._fields:
        part = getattr(node, field, None)
        if isinstance(part, list):
            if not (is_statement and field in BLOCKS):
                parts.append(tuple(_shape(each) if isinstance(each, ast.AST) else None for each in part))
            elif part:
                parts.append(field)
        elif isinstance(part, ast.AST) and field not in ("annotation", "returns", "ctx"):
            parts.append(_shape(part))
    return tuple(parts)

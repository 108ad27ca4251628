"""Names in the reference as callers see them.

`rows='faces'` instead of `rows=default('faces')`; no `**unknown`, which only refuses options, and no private fields. A
field that has a comment on its line and no docstring gets the comment. Pages that docstrings name become
links, parameters that share a description get one each, and a cached property is a field.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

PAGE = re.compile(r"`?\bdocs/(\w+)\.md`?")
SHARED = re.compile(r"^(\w+(?:, \w+)+)( : .+)?\n((?:    .*\n?)+)", re.MULTILINE)  # parameters with one description


class Signatures(griffe.Extension):
    """Corrects what was loaded, before pages are made of it."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Correct all functions and fields of a package."""
        correct_members(pkg)


def correct_members(owner: griffe.Module | griffe.Class) -> None:
    """Correct the members of a module or a class, and theirs."""
    for name, each in list(owner.members.items()):
        if isinstance(each, griffe.Alias):
            continue
        if isinstance(each, griffe.Function) and any(str(own.value) == "cached_property" for own in each.decorators):
            each = owner.members[name] = read_as_field(each)
        if each.docstring:
            each.docstring.value = PAGE.sub(r"[\1](../\1.md)", SHARED.sub(one_by_one, each.docstring.value))
        if isinstance(each, griffe.Function):
            each.parameters = griffe.Parameters(*(own for own in each.parameters if shown(own.name)))
            for own in each.parameters:
                value = re.fullmatch(r"default\((.*)\)", str(own.default))
                own.default = value[1] if value else own.default
        elif isinstance(each, griffe.Module | griffe.Class):
            correct_members(each)
        elif isinstance(each, griffe.Attribute):
            each.docstring = each.docstring or comment_of(each)
            each.value = None if "field(" in str(each.value) else each.value


def read_as_field(method: griffe.Function) -> griffe.Attribute:
    """Return a cached property as what it is to callers: jostle has its own, which griffe takes for a method."""
    field = griffe.Attribute(
        method.name, annotation=method.returns, lineno=method.lineno, endlineno=method.endlineno, parent=method.parent
    )
    field.docstring = method.docstring
    return field


def one_by_one(entry: re.Match[str]) -> str:
    """Return parameters with one description as an entry each: otherwise all get type and default of the first."""
    return "".join(f"{name}{entry[2] or ''}\n{entry[3].rstrip()}\n" for name in entry[1].split(", "))


def shown(name: str) -> bool:
    """Return whether callers may give a parameter."""
    return name != "unknown" and not name.startswith("_")


def comment_of(field: griffe.Attribute) -> griffe.Docstring | None:
    """Return the comment on the line of a field or a constant as its docstring."""
    found = re.search(r"  # (?!type:|fmt:|noqa)(.+)$", field.lines[-1]) if field.lines else None
    if not found:
        return None
    sentence = found[1][:1].upper() + found[1][1:]
    return griffe.Docstring(sentence if sentence.endswith(".") else sentence + ".", lineno=field.lineno, parent=field)

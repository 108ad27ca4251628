"""Methods as a user names them: `wide_tree`, or with settings `wide_tree(build=sah)`; several with commas between.

Nothing is evaluated: a value is a Python literal (number, True, None, quoted text) or, failing that, the text itself. An unknown
method or setting, and a value that the method refuses, is an `InputError` that names the method and the setting. What a method is
asked stands among its settings: `bounding_tree(motion=True, roots=regula_falsi)` looks along the motion from frame to frame.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jostle.errors import InputError
from jostle.protocol import Method
from jostle.query import Query
from jostle.registry import METHODS, name_of

WISHES = ("motion", "separation")  # fields of a `Query` that may stand among the settings of a method

_WRITTEN = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True)
class NamedMethod:
    """A method that takes part, and what it is called in tables."""

    label: str
    method: Method
    wishes: Mapping[str, Any] = field(default_factory=dict)  # what it is asked beside the usual, see `WISHES`


def all_methods() -> list[NamedMethod]:
    """Return every method of the registry, with its default settings."""
    return [NamedMethod(name, made()) for name, made in METHODS.items()]


def methods_of(text: str) -> list[NamedMethod]:
    """Return the methods that a list such as "wide_tree, wide_tree(build=sah), brute_force" names, each once."""
    found = {each.label: each for each in (method_written(part) for part in _split(text)) if each is not None}
    if not found:
        raise InputError(f"no method is named in {text!r}; the methods are {', '.join(METHODS)}")
    return list(found.values())


def method_written(text: str) -> NamedMethod | None:
    """Return the method that "name" or "name(setting=value, …)" stands for; None for an empty text."""
    if not text.strip():
        return None
    match = _WRITTEN.fullmatch(text)
    if match is None:
        raise InputError(f"method {text.strip()!r} is not readable; write name or name(setting=value, …)")
    name, inside = match.groups()
    if name not in METHODS:
        raise InputError(f"there is no method {name!r}; the methods are {', '.join(METHODS)}")
    made = METHODS[name]
    known = [field.name for field in dataclasses.fields(made)]  # type: ignore[arg-type]
    settings: dict[str, Any] = {}
    wishes: dict[str, Any] = {}
    for part in _split(inside or ""):
        if not part.strip():
            continue
        setting, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise InputError(f"method {name}: {part.strip()!r} is not a setting; write setting=value")
        if setting not in known and setting not in WISHES:
            has = f"it has {', '.join(known) or 'none'}, and may be asked {', '.join(WISHES)}"
            raise InputError(f"method {name} has no setting {setting!r}; {has}")
        if setting in settings or setting in wishes:
            raise InputError(f"method {name}: setting {setting!r} is given twice")
        (settings if setting in known else wishes)[setting] = _value(value)
    return named(_made(name, made, settings), _checked_wishes(name, wishes))


def named(method: Method, wishes: Mapping[str, Any] | None = None) -> NamedMethod:
    """Return a method with its label: its name, the settings that are not the defaults, and what it is asked beside the usual."""
    changed: list[str] = []
    if dataclasses.is_dataclass(method):
        for field in dataclasses.fields(method):
            value = getattr(method, field.name)
            default = field.default_factory() if callable(field.default_factory) else field.default
            if value != default:
                changed.append(f"{field.name}={value!r}")
    changed += [f"{wish}={value!r}" for wish, value in (wishes or {}).items()]
    return NamedMethod(name_of(method) + (f"({', '.join(changed)})" if changed else ""), method, dict(wishes or {}))


def with_settings(chosen: NamedMethod, settings: Mapping[str, Any]) -> NamedMethod:
    """Return a method under its old label with those of the settings that it has; the others do not concern it."""
    method: Any = chosen.method
    own = {each.name for each in dataclasses.fields(method)} if dataclasses.is_dataclass(method) else set()
    kept = {name: value for name, value in settings.items() if name in own}
    return NamedMethod(chosen.label, dataclasses.replace(method, **kept) if kept else method, chosen.wishes)


def _made(name: str, made: type[Method], settings: dict[str, Any]) -> Method:
    # One setting after the other, so that the one which is refused is known.
    taken: dict[str, Any] = {}
    for setting, value in settings.items():
        taken[setting] = value
        try:
            made(**taken)
        except Exception as error:
            raise InputError(f"method {name}: setting {setting}={value!r} is refused: {error}") from None
    return made(**taken)


def _checked_wishes(name: str, wishes: dict[str, Any]) -> dict[str, Any]:
    """Return those that are not the defaults of a query."""
    try:
        query, usual = Query(**wishes), Query()
    except InputError as error:
        raise InputError(f"method {name}: {error}") from None
    return {wish: getattr(query, wish) for wish in wishes if getattr(query, wish) != getattr(usual, wish)}


def _split(text: str) -> list[str]:
    """Split at commas outside of brackets and quotes."""
    parts, depth, quote, part = [], 0, "", ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        if letter == "," and depth == 0 and not quote:
            parts.append(part)
            part = ""
        else:
            part += letter
    return [*parts, part]


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text

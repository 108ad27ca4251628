"""Methods as a user names them: `wide_tree`, or with settings `wide_tree(build=sah)`; several with commas between.

Nothing is evaluated: a value is a Python literal (number, True, None, quoted text) or, failing that, the text itself. An unknown
method or setting, and a value that the method refuses, is an `InputError` that names the method and the setting.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from dataclasses import dataclass
from typing import Any

from jostle.errors import InputError
from jostle.protocol import Method
from jostle.registry import METHODS, name_of

_WRITTEN = re.compile(r"\s*(\w+)\s*(?:\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True)
class NamedMethod:
    """A method that takes part, and what it is called in tables."""

    label: str
    method: Method


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
    for part in _split(inside or ""):
        if not part.strip():
            continue
        setting, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise InputError(f"method {name}: {part.strip()!r} is not a setting; write setting=value")
        if setting not in known:
            raise InputError(f"method {name} has no setting {setting!r}; it has {', '.join(known) or 'none'}")
        if setting in settings:
            raise InputError(f"method {name}: setting {setting!r} is given twice")
        settings[setting] = _value(value)
    return named(_made(name, made, settings))


def named(method: Method) -> NamedMethod:
    """Return a method with its label: its name, and the settings that are not the defaults."""
    changed: list[str] = []
    if dataclasses.is_dataclass(method):
        for field in dataclasses.fields(method):
            value = getattr(method, field.name)
            default = field.default_factory() if callable(field.default_factory) else field.default
            if value != default:
                changed.append(f"{field.name}={value!r}")
    return NamedMethod(name_of(method) + (f"({', '.join(changed)})" if changed else ""), method)


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

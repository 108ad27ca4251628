"""Methods as users write them: `wide_tree(build=sah)`, or a list with commas.

`jostle/registry.py` reads the text. Query options are written among the settings: `bounding_tree(motion=True)` detects along the
motion from frame to frame, and `workers=2` gives the world two threads.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jostle import cast
from jostle.errors import InputError
from jostle.interface.method import Method
from jostle.interface.query import Query
from jostle.registry import METHODS, QUERY_OPTIONS, name_of, read_method
from jostle.settings_text import split_at_commas

WORKERS = "workers"  # threads of the world; the other options of `registry.QUERY_OPTIONS` are fields of a `Query`


@dataclass(frozen=True)
class NamedMethod:
    """A method with its label in tables, query options and threads."""

    label: str
    method: Method
    options: Mapping[str, Any] = field(default_factory=dict)  # of `World.detect`
    workers: int = 1  # threads


def all_methods() -> list[NamedMethod]:
    """Return every method of the registry, with its default settings."""
    return [NamedMethod(name, made()) for name, made in METHODS.items()]


def methods_of(text: str) -> list[NamedMethod]:
    """Return the methods of "wide_tree, wide_tree(build=sah)", each once."""
    found = {each.label: each for each in (method_written(part) for part in split_at_commas(text)) if each is not None}
    if not found:
        raise InputError(f"no method is named in {text!r}; the methods are {', '.join(METHODS)}")
    return list(found.values())


def method_written(text: str) -> NamedMethod | None:
    """Return the method of "name" or "name(setting=value, …)"; None for an empty text."""
    if not text.strip():
        return None
    written = read_method(text, tuple(QUERY_OPTIONS))
    workers = cast.as_count(written.options.pop(WORKERS, 1), f"method {written.name}: {WORKERS}", lowest=1)
    return named(written.made, _checked_options(written.name, written.options), workers, written.name)


def named(method: Method, options: Mapping[str, Any] | None = None, workers: int = 1, name: str = "") -> NamedMethod:
    """Return a method with its label: name, non-default settings, and query options."""
    changed: list[str] = []
    if dataclasses.is_dataclass(method):
        for field in dataclasses.fields(method):
            value = getattr(method, field.name)
            default = field.default_factory() if callable(field.default_factory) else field.default
            if value != default:
                changed.append(f"{field.name}={value!r}")
    changed += [f"{option}={value!r}" for option, value in (options or {}).items()]
    changed += [f"{WORKERS}={workers}"] if workers != 1 else []
    label = (name or name_of(method)) + (f"({', '.join(changed)})" if changed else "")
    return NamedMethod(label, method, dict(options or {}), workers)


def with_settings(chosen: NamedMethod, settings: Mapping[str, Any]) -> NamedMethod:
    """Return a method with the settings that it has, under its old label."""
    method: Any = chosen.method
    own = {each.name for each in dataclasses.fields(method)} if dataclasses.is_dataclass(method) else set()
    kept = {name: value for name, value in settings.items() if name in own}
    return dataclasses.replace(chosen, method=dataclasses.replace(method, **kept)) if kept else chosen


def _checked_options(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that differ from a query's defaults."""
    try:
        query, usual = Query(**options), Query()
    except InputError as error:
        raise InputError(f"method {name}: {error}") from None
    return {option: getattr(query, option) for option in options if getattr(query, option) != getattr(usual, option)}

"""Settings as text, name(setting=value, …), for methods and broad phases.

Nothing is evaluated: a value is a Python literal (number, True, None, quoted text) or else the text itself, so that
`wide_tree(build=sah)` needs no quotes, and `voxmap(broad=priority_queue(speed=0.3))` passes the inner text on. An unknown name or
setting, or a bad value, is an `InputError` that names its owner and lists the alternatives.
"""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from jostle.errors import InputError

Made = TypeVar("Made")

_PATTERN = re.compile(r"\s*([\w.]+(?::\w+)?)\s*(?:\((.*)\))?\s*", re.DOTALL)


def split_at_commas(text: str) -> list[str]:
    """Split at commas outside brackets and quotes."""
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


def split_name(text: str, what: str) -> tuple[str, str]:
    """Return the name and the text in its brackets; `what` is for the message."""
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise InputError(f"{what} {text.strip()!r} is not readable; write name or name(setting=value, …)")
    return match[1], match[2] or ""


class ParsedObject(NamedTuple):
    """The name in a text, the object made, and the query options among its settings."""

    name: str
    made: Any
    options: dict[str, Any]


def parse_object(text: str, what: str, class_of: Callable[[str], type[Any]], options: Sequence[str] = ()) -> ParsedObject:
    """Return the object described by "name" or "name(setting=value, …)".

    Parameters
    ----------
    text : str
    what : str
        What the text names, for messages: "method", "Voxmap: broad phase".
    class_of : function
        The class of a name, or an `InputError`. The fields of a dataclass are its settings.
    options : sequence of str
        Further names that may appear among the settings.
    """
    name, inside = split_name(text, what)
    made, owner = class_of(name), f"{what} {name}"
    known = [each.name for each in dataclasses.fields(made)] if dataclasses.is_dataclass(made) else []
    besides = f" and the options {', '.join(options)}" if options else ""
    settings = parse_settings(inside, owner, [*known, *options], f"it has {', '.join(known) or 'none'}{besides}")
    given = {option: settings.pop(option) for option in options if option in settings and option not in known}
    return ParsedObject(name, construct(made, settings, owner), given)


def parse_settings(rest: str, owner: str, known: Sequence[str], has: str) -> dict[str, Any]:
    """Return the settings in a text such as "build=sah, level=3".

    Parameters
    ----------
    rest : str
        The text between the brackets.
    owner : str
        Whose settings they are, for messages: "method wide_tree".
    known : sequence of str
        The allowed settings.
    has : str
        The end of the message for an unknown one: "it has build, level".
    """
    settings: dict[str, Any] = {}
    for part in split_at_commas(rest):
        if not part.strip():
            continue
        setting, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise InputError(f"{owner}: {part.strip()!r} is not a setting; write setting=value")
        if setting not in known:
            raise InputError(f"{owner} has no setting {setting!r}; {has}")
        if setting in settings:
            raise InputError(f"{owner}: setting {setting!r} is given twice")
        settings[setting] = parse_value(value)
    return settings


def parse_value(text: str) -> Any:
    """Return a text as a Python literal, or else unchanged."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def construct(make: Callable[..., Made], settings: Mapping[str, Any], owner: str) -> Made:
    """Call `make` with settings; an error names the setting that was refused."""
    try:
        return make(**settings)
    except Exception as error:
        refused = error
    # Add one setting at a time to find the refused one; some are valid only together.
    taken: dict[str, Any] = {}
    for setting, value in settings.items():
        taken[setting] = value
        try:
            make(**taken)
        except Exception as error:
            if str(error) == str(refused):
                raise InputError(f"{owner}: setting {setting}={value!r} is refused: {error}") from None
    raise InputError(f"{owner}: its settings are refused: {refused}") from None

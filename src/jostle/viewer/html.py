"""Text and markup for the page; untrusted names go through `fill` or `plain`.

Only `add_html` and `show_html` write HTML elements, and they take what `fill` returned. A test reads the viewer's sources and fails
on markup made in any other way.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

LONGEST_NAME = 80  # characters
LONGEST_SENTENCE = 600

_JOINERS = "\u200c\u200d"  # not printable, but some languages need them


class Html(str):
    """Markup in which every value was escaped."""

    __slots__ = ()


def fill(template: str, **values: object) -> Html:
    """Return a literal template with its {names} filled in; all but `Html` is escaped."""
    return Html(template.format(**{name: value if isinstance(value, Html) else escaped(value) for name, value in values.items()}))


def joined(parts: Iterable[Html], between: Html | None = None) -> Html:
    """Return pieces of markup joined."""
    return Html((between or Html()).join(parts))


def escaped(value: object) -> Html:
    """Return a value as escaped text, also for attributes."""
    return Html(html.escape(plain(str(value)), quote=True))


def plain(text: str, longest: int = LONGEST_NAME) -> str:
    """Return text in one line, without invisible characters, shortened in the middle."""
    text = " ".join(text[: 50 * longest].split())
    text = "".join(each if each.isprintable() or each in _JOINERS else "\ufffd" for each in text)
    if len(text) <= longest:
        return text
    tail = longest // 4
    return f"{text[: longest - tail - 1]}…{text[len(text) - tail :]}"


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return plain names for a choice list, made distinct."""
    shown: dict[str, int] = {}
    for number, name in enumerate(names):
        text = plain(name) or "\ufffd"
        while text in shown:
            text = f"{text} ({number})"
        shown[text] = number
    return tuple(shown)


def add_html(gui: Any, content: Html) -> Any:
    """Add an element with markup to a panel."""
    return gui.add_html(str(content))


def show_html(element: Any, content: Html) -> None:
    """Show markup in an element, if it changed."""
    if element.content != content:
        element.content = str(content)

"""Text and markup for the page. Names are untrusted: they reach a page by `fill` or `plain` only.

`add_html` and `show_html` are the only ways to the page's HTML elements, and take what `fill` made. A test reads the viewer's
sources and fails where markup is put together in another way.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

LONGEST_NAME = 80  # characters
LONGEST_SENTENCE = 600

_JOINERS = "\u200c\u200d"  # not printable by themselves, and words of some languages need them


class Html(str):
    """Markup in which every value was escaped."""

    __slots__ = ()


def fill(template: str, **values: object) -> Html:
    """Return a literal template with values at its {names}, escaped unless they are `Html`."""
    return Html(template.format(**{name: value if isinstance(value, Html) else escaped(value) for name, value in values.items()}))


def joined(parts: Iterable[Html], between: Html | None = None) -> Html:
    """Return pieces of markup in a row."""
    return Html((between or Html()).join(parts))


def escaped(value: object) -> Html:
    """Return a value as escaped text, also for attributes."""
    return Html(html.escape(plain(str(value)), quote=True))


def plain(text: str, longest: int = LONGEST_NAME) -> str:
    """Return text in one line without invisible or bidirectional characters, shortened in the middle."""
    text = " ".join(text[: 50 * longest].split())
    text = "".join(each if each.isprintable() or each in _JOINERS else "\ufffd" for each in text)
    if len(text) <= longest:
        return text
    tail = longest // 4
    return f"{text[: longest - tail - 1]}…{text[len(text) - tail :]}"


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return plain names for choice lists, distinct where the names are."""
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
    """Show other markup in an element, if it is other."""
    if element.content != content:
        element.content = str(content)

"""Names on a terminal, without rich's markup and control characters."""

from __future__ import annotations


def on_terminal(name: object) -> str:
    """Return a name as text for `Console.print`."""
    from rich.markup import escape

    return escape(visible(str(name)))


def visible(text: str, keep: str = "") -> str:
    """Return text with unprintable characters replaced, except those in `keep`."""
    return "".join(each if each.isprintable() or each in keep else "\N{REPLACEMENT CHARACTER}" for each in text)

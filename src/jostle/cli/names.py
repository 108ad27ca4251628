"""Names on a terminal: those of files and bodies may hold rich's markup, or what a terminal takes for a command."""

from __future__ import annotations


def on_terminal(name: object) -> str:
    """Return a name as text for `Console.print`."""
    from rich.markup import escape

    return escape(visible(str(name)))


def visible(text: str, keep: str = "") -> str:
    """Return text with a replacement character for each that cannot be printed and is not to be kept."""
    return "".join(each if each.isprintable() or each in keep else "\N{REPLACEMENT CHARACTER}" for each in text)

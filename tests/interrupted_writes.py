"""Ctrl-C in the middle of a text that is written to a file."""

from __future__ import annotations

from pathlib import Path


def cut_short(monkeypatch) -> None:
    """Make every later `Path.write_text` write half of its text and be interrupted."""
    write = Path.write_text

    def half(path: Path, text: str, *arguments, **options) -> None:
        write(path, text[: len(text) // 2], *arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_text", half)

"""Bounds-checked access to a file's bytes for all readers, within a budget.

A `Source` is the content of a file with the `Budget` of this `load`. Readers get bytes, arrays, text and numbers from it; every
size is a Python int, checked against the available bytes before any allocation. Before a reader makes vertices, faces or nodes it
counts them in the budget, which raises `UnreadableError` with the name of the limit.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import time
from collections.abc import Iterator, Sized
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import DTypeLike, NDArray

from jostle.shapes.limits import Limits

_LONGEST_INDEX = 18  # digits; more do not fit into 64 bits
_SHOWN = 40  # characters of a word or name in a message
_LINES_PER_TICK = 4096


class UnreadableError(Exception):
    """The file cannot be read; the message gives the reason without the file's name."""


class Budget:
    """The remaining limits and time of one `load`."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._end = time.monotonic() + limits.seconds
        self._taken: dict[str, int] = {}

    def take(self, limit: str, count: int, what: str = "") -> None:
        """Count `count` more items against a limit, before they are made."""
        total = self._taken.get(limit, 0) + count
        self.check(limit, total, what)
        self._taken[limit] = total

    def check(self, limit: str, total: int, what: str = "") -> None:
        """Refuse a number beyond its limit."""
        self.tick()
        most = getattr(self.limits, limit)
        if total > most:
            what = what or f"it has {total:,} {limit.replace('_', ' ')}"
            raise UnreadableError(f"{what}; at most {most:,} are read, raise it with limits=Limits({limit}=…)")

    def tick(self) -> None:
        """Raise if time is up."""
        if time.monotonic() > self._end:
            raise UnreadableError(f"it takes longer than {self.limits.seconds:g} s to read; raise it with limits=Limits(seconds=…)")


class Source:
    """The bytes of a file and the budget of its reader."""

    def __init__(self, data: bytes, budget: Budget, folder: Path | None = None) -> None:
        self.data, self.budget = data, budget
        self.folder = folder  # of files that it may refer to; None for none

    def __len__(self) -> int:
        return len(self.data)

    def slice(self, at: int, size: int, what: str) -> bytes:
        """Return `size` bytes from `at`."""
        self._refuse_beyond(at, size, what)
        return self.data[at : at + size]

    def array(self, at: int, kind: DTypeLike, count: int, what: str) -> NDArray[Any]:
        """Return a view of `count` values from byte `at`."""
        item = np.dtype(kind)
        self._refuse_beyond(at, count * item.itemsize, what)
        return np.frombuffer(self.data, item, count, at)

    def rows(self, at: int, kind: str, shape: tuple[int, int], stride: int, what: str) -> NDArray[Any]:
        """Return a view of rows of values, `stride` bytes apart."""
        count, width = shape
        item = np.dtype(kind).itemsize
        size = stride * (count - 1) + item * width if count > 0 else 0
        if min(at, count, stride) < 0 or stride < item * width or at + size > len(self.data):
            raise UnreadableError(what)
        return np.ndarray(shape, kind, self.data, at, (stride, item))

    def _refuse_beyond(self, at: int, size: int, what: str) -> None:
        if at < 0 or size < 0 or at + size > len(self.data):
            raise UnreadableError(what)

    def decoded(self, data: bytes) -> Source:
        """Return a source for data decoded from this one, with the same budget."""
        return Source(data, self.budget)

    # ------------------------------------------------------------------ text

    def text(self, at: int = 0) -> str:
        """Return the text from a byte on, as UTF-8 or else Latin-1.

        Names may hold anything; numbers are ASCII.
        """
        data = self.data[at:]
        if b"\0" in data:
            raise UnreadableError("it should be a text file but holds binary data")
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data.decode("latin-1")

    def lines(self, **made: Sized) -> Iterator[tuple[int, str]]:
        """Yield the lines of a text file with their numbers from 1, for any line ending.

        `made` are the lists that the reader fills, by the name of their limit.
        """
        lines = self.text().replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for first in range(0, len(lines), _LINES_PER_TICK):
            self.budget.tick()
            for limit, rows in made.items():
                self.budget.check(limit, len(rows), f"it has {len(rows):,} {limit} or more")
            yield from enumerate(lines[first : first + _LINES_PER_TICK], start=first + 1)

    # ------------------------------------------------------------------ files beside it

    def beside(self, uri: str) -> Source:
        """Return the content of a file named by this one, in its folder or below."""
        shown = repr(shortened(uri))
        if self.folder is None:
            raise UnreadableError(f"its buffer {shown} is another file; save it as one file (.glb)")
        name = unquote(uri)
        if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", uri) or name.startswith(("/", "\\")) or "\0" in name:
            raise UnreadableError(f"its buffer {shown} is no path to a file in its folder; only those are read")
        try:
            folder = self.folder.resolve()
            file = (folder / name).resolve()
            if not file.is_relative_to(folder):
                raise UnreadableError(f"its buffer {shown} lies outside of its folder; put the file beside it")
            content = read_regular_file(file, self.budget)
        except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
            raise UnreadableError(f"its buffer {shown} cannot be read ({reason_of(error)})") from None
        self.budget.take("decoded_bytes", len(content))
        return self.decoded(content)


def read_regular_file(file: Path, budget: Budget) -> bytes:
    """Return the content of a regular file; a pipe or a device might never end."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    if not stat.S_ISREG(file.stat().st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    with os.fdopen(os.open(file, flags), "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        budget.check("file_bytes", status.st_size, f"it has {status.st_size:,} bytes")
        return opened.read(status.st_size)


def reason_of(error: BaseException) -> str:
    """Return the reason of an error, in the system's words if it has any."""
    return shortened(getattr(error, "strerror", None) or str(error) or type(error).__name__, 200)


def shortened(text: str, length: int = _SHOWN) -> str:
    """Return a text for messages: shortened and encodable."""
    return printable(text if len(text) <= length else text[:length] + "…")


def printable(text: str) -> str:
    """Return a text without lone surrogates, which no encoding accepts."""
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


def as_number(word: str, line: int | str) -> float:
    """Return the number that a word spells, without Python's digit separators.

    `line` may be text for another place.
    """
    try:
        if "_" in word:
            raise ValueError
        return float(word)
    except ValueError:
        raise UnreadableError(f"{_place(line)}: {shortened(word)!r} is not a number") from None


def as_index(word: str, line: int | str) -> int:
    """Return the whole number a word spells, if it fits into 64 bits."""
    try:
        if "_" in word or len(word) > _LONGEST_INDEX:
            raise ValueError
        return int(word)
    except ValueError:
        digits = f"a whole number of at most {_LONGEST_INDEX} digits"
        raise UnreadableError(f"{_place(line)}: {shortened(word)!r} is not {digits}") from None


def _place(line: int | str) -> str:
    return f"line {line}" if isinstance(line, int) else line

"""Atomic writes: a file appears under its name only when it is complete."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from jostle.errors import InputError

PIECE = 1 << 20  # bytes compressed at a time, about 50 ms


@contextmanager
def atomic_write(target: Path) -> Iterator[Path]:
    """Yield a temporary path that replaces `target` on success.

    If anything raises, the temporary file is removed and the target unchanged. A symbolic link is kept; its target is replaced.
    Errors of the system (no permission, a full disk) become an `InputError` that names the target.
    """
    if not target.name:
        raise InputError(f"path is {str(target)!r}; pass the name of a file")
    file = Path(os.path.realpath(target))
    temporary = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        if file.exists() and not file.is_file():  # a device would be replaced by a file
            raise InputError(f"{target}: it is not a regular file; pass the name of a file")
        try:
            yield temporary
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{target}: it cannot be written ({error.strerror or error})") from None


def write_text(target: Path, text: str) -> None:
    """Write a text as UTF-8."""
    with atomic_write(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_arrays(target: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays of numbers or text by name to one compressed .npz file.

    Ctrl-C works while it is written.
    """
    with atomic_write(target) as temporary, temporary.open("wb") as file:
        _write_archive(file, arrays)


def _write_archive(file: IO[bytes], arrays: Mapping[str, Any]) -> None:
    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
    try:
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                _write_array(entry, np.asarray(value, order="C"))
        archive.close()
    except BaseException:
        archive.fp = None  # not closed: that would raise over the error
        raise


def _write_array(entry: IO[bytes], array: NDArray[Any]) -> None:
    """Write an array as `numpy.save` does, in smaller pieces.

    A piece of NumPy's own takes half a second, during which Ctrl-C is not seen.
    """
    np.lib.format.write_array_header_1_0(entry, np.lib.format.header_data_from_array_1_0(array))
    content = array.reshape(-1).view(np.uint8)
    for begin in range(0, len(content), PIECE):
        entry.write(content[begin : begin + PIECE].tobytes())

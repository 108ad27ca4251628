"""Files that appear under their names only when they are whole."""

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

PIECE = 1 << 20  # bytes that are compressed at a time, about 50 ms


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Yield the path to write to; it becomes `target` at the end, or is gone if anything raised. A link stays, and leads to it.

    What the system refuses is an `InputError` that names the target: a folder that cannot be written to, a full disk.
    """
    if not target.name:
        raise InputError(f"path is {str(target)!r}; pass the name of a file")
    file = Path(os.path.realpath(target))
    temporary = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        if file.exists() and not file.is_file():  # a device would be replaced by a file
            raise InputError(f"{target}: it is no regular file; pass the name of a file")
        try:
            yield temporary
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{target}: it cannot be written ({error.strerror or error})") from None


def write_text(target: Path, text: str) -> None:
    """Write a text as UTF-8, whole."""
    with written_whole(target) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_arrays(target: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays of numbers or text by name to one compressed .npz file, whole; Ctrl-C is heard while it is written."""
    with written_whole(target) as temporary, temporary.open("wb") as file:
        _write_archive(file, arrays)


def _write_archive(file: IO[bytes], arrays: Mapping[str, Any]) -> None:
    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
    try:
        for name, value in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                _write_array(entry, np.asarray(value, order="C"))
        archive.close()
    except BaseException:
        archive.fp = None  # thrown away: closing it would raise over what happened
        raise


def _write_array(entry: IO[bytes], array: NDArray[Any]) -> None:
    """Write an array as `numpy.save` does, in pieces: numpy's own take half a second each."""
    np.lib.format.write_array_header_1_0(entry, np.lib.format.header_data_from_array_1_0(array))
    content = array.reshape(-1).view(np.uint8)
    for begin in range(0, len(content), PIECE):
        entry.write(content[begin : begin + PIECE].tobytes())

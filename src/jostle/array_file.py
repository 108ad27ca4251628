"""Reader of untrusted .npz files: checks sizes before it reads, never unpickles.

`numpy.load` trusts the headers of a file: a few bytes can request any amount of memory, and a damaged file raises whatever zipfile,
zlib, ast or struct raise. `ArrayFile` checks the archive's directory and each array's header against the actual bytes and against
`MOST_BYTES`; every defect is an `InputError` that names the array.
"""

from __future__ import annotations

import io
import json
import math
import stat
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.errors import InputError

MOST_BYTES = 4 << 30  # of all arrays of a file, decompressed
_KINDS = "?biufU"
_MAGIC = b"\x93NUMPY"
_READERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class ArrayFile:
    """A .npz file open for reading, as a context manager.

    Its errors do not name the file; the caller adds that.
    """

    def __init__(self, file: Path) -> None:
        self._members: dict[str, zipfile.ZipInfo] = {}
        try:
            if not stat.S_ISREG(file.stat().st_mode):
                raise InputError("this is not a regular file")
            self._archive = zipfile.ZipFile(file)
        except FileNotFoundError:
            raise InputError("there is no such file") from None
        except InputError:
            raise
        except Exception as error:  # errors of zipfile and struct have no common base
            raise InputError(f"not an .npz file, or damaged ({_words(error)})") from None
        try:
            self._check_directory()
        except BaseException:
            self._archive.close()
            raise

    def _check_directory(self) -> None:
        for member in self._archive.infolist():
            name = member.filename.removesuffix(".npy")
            if name == member.filename or name in self._members:
                raise InputError(f"{member.filename!r} is in the file twice, or not an array")
            if member.compress_type not in _PLAIN or member.flag_bits & 1:
                raise InputError(f"{name} is encrypted, or compressed by a method that jostle does not write")
            self._members[name] = member
        total = sum(member.file_size for member in self._members.values())
        if total > MOST_BYTES:
            raise InputError(f"its arrays have {total} bytes; at most {MOST_BYTES} are read (jostle.array_file.MOST_BYTES)")

    def __enter__(self) -> ArrayFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._archive.close()

    @property
    def names(self) -> list[str]:
        """The names of all arrays."""
        return list(self._members)

    def read(self, name: str) -> NDArray[Any]:
        """Return a new array."""
        member = self._members.get(name)
        if member is None:
            raise InputError(f"{name} is missing")
        try:
            return _array(self._archive.read(member))
        except Exception as error:  # as above, and zlib, ast, MemoryError
            raise InputError(f"{name} cannot be read: damaged, or not an array that jostle wrote ({_words(error)})") from None

    def read_checked(self, name: str, dtype: str, *shape: int | None) -> NDArray[Any]:
        """Return a new array of exactly this dtype and shape; None means any length."""
        return checked(self.read(name), name, dtype, *shape)

    def description(self, *expected: str) -> dict[str, Any]:
        """Return the JSON description of a file in one of the expected formats."""
        text = self.read("description")
        if text.dtype.kind != "U" or text.shape != ():
            raise InputError("description is not a text")
        try:
            fields = json.loads(str(text))
        except (ValueError, RecursionError) as error:
            raise InputError(f"description is not JSON ({_words(error)})") from None
        if not isinstance(fields, dict):
            raise InputError("description is not a table of fields")
        if fields.get("format") not in expected:
            raise InputError(f"description: format is {fields.get('format')!r}; it must be {' or '.join(map(repr, expected))}")
        return fields


def _array(content: bytes) -> NDArray[Any]:
    """Return the array of a .npy file whose header agrees with its bytes."""
    stream = io.BytesIO(content)
    if content[: len(_MAGIC)] != _MAGIC:
        raise ValueError("not a .npy file")
    shape, in_columns, dtype = _READERS[np.lib.format.read_magic(stream)](stream)
    if dtype.kind not in _KINDS or (dtype.itemsize == 0 and dtype.kind != "U"):
        raise ValueError(f"dtype {dtype}")
    count = math.prod(shape)
    if count * dtype.itemsize != len(content) - stream.tell():
        raise ValueError(f"shape {shape} of {dtype} does not agree with its {len(content) - stream.tell()} bytes")
    if dtype.itemsize == 0:
        return np.zeros(shape, dtype) if count == 1 else np.empty(0, dtype)
    flat = np.frombuffer(content, dtype, count, stream.tell())
    return np.array(flat.reshape(shape, order="F" if in_columns else "C"), dtype.newbyteorder("="), order="C")


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def checked(array: NDArray[Any], name: str, dtype: str, *shape: int | None) -> NDArray[Any]:
    """Return an array of exactly this dtype and shape; None means any length."""
    if array.dtype != np.dtype(dtype):
        raise InputError(f"{name} has dtype {array.dtype}; it must be {np.dtype(dtype)}")
    if array.ndim != len(shape) or any(want not in (None, have) for have, want in zip(array.shape, shape, strict=True)):
        wanted = ", ".join("n" if length is None else str(length) for length in shape)
        raise InputError(f"{name} has shape {array.shape}; it must be ({wanted}{',' if len(shape) == 1 else ''})")
    return array


def checked_list(fields: dict[str, Any], name: str, *kinds: type, count: int | None = None) -> list[Any]:
    """Return a list field with entries of these types and, if given, this length."""
    value = fields.get(name)
    if not isinstance(value, list) or not all(type(entry) in kinds for entry in value):
        raise InputError(f"description: {name} is missing, or not a list of {_type_names(kinds)}")
    if count is not None and len(value) != count:
        raise InputError(f"description: {name} has {len(value)} entries; it must have {count}")
    return value


def checked_field(fields: dict[str, Any], name: str, *kinds: type) -> Any:
    """Return a field of one of these types."""
    value = fields.get(name)
    if type(value) not in kinds:
        raise InputError(f"description: {name} is {value!r}; it must be {_type_names(kinds)}")
    return value


def _type_names(kinds: tuple[type, ...]) -> str:
    return " or ".join("null" if kind is type(None) else kind.__name__ for kind in kinds)

"""The user's cache of kernels on disk: list it and clear it. Needs no Numba.

There is one directory for each package that defines kernels and each combination of tools (`tools_digest`). A text in it names the
versions.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from jostle.kernels.cache_state import user_directory

DIRECTORY = re.compile(r"(\w+)-kernels-[0-9a-f]{24}")
VERSIONS = "versions.txt"
WRITE_SECONDS = 60.0  # a temporary file younger than this may still be written


class CacheDirectory(NamedTuple):
    """The kernels of one package, compiled by one set of tools."""

    path: Path
    package: str
    versions: str
    kernels: int
    bytes: int
    used: float
    """When it was last used, in seconds since 1970."""


def cache_directories() -> list[CacheDirectory]:
    """Return the directories of the user's cache, the most recently used first.

    What another process removes meanwhile is left out.
    """
    found = []
    for path in cache_paths():
        with contextlib.suppress(OSError):
            sizes = [entry.stat().st_size for entry in _files(path) if entry.name.endswith(".kernel")]
            package = path.name.partition("-kernels-")[0]
            found.append(CacheDirectory(path, package, versions_in(path), len(sizes), sum(sizes), path.stat().st_mtime))
    return sorted(found, key=lambda one: one.used, reverse=True)


def clear_cache() -> tuple[int, int]:
    """Remove all kernels; return how many were removed and how many could not be.

    Processes that run meanwhile keep what they have loaded, and compile again what they do not find. A file that one of them is
    writing stays.
    """
    removed = left = 0
    for path in cache_paths():
        for entry in list(_files(path)):
            kernel = entry.name.endswith(".kernel")
            if not kernel and entry.name != VERSIONS and not _is_abandoned(entry):
                continue
            try:
                Path(entry.path).unlink(missing_ok=True)
                removed += kernel
            except OSError:
                left += kernel
        with contextlib.suppress(OSError):  # it is not empty, or it is not ours to remove
            path.rmdir()
    return removed, left


def note_versions(directory: Path, versions: str) -> None:
    """Write the versions of the tools into a directory that has none."""
    file = directory / VERSIONS
    with contextlib.suppress(OSError):  # only people read it
        if not file.exists():
            file.write_text(versions + "\n", encoding="utf-8")


def versions_in(path: Path) -> str:
    """Return the versions of the tools that a directory was made by."""
    with contextlib.suppress(OSError):
        return (path / VERSIONS).read_text(encoding="utf-8", errors="replace").strip()
    return ""


def cache_paths(package: str | None = None) -> list[Path]:
    """Return the directories of the user's cache, of one package or of all."""
    with contextlib.suppress(OSError, RuntimeError), os.scandir(user_directory()) as entries:  # RuntimeError: there is no home
        named = ((entry, DIRECTORY.fullmatch(entry.name)) for entry in entries if entry.is_dir(follow_symlinks=False))
        return [Path(entry.path) for entry, name in named if name is not None and package in (None, name[1])]
    return []


def _files(path: Path) -> Iterator[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        yield from (entry for entry in entries if entry.is_file(follow_symlinks=False))


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    if not entry.name.endswith((".tmp", ".claim")):
        return False
    with contextlib.suppress(OSError):
        return entry.stat().st_mtime < time.time() - WRITE_SECONDS
    return False

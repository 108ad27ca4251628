"""Whether a kernel can be had without compiling it. Needs no Numba.

A guess, made in a millisecond before Numba is imported: a file of the kernel is there, but whether its key agrees shows when it is
loaded. Where it does not, the kernel is compiled after all.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import sys
from pathlib import Path

import numpy as np

from jostle.kernels.cache_folder import cache_paths, versions_in
from jostle.kernels.jit import KERNELS, Kernel

CODE = "code"  # the folder in a wheel


def is_loaded(name: str) -> bool:
    """Return whether Python has called a kernel in this process, or need not compile it."""
    found = KERNELS.get(name)
    return found is not None and (not isinstance(found, Kernel) or bool(found.signatures))


def is_stored(name: str) -> bool:
    """Return whether a wheel or the user's cache seems to have the code of a kernel."""
    package = name.partition(".")[0]
    wheel = wheel_folder(package)
    folders = [] if wheel is None else [wheel / CODE]
    these = f"numpy {np.__version__}, Python {sys.version.partition(' ')[0]}"
    folders += [path for path in cache_paths(package) if versions_in(path).endswith(these)]
    return any(_has_file(folder, file_prefix(name)) for folder in folders)


def file_prefix(name: str) -> str:
    """Return what the names of a kernel's files begin with."""
    return re.sub(r"[^\w.]+", "_", name)[-80:]


def wheel_folder(package: str) -> Path | None:
    """Return the folder of a package's wheel of kernels, without importing it."""
    if os.environ.get("JOSTLE_COMPILED", "") == "0":
        return None
    with contextlib.suppress(Exception):  # odd finders and loaders: compile
        found = importlib.util.find_spec(f"{package}_kernels")
        if found is not None and found.origin is not None:
            folder = Path(found.origin).parent
            return folder if folder.is_dir() else None
    return None


def _has_file(folder: Path, prefix: str) -> bool:
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        return any(entry.name.startswith(f"{prefix}-") and entry.name.endswith(".kernel") for entry in entries)
    return False

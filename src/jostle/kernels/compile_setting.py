"""JOSTLE_COMPILE: whether kernels may be compiled, and what a refusal says.

| value | a kernel without code in the cache |
|---|---|
| `foreground`, or none | is compiled while its caller waits |
| `never` | raises `Unsupported`; its NumPy form runs instead if it has one (`interpreting.py`) |

Without Numba every kernel raises `Unsupported`, since code from the cache needs Numba as well. This module needs no Numba.
"""

from __future__ import annotations

import importlib.util
import os
import re

from jostle.errors import InputError, NoCompiler

SETTINGS = ("foreground", "never")
OTHERWISE = "or use method='plain', which needs no compiler"


def may_compile() -> bool:
    """Return whether JOSTLE_COMPILE allows compiling."""
    setting = os.environ.get("JOSTLE_COMPILE") or SETTINGS[0]
    if setting not in SETTINGS:
        raise InputError(f"environment: JOSTLE_COMPILE is {setting!r}; it must be {' or '.join(SETTINGS)}, or not set")
    return setting != "never"


def check_may_compile(kernel: str) -> None:
    """Raise if a kernel that has no code in the cache must not be compiled."""
    if not may_compile():
        raise NoCompiler(
            f"{_named(kernel)} has no code in the cache, and JOSTLE_COMPILE=never forbids compiling it; "
            f"unset JOSTLE_COMPILE, {OTHERWISE}"
        )


def check_numba(purpose: str) -> None:
    """Raise if Numba is not installed, before processes are started that need it."""
    try:
        found = importlib.util.find_spec("numba") is not None
    except (ImportError, ValueError):
        found = False
    if not found:
        raise NoCompiler(f"{purpose} needs Numba, which is not installed; pip install numba")


def without_numba(kernel: str, error: Exception) -> NoCompiler:
    """Return the error for a kernel that is called where Numba cannot be imported."""
    reason, cure = str(error), "allow the process more memory, or install Numba again"
    if isinstance(error, ModuleNotFoundError):
        cure = "pip install numba"
    elif isinstance(error, ImportError):
        cure = "install a version of Numba that can be"
    else:
        reason = f"{type(error).__name__}: {reason}"
    return NoCompiler(f"{_named(kernel)} needs Numba, which cannot be imported ({reason}); {cure}, {OTHERWISE}")


def _named(kernel: str) -> str:
    """Return a kernel's name, after that of the method it belongs to."""
    method = re.match(r"\w+\.methods\.(\w+)\.", kernel)
    return f"kernel {kernel}" if method is None else f"method {method[1]}: kernel {kernel}"

"""Files that appear under their names only when they are whole: written beside, then renamed."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Yield the path to write to; it becomes `target` at the end, or is gone if anything raised."""
    if not target.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def write_arrays(target: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name to one compressed .npz file, whole."""
    try:
        with written_whole(target) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)
    except ValueError as error:
        # While an interrupt passes, the zip file closes itself and may raise over it: the interrupt is what happened.
        passing = error.__context__
        raise passing if passing is not None and not isinstance(passing, Exception) else error from None
    except OSError as error:
        raise InputError(f"{target}: it cannot be written ({error.strerror or error})") from None

"""Files that appear under their names only when they are whole: written beside, then renamed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jostle.errors import InputError


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Yield the path to write to; it becomes `target` at the end, or is gone if anything raised."""
    if not target.name:
        raise InputError(f"path is {str(target)!r}; pass the name of a file")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)

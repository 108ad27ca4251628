"""Output files of commands, checked before the work."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jostle.errors import InputError


def check_target(option: str, target: Path | None, inputs: Iterable[str | Path | None] = (), endings: tuple[str, ...] = ()) -> None:
    """Raise if a file cannot be written, has the wrong ending, or is also an input."""
    if target is None:
        return
    if endings and target.suffix.lower() not in endings:
        raise InputError(f"{option} {target}: the name must end in {' or '.join(endings)}")
    if target.is_dir():
        raise InputError(f"{option} {target}: this is a folder; name a file")
    if not target.parent.is_dir():
        raise InputError(f"{option} {target}: there is no folder {target.parent}")
    if target.exists() and any(one is not None and Path(one).exists() and target.samefile(one) for one in inputs):
        raise InputError(f"{option} {target}: this file is an input and would be overwritten; choose another name")
    if ".png" in endings:
        from jostle.render.png import require_pillow

        require_pillow()

"""Write pictures as PNG files through Pillow.

Pillow is imported on use; without it, `require_pillow` names the extra that installs it. A file appears complete or not
at all (`atomic_file.py`). Equal pictures give equal files with one version of Pillow.
"""

from __future__ import annotations

import io
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.atomic_file import atomic_write
from jostle.errors import InputError


def require_pillow() -> None:
    """Raise an `InputError` with the cure if Pillow is not installed."""
    if find_spec("PIL") is None:
        raise InputError("pictures need Pillow; pip install 'jostle[pictures]' brings it")


def encode_png(pixels: NDArray[np.uint8]) -> bytes:
    """Return the bytes of a PNG file.

    Parameters
    ----------
    pixels : (h, w, 3) or (h, w, 4) uint8
        Row 0 is the top of the picture.
    """
    array: NDArray[Any] = np.asarray(pixels)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] not in (3, 4) or 0 in array.shape:
        raise InputError(
            f"pixels has shape {array.shape} and dtype {array.dtype}; pass a non-empty (h, w, 3) or (h, w, 4) uint8 array"
        )
    require_pillow()
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(array).save(content, "PNG")
    return content.getvalue()


def write_png(path: str | os.PathLike[str], pixels: NDArray[np.uint8]) -> None:
    """Write a picture to a PNG file, atomically; the directory must exist.

    Parameters
    ----------
    path : path-like
        Where to write; an existing file is replaced.
    pixels : (h, w, 3) or (h, w, 4) uint8
        Row 0 is the top of the picture.
    """
    target = checked_target(path)
    content = encode_png(pixels)
    with atomic_write(target) as temporary:
        temporary.write_bytes(content)


def checked_target(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file to write, if it can be written there."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"path is {str(target)!r}, but there is no directory {str(target.parent)!r}; create it first")
    if target.is_dir():
        raise InputError(f"path is {str(target)!r}, which is a directory; name a file in it")
    return target

"""Mesh files from a browser: size-limited, checked as in `jostle.load`, and added.

A file is written to a temporary directory under a safe name, read within `UPLOAD_LIMITS`, and deleted. Files that it refers to are
not read: a glTF file could name any file of this machine. 3MF and Collada are refused: in archives and XML a few bytes can mean
much work. `transfers.py` receives the files.
"""

from __future__ import annotations

import re
import tempfile
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from queue import SimpleQueue

import viser

from jostle._types import Floats
from jostle.errors import InputError, JostleError
from jostle.shapes.limits import UPLOAD_LIMITS, Limits
from jostle.shapes.load import ENDINGS, load_scene
from jostle.shapes.mesh import Mesh
from jostle.viewer.session import Session
from jostle.viewer.subject import Subject
from jostle.viewer.transfers import Transfers, Uploader

Part = tuple[str, Mesh, Floats]  # name, mesh, pose

USUAL_LIMIT = 20.0  # megabytes of a file
MOST_BODIES = 200  # of a file
MOST_FACES_IN_ALL, MOST_BODIES_IN_ALL = 4_000_000, 2000  # of a page with added bodies
ACCEPTED = tuple(ending for ending in ENDINGS if ending not in (".3mf", ".dae"))


def parts_of(name: str, content: bytes, most_megabytes: float = USUAL_LIMIT) -> list[Part]:
    """Return the bodies of an uploaded file, or raise `InputError`."""
    shown = harmless(name)
    if PurePosixPath(shown).suffix.lower() not in ACCEPTED:
        raise InputError(f"{shown}: the name must end in one of {', '.join(ACCEPTED)}")
    if len(content) > 1e6 * most_megabytes:
        raise InputError(too_large(shown, len(content), most_megabytes))
    with tempfile.TemporaryDirectory(prefix="jostle-upload-") as folder:
        file = Path(folder) / shown
        file.write_bytes(content)
        try:
            parts = load_scene(file, alone=True, limits=limits_of(most_megabytes))
        except InputError as error:
            raise InputError(str(error).replace(str(file), shown)) from None
    if len(parts) > MOST_BODIES:
        raise InputError(
            f"{shown}: it has {len(parts):,} bodies; a page accepts {MOST_BODIES} per file; start the viewer with it instead"
        )
    return parts


def limits_of(most_megabytes: float) -> Limits:
    """Return the reading limits of a file of at most `most_megabytes`."""
    size = max(int(1e6 * most_megabytes), 1)
    return replace(UPLOAD_LIMITS, file_bytes=size, decoded_bytes=max(UPLOAD_LIMITS.decoded_bytes, 3 * size))


def harmless(name: str) -> str:
    """Return a file name without folders and special characters, at most 60 long."""
    last = re.sub(r"[^\w.\- ]", "_", re.split(r"[/\\]", name)[-1]).strip(" .")
    ending = PurePosixPath(last).suffix[:10]
    return (last[: len(last) - len(ending)] or "file")[: 60 - len(ending)] + ending


def too_large(name: str, size: float, most_megabytes: float) -> str:
    """Return the message for a file that is too large."""
    return f"{harmless(name)}: it has {1e-6 * size:,.1f} MB; the limit is {most_megabytes:g} MB (--upload-limit)"


class Uploads:
    """Uploads of all browsers: received by `Transfers`, read one by one in a thread."""

    def __init__(self, session: Session, limit: float) -> None:
        self._session, self._limit = session, limit
        self.transfers = Transfers(int(1e6 * limit), lambda name, size: too_large(name, size, limit), self._received)
        self._waiting: SimpleQueue[tuple[Uploader, str, bytes] | None] = SimpleQueue()
        # A daemon: a file that takes long to read must not keep the viewer open.
        threading.Thread(target=self._read_all, name="jostle uploads", daemon=True).start()

    def add_button(self, gui: viser.GuiApi) -> None:
        """Add a browser's upload button."""
        hint = f"{', '.join(ACCEPTED)}; {self._limit:g} MB at most"
        gui.add_upload_button("Add a mesh file", icon=viser.Icon.UPLOAD, mime_type=",".join(ACCEPTED), hint=hint)

    def close(self) -> None:
        """Read no more files."""
        self._waiting.put(None)

    def _received(self, by: Uploader, name: str, content: bytes) -> None:
        self._waiting.put((by, name, content))

    def _read_all(self) -> None:
        while (file := self._waiting.get()) is not None:
            self._read(*file)

    def _read(self, by: Uploader, name: str, content: bytes) -> None:
        try:
            parts = parts_of(name, content, self._limit)
            # Counted when these are about to be added: other uploads may come first.
            self._session.add_bodies(parts, partial(_check_all, harmless(name), parts), by.notify)
        except JostleError as error:
            by.notify(str(error))
        except Exception as error:  # whatever goes wrong, the sender gets a message
            by.notify(f"{harmless(name)}: it cannot be read ({type(error).__name__})")
        finally:
            self.transfers.finished(len(content))


def _check_all(name: str, parts: list[Part], subject: Subject) -> None:
    """Raise if the page would have too many faces or bodies."""
    there = subject.start.meshes
    faces = sum(len(mesh.faces) for mesh in there) + sum(len(mesh.faces) for _, mesh, _ in parts)
    if faces > MOST_FACES_IN_ALL or len(there) + len(parts) > MOST_BODIES_IN_ALL:
        raise InputError(
            f"{name}: with it the page would have {faces:,} faces in {len(there) + len(parts):,} bodies; "
            f"the limit is {MOST_FACES_IN_ALL:,} faces in {MOST_BODIES_IN_ALL:,} bodies"
        )

"""Mesh files from a browser: received up to a size, read with the checks of `jostle.load`, put beside what is there.

A file is written to a temporary directory under a harmless name, read, and gone. What it refers to outside of itself is not read:
a glTF file could name any file of this machine. 3MF and Collada are left out: a small archive of these can unpack to any size.
viser takes whatever a browser sends, as large as it says; `limit_transfers` refuses what is too large before the first part of it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import viser
from numpy.typing import NDArray
from viser import _messages

from jostle.errors import InputError, JostleError
from jostle.shapes.load import ENDINGS, load_scene
from jostle.shapes.mesh import Mesh
from jostle.viewer.session import Session

Floats = NDArray[np.float64]
Part = tuple[str, Mesh, Floats]  # name, mesh, pose

USUAL_LIMIT = 20.0  # megabytes of a file
MOST_FACES = 500_000  # of a file
MOST_BODIES = 200
TAKEN = tuple(ending for ending in ENDINGS if ending not in (".3mf", ".dae"))


def parts_of(name: str, content: bytes, most_megabytes: float = USUAL_LIMIT) -> list[Part]:
    """Return the bodies of a file as it came from a browser, or raise `InputError` with what is wrong with it."""
    shown = harmless(name)
    if PurePosixPath(shown).suffix.lower() not in TAKEN:
        raise InputError(f"{shown}: files that can be added end in {', '.join(TAKEN)}")
    if len(content) > 1e6 * most_megabytes:
        raise InputError(too_large(shown, len(content), most_megabytes))
    with tempfile.TemporaryDirectory(prefix="jostle-upload-") as folder:
        file = Path(folder) / shown
        file.write_bytes(content)
        try:
            parts = load_scene(file, alone=True)
        except InputError as error:
            raise InputError(str(error).replace(str(file), shown)) from None
    faces = sum(len(mesh.faces) for _, mesh, _ in parts)
    if faces > MOST_FACES or len(parts) > MOST_BODIES:
        raise InputError(
            f"{shown}: it has {faces:,} faces in {len(parts):,} bodies; a page takes {MOST_FACES:,} in {MOST_BODIES} of a file, "
            "start the viewer with it instead"
        )
    return parts


def harmless(name: str) -> str:
    """Return the last part of a file's name with letters, digits, dots, dashes and blanks only, sixty of them at most."""
    last = re.sub(r"[^\w.\- ]", "_", re.split(r"[/\\]", name)[-1]).strip(" .")
    ending = PurePosixPath(last).suffix[:10]
    return (last[: len(last) - len(ending)] or "file")[: 60 - len(ending)] + ending


def too_large(name: str, size: float, most_megabytes: float) -> str:
    """Say that a file is too large."""
    return f"{harmless(name)}: it has {1e-6 * size:,.1f} MB, at most {most_megabytes:g} are taken; --upload-limit sets how many"


class UploadButton:
    """The button of the shared panel; what is wrong with a file is told to whoever sent it."""

    def __init__(self, server: viser.ViserServer, session: Session, limit: float, tell: Callable[[int, str], None]) -> None:
        self._session, self._limit, self._tell = session, limit, tell
        self.button: Any = server.gui.add_upload_button(
            "Add a mesh file", icon=viser.Icon.UPLOAD, mime_type=",".join(TAKEN), hint=f"{', '.join(TAKEN)}; {limit:g} MB at most"
        )
        self.button.on_upload(self._came)

    def _came(self, event: Any) -> None:
        """Read a file here, in a thread of viser's: neither the page nor the session waits."""
        file = event.target.value
        try:
            self._session.add_bodies(parts_of(file.name, file.content, self._limit))
        except JostleError as error:
            self._tell(event.client_id, str(error))


def limit_transfers(gui: Any, limit: float, tell: Callable[[int, str], None]) -> None:
    """Refuse transfers of more than so many megabytes under way at a time, before they are received; 0 refuses all."""
    interface, under_way = gui._websock_interface, gui._current_file_upload_states
    start, part = gui._handle_file_transfer_start, gui._handle_file_transfer_part
    most = 1e6 * limit

    def begins(client: int, message: Any) -> None:
        if message.size_bytes > most:
            tell(client, too_large(message.filename, message.size_bytes, limit))
        elif message.size_bytes + sum(each["total_bytes"] for each in list(under_way.values())) > most:
            tell(client, f"{harmless(message.filename)}: another file is on its way; try again when it is there")
        else:
            start(client, message)

    def goes_on(client: int, message: Any) -> None:
        state = under_way.get(message.transfer_uuid)
        if state is not None and state["transferred_bytes"] + len(message.content) > state["total_bytes"]:
            under_way.pop(message.transfer_uuid, None)  # more than was said: not a browser's doing
            return
        part(client, message)

    for kind, ours, theirs in (
        (_messages.FileTransferStartUpload, begins, start),
        (_messages.FileTransferPart, goes_on, part),
    ):
        interface.unregister_handler(kind, theirs)
        interface.register_handler(kind, ours)

"""The part of the panel for fitting: slide or stop, what is in the way, and saving the way for `jostle fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import viser

from jostle.errors import JostleError
from jostle.fitting import write_path
from jostle.viewer.session import Session


class FitPanel:
    """What a person sees who takes a part out."""

    def __init__(self, server: viser.ViserServer, session: Session) -> None:
        self._server, self._session = server, session
        self.first = first_to_move(session)
        with server.gui.add_folder("Fit"):
            self._words = server.gui.add_html(_box(f"separation {session.fit:g}"))
            slides = server.gui.add_checkbox("slide along contacts", session.slides)
            save = server.gui.add_button("Save the way", icon=viser.Icon.DOWNLOAD)

        @slides.on_update
        async def _(event: Any) -> None:
            session.slides = bool(event.target.value)

        @save.on_click
        def _(event: Any) -> None:
            self._save(event.client)

    def show(self) -> None:
        """Say what is in the way."""
        lines = [f"separation {self._session.fit:g}"]
        for guide in self._session.guides.values():
            name = self._session.subject.start.names[guide.body]
            if guide.touch is not None:
                lines.append(f"<b>{name}</b> is stopped by <b>{guide.touch.body}</b>")
            else:
                lines.append(f"<b>{name}</b> moves freely")
        words = _box("<br>".join(lines))
        if words != self._words.content:
            self._words.content = words

    def _save(self, client: viser.ClientHandle | None) -> None:
        """Write the way of each body that was led, beside where the viewer was started, and send it to the browser."""
        try:
            saved = save_ways(self._session, Path.cwd())
        except JostleError as error:
            if client is not None:
                client.add_notification("jostle", str(error), color="red", auto_close_seconds=8.0)
            return
        for file, command in saved:
            if client is not None:
                client.send_file_download(file.name, file.read_bytes())
                client.add_notification(f"{file} written", command, auto_close_seconds=20.0, color="green")


def save_ways(session: Session, folder: Path) -> list[tuple[Path, str]]:
    """Write the way of every body that was led; return the files, and the commands that replay them."""
    from jostle.errors import InputError

    if not session.guides:
        raise InputError("nothing was moved yet; drag a part, then save its way")
    saved = []
    for guide in list(session.guides.values()):
        path = guide.path()
        file = folder / f"{path.body.replace('/', '_').replace(' ', '_')}_way.csv"
        write_path(path, file)
        # A tenth less: where a body slid it came nearer by up to a hundredth at every step.
        separation = f"{0.9 * guide.separation:.4g}"
        saved.append((file, f"jostle fit {session.subject.name} --move '{path.body}' --path {file.name} --separation {separation}"))
    return saved


def first_to_move(session: Session) -> int:
    """The body that the scene's first path is for; otherwise the first that is not static."""
    start = session.subject.start
    for path in session.subject.paths.values():
        if path.body in start.names:
            return start.names.index(path.body)
    return next((body for body, fixed in enumerate(start.static) if not fixed), 0)


def _box(words: str) -> str:
    return f'<div class="jostle-fit" style="padding:0 14px 6px;font-size:.85em;line-height:1.45">{words}</div>'

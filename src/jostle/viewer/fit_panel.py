"""The fitting panel: slide or stop, what blocks a part, and saving its path."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import viser

from jostle.errors import InputError, JostleError
from jostle.fitting import write_path
from jostle.viewer.html import LONGEST_SENTENCE, Html, add_html, fill, joined, plain, show_html
from jostle.viewer.session import Session


class FitPanel:
    """The panel for taking a part out."""

    def __init__(self, server: viser.ViserServer, session: Session) -> None:
        self._server, self._session = server, session
        self.first = first_to_move(session)
        with server.gui.add_folder("Fit"):
            self._status = add_html(server.gui, self._status_html())
            slides = server.gui.add_checkbox("slide along contacts", session.stage.slides)
            save = server.gui.add_button("Save path", icon=viser.Icon.DOWNLOAD)

        @slides.on_update
        async def _(event: Any) -> None:
            session.stage.slides = bool(event.target.value)

        @save.on_click
        def _(event: Any) -> None:
            self._save(event.client)

    def show(self) -> None:
        """Update what blocks each part."""
        show_html(self._status, self._status_html())

    def _status_html(self) -> Html:
        lines = [fill("separation {fit}", fit=f"{self._session.fit:g}")]
        for guide in list(self._session.stage.guides.values()):
            name = self._session.subject.start.names[guide.body]
            if guide.touch is not None:
                lines.append(fill("<b>{name}</b> is stopped by <b>{other}</b>", name=name, other=guide.touch.body))
            else:
                lines.append(fill("<b>{name}</b> moves freely", name=name))
        return fill(
            '<div class="jostle-fit" style="padding:0 14px 6px;font-size:.85em;line-height:1.45">{lines}</div>',
            lines=joined(lines, fill("<br>")),
        )

    def _save(self, client: viser.ClientHandle | None) -> None:
        """Write the paths of moved bodies to the current folder and to the browser."""
        try:
            saved = save_paths(self._session, Path.cwd())
        except JostleError as error:
            if client is not None:
                client.add_notification("jostle", plain(str(error), LONGEST_SENTENCE), color="red", auto_close_seconds=8.0)
            return
        for file, command in saved:
            if client is not None:
                client.send_file_download(file.name, file.read_bytes())
                client.add_notification(f"{file.name} written", command, auto_close_seconds=20.0, color="green")


def save_paths(session: Session, folder: Path) -> list[tuple[Path, str]]:
    """Write the paths of moved bodies; return each file and the command to replay it."""
    if not session.stage.guides:
        raise InputError("nothing was moved yet; drag a part, then save its path")
    saved = []
    for number, guide in list(session.stage.guides.items()):
        path = guide.path()
        file = folder / f"body_{number}_way.csv"
        write_path(path, file)
        # A tenth less: each step of a sliding body may reduce the distance by up to a hundredth.
        separation = f"{0.9 * guide.separation:.4g}"
        subject, body = shlex.quote(session.subject.name), shlex.quote(path.body)
        command = f"jostle fit {subject} --move={body} --path={file.name} --separation={separation}"
        if plain(command, LONGEST_SENTENCE) != command:  # the shown text would differ
            command = f"body {number} has a name that cannot be shown; jostle fit replays the file with --path"
        saved.append((file, command))
    return saved


def first_to_move(session: Session) -> int:
    """Return the body of the scene's first path, else the first that is not static."""
    start = session.subject.start
    for path in session.subject.paths.values():
        if path.body in start.names:
            return start.names.index(path.body)
    return next((body for body, fixed in enumerate(start.static) if not fixed), 0)

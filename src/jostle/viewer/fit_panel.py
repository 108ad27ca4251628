"""The part of the panel for fitting: slide or stop, what is in the way, and saving the way for `jostle fit`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import viser

from jostle.errors import JostleError
from jostle.fitting import write_path
from jostle.viewer.html import LONGEST_SENTENCE, Html, add_html, fill, joined, plain, show_html
from jostle.viewer.session import Session


class FitPanel:
    """What a person sees who takes a part out."""

    def __init__(self, server: viser.ViserServer, session: Session) -> None:
        self._server, self._session = server, session
        self.first = first_to_move(session)
        with server.gui.add_folder("Fit"):
            self._words = add_html(server.gui, self._said())
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
        show_html(self._words, self._said())

    def _said(self) -> Html:
        lines = [fill("separation {fit}", fit=f"{self._session.fit:g}")]
        for guide in list(self._session.guides.values()):
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
        """Write the way of each body that was led, beside where the viewer was started, and send it to the browser."""
        try:
            saved = save_ways(self._session, Path.cwd())
        except JostleError as error:
            if client is not None:
                client.add_notification("jostle", plain(str(error), LONGEST_SENTENCE), color="red", auto_close_seconds=8.0)
            return
        for file, command in saved:
            if client is not None:
                client.send_file_download(file.name, file.read_bytes())
                client.add_notification(f"{file.name} written", command, auto_close_seconds=20.0, color="green")


def save_ways(session: Session, folder: Path) -> list[tuple[Path, str]]:
    """Write the way of every body that was led; return the files, by the bodies' numbers, and the commands that replay them."""
    from jostle.errors import InputError

    if not session.guides:
        raise InputError("nothing was moved yet; drag a part, then save its way")
    saved = []
    for number, guide in list(session.guides.items()):
        path = guide.path()
        file = folder / f"body_{number}_way.csv"
        write_path(path, file)
        # A tenth less: where a body slid it came nearer by up to a hundredth at every step.
        separation = f"{0.9 * guide.separation:.4g}"
        subject, body = shlex.quote(session.subject.name), shlex.quote(path.body)
        command = f"jostle fit {subject} --move={body} --path={file.name} --separation={separation}"
        if plain(command, LONGEST_SENTENCE) != command:  # it would not be what is shown
            command = f"body {number} has a name that cannot be shown; jostle fit replays the file with --path"
        saved.append((file, command))
    return saved


def first_to_move(session: Session) -> int:
    """The body that the scene's first path is for; otherwise the first that is not static."""
    start = session.subject.start
    for path in session.subject.paths.values():
        if path.body in start.names:
            return start.names.index(path.body)
    return next((body for body, fixed in enumerate(start.static) if not fixed), 0)

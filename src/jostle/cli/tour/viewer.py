"""The tour's scene in the viewer: by `plain` from the start, compiled at the end."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jostle.cli.tour.experiment import EXACT, SCENE
from jostle.cli.view import until_interrupted
from jostle.errors import InputError, JostleError
from jostle.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from rich.console import Console

    from jostle.scenes import Scene
    from jostle.viewer.session import Session

ANSWER_SECONDS = 60.0  # timeout for a page on this machine


class TourViewer:
    """The open page of the tour."""

    def __init__(self, session: Session, address: str) -> None:
        self.session, self.address = session, address

    def finish(self, console: Console, stay: bool) -> None:
        """Play the motion by a compiled method until Ctrl-C, or close the page at once."""
        if not stay:
            console.print(f"the viewer is closed; open it with: jostle view {SCENE} --play", highlight=False, soft_wrap=True)
            return
        if self.session.settings.method == EXACT:  # unless somebody has chosen another one
            self.session.change(method=DEFAULT_METHOD)
        self.session.play()
        with until_interrupted(console) as wait:
            console.print(
                f"drag the scene yourself: open {self.address} in a browser; Ctrl-C closes it", highlight=False, style="bold"
            )
            wait()


@contextmanager
def viewer_opened(console: Console, scene: Scene, port: int) -> Iterator[TourViewer | None]:
    """Open the page of the last frame and print its address; None without viser.

    Nothing is compiled for it. The address is printed when the page answers and the first contacts are on it.

    Parameters
    ----------
    port : int
        Preferred port; if it is in use, any free one.
    """
    try:
        from jostle.viewer.serve import LOCAL, check_address, require_viser

        require_viser()
    except InputError as missing:
        console.print(f"no viewer: {missing}", markup=False, highlight=False)
        yield None
        return
    from jostle.viewer.open_session import open_session
    from jostle.viewer.session import Session
    from jostle.viewer.settings import Settings
    from jostle.viewer.subject import subject_of_scene

    try:
        check_address(LOCAL, port)
    except InputError:
        port = 0
    session = Session(subject_of_scene(scene, SCENE), Settings(method=EXACT))
    session.seek(scene.frames - 1)
    with open_session(session, port=port, prefix="--") as address:
        faces = _faces_on_page(session, address)
        console.print(
            f"open [bold]{address}[/bold] in a browser: {faces} touching faces are red ({EXACT} needs no compiler)",
            highlight=False,
            soft_wrap=True,
        )
        yield TourViewer(session, address)


def _faces_on_page(session: Session, address: str) -> int:
    """Return the number of touching faces on the page, when it answers and has them."""
    from jostle.viewer.listener import Listener
    from jostle.viewer.snapshot import Snapshot

    shown: list[Snapshot] = []
    arrived = threading.Event()

    class First(Listener):
        def show(self, snapshot: Snapshot) -> None:
            shown.append(snapshot)
            arrived.set()

    session.listen(First())  # after the page, so it has drawn what arrives here
    session.put_back()  # another round: the first may be over
    with urllib.request.urlopen(address, timeout=ANSWER_SECONDS) as page:
        if page.status != 200:
            raise JostleError(f"the viewer at {address} answered with status {page.status}")
    if not arrived.wait(ANSWER_SECONDS):
        raise JostleError(f"the viewer at {address} shows no contacts after {ANSWER_SECONDS:g} s")
    return shown[0].found.face_count

"""The end of the tour: its scene in the viewer. On a terminal the page stays until Ctrl-C, elsewhere it is asked once."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from jostle.cli.tour.experiment import SCENE
from jostle.cli.view import until_interrupted
from jostle.errors import InputError, JostleError

if TYPE_CHECKING:
    from rich.console import Console

ANSWER_SECONDS = 60.0  # of patience with a page on this very machine


def show_viewer(console: Console, port: int, stay: bool) -> None:
    """Open the page and say where.

    Parameters
    ----------
    port : int
        Where it is wished; if that is taken, any.
    stay : bool
        Whether it stays open until Ctrl-C.
    """
    try:
        from jostle.viewer.serve import require_viser

        require_viser()
    except InputError as missing:
        console.print(f"no viewer: {missing}", markup=False, highlight=False)
        return
    with opened(port) as address:
        if stay:
            with until_interrupted(console) as wait:
                console.print(
                    f"the scene to drag and turn: open {address} in a browser; Ctrl-C ends it", highlight=False, style="bold"
                )
                wait()
            return
        with urllib.request.urlopen(address, timeout=ANSWER_SECONDS) as page:
            if page.status != 200:
                raise JostleError(f"the viewer at {address} answered with status {page.status}")
        console.print(
            f"the viewer answered at {address} and is closed again, as this is no terminal; "
            f"jostle view {SCENE} --play keeps it open",
            highlight=False,
            soft_wrap=True,
        )


@contextmanager
def opened(port: int) -> Iterator[str]:
    """Open the page of the scene, playing, on this machine only; yield its address, and close it at the end."""
    from jostle.viewer.open_session import open_session
    from jostle.viewer.serve import LOCAL, check_address
    from jostle.viewer.session import Session
    from jostle.viewer.subject import subject_of

    try:
        check_address(LOCAL, port)
    except InputError:
        port = 0
    with open_session(Session(subject_of([SCENE])), port=port, play=True) as address:
        yield address

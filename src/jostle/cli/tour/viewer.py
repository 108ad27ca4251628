"""The end of the tour: its scene in the viewer, until Ctrl-C or checked once."""

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

ANSWER_SECONDS = 60.0  # timeout for a page on this machine


def show_viewer(console: Console, port: int, stay: bool) -> None:
    """Open the page and print its address.

    Parameters
    ----------
    port : int
        Preferred port; if it is in use, any free one.
    stay : bool
        Keep it open until Ctrl-C.
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
                    f"drag the scene yourself: open {address} in a browser; Ctrl-C closes it", highlight=False, style="bold"
                )
                wait()
            return
        with urllib.request.urlopen(address, timeout=ANSWER_SECONDS) as page:
            if page.status != 200:
                raise JostleError(f"the viewer at {address} answered with status {page.status}")
        console.print(
            f"viewer check passed ({address}); run `jostle view {SCENE} --play` to keep it open",
            highlight=False,
            soft_wrap=True,
        )


@contextmanager
def opened(port: int) -> Iterator[str]:
    """Open the scene's page, playing, on this machine only; yield its address."""
    from jostle.viewer.open_session import open_session
    from jostle.viewer.serve import LOCAL, check_address
    from jostle.viewer.session import Session
    from jostle.viewer.subject import subject_of

    try:
        check_address(LOCAL, port)
    except InputError:
        port = 0
    with open_session(Session(subject_of([SCENE])), port=port, play=True, prefix="--") as address:
        yield address

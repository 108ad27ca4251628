"""Show a session on a page, and close both at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jostle.viewer.serve import LOCAL, free_port, open_server
from jostle.viewer.session import Session


@contextmanager
def open_session(
    session: Session,
    host: str = LOCAL,
    port: int = 0,
    *,
    play: bool = False,
    prefix: str = "",
    framed: bool = False,
    **page: Any,
) -> Iterator[str]:
    """Show a session in browsers; yield the address to open, with a token if needed.

    Parameters
    ----------
    session : Session
    host : str
        Address to listen on; by default only this machine can reach it.
    port : int
        0 picks any free port.
    play : bool
        Whether to play its motion from the start.
    prefix : str
        Of `host` and `port` in errors: "--" on the command line.
    framed : bool
        Whether pages of this machine, such as a notebook, may show it in a frame.
    page
        Further arguments of `Page`.
    """
    from jostle.viewer.page import Page

    port = port or free_port(host)
    server = open_server(host, port, f"jostle: {session.subject.name}", prefix, framed)
    on_page = Page(server, session, **page)
    session.start()
    if play:
        session.play()
    try:
        yield server.guard.admission.address
    finally:
        on_page.close()
        session.stop()
        server.stop()

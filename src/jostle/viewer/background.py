"""`jostle.view(world)`: the viewer beside a notebook, a Python prompt or a script."""

from __future__ import annotations

import builtins
import contextlib
import sys
import time

from jostle import cast
from jostle.errors import InputError
from jostle.kernels.notebook import notebook_shell
from jostle.lab.methods import named
from jostle.registry import importable_name
from jostle.viewer.html import escaped, fill
from jostle.viewer.open_session import open_session
from jostle.viewer.serve import LOCAL, require_viser
from jostle.viewer.session import Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import subject_of_world
from jostle.world.world import World

FRAME_HEIGHT = 560  # pixels, in a notebook


class Viewer:
    """An open page at `address`; `close` or the end of a `with` block closes it.

    A notebook shows the page in the output of the cell, others a link.
    """

    def __init__(self, address: str, page: contextlib.ExitStack, framed: bool = False) -> None:
        self.address = address
        self._page: contextlib.ExitStack | None = page
        self._framed = framed

    def close(self) -> None:
        """Close the page; calling it again does nothing."""
        page, self._page = self._page, None
        if page is not None:
            page.close()

    def wait(self) -> None:
        """Wait for Ctrl-C, then close the page."""
        try:
            while self._page is not None:
                time.sleep(0.5)
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Viewer({'closed' if self._page is None else self.address})"

    def _repr_html_(self) -> str:
        if self._page is None:
            return escaped(repr(self))
        link = fill('<a href="{address}" target="_blank" rel="noopener">{address}</a>', address=self.address)
        if not self._framed:
            return link
        return fill(
            '<iframe src="{address}" title="jostle" style="width:100%;height:{height}px;border:0"></iframe><div>{link}</div>',
            address=self.address, height=str(FRAME_HEIGHT), link=link,
        )  # fmt: skip


def view(
    world: World,
    *,
    clearance: float = 0.0,
    solid: bool = False,
    respond: str = "show",
    port: int = 0,
    shadows: bool = True,
    block: bool | None = None,
) -> Viewer:
    """Show the bodies of a world in a browser or notebook; drag them, and touching faces turn red.

    In a notebook the page appears below the cell if the call is its last line, and closes with the kernel or by `close`.
    The page shows a copy, with the world's method: dragging there does not change the world, and later changes of the
    world are not shown. Only this machine can connect. Needs `pip install 'jostle[viewer]'`.

    Parameters
    ----------
    world : World
    clearance : float
        Also show faces nearer than this length, in amber.
    solid : bool
        Also find a body that lies wholly inside another.
    respond : {"show", "push", "bounce", "deform"}
        Response of touched bodies.
    port : int
        Port of the page; 0 for any free port.
    shadows : bool
        Draw shadows; without them a browser without graphics hardware is much faster.
    block : bool, optional
        Whether to wait for Ctrl-C. By default a script waits; a notebook or a Python prompt does not.

    Returns
    -------
    Viewer
        Its `address` is printed. `close` closes the page.

    Examples
    --------
    >>> world = jostle.World()
    >>> ball = world.add("ball.stl", jostle.translation((0, 0, 0.9)), "ball")
    >>> viewer = jostle.view(world)  # doctest: +SKIP
    >>> viewer.close()  # doctest: +SKIP
    """
    if not isinstance(world, World):
        raise InputError(f"world is {cast.shown(world)}; pass a jostle.World")
    cast.as_count(port, "port", highest=65535)
    waits = not _interactive() if block is None else cast.as_flag(block, "block")
    shadows = cast.as_flag(shadows, "shadows")
    method = named(world.method, name=importable_name(world.method)).label
    settings = Settings(method=method, clearance=clearance, solid=cast.as_flag(solid, "solid"), respond=respond)
    require_viser()
    session = Session(subject_of_world(world, "world"), settings)
    framed = notebook_shell() is not None
    with contextlib.ExitStack() as page:
        address = page.enter_context(open_session(session, LOCAL, port, shadows=shadows, framed=framed))
        viewer = Viewer(address, page.pop_all(), framed)
    sys.stdout.write(f"open {address} in a browser" + ("; Ctrl-C closes it\n" if waits else "\n"))
    sys.stdout.flush()
    if waits:
        viewer.wait()
    return viewer


def _interactive() -> bool:
    """Return whether this is a notebook, IPython or a Python prompt."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or hasattr(builtins, "__IPYTHON__")

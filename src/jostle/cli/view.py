"""`jostle view SCENE`: drag bodies in a browser and see what touches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.console import open_console
from jostle.cli.fit import default_separation
from jostle.cli.names import on_terminal
from jostle.errors import InputError
from jostle.registry import DEFAULT_METHOD

if TYPE_CHECKING:
    from rich.console import Console

    from jostle.viewer.session import Session
    from jostle.viewer.settings import Settings

MOST_MEGABYTES = 2000  # of an uploaded file, which is held in memory


def view(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="A built-in scene, optionally with parameters: 'spheres(count=40)'; mesh files (GLB, glTF: one body per node); "
            "a recorded motion or a saved world (.npz). By default the scene room.",
            show_default=False,
        ),
    ] = None,
    method: Annotated[
        str | None, typer.Option(help="Detection method, optionally with settings: 'voxmap(accuracy=1)'.", show_default=False)
    ] = None,
    clearance: Annotated[float, typer.Option(help="Also show faces closer than this distance, in amber.")] = 0.0,
    solid: Annotated[bool, typer.Option("--solid", help="Also find a body that lies wholly inside another.")] = False,
    respond: Annotated[str, typer.Option(help="Response of touched bodies: show, push, bounce or deform.")] = "show",
    overlay: Annotated[str, typer.Option(help="Overlay of the method's internals, by its name in the panel.")] = "nothing",
    play: Annotated[bool, typer.Option("--play", help="Start playing the motion.")] = False,
    fit: Annotated[
        bool, typer.Option("--fit", help="Dragged bodies stop before contact and slide along it; their paths can be saved.")
    ] = False,
    separation: Annotated[
        float | None,
        typer.Option(help="With --fit: distance to keep; by default a thousandth of the median body's size.", show_default=False),
    ] = None,
    shadows: Annotated[
        bool, typer.Option(help="Draw shadows; without them a browser without graphics hardware is much faster.")
    ] = True,
    upload_limit: Annotated[
        float, typer.Option(help="Largest mesh file that can be added on the page, in megabytes; 0: none.")
    ] = 20.0,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 for any free port.")] = 8080,
    host: Annotated[str, typer.Option(help="Address to listen on; by default only this machine can connect.")] = "127.0.0.1",
) -> None:
    """Open a page with bodies to drag and rotate; touching faces are red.

    Several browsers can share one world. Ctrl-C closes the page. Exit status: 0 closed, 2 bad input.
    """
    from jostle.viewer.admission import ANYWHERE, as_browsers_write, is_loopback
    from jostle.viewer.open_session import open_session
    from jostle.viewer.serve import check_address, require_viser
    from jostle.viewer.settings import Settings

    require_viser()
    if separation is not None and not fit:
        raise InputError("--separation has no meaning without --fit")
    if not 0.0 <= upload_limit <= MOST_MEGABYTES:
        raise InputError(f"--upload-limit is {upload_limit:g}; it must be from 0 to {MOST_MEGABYTES}")
    check_address(host, port, "--")  # before the scene is made
    console = open_console()
    chosen = method or ("bounding_tree" if fit else DEFAULT_METHOD)
    settings = Settings(method=chosen, clearance=clearance, solid=solid, respond=respond, overlay=overlay)
    session = _session(what or [], settings, fit, separation)
    faces = sum(len(mesh.faces) for mesh in session.subject.start.meshes)
    console.print(
        f"{on_terminal(session.subject.title)}: {len(session.subject.start.names)} bodies, {faces:,} faces", highlight=False
    )

    page = open_session(session, host, port, play=play, prefix="--", shadows=shadows, upload_limit=upload_limit)
    with page as address, until_interrupted(console) as wait:
        console.print(f"open [bold]{on_terminal(address)}[/bold] in a browser; Ctrl-C closes it", highlight=False, soft_wrap=True)
        if not is_loopback(host):
            here = ANYWHERE.get(as_browsers_write(host))
            name = "" if here is None else f" (with this machine's name for {here})"
            console.print(
                on_terminal(f"listening on {host}: whoever has this address{name} can look and drag, unencrypted"),
                style="yellow",
                highlight=False,
                soft_wrap=True,
            )
        wait()


def _session(what: list[str], settings: Settings, fit: bool, separation: float | None) -> Session:
    """Return the session of a command line; check all options before a page is opened."""
    import numpy as np

    from jostle import cast
    from jostle.viewer.session import Session
    from jostle.viewer.settings import overlay_names
    from jostle.viewer.subject import subject_of

    known = overlay_names(settings.made_method())
    if settings.overlay not in known:
        raise InputError(f"--overlay {settings.overlay}: {settings.method} shows {', '.join(known)}")
    subject = subject_of(what)
    gap = None
    if fit:
        for option, default in (("clearance", 0.0), ("solid", False), ("respond", "show")):
            if getattr(settings, option) != default:
                raise InputError(f"--{option} has no meaning with --fit: bodies stop before they touch")
        size = float(np.median([mesh.size for mesh in subject.start.meshes]))
        gap = default_separation(size) if separation is None else cast.as_positive_length(separation, "separation")
    return Session(subject, settings, gap)


@contextmanager
def until_interrupted(console: Console) -> Iterator[Callable[[], None]]:
    """Yield a function that waits for Ctrl-C; Ctrl-C anywhere in the block ends it."""
    try:
        yield _wait
    except KeyboardInterrupt:
        console.print("closed", highlight=False)


def _wait() -> None:
    while True:
        time.sleep(3600.0)

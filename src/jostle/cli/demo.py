"""`jostle demo`: one scene through every method; a table, a page, the viewer."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the page, pictures and numbers.")] = Path("out") / "demo",
    frames: Annotated[int, typer.Option(min=1, help="Number of frames of the motion.")] = 12,
    viewer: Annotated[bool, typer.Option(help="Open the viewer; on a terminal it stays open until Ctrl-C.")] = True,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the viewer; if it is in use, any free port.")] = 8080,
) -> None:
    """Run one scene through every method: the viewer, a table, a page with pictures.

    The viewer and the first row are there at once, without a compiler. The other methods join as they are compiled, with progress.
    Exit status: 0 done, 130 interrupted.
    """
    from jostle.cli.console import open_console
    from jostle.cli.tour.table import WIDTH

    console = open_console(log_width=WIDTH)
    try:
        _demo(console, out, frames, viewer, port)
    except KeyboardInterrupt:
        console.print("[yellow]interrupted: the tour is not complete[/yellow]")
        raise typer.Exit(130) from None


def _demo(console: Console, out: Path, frames: int, viewer: bool, port: int) -> None:
    from jostle.cli.console import print_machine, progress_shown
    from jostle.cli.lab import draw_and_write_page
    from jostle.cli.tour import table
    from jostle.cli.tour.experiment import AS_IT_IS, SCENE
    from jostle.cli.tour.viewer import viewer_opened
    from jostle.lab.files import folder_for, write_files
    from jostle.scenes import make_scene

    folder = folder_for(out, SCENE)
    scene = make_scene(SCENE, frames=frames)
    faces = sum(len(body.mesh.faces) for body in scene.bodies)
    console.print(f"{scene.title}: {len(scene.bodies)} bodies, {faces:,} faces", highlight=False)
    with viewer_opened(console, scene, port) if viewer else nullcontext() as page:
        from jostle.cli.tour.measuring import FIRST, Tour, compile_and_measure

        tour = Tour(frames)
        print_row = partial(table.print_row, console)
        print_machine(console, tour.result.machine)
        table.print_heading(console)
        tour.measure([FIRST], print_row, lambda _: None)
        with progress_shown(console, "compiling (first use only)", transient=True) as show:
            compile_and_measure(tour, print_row, show)
        table.print_legend(console, frames)
        write_files(tour.result, folder)
        draw_and_write_page(tour.lab_run, folder, out, console, tour.motion(AS_IT_IS))
        if page is not None:
            page.finish(console, stay=sys.stdout.isatty())

"""`jostle demo`: one scene through every method; a table, a page, the viewer."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the page, pictures and numbers.")] = Path("out") / "demo",
    frames: Annotated[int, typer.Option(min=1, help="Number of frames of the motion.")] = 12,
    viewer: Annotated[bool, typer.Option(help="Open the viewer at the end; on a terminal it stays open until Ctrl-C.")] = True,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the viewer; if it is in use, any free port.")] = 8080,
) -> None:
    """Run one scene through every method: a table, a page with pictures, the viewer.

    The first run compiles what it needs, with a progress bar. Exit status: 0 done, 130 interrupted.
    """
    from jostle.cli.console import open_console
    from jostle.cli.lab import draw_and_write_page, measure_with_progress
    from jostle.cli.tour.experiment import AS_IT_IS, tour_experiment
    from jostle.cli.tour.table import print_table
    from jostle.cli.tour.viewer import show_viewer
    from jostle.cli.warmup import compile_with_progress
    from jostle.cli.warmups import TOUR_ENTRIES
    from jostle.lab.files import folder_for, write_files
    from jostle.lab.run import LabRun

    terminal = sys.stdout.isatty()
    console = open_console(log_width=120)
    experiment = tour_experiment(frames)
    folder = folder_for(out, experiment.name)
    compile_with_progress(console, entries=TOUR_ENTRIES)
    lab_run = LabRun(experiment, command="jostle demo")
    measure_with_progress(lab_run, console)
    result = lab_run.result
    print_table(console, result)
    if result.interrupted:
        console.print("[yellow]interrupted: the results above are partial; nothing is written[/yellow]")
        raise typer.Exit(130)
    write_files(result, folder)
    draw_and_write_page(lab_run, folder, out, console, experiment.scene(AS_IT_IS, False).record())
    if viewer:
        show_viewer(console, port, stay=terminal)

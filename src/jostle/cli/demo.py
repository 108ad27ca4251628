"""`jostle demo`: a shuttle flies through a horseshoe; per frame how many faces touch and how long it took, and a picture."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from jostle.motion.pose import rotation_about, translation
from jostle.report import Kind
from jostle.world import World


def demo(
    frames: Annotated[int, typer.Option(min=1, help="Number of frames.")] = 24,
    out: Annotated[Path, typer.Option(help="Folder for the picture.")] = Path("out"),
    method: Annotated[str | None, typer.Option(help="Method to use; `jostle methods` lists them.", show_default=False)] = None,
) -> None:
    """Take two built-in concave meshes through a short motion and draw the last frame."""
    from rich.console import Console
    from rich.table import Table

    from jostle.cli.warmup import compile_with_progress
    from jostle.shapes import build

    console = Console()
    world = World(method)
    shuttle = world.add(build.shuttle(), name="shuttle")
    # Stood up, the horseshoe is a gate across the way: open at the bottom, a little too narrow for the wings.
    gate = translation((0.0, 0.0, 0.1)) @ rotation_about((0.0, 0.0, 1.0), np.pi / 2) @ rotation_about((1.0, 0.0, 0.0), np.pi / 2)
    horseshoe = world.add(build.horseshoe(), gate, name="horseshoe")
    sizes = " and ".join(f"{body.name} ({len(body.mesh.faces)} faces)" for body in world)
    console.print(f"{sizes}, {world.method!r}", highlight=False)
    compile_with_progress(console)
    world.detect()  # loads what was compiled, so that the first frame is timed like the others

    table = Table("frame", "face pairs", "crossing", "touching faces", "ms", title="faces that touch, per frame")
    milliseconds = []
    for frame in range(frames):
        shuttle.pose = flight(frame / max(1, frames - 1))
        begin = time.perf_counter()
        report = world.detect()
        milliseconds.append(1e3 * (time.perf_counter() - begin))
        faces = len(report.faces_of(shuttle)) + len(report.faces_of(horseshoe))
        crossing = int((report.contacts.kind == Kind.CROSSING).sum())
        table.add_row(*(str(n) for n in (frame + 1, len(report.contacts), crossing, faces)), f"{milliseconds[-1]:.2f}")
    console.print(table)
    console.print(f"median {median(milliseconds):.2f} ms, worst {max(milliseconds):.2f} ms per frame")

    from jostle.render.picture import save_picture

    out.mkdir(parents=True, exist_ok=True)
    picture = out / "demo.png"
    touching = [report.faces_of(body) for body in world]
    save_picture(picture, [body.mesh for body in world], world.poses, highlight=touching, see_through="marked")
    console.print(f"the last frame, with the {faces} touching faces in red: [bold]{picture}[/bold]")


def flight(share: float) -> NDArray[np.float64]:
    """The shuttle's pose along its way, share 0 … 1: it flies nose first into the gate, rolling, until its wings are stuck."""
    pose: NDArray[np.float64] = translation((0.2 - 1.04 * share, 0.0, 0.0)) @ rotation_about((1.0, 0.0, 0.0), 0.4 * share)
    return pose

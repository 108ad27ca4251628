"""`jostle check A B`: whether two mesh files touch, printed and as exit status."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from jostle.cli.names import on_terminal
from jostle.cli.targets import check_target
from jostle.errors import InputError
from jostle.kernels.progress import compile_progress
from jostle.registry import METHODS
from jostle.report.report import Kind, Report
from jostle.world.world import World

METHOD_HELP = f"One of {', '.join(METHODS)}, optionally with settings: 'voxmap(accuracy=0.01)'; or package.module:Class."
_SENTENCES = {
    Kind.CROSSING: "{a} and {b} cross",
    Kind.OVERLAPPING: "{a} and {b} overlap: their interiors meet although no face passes through another",
    Kind.A_IN_B: "{a} lies inside {b}",
    Kind.B_IN_A: "{b} lies inside {a}",
    Kind.TOUCHING: "{a} and {b} touch without crossing",
    Kind.NEAR: "{a} and {b} are closer than the clearance",
}


def check(
    a: Annotated[Path, typer.Argument(help="First mesh: STL, OBJ, PLY, OFF, RAW, glTF, GLB, 3MF or Collada.", show_default=False)],
    b: Annotated[Path, typer.Argument(help="Second mesh.", show_default=False)],
    pose_b: Annotated[
        str | None, typer.Option(help="Pose of B: 16 numbers, row by row, separated by spaces or commas.", show_default=False)
    ] = None,
    translate: Annotated[
        tuple[float, float, float] | None, typer.Option(help="Move B by X Y Z (after --rotate).", show_default=False)
    ] = None,
    rotate: Annotated[
        tuple[float, float, float, float] | None,
        typer.Option(help="Rotate B about the axis X Y Z through its origin by DEGREES.", show_default=False),
    ] = None,
    clearance: Annotated[float, typer.Option(help="Also report faces closer than this distance.")] = 0.0,
    solid: Annotated[bool, typer.Option("--solid", help="Also report whether one lies inside the other or overlaps it.")] = False,
    method: Annotated[str | None, typer.Option(help=METHOD_HELP, show_default=False)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole report as JSON.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Write a PNG with the touching faces in red.", show_default=False)] = None,
) -> None:
    """Check whether two mesh files touch.

    Exit status: 0 free, 1 they touch, cross, overlap, contain each other or are closer than the clearance, 2 bad input.
    """
    check_target("--picture", picture, (a, b), (".png",))
    world = World(method)
    world.add(str(a), name="A")
    world.add(str(b), pose_from_options(pose_b, translate, rotate), name="B")
    rows = "faces" if world.method.traits.tells_where else "pairs"
    report = world.detect(clearance=clearance, solid=solid, rows=rows)
    if solid:
        for body in world:
            if not body.mesh.is_closed:
                print(f"jostle: note: {body.name} is not closed, so nothing can lie inside it or overlap it", file=sys.stderr)
    if as_json:
        text = json.dumps(_as_json(report, world, (a, b)), indent=1)
        compile_progress.finish()
        print(text)
    else:
        _print(report, on_terminal(a.name), on_terminal(b.name))
    if picture is not None:
        _draw(picture, world, report)
    raise typer.Exit(1 if report else 0)


def pose_from_options(
    numbers: str | None,
    translate: tuple[float, float, float] | None,
    rotate: tuple[float, float, float, float] | None,
) -> NDArray[np.float64] | None:
    """Return the pose given by the options, or None."""
    if numbers is not None:
        if translate is not None or rotate is not None:
            raise InputError("give either --pose-b or --translate and --rotate, not both")
        try:
            values = [float(word) for word in numbers.replace(",", " ").split()]
        except ValueError as error:
            raise InputError(f"--pose-b: {error}") from None
        if len(values) != 16:
            raise InputError(f"--pose-b has {len(values)} numbers; a pose has 16, row by row")
        return np.array(values).reshape(4, 4)
    if translate is None and rotate is None:
        return None
    from jostle.geometry.pose import rotation_about, translation

    turned = np.eye(4) if rotate is None else rotation_about(rotate[:3], np.deg2rad(rotate[3]))
    moved = np.eye(4) if translate is None else translation(translate)
    placed: NDArray[np.float64] = moved @ turned
    return placed


def _print(report: Report, name_a: str, name_b: str) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if len(report.contacts) == 0:
        compile_progress.finish()
    if not report:
        console.print(f"[green]free[/green]: {name_a} and {name_b} do not touch", highlight=False)
        return
    kind = Kind(int(report.pairs.kind[0]))
    counts = [f"{count} {_kind_text(each)}" for each in reversed(Kind) if (count := int((report.contacts.kind == each).sum()))]
    sentence = _SENTENCES[kind].format(a=name_a, b=name_b)
    if len(report.contacts) == 0:  # the method reports body pairs only
        console.print(f"[red]{sentence}[/red] (this method reports no faces)", highlight=False)
        return
    # Rows without faces come from a method that reports points.
    of_faces = bool((np.maximum(report.contacts.face_a, report.contacts.face_b) >= 0).any())
    rows = ("face pair" if of_faces else "point") + ("" if len(report.contacts) == 1 else "s")
    shown = min(len(report.contacts), 10)
    table = Table("face of A", "face of B", "kind", "distance", "point", box=None, header_style="dim")
    contacts = report.contacts.select(np.arange(shown))
    for k in range(shown):
        point = " ".join(f"{x:.6g}" for x in contacts.point[k])
        faces = [str(face) if face >= 0 else "-" for face in (int(contacts.face_a[k]), int(contacts.face_b[k]))]
        distance = "-" if np.isnan(contacts.distance[k]) else f"{contacts.distance[k]:.6g}"
        table.add_row(*faces, _kind_text(contacts.kind[k]), distance, point)
    compile_progress.finish()
    mark = ";" if ":" in sentence else ":"
    console.print(f"[red]{sentence}[/red]{mark} {len(report.contacts)} {rows} ({', '.join(counts)})", highlight=False)
    console.print(table)
    if shown < len(report.contacts):
        console.print(f"… and {len(report.contacts) - shown} more; --json prints all", style="dim", highlight=False)


def _kind_text(kind: int) -> str:
    return Kind(int(kind)).name.lower().replace("_", " ")


def _as_json(report: Report, world: World, paths: tuple[Path, Path]) -> dict[str, object]:
    kinds = report.pairs.kind
    return {
        "free": not report,
        "verdict": Kind(int(kinds[0])).name if len(kinds) else "FREE",
        "method": repr(world.method),
        "complete": report.complete,
        "distance": float(report.pairs.distance[0]) if len(kinds) else None,
        "bodies": {
            body.name: {"file": str(path), "faces": len(body.mesh.faces), "closed": body.mesh.is_closed}
            for body, path in zip(world, paths, strict=True)
        },
        "rows": report.to_dicts(),
    }


def _draw(picture: Path, world: World, report: Report) -> None:
    from jostle.render.picture import save_picture

    save_picture(
        picture,
        [body.mesh for body in world],
        world.poses,
        highlight=[report.faces_of(body, near=False) for body in world],
        near=[report.faces_of(body) for body in world],
    )

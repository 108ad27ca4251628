"""`jostle check A B`: whether two mesh files touch, printed and as exit status."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from jostle.cli.targets import check_target
from jostle.registry import METHODS

METHOD_HELP = f"One of {', '.join(METHODS)}, optionally with settings: 'voxmap(accuracy=0.01)'; or package.module:Class."


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

    Meshes are surfaces: one inside the other is free, unless --solid is given.

    All nodes of a glTF or GLB file are one mesh here; jostle.World.from_scene makes a body of each.

    Exit status: 0 free, 1 they touch, cross, overlap, contain each other or are closer than the clearance, 2 bad input.
    """
    from jostle.cli.check_report import draw, print_json, print_report
    from jostle.cli.names import visible
    from jostle.cli.pose_options import pose_from_options
    from jostle.shapes.load import load_counted
    from jostle.world.world import World

    check_target("--picture", picture, (a, b), (".png",))
    world = World(method)
    for path, name, pose in ((a, "A", None), (b, "B", pose_from_options(pose_b, translate, rotate))):
        mesh, nodes = load_counted(path)
        world.add(mesh, pose, name)
        if nodes > 1:
            print(
                f"jostle: note: the {nodes:,} nodes of {visible(str(path))} are tested as one mesh, and not against each other; "
                "jostle.World.from_scene makes a body of each",
                file=sys.stderr,
            )
    rows = "faces" if world.method.traits.tells_where else "pairs"
    report = world.detect(clearance=clearance, solid=solid, rows=rows)
    if solid:
        for body in world:
            if not body.mesh.is_closed:
                print(f"jostle: note: {body.name} is not closed, so nothing can lie inside it or overlap it", file=sys.stderr)
    if as_json:
        print_json(report, world, (a, b))
    else:
        print_report(report, a.name, b.name)
    if picture is not None:
        draw(picture, world, report)
    raise typer.Exit(1 if report else 0)

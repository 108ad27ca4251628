"""The answer of `jostle check`: as text, as JSON and as a picture."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from jostle.cli.names import on_terminal
from jostle.kernels.progress import compile_progress
from jostle.report.report import Kind, Report
from jostle.world.world import World

_SENTENCES = {
    Kind.CROSSING: "{a} and {b} cross",
    Kind.OVERLAPPING: "{a} and {b} overlap: their interiors meet although no face passes through another",
    Kind.A_IN_B: "{a} lies inside {b}",
    Kind.B_IN_A: "{b} lies inside {a}",
    Kind.TOUCHING: "{a} and {b} touch without crossing",
    Kind.NEAR: "{a} and {b} are closer than the clearance",
}


def print_report(report: Report, file_a: str, file_b: str) -> None:
    """Print whether two files touch, and the first rows."""
    console = Console()
    name_a, name_b = on_terminal(file_a), on_terminal(file_b)
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


def print_json(report: Report, world: World, paths: tuple[Path, Path]) -> None:
    """Print the whole report as JSON."""
    text = json.dumps(_as_json(report, world, paths), indent=1)
    compile_progress.finish()
    print(text)


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


def draw(picture: Path, world: World, report: Report) -> None:
    """Write a picture with the touching faces in red."""
    from jostle.render.picture import save_picture

    save_picture(
        picture,
        [body.mesh for body in world],
        world.poses,
        highlight=[report.faces_of(body, near=False) for body in world],
        near=[report.faces_of(body) for body in world],
    )

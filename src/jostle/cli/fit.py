"""`jostle fit SCENE --move BODY`: can a part be moved along its path?"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jostle.cli.console import open_console, progress_bar
from jostle.cli.names import on_terminal
from jostle.cli.targets import check_target
from jostle.errors import InputError
from jostle.registry import name_of

if TYPE_CHECKING:
    from rich.console import Console

    from jostle.fitting import RecordedPath, Step, Touch, Walk
    from jostle.world.world import World


def fit(
    scene: Annotated[
        str,
        typer.Argument(
            help="A built-in scene (headlight), with parameters if you like; a GLB or glTF file; or a world saved as .npz.",
            show_default=False,
        ),
    ],
    move: Annotated[str, typer.Option(help="The body to move.", show_default=False)],
    path: Annotated[
        str | None,
        typer.Option(
            help="A file of poses (header time,x,y,z,qw,qx,qy,qz), or the name of one of the scene's own paths. "
            "By default the first path that the scene has for the body.",
            show_default=False,
        ),
    ] = None,
    separation: Annotated[
        float | None,
        typer.Option(
            help="Distance to keep from other bodies. By default about a thousandth of the body's size.", show_default=False
        ),
    ] = None,
    slide: Annotated[bool, typer.Option("--slide", help="Slide along contacts instead of stopping at the first one.")] = False,
    without: Annotated[list[str] | None, typer.Option(help="Remove this body first; may be repeated.", show_default=False)] = None,
    method: Annotated[str, typer.Option(help="A method that tests motion.")] = "bounding_tree",
    frames: Annotated[int | None, typer.Option(min=2, help="Follow only the first poses.", show_default=False)] = None,
    faces: Annotated[int | None, typer.Option(help="Approximate face count of the built-in scene.", show_default=False)] = None,
    trace: Annotated[Path | None, typer.Option(help="Write its poses and what it touched (CSV).", show_default=False)] = None,
    write_path_to: Annotated[
        Path | None, typer.Option("--write-path", help="Write the path itself as a file of poses (CSV).", show_default=False)
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Write a PNG of the end position, with the faces in contact in red.", show_default=False)
    ] = None,
) -> None:
    """Move a part along a path; report whether it comes out, or what blocks it.

    Exit status: 0 it reached the end of the path, 1 blocked, 2 bad input, 130 interrupted (the trace is written).
    """
    from jostle.fitting import RecordedPath, write_path, write_trace

    check_target("--trace", trace, (scene, path))
    check_target("--write-path", write_path_to, (scene, path))
    check_target("--picture", picture, (scene, path), (".png",))
    console = open_console()
    world, own_paths = _world(scene, method, faces)
    name, route = _path(world, move, path, own_paths, scene)
    cut = frames is not None and frames < len(route)
    if cut:
        times = None if route.times is None else route.times[:frames]
        route = RecordedPath(route.poses[:frames], times, route.body, route.without, route.title)
    if write_path_to is not None:
        write_path(route, write_path_to)
        console.print(f"path written to {on_terminal(write_path_to)}", highlight=False)
    removed = list(dict.fromkeys([*route.without, *(without or [])]))
    for body in removed:
        if body == move:
            raise InputError(f"--without {body}: this is the body to move")
        world.remove(body)
    gap = default_separation(world[move].mesh.size) if separation is None else separation
    total = sum(len(body.mesh.faces) for body in world)
    console.print(f"{on_terminal(scene)}: {len(world)} bodies, {total:,} faces, {name_of(world.method)}", highlight=False)
    about = f": {on_terminal(route.title)}" if route.title else ""
    console.print(f"{on_terminal(move)} along {on_terminal(name)}, {len(route)} poses{about}", highlight=False)
    missing = f", without {', '.join(map(on_terminal, removed))}" if removed else ""
    console.print(f"separation {gap:g}{f' {world.units}' if world.units else ''}{missing}", highlight=False)

    done, milliseconds = _walk(console, world, move, route, gap, slide)
    if trace is not None:
        write_trace(done, trace)
        console.print(f"trace written to {on_terminal(trace)}", highlight=False)
    if picture is not None:
        _draw(picture, world, done)
        console.print(f"picture written to {on_terminal(picture)}", highlight=False)
    _print(console, done, milliseconds, cut)
    if not done.complete:
        raise typer.Exit(130)
    raise typer.Exit(0 if done.removed else 1)


def _world(scene: str, method: str, faces: int | None) -> tuple[World, dict[str, RecordedPath]]:
    """Return the world of a built-in scene or a file, and the paths that come with it."""
    from jostle.scenes import SCENES, Scene
    from jostle.scenes.named_bodies import at_rest, one_frame, read_bodies

    if faces is not None and scene not in SCENES:
        raise InputError("--faces is for built-in scenes only")
    found = read_bodies([scene if faces is None else f"{scene}(faces={faces})"])
    if isinstance(found, Scene):
        return found.world(method), dict(found.paths)
    saved = at_rest(found, scene)
    meshes = tuple(body.mesh.with_vertices(body.vertices) if body.deformable else body.mesh for body in saved)
    return replace(one_frame(saved, scene), meshes=meshes, vertices={}, static=()).world(method, workers=None), {}


def _path(world: World, move: str, path: str | None, own: dict[str, RecordedPath], scene: str) -> tuple[str, RecordedPath]:
    """Return the name of the path and the path."""
    from jostle.fitting import read_path

    name = world[move].name
    fitting = [known for known, each in own.items() if each.body == name]
    if path is None:
        if not fitting:
            raise InputError(f"{scene} has no path of its own for {name!r}; give one with --path FILE")
        return fitting[0], own[fitting[0]]
    if path in own:
        if own[path].body != name:
            raise InputError(f"--path {path}: this is a path of {own[path].body!r}, not of {name!r}")
        return path, own[path]
    if not Path(path).is_file():
        known = f"; {scene} has {', '.join(fitting)} for {name!r}" if fitting else ""
        raise InputError(f"--path {path}: there is no such file{known}")
    return path, read_path(path)


def default_separation(size: float) -> float:
    """Return a thousandth of a body's diagonal, rounded to one digit."""
    return float(f"{1e-3 * size:.0e}")


def _walk(console: Console, world: World, move: str, route: RecordedPath, gap: float, slide: bool) -> tuple[Walk, list[float]]:
    """Walk the path with a progress bar; return the walk and the time of each step."""
    from jostle.fitting import walk_along, walk_of

    steps: list[Step] = []
    milliseconds: list[float] = []
    complete = True
    with progress_bar(console, max(len(route) - 1, 1)) as show:
        try:
            begin = time.perf_counter()
            for step in walk_along(world, move, route, separation=gap, slide=slide):
                milliseconds.append(1e3 * (time.perf_counter() - begin))
                steps.append(step)
                show(step.number, f"pose {step.number} of {len(route) - 1}")
                begin = time.perf_counter()
        except KeyboardInterrupt:
            complete = False
    return walk_of(world[move], route, steps, gap, slide, complete), milliseconds


def _print(console: Console, done: Walk, milliseconds: list[float], cut: bool) -> None:
    import numpy as np

    end, last = done.end, len(done.path) - 1
    if len(milliseconds) > 2:  # without the start, and the first step, which loads the code
        worst = 2 + int(np.argmax(milliseconds[2:]))
        times = (
            f"median {np.median(milliseconds[2:]):.2f} ms, worst {milliseconds[worst]:.2f} ms at pose {done.steps[worst].number}"
        )
        console.print(f"{len(milliseconds) - 1} steps, {times} (without the first)", highlight=False, style="dim")
    if not done.complete:
        console.print(f"[yellow]interrupted[/yellow] at pose {end.number} of {last}", highlight=False)
        return
    body = on_terminal(done.body)
    touched = ", ".join(map(on_terminal, dict.fromkeys(touch.body for touch in done.touches)))
    if done.removed:
        verdict = "[green]free so far[/green]" if cut else "[green]can be removed[/green]"
        reached = f"pose {last}, the last one requested" if cut else "the end of its path"
        console.print(f"{verdict}: {body} reached {reached}{f', along {touched}' if touched else ''}", highlight=False)
        return
    touch = done.blocked_by
    where = f"at pose {end.number} of {last} (fraction {end.fraction:.4f}, time {end.time:.6g})"
    console.print(f"[red]blocked[/red] {where}{f' by {on_terminal(touch.body)}' if touch is not None else ''}", highlight=False)
    if touch is not None:
        _print_touch(console, done.body, touch)


def _print_touch(console: Console, body: str, touch: Touch) -> None:
    import numpy as np
    from rich.table import Table

    from jostle.fitting.trace import feature_text

    table = Table("", "face", "feature", "point", "normal", "distance", box=None, header_style="dim")
    point, normal = (" ".join(f"{value + 0.0:.6g}" for value in np.round(vector, 9)) for vector in (touch.point, touch.normal))
    table.add_row(on_terminal(body), str(touch.face), feature_text(touch.feature), point, normal, f"{touch.distance:.4g}")
    table.add_row(on_terminal(touch.body), str(touch.other_face), feature_text(touch.other_feature))
    console.print(table)


def _draw(picture: Path, world: World, done: Walk) -> None:
    import numpy as np

    from jostle.render.camera import Camera
    from jostle.render.picture import save_picture

    world[done.body].teleport(done.end.pose)
    vertices = np.vstack([body.world_vertices for body in world])
    # Seen against the direction of motion, from the side and above.
    out = done.path.poses[-1][:3, 3] - done.path.poses[0][:3, 3]
    up = np.array([0.0, 0.0, 1.0])
    look = -out / max(float(np.linalg.norm(out)), 1e-30)
    look = look - 0.4 * np.cross(up, look) - 0.4 * up if abs(look[2]) < 0.9 else None
    camera = Camera.looking_at(np.stack([vertices.min(axis=0), vertices.max(axis=0)]), look)
    touch = done.blocked_by
    marked = {} if touch is None else {done.body: [touch.face], touch.body: [touch.other_face]}
    save_picture(
        picture,
        [body.mesh for body in world],
        world.poses,
        camera=camera,
        highlight=[np.array(marked.get(body.name, []), np.int64) for body in world],
        edges="outline",
        see_through="marked",
    )

"""`jostle shot SCENE --out x.png`: draw bodies without a display; with --gif an animation."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jostle.cli.names import on_terminal
from jostle.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from jostle.interface.overlay import Overlay
    from jostle.motion.record import Motion
    from jostle.pictures import Look
    from jostle.report.report import Report
    from jostle.world.world import World

Vector = tuple[float, float, float]

NO_OVERLAY, DEFAULT_OVERLAY = "none", "default"
FRAMES_OF_A_GIF = 60
MOST_MADE = 100_000  # frames of a scene, for a picture of a late one
MOST_MEMORY = 1 << 30  # bytes of all frames of a GIF, which share a palette and so are held until the last is drawn


def shot(
    what: Annotated[
        list[str],
        typer.Argument(
            help="A built-in scene, optionally with parameters: 'spheres(count=40)'; a recorded motion or a saved world (.npz); "
            "a GLB or glTF file; or mesh files, as for jostle check.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Option(help="The picture: .png, or .gif for an animation.", show_default=False)],
    gif: Annotated[
        bool, typer.Option("--gif", help="Write an animation of all frames, as does an --out that ends in .gif.")
    ] = False,
    frame: Annotated[
        int | None,
        typer.Option(
            help="Frame number, from 0; negative ones count from the end. By default the first frame with a contact, or the last. "
            "For a GIF, the frame it starts at, by default 0.",
            show_default=False,
        ),
    ] = None,
    frames: Annotated[
        int | None, typer.Option(min=1, help=f"Most frames of a GIF ({FRAMES_OF_A_GIF}).", show_default=False)
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="GIF: draw only every N-th frame.")] = 1,
    fps: Annotated[float, typer.Option(help="GIF: frames per second, up to 50.")] = 20.0,
    method: Annotated[
        str | None, typer.Option(help="Detection method, optionally with settings: 'voxmap(accuracy=1)'.", show_default=False)
    ] = None,
    overlay: Annotated[
        str,
        typer.Option(help="Overlay of the method's internals, as in its README ('cells', 'level 2', …), or default, or none."),
    ] = NO_OVERLAY,
    fill: Annotated[
        float | None, typer.Option(help="Opacity of the overlay's boxes, spheres and discs, 0 … 1.", show_default=False)
    ] = None,
    contacts: Annotated[bool, typer.Option("--contacts", help="Draw contact points and normals.")] = False,
    clearance: Annotated[float, typer.Option(help="Draw faces closer than this distance in amber.")] = 0.0,
    solid: Annotated[bool, typer.Option("--solid", help="Also find a body that lies wholly inside another.")] = False,
    translate: Annotated[Vector | None, typer.Option(help="Move the last of the mesh files by X Y Z.", show_default=False)] = None,
    rotate: Annotated[
        tuple[float, float, float, float] | None,
        typer.Option(help="Rotate it first, about the axis X Y Z through its origin by DEGREES.", show_default=False),
    ] = None,
    size: Annotated[str, typer.Option(help="WIDTHxHEIGHT in pixels.")] = "960x720",
    towards: Annotated[
        Vector | None,
        typer.Option("--from", help="X Y Z: the side it is seen from; z is up.", show_default="from the front, right and above"),
    ] = None,
    zoom: Annotated[float, typer.Option(help="Magnification; above 1 the picture centres on contacts.")] = 1.0,
    at: Annotated[Vector | None, typer.Option(help="X Y Z: the point at the centre of the picture.", show_default=False)] = None,
    see_through: Annotated[str, typer.Option(help="nothing, marked (red faces show through) or bodies.")] = "marked",
    edges: Annotated[str, typer.Option(help="mesh, outline or none.")] = "mesh",
    ground: Annotated[bool, typer.Option(help="Draw a soft shadow beneath the bodies.")] = True,
    caption: Annotated[
        str, typer.Option(help="A line at the bottom; 'auto' describes the picture and counts touching pairs.", show_default=False)
    ] = "",
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed of the scene.", show_default=False)] = None,
) -> None:
    """Draw bodies: touching faces in red, near ones in amber, and an overlay of how a method works.

    For a method that reports no faces, contact points are red; if it reports no points either, touching bodies are tinted.
    The file is written whole or not at all. Exit status: 0 done, 2 bad input, 130 interrupted.
    """
    from rich.console import Console

    from jostle.cli.check import pose_written
    from jostle.pictures import Look
    from jostle.registry import method_without_options

    moving = _is_gif(out, gif)
    wide, high = _size(size)
    look = Look(
        width=wide,
        height=high,
        towards=None if towards is None else _opposite(towards),
        zoom=zoom,
        middle=at,
        see_through=see_through,
        edges=edges,
        fill=fill,
        contacts=contacts,
        ground=ground,
        samples=2 if moving else 3,
    )
    console = Console(width=None if sys.stdout.isatty() else 160)
    chosen = method_without_options(method, "--method", "a picture is of one instant")
    motion, searched = _motion(what, frame, frames, every, moving, seed, pose_written(None, translate, rotate))
    stage = Stage(motion, motion.world(chosen), {"clearance": clearance, "solid": solid}, overlay, caption)
    if moving:
        _write_gif(console, stage, look, out, _numbers(len(motion), frame, frames, every), _seconds(fps))
    else:
        _write_png(console, stage, look, out, frame, searched)


@dataclass
class Stage:
    """A motion, the world that replays it, the options of each query, and what is drawn."""

    motion: Motion
    world: World
    asked: dict[str, Any]
    what: str
    caption: str

    def go_to(self, frame: int) -> tuple[Report, Overlay | None]:
        """Move the world to a frame; return the report and the overlay."""
        self.motion.apply(self.world, frame)
        # Before the query: an overlay of a step is of the one since the last query.
        overlay = None if self.what == NO_OVERLAY else self.world.overlay("" if self.what == DEFAULT_OVERLAY else self.what)
        return self.answer(), overlay

    def answer(self) -> Report:
        """Return the report of this instant."""
        return self.world.detect(**self.asked, rows="faces" if self.world.method.traits.tells_where else "pairs")

    def line(self, frame: int, report: Report, overlay: Overlay | None) -> str:
        """Return the caption of a frame."""
        from jostle.pictures import summary_of
        from jostle.registry import name_of

        if self.caption != "auto":
            return self.caption
        shown = [] if overlay is None else [overlay.title]
        number = [f"frame {frame}"] if len(self.motion) > 1 else []
        return summary_of(self.world, report, [": ".join([name_of(self.world.method), *shown]), *number])


def _write_png(console: Console, stage: Stage, look: Look, out: Path, frame: int | None, searched: bool) -> None:
    from jostle.pictures import picture_of, summary_of
    from jostle.render.panels import MOST
    from jostle.render.png import write_png
    from jostle.report.report import Kind

    with _bar(console, len(stage.motion)) as show:
        number = len(stage.motion) - 1 if frame is None else range(len(stage.motion))[frame]
        if searched:
            for number in range(len(stage.motion)):
                show(number, "looking for a contact")
                stage.motion.apply(stage.world, number)
                if (stage.answer().pairs.kind > Kind.NEAR).any():
                    break
        show(number, "drawing")
        if number > 0:
            stage.motion.apply(stage.world, number - 1)
            stage.answer()
        report, overlay = stage.go_to(number)
        write_png(out, picture_of(stage.world, report, look, overlay, caption=stage.line(number, report, overlay)))
    names = [f"frame {number} of {len(stage.motion)}"] if len(stage.motion) > 1 else []
    console.print(f"{summary_of(stage.world, report, names)}: {on_terminal(out)}", highlight=False, soft_wrap=True)
    if overlay is not None:
        console.print(f"shown: {overlay.title}", highlight=False)
        if len(overlay.images) > MOST:
            console.print(f"shown beside it: the first {MOST} of {len(overlay.images)} images", highlight=False)


def _write_gif(console: Console, stage: Stage, look: Look, out: Path, numbers: range, seconds: float) -> None:
    import numpy as np

    from jostle.pictures import camera_of, contact_points, picture_of, placed_points
    from jostle.render.gif import write_gif

    if len(numbers) * look.width * look.height * 3 > MOST_MEMORY:
        raise InputError(
            f"--gif: {len(numbers)} frames of {look.width}x{look.height} are too much; give a smaller --size or --frames"
        )
    with _bar(console, 3 * len(numbers)) as show:
        # One camera for all frames: it covers everywhere the bodies go.
        places, contacts, touching = [np.empty((0, 3))], [np.empty((0, 3))], 0
        for done, number in enumerate(numbers):
            show(done, f"looking at frame {number}")
            stage.motion.apply(stage.world, number)
            report = stage.answer()
            touching += bool(len(report.pairs))
            points = placed_points(stage.world)
            places.append(points if len(points) * len(numbers) < 2_000_000 else np.stack([points.min(axis=0), points.max(axis=0)]))
            contacts.append(contact_points(report))
        camera = camera_of(np.concatenate(places), look, np.concatenate(contacts))
        stage.motion.apply(stage.world, numbers[0])  # back to the start, without a step from the end to it
        stage.answer()
        pictures = []
        for done, number in enumerate(numbers):
            show(len(numbers) + done, f"drawing frame {number}")
            report, overlay = stage.go_to(number)
            pictures.append(picture_of(stage.world, report, look, overlay, camera, caption=stage.line(number, report, overlay)))
        widest = max(picture.shape[1] for picture in pictures)  # side panels come and go
        pictures = [np.pad(each, ((0, 0), (0, widest - each.shape[1]), (0, 0)), constant_values=252) for each in pictures]
        write_gif(out, pictures, seconds, progress=lambda done: show(2 * len(numbers) + done, "writing"))
    console.print(f"{len(numbers)} frames, pairs in {touching} of them: {on_terminal(out)}", highlight=False, soft_wrap=True)


@contextmanager
def _bar(console: Console, total: int) -> Iterator[Any]:
    """Yield a function that shows progress, on a terminal only."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(30), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("preparing (a first run compiles)", total=total)
        yield lambda done, text: bar.update(task, completed=done, description=text)


def _is_gif(out: Path, gif: bool) -> bool:
    """Return whether the picture is animated; report a bad name or missing Pillow before the work."""
    from jostle.render.png import require_pillow

    suffix = out.suffix.lower()
    if suffix not in (".png", ".gif"):
        raise InputError(f"--out {out}: the name must end in .png, or in .gif for a moving picture")
    if gif and suffix != ".gif":
        raise InputError(f"--out {out}: with --gif the name must end in .gif")
    if out.is_dir() or not out.parent.is_dir():
        raise InputError(f"--out {out}: {'this is a folder; name a file' if out.is_dir() else f'there is no folder {out.parent}'}")
    require_pillow()
    return suffix == ".gif"


def _size(text: str) -> tuple[int, int]:
    wide, _, high = text.lower().partition("x")
    if not (wide.isdecimal() and high.isdecimal() and 16 <= int(wide) <= 8192 and 16 <= int(high) <= 8192):
        raise InputError(f"--size {text}: write WIDTHxHEIGHT in pixels, 16 to 8192 each, as in 960x720")
    return int(wide), int(high)


def _opposite(place: Vector) -> Vector:
    if not any(place):
        raise InputError("--from 0 0 0: this is no direction; give the side from which it is seen, as in --from 1 -1 1")
    return -place[0], -place[1], -place[2]


def _seconds(fps: float) -> float:
    if not 0.01 <= fps <= 50.0:
        raise InputError(f"--fps {fps:g}: a GIF has 0.01 to 50 frames per second")
    return 1.0 / fps


def _motion(
    what: list[str],
    frame: int | None,
    frames: int | None,
    every: int,
    moving: bool,
    seed: int | None,
    pose: NDArray[np.float64] | None,
) -> tuple[Motion, bool]:
    """Return the motion to draw from, and whether to search it for a frame with a contact."""
    from jostle.motion.record import Motion
    from jostle.scenes.named_bodies import SEVERAL_BODIES, drifting, one_frame, read_bodies
    from jostle.world.world import World

    found = read_bodies(what, seed, one_each=True)
    of_files = isinstance(found, Motion | World)
    if pose is not None:
        if not isinstance(found, World) or Path(what[-1]).suffix.lower() in (".npz", *SEVERAL_BODIES):
            raise InputError("--translate and --rotate move the last of mesh files; scenes and motions define their own poses")
        list(found)[-1].pose = pose
    if isinstance(found, World):
        title = ", ".join(Path(text).name for text in what)
        found = drifting(found, what[0], seed) if moving and len(what) == 1 else one_frame(found, title)
    if isinstance(found, Motion):
        motion = found
    else:
        last = (0 if frame is None else frame) + 1 + ((frames or FRAMES_OF_A_GIF) - 1) * every
        wanted = None if frame is not None and frame < 0 else last if moving else None if frame is None else frame + 1
        if wanted is not None and wanted > MOST_MADE:
            raise InputError(
                f"this takes {wanted:,} frames of {what[0]}, at most {MOST_MADE:,} are made; lower --frame, --frames or --every"
            )
        motion = found.record(wanted)
    if seed is not None and of_files and not moving:
        raise InputError("--seed is for scenes that are made at random")
    if moving and len(motion) == 1:
        raise InputError(
            f"--gif: {motion.title or what[0]} has one frame only; record a motion (jostle sim --record), or draw a .png"
        )
    if frame is not None and not -len(motion) <= frame < len(motion):
        raise InputError(f"--frame {frame}: there are frames 0 … {len(motion) - 1}")
    return motion, frame is None and len(motion) > 1


def _numbers(count: int, frame: int | None, frames: int | None, every: int) -> range:
    """Return the frame numbers of a GIF."""
    first = 0 if frame is None else range(count)[frame]
    return range(first, count, every)[: frames or FRAMES_OF_A_GIF]

"""`jostle shot SCENE --out x.png`: draw bodies without a display, or animate them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jostle.cli.console import open_console, progress_bar
from jostle.cli.names import on_terminal
from jostle.cli.targets import check_target
from jostle.errors import InputError
from jostle.registry import method_without_options, name_of

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
GIF_FRAMES = 60
MOST_FRAMES = 100_000  # computed of a scene
MOST_MEMORY = 1 << 30  # bytes of all frames of a GIF: they share a palette, so all are kept until the last is drawn


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
    frames: Annotated[int | None, typer.Option(min=1, help=f"Most frames of a GIF ({GIF_FRAMES}).", show_default=False)] = None,
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
    """Draw bodies: touching faces red, near ones amber, and a method's overlay.

    For a method that reports no faces, contact points are red; if it reports no points either, touching bodies are tinted.
    The file is written whole or not at all. Exit status: 0 done, 2 bad input, 130 interrupted.
    """
    from jostle.cli.pose_options import pose_from_options
    from jostle.pictures import Look

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
    console = open_console()
    chosen = method_without_options(method, "--method", "a picture is of one instant")
    motion, searched = _motion(what, frame, frames, every, moving, seed, pose_from_options(None, translate, rotate))
    replay = Replay(motion, motion.world(chosen), {"clearance": clearance, "solid": solid}, overlay, caption)
    if moving:
        _write_gif(console, replay, look, out, _numbers(len(motion), frame, frames, every), _seconds(fps))
    else:
        _write_png(console, replay, look, out, frame, searched)


@dataclass
class Replay:
    """A motion, the world that replays it, the query options, and what to draw."""

    motion: Motion
    world: World
    options: dict[str, Any]
    overlay: str
    caption: str

    def go_to(self, frame: int) -> tuple[Report, Overlay | None]:
        """Move the world to a frame; return the report and the overlay."""
        self.motion.apply(self.world, frame)
        # Before the query: an overlay shows the step since the last query.
        key = "" if self.overlay == DEFAULT_OVERLAY else self.overlay
        overlay = None if key == NO_OVERLAY else self.world.overlay(key)
        return self.detect(), overlay

    def detect(self) -> Report:
        """Return the report of this frame."""
        return self.world.detect(**self.options, rows="faces" if self.world.method.traits.tells_where else "pairs")

    def caption_of(self, frame: int, report: Report, overlay: Overlay | None) -> str:
        """Return the caption of a frame."""
        from jostle.pictures import summary_of

        if self.caption != "auto":
            return self.caption
        shown = [] if overlay is None else [overlay.title]
        number = [f"frame {frame}"] if len(self.motion) > 1 else []
        return summary_of(self.world, report, [": ".join([name_of(self.world.method), *shown]), *number])


def _write_png(console: Console, replay: Replay, look: Look, out: Path, frame: int | None, searched: bool) -> None:
    from jostle.pictures import picture_of, summary_of
    from jostle.render.panels import MOST
    from jostle.render.png import write_png
    from jostle.report.report import Kind

    with progress_bar(console, len(replay.motion)) as show:
        number = len(replay.motion) - 1 if frame is None else range(len(replay.motion))[frame]
        if searched:
            for number in range(len(replay.motion)):
                show(number, "looking for a contact")
                replay.motion.apply(replay.world, number)
                if (replay.detect().pairs.kind > Kind.NEAR).any():
                    break
        show(number, "drawing")
        if number > 0:
            replay.motion.apply(replay.world, number - 1)
            replay.detect()
        report, overlay = replay.go_to(number)
        write_png(out, picture_of(replay.world, report, look, overlay, caption=replay.caption_of(number, report, overlay)))
    names = [f"frame {number} of {len(replay.motion)}"] if len(replay.motion) > 1 else []
    console.print(f"{summary_of(replay.world, report, names)}: {on_terminal(out)}", highlight=False, soft_wrap=True)
    if overlay is not None:
        console.print(f"shown: {overlay.title}", highlight=False)
        if len(overlay.images) > MOST:
            console.print(f"shown beside it: the first {MOST} of {len(overlay.images)} images", highlight=False)


def _write_gif(console: Console, replay: Replay, look: Look, out: Path, numbers: range, seconds: float) -> None:
    import numpy as np

    from jostle.pictures import camera_of, contact_points, picture_of, placed_points
    from jostle.render.gif import write_gif

    if len(numbers) * look.width * look.height * 3 > MOST_MEMORY:
        raise InputError(
            f"--gif: {len(numbers)} frames of {look.width}x{look.height} are too much; give a smaller --size or --frames"
        )
    with progress_bar(console, 3 * len(numbers)) as show:
        # One camera for all frames: it covers everywhere the bodies go.
        places, contacts, touching = [np.empty((0, 3))], [np.empty((0, 3))], 0
        for done, number in enumerate(numbers):
            show(done, f"looking at frame {number}")
            replay.motion.apply(replay.world, number)
            report = replay.detect()
            touching += bool(len(report.pairs))
            points = placed_points(replay.world)
            places.append(points if len(points) * len(numbers) < 2_000_000 else np.stack([points.min(axis=0), points.max(axis=0)]))
            contacts.append(contact_points(report))
        camera = camera_of(np.concatenate(places), look, np.concatenate(contacts))
        replay.motion.apply(replay.world, numbers[0])  # back to the start, without a step from the end to it
        replay.detect()
        pictures = []
        for done, number in enumerate(numbers):
            show(len(numbers) + done, f"drawing frame {number}")
            report, overlay = replay.go_to(number)
            pictures.append(
                picture_of(replay.world, report, look, overlay, camera, caption=replay.caption_of(number, report, overlay))
            )
        widest = max(picture.shape[1] for picture in pictures)  # side panels come and go
        pictures = [np.pad(each, ((0, 0), (0, widest - each.shape[1]), (0, 0)), constant_values=252) for each in pictures]
        write_gif(out, pictures, seconds, progress=lambda done: show(2 * len(numbers) + done, "writing"))
    console.print(f"{len(numbers)} frames, pairs in {touching} of them: {on_terminal(out)}", highlight=False, soft_wrap=True)


def _is_gif(out: Path, gif: bool) -> bool:
    """Return whether to animate; raise for a bad name or missing Pillow."""
    from jostle.render.png import require_pillow

    suffix = out.suffix.lower()
    if suffix not in (".png", ".gif"):
        raise InputError(f"--out {out}: the name must end in .png, or in .gif for an animation")
    if gif and suffix != ".gif":
        raise InputError(f"--out {out}: with --gif the name must end in .gif")
    check_target("--out", out)
    require_pillow()
    return suffix == ".gif"


def _size(text: str) -> tuple[int, int]:
    wide, _, high = text.lower().partition("x")
    if not (wide.isdecimal() and high.isdecimal() and 16 <= int(wide) <= 8192 and 16 <= int(high) <= 8192):
        raise InputError(f"--size {text}: write WIDTHxHEIGHT in pixels, 16 to 8192 each, as in 960x720")
    return int(wide), int(high)


def _opposite(place: Vector) -> Vector:
    if not any(place):
        raise InputError("--from 0 0 0: this is no direction; give the side it is seen from, as in --from 1 -1 1")
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
    """Return the motion to draw, and whether to search it for a first contact."""
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
        last = (0 if frame is None else frame) + 1 + ((frames or GIF_FRAMES) - 1) * every
        wanted = None if frame is not None and frame < 0 else last if moving else None if frame is None else frame + 1
        if wanted is not None and wanted > MOST_FRAMES:
            raise InputError(
                f"this needs {wanted:,} frames of {what[0]}; the limit is {MOST_FRAMES:,}, so lower --frame, --frames or --every"
            )
        motion = found.record(wanted)
    if seed is not None and of_files and not moving:
        raise InputError("--seed is for random scenes")
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
    return range(first, count, every)[: frames or GIF_FRAMES]

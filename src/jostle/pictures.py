"""Pictures of a world: touching faces red, near ones amber, and an overlay.

Faces that a method reports are red; if it reports only points, these are; if it reports only bodies, these are tinted. So a picture
shows no more than the method found. `jostle.render` draws it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from jostle import cast
from jostle._types import Bytes, Floats
from jostle.errors import InputError
from jostle.interface.overlay import Overlay
from jostle.render.camera import Camera
from jostle.render.panels import set_beside
from jostle.render.picture import draw
from jostle.render.shade import PALETTE, TOUCHING
from jostle.render.sketch import Sketch, dots, lines
from jostle.report.report import Kind, Report
from jostle.tables import counted
from jostle.world.world import World

CONTACT = (186, 12, 36)
TINT = 0.6  # of red, for a touching body without reported faces or points
MOST_VERTICES = 2_000_000  # framed one by one; beyond, the corners of their boxes


@dataclass(frozen=True)
class Look:
    """The appearance of a picture.

    Parameters
    ----------
    width, height : int
        Pixels.
    towards : (3,), optional
        Viewing direction; by default ahead, to the left and down.
    zoom : float
        Magnification; above 1 the picture centres on contacts, unless `middle` is given.
    middle : (3,), optional
        World point at the centre of the picture.
    see_through : {"nothing", "marked", "bodies"}
        What shows through bodies: nothing, red faces, or everything.
    edges : {"mesh", "outline", "none"}
        Lines drawn on bodies.
    fill : float, optional
        Opacity of the overlay's boxes, spheres and discs, 0 … 1.
    contacts : bool
        Draw contact points and normals, also where faces are reported.
    ground : bool
        Draw a soft shadow beneath the bodies.
    samples : int
        Per pixel, in each direction.
    """

    width: int = 960
    height: int = 720
    towards: tuple[float, float, float] | None = None
    zoom: float = 1.0
    middle: tuple[float, float, float] | None = None
    see_through: str = "marked"
    edges: str = "mesh"
    fill: float | None = None
    contacts: bool = False
    ground: bool = True
    samples: int = 3

    def __post_init__(self) -> None:
        if not 0.01 <= self.zoom <= 1000.0:
            raise InputError(f"zoom is {self.zoom}; it must be 0.01 … 1000")
        if self.fill is not None and not 0.0 <= self.fill <= 1.0:
            raise InputError(f"fill is {self.fill}; it must be 0 (lines only) … 1 (opaque)")
        if self.middle is not None:
            cast.as_points([self.middle], "picture", "middle")


def picture_of(
    world: World,
    report: Report,
    look: Look | None = None,
    overlay: Overlay | None = None,
    camera: Camera | None = None,
    title: str = "",
    caption: str = "",
) -> Bytes:
    """Return a picture (h, w, 3) uint8 of a world as it is now, marked after a report.

    By default the camera shows all bodies (`camera_of`). Images of the overlay are placed beside the picture, which makes it wider.
    """
    look = Look() if look is None else look
    bodies = world.bodies
    if camera is None:
        camera = camera_of(placed_points(world), look, contact_points(report), None if overlay is None else overlay_points(overlay))
    marked = [report.faces_of(body) for body in bodies]
    if overlay is not None and overlay.faces:
        marked = [
            np.union1d(some, overlay.faces.get(body.id, [])).astype(np.int64) for some, body in zip(marked, bodies, strict=True)
        ]
    pixels = draw(
        [body.mesh.with_vertices(body.vertices) if body.deformable else body.mesh for body in bodies],
        world.poses,
        [report.faces_of(body, near=False) for body in bodies],
        marked,
        camera,
        edges=look.edges,
        see_through=look.see_through,
        colours=_colours(world, report),
        title=title,
        caption=caption,
        samples=look.samples,
        overlay=overlay,
        fill=look.fill,
        marks=_marks(report, look.contacts),
        ground=look.ground,
    )
    return pixels if overlay is None else set_beside(pixels, overlay.images)


def camera_of(points: Floats, look: Look, contacts: Floats, more: Floats | None = None) -> Camera:
    """Return the camera that shows all points, and those of `more` not far beyond."""
    if len(points) == 0:
        points = np.zeros((1, 3))
    if more is not None and len(more):
        middle, half = 0.5 * (points.min(axis=0) + points.max(axis=0)), 0.5 * np.ptp(points, axis=0)
        points = np.concatenate([points, np.clip(more, middle - 1.4 * half, middle + 1.4 * half)])
    camera = Camera.framing(points, look.towards, width=look.width, height=look.height)
    target = look.middle
    if target is None and look.zoom > 1.0 and len(contacts):
        target = tuple(0.5 * (contacts.min(axis=0) + contacts.max(axis=0)))
    if target is not None:
        aside = camera.view(np.array(target, np.float64)[None])[0]
        camera = dataclasses.replace(camera, eye=camera.eye + aside[0] * camera.axes[0] + aside[1] * camera.axes[1])
    return dataclasses.replace(camera, scale=camera.scale * look.zoom)


def placed_points(world: World) -> Floats:
    """Return the vertices of all bodies in the world, or box corners if too many."""
    parts = [np.empty((0, 3))]
    many = sum(len(body.mesh.vertices) for body in world) > MOST_VERTICES
    for body in world:
        points = body.world_vertices
        parts.append(np.stack([points.min(axis=0), points.max(axis=0)]) if many and len(points) else points)
    return np.concatenate(parts)


def contact_points(report: Report) -> Floats:
    """Return the points (k, 3) of all rows that have one."""
    if len(report.contacts) == 0:
        return np.empty((0, 3))
    points: Floats = report.contacts.point
    return points[np.isfinite(points).all(axis=1)]


def overlay_points(overlay: Overlay) -> Floats:
    """Return points that bound an overlay."""
    balls = [overlay.spheres, overlay.discs[:, [0, 1, 2, 6]]]
    ends = [each[:, :3] + each[:, 3:] * axis for each in balls for axis in np.concatenate([np.eye(3), -np.eye(3)])]
    return np.concatenate([overlay.boxes.reshape(-1, 3), overlay.segments.reshape(-1, 3), overlay.points, *ends])


def _colours(world: World, report: Report) -> ArrayLike:
    """Return colours (n, 3) of bodies; touching ones without contact rows are tinted."""
    colours = np.array([PALETTE[k % len(PALETTE)] for k in range(len(world))], np.float64).reshape(-1, 3)
    with_rows = set(zip(report.contacts.body_a.tolist(), report.contacts.body_b.tolist(), strict=True))
    row_of = {body.id: row for row, body in enumerate(world)}
    for a, b, kind in zip(report.pairs.body_a.tolist(), report.pairs.body_b.tolist(), report.pairs.kind.tolist(), strict=True):
        if kind > Kind.NEAR and (a, b) not in with_rows:
            for number in (a, b):
                colours[row_of[number]] = (1.0 - TINT) * colours[row_of[number]] + TINT * np.array(TOUCHING)
    return colours


def _marks(report: Report, with_normals: bool) -> Callable[[Camera], Sketch] | None:
    """Return a function that draws points without faces, or all with normals."""
    contacts = report.contacts
    if len(contacts) == 0:
        return None
    rows = contacts.kind > Kind.NEAR
    if not with_normals:
        rows &= np.maximum(contacts.face_a, contacts.face_b) < 0
    chosen = np.flatnonzero(rows)
    if len(chosen) == 0:
        return None
    some = contacts.select(chosen)
    points, normals = some.point, some.normal
    known = np.isfinite(points).all(axis=1)
    arrow = known & np.isfinite(normals).all(axis=1)

    def drawn(camera: Camera) -> Sketch:
        parts = [dots(points[known], camera, CONTACT, radius=3.0, faint=3.0)]
        if with_normals:
            # 40 of 720 pixel rows long, at any distance.
            away = camera.view(points[arrow])[:, 2:] if camera.perspective else 1.0
            length = 40.0 * camera.height / 720.0 / camera.scale * away
            parts.append(
                lines(np.stack([points[arrow], points[arrow] + length * normals[arrow]], axis=1), camera, CONTACT, faint=2.0)
            )
        return Sketch.joined(parts)

    return drawn


def summary_of(world: World, report: Report, names: Sequence[str] = ()) -> str:
    """Return a line of text: names, number of bodies, touching and near pairs."""
    touching = int((report.pairs.kind > Kind.NEAR).sum())
    near = len(report.pairs) - touching
    pairs = "no pair touches" if touching == 0 else "1 pair touches" if touching == 1 else f"{touching} pairs touch"
    return ", ".join([*names, counted(len(world), "body", "bodies"), pairs, *([f"{near} near"] if near else [])])

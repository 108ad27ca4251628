"""Pictures of a world: touching faces in red, near ones in amber, and the method's overlay.

Where a method tells faces, those are red; where it tells points, the points are; where it only tells which bodies meet, these
are tinted. So a picture says no more than the method does. The drawing itself is in `jostle.render`.
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
from jostle.shapes.mesh import Mesh
from jostle.world.world import World

CONTACT = (186, 12, 36)
TINT = 0.6  # of red, for a body of which is only known that it touches
MOST_VERTICES = 2_000_000  # framed one by one; of more of them the corners of their boxes


@dataclass(frozen=True)
class Look:
    """How a picture looks.

    Parameters
    ----------
    width, height : int
        Pixels.
    towards : (3,), optional
        Where the camera looks; by default ahead, to the left and down.
    zoom : float
        How many times larger than all of it; above 1 the contacts come to the middle, unless `middle` is given.
    middle : (3,), optional
        A point of the world for the middle of the picture.
    see_through : {"nothing", "marked", "bodies"}
        Whether bodies hide what is behind them, all but the red faces, or hide nothing.
    edges : {"mesh", "outline", "none"}
        Which lines are drawn on bodies.
    fill : float, optional
        How much boxes, spheres and discs of the overlay cover, 0 … 1.
    contacts : bool
        Whether contact points and normals are drawn where faces are told.
    ground : bool
        Whether there is a soft shadow beneath the bodies.
    samples : int
        Per pixel, each way.
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
            raise InputError(f"fill is {self.fill}; it must be 0 (lines only) … 1 (nothing shines through)")
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
    """Return (h, w, 3) uint8: the bodies of a world as they are now, with what a report says of them.

    By default the camera shows all bodies (`camera_of`). Images of the overlay are set beside the picture, which is wider then.
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
        [_mesh_now(body.mesh, body.vertices if body.deformable else None) for body in bodies],
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
    """Return the camera of a look that shows all points, and of `more` what is not far beyond them."""
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
    """Return the vertices of all bodies in the world, or the corners of their boxes where they are too many."""
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
    """Return points that show how far an overlay reaches."""
    balls = [overlay.spheres, overlay.discs[:, [0, 1, 2, 6]]]
    ends = [each[:, :3] + each[:, 3:] * way for each in balls for way in np.concatenate([np.eye(3), -np.eye(3)])]
    return np.concatenate([overlay.boxes.reshape(-1, 3), overlay.segments.reshape(-1, 3), overlay.points, *ends])


def _mesh_now(mesh: Mesh, vertices: Floats | None) -> Mesh:
    return mesh if vertices is None else mesh.with_vertices(vertices)


def _colours(world: World, report: Report) -> ArrayLike:
    """Return (n, 3) the colours of bodies; those of which only is known that they touch are tinted."""
    colours = np.array([PALETTE[k % len(PALETTE)] for k in range(len(world))], np.float64).reshape(-1, 3)
    told = {(int(a), int(b)) for a, b in zip(report.contacts.body_a, report.contacts.body_b, strict=True)}
    row_of = {body.id: row for row, body in enumerate(world)}
    for a, b, kind in zip(report.pairs.body_a.tolist(), report.pairs.body_b.tolist(), report.pairs.kind.tolist(), strict=True):
        if kind > Kind.NEAR and (a, b) not in told:
            for number in (a, b):
                colours[row_of[number]] = (1.0 - TINT) * colours[row_of[number]] + TINT * np.array(TOUCHING)
    return colours


def _marks(report: Report, with_normals: bool) -> Callable[[Camera], Sketch] | None:
    """Return what draws the contacts: points where a method tells no faces, points and normals where they are asked for."""
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
            # As long as 40 pixels of 720 rows, wherever the contact is.
            away = camera.view(points[arrow])[:, 2:] if camera.perspective else 1.0
            length = 40.0 * camera.height / 720.0 / camera.scale * away
            parts.append(
                lines(np.stack([points[arrow], points[arrow] + length * normals[arrow]], axis=1), camera, CONTACT, faint=2.0)
            )
        return Sketch.joined(parts)

    return drawn


def summary_of(world: World, report: Report, names: Sequence[str] = ()) -> str:
    """Return a line for people: bodies, what touches, and whatever else is to be said."""
    touching = int((report.pairs.kind > Kind.NEAR).sum())
    near = len(report.pairs) - touching
    count = f"{len(world)} bodies" if len(world) != 1 else "1 body"
    pairs = "no pair touches" if touching == 0 else "1 pair touches" if touching == 1 else f"{touching} pairs touch"
    return ", ".join([*names, count, pairs, *([f"{near} near"] if near else [])])

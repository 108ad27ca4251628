"""An `Overlay` as triangles over the bodies, a `Sketch`.

Lines become ribbons and points become octagons that face the camera, of the same width in pixels everywhere; they are
moved towards the eye by a small share of the distance, so that lines on a surface are visible. Boxes are drawn by their
edges, spheres by their outlines, discs by their rims; boxes, spheres and discs may also be filled, translucent. Each
triangle has a colour and two opacities: one before the bodies and a fainter one behind them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Singles
from jostle.geometry.unique_rows import unique_rows
from jostle.interface.overlay import Overlay
from jostle.render.camera import Camera

Colour = tuple[int, int, int]

# Neither red nor amber, which mean touching and near, and darker than any body.
BOX: Colour = (52, 66, 158)
SPHERE: Colour = (112, 58, 150)
SEGMENT: Colour = (0, 104, 92)
POINT: Colour = (24, 60, 100)
DISC: Colour = (20, 118, 66)

LINE_OPACITY, HIDDEN_LINE = 0.95, 0.22
FEW = 400  # boxes, spheres: more of them are fainter where bodies hide them
LINE_WIDTH, POINT_RADIUS = 1.5, 2.2  # pixels of a picture 720 pixels high
FILLED = 0.14  # default opacity of a sphere or a disc
TOWARDS_EYE = 2e-3  # of the distance from the eye; hardly a pixel, and more than rounding errors
PALER = 0.55  # how far the farthest colours go towards the background
ROUND = 40  # corners of a circle
EDGES_OF_BOX = np.array([[a, a | bit] for a in range(8) for bit in (1, 2, 4) if not a & bit])


class Sketch(NamedTuple):
    """Triangles over a picture.

    points (n, 3) in the world · faces (m, 3) int32 · colours (m, 3) · opacity and hidden (m,).
    """

    points: Floats
    faces: Ints
    colours: Singles
    opacity: Singles
    hidden: Singles

    @classmethod
    def joined(cls, parts: list[Sketch]) -> Sketch:
        """Return several sketches as one."""
        starts = np.cumsum([0, *(len(part.points) for part in parts)])
        none = Sketch(np.empty((0, 3)), np.empty((0, 3), np.int32), *(np.empty(s, np.float32) for s in ((0, 3), 0, 0)))
        moved = [part._replace(faces=(part.faces + start).astype(np.int32)) for part, start in zip(parts, starts, strict=False)]
        return cls(*(np.concatenate([getattr(part, name) for part in (none, *moved)]) for name in cls._fields))


def sketch_of(overlay: Overlay, camera: Camera, fill: float | None = None) -> Sketch:
    """Return the shapes of an overlay as a camera sees them.

    `fill` is the opacity of boxes, spheres and discs, 0 … 1; by default boxes are not filled, spheres and discs a little.
    """
    round_fill = FILLED if fill is None else fill
    parts = []
    if len(overlay.boxes):
        faint = _faint(len(overlay.boxes))
        parts.append(lines(_edges_of_boxes(overlay.boxes), camera, BOX, faint=faint))
        if fill:
            parts.append(_filled_boxes(overlay.boxes, camera, fill))
    if len(overlay.spheres):
        parts.append(lines(_outlines(overlay.spheres, camera), camera, SPHERE, faint=_faint(len(overlay.spheres))))
        if round_fill:
            parts.append(_filled_spheres(overlay.spheres, camera, min(round_fill, 4.0 * round_fill / len(overlay.spheres) ** 0.5)))
    if len(overlay.discs):
        rims = _rims(overlay.discs)
        parts.append(lines(np.stack([rims, np.roll(rims, -1, axis=1)], axis=2).reshape(-1, 2, 3), camera, DISC))
        if round_fill:
            parts.append(_filled_discs(overlay.discs, rims, 2.0 * round_fill if fill is None else fill))
    if len(overlay.segments):
        parts.append(lines(overlay.segments, camera, SEGMENT, faint=_faint(len(overlay.segments) // 12)))
    if len(overlay.points):
        few = min(1.0, (4.0 * FEW / len(overlay.points)) ** 0.5)
        parts.append(dots(overlay.points, camera, POINT, radius=POINT_RADIUS * max(few, 0.45), faint=0.5 * few))
    return _paler_far_away(Sketch.joined(parts), camera)


def _paler_far_away(sketch: Sketch, camera: Camera) -> Sketch:
    """Return a sketch with paler far parts: lines alone do not show which is in front."""
    if len(sketch.faces) == 0:
        return sketch
    z = camera.view(sketch.points)[:, 2][sketch.faces].mean(axis=1)
    share = (PALER * (z - z.min()) / max(float(np.ptp(z)), 1e-300)).astype(np.float32)[:, None]
    return sketch._replace(colours=sketch.colours + share * (np.float32(232.0) - sketch.colours))


def lines(segments: Floats, camera: Camera, colour: Colour, *, width: float = LINE_WIDTH, faint: float = 1.0) -> Sketch:
    """Return segments (k, 2, 3) as ribbons, `width` pixels wide in 720 rows.

    `faint` scales their opacity where bodies hide them.
    """
    ends = _before_the_eye(camera.view(segments.reshape(-1, 3)).reshape(-1, 2, 3), camera)
    if len(ends) == 0:
        return Sketch.joined([])
    away = _away(ends.reshape(-1, 3), camera).reshape(-1, 2, 1)
    flat = ends[:, :, :2] / away
    along = flat[:, 1] - flat[:, 0]
    length = np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    along = np.where(length > 1e-12, along / length, [[1.0, 0.0]])
    half = 0.5 * width * _pixel(camera)
    # A quarter of the width beyond the ends closes the corners of a box.
    aside, beyond = np.stack([-along[:, 1], along[:, 0]], axis=1) * half, along * (0.5 * half)
    corners = np.empty((len(ends), 4, 3))
    for corner, (end, side, on) in enumerate(((0, 1.0, -1.0), (0, -1.0, -1.0), (1, -1.0, 1.0), (1, 1.0, 1.0))):
        corners[:, corner, :2] = (flat[:, end] + side * aside + on * beyond) * away[:, end]
        corners[:, corner, 2] = ends[:, end, 2]
    faces = np.array([[0, 1, 2], [0, 2, 3]]) + 4 * np.arange(len(ends))[:, None, None]
    return _marks(corners.reshape(-1, 3), faces.reshape(-1, 3), camera, colour, faint)


def dots(points: Floats, camera: Camera, colour: Colour, *, radius: float = POINT_RADIUS, faint: float = 1.0) -> Sketch:
    """Return points (k, 3) as octagons, `radius` pixels in a picture of 720 rows."""
    view = camera.view(points)
    if camera.perspective:
        view = view[view[:, 2] > camera.near]
    if len(view) == 0:
        return Sketch.joined([])
    angle = np.arange(8) * (np.pi / 4.0) + np.pi / 8.0
    circle = np.stack([np.cos(angle), np.sin(angle), np.zeros(8)], axis=1) * (radius * _pixel(camera))
    corners = view[:, None, :] + circle * _away(view, camera)[:, None, None]
    fan = np.array([[0, k, k + 1] for k in range(1, 7)])
    faces = (fan + 8 * np.arange(len(view))[:, None, None]).reshape(-1, 3)
    return _marks(corners.reshape(-1, 3), faces, camera, colour, faint)


def _marks(view: Floats, faces: NDArray[np.int64], camera: Camera, colour: Colour, faint: float) -> Sketch:
    """Return triangles in view coordinates in the world, moved towards the eye."""
    if camera.perspective:
        view = view * (1.0 - TOWARDS_EYE)  # moves nothing in the picture
    else:
        view = view - np.array([0.0, 0.0, TOWARDS_EYE * camera.height / camera.scale])
    world = camera.eye + view @ camera.axes
    count = len(faces)
    colours = np.broadcast_to(np.array(colour, np.float32), (count, 3))
    hidden = np.full(count, HIDDEN_LINE * faint, np.float32)
    return Sketch(world, faces.astype(np.int32), colours, np.full(count, LINE_OPACITY, np.float32), hidden)


def _faint(count: int) -> float:
    """Return the opacity of one of many marks where bodies hide it.

    Together they must not cover the picture.
    """
    return float(min(1.0, (FEW / max(count, 1)) ** 0.5))


def _pixel(camera: Camera) -> float:
    """Return one pixel of a 720-row picture, at forward distance 1 if in perspective."""
    return max(camera.height / 720.0, 0.6) / camera.scale  # below that thin lines would break up


def _away(view: Floats, camera: Camera) -> Floats:
    """Return the divisors from lengths at points to lengths in the picture."""
    return view[:, 2].copy() if camera.perspective else np.ones(len(view))


def _before_the_eye(ends: Floats, camera: Camera) -> Floats:
    """Cut segments (k, 2, 3) in view coordinates at the near plane."""
    if not camera.perspective:
        return ends
    z = ends[:, :, 2]
    keep = (z > camera.near).any(axis=1)
    ends, z = ends[keep], z[keep]
    span = z[:, 1] - z[:, 0]
    part = np.divide(1.000001 * camera.near - z[:, 0], span, out=np.zeros(len(span)), where=span != 0.0)[:, None]
    crossing = ends[:, 0] + part * (ends[:, 1] - ends[:, 0])
    return np.where((z <= camera.near)[:, :, None], crossing[:, None, :], ends)


def _corners_of_boxes(boxes: Floats) -> Floats:
    """Return (k, 8, 3); bit j of a corner is its side of axis j."""
    chosen = np.array([[k >> axis & 1 for axis in range(3)] for k in range(8)])
    corners: Floats = np.where(chosen[None] == 1, boxes[:, None, 1], boxes[:, None, 0])
    return corners


def _edges_of_boxes(boxes: Floats) -> Floats:
    """Return the edges (m, 2, 3) of boxes, each once: neighbours share many."""
    edges = _corners_of_boxes(boxes)[:, EDGES_OF_BOX].reshape(-1, 6)
    found: Floats = unique_rows(edges).reshape(-1, 2, 3)
    return found


def _filled(points: Floats, faces: NDArray[np.int64], colours: Floats, opacity: float) -> Sketch:
    count = len(faces)
    seen = np.full(count, opacity, np.float32)
    hidden = np.full(count, 0.25 * opacity if opacity < 1.0 else 0.0, np.float32)
    return Sketch(points, faces.astype(np.int32), np.clip(colours, 0.0, 255.0).astype(np.float32), seen, hidden)


def _filled_boxes(boxes: Floats, camera: Camera, opacity: float) -> Sketch:
    """Return the sides of boxes, lighter above and towards the light."""
    from jostle.shapes.build import box

    corners, cube = _corners_of_boxes(boxes), box()
    faces, normals = cube.faces + 8 * np.arange(len(boxes))[:, None, None], cube.face_normals
    # A camera sees at most one of the two sides of an axis.
    light = 0.72 + 0.2 * normals[:, 2] + 0.1 * (normals @ -camera.axes[2])
    base = np.array(BOX) * 0.35 + 165.0
    colours = np.tile(base * light[:, None], (len(boxes), 1))
    return _filled(corners.reshape(-1, 3), faces.reshape(-1, 3), colours, opacity)


def _outlines(spheres: Floats, camera: Camera) -> Floats:
    """Return outlines (k * ROUND, 2, 3) of spheres; spheres about the eye have none."""
    centre, radius = spheres[:, :3], spheres[:, 3:]
    if camera.perspective:
        towards = camera.eye - centre
        distance = np.linalg.norm(towards, axis=1, keepdims=True)
        seen = (distance > radius)[:, 0]
        centre, radius, towards, distance = centre[seen], radius[seen], towards[seen], distance[seen]
        axis = towards / distance
        middle = centre + axis * (radius * radius / distance)
        size = radius * np.sqrt(np.maximum(1.0 - (radius / distance) ** 2, 0.0))
    else:
        axis, middle, size = np.broadcast_to(-camera.axes[2], centre.shape), centre, radius
    rims = _rims(np.concatenate([middle, axis, size], axis=1))
    return np.stack([rims, np.roll(rims, -1, axis=1)], axis=2).reshape(-1, 2, 3)


def _rims(discs: Floats) -> Floats:
    """Return (k, ROUND, 3) circles about discs (k, 7): centre, normal and radius."""
    normal = discs[:, 3:6] / np.maximum(np.linalg.norm(discs[:, 3:6], axis=1, keepdims=True), 1e-300)
    least = np.eye(3)[np.argmin(np.abs(normal), axis=1)]
    u = np.cross(normal, least)
    u /= np.maximum(np.linalg.norm(u, axis=1, keepdims=True), 1e-300)
    v = np.cross(normal, u)
    angle = np.arange(ROUND) * (2.0 * np.pi / ROUND)
    circle = u[:, None, :] * np.cos(angle)[None, :, None] + v[:, None, :] * np.sin(angle)[None, :, None]
    rims: Floats = discs[:, None, :3] + circle * discs[:, None, 6:]
    return rims


def _filled_discs(discs: Floats, rims: Floats, opacity: float) -> Sketch:
    points = np.concatenate([discs[:, None, :3], rims], axis=1)
    around = np.arange(ROUND)
    fan = np.stack([np.zeros(ROUND, np.int64), 1 + around, 1 + (around + 1) % ROUND], axis=1)
    faces = (fan + (ROUND + 1) * np.arange(len(discs))[:, None, None]).reshape(-1, 3)
    return _filled(points.reshape(-1, 3), faces, np.tile(np.array(DISC) * 0.5 + 110.0, (len(faces), 1)), opacity)


def _filled_spheres(spheres: Floats, camera: Camera, opacity: float) -> Sketch:
    """Return the front halves of spheres, lighter where they face the camera."""
    from jostle.shapes.build import icosphere

    ball = icosphere(3 if len(spheres) < 40 else 2 if len(spheres) < 400 else 1)
    unit = ball.vertices / np.linalg.norm(ball.vertices, axis=1, keepdims=True)
    facing = unit[ball.faces].mean(axis=1) @ -camera.axes[2]
    front = facing > -0.2  # a little beyond the outline: with a perspective camera it is not the equator
    points = spheres[:, None, :3] + spheres[:, None, 3:] * unit
    faces = (ball.faces[front] + len(unit) * np.arange(len(spheres))[:, None, None]).reshape(-1, 3)
    shade = 0.75 + 0.35 * np.clip(facing[front], 0.0, 1.0)
    colours = np.tile((np.array(SPHERE) * 0.6 + 90.0) * shade[:, None], (len(spheres), 1))
    return _filled(points.reshape(-1, 3), faces.astype(np.int64), colours, opacity)

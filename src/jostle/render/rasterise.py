"""The rasteriser: triangles into a depth buffer and a face-number buffer.

A pixel belongs to a triangle when its centre does. Vertices are snapped to 1/256 pixel and the edge functions are then
evaluated exactly in int64, with the top-left rule for centres on an edge: two triangles on either side of a shared edge
cover every centre on it exactly once, whatever the winding, so closed surfaces have neither gaps nor doubled pixels.
What lies before the near plane is cut off in view space, what lies beyond a guard band of 2^20 pixels is cut off in the
picture plane; both cuts compute a crossing from the inner to the outer end of the edge, so neighbours get the same bits.
Within a pixel fragments are ordered by (depth, face number): the result does not depend on the order of drawing, and all
layers of a scene can be peeled off one by one (`behind`). Depth is interpolated between the snapped vertices and
never leaves the range of the three.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from jostle import cast
from jostle._types import Floats, Ints
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.render.camera import Camera

SUBPIXEL_BITS = 8
SUBPIXELS = 1 << SUBPIXEL_BITS
CENTRE = SUBPIXELS // 2
# Snapped coordinates stay below 2^29, so edge functions stay below 2^61: no overflow, and no rounding.
GUARD_BAND = float(1 << 20)
WIDE = 12  # pixels; rows of triangles at least this wide are narrowed by a division before they are walked
FACES_PER_CALL = 1 << 16  # a kernel cannot be interrupted; this many ordinary faces take a few milliseconds


class Buffers(NamedTuple):
    """Depth (h, w) float64, infinite where nothing is, and face (h, w) int32, else -1."""

    depth: Floats
    face: Ints


@kernel
def pixel_row_range(low: int, high: int, size: int) -> tuple[int, int]:
    """Return the first and last pixel of the picture with its centre in [low, high].

    low and high are snapped coordinates.
    """
    return max((low + CENTRE - 1) >> SUBPIXEL_BITS, 0), min((high - CENTRE) >> SUBPIXEL_BITS, size - 1)


@kernel
def owns_its_edge(dx: int, dy: int) -> int:
    """Return 0 for a left or top edge, whose centres count as inside, else -1.

    Of a triangle of positive area.
    """
    if dy < 0 or (dy == 0 and dx > 0):
        return 0
    return -1


@kernel
def narrowed(edge: int, step: int, bias: int, first: int, last: int) -> tuple[int, int]:
    """Shrink first … last of a row to where edge + step*i + bias >= 0 may hold.

    Conservative by one pixel.
    """
    if step == 0:
        return first, last
    crossing = -(float(edge) + float(bias)) / float(step)
    if step > 0:
        if crossing > first:
            first = last + 1 if crossing > last + 1 else math.floor(crossing)
    elif crossing < last:
        last = first - 1 if crossing < first - 1 else math.ceil(crossing)
    return first, last


class SnappedCorner(NamedTuple):
    """A corner in the picture: x and y in steps of 1/256 pixel, and the depth."""

    x: int
    y: int
    z: float


class Lens(NamedTuple):
    """The projection: pixels per unit (of depth, in perspective), and the near plane."""

    scale: float
    perspective: bool
    near: float


@kernel
def fill_triangle(
    a: SnappedCorner, b: SnappedCorner, c: SnappedCorner, number: int, sign: float, behind: Buffers, into: Buffers
) -> None:
    """Draw one snapped triangle; sign +1 keeps the nearest, -1 the farthest.

    `behind` has size 0 without an earlier layer.
    """
    depth, face, behind_depth, behind_face = into.depth, into.face, behind.depth, behind.face
    area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y)
    if area == 0:
        return
    if area < 0:
        b, c, area = c, b, -area
    x0, y0, z0, x1, y1, z1, x2, y2, z2 = a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z
    height, width = depth.shape
    left, right = pixel_row_range(min(x0, x1, x2), max(x0, x1, x2), width)
    top, bottom = pixel_row_range(min(y0, y1, y2), max(y0, y1, y2), height)
    if left > right or top > bottom:
        return
    # Edge k lies opposite corner k; its function is positive inside and proportional to the weight of corner k.
    dx0, dy0, dx1, dy1, dx2, dy2 = x2 - x1, y2 - y1, x0 - x2, y0 - y2, x1 - x0, y1 - y0
    bias0, bias1, bias2 = owns_its_edge(dx0, dy0), owns_its_edge(dx1, dy1), owns_its_edge(dx2, dy2)
    px, py = left * SUBPIXELS + CENTRE, top * SUBPIXELS + CENTRE
    row0 = dx0 * (py - y1) - dy0 * (px - x1)
    row1 = dx1 * (py - y2) - dy1 * (px - x2)
    row2 = dx2 * (py - y0) - dy2 * (px - x0)
    inverse, z10, z20 = 1.0 / float(area), z1 - z0, z2 - z0
    lowest, highest = min(z0, z1, z2), max(z0, z1, z2)
    peeling = behind_depth.shape[0] > 0
    wide = right - left >= WIDE
    for y in range(top, bottom + 1):
        first, last = 0, right - left
        if wide:
            first, last = narrowed(row0, -dy0 * SUBPIXELS, bias0, first, last)
            first, last = narrowed(row1, -dy1 * SUBPIXELS, bias1, first, last)
            first, last = narrowed(row2, -dy2 * SUBPIXELS, bias2, first, last)
        for i in range(first, last + 1):
            along = i * SUBPIXELS
            edge0, edge1, edge2 = row0 - dy0 * along, row1 - dy1 * along, row2 - dy2 * along
            if edge0 + bias0 < 0 or edge1 + bias1 < 0 or edge2 + bias2 < 0:
                continue
            x = left + i
            z = min(max(z0 + (float(edge1) * z10 + float(edge2) * z20) * inverse, lowest), highest)
            key, held = sign * z, sign * depth[y, x]
            if key > held or (key == held and number > face[y, x]):
                continue
            if peeling:
                passed = sign * behind_depth[y, x]
                if key < passed or (key == passed and number <= behind_face[y, x]):
                    continue
            depth[y, x] = z
            face[y, x] = number
        row0 += dx0 * SUBPIXELS
        row1 += dx1 * SUBPIXELS
        row2 += dx2 * SUBPIXELS


@kernel
def cut(polygon: Floats, count: int, axis: int, sign: float, limit: float, result: Floats) -> int:
    """Keep the part of a convex polygon (count, 3) with sign*coordinate <= limit.

    Returns the number of its corners.
    """
    kept = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        this, other = sign * polygon[i, axis], sign * polygon[j, axis]
        if this <= limit:
            for k in range(3):
                result[kept, k] = polygon[i, k]
            kept += 1
        if (this <= limit) != (other <= limit):
            # Always from the inner end: the neighbour runs along this edge the other way and must get the same bits.
            inner, outer = (i, j) if this <= limit else (j, i)
            part = (limit - sign * polygon[inner, axis]) / (sign * polygon[outer, axis] - sign * polygon[inner, axis])
            for k in range(3):
                result[kept, k] = polygon[inner, k] + part * (polygon[outer, k] - polygon[inner, k])
            result[kept, axis] = sign * limit
            kept += 1
    return kept


@kernel
def project_corners(polygon: Floats, count: int, lens: Lens, middle_x: float, middle_y: float) -> bool:
    """Project view coordinates in place; return whether all are in the guard band."""
    inside = True
    for i in range(count):
        over = 1.0
        if lens.perspective:
            over = polygon[i, 2]
            polygon[i, 2] = -1.0 / over
        polygon[i, 0] = middle_x + lens.scale * polygon[i, 0] / over
        polygon[i, 1] = middle_y + lens.scale * polygon[i, 1] / over
        # Written so that a NaN or an infinity counts as outside.
        inside = inside and (abs(polygon[i, 0]) <= GUARD_BAND and abs(polygon[i, 1]) <= GUARD_BAND)
    return inside


@kernel
def cut_to_guard_band(polygon: Floats, spare: Floats, count: int) -> int:
    """Cut a polygon in the picture plane to the guard band, in place.

    Corners that are not finite leave nothing.
    """
    for i in range(count):
        if not (math.isfinite(polygon[i, 0]) and math.isfinite(polygon[i, 1])):
            return 0
    count = cut(polygon, count, 0, 1.0, GUARD_BAND, spare)
    count = cut(spare, count, 0, -1.0, GUARD_BAND, polygon)
    count = cut(polygon, count, 1, 1.0, GUARD_BAND, spare)
    return cut(spare, count, 1, -1.0, GUARD_BAND, polygon)


@kernel
def snapped(coordinate: float) -> int:
    """Return the nearest multiple of 1/256 pixel, counted in those."""
    return math.floor(coordinate * SUBPIXELS + 0.5)


@kernel(forceinline=True)
def corner_of(polygon: Floats, i: int) -> SnappedCorner:
    """Return corner i of a polygon in the picture."""
    return SnappedCorner(snapped(polygon[i, 0]), snapped(polygon[i, 1]), polygon[i, 2])


@kernel
def draw_faces(view: Floats, faces: Ints, chosen: Ints, lens: Lens, sign: float, behind: Buffers, into: Buffers) -> None:
    """Draw the chosen (k,) faces (m, 3) on view coordinates (n, 3); see `rasterise`."""
    polygon, spare = np.empty((10, 3)), np.empty((10, 3))  # three corners, and each of the five cuts adds at most one
    middle_x, middle_y = into.depth.shape[1] / 2.0, into.depth.shape[0] / 2.0
    for which in range(chosen.shape[0]):
        number = as_int64(chosen[which])
        before = 0
        for i in range(3):
            vertex = faces[number, i]
            for k in range(3):
                polygon[i, k] = view[vertex, k]
            if not polygon[i, 2] >= lens.near:
                before += 1
        if before == 3:
            continue
        count = 3
        if before > 0:
            for i in range(3):
                for k in range(3):
                    spare[i, k] = polygon[i, k]
            count = cut(spare, 3, 2, -1.0, -lens.near, polygon)
        if not project_corners(polygon, count, lens, middle_x, middle_y):
            count = cut_to_guard_band(polygon, spare, count)
        for i in range(1, count - 1):
            fill_triangle(corner_of(polygon, 0), corner_of(polygon, i), corner_of(polygon, i + 1), number, sign, behind, into)


def rasterise(
    camera: Camera,
    points: Floats,
    faces: Ints,
    *,
    chosen: Ints | None = None,
    keep: str = "nearest",
    behind: Buffers | None = None,
) -> Buffers:
    """Draw triangles, from both sides alike.

    Parameters
    ----------
    camera : Camera
        Its size is the size of the buffers.
    points : (n, 3) float64
        World coordinates.
    faces : (m, 3) int32
        Rows of `points`.
    chosen : (k,) int32, optional
        The faces to draw; all by default. They keep their numbers.
    keep : "nearest" or "farthest"
        Which fragment a pixel keeps; of equally deep ones the face with the lower number.
    behind : Buffers, optional
        Draw only fragments after these in the order of `keep`: the next layer. Same size as the camera's picture.

    Returns
    -------
    Buffers
        Where nothing was drawn the face is -1 and the depth +inf (nearest) or -inf (farthest).
    """
    sign = 1.0 if cast.as_choice(keep, ("nearest", "farthest"), "keep") == "nearest" else -1.0
    shape = (camera.height, camera.width)
    result = Buffers(np.full(shape, sign * np.inf), np.full(shape, -1, dtype=np.int32))
    passed = Buffers(np.empty((0, 0)), np.empty((0, 0), dtype=np.int32)) if behind is None else behind
    numbers = np.arange(len(faces), dtype=np.int32) if chosen is None else np.ascontiguousarray(chosen, dtype=np.int32)
    view = camera.view(np.asarray(points, dtype=np.float64).reshape(-1, 3))
    triangles = np.ascontiguousarray(faces, dtype=np.int32)
    lens = Lens(float(camera.scale), bool(camera.perspective), float(camera.near))
    for start in range(0, len(numbers), FACES_PER_CALL):
        draw_faces(view, triangles, numbers[start : start + FACES_PER_CALL], lens, sign, passed, result)
    return result

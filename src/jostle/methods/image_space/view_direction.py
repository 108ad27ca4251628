"""The view direction of a pair: an axis, the line of centres, or a separation.

The paper projects all pairs along one axis. It proposes, for convex bodies, the separating plane itself as the plane of
projection (§6): the direction that last separated a pair is remembered, in world axes. While the vertices of both are
apart along it nothing is drawn, which is exact; when they are not, the picture is taken along it. Pairs that never were
apart are projected along the line of their centres, and along z where the centres coincide. After a picture without a
hit, a plane between convex bodies is searched for (`geometry/gjk.py`); concave bodies return to the line of centres.

The frame of a view becomes its own mirror image when its direction is reversed, so that swapping A and B does not move
the pixel centres.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats, Ints
from jostle.broad_phase.pair_memory import PairMemory
from jostle.geometry.gjk import APART, PlacedHull, SearchLimits, empty_search, open_search, search_plane
from jostle.geometry.gjk import ROUNDING as SEARCH_ROUNDING
from jostle.geometry.rigid import pose_at
from jostle.geometry.support import ScannedHull
from jostle.geometry.triangle import Bounds
from jostle.geometry.vector import (
    Vec3,
    coordinate,
    divided,
    dot,
    length,
    minus,
    point_at,
    point_from,
    write_point,
    write_point_from,
)
from jostle.interface.frame import Frame
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Addresses
from jostle.methods.image_space.shape_table import ShapesOfBodies, mesh_of_body, open_shapes
from jostle.render.drawn_body import PatchedMesh, TileView, ViewRow, image, image_reach, patch_count

if TYPE_CHECKING:
    from jostle.methods.image_space.regions import Views

# How a direction is chosen; the first three are the axes themselves. AXES are three views of each pair.
X, Y, Z, CENTRES, SEPARATING, AXES = 0, 1, 2, 3, 4, 5
MODES = {"x": X, "y": Y, "z": Z, "centres": CENTRES, "separating": SEPARATING, "axes": AXES}
# Results for a pair: it needs a picture; or it is apart, 1 + axis along an axis of the view, or in every column.
MEETING, APART_ALONG, APART_IN_COLUMNS = 0, 1, 4
DIRECTION = 3  # numbers remembered of a pair: the direction from A to B
WIDE = 0.5  # of the distance of two convex bodies: the least gap of a plane between them, so that it lasts some frames
FIRST_SLICE = 4_000_000  # points visited for a plane: about 10 ms
NO_DIRECTION = 2.0**-40  # of the size and offset of two bodies: centres nearer than this give no direction


class ViewFrame(NamedTuple):
    """The axes of a view in the world: rows of a rotation."""

    right: Vec3
    up: Vec3
    ahead: Vec3


class SeenBody(NamedTuple):
    """A mesh, and its coordinates along the axes of a view about a world point."""

    mesh: PatchedMesh
    along: TileView


@kernel
def frame_of_direction(ahead: Vec3) -> ViewFrame:
    """Return the axes of a view along a unit vector.

    After Duff et al., Building an Orthonormal Basis, Revisited (2017): entries are off by 4 · 2⁻⁵³ at most. It jumps at z =
    0.
    """
    x, y, z = ahead.x, ahead.y, ahead.z
    if x == 1.0 and y == 0.0 and z == 0.0:
        return ViewFrame(Vec3(0.0, 1.0, 0.0), Vec3(0.0, 0.0, 1.0), Vec3(1.0, 0.0, 0.0))
    if y == 1.0 and x == 0.0 and z == 0.0:
        return ViewFrame(Vec3(0.0, 0.0, 1.0), Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0))
    # By x or y where z is 0: the difference of two equal heights is +0 in either order.
    leading = z if z != 0.0 else (y if y != 0.0 else x)
    sign = math.copysign(1.0, leading)
    a = -1.0 / (sign + z)
    b = x * y * a
    return ViewFrame(Vec3(1.0 + sign * x * x * a, sign * b, -sign * x), Vec3(b, sign + y * y * a, -y), ahead)


@kernel(forceinline=True)
def axis_of_frame(frame: ViewFrame, axis: int) -> Vec3:
    """Return the axis X, Y or Z of a view."""
    if axis == X:
        return frame.right
    return frame.up if axis == Y else frame.ahead


@kernel
def line_of_centres(a: Vec3, b: Vec3, size: float) -> Vec3:
    """Return the unit vector from a to b, or z if they nearly coincide.

    `size` is the size and offset of the bodies.
    """
    offset = minus(b, a)
    along = length(offset)
    if not along > NO_DIRECTION * size:
        return Vec3(0.0, 0.0, 1.0)
    unit = divided(offset, along)
    # Divided once more, since the length of a tiny vector is rounded more than its direction.
    return divided(unit, length(unit))


@kernel(forceinline=True)
def row_of_view(pose: Floats, axis: Vec3, origin: Vec3) -> ViewRow:
    """Return the coordinate of a body along a world axis, about a world point."""
    return ViewRow(
        dot(axis, Vec3(pose[0, 0], pose[1, 0], pose[2, 0])),
        dot(axis, Vec3(pose[0, 1], pose[1, 1], pose[2, 1])),
        dot(axis, Vec3(pose[0, 2], pose[1, 2], pose[2, 2])),
        dot(axis, minus(Vec3(pose[0, 3], pose[1, 3], pose[2, 3]), origin)),
    )


@kernel
def seen_body(mesh: PatchedMesh, pose: Floats, frame: ViewFrame, origin: Vec3) -> SeenBody:
    """Return a mesh under a pose as seen along a frame, about a world point."""
    x, y, z = row_of_view(pose, frame.right, origin), row_of_view(pose, frame.up, origin), row_of_view(pose, frame.ahead, origin)
    return SeenBody(mesh, TileView(x, y, z))


@kernel(forceinline=True)
def extent_of_patch(mesh: PatchedMesh, patch: int, row: ViewRow) -> tuple[float, float]:
    """Return the lowest and highest coordinate of a patch's box along a row of a view."""
    middle, reach = image(row, point_from(mesh.centre, 3 * patch)), image_reach(row, point_from(mesh.half, 3 * patch))
    return middle - reach, middle + reach


@kernel
def apart_along(a: Bounds, b: Bounds, gap: float) -> int:
    """Return MEETING, or the axis along which extents are more than the gap apart.

    Negative where B comes first.
    """
    for axis in (Z, X, Y):
        if coordinate(b.lower, axis) - coordinate(a.upper, axis) > gap:
            return APART_ALONG + axis
        if coordinate(a.lower, axis) - coordinate(b.upper, axis) > gap:
            return -(APART_ALONG + axis)
    return MEETING


@kernel
def farthest_along(mesh: PatchedMesh, row: ViewRow) -> float:
    """Return the largest coordinate of the points of a mesh.

    Patches whose boxes do not reach beyond it are skipped.
    """
    top, reached, patches = -math.inf, 0, patch_count(mesh)
    for k in range(patches):
        _, highest = extent_of_patch(mesh, k, row)
        if highest > top:
            top, reached = highest, k
    best = -math.inf
    for turn in range(patches + 1):
        # The patch that reaches farthest first, so that most others are skipped.
        k = reached if turn == 0 else turn - 1
        if turn > 0 and (k == reached or extent_of_patch(mesh, k, row)[1] <= best):
            continue
        for i in range(mesh.first_point[k], mesh.first_point[k + 1]):
            best = max(best, image(row, point_from(mesh.points, 3 * i)))
    return best


@kernel
def lowest_along(mesh: PatchedMesh, row: ViewRow) -> float:
    """Return the smallest coordinate of the points of a mesh."""
    return -farthest_along(mesh, ViewRow(-row.x, -row.y, -row.z, -row.offset))


@kernel
def vertices_apart(a: SeenBody, b: SeenBody, pad: float) -> int:
    """Return how vertices are apart along the view: MEETING, or ±(APART_ALONG + Z)."""
    if lowest_along(b.mesh, b.along.z) - farthest_along(a.mesh, a.along.z) > 2.0 * pad:
        return APART_ALONG + Z
    if lowest_along(a.mesh, a.along.z) - farthest_along(b.mesh, b.along.z) > 2.0 * pad:
        return -(APART_ALONG + Z)
    return MEETING


def remember_separations(views: Views, missed: Bools, frame: Frame, shapes: ShapesOfBodies, memory: PairMemory) -> None:
    """Find planes between convex bodies without a hit, and remember their normals.

    Directions of concave bodies no longer separate them, and are forgotten.

    Parameters
    ----------
    views : Views
        Of this frame, by `views_of` with the same memory: one of each pair.
    missed : (n,) bool
        Views that show no collision.
    frame : Frame
    shapes : ShapesOfBodies
    memory : PairMemory of width DIRECTION
        Its records are changed.
    """
    convex = shapes.convex[views.body_a] & shapes.convex[views.body_b]
    memory.records[views.pair[missed & ~convex]] = np.nan
    chosen = missed & convex
    if not chosen.any():
        return
    pairs = PairRows(*(read_only_view(column[chosen]) for column in (views.pair, views.body_a, views.body_b)))
    poses, direction, search = read_only_view(frame.poses), read_only_view(views.direction[chosen]), empty_search()

    def step(state: NDArray[np.int64], operations: int) -> tuple[bool, int]:
        following, used = separate_convex_pairs(
            pairs, int(state[0]), shapes.addresses, poses, direction, search.table[0], operations, memory.records
        )
        state[0] = following
        return bool(following == len(pairs.number)), max(1, int(used))

    run_in_slices(step, np.zeros(1, np.int64), FIRST_SLICE)


class PairRows(NamedTuple):
    """Body pairs with their numbers."""

    number: Ints
    body_a: Ints
    body_b: Ints


@kernel
def separate_convex_pairs(
    pairs: PairRows, first: int, addresses: Addresses, poses: Floats, direction: Floats, of_search: Addresses, operations: int,
    records: Floats,
) -> tuple[int, int]:  # fmt: skip
    """Write the normal of a plane between the bodies of each pair to its record.

    Starts with pair `first`; returns the next pair and the operations used, points that are visited.
    """
    shapes, search, pair, used = open_shapes(addresses), open_search(of_search), as_int64(first), 0
    none = np.empty(0, np.int32)
    while pair < pairs.number.shape[0] and used < operations:
        a, b = as_int64(pairs.body_a[pair]), as_int64(pairs.body_b[pair])
        points_a: Any = mesh_of_body(shapes, a).points
        points_b: Any = mesh_of_body(shapes, b).points
        rounding = SEARCH_ROUNDING * (reach_of(points_a, poses[a]) + reach_of(points_b, poses[b]))
        write_point_from(search.found.normal, 0, point_at(direction, pair))
        search.found.count, search.found.support_a, search.found.support_b = 0, 0, 0
        hull_a: Any = ScannedHull(points_a, none, none)
        hull_b: Any = ScannedHull(points_b, none, none)
        placed_a, placed_b = PlacedHull(hull_a, pose_at(poses, a)), PlacedHull(hull_b, pose_at(poses, b))
        if search_plane(placed_a, placed_b, SearchLimits(rounding, WIDE, rounding), search) == APART:
            write_point(records, as_int64(pairs.number[pair]), point_from(search.found.normal, 0))
        used += (points_a.shape[0] + points_b.shape[0]) // 3 * (search.found.steps + 1)
        pair += 1
    return pair, used


@kernel
def reach_of(points: Any, pose: Floats) -> float:
    """Return a bound of the largest world coordinate of the points (3p,) of a body."""
    farthest, offset = 0.0, 0.0
    for i in range(points.shape[0]):
        farthest = max(farthest, abs(points[i]))
    for m in range(3):
        offset = max(offset, abs(pose[m, 3]))
    return offset + 2.0 * farthest

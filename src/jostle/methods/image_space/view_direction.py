"""The direction of view of a pair: an axis of the world, the line of centres, or what last separated the two (Baciu et al. §4, §6).

The paper looks along one axis for all pairs. It proposes, for convex bodies, the separating plane itself as the plane of projection
(§6): the direction that separated a pair when it was last seen apart is remembered, in world axes. While the vertices of both are
apart along it nothing is drawn, which is exact; when they are not, the picture is taken along it. Pairs that were not seen apart
yet are looked at along the line of their centres, and along z where the centres coincide. After a picture without a hit, a plane
between convex bodies is searched for (`geometry/gjk.py`); concave bodies go back to the line of centres.

The frame of a view turns over to its own mirror image when its direction turns around, so that which body of a pair is called A
does not move the pixel centres.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Bools, Frame
from jostle.geometry.gjk import APART, Limits, PlacedHull, empty_search, open_search, search_plane
from jostle.geometry.gjk import ROUNDING as SEARCH_ROUNDING
from jostle.geometry.rigid import pose_at
from jostle.geometry.scalar_vector import length
from jostle.geometry.support import ScannedHull
from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.pair_memory import PairMemory

if TYPE_CHECKING:
    from jostle.methods.image_space.regions import ShapesOfBodies, Views

# How a direction is chosen; the first three are the axes themselves. AXES are three views of each pair.
X, Y, Z, CENTRES, SEPARATING, AXES = 0, 1, 2, 3, 4, 5
MODES = {"x": X, "y": Y, "z": Z, "centres": CENTRES, "separating": SEPARATING, "axes": AXES}
# What is found out about a pair: it needs a picture; or it is apart, 1 + axis along an axis of the view, or in every column.
MEETING, APART_ALONG, APART_IN_COLUMNS = 0, 1, 4
# Columns of the table of shapes: an address and a length for each array.
POINTS, FIRST_POINT, CENTRE, HALF = 0, 4, 8, 10
DIRECTION = 3  # numbers that are remembered of a pair: the direction, from A to B
WIDE = 0.5  # of the distance of two convex bodies: the least gap of a plane between them, so that it serves for some frames
FIRST_SLICE = 4_000_000  # points that are looked at for a plane: about 10 ms
NO_DIRECTION = 2.0**-40  # of the size and the offset of two bodies: centres nearer than this do not say where from where


@kernel
def frame_of_direction(x, y, z):  # type: ignore[no-untyped-def]
    """The right, the up and the view direction itself (nine numbers, rows of a rotation) for a unit vector (x, y, z).

    After Duff et al., Building an Orthonormal Basis, Revisited (2017): entries are off by 4 · 2⁻⁵³ at most. It jumps at z = 0.
    """
    if x == 1.0 and y == 0.0 and z == 0.0:
        return 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0
    if y == 1.0 and x == 0.0 and z == 0.0:
        return 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0
    # By x or y where z is 0: the differences of two equal heights have one sign, whichever is taken from the other.
    leading = z if z != 0.0 else (y if y != 0.0 else x)
    sign = math.copysign(1.0, leading)
    a = -1.0 / (sign + z)
    b = x * y * a
    return 1.0 + sign * x * x * a, sign * b, -sign * x, b, sign + y * y * a, -y, x, y, z


@kernel
def line_of_centres(ax, ay, az, bx, by, bz, size):  # type: ignore[no-untyped-def]
    """The unit vector from a to b; z where they are as good as one for bodies of this size and offset."""
    x, y, z = bx - ax, by - ay, bz - az
    along = length(x, y, z)
    if not along > NO_DIRECTION * size:
        return 0.0, 0.0, 1.0
    x, y, z = x / along, y / along, z / along
    # Divided once more, since the length of a tiny vector is rounded more than its directions are.
    along = length(x, y, z)
    return x / along, y / along, z / along


@kernel
def array_of(addresses, row, column):  # type: ignore[no-untyped-def]
    """A float64 array of a shape."""
    return float64_at(addresses[row, column], addresses[row, column + 1])


@kernel(forceinline=True)
def row_of_view(pose, x, y, z, ox, oy, oz):  # type: ignore[no-untyped-def]
    """(x, y, z)·pose about the world point o: three entries for body coordinates and the constant one."""
    return (
        (x * pose[0, 0] + y * pose[1, 0]) + z * pose[2, 0],
        (x * pose[0, 1] + y * pose[1, 1]) + z * pose[2, 1],
        (x * pose[0, 2] + y * pose[1, 2]) + z * pose[2, 2],
        (x * (pose[0, 3] - ox) + y * (pose[1, 3] - oy)) + z * (pose[2, 3] - oz),
    )


@kernel(forceinline=True)
def extent_of_patch(centre, half, k, r0, r1, r2, r3):  # type: ignore[no-untyped-def]
    """The lowest and the highest coordinate of the box of patch k along a row of a view."""
    middle = ((r0 * centre[3 * k] + r1 * centre[3 * k + 1]) + r2 * centre[3 * k + 2]) + r3
    reach = (abs(r0) * half[3 * k] + abs(r1) * half[3 * k + 1]) + abs(r2) * half[3 * k + 2]
    return middle - reach, middle + reach


@kernel
def apart_along(ax, bx, cx, dx, ay, by, cy, dy, az, bz, cz, dz, gap):  # type: ignore[no-untyped-def]
    """MEETING, or the axis along which [a, b] of A and [c, d] of B are more than the gap apart; negative where B comes first."""
    if cz - bz > gap:
        return APART_ALONG + Z
    if az - dz > gap:
        return -(APART_ALONG + Z)
    if cx - bx > gap:
        return APART_ALONG + X
    if ax - dx > gap:
        return -(APART_ALONG + X)
    if cy - by > gap:
        return APART_ALONG + Y
    if ay - dy > gap:
        return -(APART_ALONG + Y)
    return MEETING


@kernel
def farthest_along(points, first_point, centre, half, r0, r1, r2, r3):  # type: ignore[no-untyped-def]
    """The largest r·point + r3 over the points (3p,) of a body; patches whose boxes do not reach beyond it are passed over."""
    top, reached = -math.inf, 0
    for k in range(first_point.shape[0] - 1):
        _, highest = extent_of_patch(centre, half, k, r0, r1, r2, r3)
        if highest > top:
            top, reached = highest, k
    best = -math.inf
    for turn in range(first_point.shape[0]):
        # The patch that reaches farthest first, so that most of the others are passed over.
        k = reached if turn == 0 else turn - 1
        if turn > 0 and (k == reached or extent_of_patch(centre, half, k, r0, r1, r2, r3)[1] <= best):
            continue
        for i in range(first_point[k], first_point[k + 1]):
            best = max(best, ((r0 * points[3 * i] + r1 * points[3 * i + 1]) + r2 * points[3 * i + 2]) + r3)
    return best


@kernel
def vertices_apart(addresses, row_a, pose_a, row_b, pose_b, f, ox, oy, oz, pad):  # type: ignore[no-untyped-def]
    """How the vertices of two bodies are apart along the view direction: MEETING, or ±(APART_ALONG + Z)."""
    a0, a1, a2, a3 = row_of_view(pose_a, f[6], f[7], f[8], ox, oy, oz)
    b0, b1, b2, b3 = row_of_view(pose_b, f[6], f[7], f[8], ox, oy, oz)
    centre_a, half_a = array_of(addresses, row_a, CENTRE), array_of(addresses, row_a, HALF)
    centre_b, half_b = array_of(addresses, row_b, CENTRE), array_of(addresses, row_b, HALF)
    points_a, points_b = array_of(addresses, row_a, POINTS), array_of(addresses, row_b, POINTS)
    first_a = int32_at(addresses[row_a, FIRST_POINT], addresses[row_a, FIRST_POINT + 1])
    first_b = int32_at(addresses[row_b, FIRST_POINT], addresses[row_b, FIRST_POINT + 1])
    last_a = farthest_along(points_a, first_a, centre_a, half_a, a0, a1, a2, a3)
    first_of_b = -farthest_along(points_b, first_b, centre_b, half_b, -b0, -b1, -b2, -b3)
    if first_of_b - last_a > 2.0 * pad:
        return APART_ALONG + Z
    first_of_a = -farthest_along(points_a, first_a, centre_a, half_a, -a0, -a1, -a2, -a3)
    last_b = farthest_along(points_b, first_b, centre_b, half_b, b0, b1, b2, b3)
    return -(APART_ALONG + Z) if first_of_a - last_b > 2.0 * pad else MEETING


def remember_separations(views: Views, missed: Bools, frame: Frame, shapes: ShapesOfBodies, memory: PairMemory) -> None:
    """Look for planes between the convex bodies of pairs whose pictures show no hit, and remember their normals.

    What is known of concave ones no longer separates them: it is forgotten.

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
    numbers, body_a, body_b = (read_only_view(column[chosen]) for column in (views.pair, views.body_a, views.body_b))
    poses, direction, none = read_only_view(frame.poses), read_only_view(views.direction[chosen]), np.empty(0, np.int32)
    search = empty_search()

    def step(state: NDArray[np.int64], operations: int) -> tuple[bool, int]:
        used = separate_convex_pairs(
            numbers, body_a, body_b, shapes.shape_of_body, shapes.table.table, poses, direction, none, search.table[0],
            operations, state, memory.records,
        )  # fmt: skip
        return bool(state[0] == len(numbers)), max(1, int(used))

    run_in_slices(step, np.zeros(1, np.int64), FIRST_SLICE)


@kernel
def separate_convex_pairs(  # type: ignore[no-untyped-def]
    numbers,
    body_a,
    body_b,
    shape_of_body,
    addresses,
    poses,
    direction,
    none,
    addresses_of_search,
    operations,
    state,
    records,
):
    """Write the normal of a plane between the bodies of each of k pairs, where there is one, into its row of records.

    Begins with pair state[0], and ends after so many operations, points that are looked at; returns those used.
    """
    used = 0
    search = open_search(addresses_of_search)
    while state[0] < numbers.shape[0] and used < operations:
        k = state[0]
        a, b = np.int64(body_a[k]), np.int64(body_b[k])
        row_a, row_b = shape_of_body[a], shape_of_body[b]
        points_a, points_b = array_of(addresses, row_a, POINTS), array_of(addresses, row_b, POINTS)
        rounding = SEARCH_ROUNDING * (reach_of(points_a, poses[a]) + reach_of(points_b, poses[b]))
        for m in range(3):
            search.found.normal[m] = direction[k, m]
        search.found.count, search.found.support_a, search.found.support_b = 0, 0, 0
        placed_a = PlacedHull(ScannedHull(points_a, none, none), pose_at(poses, a))
        placed_b = PlacedHull(ScannedHull(points_b, none, none), pose_at(poses, b))
        if search_plane(placed_a, placed_b, Limits(rounding, WIDE, rounding), search) == APART:
            for m in range(3):
                records[numbers[k], m] = search.found.normal[m]
        used += (points_a.shape[0] + points_b.shape[0]) // 3 * (search.found.steps + 1)
        state[0] += 1
    return used


@kernel
def reach_of(points, pose):  # type: ignore[no-untyped-def]
    """A bound of the largest world coordinate of the points (3p,) of a body."""
    farthest, offset = 0.0, 0.0
    for i in range(points.shape[0]):
        farthest = max(farthest, abs(points[i]))
    for m in range(3):
        offset = max(offset, abs(pose[m, 3]))
    return offset + 2.0 * farthest

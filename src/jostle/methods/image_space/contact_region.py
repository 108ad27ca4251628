"""The contact region: for each colliding pixel the depths that both bodies have, as a segment in the world, and a normal.

Baciu et al. §4, last paragraph: for contact points the depths of the upper and lower boundary of the other body are needed as
well. Here the crossings of both bodies around the common depths are found again, with their faces, when somebody asks where a
contact is; a report that nobody looks into costs nothing.

The normal belongs to the shorter way out along the view. If B leaves A soonest by going on, away from the eye, it is between the
face of A by which the ray leaves and that of B by which it enters, otherwise the other way round: n_a - n_b, outward unit normals
of the two. It points from a into b. The first end of the segment is that of A's boundary on that way, the second B's. Where float64
sees no common depth at a pixel that a device reported, it is the direction of view, from the body that comes first to the other.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Frame, Ints
from jostle.geometry.scalar_vector import length
from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.methods.image_space.conservative import list_ranges
from jostle.methods.image_space.interval import as_int64
from jostle.methods.image_space.layers import Bytes, Places, list_layers
from jostle.methods.image_space.regions import ShapesOfBodies, Views
from jostle.methods.image_space.software import Pixels, place_matrices
from jostle.render.depth_layers import layers_meet
from jostle.render.depth_ranges import face_of_range, ranges_meet, sign_of_range
from jostle.render.patches import FACES_IN_PATCH
from jostle.render.spans import CORNERS, FIRST_POINT, POINTS, Table, scratch_for_drawing
from jostle.report import Details

FIRST_SLICE = 1_000_000  # pixels of tiles: about 10 ms
NEXT_ROW, LISTS_NEEDED, STATE = 0, 1, 2
SHORTEST = 1e-6  # of n_a - n_b: the direction of view is as good then


def longest_of_each_view(pixels: Pixels) -> NDArray[np.int64]:
    """Return the row of the longest common interval of each view; of equally long ones the first."""
    order = np.lexsort((pixels.low - pixels.high, pixels.view))
    longest: NDArray[np.int64] = order[np.flatnonzero(np.diff(pixels.view, prepend=-1))]
    return longest


def describe_pixels(views: Views, pixels: Pixels, frame: Frame, shapes: ShapesOfBodies, conservative: bool) -> Details:
    """Return segments, normals and areas of colliding pixels, in their order."""
    count = len(pixels.view)
    segment, normal = np.empty((count, 2, 3)), np.empty((count, 3))
    most = int(views.size[pixels.view].max(initial=1)) ** 2
    mask, firsts = np.empty(most, np.uint8), np.empty(2 * most + 4, np.int64)
    matrices, scratch = np.empty((2, 12)), scratch_for_drawing()
    depth, label = np.empty(4 * most), np.empty(4 * most, np.int32)
    ends = np.empty(len(depth) if conservative else 0)
    body_a, body_b, direction = read_only_view(views.body_a), read_only_view(views.body_b), read_only_view(views.direction)
    to_tile, to_world, size, slack = (read_only_view(x) for x in (views.to_tile, views.to_world, views.size, views.slack))
    view, pixel, low, high = (read_only_view(x) for x in (pixels.view, pixels.pixel, pixels.low, pixels.high))

    def step(state: Places, operations: int) -> tuple[bool, int]:
        nonlocal depth, ends, label
        used = describe_rows(
            body_a, body_b, to_tile, to_world, size, direction, slack, view, pixel, low, high,
            shapes.shape_of_body, shapes.table.table, read_only_view(frame.poses), conservative, operations, state,
            matrices, mask, firsts, depth, ends, label, scratch, segment, normal,
        )  # fmt: skip
        if state[LISTS_NEEDED] > len(depth):
            most = 2 * int(state[LISTS_NEEDED])
            depth, ends, label = np.empty(most), np.empty(most if conservative else 0), np.empty(most, np.int32)
        return bool(state[NEXT_ROW] == count), max(1, int(used))

    run_in_slices(step, np.zeros(STATE, np.int64), FIRST_SLICE)
    return Details(segment, normal, views.pixel[pixels.view].prod(axis=1))


@kernel
def describe_rows(
    body_a: Ints, body_b: Ints, to_tile: Floats, to_world: Floats, sizes: Ints, direction: Floats, slack: Floats,
    row_view: Ints, row_pixel: Ints, row_low: Floats, row_high: Floats,
    shape_of_body: Ints, table: Table, poses: Floats, conservative: bool, operations: int, state: Places,
    matrices: Floats, masks: Bytes, firsts: Places, depth: Floats, ends: Floats, label: Ints, scratch: Floats,
    segment: Floats, normal: Floats,
) -> int:  # fmt: skip
    """Describe rows from state[NEXT_ROW] on, view by view; writes segment (k,2,3) and normal (k,3), returns the operations used."""
    used = 0
    row = state[NEXT_ROW]
    while row < row_view.shape[0] and used < operations:
        view = as_int64(row_view[row])
        end = row
        size = as_int64(sizes[view])
        pixels = size * size
        mask = masks[:pixels].reshape((size, size))
        for j in range(size):
            for i in range(size):
                mask[j, i] = 0
        while end < row_view.shape[0] and row_view[end] == view:
            mask[row_pixel[end] // size, row_pixel[end] % size] = 1
            end += 1
        first_a, first_b = firsts[: pixels + 2], firsts[pixels + 2 : 2 * pixels + 4]
        a, b = as_int64(body_a[view]), as_int64(body_b[view])
        shape_a, shape_b = as_int64(shape_of_body[a]), as_int64(shape_of_body[b])
        place_matrices(to_tile[view], 1, matrices)
        if conservative:
            of_a, needed = list_ranges(
                table, shape_a, shape_b, matrices[0], matrices[1], size, slack[view, 0], slack[view, 1], mask,
                first_a, first_b, depth, ends, label, scratch,
            )  # fmt: skip
        else:
            of_a, needed = list_layers(
                table, shape_a, shape_b, matrices[0], matrices[1], size, mask, first_a, first_b, depth, label, scratch
            )
        if needed > depth.shape[0]:
            state[LISTS_NEEDED] = needed
            return used + pixels
        used += pixels + needed
        for k in range(row, end):
            pixel = as_int64(row_pixel[k])
            if conservative:
                known, forward, face_a, face_b = faces_of_ranges(first_a, first_b, depth, ends, label, of_a, pixel)
            else:
                known, forward, face_a, face_b = faces_of_crossings(first_a, first_b, depth, label, of_a, pixel)
            if known:
                write_normal(table, shape_a, poses[a], face_a, shape_b, poses[b], face_b, direction[view], forward, normal[k])
            else:
                write_direction(direction[view], forward, normal[k])
            write_segment(
                to_world[view], pixel % size + 0.5, pixel // size + 0.5, row_high[k] if forward else row_low[k],
                row_low[k] if forward else row_high[k], segment[k],
            )  # fmt: skip
        row = end
        state[NEXT_ROW] = row
    return used


@kernel
def faces_of_crossings(
    first_a: Places, first_b: Places, depth: Floats, label: Ints, of_a: int, pixel: int
) -> tuple[bool, bool, int, int]:
    """The faces of A and of B at which the shorter way out along the view ends, and whether B goes forward on it; of layers.

    Lists are those of `list_layers`. Not known, and no faces, where the layers share no depth: then B goes forward unless it begins
    before A.
    """
    depth_b, label_b = depth[of_a:], label[of_a:]
    in_a, out_a, in_b, out_b = layers_meet(first_a, depth, label, first_b, depth_b, label_b, pixel, True)
    if in_a < 0:
        at_a, at_b = first_a[pixel], first_b[pixel]
        both = at_a < first_a[pixel + 1] and at_b < first_b[pixel + 1]
        return False, not (both and depth_b[at_b] < depth[at_a]), -1, -1
    if depth[out_a] - depth_b[in_b] <= depth_b[out_b] - depth[in_a]:
        return True, True, abs(label[out_a]) - 1, abs(label_b[in_b]) - 1
    return True, False, abs(label[in_a]) - 1, abs(label_b[out_b]) - 1


@kernel
def faces_of_ranges(
    first_a: Places, first_b: Places, begin: Floats, end: Floats, label: Ints, of_a: int, pixel: int
) -> tuple[bool, bool, int, int]:
    """As `faces_of_crossings`, of the lists of `list_ranges`: faces that cross the ray of the centre come first."""
    begin_b, end_b, label_b = begin[of_a:], end[of_a:], label[of_a:]
    in_a, out_a, in_b, out_b = ranges_meet(first_a, begin, end, label, first_b, begin_b, end_b, label_b, pixel, True)
    if in_a < 0:
        return False, True, -1, -1
    if end[out_a] - begin_b[in_b] <= end_b[out_b] - begin[in_a]:
        leaves = last_of_ranges(begin, end, label, in_a, out_a, first_a[pixel + 1])
        return True, True, leaves, first_of_ranges(begin_b, end_b, label_b, in_b, out_b, first_b[pixel + 1])
    leaves = last_of_ranges(begin_b, end_b, label_b, in_b, out_b, first_b[pixel + 1])
    return True, False, first_of_ranges(begin, end, label, in_a, out_a, first_a[pixel + 1]), leaves


@kernel
def first_of_ranges(begin: Floats, end: Floats, label: Ints, enters: int, leaves: int, after: int) -> int:
    """The face with which an interval of ranges `enters` … `leaves` of a pixel begins; after: where its list ends.

    Faces that are seen edge on have a range over all depths: one that crosses the ray of the centre is taken instead.
    """
    for k in range(enters, after):
        if begin[k] > end[leaves]:
            break
        if sign_of_range(label[k]) != 0:
            return face_of_range(label[k])
    return face_of_range(label[enters])


@kernel
def last_of_ranges(begin: Floats, end: Floats, label: Ints, enters: int, leaves: int, after: int) -> int:
    """The face with which the interval ends; as `first_of_ranges`."""
    best, face = -np.inf, face_of_range(label[leaves])
    for k in range(enters, after):
        if begin[k] > end[leaves]:
            break
        if sign_of_range(label[k]) != 0 and end[k] > best:
            best, face = end[k], face_of_range(label[k])
    return face


@kernel
def write_segment(to_world: Floats, x: float, y: float, first: float, second: float, segment: Floats) -> None:
    """Write the world points (2,3) at two depths of a pixel's ray; to_world (12,)."""
    for axis in range(3):
        along = to_world[4 * axis] * x + to_world[4 * axis + 1] * y + to_world[4 * axis + 3]
        segment[0, axis] = along + to_world[4 * axis + 2] * first
        segment[1, axis] = along + to_world[4 * axis + 2] * second


@kernel
def write_direction(direction: Floats, forward: bool, normal: Floats) -> None:
    """Write the direction of view (3,), or the opposite one, for a normal (3,)."""
    for axis in range(3):
        normal[axis] = direction[axis] if forward else -direction[axis]


@kernel
def write_normal(
    table: Table, shape_a: int, pose_a: Floats, face_a: int, shape_b: int, pose_b: Floats, face_b: int,
    direction: Floats, forward: bool, normal: Floats,
) -> None:  # fmt: skip
    """Write the unit vector of n_a - n_b (3,), of the faces (in the order of patches) at which the way out along the view ends."""
    ax, ay, az = outward_normal(table, shape_a, pose_a, face_a, direction, forward)
    bx, by, bz = outward_normal(table, shape_b, pose_b, face_b, direction, not forward)
    x, y, z = ax - bx, ay - by, az - bz
    along = length(x, y, z)
    sign = 1.0 if forward else -1.0
    if not along > SHORTEST:
        x, y, z, along = sign * direction[0], sign * direction[1], sign * direction[2], 1.0
    normal[0], normal[1], normal[2] = x / along, y / along, z / along


@kernel
def outward_normal(
    table: Table, shape: int, pose: Floats, face: int, direction: Floats, leaving: bool
) -> tuple[float, float, float]:
    """The unit normal, in the world, of a face by which a ray along the direction (3,) leaves or enters its body.

    Whichever way round its corners are given: it points along the ray where that leaves, against it where it enters.
    """
    points = float64_at(table[shape, POINTS], table[shape, POINTS + 1])
    corners = int32_at(table[shape, CORNERS], table[shape, CORNERS + 1])
    first_point = int32_at(table[shape, FIRST_POINT], table[shape, FIRST_POINT + 1])
    base = first_point[face // FACES_IN_PATCH]
    p, q, r = 3 * (base + corners[3 * face]), 3 * (base + corners[3 * face + 1]), 3 * (base + corners[3 * face + 2])
    ux, uy, uz = points[q] - points[p], points[q + 1] - points[p + 1], points[q + 2] - points[p + 2]
    vx, vy, vz = points[r] - points[p], points[r + 1] - points[p + 1], points[r + 2] - points[p + 2]
    # Scaled first, so that the product of edges of 1e-30 does not vanish.
    u, v = max(abs(ux), abs(uy), abs(uz)), max(abs(vx), abs(vy), abs(vz))
    wanted = 1.0 if leaving else -1.0
    if not (u > 0.0 and v > 0.0):
        return wanted * direction[0], wanted * direction[1], wanted * direction[2]
    ux, uy, uz, vx, vy, vz = ux / u, uy / u, uz / u, vx / v, vy / v, vz / v
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    x = pose[0, 0] * nx + pose[0, 1] * ny + pose[0, 2] * nz
    y = pose[1, 0] * nx + pose[1, 1] * ny + pose[1, 2] * nz
    z = pose[2, 0] * nx + pose[2, 1] * ny + pose[2, 2] * nz
    along = length(x, y, z)
    if not along > 0.0:
        return wanted * direction[0], wanted * direction[1], wanted * direction[2]
    if (x * direction[0] + y * direction[1] + z * direction[2]) * wanted < 0.0:
        along = -along
    return x / along, y / along, z / along

"""The contact region: common depths of colliding pixels as segments, and normals.

Baciu et al. §4, last paragraph: contact points also need the depths of the upper and lower boundary of the other body.
Here the crossings of both bodies around the common depths are found again, with their faces, when a caller reads the
details of a contact; a report whose details are not read costs nothing.

The normal belongs to the shorter way out along the view. If B leaves A soonest by moving on, away from the eye, it is
between the face of A where the ray leaves and that of B where it enters, otherwise the reverse: n_a - n_b, outward unit
normals of the two. It points from a into b. The first end of the segment is that of A's boundary on that way, the second
B's. Where float64 sees no common depth at a pixel that a device reported, it is the view direction, from the nearer body
to the other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.vector import Vec3, cross, divided, dot, length, minus, point_at, point_from, times
from jostle.interface.frame import Frame
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Addresses
from jostle.methods.image_space.layers import depth_lists, list_depths
from jostle.methods.image_space.regions import Views
from jostle.methods.image_space.shape_table import ShapesOfBodies, open_shapes
from jostle.methods.image_space.software import Pixels, ViewRows, pair_in_view, view_rows
from jostle.methods.image_space.workspace import CONSERVATIVE, INTERVAL, MASK, Work, Workspace, count_map, open_work
from jostle.render.depth_intervals import DepthList, face_of_range, intervals_meet, sign_of_range
from jostle.render.drawn_body import PatchedMesh
from jostle.render.patches import FACES_IN_PATCH
from jostle.report.report import Details

FIRST_SLICE = 1_000_000  # pixels of tiles: about 10 ms
SHORTEST = 1e-6  # of n_a - n_b: below it the view direction is as good


def longest_of_each_view(pixels: Pixels) -> NDArray[np.int64]:
    """Return the row of the longest interval of each view; ties go to the first."""
    order = np.lexsort((pixels.low - pixels.high, pixels.view))
    longest: NDArray[np.int64] = order[np.flatnonzero(np.diff(pixels.view, prepend=-1))]
    return longest


def describe_pixels(views: Views, pixels: Pixels, frame: Frame, shapes: ShapesOfBodies, conservative: bool) -> Details:
    """Return segments, normals and areas of colliding pixels, in their order."""
    count = len(pixels.view)
    segment, normal = np.empty((count, 2, 3)), np.empty((count, 3))
    widest = int(views.size[pixels.view].max(initial=1))
    work = Workspace(widest, 4 * widest * widest)
    work.search.test = CONSERVATIVE if conservative else INTERVAL
    view, pixel, low, high = (read_only_view(column) for column in (pixels.view, pixels.pixel, pixels.low, pixels.high))
    rows = Pixels(view, pixel, low, high, pixels.drawn)
    tiles, to_world, direction = view_rows(views), read_only_view(views.to_world), read_only_view(views.direction)
    poses = read_only_view(frame.poses)

    def step(work: Workspace, operations: int) -> tuple[bool, int]:
        used = describe_rows(tiles, to_world, direction, rows, shapes.addresses, poses, work.addresses, operations, segment, normal)
        return work.grow().rows == count, max(1, int(used))

    run_in_slices(step, work, FIRST_SLICE)
    return Details(segment=segment, normal=normal, area=views.pixel[pixels.view].prod(axis=1))


class WayOut(NamedTuple):
    """The faces of A and B where the shorter way out along the view ends."""

    known: bool  # else there are no faces
    forward: bool
    face_a: int  # in the order of patches
    face_b: int


@kernel
def describe_rows(
    views: ViewRows, to_world: Floats, direction: Floats, rows: Pixels, shapes: Addresses, poses: Floats, addresses: Addresses,
    operations: int, segment: Floats, normal: Floats,
) -> int:  # fmt: skip
    """Describe rows, view by view, from where the workspace stands.

    Writes segment (k,2,3) and normal (k,3). Returns the operations used.
    """
    table, work = open_shapes(shapes), open_work(addresses)
    search, used = work.search, 0
    of_view, pixels, low, high, _drawn = rows
    while search.rows < of_view.shape[0] and used < operations:
        row, view = as_int64(search.rows), as_int64(of_view[search.rows])
        pair = pair_in_view(views, table, view, 1)
        size, end = pair.a.size, mask_rows(work, of_view, pixels, row, pair.a.size)
        of_a, needed = list_depths(work, pair, count_map(work, MASK, size))
        used += size * size
        if needed > work.depths.shape[0]:
            search.lists_needed = needed
            return used
        used += needed
        a, b, ray = as_int64(views.body_a[view]), as_int64(views.body_b[view]), point_at(direction, view)
        for k in range(row, end):
            pixel = as_int64(pixels[k])
            way = way_out(work, size, of_a, pixel)
            between = Vec3(0.0, 0.0, 0.0)
            if way.known:
                out_a = outward_normal(pair.a.mesh, poses[a], way.face_a, ray, way.forward)
                between = minus(out_a, outward_normal(pair.b.mesh, poses[b], way.face_b, ray, not way.forward))
            write_normal(between, ray, way.forward, normal[k])
            first, second = (high[k], low[k]) if way.forward else (low[k], high[k])
            write_segment(to_world[view], pixel % size + 0.5, pixel // size + 0.5, first, second, segment[k])
        search.rows = end
    return used


@kernel
def mask_rows(work: Work, of_view: Ints, pixels: Ints, row: int, size: int) -> int:
    """Mask the pixels of all rows of the view of `row`; return the end of those rows."""
    mask, view, end = count_map(work, MASK, size), of_view[row], row
    for j in range(size):
        for i in range(size):
            mask[j, i] = 0
    while end < of_view.shape[0] and of_view[end] == view:
        mask[pixels[end] // size, pixels[end] % size] = 1
        end += 1
    return end


@kernel
def way_out(work: Work, size: int, of_a: int, pixel: int) -> WayOut:
    """Return the way out at a pixel; A has the first `of_a` rows of the lists.

    Not known where the bodies share no depth: then B goes forward unless it begins before A.
    """
    ranges = work.search.test == CONSERVATIVE
    a, b = depth_lists(work, size, of_a)
    end_a, end_b = a.first[pixel + 1], b.first[pixel + 1]
    common = intervals_meet(a, b, pixel, ranges, True)
    if common.in_a < 0:
        at_a, at_b = a.first[pixel], b.first[pixel]
        return WayOut(False, not (at_a < end_a and at_b < end_b and b.low[at_b] < a.low[at_a]), -1, -1)
    forward = a.high[common.out_a] - b.low[common.in_b] <= b.high[common.out_b] - a.low[common.in_a]
    face_a = face_at_end(a, common.in_a, common.out_a, end_a, ranges, forward)
    return WayOut(True, forward, face_a, face_at_end(b, common.in_b, common.out_b, end_b, ranges, not forward))


@kernel(forceinline=True)
def face_at_end(depths: DepthList, enters: int, leaves: int, after: int, ranges: bool, leaving: bool) -> int:
    """Return the face, in the order of the patches, where an interval begins or ends.

    Rows `enters` … `leaves` are the interval, `after` is the end of the pixel's list. Ranges of edge-on faces cover all depths: a
    face that crosses the ray of the centre is preferred.
    """
    label = as_int64(depths.label[leaves if leaving else enters])
    if not ranges:
        return abs(label) - 1
    best = -np.inf
    for k in range(enters, after):
        if depths.low[k] > depths.high[leaves]:
            break
        if sign_of_range(depths.label[k]) != 0 and depths.high[k] > best:
            best, label = depths.high[k], as_int64(depths.label[k])
            if not leaving:
                break
    return face_of_range(label)


@kernel
def write_segment(to_world: Floats, x: float, y: float, first: float, second: float, segment: Floats) -> None:
    """Write the world points (2,3) at two depths of a pixel's ray; to_world (12,)."""
    for axis in range(3):
        along = to_world[4 * axis] * x + to_world[4 * axis + 1] * y + to_world[4 * axis + 3]
        segment[0, axis] = along + to_world[4 * axis + 2] * first
        segment[1, axis] = along + to_world[4 * axis + 2] * second


@kernel
def write_normal(between: Vec3, direction: Vec3, forward: bool, normal: Floats) -> None:
    """Write the unit vector (3,) of `between`, n_a - n_b of the faces at the way out.

    The view direction, or its opposite, where that is too short.
    """
    along = length(between)
    if not along > SHORTEST:
        between, along = times(1.0 if forward else -1.0, direction), 1.0
    unit = divided(between, along)
    normal[0], normal[1], normal[2] = unit.x, unit.y, unit.z


@kernel
def outward_normal(mesh: PatchedMesh, pose: Floats, face: int, direction: Vec3, leaving: bool) -> Vec3:
    """Return the unit world normal of a face where a ray leaves or enters its body.

    Whatever the order of its corners, it points along the ray where that leaves, against it where it enters.
    """
    base = mesh.first_point[face // FACES_IN_PATCH]
    p = point_from(mesh.points, 3 * (base + mesh.corners[3 * face]))
    u = minus(point_from(mesh.points, 3 * (base + mesh.corners[3 * face + 1])), p)
    v = minus(point_from(mesh.points, 3 * (base + mesh.corners[3 * face + 2])), p)
    longest_u, longest_v = max(abs(u.x), abs(u.y), abs(u.z)), max(abs(v.x), abs(v.y), abs(v.z))
    wanted = 1.0 if leaving else -1.0
    if not (longest_u > 0.0 and longest_v > 0.0):
        return times(wanted, direction)
    # Scaled first, so that the product of edges of 1e-30 does not underflow.
    local = cross(divided(u, longest_u), divided(v, longest_v))
    normal = Vec3(dot(point_at(pose, 0), local), dot(point_at(pose, 1), local), dot(point_at(pose, 2), local))
    along = length(normal)
    if not along > 0.0:
        return times(wanted, direction)
    if dot(normal, direction) * wanted < 0.0:
        along = -along
    return divided(normal, along)

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

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.vector import Vec3, cross, divided, dot, length, minus, negative, point_at, point_from, times
from jostle.interface.frame import Frame
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Addresses
from jostle.methods.image_space.conservative import list_ranges, range_lists
from jostle.methods.image_space.layers import layer_lists, list_layers
from jostle.methods.image_space.regions import Views
from jostle.methods.image_space.shape_table import ShapesOfBodies, open_shapes
from jostle.methods.image_space.software import Pixels, ViewRows, pair_in_view, view_rows
from jostle.methods.image_space.workspace import (
    CONSERVATIVE,
    INTERVAL,
    MASK,
    DrawnPair,
    Work,
    Workspace,
    count_map,
    open_work,
)
from jostle.render.depth_layers import layers_meet
from jostle.render.depth_ranges import RangeList, face_of_range, ranges_meet, sign_of_range
from jostle.render.drawn_body import PatchedMesh
from jostle.render.patches import FACES_IN_PATCH
from jostle.report.report import Details

FIRST_SLICE = 1_000_000  # pixels of tiles: about 10 ms
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
    widest = int(views.size[pixels.view].max(initial=1))
    work = Workspace(widest, 4 * widest * widest)
    work.search.test = CONSERVATIVE if conservative else INTERVAL
    rows = PixelRows(*(read_only_view(column) for column in (pixels.view, pixels.pixel, pixels.low, pixels.high)))
    tiles, to_world, direction = view_rows(views), read_only_view(views.to_world), read_only_view(views.direction)
    poses = read_only_view(frame.poses)

    def step(work: Workspace, operations: int) -> tuple[bool, int]:
        used = describe_rows(tiles, to_world, direction, rows, shapes.addresses, poses, work.addresses, operations, segment, normal)
        return work.grow().rows == count, max(1, int(used))

    run_in_slices(step, work, FIRST_SLICE)
    return Details(segment=segment, normal=normal, area=views.pixel[pixels.view].prod(axis=1))


class PixelRows(NamedTuple):
    """What kernels read of `Pixels`."""

    of_view: Ints
    pixel: Ints
    low: Floats
    high: Floats


class WayOut(NamedTuple):
    """The faces of A and of B at which the shorter way out along the view ends, and whether B goes forward on it."""

    known: bool  # else there are no faces
    forward: bool
    face_a: int  # in the order of patches
    face_b: int


@kernel
def describe_rows(
    views: ViewRows, to_world: Floats, direction: Floats, rows: PixelRows, shapes: Addresses, poses: Floats, addresses: Addresses,
    operations: int, segment: Floats, normal: Floats,
) -> int:  # fmt: skip
    """Describe the rows that a workspace has not counted yet, view by view, for so many operations; returns those used.

    Writes segment (k,2,3) and normal (k,3).
    """
    table, work = open_shapes(shapes), open_work(addresses)
    search, used = work.search, 0
    while search.rows < rows.of_view.shape[0] and used < operations:
        row, view = as_int64(search.rows), as_int64(rows.of_view[search.rows])
        pair = pair_in_view(views, table, view, 1)
        size, end = pair.a.size, mask_rows(work, rows, row, pair.a.size)
        of_a, needed = list_masked(work, pair)
        used += size * size
        if needed > work.depths.shape[0]:
            search.lists_needed = needed
            return used
        used += needed
        a, b, ray = as_int64(views.body_a[view]), as_int64(views.body_b[view]), point_at(direction, view)
        for k in range(row, end):
            pixel = as_int64(rows.pixel[k])
            way = way_out(work, size, of_a, pixel)
            if way.known:
                out_a = outward_normal(pair.a.mesh, poses[a], way.face_a, ray, way.forward)
                out_b = outward_normal(pair.b.mesh, poses[b], way.face_b, ray, not way.forward)
                write_normal(out_a, out_b, ray, way.forward, normal[k])
            else:
                write_direction(ray, way.forward, normal[k])
            first, second = (rows.high[k], rows.low[k]) if way.forward else (rows.low[k], rows.high[k])
            write_segment(to_world[view], pixel % size + 0.5, pixel // size + 0.5, first, second, segment[k])
        search.rows = end
    return used


@kernel
def mask_rows(work: Work, rows: PixelRows, row: int, size: int) -> int:
    """Set the mask at the pixels of all rows of the view of a row, which are those up to the row that is returned."""
    mask, view, end = count_map(work, MASK, size), rows.of_view[row], row
    for j in range(size):
        for i in range(size):
            mask[j, i] = 0
    while end < rows.of_view.shape[0] and rows.of_view[end] == view:
        mask[rows.pixel[end] // size, rows.pixel[end] % size] = 1
        end += 1
    return end


@kernel
def list_masked(work: Work, pair: DrawnPair) -> tuple[int, int]:
    """List the crossings or the ranges where the mask is set; returns as `list_layers` does."""
    mask = count_map(work, MASK, pair.a.size)
    return list_ranges(work, pair, mask) if work.search.test == CONSERVATIVE else list_layers(work, pair, mask)


@kernel
def way_out(work: Work, size: int, of_a: int, pixel: int) -> WayOut:
    """Return the way out at a pixel, from the lists at hand, of which A has the first `of_a` numbers."""
    if work.search.test == CONSERVATIVE:
        return way_out_of_ranges(work, size, of_a, pixel)
    return way_out_of_layers(work, size, of_a, pixel)


@kernel
def way_out_of_layers(work: Work, size: int, of_a: int, pixel: int) -> WayOut:
    """Return the way out by the lists of `list_layers`.

    Not known where the layers share no depth: then B goes forward unless it begins before A.
    """
    a, b = layer_lists(work, size, of_a)
    common = layers_meet(a, b, pixel, True)
    if common.in_a < 0:
        at_a, at_b = a.first[pixel], b.first[pixel]
        both = at_a < a.first[pixel + 1] and at_b < b.first[pixel + 1]
        return WayOut(False, not (both and b.depth[at_b] < a.depth[at_a]), -1, -1)
    if a.depth[common.out_a] - b.depth[common.in_b] <= b.depth[common.out_b] - a.depth[common.in_a]:
        return WayOut(True, True, face_of_layer(a.label[common.out_a]), face_of_layer(b.label[common.in_b]))
    return WayOut(True, False, face_of_layer(a.label[common.in_a]), face_of_layer(b.label[common.out_b]))


@kernel(forceinline=True)
def face_of_layer(label: int) -> int:
    """Return the face of a crossing, in the order of the patches."""
    return as_int64(abs(label) - 1)


@kernel
def way_out_of_ranges(work: Work, size: int, of_a: int, pixel: int) -> WayOut:
    """Return the way out by the lists of `list_ranges`: faces that cross the ray of the centre come first."""
    a, b = range_lists(work, size, of_a)
    common = ranges_meet(a, b, pixel, True)
    if common.in_a < 0:
        return WayOut(False, True, -1, -1)
    end_a, end_b = a.first[pixel + 1], b.first[pixel + 1]
    if a.high[common.out_a] - b.low[common.in_b] <= b.high[common.out_b] - a.low[common.in_a]:
        leaves = last_of_ranges(a, common.in_a, common.out_a, end_a)
        return WayOut(True, True, leaves, first_of_ranges(b, common.in_b, common.out_b, end_b))
    leaves = last_of_ranges(b, common.in_b, common.out_b, end_b)
    return WayOut(True, False, first_of_ranges(a, common.in_a, common.out_a, end_a), leaves)


@kernel(forceinline=True)
def first_of_ranges(ranges: RangeList, enters: int, leaves: int, after: int) -> int:
    """Return the face with which an interval of ranges `enters` … `leaves` of a pixel begins; after: where its list ends.

    Faces that are seen edge on have a range over all depths: one that crosses the ray of the centre is taken instead.
    """
    for k in range(enters, after):
        if ranges.low[k] > ranges.high[leaves]:
            break
        if sign_of_range(ranges.label[k]) != 0:
            return as_int64(face_of_range(ranges.label[k]))
    return as_int64(face_of_range(ranges.label[enters]))


@kernel(forceinline=True)
def last_of_ranges(ranges: RangeList, enters: int, leaves: int, after: int) -> int:
    """Return the face with which the interval ends; as `first_of_ranges`."""
    best, face = -np.inf, as_int64(face_of_range(ranges.label[leaves]))
    for k in range(enters, after):
        if ranges.low[k] > ranges.high[leaves]:
            break
        if sign_of_range(ranges.label[k]) != 0 and ranges.high[k] > best:
            best, face = ranges.high[k], as_int64(face_of_range(ranges.label[k]))
    return face


@kernel
def write_segment(to_world: Floats, x: float, y: float, first: float, second: float, segment: Floats) -> None:
    """Write the world points (2,3) at two depths of a pixel's ray; to_world (12,)."""
    for axis in range(3):
        along = to_world[4 * axis] * x + to_world[4 * axis + 1] * y + to_world[4 * axis + 3]
        segment[0, axis] = along + to_world[4 * axis + 2] * first
        segment[1, axis] = along + to_world[4 * axis + 2] * second


@kernel
def write_direction(direction: Vec3, forward: bool, normal: Floats) -> None:
    """Write the direction of view, or the opposite one, for a normal (3,)."""
    way = direction if forward else negative(direction)
    normal[0], normal[1], normal[2] = way.x, way.y, way.z


@kernel
def write_normal(out_a: Vec3, out_b: Vec3, direction: Vec3, forward: bool, normal: Floats) -> None:
    """Write the unit vector of n_a - n_b (3,), of the faces at which the way out along the view ends."""
    between = minus(out_a, out_b)
    along = length(between)
    if not along > SHORTEST:
        between, along = times(1.0 if forward else -1.0, direction), 1.0
    unit = divided(between, along)
    normal[0], normal[1], normal[2] = unit.x, unit.y, unit.z


@kernel
def outward_normal(mesh: PatchedMesh, pose: Floats, face: int, direction: Vec3, leaving: bool) -> Vec3:
    """Return the unit normal, in the world, of a face by which a ray along the direction leaves or enters its body.

    Whichever way round its corners are given: it points along the ray where that leaves, against it where it enters.
    """
    base = mesh.first_point[face // FACES_IN_PATCH]
    p = point_from(mesh.points, 3 * (base + mesh.corners[3 * face]))
    u = minus(point_from(mesh.points, 3 * (base + mesh.corners[3 * face + 1])), p)
    v = minus(point_from(mesh.points, 3 * (base + mesh.corners[3 * face + 2])), p)
    longest_u, longest_v = max(abs(u.x), abs(u.y), abs(u.z)), max(abs(v.x), abs(v.y), abs(v.z))
    wanted = 1.0 if leaving else -1.0
    if not (longest_u > 0.0 and longest_v > 0.0):
        return times(wanted, direction)
    # Scaled first, so that the product of edges of 1e-30 does not vanish.
    local = cross(divided(u, longest_u), divided(v, longest_v))
    normal = Vec3(dot(point_at(pose, 0), local), dot(point_at(pose, 1), local), dot(point_at(pose, 2), local))
    along = length(normal)
    if not along > 0.0:
        return times(wanted, direction)
    if dot(normal, direction) * wanted < 0.0:
        along = -along
    return divided(normal, along)

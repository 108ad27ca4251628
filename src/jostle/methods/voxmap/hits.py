"""Depth and kind of hits, and on demand their position and normal.

Lock and Wills §5 report the collision points; depth and normal are beyond the paper. A shell point stands for a piece of surface
about its foot (`normals.py`), so the foot is measured: its distance from the map's body by the distance band
(`distance_band.py`), and its depth, 0 where it is outside. A point in a filled voxel is a hit wherever its foot is, a point
that is only near a map when its foot is inside (`keep_hits`): depths begin at 0, wherever the voxels are. The normal leads
out of the map's body along the gradient of the band, or where that cannot be trusted against the shell's own normal, and is turned
to point from body a into body b. The area is the point's share of the surface seen along the normal: walls along it have none.
A deep point (a body inside another) is measured in the same way, as deep as the band reaches; it has no area.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bytes, Floats, Ints
from jostle.geometry.contact_kind import A_IN_B, B_IN_A, CROSSING, TOUCHING
from jostle.geometry.rigid import RigidPose, moved_point, pose_at, pose_of, solve_relative_pose_into, turned_vector
from jostle.geometry.vector import Vec3, dot, minus, plus, point_at, point_from, times, write_point
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64, as_int64
from jostle.kernels.structs import Addresses, Rows, borrowed, float32
from jostle.methods.voxmap.distance_band import MARGIN, DistanceBand, distance_and_gradient, way_out
from jostle.methods.voxmap.look_up import FOUND_HIT, FOUND_POINT, FOUND_TASK, SLACK, choose_shell
from jostle.methods.voxmap.map import GridSize
from jostle.methods.voxmap.normals import area_of_point
from jostle.methods.voxmap.shape_arrays import (
    ShapeArrays,
    frame_in_map,
    is_filled,
    map_size,
    open_shape,
    task_at,
)


class HitSource(NamedTuple):
    """The bodies and shapes that give and take the points of hits, and their frame.

    The giver has the shell or the deep points, the taker the map.
    """

    pair: int
    giver: int
    giver_body: int
    taker: int
    taker_body: int
    is_deep: bool
    frame: RigidPose


class MeasuredHits(NamedTuple):
    """Bodies (2,n), kind, signed distance and depth (n,), gradient (n,3)."""

    bodies: Ints
    kind: NDArray[np.uint8]
    distance: Floats
    depth: Floats
    gradient: Floats


class DescribedHits(NamedTuple):
    """Segment (n,2,3) from a to b, normal (n,3) from a into b, area (n,), place (n,3)."""

    segment: Floats
    normal: Floats
    area: Floats
    place: Floats


class DescribedSource(NamedTuple):
    """The data that the hits of one source share."""

    middle: Vec3  # of the shell
    map_middle: Vec3  # of the map's body, in voxels
    square: float  # of the shell voxel's edge, 0 where areas do not count
    giver_pose: RigidPose
    taker_pose: RigidPose
    gives_a: bool


@kernel(forceinline=True)
def band_of(shape: ShapeArrays, step: float) -> DistanceBand:
    """Return the distance band of a shape in units of `band_step` / `step`."""
    size, more = map_size(shape), 2 * MARGIN + 7
    blocks = GridSize((size.x + more) >> 3, (size.y + more) >> 3, (size.z + more) >> 3)
    return DistanceBand(shape.band_first, shape.band_values, blocks, step)


@kernel(forceinline=True)
def shell_point(points: Rows[float32], point: int) -> Vec3:
    """Return a point, foot or normal of a shell in float64."""
    return Vec3(as_float64(points[3 * point]), as_float64(points[3 * point + 1]), as_float64(points[3 * point + 2]))


@kernel(forceinline=True)
def point_of_hit(points: Rows[float32], giver: ShapeArrays, point: int) -> Vec3:
    """Return the point (or foot) of a hit relative to the middle of its shell."""
    if point >= 0:
        return shell_point(points, point)
    return minus(point_from(giver.deep, -3 * (point + 1)), point_from(giver.numbers.middle, 0))


@kernel
def keep_hits(tasks: Ints, frames: Floats, shapes: Addresses, rows: Ints, count: int, pair_hit: Bytes) -> int:
    """Keep rows of hits and of points with a foot inside; return how many.

    The first `count` columns of `rows` are (task, point, hit). Pairs of kept rows are marked in `pair_hit`.
    """
    row, kept = 0, 0
    while row < count:
        number = as_int64(rows[FOUND_TASK, row])
        task = task_at(tasks, number)
        feet, band = open_shape(shapes, task.shell).feet, band_of(open_shape(shapes, task.map), 1.0)
        frame = pose_at(frames, number)
        while row < count and rows[FOUND_TASK, row] == number:
            point, hit = as_int64(rows[FOUND_POINT, row]), rows[FOUND_HIT, row] != 0
            if not hit:
                hit = distance_and_gradient(moved_point(frame, shell_point(feet, point)), band)[0] < 0.0
                if hit:
                    pair_hit[task.pair] = 1
            if hit:
                rows[FOUND_TASK, kept], rows[FOUND_POINT, kept] = number, point
                kept += 1
            row += 1
    return kept


@kernel
def source_of_hit(tasks: Ints, frames: Floats, shapes: Addresses, poses: Floats, number: int, point: int) -> HitSource:
    """Return the source of a hit; its frame is reversed for deep points."""
    task = task_at(tasks, number)
    if point >= 0:
        return HitSource(task.pair, task.shell, task.shell_body, task.map, task.map_body, False, pose_at(frames, number))
    relative = np.empty((4, 4))
    solve_relative_pose_into(poses[task.shell_body], poses[task.map_body], relative)
    frame = frame_in_map(relative, open_shape(shapes, task.map), open_shape(shapes, task.shell))
    return HitSource(task.pair, task.map, task.map_body, task.shell, task.shell_body, True, frame)


@kernel(forceinline=True)
def end_of_source(rows: Ints, first: int, end: int) -> int:
    """Return the end of the rows that share the source of row `first`."""
    row = first + 1
    while row < end and rows[0, row] == rows[0, first] and (rows[1, row] < 0) == (rows[1, first] < 0):
        row += 1
    return row


@kernel
def measure_hits(
    tasks: Ints, frames: Floats, shapes: Addresses, poses: Floats, pair_a: Ints, pair_b: Ints, rows: Ints, begin: int, end: int,
    out: MeasuredHits,
) -> None:  # fmt: skip
    """Measure the hits begin … end - 1 of rows (2,n) into `out`."""
    row = begin
    while row < end:
        source = source_of_hit(tasks, frames, shapes, poses, as_int64(rows[0, row]), as_int64(rows[1, row]))
        giver, taker = open_shape(shapes, source.giver), open_shape(shapes, source.taker)
        band = band_of(taker, taker.numbers.band_step)
        a, b = pair_a[source.pair], pair_b[source.pair]
        contained = B_IN_A if source.giver_body == b else A_IN_B
        banded = band.first.shape[0] > 0
        stop = end_of_source(rows, row, end)
        while row < stop:
            d, gradient = math.nan, Vec3(0.0, 0.0, 0.0)
            if banded:
                foot = point_of_hit(giver.feet, giver, as_int64(rows[1, row]))
                d, gradient = distance_and_gradient(moved_point(source.frame, foot), band)
            out.bodies[0, row], out.bodies[1, row] = a, b
            out.distance[row] = d
            out.depth[row] = max(0.0, -d) if banded else d
            write_point(out.gradient, row, gradient)
            out.kind[row] = contained if source.is_deep else (TOUCHING if d >= 0.0 else CROSSING)
            row += 1


@kernel(forceinline=True)
def voxel_corner(at: Vec3) -> Vec3:
    """Return the lower corner of the voxel that holds a point, in voxels."""
    return Vec3(float(math.floor(at.x)), float(math.floor(at.y)), float(math.floor(at.z)))


@kernel
def voxel_of_hit(target: ShapeArrays, at: Vec3, foot: Vec3) -> Vec3:
    """Return the corner of the filled voxel of a point, else of its foot's.

    Neighbours within the slack count, since the look-up rounds to float32.
    """
    corner = voxel_corner(at)
    if is_filled(target, at):
        return corner
    within = minus(at, corner)
    if min(within.x, within.y, within.z) <= SLACK or max(within.x, within.y, within.z) >= 1.0 - SLACK:
        for n in range(27):
            beside = Vec3(at.x + SLACK * (n % 3 - 1), at.y + SLACK * (n // 3 % 3 - 1), at.z + SLACK * (n // 9 - 1))
            if is_filled(target, beside):
                return voxel_corner(beside)
    return voxel_corner(foot)


@kernel(forceinline=True)
def described_source(source: HitSource, giver: ShapeArrays, taker: ShapeArrays, poses: Floats, gives_a: bool) -> DescribedSource:
    """Return the data that all hits of a source share.

    Of two shells only the one that would be looked up alone has areas.
    """
    counts = choose_shell(giver, taker) if gives_a else not choose_shell(taker, giver)
    voxel, edge = giver.numbers.voxel, taker.numbers.voxel
    from_corner = minus(point_from(taker.numbers.middle, 0), point_from(taker.numbers.origin, 0))
    return DescribedSource(
        point_from(giver.numbers.middle, 0),
        Vec3(from_corner.x / edge, from_corner.y / edge, from_corner.z / edge),
        0.5 * voxel * voxel if counts else 0.0,
        pose_of(poses[source.giver_body]),
        pose_of(poses[source.taker_body]),
        gives_a,
    )


@kernel(forceinline=True)
def describe_hit(
    source: HitSource, common: DescribedSource, giver: ShapeArrays, taker: ShapeArrays, point: int, gradient: Vec3, row: int,
    out: DescribedHits,
) -> None:  # fmt: skip
    """Write segment, normal, area and place of one hit."""
    edge = taker.numbers.voxel
    foot = point_of_hit(giver.feet, giver, point)
    at = moved_point(source.frame, foot)
    corner = voxel_of_hit(taker, moved_point(source.frame, point_of_hit(giver.points, giver, point)), at)
    origin = point_from(taker.numbers.origin, 0)
    centre = plus(origin, times(edge, Vec3(corner.x + 0.5, corner.y + 0.5, corner.z + 0.5)))
    normal = in_map = Vec3(0.0, 0.0, 0.0)
    if not source.is_deep:  # computed even if unused: a test costs more
        normal = shell_point(giver.normals, point)
        in_map = times(edge, turned_vector(source.frame, normal))
    out_of_map = way_out(gradient, in_map, minus(at, common.map_middle))
    # Where the giver is a, out of the taker is out of b: the opposite of from a into b.
    mine, sign = (0, -1.0) if common.gives_a else (1, 1.0)
    in_world = times(sign, turned_vector(common.taker_pose, out_of_map))
    shrink = 1.0 / math.sqrt(dot(in_world, in_world))
    write_point(out.normal, row, times(shrink, in_world))
    out.area[row] = area_of_point(normal, common.square) * max(0.0, -shrink * dot(in_map, out_of_map))
    place = moved_point(common.giver_pose, plus(foot, common.middle))
    write_point(out.place, row, place)
    write_point(out.segment[row], mine, place)
    write_point(out.segment[row], 1 - mine, moved_point(common.taker_pose, centre))


@kernel
def describe_hits(
    tasks: Ints, frames: Floats, shapes: Addresses, poses: Floats, pair_a: Ints, rows: Ints, begin: int, end: int, gradient: Floats,
    out: DescribedHits,
) -> None:  # fmt: skip
    """Describe the hits begin … end - 1 of rows (2,n), by their gradients.

    The ends of a segment are the foot and the centre of the voxel; the place is the foot. Areas count for one of two shells, so
    that no overlap counts twice.
    """
    # Borrowed: counting references in the loop would cost more than the rest of it.
    written = DescribedHits(borrowed(out.segment), borrowed(out.normal), borrowed(out.area), borrowed(out.place))
    row = begin
    while row < end:
        source = source_of_hit(tasks, frames, shapes, poses, as_int64(rows[0, row]), as_int64(rows[1, row]))
        giver, taker = open_shape(shapes, source.giver), open_shape(shapes, source.taker)
        common = described_source(source, giver, taker, poses, source.giver_body == pair_a[source.pair])
        stop = end_of_source(rows, row, end)
        while row < stop:
            describe_hit(source, common, giver, taker, as_int64(rows[1, row]), point_at(gradient, row), row, written)
            row += 1


@kernel
def deepest_of_each_pair(row_pair: Ints, distance: Floats, chosen: NDArray[np.int64]) -> int:
    """Write the row of least distance of each run of one pair; return their number.

    Ties go to the first row.
    """
    found = 0
    for row in range(row_pair.shape[0]):
        if row == 0 or row_pair[row] != row_pair[row - 1]:
            chosen[found] = row
            found += 1
        elif distance[row] < distance[chosen[found - 1]]:
            chosen[found - 1] = row
    return found

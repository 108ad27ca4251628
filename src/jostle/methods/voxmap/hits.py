"""What is said of a hit: its depth and kind, and, when it is asked for, where it is and its normal.

Lock and Wills §5 report the collision points; depth and normal are beyond the paper. A shell point stands for a piece of surface
about its foot (`normals.py`), so it is the foot that is measured: its distance from the map's body by the distance band
(`distance_band.py`), and its depth, 0 where it is outside. A point in a filled voxel is a hit wherever its foot is, and one
that is only near a map when its foot is inside (`keep_hits`): depths begin at 0, wherever the voxels are. The normal is the way
out of the map's body, along the gradient of the band, or where that cannot be trusted against the shell's own normal, turned so
that it leads from body a into body b. The area is what a point stands for as seen along the normal: walls along it have none.
A deep point (a body inside another) is measured in the same way, as deep as the band reaches; it has no area.
"""

# Kernels are typed by Numba when they compile.
# mypy: ignore-errors

from __future__ import annotations

import math

from jostle.geometry.contact_kind import A_IN_B, B_IN_A, CROSSING, TOUCHING
from jostle.geometry.rigid import solve_relative_pose_into
from jostle.kernels.handles import float32_at, float64_at, int16_at, int32_at
from jostle.kernels.jit import kernel
from jostle.methods.voxmap.distance_band import MARGIN, distance_and_gradient, way_out
from jostle.methods.voxmap.look_up import (
    BAND_FIRST,
    BAND_STEP,
    BAND_VALUES,
    CELLS,
    DEEP,
    FEET,
    MAP,
    MAP_BODY,
    MIDDLE,
    NORMALS,
    ORIGIN,
    PAIR,
    POINTS,
    SHELL,
    SHELL_BODY,
    SLACK,
    VOXEL,
    WORDS,
    choose_shell,
    is_filled,
    to_map,
)
from jostle.methods.voxmap.normals import area_of_point


@kernel(forceinline=True)
def in_frame(frames, row, x, y, z):
    """A point about the middle of a shell in voxels of a map, in float64."""
    return (
        ((frames[row, 0] * x + frames[row, 1] * y) + frames[row, 2] * z) + frames[row, 9],
        ((frames[row, 3] * x + frames[row, 4] * y) + frames[row, 5] * z) + frames[row, 10],
        ((frames[row, 6] * x + frames[row, 7] * y) + frames[row, 8] * z) + frames[row, 11],
    )


@kernel
def place_giver(tasks, task, point, frames, numbers, poses, scratch, placed):
    """Who gives the points of a hit, of a shell or deep, and who has the map: shapes and bodies; and how the one lies in the other.

    `placed` (1,12) becomes the frame: that of the task, or for deep points the way back.
    """
    if point >= 0:
        for k in range(12):
            placed[0, k] = frames[task, k]
        return tasks[task, SHELL], tasks[task, SHELL_BODY], tasks[task, MAP], tasks[task, MAP_BODY]
    solve_relative_pose_into(poses[tasks[task, SHELL_BODY]], poses[tasks[task, MAP_BODY]], scratch)
    to_map(scratch, numbers, tasks[task, MAP], tasks[task, SHELL], placed, 0)
    return tasks[task, MAP], tasks[task, MAP_BODY], tasks[task, SHELL], tasks[task, SHELL_BODY]


@kernel(forceinline=True)
def point_of_hit(points, deep, point, mx, my, mz):
    """The point of a hit, or with feet for points its foot, about the middle of its shell."""
    if point >= 0:
        return float(points[3 * point]), float(points[3 * point + 1]), float(points[3 * point + 2])
    k = -3 * (point + 1)
    return deep[k] - mx, deep[k + 1] - my, deep[k + 2] - mz


@kernel
def keep_hits(tasks, frames, table, numbers, rows, pair_hit):
    """Keep the rows (task, point, hit) (3,n) with a hit or a foot inside of the map's body; mark their pairs; return how many."""
    row, count, kept = 0, rows.shape[1], 0
    while row < count:
        task = rows[0, row]
        shell, at = tasks[task, SHELL], tasks[task, MAP]
        feet = float32_at(table[shell, FEET], table[shell, FEET + 1])
        first = int32_at(table[at, BAND_FIRST], table[at, BAND_FIRST + 1])
        values = int16_at(table[at, BAND_VALUES], table[at, BAND_VALUES + 1])
        bx = (int(numbers[at, CELLS]) + (2 * MARGIN + 7)) >> 3
        by = (int(numbers[at, CELLS + 1]) + (2 * MARGIN + 7)) >> 3
        bz = (int(numbers[at, CELLS + 2]) + (2 * MARGIN + 7)) >> 3
        while row < count and rows[0, row] == task:
            point, hit = rows[1, row], rows[2, row]
            if hit == 0:
                x, y, z = float(feet[3 * point]), float(feet[3 * point + 1]), float(feet[3 * point + 2])
                u, v, w = in_frame(frames, task, x, y, z)
                d, _, _, _ = distance_and_gradient(u, v, w, first, values, bx, by, bz, 1.0)
                if d < 0.0:
                    hit = 1
                    pair_hit[tasks[task, PAIR]] = 1
            if hit != 0:
                rows[0, kept], rows[1, kept] = task, point
                kept += 1
            row += 1
    return kept


@kernel
def measure_hits(
    tasks, frames, table, numbers, poses, pairs_a, pairs_b, rows, begin, end, scratch, placed,
    bodies, kind, distance, depth, gradient,
):  # fmt: skip
    """Write bodies (2,n), kind, signed distance, depth and its gradient (n,3) of the hits begin … end - 1 of rows (2,n)."""
    row = begin
    while row < end:
        task = rows[0, row]
        inside = rows[1, row] < 0
        giver, giver_body, at, _ = place_giver(tasks, task, rows[1, row], frames, numbers, poses, scratch, placed)
        feet = float32_at(table[giver, FEET], table[giver, FEET + 1])
        deep = float64_at(table[giver, DEEP], table[giver, DEEP + 1])
        first = int32_at(table[at, BAND_FIRST], table[at, BAND_FIRST + 1])
        values = int16_at(table[at, BAND_VALUES], table[at, BAND_VALUES + 1])
        bx = (int(numbers[at, CELLS]) + (2 * MARGIN + 7)) >> 3
        by = (int(numbers[at, CELLS + 1]) + (2 * MARGIN + 7)) >> 3
        bz = (int(numbers[at, CELLS + 2]) + (2 * MARGIN + 7)) >> 3
        mx, my, mz = numbers[giver, MIDDLE], numbers[giver, MIDDLE + 1], numbers[giver, MIDDLE + 2]
        step, banded = numbers[at, BAND_STEP], first.shape[0] > 0
        a, b = pairs_a[tasks[task, PAIR]], pairs_b[tasks[task, PAIR]]
        contained = B_IN_A if giver_body == b else A_IN_B
        while row < end and rows[0, row] == task and (rows[1, row] < 0) == inside:
            d, gx, gy, gz = math.nan, 0.0, 0.0, 0.0
            if banded:
                x, y, z = point_of_hit(feet, deep, rows[1, row], mx, my, mz)
                u, v, w = in_frame(placed, 0, x, y, z)
                d, gx, gy, gz = distance_and_gradient(u, v, w, first, values, bx, by, bz, step)
            bodies[0, row], bodies[1, row] = a, b
            distance[row] = d
            depth[row] = max(0.0, -d) if banded else d
            gradient[row, 0], gradient[row, 1], gradient[row, 2] = gx, gy, gz
            kind[row] = contained if inside else (TOUCHING if d >= 0.0 else CROSSING)
            row += 1


@kernel
def voxel_of_hit(words, numbers, at, u, v, w, fu, fv, fw):
    """The filled voxel that holds a point, or one within the slack, since the look-up rounds to float32; else that of its foot."""
    i, j, k = math.floor(u), math.floor(v), math.floor(w)
    if is_filled(words, numbers, at, u, v, w):
        return i, j, k
    if min(u - i, v - j, w - k) <= SLACK or max(u - i, v - j, w - k) >= 1.0 - SLACK:
        for n in range(27):
            x, y, z = u + SLACK * (n % 3 - 1), v + SLACK * (n // 3 % 3 - 1), w + SLACK * (n // 9 - 1)
            if is_filled(words, numbers, at, x, y, z):
                return math.floor(x), math.floor(y), math.floor(z)
    return math.floor(fu), math.floor(fv), math.floor(fw)


@kernel(forceinline=True)
def in_world(pose, k, x, y, z):
    """One world coordinate of a point of a body."""
    return ((pose[k, 0] * x + pose[k, 1] * y) + pose[k, 2] * z) + pose[k, 3]


@kernel
def describe_hits(
    tasks, frames, table, numbers, poses, pairs_a, rows, begin, end, scratch, placed, gradient,
    segment, normal, area, place,
):  # fmt: skip
    """Write segment (2,3) from body a to body b, unit normal from a into b, area and place of the hits begin … end - 1.

    The ends of a segment are the foot and the centre of the voxel; the place is the foot. Of two shells only the one that would be
    looked up alone has areas, so that no overlap counts twice.
    """
    row = begin
    while row < end:
        task = rows[0, row]
        inside = rows[1, row] < 0
        giver, giver_body, at, taker_body = place_giver(tasks, task, rows[1, row], frames, numbers, poses, scratch, placed)
        points = float32_at(table[giver, POINTS], table[giver, POINTS + 1])
        feet = float32_at(table[giver, FEET], table[giver, FEET + 1])
        normals = float32_at(table[giver, NORMALS], table[giver, NORMALS + 1])
        deep = float64_at(table[giver, DEEP], table[giver, DEEP + 1])
        words = int32_at(table[at, WORDS], table[at, WORDS + 1])
        mx, my, mz = numbers[giver, MIDDLE], numbers[giver, MIDDLE + 1], numbers[giver, MIDDLE + 2]
        gives_a = giver_body == pairs_a[tasks[task, PAIR]]
        counts = choose_shell(giver, at, numbers) if gives_a else not choose_shell(at, giver, numbers)
        square = 0.5 * numbers[giver, VOXEL] * numbers[giver, VOXEL] if counts else 0.0
        edge, ex, ey, ez = numbers[at, VOXEL], numbers[at, ORIGIN], numbers[at, ORIGIN + 1], numbers[at, ORIGIN + 2]
        # The middle of the map's body, in voxels.
        hx, hy, hz = (numbers[at, MIDDLE] - ex) / edge, (numbers[at, MIDDLE + 1] - ey) / edge, (numbers[at, MIDDLE + 2] - ez) / edge
        giver_pose, pose = poses[giver_body], poses[taker_body]
        # Out of the taker is out of b where the giver is a: the other way round from a into b.
        mine, sign = (0, -1.0) if gives_a else (1, 1.0)
        while row < end and rows[0, row] == task and (rows[1, row] < 0) == inside:
            point = rows[1, row]
            x, y, z = point_of_hit(points, deep, point, mx, my, mz)
            pu, pv, pw = in_frame(placed, 0, x, y, z)
            x, y, z = point_of_hit(feet, deep, point, mx, my, mz)
            u, v, w = in_frame(placed, 0, x, y, z)
            i, j, k = voxel_of_hit(words, numbers, at, pu, pv, pw, u, v, w)
            cx, cy, cz = ex + edge * (i + 0.5), ey + edge * (j + 0.5), ez + edge * (k + 0.5)
            nx, ny, nz, px, py, pz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            if not inside:  # for all, wanted or not: to ask first takes longer
                px, py, pz = float(normals[3 * point]), float(normals[3 * point + 1]), float(normals[3 * point + 2])
                nx = edge * (placed[0, 0] * px + placed[0, 1] * py + placed[0, 2] * pz)
                ny = edge * (placed[0, 3] * px + placed[0, 4] * py + placed[0, 5] * pz)
                nz = edge * (placed[0, 6] * px + placed[0, 7] * py + placed[0, 8] * pz)
            ox, oy, oz = way_out(gradient[row, 0], gradient[row, 1], gradient[row, 2], nx, ny, nz, u - hx, v - hy, w - hz)
            x, y, z = x + mx, y + my, z + mz
            sx = sign * (pose[0, 0] * ox + pose[0, 1] * oy + pose[0, 2] * oz)
            sy = sign * (pose[1, 0] * ox + pose[1, 1] * oy + pose[1, 2] * oz)
            sz = sign * (pose[2, 0] * ox + pose[2, 1] * oy + pose[2, 2] * oz)
            shrink = 1.0 / math.sqrt(sx * sx + sy * sy + sz * sz)
            normal[row, 0], normal[row, 1], normal[row, 2] = shrink * sx, shrink * sy, shrink * sz
            area[row] = area_of_point(px, py, pz, square) * max(0.0, -shrink * (nx * ox + ny * oy + nz * oz))
            for axis in range(3):
                place[row, axis] = in_world(giver_pose, axis, x, y, z)
                segment[row, mine, axis] = place[row, axis]
                segment[row, 1 - mine, axis] = in_world(pose, axis, cx, cy, cz)
            row += 1


@kernel
def deepest_of_each_pair(row_pair, distance, chosen):
    """Write the row with the least distance of each run of one pair, the first of equal ones, and return how many there are."""
    found = 0
    for row in range(row_pair.shape[0]):
        if row == 0 or row_pair[row] != row_pair[row - 1]:
            chosen[found] = row
            found += 1
        elif distance[row] < distance[chosen[found - 1]]:
            chosen[found - 1] = row
    return found

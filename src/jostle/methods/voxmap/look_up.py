"""The look-up of shell points in the voxels of maps, for all pairs at once.

Lock and Wills §5: each shell point is brought into the frame of the map, its voxel is the whole part of its coordinates, and a hit
is a point in a filled voxel. Each pair has one relative pose, solved for in float64 (`place_shells`); points are float32, eight at
a time (`look_up_shells`). Their rounding is below 2⁻²⁴·√3·(7P + 4N) voxels, P the radius of the shell and N the size of the map in
voxels of the map: below 0.0022 for the `MOST_ACROSS` = 2048 voxels that a map may have along an edge, wherever
in the world the bodies are; the guarantee leaves 0.0028 for it (README).

A point near a map may be outside its voxels while its foot, the nearest point of its surface (`normals.py`), is inside the
body. Where a map has a distance band, such points are found by the bits of voxels near the body (`distance_band.near_words`) and
decided by their feet (`hits.py`).

Beyond the paper: groups of points that cannot hit are skipped (`groups.py`), and where no point of a shell
hits, the deep points of the map's body are looked up in the map of the shell's (`look_up_deep_points`): it may lie inside.

Structs and stages instead of scalars cost 5.5 % on a map of 160 voxels across without groups and depths, at most 3.5 % on others.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bytes, Floats, Ints, Singles
from jostle.geometry.rigid import RigidPose, moved_point, pose_at, pose_of, solve_relative_pose_into
from jostle.geometry.vector import point_from, times
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.simd import (
    f32x8_add,
    f32x8_less_equal,
    f32x8_load,
    f32x8_max,
    f32x8_min,
    f32x8_mul,
    f32x8_multiply_add,
    f32x8_splat,
    f32x8_sub,
    lowest_bit,
    without_lowest_bit,
)
from jostle.kernels.simd_grid import bits_at, numbers_at
from jostle.kernels.structs import Addresses, Record, Rows, borrowed, float32, int32, int64, record_viewer
from jostle.methods.voxmap.distance_band import MARGIN
from jostle.methods.voxmap.map import GridSize
from jostle.methods.voxmap.shape_arrays import (
    LookUpTask,
    ShapeArrays,
    frame_in_map,
    is_filled,
    map_size,
    open_shape,
    task_at,
    write_frame,
    write_task,
)

MOST_ACROSS = 2048  # voxels along an edge of a map: keeps float32 rounding below 0.0028 voxels
BLOCK = 8  # points looked up at once
GROUP = 32  # points with a ball about them
PIECE = 256  # points: eight groups, whose balls are tested at once
CELL = 8  # voxels along an edge of a cell of the coarse map
POINT_BLOCK = 3 * BLOCK  # numbers of eight points
BALL_BLOCK = 4 * BLOCK  # numbers of eight balls

# Row modes.
ALL, ONE_PER_PAIR, ONE = range(3)
# Rows of `found`.
FOUND_TASK, FOUND_POINT, FOUND_HIT = range(3)

SLACK = 0.01  # voxels
STRETCH = 1.0 + 4e-5  # a pose that is not quite orthonormal may stretch a ball by this much
ROUNDING = 1.5e-6  # share of a shell's radius: float32 rounding of a point and of its ball's centre, 2⁻²⁴·√3·7 each


class LookUpState(Record):
    """Where a look-up stopped."""

    next_task: int64
    next_piece: int64
    rows: int64
    look_ups: int64


view_state = record_viewer(LookUpState)


class Lanes3(NamedTuple):
    """Eight points, or one point in all lanes."""

    x: Singles
    y: Singles
    z: Singles


class LaneFrame(NamedTuple):
    """A frame with each number in all lanes."""

    x: Lanes3
    y: Lanes3
    z: Lanes3
    shift: Lanes3


class PlacedShell(NamedTuple):
    """A shell in the voxels of a map: points, balls, frame, growth of the balls."""

    points: Any
    balls: Any
    block_count: int
    frame: LaneFrame
    stretch: Singles
    slack: Singles


class VoxelBits(NamedTuple):
    """One bit per voxel of a grid, and the ends of the grid."""

    words: Any
    end: Lanes3
    row: np.int32
    slab: np.int32


class CoarseBounds(NamedTuple):
    """A lower bound of the distance to any hit for each cell of a grid."""

    bounds: Any
    row: np.int32
    slab: np.int32


class SearchedMap(NamedTuple):
    """The map that points are looked up in.

    Where points near the body are wanted, `near` and `coarse` are on the band's lattice.
    """

    filled: VoxelBits
    near: VoxelBits
    coarse: CoarseBounds
    wants_near: bool
    margin: Singles  # voxels from the corner of the lattice of `near` to that of the map


class FoundRows(NamedTuple):
    """Output rows: task, point, and whether the point is in a filled voxel."""

    task: Ints
    point: Ints
    hit: Ints


class PieceHits(NamedTuple):
    """Rows after a piece, its points looked up, and if one is in a filled voxel."""

    rows: int
    look_ups: int
    in_filled: bool


@kernel(forceinline=True)
def choose_shell(a: ShapeArrays, b: ShapeArrays) -> bool:
    """Return whether body a gives the shell: smaller voxel, then fewer points, then a."""
    if a.numbers.voxel != b.numbers.voxel:
        return a.numbers.voxel < b.numbers.voxel
    return a.numbers.point_count <= b.numbers.point_count


@kernel(forceinline=True)
def ball_misses_map(frame: RigidPose, shell: ShapeArrays, target: ShapeArrays) -> bool:
    """Return whether the ball about a shell is more than a voxel off the box of a map."""
    x, y, z, size = frame.x.t, frame.y.t, frame.z.t, map_size(target)
    dx, dy, dz = max(0.0, -x, x - size.x), max(0.0, -y, y - size.y), max(0.0, -z, z - size.z)
    reach = shell.numbers.radius / target.numbers.voxel * STRETCH + (1.0 + SLACK)
    return dx * dx + dy * dy + dz * dz > reach * reach


@kernel
def place_shells(
    body_a: Ints, body_b: Ints, begin: int, end: int, shape_of_body: Ints, shapes: Addresses, poses: Floats, both: bool,
    tasks: Ints, count: int, frames: Floats,
) -> int:  # fmt: skip
    """Add a task (n,TASK) and frame (n,3,4) for each shell that may meet a map.

    Takes the pairs begin … end - 1 and returns the new count. A shell and the voxels of its body lie in the box of its map, but for
    less than a voxel, and in its ball: a pair is skipped when the ball of either misses the box of the other.
    """
    relative = np.empty((4, 4))
    for pair in range(begin, end):
        a, b = as_int64(body_a[pair]), as_int64(body_b[pair])
        # With both, the shell of the lower body comes first.
        from_a = both or choose_shell(open_shape(shapes, shape_of_body[a]), open_shape(shapes, shape_of_body[b]))
        for turn in range(2):
            giver, taker = (a, b) if from_a == (turn == 0) else (b, a)
            number, map_number = as_int64(shape_of_body[giver]), as_int64(shape_of_body[taker])
            shell, target = open_shape(shapes, number), open_shape(shapes, map_number)
            solve_relative_pose_into(poses[taker], poses[giver], relative)
            frame = frame_in_map(relative, shell, target)
            if ball_misses_map(frame, shell, target):
                break
            if turn == 0 or both:
                pieces = (shell.numbers.point_count + (PIECE - 1)) // PIECE
                write_task(tasks, count + turn, LookUpTask(pair, giver, taker, number, map_number, 0, pieces))
                write_frame(frames, count + turn, frame)
            if turn == 1:
                count += 2 if both else 1
    return count


@kernel(forceinline=True)
def splat(x: float, y: float, z: float) -> Lanes3:
    """Return a point in all lanes, rounded to float32."""
    return Lanes3(f32x8_splat(x), f32x8_splat(y), f32x8_splat(z))


@kernel(forceinline=True)
def row_times(row: Lanes3, p: Lanes3, shift: Singles) -> Singles:
    """Return one coordinate of eight points in a frame."""
    return f32x8_multiply_add(row.x, p.x, f32x8_multiply_add(row.y, p.y, f32x8_multiply_add(row.z, p.z, shift)))


@kernel(forceinline=True)
def eight_placed(frame: LaneFrame, p: Lanes3) -> Lanes3:
    """Return eight points in a frame."""
    return Lanes3(row_times(frame.x, p, frame.shift.x), row_times(frame.y, p, frame.shift.y), row_times(frame.z, p, frame.shift.z))


@kernel(forceinline=True)
def eight_shifted(p: Lanes3, by: Singles) -> Lanes3:
    """Return eight points moved by the same amount along each axis."""
    return Lanes3(f32x8_add(p.x, by), f32x8_add(p.y, by), f32x8_add(p.z, by))


@kernel(forceinline=True)
def eight_bits(bits: VoxelBits, p: Lanes3) -> np.uint32:
    """Return the mask of the points, of eight, whose voxel has its bit set."""
    return bits_at(bits.words, p.x, p.y, p.z, bits.end.x, bits.end.y, bits.end.z, bits.row, bits.slab)


@kernel(forceinline=True)
def placed_shell(frame: RigidPose, shell: ShapeArrays, target: ShapeArrays) -> PlacedShell:
    """Return a shell in the voxels of a map."""
    voxel = target.numbers.voxel
    x, y, z = frame.x, frame.y, frame.z
    return PlacedShell(
        shell.blocks,
        shell.balls,
        (shell.numbers.point_count + (BLOCK - 1)) // BLOCK,
        LaneFrame(splat(x.x, x.y, x.z), splat(y.x, y.y, y.z), splat(z.x, z.y, z.z), splat(x.t, y.t, z.t)),
        f32x8_splat(STRETCH / voxel),
        f32x8_splat(np.float32(SLACK + ROUNDING * shell.numbers.radius / voxel)),
    )


@kernel(forceinline=True)
def voxel_bits(words: Rows[int32], size: GridSize) -> VoxelBits:
    """Return the bits of a grid of voxels."""
    row, rows = (size.x + 3) >> 2, (size.y + 3) >> 2
    return VoxelBits(words, splat(float(size.x), float(size.y), float(size.z)), np.int32(row), np.int32(row * rows))


@kernel(forceinline=True)
def coarse_bounds_of(bounds: Rows[float32], size: GridSize) -> CoarseBounds:
    """Return the bounds of the cells of a grid of voxels."""
    row, rows = (size.x + CELL) // CELL, (size.y + CELL) // CELL
    return CoarseBounds(bounds, np.int32(row), np.int32(row * rows))


@kernel(forceinline=True)
def searched_map(target: ShapeArrays, with_near: bool) -> SearchedMap:
    """Return the map for a look-up, `with_near` with the voxels near it, if any."""
    size = map_size(target)
    filled = voxel_bits(target.words, size)
    wants_near = with_near and target.near.shape[0] > 0
    more = 2 * MARGIN + 7
    around = GridSize((size.x + more) & ~7, (size.y + more) & ~7, (size.z + more) & ~7) if wants_near else size
    coarse = coarse_bounds_of(target.near_coarse if wants_near else target.coarse, around)
    margin = f32x8_splat(np.float32(MARGIN if wants_near else 0))
    return SearchedMap(filled, voxel_bits(target.near, around), coarse, wants_near, margin)


@kernel(forceinline=True)
def groups_that_may_hit(shell: PlacedShell, target: SearchedMap, piece: int) -> np.uint32:
    """Return the mask of the eight groups of a piece whose balls may reach a hit.

    The bounds are those of `groups.py`.
    """
    at = BALL_BLOCK * piece
    centre = Lanes3(f32x8_load(shell.balls, at), f32x8_load(shell.balls, at + BLOCK), f32x8_load(shell.balls, at + 2 * BLOCK))
    reach = f32x8_multiply_add(f32x8_load(shell.balls, at + 3 * BLOCK), shell.stretch, shell.slack)
    frame, zero, end = shell.frame, f32x8_splat(np.float32(0.0)), target.near.end
    p = eight_placed(LaneFrame(frame.x, frame.y, frame.z, eight_shifted(frame.shift, target.margin)), centre)
    # The nearest point of the box of the map is no farther from any filled voxel than the centre itself.
    x, y, z = f32x8_max(f32x8_min(p.x, end.x), zero), f32x8_max(f32x8_min(p.y, end.y), zero), f32x8_max(f32x8_min(p.z, end.z), zero)
    dx, dy, dz = f32x8_sub(p.x, x), f32x8_sub(p.y, y), f32x8_sub(p.z, z)
    squared = f32x8_multiply_add(dx, dx, f32x8_multiply_add(dy, dy, f32x8_mul(dz, dz)))
    share, coarse = f32x8_splat(np.float32(1.0 / CELL)), target.coarse
    cell_x, cell_y, cell_z = f32x8_mul(x, share), f32x8_mul(y, share), f32x8_mul(z, share)
    bound = numbers_at(coarse.bounds, cell_x, cell_y, cell_z, coarse.row, coarse.slab)
    # Both are lower bounds of the same distance.
    return f32x8_less_equal(f32x8_max(squared, f32x8_mul(bound, bound)), f32x8_mul(reach, reach))


@kernel(forceinline=True)
def look_up_block(shell: PlacedShell, target: SearchedMap, block: int) -> tuple[np.uint32, np.uint32]:
    """Return the masks of eight points that are hits or near, and in filled voxels."""
    at = POINT_BLOCK * block
    p = Lanes3(f32x8_load(shell.points, at), f32x8_load(shell.points, at + BLOCK), f32x8_load(shell.points, at + 2 * BLOCK))
    p = eight_placed(shell.frame, p)
    if not target.wants_near:
        hit = eight_bits(target.filled, p)
        return hit, hit
    near = eight_bits(target.near, eight_shifted(p, target.margin))
    if near == 0:  # filled voxels, and all about them, are near
        return near, near
    return near, eight_bits(target.filled, p)


@kernel(forceinline=True)
def write_found(found: FoundRows, rows: int, task: int, block: int, near: np.uint32, hit: np.uint32) -> int:
    """Append a row for each point of a block in a mask; return the new row count."""
    while near != 0:
        lane = lowest_bit(near)
        found.task[rows] = task
        found.point[rows] = BLOCK * block + lane
        found.hit[rows] = (hit >> np.uint32(lane)) & np.uint32(1)
        rows += 1
        near = without_lowest_bit(near)
    return rows


@kernel(forceinline=True)
def look_up_piece(
    shell: PlacedShell, target: SearchedMap, groups: np.uint32, task: int, piece: int, row_mode: int, found: FoundRows, rows: int
) -> PieceHits:
    """Look up the points of some groups of a piece.

    Where one row is enough, stop after the first group with one.
    """
    before, look_ups, lanes = rows, 0, np.uint64(0)
    while groups != 0:
        begin = (PIECE * piece + GROUP * lowest_bit(groups)) // BLOCK
        groups = without_lowest_bit(groups)
        end = min(begin + GROUP // BLOCK, shell.block_count)
        for block in range(begin, end):
            near, hit = look_up_block(shell, target, block)
            lanes |= np.uint64(hit)
            rows = write_found(found, rows, task, block, near, hit)
        look_ups += max(0, end - begin) * BLOCK
        if row_mode != ALL and rows > before:
            break
    return PieceHits(rows, look_ups, lanes != 0)


@kernel
def look_up_shells(
    tasks: Ints, frames: Floats, shapes: Addresses, grouped: bool, with_near: bool, row_mode: int, operations: int,
    state_memory: NDArray[np.void], pair_hit: Bytes, found: Ints,
) -> int:  # fmt: skip
    """Resume the look-ups of tasks (n,TASK) for about `operations` points.

    Hits are appended in order to `found` (3,k): task, point, 1. With `with_near`, for all rows only, points near a body with
    a distance band are appended as well (task, point, 0). Stops where the rows might not hold the hits of another piece.
    Returns the points looked up.
    """
    state = view_state(state_memory)
    used, rows, number, piece = 0, state.rows, state.next_task, state.next_piece
    out = FoundRows(borrowed(found[FOUND_TASK]), borrowed(found[FOUND_POINT]), borrowed(found[FOUND_HIT]))
    room = found.shape[1] - PIECE
    while number < tasks.shape[0] and used < operations and rows <= room:
        task = task_at(tasks, number)
        piece = max(piece, task.first_piece)
        if row_mode != ALL and pair_hit[task.pair]:
            piece = task.end_piece
        shell_shape, map_shape = open_shape(shapes, task.shell), open_shape(shapes, task.map)
        shell, target = placed_shell(pose_at(frames, number), shell_shape, map_shape), searched_map(map_shape, with_near)
        while piece < task.end_piece and used < operations and rows <= room:
            groups = np.uint32(255)
            if grouped:
                groups = groups_that_may_hit(shell, target, piece)
                used += 8
            hits = look_up_piece(shell, target, groups, number, piece, row_mode, out, rows)
            used += hits.look_ups
            state.look_ups += hits.look_ups
            piece += 1
            if hits.rows > rows:
                if hits.in_filled:
                    pair_hit[task.pair] = 1
                rows = hits.rows
                if row_mode != ALL:  # one is enough; which one must not depend on the pieces
                    rows = state.rows + 1
                    piece = task.end_piece
                state.rows = rows
        if piece >= task.end_piece:
            number += 1
            piece = 0
            used += BLOCK
            if row_mode == ONE and rows > 0:
                number = tasks.shape[0]
    state.next_task, state.next_piece = number, piece
    return used


@kernel
def look_up_deep_points(tasks: Ints, shapes: Addresses, poses: Floats, pair_hit: Bytes, rows: Ints) -> int:
    """Write rows (task, -1 - k) for deep points k inside the shell's body.

    Only for pairs without a hit. Returns the number of rows; rows beyond the end are counted and not written.
    """
    found = 0
    relative = np.empty((4, 4))
    for number in range(tasks.shape[0]):
        task = task_at(tasks, number)
        shell, deep = open_shape(shapes, task.shell), open_shape(shapes, task.map).deep
        if pair_hit[task.pair] or deep.shape[0] == 0 or task.first_piece > 0:
            continue
        solve_relative_pose_into(poses[task.shell_body], poses[task.map_body], relative)
        for axis in range(3):
            relative[axis, 3] -= shell.numbers.origin[axis]
        to_corner, scale = pose_of(relative), 1.0 / shell.numbers.voxel
        for k in range(deep.shape[0] // 3):
            if is_filled(shell, times(scale, moved_point(to_corner, point_from(deep, 3 * k)))):
                if found < rows.shape[0]:
                    rows[found, 0], rows[found, 1] = number, -1 - k
                found += 1
    return found

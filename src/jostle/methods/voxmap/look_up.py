"""The look-up: points of one body's shell into the voxels of another's map, for all pairs of bodies in one call.

Lock and Wills §5: each shell point is brought into the frame of the map, its voxel is the whole part of its coordinates, and a hit
is a point in a filled voxel. One relative pose for each pair, solved for in float64 (`place_shells`); points in float32, eight at a
time (`look_up_shells`). Their rounding is below 2⁻²⁴·√3·(7P + 4N) voxels, P the radius of the shell and N the size of the map in
voxels of the map: below 0.0022 for the `MOST_ACROSS` = 2048 voxels that a map may have along an edge, and independent of where
in the world the bodies are; the guarantee leaves 0.0028 for it (README).

A point near a map may be outside of its voxels while its foot, the nearest point of its surface (`normals.py`), is inside of the
body. Where a map has a distance band, such points are found by the bits of voxels near the body (`distance_band.near_words`), to be
decided by their feet (`hits.py`).

Beyond the paper: groups of points that are certain to hit nothing are passed over (`groups.py`), and where no point of a shell
hits, the deep points of the map's body are looked up in the map of the shell's (`look_up_deep_points`): it may lie inside.
"""

# Kernels are typed by Numba when they compile.
# mypy: ignore-errors

import numpy as np

from jostle.geometry.rigid import solve_relative_pose_into
from jostle.kernels.handles import float32_at, float64_at, int32_at
from jostle.kernels.jit import kernel
from jostle.kernels.simd import (
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
from jostle.methods.voxmap.distance_band import MARGIN

MOST_ACROSS = 2048  # voxels along an edge of a map: what float32 leaves of 0.0028 voxels
BLOCK = 8  # points that are looked up at once
GROUP = 32  # points with a ball about them
PIECE = 256  # points: eight groups, whose balls are tried at once
CELL = 8  # voxels along an edge of a cell of the coarse map

# Columns of the table of shapes: arrays, each by its address and its length.
LANES, WORDS, BALLS, COARSE, DEEP, BAND_FIRST, BAND_VALUES, POINTS, FEET, NORMALS, NEAR, NEAR_COARSE = range(0, 24, 2)
# Numbers of a shape.
VOXEL, ORIGIN, CELLS, MIDDLE, RADIUS, POINT_COUNT, BAND_STEP, SHAPE_NUMBERS = 0, 1, 4, 7, 10, 11, 12, 13
# Columns of a task: which pair, the bodies and shapes of the shell and of the map, the pieces of the shell.
PAIR, SHELL_BODY, MAP_BODY, SHELL, MAP, FIRST_PIECE, END_PIECE, TASK = range(8)
# State of a look-up.
NEXT_TASK, NEXT_PIECE, ROWS, LOOK_UPS, STATE = range(5)
# How many hits are wanted.
ALL, ONE_PER_PAIR, ONE = range(3)

SLACK = 0.01  # voxels
STRETCH = 1.0 + 4e-5  # poses that are not quite orthonormal may stretch a ball by this share
ROUNDING = 1.5e-6  # of the radius of a shell: what float32 takes of a point and of the middle of its ball, 2⁻²⁴·√3·7 each


@kernel
def choose_shell(shape_a, shape_b, numbers):
    """Whether the first of two bodies gives the shell: the smaller voxel, then the fewer points, then the lower number."""
    if numbers[shape_a, VOXEL] != numbers[shape_b, VOXEL]:
        return numbers[shape_a, VOXEL] < numbers[shape_b, VOXEL]
    return numbers[shape_a, POINT_COUNT] <= numbers[shape_b, POINT_COUNT]


@kernel
def outside_by(numbers, shape, x, y, z):
    """Squared distance of a point, in voxels from the corner of a map, from the box of the map."""
    dx = max(0.0, -x, x - numbers[shape, CELLS])
    dy = max(0.0, -y, y - numbers[shape, CELLS + 1])
    dz = max(0.0, -z, z - numbers[shape, CELLS + 2])
    return dx * dx + dy * dy + dz * dz


@kernel
def to_map(pose, numbers, shell, at, out, row):
    """Write the 3×3 matrix and the shift that take points about the middle of a shell to voxels of a map.

    `pose` (4,4) is that of the shell's body in the frame of the map's.
    """
    scale = 1.0 / numbers[at, VOXEL]
    mx, my, mz = numbers[shell, MIDDLE], numbers[shell, MIDDLE + 1], numbers[shell, MIDDLE + 2]
    for k in range(3):
        for j in range(3):
            out[row, 3 * k + j] = pose[k, j] * scale
        moved = ((pose[k, 0] * mx + pose[k, 1] * my) + pose[k, 2] * mz) + pose[k, 3]
        out[row, 9 + k] = (moved - numbers[at, ORIGIN + k]) * scale


@kernel
def ball_misses_map(frames, row, numbers, shell, at):
    """Whether the ball about a shell, placed by a row of `frames`, is off the box of a map by more than a voxel."""
    reach = numbers[shell, RADIUS] / numbers[at, VOXEL] * STRETCH + (1.0 + SLACK)
    return outside_by(numbers, at, frames[row, 9], frames[row, 10], frames[row, 11]) > reach * reach


@kernel
def place_shells(
    body_a, body_b, begin, end, shape_of_body, numbers, poses, both,
    tasks, count, frames, scratch,
):  # fmt: skip
    """Add to `count` tasks (TASK) and frames (12) one for each shell of the pairs begin … end - 1 that may meet a map.

    Returns how many there are then; `scratch` is (4,4), and `frames` has a row more than `tasks`, for the way back. A shell and the
    voxels of its body lie in the box of its map, but for less than a voxel, and in its ball: a pair is left out when the ball of
    either misses the box of the other.
    """
    for pair in range(begin, end):
        a, b = body_a[pair], body_b[pair]
        # With both, the shell of the lower body comes first, whichever it is.
        from_a = both or choose_shell(shape_of_body[a], shape_of_body[b], numbers)
        for turn in range(2):
            giver, taker = (a, b) if from_a == (turn == 0) else (b, a)
            shell, at = shape_of_body[giver], shape_of_body[taker]
            solve_relative_pose_into(poses[taker], poses[giver], scratch)
            to_map(scratch, numbers, shell, at, frames, count + turn)
            if ball_misses_map(frames, count + turn, numbers, shell, at):
                break
            if turn == 0 or both:
                write_task(tasks, count + turn, pair, giver, taker, shell, at, numbers)
            if turn == 1:
                count += 2 if both else 1
    return count


@kernel
def write_task(tasks, row, pair, giver, taker, shell, at, numbers):
    """Fill a row of the tasks: the whole shell."""
    tasks[row, PAIR] = pair
    tasks[row, SHELL_BODY], tasks[row, MAP_BODY] = giver, taker
    tasks[row, SHELL], tasks[row, MAP] = shell, at
    tasks[row, FIRST_PIECE] = 0
    tasks[row, END_PIECE] = (int(numbers[shell, POINT_COUNT]) + PIECE - 1) // PIECE


@kernel(forceinline=True)
def groups_that_may_hit(balls, piece, coarse, m, stretch, slack, end_x, end_y, end_z, row, slab):
    """Mask of the eight groups of a piece whose balls may meet a filled voxel, by the bounds of `groups.py`; `m`: twelve splats."""
    at = 32 * piece
    x, y, z = f32x8_load(balls, at), f32x8_load(balls, at + 8), f32x8_load(balls, at + 16)
    r = f32x8_multiply_add(f32x8_load(balls, at + 24), stretch, slack)
    zero = f32x8_splat(np.float32(0.0))
    u = f32x8_multiply_add(m[0], x, f32x8_multiply_add(m[1], y, f32x8_multiply_add(m[2], z, m[9])))
    v = f32x8_multiply_add(m[3], x, f32x8_multiply_add(m[4], y, f32x8_multiply_add(m[5], z, m[10])))
    w = f32x8_multiply_add(m[6], x, f32x8_multiply_add(m[7], y, f32x8_multiply_add(m[8], z, m[11])))
    # The nearest point of the box of the map is no farther from any filled voxel than the centre itself.
    cu, cv, cw = f32x8_max(f32x8_min(u, end_x), zero), f32x8_max(f32x8_min(v, end_y), zero), f32x8_max(f32x8_min(w, end_z), zero)
    du, dv, dw = f32x8_sub(u, cu), f32x8_sub(v, cv), f32x8_sub(w, cw)
    square = f32x8_multiply_add(du, du, f32x8_multiply_add(dv, dv, f32x8_mul(dw, dw)))
    share = f32x8_splat(np.float32(1.0 / CELL))
    bound = numbers_at(coarse, f32x8_mul(cu, share), f32x8_mul(cv, share), f32x8_mul(cw, share), row, slab)
    # Both are lower bounds of the same distance.
    return f32x8_less_equal(f32x8_max(square, f32x8_mul(bound, bound)), f32x8_mul(r, r))


@kernel
def look_up_shells(
    tasks, frames, table, numbers, grouped, with_near, how_many, operations,
    state, pair_hit, found_rows,
):  # fmt: skip
    """Go on with the look-ups of tasks (n,TASK) for so many points; hits are appended to the rows (3,k): task, point, 1; in order.

    With `with_near`, for all rows only, points near a body with a distance band are appended as well (task, point, 0). Stops where
    the rows might not hold the hits of another piece. Returns the points looked up.
    """
    used = 0
    rows = state[ROWS]
    task = state[NEXT_TASK]
    piece = state[NEXT_PIECE]
    row_task, row_point, row_hit = found_rows[0], found_rows[1], found_rows[2]
    room = row_task.shape[0] - PIECE
    while task < tasks.shape[0] and used < operations and rows <= room:
        shell, at = tasks[task, SHELL], tasks[task, MAP]
        if piece < tasks[task, FIRST_PIECE]:
            piece = tasks[task, FIRST_PIECE]
        end_piece = tasks[task, END_PIECE]
        if how_many != ALL and pair_hit[tasks[task, PAIR]]:
            piece = end_piece
        lanes = float32_at(table[shell, LANES], table[shell, LANES + 1])
        balls = float32_at(table[shell, BALLS], table[shell, BALLS + 1])
        words = int32_at(table[at, WORDS], table[at, WORDS + 1])
        coarse = float32_at(table[at, COARSE], table[at, COARSE + 1])
        blocks = (int(numbers[shell, POINT_COUNT]) + BLOCK - 1) // BLOCK
        nx, ny, nz = int(numbers[at, CELLS]), int(numbers[at, CELLS + 1]), int(numbers[at, CELLS + 2])
        row, slab = np.int32((nx + 3) >> 2), np.int32(((nx + 3) >> 2) * ((ny + 3) >> 2))
        end_x, end_y, end_z = f32x8_splat(np.float32(nx)), f32x8_splat(np.float32(ny)), f32x8_splat(np.float32(nz))
        near_bits = int32_at(table[at, NEAR], table[at, NEAR + 1])
        around, shift = with_near and near_bits.shape[0] > 0, np.float32(0.0)
        if around:  # in the band's lattice
            more = 2 * MARGIN + 7
            nx, ny, nz, shift = (nx + more) & ~7, (ny + more) & ~7, (nz + more) & ~7, np.float32(MARGIN)
            coarse = float32_at(table[at, NEAR_COARSE], table[at, NEAR_COARSE + 1])
        near_row, near_slab = np.int32(nx >> 2), np.int32((nx >> 2) * (ny >> 2))
        over_x, over_y, over_z = f32x8_splat(np.float32(nx)), f32x8_splat(np.float32(ny)), f32x8_splat(np.float32(nz))
        back = f32x8_splat(-shift)
        coarse_row = np.int32((nx + CELL) // CELL)
        coarse_slab = np.int32(coarse_row * ((ny + CELL) // CELL))
        m0, m1, m2 = f32x8_splat(frames[task, 0]), f32x8_splat(frames[task, 1]), f32x8_splat(frames[task, 2])
        m3, m4, m5 = f32x8_splat(frames[task, 3]), f32x8_splat(frames[task, 4]), f32x8_splat(frames[task, 5])
        m6, m7, m8 = f32x8_splat(frames[task, 6]), f32x8_splat(frames[task, 7]), f32x8_splat(frames[task, 8])
        t0, t1, t2 = f32x8_splat(frames[task, 9]), f32x8_splat(frames[task, 10]), f32x8_splat(frames[task, 11])
        stretch = f32x8_splat(STRETCH / numbers[at, VOXEL])
        slack = f32x8_splat(np.float32(SLACK + ROUNDING * numbers[shell, RADIUS] / numbers[at, VOXEL]))
        while piece < end_piece and used < operations and rows <= room:
            near, hits = np.uint32(255), np.uint32(0)
            if grouped:
                m = (m0, m1, m2, m3, m4, m5, m6, m7, m8, f32x8_sub(t0, back), f32x8_sub(t1, back), f32x8_sub(t2, back))
                near = groups_that_may_hit(balls, piece, coarse, m, stretch, slack, over_x, over_y, over_z, coarse_row, coarse_slab)
                used += 8
            while near != 0:
                begin = (PIECE * piece + GROUP * lowest_bit(near)) // BLOCK
                near = without_lowest_bit(near)
                end = min(begin + GROUP // BLOCK, blocks)
                for block in range(begin, end):
                    x, y, z = f32x8_load(lanes, 24 * block), f32x8_load(lanes, 24 * block + 8), f32x8_load(lanes, 24 * block + 16)
                    u = f32x8_multiply_add(m0, x, f32x8_multiply_add(m1, y, f32x8_multiply_add(m2, z, t0)))
                    v = f32x8_multiply_add(m3, x, f32x8_multiply_add(m4, y, f32x8_multiply_add(m5, z, t1)))
                    w = f32x8_multiply_add(m6, x, f32x8_multiply_add(m7, y, f32x8_multiply_add(m8, z, t2)))
                    found = np.uint32(255)
                    if around:
                        x, y, z = f32x8_sub(u, back), f32x8_sub(v, back), f32x8_sub(w, back)
                        found = bits_at(near_bits, x, y, z, over_x, over_y, over_z, near_row, near_slab)
                        if found == 0:  # filled voxels, and all about them, are near
                            continue
                    hit = bits_at(words, u, v, w, end_x, end_y, end_z, row, slab)
                    hits |= hit
                    if not around:
                        found = hit
                    while found != 0:
                        lane = lowest_bit(found)
                        row_task[rows] = task
                        row_point[rows] = BLOCK * block + lane
                        row_hit[rows] = (hit >> np.uint32(lane)) & np.uint32(1)
                        rows += 1
                        found = without_lowest_bit(found)
                if end > begin:
                    used += (end - begin) * BLOCK
                    state[LOOK_UPS] += (end - begin) * BLOCK
                if how_many != ALL and rows > state[ROWS]:
                    break
            piece += 1
            if rows > state[ROWS]:
                if hits != 0:
                    pair_hit[tasks[task, PAIR]] = 1
                if how_many != ALL:  # one is enough, and which one must not depend on the pieces
                    rows = state[ROWS] + 1
                    piece = end_piece
                state[ROWS] = rows
        if piece >= end_piece:
            task += 1
            piece = 0
            used += BLOCK
            if how_many == ONE and rows > 0:
                task = tasks.shape[0]
    state[NEXT_TASK], state[NEXT_PIECE] = task, piece
    return used


@kernel
def is_filled(words, numbers, shape, x, y, z):
    """Whether a point, in voxels from the corner of a map, lies in a filled voxel."""
    nx, ny, nz = numbers[shape, CELLS], numbers[shape, CELLS + 1], numbers[shape, CELLS + 2]
    if not (x >= 0.0 and x < nx and y >= 0.0 and y < ny and z >= 0.0 and z < nz):
        return False
    i, j, k = int(x), int(y), int(z)
    word = ((k >> 2) * ((int(ny) + 3) >> 2) + (j >> 2)) * ((int(nx) + 3) >> 2) + (i >> 2)
    return (words[2 * word + ((k >> 1) & 1)] >> (((k & 1) << 4) | ((j & 3) << 2) | (i & 3))) & 1 != 0


@kernel
def look_up_deep_points(tasks, table, numbers, poses, pair_hit, scratch, rows):
    """Write rows (task, -1 - k) for deep points k of map bodies that lie in the shell bodies, for pairs without a hit.

    Returns how many there are; rows beyond the end are counted and not written.
    """
    found = 0
    for task in range(tasks.shape[0]):
        shell, at = tasks[task, SHELL], tasks[task, MAP]
        deep = float64_at(table[at, DEEP], table[at, DEEP + 1])
        if pair_hit[tasks[task, PAIR]] or deep.shape[0] == 0 or tasks[task, FIRST_PIECE] > 0:
            continue
        words = int32_at(table[shell, WORDS], table[shell, WORDS + 1])
        solve_relative_pose_into(poses[tasks[task, SHELL_BODY]], poses[tasks[task, MAP_BODY]], scratch)
        scale = 1.0 / numbers[shell, VOXEL]
        for k in range(deep.shape[0] // 3):
            px, py, pz = deep[3 * k], deep[3 * k + 1], deep[3 * k + 2]
            x = ((scratch[0, 0] * px + scratch[0, 1] * py) + scratch[0, 2] * pz) + (scratch[0, 3] - numbers[shell, ORIGIN])
            y = ((scratch[1, 0] * px + scratch[1, 1] * py) + scratch[1, 2] * pz) + (scratch[1, 3] - numbers[shell, ORIGIN + 1])
            z = ((scratch[2, 0] * px + scratch[2, 1] * py) + scratch[2, 2] * pz) + (scratch[2, 3] - numbers[shell, ORIGIN + 2])
            if is_filled(words, numbers, shell, x * scale, y * scale, z * scale):
                if found < rows.shape[0]:
                    rows[found, 0], rows[found, 1] = task, -1 - k
                found += 1
    return found

"""A prepared shape for kernels, and the frame of a shell in the voxels of a map."""

from __future__ import annotations

from typing import Literal, NamedTuple

from jostle._types import Floats, Ints
from jostle.geometry.rigid import PoseRow, RigidPose, moved_point, pose_of
from jostle.geometry.vector import Vec3, minus, point_from, times
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import One, Record, Rows, Run, Struct, float32, float64, int16, int32, int64, row_opener
from jostle.methods.voxmap.map import GridSize


class ShapeNumbers(Record):
    """The numbers of a shape, lengths in the mesh's units."""

    voxel: float64
    origin: Run[float64, Literal[3]]
    cells: Run[int64, Literal[3]]
    middle: Run[float64, Literal[3]]
    radius: float64
    point_count: int64
    band_step: float64


class ShapeArrays(Struct):
    """The arrays of a `VoxelShape`, flat, and those the look-up derives (`groups.py`)."""

    blocks: Rows[float32]  # shell points, eight at a time
    words: Rows[int32]  # bits of the map, 32 at a time
    balls: Rows[float32]  # about groups of shell points
    coarse: Rows[float32]  # distances of cells from filled voxels
    deep: Rows[float64]
    band_first: Rows[int32]
    band_values: Rows[int16]
    points: Rows[float32]
    feet: Rows[float32]
    normals: Rows[float32]
    near: Rows[int32]  # bits of the voxels near the body, on the band's lattice
    near_coarse: Rows[float32]
    numbers: One[ShapeNumbers]


open_shape = row_opener(ShapeArrays)


class LookUpTask(NamedTuple):
    """A shell to look up in a map, and the range of its pieces."""

    pair: int
    shell_body: int
    map_body: int
    shell: int
    map: int
    first_piece: int
    end_piece: int


# The columns of a table of tasks.
PAIR, SHELL_BODY, MAP_BODY, SHELL, MAP, FIRST_PIECE, END_PIECE = range(len(LookUpTask._fields))
TASK = len(LookUpTask._fields)


@kernel(forceinline=True)
def task_at(tasks: Ints, i: int) -> LookUpTask:
    """Return row i of tasks (n,TASK)."""
    return LookUpTask(
        as_int64(tasks[i, PAIR]),
        as_int64(tasks[i, SHELL_BODY]),
        as_int64(tasks[i, MAP_BODY]),
        as_int64(tasks[i, SHELL]),
        as_int64(tasks[i, MAP]),
        as_int64(tasks[i, FIRST_PIECE]),
        as_int64(tasks[i, END_PIECE]),
    )


@kernel(forceinline=True)
def write_task(tasks: Ints, i: int, task: LookUpTask) -> None:
    """Write row i of tasks (n,TASK)."""
    tasks[i, PAIR], tasks[i, SHELL_BODY], tasks[i, MAP_BODY] = task.pair, task.shell_body, task.map_body
    tasks[i, SHELL], tasks[i, MAP] = task.shell, task.map
    tasks[i, FIRST_PIECE], tasks[i, END_PIECE] = task.first_piece, task.end_piece


@kernel(forceinline=True)
def write_frame(frames: Floats, i: int, frame: RigidPose) -> None:
    """Write row i of frames (n,3,4)."""
    x, y, z = frame.x, frame.y, frame.z
    frames[i, 0, 0], frames[i, 0, 1], frames[i, 0, 2], frames[i, 0, 3] = x.x, x.y, x.z, x.t
    frames[i, 1, 0], frames[i, 1, 1], frames[i, 1, 2], frames[i, 1, 3] = y.x, y.y, y.z, y.t
    frames[i, 2, 0], frames[i, 2, 1], frames[i, 2, 2], frames[i, 2, 3] = z.x, z.y, z.z, z.t


@kernel(forceinline=True)
def frame_in_map(pose: Floats, shell: ShapeArrays, target: ShapeArrays) -> RigidPose:
    """Return the map from points about a shell's middle to the voxels of a map.

    `pose` (4,4) is that of the shell's body relative to the map's.
    """
    body = pose_of(pose)
    x, y, z, scale = body.x, body.y, body.z, 1.0 / target.numbers.voxel
    middle = moved_point(body, point_from(shell.numbers.middle, 0))
    shift = times(scale, minus(middle, point_from(target.numbers.origin, 0)))
    return RigidPose(
        PoseRow(scale * x.x, scale * x.y, scale * x.z, shift.x),
        PoseRow(scale * y.x, scale * y.y, scale * y.z, shift.y),
        PoseRow(scale * z.x, scale * z.y, scale * z.z, shift.z),
    )


@kernel(forceinline=True)
def map_size(shape: ShapeArrays) -> GridSize:
    """Return the voxels of a map along each axis."""
    cells = shape.numbers.cells
    return GridSize(cells[0], cells[1], cells[2])


@kernel
def is_filled(shape: ShapeArrays, at: Vec3) -> bool:
    """Return whether a point, in voxels, lies in a filled voxel of a map."""
    size = map_size(shape)
    if not (0.0 <= at.x < size.x and 0.0 <= at.y < size.y and 0.0 <= at.z < size.z):
        return False
    i, j, k = int(at.x), int(at.y), int(at.z)
    word = ((k >> 2) * ((size.y + 3) >> 2) + (j >> 2)) * ((size.x + 3) >> 2) + (i >> 2)
    bits = as_int64(shape.words[2 * word + ((k >> 1) & 1)])
    return (bits >> (((k & 1) << 4) | ((j & 3) << 2) | (i & 3))) & 1 != 0

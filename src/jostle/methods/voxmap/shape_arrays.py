"""A prepared shape for kernels, and the frame of a shell in the voxels of a map."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.vector import Vec3, dot, minus, plus, point_at, point_from, times, write_point
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


class MapFrame(NamedTuple):
    """A shell in the voxels of a map: the rows of a matrix and a shift.

    They apply to points relative to the middle of the shell.
    """

    x: Vec3
    y: Vec3
    z: Vec3
    shift: Vec3


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
def frame_at(frames: Floats, i: int) -> MapFrame:
    """Return row i of frames (n,4,3)."""
    return MapFrame(point_at(frames[i], 0), point_at(frames[i], 1), point_at(frames[i], 2), point_at(frames[i], 3))


@kernel(forceinline=True)
def write_frame(frames: Floats, i: int, frame: MapFrame) -> None:
    """Write row i of frames (n,4,3)."""
    write_point(frames[i], 0, frame.x)
    write_point(frames[i], 1, frame.y)
    write_point(frames[i], 2, frame.z)
    write_point(frames[i], 3, frame.shift)


@kernel(forceinline=True)
def rows_of(pose: Floats) -> MapFrame:
    """Return a pose (4,4) as matrix rows and shift."""
    return MapFrame(
        point_at(pose, 0), point_at(pose, 1), point_at(pose, 2), Vec3(pose[0, 3], pose[1, 3], pose[2, 3])
    )  # fmt: skip


@kernel(forceinline=True)
def turned_by(frame: MapFrame, a: Vec3) -> Vec3:
    """Return a direction in a frame."""
    return Vec3(dot(frame.x, a), dot(frame.y, a), dot(frame.z, a))


@kernel(forceinline=True)
def placed_by(frame: MapFrame, a: Vec3) -> Vec3:
    """Return a point in a frame."""
    return plus(turned_by(frame, a), frame.shift)


@kernel(forceinline=True)
def frame_in_map(pose: Floats, shell: ShapeArrays, target: ShapeArrays) -> MapFrame:
    """Return the frame of a shell in the voxels of a map.

    `pose` (4,4) is that of the shell's body relative to the map's.
    """
    body = rows_of(pose)
    scale = 1.0 / target.numbers.voxel
    middle = placed_by(body, point_from(shell.numbers.middle, 0))
    shift = times(scale, minus(middle, point_from(target.numbers.origin, 0)))
    return MapFrame(times(scale, body.x), times(scale, body.y), times(scale, body.z), shift)


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


def numbers_record(**numbers: object) -> np.ndarray[tuple[int], np.dtype[np.void]]:
    """Return the `ShapeNumbers` of one shape from named values."""
    made = np.zeros(1, ShapeNumbers.dtype)
    for name, value in numbers.items():
        made[name] = value
    return made

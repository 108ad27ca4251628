"""The world cube (§3.1): the root of the octree, given or taken from the scene.

The paper assumes that all bodies stay inside it. Here a body may leave a given cube: the cube is doubled about its centre until it
holds everything left to check, and the level grows with it, so that voxels keep their size.
"""

from __future__ import annotations

from jostle._types import Floats
from jostle.kernels.jit import kernel
from jostle.methods.face_octree.subdivision import AUTO, LARGEST_LEVEL

ROOM = 1.0 + 2.0**-40  # for the rounding of centre and edge


@kernel
def write_cube(cube: Floats, x: float, y: float, z: float, edge: float) -> None:
    """Write the cube (6,) with a centre and an edge, a little larger."""
    half = 0.5 * edge * ROOM + 2.0**-50 * max(abs(x), abs(y), abs(z)) + 1e-30
    cube[0], cube[1], cube[2] = x - half, y - half, z - half
    cube[3], cube[4], cube[5] = x + half, y + half, z + half


@kernel
def write_cube_about(cube: Floats, lower: Floats, upper: Floats) -> None:
    """Write the cube (6,) that holds boxes lower, upper (k,3), about their centre."""
    lx, ly, lz = lower[0, 0], lower[0, 1], lower[0, 2]
    ux, uy, uz = upper[0, 0], upper[0, 1], upper[0, 2]
    for k in range(1, lower.shape[0]):
        lx, ly, lz = min(lx, lower[k, 0]), min(ly, lower[k, 1]), min(lz, lower[k, 2])
        ux, uy, uz = max(ux, upper[k, 0]), max(uy, upper[k, 1]), max(uz, upper[k, 2])
    write_cube(cube, 0.5 * lx + 0.5 * ux, 0.5 * ly + 0.5 * uy, 0.5 * lz + 0.5 * uz, max(ux - lx, uy - ly, uz - lz))


@kernel
def grow_to_hold(cube: Floats, level: int, boxes: Floats, margin: float) -> int:
    """Double the cube until it holds boxes (k,6) and a margin.

    Returns the level at which voxels keep their size.
    """
    for k in range(boxes.shape[0]):
        for axis in range(3):
            while cube[axis] > boxes[k, axis] - margin or cube[axis + 3] < boxes[k, axis + 3] + margin:
                x, y, z = 0.5 * (cube[0] + cube[3]), 0.5 * (cube[1] + cube[4]), 0.5 * (cube[2] + cube[5])
                write_cube(cube, x, y, z, 2.0 * (cube[3] - cube[0]))
                if level != AUTO:
                    level = min(level + 1, LARGEST_LEVEL)
    return level

"""Faces in a lattice of bins: which faces come within a reach of which bins, for the distance band and for normals.

A face has a frame (geometry/point_triangle.py): longest edge, height, normal. What is within a reach of it lies between two planes
along each of the three axes, so a row of bins is cut to an interval three times, and a needle across the lattice costs little
more than the bins it runs through. Bins may be given too much, never too little.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from jostle.geometry.point_triangle import TriangleFrame, in_frame, triangle_frame
from jostle.geometry.triangle import triangle_of_row
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.protocol import Progress

FIRST_SLICE = 64


def all_faces(work: Callable[[int, int], None], faces: int, progress: Progress | None = None, label: str = "") -> None:
    """Call ``work(begin, end)`` for all faces (or points), in slices that leave room for Ctrl-C and tell how far they are."""

    def step(state: list[int], operations: int) -> tuple[bool, int]:
        begin, end = state[0], min(faces, state[0] + operations)
        work(begin, end)
        state[0] = end
        return end == faces, end - begin

    tell = None if progress is None else (lambda done: progress(done / faces, label))
    run_in_slices(step, [0], FIRST_SLICE, progress=tell)


@kernel(forceinline=True)
def narrow(low, high, at_zero, slope, lower, upper):  # type: ignore[no-untyped-def]
    """The part of [low, high] on which lower <= at_zero + slope * x <= upper, in whole numbers; empty when low > high."""
    if abs(slope) < 1e-9:
        if at_zero + slope * low < lower - 1e-3 or at_zero + slope * low > upper + 1e-3:
            return low, low - 1
        return low, high
    x0, x1 = (lower - at_zero) / slope, (upper - at_zero) / slope
    if x0 > x1:
        x0, x1 = x1, x0
    # Compared as floats first: a nearly level slope gives numbers that no integer holds.
    if x0 > low:
        low = math.ceil(x0 - 1e-6) if x0 <= high + 1.0 else high + 1
    if x1 < high:
        high = math.floor(x1 + 1e-6) if x1 >= low - 1.0 else low - 1
    return low, high


@kernel
def whole_frame(corners, face):  # type: ignore[no-untyped-def]
    """The frame of a face of corners (m,9) as `triangle_frame` has it, completed to three unit axes where there is no area."""
    origin, (ux, uy, uz), (vx, vy, vz), base, foot, height = triangle_frame(triangle_of_row(corners, face))
    if base == 0.0:
        ux = 1.0
    if height == 0.0:
        # Perpendicular to u: the axis along which u is shortest, less its part along u.
        vx, vy, vz = 0.0, 0.0, 1.0
        if abs(ux) <= abs(uy) and abs(ux) <= abs(uz):
            vx, vz = 1.0, 0.0
        elif abs(uy) <= abs(uz):
            vy, vz = 1.0, 0.0
        along = vx * ux + vy * uy + vz * uz
        vx, vy, vz = vx - along * ux, vy - along * uy, vz - along * uz
        shrink = 1.0 / math.sqrt(vx * vx + vy * vy + vz * vz)
        vx, vy, vz = shrink * vx, shrink * vy, shrink * vz
    return TriangleFrame(origin, Vec3(ux, uy, uz), Vec3(vx, vy, vz), base, foot, height)


@kernel
def face_reach(corners, face, axis, reach, cells):  # type: ignore[no-untyped-def]
    """The first and last whole coordinate along an axis that may be within a reach of a face, within 0 … cells - 1."""
    a, b, c = corners[face, axis], corners[face, 3 + axis], corners[face, 6 + axis]
    low, high = math.ceil(min(a, b, c) - reach), math.floor(max(a, b, c) + reach)
    return max(low, 0), min(high, cells - 1)


@kernel
def bin_faces(corners, begin, end, half, reach, nx, ny, nz, fill, count, faces):  # type: ignore[no-untyped-def]
    """Count (nz*ny*nx,) for each bin the faces begin … end - 1 within reach of it, or enter them.

    corners (m,9) in units of bins, whole numbers at their middles; a bin is a cube of ± half about its middle. With `fill`, `count`
    holds the ends of the lists of bins in faces (k,) and is moved back to their beginnings.
    """
    for face in range(begin, end):
        frame = whole_frame(corners, face)
        _, (ux, uy, uz), (vx, vy, vz), base, _, height = frame
        wx, wy, wz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        u_reach = reach + half * (abs(ux) + abs(uy) + abs(uz))
        v_reach = reach + half * (abs(vx) + abs(vy) + abs(vz))
        w_reach = reach + half * (abs(wx) + abs(wy) + abs(wz))
        x_low, x_high = face_reach(corners, face, 0, reach + half, nx)
        y_low, y_high = face_reach(corners, face, 1, reach + half, ny)
        z_low, z_high = face_reach(corners, face, 2, reach + half, nz)
        for z in range(z_low, z_high + 1):
            for y in range(y_low, y_high + 1):
                u, v, w = in_frame(frame, Vec3(0.0, float(y), float(z)))
                low, high = narrow(x_low, x_high, w, wx, -w_reach, w_reach)
                low, high = narrow(low, high, v, vx, -v_reach, height + v_reach)
                low, high = narrow(low, high, u, ux, -u_reach, base + u_reach)
                for x in range(low, high + 1):
                    k = (z * ny + y) * nx + x
                    if fill:
                        count[k] -= 1
                        faces[count[k]] = face
                    else:
                        count[k] += 1

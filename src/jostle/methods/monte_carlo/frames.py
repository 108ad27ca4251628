"""The frame of a coarser facet: what carries its disc along when the body deforms (§5.1).

The corners of a coarser facet are "a weighted average of the actual geometry": each is the mean of the outermost vertices
under it in four neighbouring directions, so the three are well apart whatever the simplified triangle looked like. The disc's
centre and normal keep their coordinates in the frame of the three corners. A rigid motion of the vertices moves centre and
normal rigidly, up to rounding.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.shells import any_normal, normal_of_corners


def in_frames(vertices: Floats, anchor: NDArray[np.int32], centre: Floats, normal: Floats) -> tuple[Floats, Floats]:
    """Return the corners (f, 3, 3) of coarser facets, and their discs (f, 6) in the frames of those: centre, then normal.

    Parameters
    ----------
    vertices : (n, 3) array
    anchor : (f, 12) int32
        Vertices; corner j is the mean of those in columns 4 j … 4 j + 3.
    centre, normal : (f, 3) arrays
        Of the discs.
    """
    corners, in_frame = np.zeros((len(anchor), 3, 3)), np.zeros((len(anchor), 6))
    flat, anchors = read_only_view(vertices).reshape(-1), read_only_view(anchor).reshape(-1)
    fill_frames(flat, anchors, read_only_view(centre), read_only_view(normal), corners, in_frame)
    return corners, in_frame


@kernel
def corner_of_facet(anchor, vertices, at):  # type: ignore[no-untyped-def]
    """Where a corner of a coarser facet is: the mean of four vertices, anchor[at …]; anchor (12 F,), vertices (3 n,)."""
    a, b, c, d = 3 * anchor[at], 3 * anchor[at + 1], 3 * anchor[at + 2], 3 * anchor[at + 3]
    return (
        0.25 * ((vertices[a] + vertices[b]) + (vertices[c] + vertices[d])),
        0.25 * ((vertices[a + 1] + vertices[b + 1]) + (vertices[c + 1] + vertices[d + 1])),
        0.25 * ((vertices[a + 2] + vertices[b + 2]) + (vertices[c + 2] + vertices[d + 2])),
    )


@kernel
def frame_of_corners(ax, ay, az, bx, by, bz, cx, cy, cz):  # type: ignore[no-untyped-def]
    """Barycentre of a triangle and an orthonormal frame: along ab, across, normal. Twelve numbers."""
    nx, ny, nz = normal_of_corners(ax, ay, az, bx, by, bz, cx, cy, cz)
    ux, uy, uz = bx - ax, by - ay, bz - az
    along = (nx * ux + ny * uy) + nz * uz
    ux, uy, uz = ux - along * nx, uy - along * ny, uz - along * nz
    size = math.sqrt((ux * ux + uy * uy) + uz * uz)
    if size > 0.0:
        ux, uy, uz = ux / size, uy / size, uz / size
    else:
        ux, uy, uz = any_normal(nx, ny, nz)
    x, y, z = ((ax + bx) + cx) / 3.0, ((ay + by) + cy) / 3.0, ((az + bz) + cz) / 3.0
    return x, y, z, ux, uy, uz, ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux, nx, ny, nz


@kernel
def carried_disc(anchor, in_frame, vertices, f):  # type: ignore[no-untyped-def]
    """Centre and normal of coarser facet f's disc at rest, carried along with its corners. Six numbers; in_frame (6 F,)."""
    ax, ay, az = corner_of_facet(anchor, vertices, 12 * f)
    bx, by, bz = corner_of_facet(anchor, vertices, 12 * f + 4)
    cx, cy, cz = corner_of_facet(anchor, vertices, 12 * f + 8)
    x, y, z, ux, uy, uz, vx, vy, vz, wx, wy, wz = frame_of_corners(ax, ay, az, bx, by, bz, cx, cy, cz)
    p, q, r = in_frame[6 * f], in_frame[6 * f + 1], in_frame[6 * f + 2]
    x, y, z = x + ((p * ux + q * vx) + r * wx), y + ((p * uy + q * vy) + r * wy), z + ((p * uz + q * vz) + r * wz)
    p, q, r = in_frame[6 * f + 3], in_frame[6 * f + 4], in_frame[6 * f + 5]
    return x, y, z, (p * ux + q * vx) + r * wx, (p * uy + q * vy) + r * wy, (p * uz + q * vz) + r * wz


@kernel
def fill_frames(vertices, anchor, centre, normal, corners, in_frame):  # type: ignore[no-untyped-def]
    """Write corners (f,3,3), and the coordinates (f,6) of centre and normal (f,3) in their frames; vertices, anchor flat."""
    for f in range(corners.shape[0]):
        ax, ay, az = corner_of_facet(anchor, vertices, 12 * f)
        bx, by, bz = corner_of_facet(anchor, vertices, 12 * f + 4)
        cx, cy, cz = corner_of_facet(anchor, vertices, 12 * f + 8)
        corners[f, 0, 0], corners[f, 0, 1], corners[f, 0, 2] = ax, ay, az
        corners[f, 1, 0], corners[f, 1, 1], corners[f, 1, 2] = bx, by, bz
        corners[f, 2, 0], corners[f, 2, 1], corners[f, 2, 2] = cx, cy, cz
        x, y, z, ux, uy, uz, vx, vy, vz, wx, wy, wz = frame_of_corners(ax, ay, az, bx, by, bz, cx, cy, cz)
        x, y, z = centre[f, 0] - x, centre[f, 1] - y, centre[f, 2] - z
        in_frame[f, 0] = (x * ux + y * uy) + z * uz
        in_frame[f, 1] = (x * vx + y * vy) + z * vz
        in_frame[f, 2] = (x * wx + y * wy) + z * wz
        x, y, z = normal[f, 0], normal[f, 1], normal[f, 2]
        in_frame[f, 3] = (x * ux + y * uy) + z * uz
        in_frame[f, 4] = (x * vx + y * vy) + z * vz
        in_frame[f, 5] = (x * wx + y * wy) + z * wz

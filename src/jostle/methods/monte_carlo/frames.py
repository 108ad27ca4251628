"""The frame of a coarser facet, which carries its disc in a deforming body (§5.1).

The corners of a coarser facet are "a weighted average of the actual geometry": each is the mean of the outermost vertices under it
in four neighbouring directions, so the three are well apart whatever the simplified triangle looks like. The disc's centre and
normal keep their coordinates in the frame of the three corners. A rigid motion of the vertices moves both rigidly, up to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.triangle import Triangle
from jostle.geometry.vector import Vec3, cross, divided, dot, length, minus, plus, point_at, point_from, times, write_point_from
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Rows
from jostle.methods.monte_carlo.shells import any_normal, barycentre, normal_of_corners

FlatInts = Ints | Rows[int]
FlatFloats = Floats | Rows[float]


class Axes(NamedTuple):
    """An orthonormal frame: its origin, and three unit vectors."""

    origin: Vec3
    along: Vec3
    across: Vec3
    normal: Vec3


def in_frames(vertices: Floats, anchor: NDArray[np.int32], centre: Floats, normal: Floats) -> Floats:
    """Return the discs (f, 6) of coarser facets in the frames of their corners.

    Centre, then normal.

    Parameters
    ----------
    vertices : (n, 3) array
    anchor : (f, 12) int32
        Vertices; corner j is the mean of those in columns 4 j … 4 j + 3.
    centre, normal : (f, 3) arrays
        Of the discs.
    """
    in_frame = np.zeros((len(anchor), 6))
    flat, anchors = read_only_view(vertices).reshape(-1), read_only_view(anchor).reshape(-1)
    fill_frames(flat, anchors, read_only_view(centre), read_only_view(normal), in_frame.reshape(-1))
    return in_frame


@kernel(forceinline=True)
def mean_of_four(anchor: FlatInts, vertices: Floats, at: int) -> Vec3:
    """Return the mean of four vertices, anchor[at …]; anchor (12 F,), vertices (3 n,)."""
    a, b = point_from(vertices, 3 * anchor[at]), point_from(vertices, 3 * anchor[at + 1])
    c, d = point_from(vertices, 3 * anchor[at + 2]), point_from(vertices, 3 * anchor[at + 3])
    return times(0.25, plus(plus(a, b), plus(c, d)))


@kernel
def corners_of_facet(anchor: FlatInts, vertices: Floats, f: int) -> Triangle:
    """Return the corners of coarser facet f; anchor (12 F,), vertices (3 n,)."""
    at = 12 * f
    p, q = mean_of_four(anchor, vertices, at), mean_of_four(anchor, vertices, at + 4)
    return Triangle(p, q, mean_of_four(anchor, vertices, at + 8))


@kernel
def frame_of_corners(t: Triangle) -> Axes:
    """Return the frame of a triangle: barycentre, first side, across, normal."""
    n = normal_of_corners(t)
    u = minus(t.q, t.p)
    u = minus(u, times(dot(n, u), n))
    size = length(u)
    u = divided(u, size) if size > 0.0 else any_normal(n)
    return Axes(barycentre(t), u, cross(n, u), n)


@kernel(forceinline=True)
def out_of_frame(axes: Axes, a: Vec3) -> Vec3:
    """Return a direction given in frame coordinates."""
    return plus(plus(times(a.x, axes.along), times(a.y, axes.across)), times(a.z, axes.normal))


@kernel(forceinline=True)
def into_frame(axes: Axes, a: Vec3) -> Vec3:
    """Return the frame coordinates of a direction."""
    return Vec3(dot(a, axes.along), dot(a, axes.across), dot(a, axes.normal))


@kernel
def carried_disc(anchor: FlatInts, in_frame: FlatFloats, vertices: Floats, f: int) -> tuple[Vec3, Vec3]:
    """Return centre and normal of coarser facet f's disc, carried by its corners.

    in_frame (6 F,).
    """
    axes = frame_of_corners(corners_of_facet(anchor, vertices, f))
    centre = plus(axes.origin, out_of_frame(axes, point_from(in_frame, 6 * f)))
    return centre, out_of_frame(axes, point_from(in_frame, 6 * f + 3))


@kernel
def fill_frames(vertices: Floats, anchor: Ints, centre: Floats, normal: Floats, in_frame: Floats) -> None:
    """Write the coordinates (6 f,) of centre and normal (f,3) in the facets' frames.

    vertices and anchor are flat.
    """
    for f in range(centre.shape[0]):
        axes = frame_of_corners(corners_of_facet(anchor, vertices, f))
        write_point_from(in_frame, 6 * f, into_frame(axes, minus(point_at(centre, f), axes.origin)))
        write_point_from(in_frame, 6 * f + 3, into_frame(axes, point_at(normal, f)))

"""Data of the edge kernels: edges and faces of two surfaces, and cuts."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jostle.geometry.triangle import Segment, Triangle, triangle_from
from jostle.geometry.vector import Vec3, coordinate, minus, point_from
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.structs import One, Record, Rows, Run, Struct, float64, int64, opener, uint8

EPSILON = 2.0**-52
MOST = 128  # faces that contain a part of one edge, and cuts of it; more are left to integers


class Surfaces(Record):
    """Sizes of the two surfaces; the first faces belong to the first."""

    count_a: int64  # faces of the first
    largest: float64  # absolute value of a coordinate
    top: float64  # largest z


class EdgeEnds(Record):
    """The ends of an edge."""

    p: Run[float64, Literal[3]]
    q: Run[float64, Literal[3]]


class FaceBox(Record):
    """The box of a face."""

    lower: Run[float64, Literal[3]]
    upper: Run[float64, Literal[3]]


class HoldingFace(Record):
    """A face that contains more than a point of the present edge."""

    face: int64
    axis: int64  # of a shadow in which it has an area
    turned: int64  # its orientation there
    corner_sides: Run[int64, Literal[3]]  # on which side of the edge's line its corners lie there
    ends: Run[int64, Literal[2]]  # the cuts between which it contains the edge


class Cut(Record):
    """A cut of the present edge, at vertex p or where side pq crosses it."""

    where: float64  # its coordinate on the longest axis of the edge
    error: float64  # bound on its error; 0 for a vertex
    p: Run[float64, Literal[3]]
    q: Run[float64, Literal[3]]
    axis: int64  # of a shadow in which the plane of side and edge has an area


class PlaneAtEdge(Record):
    """A half plane at the present piece."""

    corner: Run[float64, Literal[3]]
    of_b: int64  # whether it belongs to a face of the second surface
    jump: int64  # change of the winding number across it, counter-clockwise
    turned: int64  # `sectors.turn` from the ray


class EdgeWork(Struct):
    """Two surfaces and some of their edges; scratch for the present edge."""

    surfaces: One[Surfaces]
    corners: Rows[float64]  # (9m,) of all faces
    boxes: Rows[FaceBox]  # (m,)
    first_row: Rows[int64]  # (m + 1,) of each face
    touching: Rows[int64]  # the face that touches it in each row
    edges: Rows[EdgeEnds]
    sides: Rows[int64]  # a side of each edge
    answers: Rows[uint8]  # of each edge: APART, MEETING or UNDECIDED
    looked_at: Rows[int64]  # (m,) the last edge for which each face was tested
    holding: Rows[HoldingFace]  # (MOST,) this and all below
    cuts: Rows[Cut]
    cut_order: Rows[int64]  # cuts along the edge
    cut_rank: Rows[int64]  # the place of each cut in that order
    around: Rows[int64]  # faces that contain the present piece
    planes: Rows[PlaneAtEdge]  # (2 MOST,)
    plane_order: Rows[int64]  # (2 MOST,) half planes counter-clockwise, from the ray


open_work = opener(EdgeWork)


def edge_work(**arrays: NDArray[Any]) -> AddressTable:
    """Return an `EdgeWork` of these arrays, with scratch."""
    return EdgeWork.table(
        looked_at=np.full(len(arrays["corners"]), -1),
        holding=np.empty(MOST, HoldingFace.dtype),
        cuts=np.empty(MOST, Cut.dtype),
        cut_order=np.empty(MOST, np.int64),
        cut_rank=np.empty(MOST, np.int64),
        around=np.empty(MOST, np.int64),
        planes=np.empty(2 * MOST, PlaneAtEdge.dtype),
        plane_order=np.empty(2 * MOST, np.int64),
        **arrays,
    )


@kernel(forceinline=True)
def edge_at(work: EdgeWork, e: int) -> Segment:
    """Return an edge."""
    return Segment(point_from(work.edges[e].p, 0), point_from(work.edges[e].q, 0))


@kernel(forceinline=True)
def face_corners(work: EdgeWork, f: int) -> Triangle:
    """Return the corners of a face."""
    return triangle_from(work.corners, 9 * f)


@kernel(forceinline=True)
def longest_axis(line: Segment) -> int:
    """Return the coordinate that changes most along a segment."""
    along = minus(line.q, line.p)
    longest = 1 if abs(along.y) > abs(along.x) else 0
    return 2 if abs(along.z) > abs(coordinate(along, longest)) else longest


@kernel(forceinline=True)
def corner_of(t: Triangle, k: int) -> Vec3:
    """Return a corner of a triangle by its number."""
    if k == 0:
        return t.p
    return t.q if k == 1 else t.r

"""Bodies for the solid kernels: vertices, faces, topology, inner sides, boxes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from jostle._types import Bools, Floats, Ints
from jostle.geometry.aabb import world_interval
from jostle.geometry.rigid import SMALLEST_WORLD_COORDINATE
from jostle.geometry.triangle import Bounds, Triangle
from jostle.geometry.vector import Vec3, point_at, point_from, write_point_from
from jostle.interface.frame import Frame
from jostle.kernels.interpreting import in_columns
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, Rows, Struct, float64, int32, row_opener
from jostle.shapes.topology import SheetArrays, SheetSides, TopologyArrays, sheet_sides


class PlacedFaces(Struct):
    """The world vertices of a body, and its faces."""

    vertices: Rows[float64]  # (3n,)
    faces: Rows[int32]  # (3m,)


class SolidBody(SheetArrays, TopologyArrays, PlacedFaces):
    """A row of the table of bodies: placed faces, topology and sheets."""


class BodyFacts(NamedTuple):
    """Properties of each body beside its arrays."""

    closed: Bools  # (n,)
    boxes: Floats  # (n,6) of the faces of used bodies, lowest coordinates first


open_body = row_opener(SolidBody)

TOPOLOGY = 2 * len(PlacedFaces.layout)  # where its columns begin in the table
SHEETS = TOPOLOGY + 2 * len(TopologyArrays.layout)


class SolidBodies:
    """The bodies of some pairs at one instant.

    Parameters
    ----------
    used, touching : (n,) bool
        Which bodies of the frame are in a pair, and which of them in one with rows.

    Attributes
    ----------
    table : (n, columns) int64
        A `SolidBody` for each used body. It is valid as long as this object and the frame live.
    facts : BodyFacts
    sides : dict
        The sides of sheets by body, unknown for open bodies and for bodies that touch nothing.
    most : int
        The most sheets or parts that a body has.
    """

    def __init__(self, frame: Frame, used: Bools, touching: Bools) -> None:
        self.table = np.zeros((len(frame), 2 * len(SolidBody.layout)), np.int64)
        self.facts = BodyFacts(np.zeros(len(frame), bool), np.empty((len(frame), 6)))
        self.sides: dict[int, SheetSides] = {}
        self.most = 1
        unused_vertices = np.zeros(len(frame), bool)
        for body in np.flatnonzero(used).tolist():
            self._add(frame, body, bool(touching[body]))
            unused_vertices[body] = not frame.bodies.meshes[body].uses_every_vertex
        boxes_into(self.table, used, unused_vertices, self.facts.boxes)

    def _add(self, frame: Frame, body: int, touching: bool) -> None:
        mesh, world = frame.bodies.meshes[body], frame.world_vertices(body)
        topology = mesh.topology
        if not (topology.is_closed and touching):
            sides = topology.unknown_sides
        elif frame.bodies.deformable[body]:
            sides = sheet_sides(frame.vertices[body], mesh.faces, topology)
        else:
            sides = mesh.sheet_sides
        row = self.table[body]
        row[:TOPOLOGY] = world.ctypes.data, world.size, mesh.faces.ctypes.data, mesh.faces.size
        row[TOPOLOGY:SHEETS] = topology.table.table[0]
        row[SHEETS:] = sides.addresses
        self.facts.closed[body] = topology.is_closed
        self.sides[body] = sides
        self.most = max(self.most, len(sides.inner), len(topology.first_face_of_part))


@kernel(forceinline=True)
def start_of(body: SolidBody, side: int) -> Vec3:
    """Return the corner at which a side begins: side 3 f + k at corner k of face f."""
    return point_from(body.vertices, 3 * as_int64(body.faces[side]))


@kernel(forceinline=True)
def corners_of_face(body: SolidBody, face: int) -> Triangle:
    """Return the corners of a face."""
    return Triangle(start_of(body, 3 * face), start_of(body, 3 * face + 1), start_of(body, 3 * face + 2))


@kernel
def boxes_into(table: Addresses, used: Bools, unused_vertices: Bools, boxes: Floats) -> None:
    """Write the boxes (n,6) of the used bodies' faces, lowest coordinates first.

    unused_vertices (n,): whether a body has vertices that no face uses. Without such ones the box is that of all vertices, of which
    closed meshes have a sixth as many as corners of faces.
    """
    for i in range(table.shape[0]):
        if not used[i]:
            continue
        body = open_body(table, i)
        lower, upper = Vec3(np.inf, np.inf, np.inf), Vec3(-np.inf, -np.inf, -np.inf)
        by_faces = unused_vertices[i]
        for k in range(len(body.faces) if by_faces else len(body.vertices) // 3):
            at = start_of(body, k) if by_faces else point_from(body.vertices, 3 * k)
            lower = Vec3(min(lower.x, at.x), min(lower.y, at.y), min(lower.z, at.z))
            upper = Vec3(max(upper.x, at.x), max(upper.y, at.y), max(upper.z, at.z))
        write_point_from(boxes[i], 0, lower)
        write_point_from(boxes[i], 3, upper)


@in_columns(boxes_into)
def _boxes_of_columns(table: Addresses, used: Bools, unused_vertices: Bools, boxes: Floats) -> None:
    for i in np.flatnonzero(used).tolist():
        body: Any = open_body(table, i)
        points = np.asarray(body.vertices).reshape(-1, 3)
        if unused_vertices[i]:
            points = points[np.asarray(body.faces)]
        boxes[i, :3], boxes[i, 3:] = points.min(axis=0, initial=np.inf), points.max(axis=0, initial=-np.inf)


@kernel
def boxes_meet(poses: Floats, bounds: Floats, body_a: Ints, body_b: Ints) -> bool:
    """Return whether world boxes of any pair meet; bounds (n,2,3) are local."""
    for pair in range(body_a.shape[0]):
        a, b = as_int64(body_a[pair]), as_int64(body_b[pair])
        apart = False
        for k in range(3):
            lower_a, upper_a = world_bounds(poses, bounds, a, k)
            lower_b, upper_b = world_bounds(poses, bounds, b, k)
            apart = apart or lower_a > upper_b or lower_b > upper_a  # never for NaN, which infinite bounds may give
        if not apart:
            return True
    return False


@kernel
def world_bounds(poses: Floats, bounds: Floats, body: int, k: int) -> tuple[float, float]:
    """Return the lowest and highest world coordinate k of a body."""
    row = (poses[body, k, 0], poses[body, k, 1], poses[body, k, 2], poses[body, k, 3])
    return world_interval(row, Bounds(point_at(bounds[body], 0), point_at(bounds[body], 1)))


@in_columns(boxes_meet)
def _columns_meet(poses: Floats, bounds: Floats, body_a: Ints, body_b: Ints) -> bool:
    with np.errstate(invalid="ignore"):  # 0 times infinity
        ends = poses[:, :3, None, :3] * bounds[:, None]  # (n, row, end, coordinate)
        shares = np.minimum(ends[:, :, 0], ends[:, :, 1]), np.maximum(ends[:, :, 0], ends[:, :, 1])
        lower, upper = (((x[:, :, 0] + x[:, :, 1]) + x[:, :, 2]) + poses[:, :3, 3] for x in shares)
    for interval in (lower, upper):
        interval[np.abs(interval) < SMALLEST_WORLD_COORDINATE] = 0.0
    apart = (lower[body_a] > upper[body_b]) | (lower[body_b] > upper[body_a])
    return not apart.any(axis=1).all()

"""What users see of features: names and vertices of the mesh, faces, the overlay."""

from __future__ import annotations

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.triangle import face_at
from jostle.geometry.vector import Vec3
from jostle.interface.frame import Frame
from jostle.interface.overlay import Overlay
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.closest_features.polyhedron import EDGE, VERTEX, Polyhedron
from jostle.shapes.mesh import Mesh

HOLDS = 2.0**-30  # of the size of the mesh: a face so near to a point holds it


def named_feature(shape: Polyhedron, code: int) -> tuple[str, tuple[int, ...]]:
    """Return the name of a feature and its vertices in the mesh.

    A vertex, the ends of an edge, or the corners of a face in order.
    """
    kind, index = code & 3, code >> 2
    if kind == VERTEX:
        return "vertex", (int(shape.vertex_ids[index]),)
    edges = shape.edges
    if kind == EDGE:
        return "edge", (int(shape.vertex_ids[edges[index, 0]]), int(shape.vertex_ids[edges[index, 1]]))
    codes = shape.codes[shape.face_first[index] : shape.face_first[index + 1]]
    # A left face runs along an edge from tail to head, a right one back.
    following = {int(edges[c >> 1, c & 1]): int(edges[c >> 1, 1 - (c & 1)]) for c in codes.tolist()}
    corners = [min(following)]
    while following[corners[-1]] != corners[0]:
        corners.append(following[corners[-1]])
    return "face", tuple(int(shape.vertex_ids[v]) for v in corners)


def face_that_holds(mesh: Mesh, pose: Floats, point: Floats) -> int:
    """Return the lowest face of a mesh that holds a world point within rounding.

    -1 if there is none: a hull has faces of its own.
    """
    local = np.linalg.solve(pose[:3, :3], point - pose[:3, 3])
    x, y, z = local.tolist()
    return int(nearest_face(read_only_view(mesh.vertices), read_only_view(mesh.faces), x, y, z, HOLDS * mesh.size))


@kernel
def nearest_face(vertices: Floats, faces: Ints, x: float, y: float, z: float, near: float) -> int:
    """Return the lowest face no farther than `near` from a point, or -1."""
    for f in range(faces.shape[0]):
        if closest_point_on_triangle(Vec3(x, y, z), face_at(vertices, faces, f)).squared <= near * near:
            return f
    return -1


def overlay_of(
    frame: Frame, shapes: tuple[Polyhedron, ...], pairs: list[tuple[int, int]], codes: Floats, points: Floats
) -> Overlay:
    """Show segments between closest points, and the edges and corners of features."""
    segments = list(points.reshape(-1, 2, 3))
    corners: list[Floats] = []
    for pair, known in zip(pairs, codes.tolist(), strict=True):
        for body, code in zip(pair, known, strict=True):
            name, vertices = named_feature(shapes[body], int(code))
            places = frame.world_vertices(body)[list(vertices)]
            corners.extend(places)
            if name != "vertex":
                ends = np.stack([places, np.roll(places, -1, axis=0)], axis=1)
                segments.extend(ends[: 1 if name == "edge" else None])
    return Overlay(
        "closest features",
        segments=np.array(segments).reshape(-1, 2, 3),
        points=np.array([*points.reshape(-1, 3), *corners]).reshape(-1, 3),
    )

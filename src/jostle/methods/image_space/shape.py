"""The prepared shape: the faces of a mesh in patches, its box, and its convexity.

Rendering needs no preprocessing of a surface (Baciu, Wong and Sun §2: no Voronoi regions). The shape keeps what saves
time while drawing: faces in patches of neighbours (`render/patches.py`), so that faces outside the region are skipped
together, and whether a ray meets the body at most twice (§4). A deforming body keeps its patches: `follow` moves their
points and boxes, and it counts as concave.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.render.patches import patches_of
from jostle.shapes.mesh import Mesh

NOT_CONVEX = 0


class ImageShape(NamedTuple):
    """The data kept of a mesh: the fields of `render.patches.Patches`, and three more."""

    points: Floats  # (p, 3) vertices of the patches, one after another
    vertex_of: Ints  # (p,) the vertex of the mesh that each is a copy of
    corners: Ints  # (m, 3) points of each face, local to its patch
    face_of: Ints  # (m,) the face of the mesh that each is
    first_point: Ints  # (k + 1,)
    first_face: Ints  # (k + 1,)
    centre: Floats  # (k, 3) boxes of the patches
    half: Floats  # (k, 3)
    lower: Floats  # (3,) box of the mesh
    upper: Floats  # (3,)
    convex: int  # 1 where every ray meets the body at most twice


def prepare(mesh: Mesh) -> ImageShape:
    """Return the shape of a mesh."""
    lower, upper = (np.array(bound) for bound in mesh.bounds)
    return ImageShape(*patches_of(mesh.vertices, mesh.faces), lower, upper, int(mesh.is_convex))


def own_copy(shape: ImageShape) -> ImageShape:
    """Return a shape for one deforming body, with its own points and boxes."""
    changing = ("points", "centre", "half", "lower", "upper")
    return shape._replace(**{name: np.array(getattr(shape, name)) for name in changing}, convex=NOT_CONVEX)


def follow(shape: ImageShape, vertices: Floats) -> None:
    """Move points and boxes of an own copy to other vertices, in place."""
    refit_patches(
        read_only_view(vertices), read_only_view(shape.vertex_of), read_only_view(shape.first_point),
        shape.points, shape.centre, shape.half, shape.lower, shape.upper,
    )  # fmt: skip


@kernel
def refit_patches(
    vertices: Floats, vertex_of: Ints, first_point: Ints, points: Floats, centre: Floats, half: Floats, lower: Floats, upper: Floats
) -> None:
    """Copy vertices (v,3) to points (p,3) and refit the boxes (k,3), rounded outward.

    lower and upper (3,) become the box of all.
    """
    for axis in range(3):
        lower[axis], upper[axis] = np.inf, -np.inf
        for patch in range(len(first_point) - 1):
            low, high = np.inf, -np.inf
            for k in range(first_point[patch], first_point[patch + 1]):
                x = vertices[vertex_of[k], axis]
                points[k, axis] = x
                low, high = min(low, x), max(high, x)
            middle = 0.5 * low + 0.5 * high
            centre[patch, axis] = middle
            # One step beyond the longer half holds both ends, despite rounding.
            half[patch, axis] = np.nextafter(max(high - middle, middle - low), np.inf)
            lower[axis], upper[axis] = min(lower[axis], low), max(upper[axis], high)

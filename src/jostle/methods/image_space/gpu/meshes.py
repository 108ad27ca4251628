"""The meshes on the device: points on an integer grid, packed faces, patches.

The points of a mesh are rounded to multiples of a step of 2^-29 … 2^-28 of its half side, counted from its middle. A
shader subtracts a point near the piece it draws in whole numbers, without loss, and rounds only the difference to
float32: so precision depends on what is seen, not on the whole body, and a vertex has the same place in every patch that
uses it. Coordinates in float32 from the middle of the body would lose a pixel on a ground of 10 km seen at 1 mm; from the
middle of each patch they would leave gaps between patches.

Bodies that share a shape share its place on the device.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.interface.shape_numbers import number_shapes
from jostle.methods.image_space.shape import ImageShape

GRID_BITS = 29  # of a coordinate; a reference may lie twice as far out, and their difference still fits an int32


class Meshes(NamedTuple):
    """All meshes (k patches of s shapes), on the processor and for the device."""

    shape_of_body: Ints  # (bodies,)
    convex: NDArray[np.bool_]  # (s,)
    first_patch: NDArray[np.int64]  # (s + 1,)
    first_point: NDArray[np.int64]  # (s + 1,)
    centre: Floats  # (k, 3) boxes of the patches
    half: Floats  # (k, 3)
    grid: Floats  # (s, 4) middle of each mesh, and the step of its grid
    points: Ints  # (p, 3) for the device: steps from the middle
    corners: NDArray[np.uint32]  # (m,) for the device: three times 8 bits
    patches: NDArray[np.uint32]  # (k, 4) for the device: first point, first face, faces


def meshes_of(shapes: Sequence[ImageShape]) -> Meshes:
    """Gather the distinct shapes of all bodies."""
    first, shape_of_body = number_shapes(shapes)
    different = [shapes[body] for body in first]
    first_patch = _starts([len(shape.first_face) - 1 for shape in different])
    first_point = _starts([len(shape.points) for shape in different])
    first_face = _starts([len(shape.corners) for shape in different])
    grid = np.array([_grid(shape) for shape in different]).reshape(-1, 4)
    patches = np.zeros((first_patch[-1], 4), np.uint32)
    for k, shape in enumerate(different):
        rows = patches[first_patch[k] : first_patch[k + 1]]
        rows[:, 0] = shape.first_point[:-1] + first_point[k]
        rows[:, 1] = shape.first_face[:-1] + first_face[k]
        rows[:, 2] = np.diff(shape.first_face)
    return Meshes(
        shape_of_body=shape_of_body,
        convex=np.array([bool(shape.convex) for shape in different], np.bool_),
        first_patch=first_patch,
        first_point=first_point,
        centre=_stacked([shape.centre for shape in different], np.float64),
        half=_stacked([shape.half for shape in different], np.float64),
        grid=grid,
        points=_stacked([_on_grid(shape, grid[k]) for k, shape in enumerate(different)], np.int32),
        corners=_packed(_stacked([shape.corners for shape in different], np.int32)),
        patches=patches,
    )


def move_points(meshes: Meshes, body: int, shape: ImageShape) -> tuple[int, int]:
    """Take new points and boxes for a body's mesh; return the range of its points."""
    k = int(meshes.shape_of_body[body])
    first, last = int(meshes.first_point[k]), int(meshes.first_point[k + 1])
    meshes.grid[k] = _grid(shape)
    meshes.points[first:last] = _on_grid(shape, meshes.grid[k])
    rows = slice(int(meshes.first_patch[k]), int(meshes.first_patch[k + 1]))
    meshes.centre[rows] = shape.centre
    meshes.half[rows] = shape.half
    meshes.convex[k] = bool(shape.convex)
    return first, last


def is_alone(meshes: Meshes, body: int) -> bool:
    """Return whether no other body shares the mesh of this one."""
    return int(np.count_nonzero(meshes.shape_of_body == meshes.shape_of_body[body])) == 1


def _grid(shape: ImageShape) -> Floats:
    """Return middle (3) and step of the grid of a mesh; the step is a power of two."""
    middle = 0.5 * shape.lower + 0.5 * shape.upper
    reach = float(np.maximum(shape.upper - middle, middle - shape.lower).max(initial=0.0)) if len(shape.points) else 0.0
    if reach == 0.0:
        return np.array([*(middle if len(shape.points) else np.zeros(3)), 1.0])
    return np.array([*middle, math.ldexp(1.0, math.frexp(reach)[1] - GRID_BITS)])


def _on_grid(shape: ImageShape, grid: Floats) -> Ints:
    steps: Ints = np.rint((shape.points.reshape(-1, 3) - grid[:3]) / grid[3]).astype(np.int32)
    return steps


def _packed(corners: Ints) -> NDArray[np.uint32]:
    """Pack three corners of a face, each below 192, in one word."""
    bytes_ = corners.astype(np.uint32)
    packed: NDArray[np.uint32] = bytes_[:, 0] | bytes_[:, 1] << np.uint32(8) | bytes_[:, 2] << np.uint32(16)
    return packed


def _starts(counts: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _stacked(parts: Sequence[NDArray[Any]], kind: type) -> NDArray[Any]:
    return np.concatenate([np.empty((0, 3), kind), *(part.reshape(-1, 3) for part in parts)]).astype(kind)

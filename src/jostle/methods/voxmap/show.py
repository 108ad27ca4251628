"""The overlay: surface voxels as boxes, shell points, hits as segments.

Boxes of an overlay are in world axes: a voxel of a rotated body is drawn as the cube of the same size about its centre.
Hits are segments from the shell point to the centre of the filled voxel, drawn in red by viewers.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats
from jostle.interface.frame import Frame
from jostle.interface.overlay import Overlay
from jostle.interface.shape_numbers import number_shapes
from jostle.methods.voxmap.map import Lattice
from jostle.methods.voxmap.shape import VoxelShape
from jostle.methods.voxmap.shell import shell_of
from jostle.methods.voxmap.surface import surface_words
from jostle.report.report import Contacts


def surface_voxel_centres(shape: VoxelShape) -> Floats:
    """Return the centres (k,3) of the surface voxels of a map, in body coordinates."""
    lattice = Lattice(shape.origin, shape.voxel, shape.cells)
    centres = shell_of(*surface_words(shape.words, lattice), lattice)
    placed: Floats = centres.middle + centres.points
    return placed


def shown_voxels(shapes: tuple[VoxelShape, ...], frame: Frame) -> Overlay:
    """Return a box for each filled voxel at the surface of each body."""
    first, shape_of_body = number_shapes(shapes)
    centres = [surface_voxel_centres(shapes[body]) for body in first]
    boxes = [np.empty((0, 2, 3))]
    for shape, number, pose in zip(shapes, shape_of_body.tolist(), frame.poses, strict=True):
        middle = _moved(pose, centres[number])
        boxes.append(np.stack([middle - 0.5 * shape.voxel, middle + 0.5 * shape.voxel], axis=1))
    return Overlay("filled voxels at the surface", boxes=np.concatenate(boxes))


def shell_points(shapes: tuple[VoxelShape, ...], frame: Frame) -> Floats:
    """Return the points (n,3) of all shells in the world."""
    placed = [_moved(pose, shape.points + shape.middle) for shape, pose in zip(shapes, frame.poses, strict=True)]
    return np.concatenate([np.empty((0, 3)), *placed])


def shown_shells(shapes: tuple[VoxelShape, ...], frame: Frame) -> Overlay:
    """Return the points of all shells."""
    return Overlay("point shells", points=shell_points(shapes, frame))


def shown_hits(hits: Contacts, shapes: tuple[VoxelShape, ...], frame: Frame, with_shells: bool) -> Overlay:
    """Return the hits as segments, alone or with the shell points."""
    points = shell_points(shapes, frame) if with_shells else np.empty((0, 3))
    title = "point shells and hits" if with_shells else "hits"
    return Overlay(title, points=points, segments=hits.segment if len(hits) else np.empty((0, 2, 3)))


def _moved(pose: Floats, points: Floats) -> Floats:
    moved: Floats = points @ pose[:3, :3].T + pose[:3, 3]
    return moved

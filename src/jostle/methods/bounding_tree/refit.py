"""Refit: the same tree around new vertices, for deforming bodies.

Every node fits its own vertices, each listed once for it, not its children's volumes, so looseness does not add up over levels.
(Only axis-aligned boxes lose nothing when fitted to their children.) Oriented boxes keep their axes; spheres get the centre of
their vertices' box, so they are no longer the smallest. All volumes are conservative, as in a build; the radius of a box is half
its diagonal.

Between two instants vertices move along straight lines. `refit_ends` fits both ends in the same axes, so that linear
interpolation (of the lower and upper end along each axis; of centre and radius of a sphere) holds the vertices at every instant
between. There all boxes are axis-aligned, even in trees of oriented boxes: their own axes fit a deformed body no better, and take
eight times as long.
"""

from __future__ import annotations

import math

import numpy as np

from jostle._types import Floats, Ints, Longs
from jostle.geometry.triangle import Bounds, union_of_bounds
from jostle.geometry.vector import Vec3, dot, length, minus, plus, point_at, times, write_point, write_point_from
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.structs import record_viewer
from jostle.methods.bounding_tree.axes import COORDINATE_AXES, along, axes_of, combined, write_axes
from jostle.methods.bounding_tree.tree import MARGIN, OBB, ROW, SPHERE, Tree, Volume, centre_of

view_volume = record_viewer(Volume)

CENTRE_ROUNDING = 2.0**-51  # of the largest coordinate of a centre: four roundings; along an axis it is off by √3 at most


def refit(tree: Tree, vertices: Floats, out: Floats | None = None) -> Floats:
    """Return the volumes (n, 16) of a tree around new vertices.

    Parameters
    ----------
    tree : Tree
    vertices : (v, 3) float64
        As many as those of the mesh.
    out : (n, 16) float64, optional
        Written and returned.
    """
    if tree.kind != OBB:
        return _refitted(tree, vertices, out)
    volumes = np.empty((len(tree.volumes), ROW)) if out is None else out
    listed = (read_only_view(tree.vertex_start), read_only_view(tree.vertex_list))
    refit_boxes_in_axes(read_only_view(tree.volumes), read_only_view(vertices), *listed, volumes)
    return volumes


def refit_ends(
    tree: Tree, vertices_t0: Floats, vertices_t1: Floats, out: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats]:
    """Return the volumes (n, 16) around the vertices at both ends of a motion.

    They are spheres, or axis-aligned boxes.
    """
    first, second = (None, None) if out is None else out
    return _refitted(tree, vertices_t0, first), _refitted(tree, vertices_t1, second)


def _refitted(tree: Tree, vertices: Floats, out: Floats | None) -> Floats:
    count = len(tree.volumes)
    volumes = np.empty((count, ROW)) if out is None else out
    vertices, listed = read_only_view(vertices), (read_only_view(tree.vertex_start), read_only_view(tree.vertex_list))
    nodes = (read_only_view(tree.first_child), read_only_view(tree.child_count))
    refit_aabbs(vertices, *listed, *nodes, np.empty((count, 2, 3)), volumes)
    if tree.kind == SPHERE:
        refit_spheres(vertices, *listed, volumes)
    return volumes


@kernel
def refit_aabbs(
    vertices: Floats,
    vertex_start: Longs,
    vertex_list: Ints,
    first_child: Ints,
    child_count: Ints,
    bounds: Floats,
    volumes: Floats,
) -> None:
    """Write the axis-aligned boxes of all nodes to volumes (n,16), children first.

    bounds (n,2,3): lower and upper corners.
    """
    nowhere = Bounds(Vec3(math.inf, math.inf, math.inf), Vec3(-math.inf, -math.inf, -math.inf))
    for node in range(volumes.shape[0] - 1, -1, -1):
        box = nowhere
        if child_count[node] == 0:
            for entry in range(vertex_start[node], vertex_start[node + 1]):
                p = point_at(vertices, vertex_list[entry])
                box = union_of_bounds(box, Bounds(p, p))
        for child in range(first_child[node], first_child[node] + child_count[node]):
            box = union_of_bounds(box, Bounds(point_at(bounds[child], 0), point_at(bounds[child], 1)))
        write_point(bounds[node], 0, box.lower)
        write_point(bounds[node], 1, box.upper)
        volume = view_volume(volumes[node])
        write_axes(volume, COORDINATE_AXES)
        _write_box(volume, plus(times(0.5, box.lower), times(0.5, box.upper)), times(0.5, minus(box.upper, box.lower)))


@kernel
def refit_spheres(vertices: Floats, vertex_start: Longs, vertex_list: Ints, volumes: Floats) -> None:
    """Write spheres about the centres of volumes (n,16)."""
    for node in range(volumes.shape[0]):
        volume = view_volume(volumes[node])
        centre, far = centre_of(volume), 0.0
        for entry in range(vertex_start[node], vertex_start[node + 1]):
            offset = minus(point_at(vertices, vertex_list[entry]), centre)
            far = max(far, dot(offset, offset))
        volume.radius = (1.0 + MARGIN) * math.sqrt(far)
        write_point_from(volume.half, 0, Vec3(volume.radius, volume.radius, volume.radius))


@kernel
def refit_boxes_in_axes(model: Floats, vertices: Floats, vertex_start: Longs, vertex_list: Ints, volumes: Floats) -> None:
    """Write boxes with the axes of model (n,16) to volumes (n,16)."""
    for node in range(volumes.shape[0]):
        begin, end = vertex_start[node], vertex_start[node + 1]
        volume, axes = view_volume(volumes[node]), axes_of(view_volume(model[node]))
        write_axes(volume, axes)
        origin = point_at(vertices, vertex_list[begin])  # differences keep their digits wherever the body is
        box = Bounds(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0))
        for entry in range(begin + 1, end):
            p = along(axes, minus(point_at(vertices, vertex_list[entry]), origin))
            box = union_of_bounds(box, Bounds(p, p))
        centre = plus(origin, combined(times(0.5, plus(box.lower, box.upper)), axes))
        _write_box(volume, centre, times(0.5, minus(box.upper, box.lower)))


@kernel(forceinline=True)
def _write_box(volume: Volume, centre: Vec3, half: Vec3) -> None:
    """Write centre, half extents and half the diagonal, with a margin for rounding."""
    radius = length(half)
    margin = MARGIN * radius + CENTRE_ROUNDING * max(abs(centre.x), abs(centre.y), abs(centre.z))
    write_point_from(volume.centre, 0, centre)
    write_point_from(volume.half, 0, Vec3(half.x + margin, half.y + margin, half.z + margin))
    volume.radius = radius + 2.0 * margin

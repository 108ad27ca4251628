"""Refit: the same tree around other vertices, for bodies that deform. Not in the paper, whose bodies are rigid.

Every node fits its own vertices, each of which the tree lists once for it, not its children's volumes: no looseness adds up
from level to level. (Only axis-aligned boxes lose nothing by being fitted to those of the children.) Oriented boxes keep their
axes; spheres get the centre of their vertices' box, so they are not the smallest any more. All volumes are conservative as
those of a build; the radius of a box is half its diagonal.

Between two instants vertices move along straight lines. `refit_ends` fits both ends in the same axes, so that what is
interpolated linearly between the two (the lower and the upper end along each axis; centre and radius of a sphere) holds the
vertices at every instant between. There all boxes are axis-aligned, those of trees of oriented boxes too: their own axes fit a
body that has deformed no better, and take eight times as long.
"""

from __future__ import annotations

import math

import numpy as np

from jostle.frame import Floats
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.tree import AXES, CENTRE, HALF, MARGIN, OBB, RADIUS, ROW, SPHERE, Tree

CENTRE_ROUNDING = 2.0**-51  # of the largest coordinate of a centre: four roundings; along an axis it is off by √3 at most


def refit(tree: Tree, vertices: Floats, out: Floats | None = None) -> Floats:
    """Return the volumes (n, 16) of a tree around other vertices.

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
    """Return the volumes (n, 16) around the vertices at both ends of a motion, spheres or boxes in the axes of the vertices.

    Parameters
    ----------
    tree : Tree
    vertices_t0, vertices_t1 : (v, 3) float64
    out : two (n, 16) float64, optional
        Written and returned.
    """
    first, second = (None, None) if out is None else out
    return _refitted(tree, vertices_t0, first), _refitted(tree, vertices_t1, second)


def _refitted(tree: Tree, vertices: Floats, out: Floats | None) -> Floats:
    count = len(tree.volumes)
    volumes = np.empty((count, ROW)) if out is None else out
    vertices, listed = read_only_view(vertices), (read_only_view(tree.vertex_start), read_only_view(tree.vertex_list))
    nodes = (read_only_view(tree.first_child), read_only_view(tree.child_count))
    refit_aabbs(vertices, *listed, *nodes, np.empty((count, 6)), volumes)
    if tree.kind == SPHERE:
        refit_spheres(vertices, *listed, volumes)
    return volumes


@kernel
def refit_aabbs(vertices, vertex_start, vertex_list, first_child, child_count, bounds, volumes):  # type: ignore[no-untyped-def]
    """Write the axis-aligned boxes of all nodes to volumes (n,16), children first; bounds (n,6): lower and upper corners."""
    for node in range(volumes.shape[0] - 1, -1, -1):
        lx, ly, lz = math.inf, math.inf, math.inf
        ux, uy, uz = -math.inf, -math.inf, -math.inf
        if child_count[node] == 0:
            for entry in range(vertex_start[node], vertex_start[node + 1]):
                v = vertex_list[entry]
                x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
                lx, ly, lz, ux, uy, uz = min(lx, x), min(ly, y), min(lz, z), max(ux, x), max(uy, y), max(uz, z)
        for child in range(first_child[node], first_child[node] + child_count[node]):
            lx, ly, lz = min(lx, bounds[child, 0]), min(ly, bounds[child, 1]), min(lz, bounds[child, 2])
            ux, uy, uz = max(ux, bounds[child, 3]), max(uy, bounds[child, 4]), max(uz, bounds[child, 5])
        bounds[node, 0], bounds[node, 1], bounds[node, 2] = lx, ly, lz
        bounds[node, 3], bounds[node, 4], bounds[node, 5] = ux, uy, uz
        for k in range(9):
            volumes[node, AXES + k] = 1.0 if k % 4 == 0 else 0.0
        _write_box(
            volumes[node],
            0.5 * lx + 0.5 * ux,
            0.5 * ly + 0.5 * uy,
            0.5 * lz + 0.5 * uz,
            0.5 * (ux - lx),
            0.5 * (uy - ly),
            0.5 * (uz - lz),
        )


@kernel
def refit_spheres(vertices, vertex_start, vertex_list, volumes):  # type: ignore[no-untyped-def]
    """Write spheres about the centres of volumes (n,16)."""
    for node in range(volumes.shape[0]):
        cx, cy, cz = volumes[node, CENTRE], volumes[node, CENTRE + 1], volumes[node, CENTRE + 2]
        far = 0.0
        for entry in range(vertex_start[node], vertex_start[node + 1]):
            v = vertex_list[entry]
            x, y, z = vertices[v, 0] - cx, vertices[v, 1] - cy, vertices[v, 2] - cz
            far = max(far, (x * x + y * y) + z * z)
        radius = (1.0 + MARGIN) * math.sqrt(far)
        volumes[node, HALF] = volumes[node, HALF + 1] = volumes[node, HALF + 2] = volumes[node, RADIUS] = radius


@kernel
def refit_boxes_in_axes(model, vertices, vertex_start, vertex_list, volumes):  # type: ignore[no-untyped-def]
    """Write boxes with the axes of model (n,16) to volumes (n,16)."""
    for node in range(volumes.shape[0]):
        begin, end = vertex_start[node], vertex_start[node + 1]
        for k in range(AXES, AXES + 9):
            volumes[node, k] = model[node, k]
        ax, ay, az = model[node, AXES], model[node, AXES + 1], model[node, AXES + 2]
        bx, by, bz = model[node, AXES + 3], model[node, AXES + 4], model[node, AXES + 5]
        gx, gy, gz = model[node, AXES + 6], model[node, AXES + 7], model[node, AXES + 8]
        o = vertex_list[begin]
        ox, oy, oz = vertices[o, 0], vertices[o, 1], vertices[o, 2]  # differences keep their digits wherever the body is
        lx, ly, lz, ux, uy, uz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for entry in range(begin + 1, end):
            v = vertex_list[entry]
            dx, dy, dz = vertices[v, 0] - ox, vertices[v, 1] - oy, vertices[v, 2] - oz
            x, y, z = (ax * dx + ay * dy) + az * dz, (bx * dx + by * dy) + bz * dz, (gx * dx + gy * dy) + gz * dz
            lx, ly, lz, ux, uy, uz = min(lx, x), min(ly, y), min(lz, z), max(ux, x), max(uy, y), max(uz, z)
        x, y, z = 0.5 * (lx + ux), 0.5 * (ly + uy), 0.5 * (lz + uz)
        cx, cy, cz = ox + ((ax * x + bx * y) + gx * z), oy + ((ay * x + by * y) + gy * z), oz + ((az * x + bz * y) + gz * z)
        _write_box(volumes[node], cx, cy, cz, 0.5 * (ux - lx), 0.5 * (uy - ly), 0.5 * (uz - lz))


@kernel(forceinline=True)
def _write_box(volume, cx, cy, cz, x, y, z):  # type: ignore[no-untyped-def]
    """Write centre and half extents to volume (16,), with a margin for the rounding of the centre too, and half the diagonal."""
    radius = math.sqrt((x * x + y * y) + z * z)
    margin = MARGIN * radius + CENTRE_ROUNDING * max(abs(cx), abs(cy), abs(cz))
    volume[CENTRE], volume[CENTRE + 1], volume[CENTRE + 2] = cx, cy, cz
    volume[HALF], volume[HALF + 1], volume[HALF + 2] = x + margin, y + margin, z + margin
    volume[RADIUS] = radius + 2.0 * margin

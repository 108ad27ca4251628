"""Several planes at sharp edges (§7): facets that a disc fits badly get two more, each of which everything under the facet lies
behind.

A facet that reaches around an edge is thick: its one disc stands before both sides of the edge and touches neither. Guy and Debunne
say that sharp edges "need to be modeled using several attached planes" and leave it there. Here such a facet gets the normals
of its two children that turn away most, one from the facet's own disc and the other from that one, and for each the height that no
vertex under it exceeds, from the middle of its cylinder. Each is one more direction that may part two facets (`gap_behind_planes`).

The proof is that of `shells.py`: heights are maxima over the vertices, rounded outward. Deforming bodies do without: the bound on
deformation speaks of cylinders.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.average_planes import ROW
from jostle.methods.monte_carlo.shells import PAD

Ints = NDArray[np.int32]

PLANES = 8  # float64 numbers of a facet with planes: two times normal (3) and height
SHARP = 0.25  # thickness of a facet, in radii, above which it gets planes
TURNED = math.cos(math.radians(25.0))  # … if a child is turned away from it by more than this


class EdgePlanes(NamedTuple):
    """The further planes of facets."""

    row: Ints  # (F,) of `plane`, -1 where a facet has only its disc
    plane: Floats  # (n, 8)


def edge_planes(
    vertices: Floats, discs: tuple[Floats, ...], children: tuple[Ints, Ints], under_first: Ints, under: Ints
) -> EdgePlanes:
    """Return the planes of all facets that need some.

    Parameters
    ----------
    vertices : (n, 3) array
        Of the mesh.
    discs : centre (F, 3), normal (F, 3), radius (F,), thickness (F,)
    children : (F + 1,) and (c,) int32 arrays
    under_first, under : (F + 1,) and (u,) int32 arrays
        The vertices under each coarser facet.
    """
    centre, normal, radius, thickness = discs
    thick = np.flatnonzero((np.diff(children[0]) > 0) & (thickness > SHARP * radius)).astype(np.int32)
    plane = np.zeros((len(thick), PLANES))
    turned = np.zeros(len(thick), np.bool_)
    pad = PAD * float(np.abs(vertices).max(initial=0.0))
    arguments: list[Any] = [read_only_view(array) for array in (thick, vertices, centre, normal, thickness, *children)]
    arguments += read_only_view(under_first), read_only_view(under), pad, plane, turned
    fit_edge_planes(*arguments)
    row = np.full(len(radius), -1, np.int32)
    row[thick[turned]] = np.arange(int(turned.sum()), dtype=np.int32)
    return EdgePlanes(row, np.ascontiguousarray(plane[turned]))


@kernel
def fit_edge_planes(  # type: ignore[no-untyped-def]
    facets, vertices, centre, normal, thickness, child_first, child, under_first, under, pad, plane, turned
):
    """Write the planes (n,8) of facets (n,) and whether any child of theirs is turned away; the others as in `edge_planes`."""
    for k in range(facets.shape[0]):
        f = facets[k]
        x, y, z = normal[f, 0], normal[f, 1], normal[f, 2]
        half = 0.5 * thickness[f]
        mx, my, mz = centre[f, 0] - half * x, centre[f, 1] - half * y, centre[f, 2] - half * z
        for side in range(2):
            least, g = 2.0, f
            for c in range(child_first[f], child_first[f + 1]):
                along = (x * normal[child[c], 0] + y * normal[child[c], 1]) + z * normal[child[c], 2]
                if along < least:
                    least, g = along, child[c]
            if side == 0:
                turned[k] = least < TURNED
            x, y, z = normal[g, 0], normal[g, 1], normal[g, 2]
            height = -math.inf
            for u in range(under_first[f], under_first[f + 1]):
                v = under[u]
                height = max(height, (x * (vertices[v, 0] - mx) + y * (vertices[v, 1] - my)) + z * (vertices[v, 2] - mz))
            at = 4 * side
            plane[k, at], plane[k, at + 1], plane[k, at + 2], plane[k, at + 3] = x, y, z, height + pad


@kernel(forceinline=True)
def height_before(x, y, z, height, dx, dy, dz, bx, by, bz, rb, eb):  # type: ignore[no-untyped-def]
    """How far a cylinder (middle at d, axis b, radius and half thickness) is before the plane with a normal and a height."""
    cos = (x * bx + y * by) + z * bz
    px, py, pz = y * bz - z * by, z * bx - x * bz, x * by - y * bx
    sin = math.sqrt((px * px + py * py) + pz * pz)
    return (((x * dx + y * dy) + z * dz) - height) - (rb * sin + eb * abs(cos))


@kernel
def gap_behind_planes(planes, row_a, row_b, dx, dy, dz, data, fa, bx, by, bz, rb, eb, relative, at):  # type: ignore[no-untyped-def]
    """A lower bound of the distance of what two facets hold, less the slack, by the planes of either; not positive where none
    parts.

    planes flat, rows of eight, row -1 for none; d from the middle of fa to that of fb, b the axis of fb in a's frame; radius and
    half thickness of fb; relative[at:] holds the pose of b in a's frame (12), eta and the slack.
    """
    i = ROW * fa
    ra, ea = data[i + 6], data[i + 7]
    gap = -math.inf
    if row_a >= 0:
        for p in range(PLANES * row_a, PLANES * row_a + PLANES, 4):
            x, y, z = planes[p], planes[p + 1], planes[p + 2]
            gap = max(gap, height_before(x, y, z, planes[p + 3], dx, dy, dz, bx, by, bz, rb, eb))
    if row_b >= 0:
        for p in range(PLANES * row_b, PLANES * row_b + PLANES, 4):
            u, v, w = planes[p], planes[p + 1], planes[p + 2]
            x = (relative[at] * u + relative[at + 1] * v) + relative[at + 2] * w
            y = (relative[at + 4] * u + relative[at + 5] * v) + relative[at + 6] * w
            z = (relative[at + 8] * u + relative[at + 9] * v) + relative[at + 10] * w
            gap = max(gap, height_before(x, y, z, planes[p + 3], -dx, -dy, -dz, data[i + 3], data[i + 4], data[i + 5], ra, ea))
    return gap - (relative[at + 13] + relative[at + 12] * ((ra + ea) + (rb + eb)))

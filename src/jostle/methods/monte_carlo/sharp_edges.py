"""Two more planes for facets at sharp edges (§7), which a disc fits badly.

A facet that reaches around an edge is thick: its one disc is in front of both sides of the edge and touches neither. Guy and
Debunne say that sharp edges "need to be modeled using several attached planes" and leave it there. Here such a facet gets the
normals of its two children that turn away most, one from the facet's own disc and the other from that one, and for each the height
above the middle of its cylinder that no vertex under it exceeds. Each is one more direction that may separate two facets
(`gap_behind_planes`).

The proof is that of `shells.py`: heights are maxima over the vertices, rounded outward. Deforming bodies have no such planes,
because the bound on deformation is one on cylinders.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.rigid import turned_vector
from jostle.geometry.vector import Vec3, cross, dot, length, minus, negative, point_at, point_from, times, write_point_from
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.methods.monte_carlo.average_planes import FacetCylinder
from jostle.methods.monte_carlo.shells import PAD, VertexGroups
from jostle.methods.monte_carlo.work import FacetPair, Work, rigid_pose

PLANES = 2  # of a facet that needs some
NUMBERS = 4  # float64 of a plane: normal and height
SHARP = 0.25  # thickness of a facet, in radii, above which it gets planes
TURNED = math.cos(math.radians(25.0))  # … if a child is turned away from it by more than this


class EdgePlanes(NamedTuple):
    """The further planes of facets."""

    row: Ints  # (F,) of `plane`, -1 where a facet has only its disc
    plane: Floats  # (n, 8)


class CylinderArrays(NamedTuple):
    """The cylinders of all facets."""

    centre: Floats  # (F, 3) of the disc
    normal: Floats  # (F, 3)
    thickness: Floats  # (F,)


class Children(NamedTuple):
    """The children of facet f are ``child[first[f]:first[f + 1]]``."""

    first: Ints
    child: Ints


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
    plane = np.zeros((len(thick), PLANES * NUMBERS))
    turned = np.zeros(len(thick), np.bool_)
    pad = PAD * float(np.abs(vertices).max(initial=0.0))
    cylinders = CylinderArrays(*(read_only_view(array) for array in (centre, normal, thickness)))
    groups = VertexGroups(*(read_only_view(array) for array in (vertices, under_first, under)))
    tree = Children(*(read_only_view(array) for array in children))
    fit_edge_planes(read_only_view(thick), groups, cylinders, tree, pad, plane.reshape(-1), turned)
    row = np.full(len(radius), -1, np.int32)
    row[thick[turned]] = np.arange(int(turned.sum()), dtype=np.int32)
    return EdgePlanes(row, np.ascontiguousarray(plane[turned]))


@kernel
def fit_edge_planes(
    facets: Ints,
    groups: VertexGroups,
    cylinders: CylinderArrays,
    tree: Children,
    pad: float,
    plane: Floats,
    turned: NDArray[np.bool_],
) -> None:
    """Write the planes (8 n,) of facets (n,), and whether a child of each turns away."""
    for k in range(facets.shape[0]):
        f = as_int64(facets[k])
        n = point_at(cylinders.normal, f)
        middle = minus(point_at(cylinders.centre, f), times(0.5 * cylinders.thickness[f], n))
        for side in range(PLANES):
            least, g = most_turned_child(cylinders.normal, tree, f, n)
            if side == 0:
                turned[k] = least < TURNED
            n = point_at(cylinders.normal, g)
            at = NUMBERS * (PLANES * k + side)
            write_point_from(plane, at, n)
            plane[at + 3] = highest_under(groups, f, n, middle) + pad


@kernel
def most_turned_child(normal: Floats, tree: Children, f: int, n: Vec3) -> tuple[float, int]:
    """Return the cosine and number of facet f's child that turns away most."""
    least, g = 2.0, f
    for c in range(tree.first[f], tree.first[f + 1]):
        along = dot(n, point_at(normal, tree.child[c]))
        if along < least:
            least, g = along, as_int64(tree.child[c])
    return least, g


@kernel
def highest_under(groups: VertexGroups, f: int, n: Vec3, middle: Vec3) -> float:
    """Return how high the vertices under facet f are above a point, along a direction."""
    height = -math.inf
    for u in range(groups.first[f], groups.first[f + 1]):
        height = max(height, dot(n, minus(point_at(groups.vertices, groups.under[u]), middle)))
    return height


@kernel(forceinline=True)
def height_before(n: Vec3, height: float, d: Vec3, b: FacetCylinder) -> float:
    """Return how far a cylinder with its middle at d is in front of a plane."""
    cos, sin = dot(n, b.axis), length(cross(n, b.axis))
    return (dot(n, d) - height) - (b.radius * sin + b.half * abs(cos))


@kernel
def gap_behind_planes(work: Work, pair: FacetPair, a: FacetCylinder, b: FacetCylinder) -> float:
    """Bound the distance of two facets from below by their planes, less the slack.

    Not positive where none separates them. a, b: their cylinders, in the frame of the first body.
    """
    relative = work.relative[pair.body_pair]
    row_a, row_b = work.links[pair.a].edge_row, work.links[pair.b].edge_row
    d = minus(b.middle, a.middle)
    gap = -math.inf
    if row_a >= 0:
        for k in range(PLANES * row_a, PLANES * row_a + PLANES):
            plane = work.planes[k]
            gap = max(gap, height_before(point_from(plane.normal, 0), plane.height, d, b))
    if row_b >= 0:
        for k in range(PLANES * row_b, PLANES * row_b + PLANES):
            plane = work.planes[k]
            normal = turned_vector(rigid_pose(relative), point_from(plane.normal, 0))
            gap = max(gap, height_before(normal, plane.height, negative(d), a))
    return gap - (relative.slack + relative.eta * ((a.radius + a.half) + (b.radius + b.half)))

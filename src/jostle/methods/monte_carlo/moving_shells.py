"""Shells that deform with their body (§5.1).

A disc at level 0 is computed anew from its face. A coarser disc is carried along by the frame of its three corners, each the
mean of four mesh vertices at most (`frames.py`). One facet is brought up to date at a time, when it is first looked at, so a
step costs nothing for facets that nobody asks about.

The stated bound: no vertex under a coarser facet leaves the facet's cylinder at rest, carried along, by more than δ =
`deformation` times the facet's radius. Cylinders of deforming bodies are larger by δ on all sides, so that under the bound
the guarantee of `shells.py` holds for them. `check_bound` looks at a share of all vertices under all facets in each frame
and says where the bound is broken. Rounding counts towards δ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats
from jostle.geometry.triangle import Triangle
from jostle.geometry.vector import Vec3, cross, dot, length, minus, plus, point_from, times
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.frames import carried_disc
from jostle.methods.monte_carlo.shape import ShellShape
from jostle.methods.monte_carlo.shells import FacetDisc, Ints, disc_of_face

FRAME_OPERATIONS = 8  # a frame costs about as much as looking at this many vertices
SLACK = 1e-9  # share of the radius that rounding may take beyond the bound before it counts as broken


class BoundState(NamedTuple):
    """How far `check_bound` has got with one body."""

    at: NDArray[np.int64]  # (4,) facet, place among the vertices under it, broken facets, rounds over all facets
    worst: Floats  # (3,) excess: of the facet at hand as a length, of this round and of the last one as shares of the radius
    excess: Floats  # (F,) the last known excess of each facet


class FacetArrays(NamedTuple):
    """What moves the discs of F facets, flat."""

    corner: Ints  # (3 F,)
    anchor: Ints  # (12 F,)
    in_frame: Floats  # (6 F,)
    vertices: Floats  # (3 n,) where they are now


class FacetsAtRest(NamedTuple):
    """The vertices under facets, and the sizes of their cylinders."""

    under_first: Ints  # (F + 1,)
    under: Ints
    radius: Floats  # (F,)
    thickness: Floats  # (F,)


class BoundReport(NamedTuple):
    """What is known of a body's deformation."""

    broken: int  # facets of which the bound is known to be broken
    worst: float  # largest excess beyond a cylinder at rest, as a share of the facet's radius, in this round and the last
    rounds: int  # how often all facets were looked at


def start_of_bound_check(shape: ShellShape) -> BoundState:
    """Return the state before the first slice of `check_bound`."""
    return BoundState(np.array([_first_coarser(shape), 0, 0, 0], np.int64), np.zeros(3), np.zeros(len(shape.radius)))


def check_bound(state: BoundState, shape: ShellShape, vertices: Floats, deformation: float, operations: int = 2000) -> BoundReport:
    """Look at the next vertices under facets of a deforming body, round and round; `state` is changed.

    Parameters
    ----------
    state : BoundState
        Of this body.
    shape : ShellShape
        Of its mesh.
    vertices : (n, 3) array
        Where its vertices are now, in body coordinates.
    deformation : float
        The stated bound.
    operations : int
        How many vertices to look at; each facet's frame counts as 8.
    """
    flat = (read_only_view(array).reshape(-1) for array in (shape.corner, shape.anchor, shape.in_frame, vertices))
    at_rest = (read_only_view(array) for array in (shape.under_first, shape.under, shape.radius, shape.thickness))
    bound_check(int(operations), _first_coarser(shape), float(deformation), FacetArrays(*flat), FacetsAtRest(*at_rest), state)
    return BoundReport(int(state.at[2]), float(max(state.worst[1], state.worst[2])), int(state.at[3]))


def _first_coarser(shape: ShellShape) -> int:
    return int(shape.level_first[1])


@kernel(forceinline=True)
def corner_at(arrays: FacetArrays, place: int) -> Vec3:
    """Return where a corner of the mesh is."""
    return point_from(arrays.vertices, 3 * arrays.corner[place])


@kernel
def moved_facet(arrays: FacetArrays, f: int, at_level_0: bool, radius: float, thickness: float, deformation: float) -> FacetDisc:
    """Return facet f's disc where the vertices are now, larger by δ above level 0; its reach there is not known.

    radius, thickness: of the facet at rest.
    """
    if at_level_0:
        return disc_of_face(Triangle(corner_at(arrays, 3 * f), corner_at(arrays, 3 * f + 1), corner_at(arrays, 3 * f + 2)))
    centre, normal = carried_disc(arrays.anchor, arrays.in_frame, arrays.vertices, f)
    growth = deformation * radius
    return FacetDisc(plus(centre, times(growth, normal)), normal, radius + growth, thickness + 2.0 * growth, np.inf)


@kernel
def bound_check(
    operations: int, first_facet: int, share: float, arrays: FacetArrays, rest: FacetsAtRest, state: BoundState
) -> None:
    """Go on with the round over (facet, vertex under it) for about `operations` vertices."""
    at, worst = state.at, state.worst
    facet, place, count = at[0], at[1], rest.radius.shape[0]
    if first_facet >= count:
        return
    while operations > 0:
        many = rest.under_first[facet + 1] - rest.under_first[facet]
        last = min(many, place + max(operations - FRAME_OPERATIONS, 1))
        operations -= FRAME_OPERATIONS + (last - place)
        worst[0] = max(worst[0] if place > 0 else 0.0, excess_of(arrays, rest, facet, place, last))
        place = last
        if place == many:
            part = 0.0
            if worst[0] > 0.0:
                part = worst[0] / rest.radius[facet] if rest.radius[facet] > 0.0 else np.inf
            at[2] += int(part > share + SLACK) - int(state.excess[facet] > share + SLACK)
            state.excess[facet] = part
            worst[1] = max(worst[1], part)
            facet, place = facet + 1, 0
            if facet == count:
                facet = first_facet
                at[3] += 1
                worst[2], worst[1] = worst[1], 0.0
    at[0], at[1] = facet, place


@kernel
def excess_of(arrays: FacetArrays, rest: FacetsAtRest, facet: int, begin: int, end: int) -> float:
    """Return by how much some of the vertices under a facet leave its cylinder at rest, carried along, at most; 0 for none."""
    centre, normal = carried_disc(arrays.anchor, arrays.in_frame, arrays.vertices, facet)
    radius, thickness = rest.radius[facet], rest.thickness[facet]
    low, most = rest.under_first[facet], 0.0
    for place in range(begin, end):
        d = minus(point_from(arrays.vertices, 3 * rest.under[low + place]), centre)
        height = dot(normal, d)
        most = max(most, height, -height - thickness, length(cross(normal, d)) - radius)
    return most

"""Shells that deform with their body (§5.1).

A disc at level 0 is computed anew from its face. A coarser disc is carried by the frame of its three corners, each the mean of at
most four mesh vertices (`frames.py`). A facet is updated when it is first used, so unused facets cost nothing.

The stated bound: no vertex under a coarser facet leaves the facet's cylinder at rest, carried along, by more than δ = `deformation`
times the facet's radius. Cylinders of deforming bodies are larger by δ on all sides, so that under the bound the guarantee of
`shells.py` holds for them. In each frame `check_bound` checks a share of all vertices under all facets and reports where the bound
is broken. Rounding counts towards δ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.geometry.triangle import Triangle
from jostle.geometry.vector import Vec3, cross, dot, length, minus, plus, point_from, times
from jostle.kernels.handles import AddressTable, float64_at
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, One, Record, Rows, Struct, float64, int32, int64, opener
from jostle.methods.monte_carlo.frames import carried_disc
from jostle.methods.monte_carlo.shape import ShellShape
from jostle.methods.monte_carlo.shells import FacetDisc, disc_of_face

FRAME_OPERATIONS = 8  # a frame costs about as much as checking this many vertices
AT_REST = ("anchor", "in_frame", "under_first", "under", "radius", "thickness")  # the fields of a shape that the check needs
SLACK = 1e-9  # share of the radius that rounding may take beyond the bound before it counts as broken


class BoundProgress(Record):
    """Progress of the check of one body."""

    facet: int64
    place: int64  # among the vertices under it
    broken: int64  # facets whose bound is known to be broken
    rounds: int64  # over all facets
    here: float64  # largest excess of the current facet, a length
    this_round: float64  # largest excess as a share of the radius
    last_round: float64


class BoundCheck(Struct):
    """The data of the check: the shape at rest, flat, and its known deformation."""

    anchor: Rows[int32]  # (12 F,)
    in_frame: Rows[float64]  # (6 F,)
    under_first: Rows[int32]  # (F + 1,)
    under: Rows[int32]
    radius: Rows[float64]  # (F,)
    thickness: Rows[float64]  # (F,)
    excess: Rows[float64]  # (F,) the last known excess of each facet
    progress: One[BoundProgress]


open_bound_check = opener(BoundCheck)


class BoundState(NamedTuple):
    """The state of `check_bound` for one body, and the table for its kernel."""

    progress: BoundProgress
    excess: Floats  # (F,)
    table: AddressTable


class FacetArrays(NamedTuple):
    """The flat arrays that move the discs of F facets."""

    corner: Ints  # (3 F,)
    anchor: Ints  # (12 F,)
    in_frame: Floats  # (6 F,)
    vertices: Floats  # (3 n,) where they are now


class BoundReport(NamedTuple):
    """The known deformation of a body."""

    broken: int  # facets whose bound is known to be broken
    worst: float  # largest excess beyond a cylinder at rest, as a share of the facet's radius, in this round and the last
    rounds: int  # how often all facets were checked


def start_of_bound_check(shape: ShellShape) -> BoundState:
    """Return the state before the first slice of `check_bound`."""
    excess, progress = np.zeros(len(shape.radius)), np.zeros(1, BoundProgress.dtype)
    progress["facet"] = _first_coarser(shape)
    at_rest = {name: np.ascontiguousarray(getattr(shape, name)) for name in AT_REST}
    table = BoundCheck.table(excess=excess, progress=progress, **at_rest)
    return BoundState(BoundProgress(progress[0]), excess, table)


def check_bound(state: BoundState, shape: ShellShape, vertices: Floats, deformation: float, operations: int = 2000) -> BoundReport:
    """Check the next vertices under facets of a deforming body; `state` is updated.

    Parameters
    ----------
    state : BoundState
        Of this body.
    shape : ShellShape
        Of its mesh.
    vertices : (n, 3) array
        Its current vertices, in body coordinates.
    deformation : float
        The stated bound.
    operations : int
        How many vertices to check; each facet's frame counts as 8.
    """
    now = np.ascontiguousarray(vertices)
    bound_check(state.table.table[0], now.ctypes.data, now.size, int(operations), _first_coarser(shape), float(deformation))
    progress = state.progress
    return BoundReport(int(progress.broken), float(max(progress.this_round, progress.last_round)), int(progress.rounds))


def _first_coarser(shape: ShellShape) -> int:
    return int(shape.level_first[1])


@kernel(forceinline=True)
def corner_at(arrays: FacetArrays, place: int) -> Vec3:
    """Return the position of a corner of the mesh."""
    return point_from(arrays.vertices, 3 * arrays.corner[place])


@kernel
def moved_facet(arrays: FacetArrays, f: int, at_level_0: bool, radius: float, thickness: float, deformation: float) -> FacetDisc:
    """Return facet f's disc where the vertices are now, larger by δ above level 0.

    radius, thickness: of the facet at rest.
    """
    if at_level_0:
        return disc_of_face(Triangle(corner_at(arrays, 3 * f), corner_at(arrays, 3 * f + 1), corner_at(arrays, 3 * f + 2)))
    centre, normal = carried_disc(arrays.anchor, arrays.in_frame, arrays.vertices, f)
    growth = deformation * radius
    return FacetDisc(plus(centre, times(growth, normal)), normal, radius + growth, thickness + 2.0 * growth)


@kernel
def bound_check(addresses: Addresses, address: int, size: int, operations: int, first_facet: int, share: float) -> None:
    """Resume the round over (facet, vertex under it) for about `operations` vertices.

    The vertices are given by address.
    """
    check, vertices = open_bound_check(addresses), float64_at(address, size)
    progress, count = check.progress, len(check.radius)
    if first_facet >= count:
        return
    while operations > 0:
        facet, place = progress.facet, progress.place
        many = as_int64(check.under_first[facet + 1]) - as_int64(check.under_first[facet])
        last = min(many, place + max(operations - FRAME_OPERATIONS, 1))
        operations -= FRAME_OPERATIONS + (last - place)
        excess = excess_of(check, vertices, place, last)
        progress.here = max(progress.here, excess) if place > 0 else excess
        progress.place = last
        if last == many:
            end_facet(check, share)
            if progress.facet == count:
                progress.facet = first_facet
                progress.rounds += 1
                progress.last_round, progress.this_round = progress.this_round, 0.0


@kernel
def excess_of(check: BoundCheck, vertices: Floats, begin: int, end: int) -> float:
    """Return how far vertices under the current facet leave its carried cylinder.

    Not less than 0; the cylinder at rest, for the vertices begin … end-1.
    """
    facet = check.progress.facet
    centre, normal = carried_disc(check.anchor, check.in_frame, vertices, facet)
    radius, thickness = check.radius[facet], check.thickness[facet]
    first, most = check.under_first[facet], 0.0
    for place in range(begin, end):
        d = minus(point_from(vertices, 3 * check.under[first + place]), centre)
        height = dot(normal, d)
        most = max(most, height, -height - thickness, length(cross(normal, d)) - radius)
    return most


@kernel(forceinline=True)
def end_facet(check: BoundCheck, share: float) -> None:
    """Store the excess of the current facet, and advance to the next."""
    progress = check.progress
    facet, part = progress.facet, 0.0
    if progress.here > 0.0:
        part = progress.here / check.radius[facet] if check.radius[facet] > 0.0 else np.inf
    progress.broken += int(part > share + SLACK) - int(check.excess[facet] > share + SLACK)
    check.excess[facet] = part
    progress.this_round = max(progress.this_round, part)
    progress.facet, progress.place = facet + 1, 0

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

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.frames import carried_disc
from jostle.methods.monte_carlo.shape import ShellShape
from jostle.methods.monte_carlo.shells import disc_of_face

FRAME_OPERATIONS = 8  # a frame costs about as much as looking at this many vertices
SLACK = 1e-9  # share of the radius that rounding may take beyond the bound before it counts as broken


class BoundState(NamedTuple):
    """How far `check_bound` has got with one body."""

    at: NDArray[np.int64]  # (4,) facet, place among the vertices under it, broken facets, rounds over all facets
    worst: Floats  # (3,) excess: of the facet at hand as a length, of this round and of the last one as shares of the radius
    excess: Floats  # (F,) the last known excess of each facet


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
    flat = [read_only_view(array).reshape(-1) for array in (vertices, shape.anchor, shape.in_frame)]
    rows = [read_only_view(array) for array in (shape.under_first, shape.under, shape.radius, shape.thickness)]
    arguments = [int(operations), _first_coarser(shape), float(deformation), *flat, *rows, *state]
    bound_check(*arguments)
    return BoundReport(int(state.at[2]), float(max(state.worst[1], state.worst[2])), int(state.at[3]))


def _first_coarser(shape: ShellShape) -> int:
    return int(shape.level_first[1])


@kernel
def moved_facet(corner, anchor, in_frame, vertices, f, at_level_0, radius, thickness, deformation):  # type: ignore[no-untyped-def]
    """Centre, normal, radius and thickness of facet f's disc where the vertices are now, larger by δ above level 0.

    corner (3 F,), anchor (12 F,), in_frame (6 F,), vertices (3 n,) flat; radius, thickness: of the facet at rest.
    """
    if at_level_0:
        a, b, c = 3 * corner[3 * f], 3 * corner[3 * f + 1], 3 * corner[3 * f + 2]
        x, y, z, nx, ny, nz, wide, thick, _ = disc_of_face(
            vertices[a], vertices[a + 1], vertices[a + 2],
            vertices[b], vertices[b + 1], vertices[b + 2],
            vertices[c], vertices[c + 1], vertices[c + 2],
        )  # fmt: skip
        return x, y, z, nx, ny, nz, wide, thick
    x, y, z, nx, ny, nz = carried_disc(anchor, in_frame, vertices, f)
    growth = deformation * radius
    return x + growth * nx, y + growth * ny, z + growth * nz, nx, ny, nz, radius + growth, thickness + 2.0 * growth


@kernel
def bound_check(  # type: ignore[no-untyped-def]
    operations, first_facet, share, vertices, anchor, in_frame, under_first, under, radius, thickness, at, worst, excess,
):  # fmt: skip
    """Go on with the round over (facet, vertex under it) for about `operations` vertices; arrays of a shape and a BoundState."""
    facet, place, count = at[0], at[1], radius.shape[0]
    if first_facet >= count:
        return
    while operations > 0:
        x, y, z, nx, ny, nz = carried_disc(anchor, in_frame, vertices, facet)
        operations -= FRAME_OPERATIONS
        low, many = under_first[facet], under_first[facet + 1] - under_first[facet]
        most = worst[0] if place > 0 else 0.0
        last = min(many, place + max(operations, 1))
        operations -= last - place
        while place < last:
            v = 3 * under[low + place]
            px, py, pz = vertices[v] - x, vertices[v + 1] - y, vertices[v + 2] - z
            height = (nx * px + ny * py) + nz * pz
            cx, cy, cz = ny * pz - nz * py, nz * px - nx * pz, nx * py - ny * px
            aside = math.sqrt((cx * cx + cy * cy) + cz * cz) - radius[facet]
            most = max(most, height, -height - thickness[facet], aside)
            place += 1
        worst[0] = most
        if place == many:
            part = 0.0
            if most > 0.0:
                part = most / radius[facet] if radius[facet] > 0.0 else np.inf
            at[2] += int(part > share + SLACK) - int(excess[facet] > share + SLACK)
            excess[facet] = part
            worst[1] = max(worst[1], part)
            facet, place = facet + 1, 0
            if facet == count:
                facet = first_facet
                at[3] += 1
                worst[2], worst[1] = worst[1], 0.0
    at[0], at[1] = facet, place

"""Ties of hanging nodes, in the middle of an edge or a face of a larger cell, to its corners.

All ties are fulfilled at once, by one pass. A tied node s of mass m_s that has gone by C = x_s - Σ w_i x_i from where it belongs
hands its push m_s C over to the corners, by its weights, which sum to 1. A corner of mass m_i moves by the pushes on it over the
mass that it carries, M_i = m_i + Σ w m_s; then tied nodes are put where they belong. Momentum is kept: what the corners and their
tied nodes gain, Σ M_i Δx_i = Σ m_s C, is what was handed over. Affine motions have C = 0 and are left alone.

Projected one after the other, as springs are, ties that share corners would never all be fulfilled.
"""

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.kernels.jit import kernel


class Ties(NamedTuple):
    """The ties of all soft bodies; a corner is never tied itself."""

    node: Ints  # (t,)
    corner: Ints  # (t,4)
    weight: Floats  # (t,4) of the corners; 0 of those that an edge does not have
    share: Floats  # (t,4) by how much a corner follows: weight · mass of the node / mass that the corner carries


def ties_of(node: Ints, corner: Ints, weight: Floats, mass: Floats) -> Ties:
    """Return the ties among nodes of masses (n,)."""
    handed = weight * mass[node][:, None]
    carried = mass + np.bincount(corner.ravel(), handed.ravel(), len(mass))
    return Ties(node, corner, weight, handed / carried[corner])


@kernel
def fulfil_ties(ties, place, away):  # type: ignore[no-untyped-def]
    """Move tied nodes of place (n,3) to their ties and their corners so that momentum stays; away (t,3) is scratch."""
    count = ties.node.shape[0]
    for t in range(count):
        for k in range(3):
            between = 0.0
            for c in range(4):
                between += ties.weight[t, c] * place[ties.corner[t, c], k]
            away[t, k] = place[ties.node[t], k] - between
    for t in range(count):
        for c in range(4):
            for k in range(3):
                place[ties.corner[t, c], k] += ties.share[t, c] * away[t, k]
    for t in range(count):
        for k in range(3):
            between = 0.0
            for c in range(4):
                between += ties.weight[t, c] * place[ties.corner[t, c], k]
            place[ties.node[t], k] = between

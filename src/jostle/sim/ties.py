"""Ties of hanging nodes, in an edge or a face of a larger cell, to its corners.

All ties are fulfilled at once, in one pass. A tied node s of mass m_s that is off its place by C = x_s - Σ w_i x_i distributes its
push m_s C to the corners, by its weights, which sum to 1. A corner of mass m_i moves by its pushes over the mass that it carries,
M_i = m_i + Σ w m_s; then tied nodes are set to their places. Momentum is kept: the gain of the corners and their tied nodes,
Σ M_i Δx_i = Σ m_s C, equals the pushes. Affine motions have C = 0 and do not change.

Projected one after the other, like springs, ties that share corners would never all be fulfilled.
"""

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.kernels.jit import kernel


class Ties(NamedTuple):
    """The ties of all soft bodies; a corner is never tied itself."""

    node: Ints  # (t,)
    corner: Ints  # (t,4)
    weight: Floats  # (t,4) of the corners; 0 for the two that an edge lacks
    share: Floats  # (t,4) of the push: weight · mass of the node / mass that the corner carries


def ties_of(node: Ints, corner: Ints, weight: Floats, mass: Floats) -> Ties:
    """Return the ties among nodes of masses (n,)."""
    handed = weight * mass[node][:, None]
    carried = mass + np.bincount(corner.ravel(), handed.ravel(), len(mass))
    return Ties(node, corner, weight, handed / carried[corner])


@kernel
def fulfil_ties(ties, place, away):  # type: ignore[no-untyped-def]
    """Move tied nodes of place (n,3) to their ties, keeping momentum.

    Their corners move against them; away (t,3) is scratch.
    """
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

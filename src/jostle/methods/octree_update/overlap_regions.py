"""Overlap regions: where the bounding boxes of two bodies overlap, and which of them each body has (§3.3).

Boxes of bodies are conservative for their world vertices, bit for bit (`geometry/aabb.py`), so every common point of two
bodies lies in the overlap region of the two.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.broad_phase.volumes import Volumes
from jostle.interface.body_pairs import CandidatePairs


class OverlapRegions(NamedTuple):
    """Pairs of bodies with their regions, one row per pair; bodies are numbered anew, those without a region left out.

    The regions of body k are those of the pairs region[region_start[k] : region_start[k + 1]]; the pairs of which k is the lower
    body are pair_start[k] … pair_start[k + 1] - 1, and partner is the higher body of every pair.
    """

    bodies: Ints  # (k,) numbers in the frame, ascending
    lower: Floats  # (p,3)
    upper: Floats  # (p,3)
    region_start: Ints  # (k+1,)
    region: Ints  # (2p,)
    pair_start: Ints  # (k+1,)
    partner: Ints  # (p,) ascending for each lower body
    box_lower: Floats  # (3,) of all these bodies
    box_upper: Floats


def find_overlap_regions(pairs: CandidatePairs, volumes: Volumes) -> OverlapRegions:
    """Return the regions of pairs (at least one) whose boxes overlap."""
    a, b = pairs
    bodies = np.unique(np.concatenate([a, b]))
    lower, upper = np.maximum(volumes.lower[a], volumes.lower[b]), np.minimum(volumes.upper[a], volumes.upper[b])
    row_a, row_b = np.searchsorted(bodies, a), np.searchsorted(bodies, b)
    owner = np.concatenate([row_a, row_b])
    order = np.argsort(owner, kind="stable")
    ends = np.arange(len(bodies) + 1)
    return OverlapRegions(
        bodies,
        lower,
        upper,
        np.searchsorted(owner[order], ends).astype(np.int32),
        (order % len(a)).astype(np.int32),
        np.searchsorted(row_a, ends).astype(np.int32),
        row_b.astype(np.int32),
        volumes.lower[bodies].min(axis=0),
        volumes.upper[bodies].max(axis=0),
    )

"""Overlap regions: where the bounding boxes of two bodies overlap (§3.3).

Boxes of bodies are conservative for their world vertices, bit for bit (`geometry/aabb.py`), so every point that two bodies share
lies in their overlap region.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints
from jostle.broad_phase.volumes import Volumes
from jostle.interface.body_pairs import CandidatePairs
from jostle.methods.octree_update.face_pairs import BodyPairs
from jostle.methods.octree_update.node_checklist import RegionsOfBodies


class OverlapRegions(NamedTuple):
    """The regions of body pairs, one per pair; only bodies with a region are numbered."""

    bodies: Ints  # (k,) numbers in the frame, ascending
    boxes: RegionsOfBodies
    pairs: BodyPairs
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
    start = np.searchsorted(owner[order], ends).astype(np.int32)
    boxes = RegionsOfBodies(start, (order % len(a)).astype(np.int32), lower, upper)
    partners = BodyPairs(np.searchsorted(row_a, ends).astype(np.int32), row_b.astype(np.int32))
    return OverlapRegions(bodies, boxes, partners, volumes.lower[bodies].min(axis=0), volumes.upper[bodies].max(axis=0))

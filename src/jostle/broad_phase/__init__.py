"""Broad phases: boxes of bodies in, pairs of bodies that may touch out. `volumes` holds both; the rest are algorithms."""

from __future__ import annotations

from jostle.broad_phase.brute_force import BruteForce
from jostle.broad_phase.coherent_aabb import CoherentAabb
from jostle.broad_phase.uniform_grid import UniformGrid
from jostle.broad_phase.volumes import CandidatePairs, Volumes

BROAD_PHASES: dict[str, type[BruteForce] | type[UniformGrid] | type[CoherentAabb]] = {
    "brute_force": BruteForce,
    "uniform_grid": UniformGrid,
    "coherent_aabb": CoherentAabb,
}

__all__ = ["BROAD_PHASES", "BruteForce", "CandidatePairs", "CoherentAabb", "UniformGrid", "Volumes"]

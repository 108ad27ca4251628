"""Broad phases: boxes of bodies in, pairs of bodies that may touch out. `volumes` holds both; the rest are algorithms."""

from __future__ import annotations

from jostle.broad_phase.brute_force import BruteForce
from jostle.broad_phase.uniform_grid import UniformGrid
from jostle.broad_phase.volumes import CandidatePairs, Volumes

BROAD_PHASES: dict[str, type[BruteForce] | type[UniformGrid]] = {
    "brute_force": BruteForce,
    "uniform_grid": UniformGrid,
}

__all__ = ["BROAD_PHASES", "BruteForce", "CandidatePairs", "UniformGrid", "Volumes"]

"""Broad phases: volumes of bodies in, pairs of bodies that may touch out."""

from __future__ import annotations

import warnings
from typing import Any

from jostle.broad_phase.bounding_spheres import BoundingSpheres
from jostle.broad_phase.brute_force import AllPairs
from jostle.broad_phase.coherent_aabb import CoherentAabb
from jostle.broad_phase.fast_aabb import FastAabb
from jostle.broad_phase.priority_queue import PriorityQueue
from jostle.broad_phase.sweep_and_prune import SweepAndPrune
from jostle.broad_phase.uniform_grid import UniformGrid
from jostle.broad_phase.volume_table import VolumeTable
from jostle.broad_phase.volumes import Volumes
from jostle.interface.body_pairs import CandidatePairs

BROAD_PHASES: dict[str, type[Any]] = {
    "brute_force": AllPairs,
    "uniform_grid": UniformGrid,
    "fast_aabb": FastAabb,
    "coherent_aabb": CoherentAabb,
    "sweep_and_prune": SweepAndPrune,
    "bounding_spheres": BoundingSpheres,
    "priority_queue": PriorityQueue,
}

__all__ = [
    "BROAD_PHASES",
    "AllPairs",
    "BoundingSpheres",
    "CandidatePairs",
    "CoherentAabb",
    "FastAabb",
    "PriorityQueue",
    "SweepAndPrune",
    "UniformGrid",
    "VolumeTable",
    "Volumes",
]


def __getattr__(name: str) -> Any:
    if name != "BruteForce":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        "jostle.broad_phase.BruteForce is called AllPairs; the old name goes with the next release", DeprecationWarning, 2
    )
    return AllPairs

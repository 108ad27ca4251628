"""BroadPhase and PairFinder: volumes of bodies in, pairs of bodies out."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jostle.broad_phase.volumes import Volumes
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.method import OldToNew


@runtime_checkable
class BroadPhase(Protocol):
    """Settings of a broad phase: volumes in, pairs out; it knows no meshes.

    Examples
    --------
    >>> from jostle.broad_phase import UniformGrid
    >>> isinstance(UniformGrid(cell=2.0), jostle.BroadPhase)
    True
    >>> world = jostle.World(jostle.FaceOctree(broad=UniformGrid(cell=2.0)))
    """

    def start(self, body_count: int) -> PairFinder:
        """Begin finding pairs among this many bodies."""
        ...


class PairFinder(Protocol):
    """A running broad phase."""

    counters: dict[str, int]  # of the last frame: "box_tests" (comparisons of boxes or spheres), "pairs", and its own

    def find(self, volumes: Volumes) -> CandidatePairs:
        """Return every pair whose closed volumes overlap, sorted, each once.

        The volumes are boxes or, for some finders, spheres; either way every two bodies that touch are among the pairs.
        """
        ...

    def change(self, body_count: int, old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed."""
        ...

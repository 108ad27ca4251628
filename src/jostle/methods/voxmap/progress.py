"""Resumable kernels run to their end in slices, with the share that is done."""

from __future__ import annotations

from collections.abc import Callable

from jostle.interface.method import Progress
from jostle.kernels.slices import run_in_slices

Share = Callable[[float], None]  # called with the share that is done, 0 … 1


def run_to_end(step: Callable[[int, int], tuple[int, int]], end: int, first_slice: int, progress: Share | None = None) -> None:
    """Call ``step(begin, operations)`` from 0 until it reaches the end.

    It returns where to begin next and the operations used.
    """

    def one_slice(place: list[int], operations: int) -> tuple[bool, int]:
        place[0], used = step(place[0], operations)
        if progress is not None:
            progress(place[0] / end)
        return place[0] == end, max(used, 1)

    run_in_slices(one_slice, [0], first_slice)


def part_of(progress: Share | None, begin: float, end: float) -> Share | None:
    """Return the progress of a part, whose 0 … 1 is begin … end of the whole."""
    return None if progress is None else (lambda share: progress(begin + share * (end - begin)))


def stage_of(progress: Progress | None, begin: float, end: float, what: str) -> Share | None:
    """Return the progress of a named stage, whose 0 … 1 is begin … end of the whole."""
    return None if progress is None else part_of(lambda share: progress(share, what), begin, end)

"""Self-collision of many bodies: small ones are dealt out to threads, large ones are split one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jostle.kernels.pool import share_out, threads_for
from jostle.methods.wide_tree.portions import falling_portions
from jostle.methods.wide_tree.self_search import LARGE
from jostle.report.assemble import Rows
from jostle.report.report import Counters

RowsOfBody = Callable[[int, int | None], tuple[Rows, Counters]]


def rows_of_bodies(faces: Sequence[int], rows_of_body: RowsOfBody, workers: int | None) -> tuple[Rows, Counters]:
    """Return the rows of bodies against themselves, in their order.

    Parameters
    ----------
    faces : sequence of int
        The number of faces of each body.
    rows_of_body : callable
        Returns the rows of a body by its number, using some workers.
    workers : int, optional
        Threads; the answer does not depend on them.
    """
    threads = threads_for(workers)
    largest_first = sorted(range(len(faces)), key=lambda body: -faces[body])
    found: dict[int, tuple[Rows, Counters]] = {}
    rest = 0
    # A body is split if it would keep a thread busy when the others are done.
    while rest < len(faces) and faces[largest_first[rest]] > max(LARGE - 1, sum(faces) // (2 * threads)):
        body = largest_first[rest]
        found[body] = rows_of_body(body, workers)
        rest += 1

    def search(portion: tuple[int, int]) -> None:
        for body in largest_first[slice(*portion)]:
            found[body] = rows_of_body(body, 1)

    few = sum(faces[body] for body in largest_first[rest:]) < LARGE
    share_out(falling_portions(rest, len(faces), 1, workers), lambda: search, 1 if few else workers)
    every = [found[body] for body in range(len(faces))]
    return Rows.joined([rows for rows, _ in every if len(rows.pair)]), sum((counters for _, counters in every), Counters())

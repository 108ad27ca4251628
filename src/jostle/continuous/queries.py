"""Exact continuous queries on arrays: moving point–triangle and edge–edge.

`point_triangle` and `edge_edge` are public, with a choice of root finder and separation; `certified_times` is the exact ladder
behind them, for corners that move on straight lines. It decides a batch in slices: floats first (`straight/search.py`), then exact
integers for what floats leave open (`straight/exact_search.py`), then integers of any size (`straight/algebraic.py`).

Guarantee of "certified" with separation 0: no contact is missed and none is false, even if corners are degenerate, parallel, in one
plane or at rest; a time is never after the first contact, and at most `tolerance` before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle._types import Floats
from jostle.cast import as_choice, as_length, as_moving_corners, as_tolerance
from jostle.continuous.certified.triangles import first_times_within
from jostle.continuous.regula_falsi import regula_falsi_times
from jostle.continuous.straight.algebraic import first_contact
from jostle.continuous.straight.contact import FINEST, LEFT, PLANAR, decide_exactly, search_queries
from jostle.continuous.straight.exact_search import new_exact_work
from jostle.continuous.straight.polynomials import EDGE_EDGE, POINT_TRIANGLE
from jostle.continuous.straight.search import new_float_work
from jostle.errors import InputError
from jostle.kernels.arrays import read_only_view
from jostle.kernels.scratch import Workspaces
from jostle.kernels.slices import run_in_slices

__all__ = ["EDGE_EDGE", "POINT_TRIANGLE", "ROOTS", "MovingContacts", "certified_times", "edge_edge", "point_triangle"]

ITERATIONS = {"regula_falsi": 32, "linear_interpolation": 0}  # at most, after the first straight line
ROOTS = ("certified", *ITERATIONS)
FIRST_SLICE = 20_000


class MovingContacts(NamedTuple):
    """Answers to n queries.

    Attributes
    ----------
    hit : (n,) bool
        Whether there is contact within the step.
    time : (n,) float64
        The first time of contact, as a part of the step in [0,1]; inf if there is none.
    """

    hit: NDArray[np.bool_]
    time: Floats


def point_triangle(
    p_t0: ArrayLike,
    tri_t0: ArrayLike,
    p_t1: ArrayLike,
    tri_t1: ArrayLike,
    roots: str = "certified",
    tolerance: float = 1e-6,
    separation: float = 0.0,
) -> MovingContacts:
    """Find when points first meet triangles, all corners moving on straight lines.

    Parameters
    ----------
    p_t0, p_t1 : (n,3) array_like
        The points at the beginning and the end of the step.
    tri_t0, tri_t1 : (n,3,3) array_like
        The corners of the triangles; degenerate ones are segments or points.
    roots : str
        "certified": exact. "regula_falsi" and "linear_interpolation": the finders of Eckstein and Schömer (1999), which may miss
        a contact or report a false one.
    tolerance : float
        How early a time may be, as a part of the step, in (0,1]. Floats are never late. With a separation it sets how much more
        than this distance there may be at the time reported.
    separation : float
        A distance >= 0, in the unit of the coordinates: contact is where the distance falls to it. Features that start nearer are
        free as long as they do not approach. No contact is missed and no time is late; `continuous/certified/triangles.py` states
        how far beyond this distance a contact may be. With roots="certified" only.

    Returns
    -------
    MovingContacts
        hit (n,) and time (n,).

    Examples
    --------
    >>> triangle = [[0, 0, 0], [3, 0, 0], [0, 3, 0]]
    >>> point_triangle([[1, 1, 1], [2, 2, 1]], [triangle] * 2, [[1, 1, -3], [2, 2, -3]], [triangle] * 2)
    MovingContacts(hit=array([ True, False]), time=array([0.25,  inf]))
    """
    corners = as_moving_corners([("p_t0", p_t0, 1), ("tri_t0", tri_t0, 3)], [("p_t1", p_t1, 1), ("tri_t1", tri_t1, 3)])
    return _answer(POINT_TRIANGLE, corners, roots, tolerance, separation)


def edge_edge(
    a_t0: ArrayLike,
    b_t0: ArrayLike,
    a_t1: ArrayLike,
    b_t1: ArrayLike,
    roots: str = "certified",
    tolerance: float = 1e-6,
    separation: float = 0.0,
) -> MovingContacts:
    """Find when edges a first meet edges b, all ends moving on straight lines.

    Parameters
    ----------
    a_t0, a_t1, b_t0, b_t1 : (n,2,3) array_like
        The ends of the edges at the beginning and the end of the step; both may be one point.
    roots, tolerance, separation
        As for `point_triangle`.

    Returns
    -------
    MovingContacts
        hit (n,) and time (n,).
    """
    corners = as_moving_corners([("a_t0", a_t0, 2), ("b_t0", b_t0, 2)], [("a_t1", a_t1, 2), ("b_t1", b_t1, 2)])
    return _answer(EDGE_EDGE, corners, roots, tolerance, separation)


def _answer(kind: int, corners: Floats, roots: str, tolerance: float, separation: float) -> MovingContacts:
    roots = as_choice(roots, ROOTS, "roots")
    tolerance, separation = as_tolerance(tolerance, "tolerance"), as_length(separation, "separation")
    straight = np.zeros(4)
    if roots != "certified":
        if separation > 0.0:
            raise InputError(f"separation is {separation} with roots={roots!r}; only roots='certified' knows of a separation")
        times = regula_falsi_times(kind, corners, straight, straight, ITERATIONS[roots], tolerance)
    elif separation > 0.0:
        p = 1 + kind
        a_t0, b_t0, a_t1, b_t1 = corners[:, :p], corners[:, p:4], corners[:, 4 : 4 + p], corners[:, 4 + p :]
        times = first_times_within(a_t0, a_t1, straight, b_t0, b_t1, straight, separation, tolerance).time
    else:
        times = certified_times(kind, corners, tolerance)
    return MovingContacts(np.isfinite(times), times)


def certified_times(kind: int, corners: Floats, tolerance: float) -> Floats:
    """Return the first times of contact of straight motions, exactly decided, or inf.

    Parameters
    ----------
    kind : int
        POINT_TRIANGLE or EDGE_EDGE.
    corners : (n,8,3) float64
        Four corners at t = 0, then the same at t = 1: the point and the triangle, or the ends of the first and the second edge.
        Unchecked: they must be finite, 0 or 1e-30 … 1e30 in magnitude.
    tolerance : float
        How early a time may be; never more than 1.2e-10.
    """
    corners = read_only_view(corners)
    times, outcome = np.empty(len(corners)), np.zeros(len(corners), np.uint8)
    finest = min(tolerance, FINEST)
    if _decide(kind, False, corners, np.arange(len(corners)), finest, times, outcome):
        _decide(kind, True, corners, np.flatnonzero(outcome == PLANAR), finest, times, outcome)
        for row in np.flatnonzero(outcome == LEFT).tolist():
            times[row] = first_contact(kind, corners[row].ravel().tolist())
    return times


_workspaces = Workspaces(new_float_work)
_exact_workspaces = Workspaces(new_exact_work)


def _decide(
    kind: int, planar: bool, corners: Floats, rows: NDArray[np.int64], finest: float, times: Floats, outcome: NDArray[np.uint8]
) -> int:
    """Decide some rows; return how many of them floats left to exact integers.

    `outcome` records what these leave open.
    """
    if len(rows) == 0:
        return 0
    opened = 0
    work = _workspaces.take()
    work.array(0, 0)[0] = (kind, planar, finest)
    addresses = work.table[0]

    def step(state: list[int], operations: int) -> tuple[bool, int]:
        nonlocal opened
        first, last = state[0], min(len(rows), state[0] + operations)
        state[0], count = search_queries(addresses, corners, rows, first, last, times)
        if count:
            exact = _exact_workspaces.take()
            decide_exactly(addresses, exact.table[0], corners, count, times, outcome)
            _exact_workspaces.give_back(exact)
            opened += count
        return state[0] == len(rows), state[0] - first

    run_in_slices(step, [0], FIRST_SLICE)
    _workspaces.give_back(work)
    return opened

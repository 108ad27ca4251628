"""What a caller asks of `detect`: which rows, how near, for how long.

A `Query` is checked once, here, so that methods can rely on it. Which of these wishes a method serves is said by its
`Traits`; a wish that it does not serve raises `Unsupported` before any work (never a silent fallback).
"""

from __future__ import annotations

from dataclasses import dataclass

from jostle import cast
from jostle.errors import InputError

ROWS = ("faces", "first", "pairs", "any")
_FLAGS = ("solid", "itself", "adjacent", "motion", "all_contacts")
_NOT_WITH_MOTION = (
    ("solid", "what moves into a body passes its surface; ask for solid=True at one instant, without motion"),
    ("adjacent", "faces that share a vertex touch all the time; leave it out"),
    ("budget", "leave it out, or shorten the step"),
)


@dataclass(frozen=True)
class Budget:
    """The most that one `detect` may spend: seconds of wall time, or a number of the method's own operations.

    A budget in operations gives the same answer on every machine; one in seconds does not, and is the only thing in
    jostle that makes a result depend on a clock.
    """

    seconds: float | None = None
    operations: int | None = None

    def __post_init__(self) -> None:
        """Check that exactly one of the two is given."""
        if (self.seconds is None) == (self.operations is None):
            raise InputError("Budget: give either seconds or operations, not both and not neither")
        if self.seconds is not None:
            seconds = cast.as_number(self.seconds, "seconds", "Budget")
            if not 0.0 < seconds < float("inf"):
                raise InputError(f"Budget: seconds is {seconds}; it must be positive and finite")
        if self.operations is not None:
            cast.as_count(self.operations, "operations", lowest=1, owner="Budget")


@dataclass(frozen=True)
class Query:
    """One question to a detector.

    Parameters
    ----------
    rows : {"faces", "first", "pairs", "any"}
        All touching face pairs; one row per body pair; body pairs without rows; or at most one body pair (with `motion` the one
        that meets first).
    clearance : float
        Also report face pairs nearer than this length. It adds results, it never removes any.
    solid : bool
        Take closed bodies as solids: also report bodies that lie wholly inside another (an open body contains nothing), and give
        pairs whose interiors meet although no face crosses another, such as duplicates, the kind OVERLAPPING.
    itself : bool
        Also test every body against itself (faces that share a welded vertex are left out).
    adjacent : bool
        With `itself`: also faces that share a welded vertex, when they touch beyond what they share.
    motion : bool
        Look along the motion since the last successful `detect`, not only at its end.
    all_contacts : bool
        With `motion`: every pair of faces that meets within the step, each at its first time, not only the first of each body pair.
    separation : float
        With `motion`: the length at which two faces count as in contact. Bodies that start within it are free as long as they
        do not come nearer, so that what slides or moves apart is not stopped (docs/conventions.md).
    budget : Budget, optional
        The most that the method may spend; `report.complete` says whether it sufficed.
    """

    rows: str = "faces"
    clearance: float = 0.0
    solid: bool = False
    itself: bool = False
    adjacent: bool = False
    motion: bool = False
    all_contacts: bool = False
    separation: float = 0.0
    budget: Budget | None = None

    def __post_init__(self) -> None:
        """Check every field, so that no method has to."""
        cast.as_choice(self.rows, ROWS, "rows")
        if self.clearance.__class__ is not float or not 0.0 <= self.clearance <= cast.LARGEST_COORDINATE:
            object.__setattr__(self, "clearance", cast.as_length(self.clearance, "clearance"))
        if self.separation.__class__ is not float or not 0.0 <= self.separation <= cast.LARGEST_COORDINATE:
            object.__setattr__(self, "separation", cast.as_length(self.separation, "separation"))
        for field in _FLAGS:
            value = getattr(self, field)
            if value is not False and value is not True:
                object.__setattr__(self, field, cast.as_flag(value, field))
        if self.adjacent and not self.itself:
            raise InputError("adjacent=True has no meaning without itself=True")
        if self.all_contacts and not self.motion:
            raise InputError("all_contacts=True has no meaning without motion=True")
        if self.separation > 0.0 and not self.motion:
            raise InputError("separation has no meaning without motion=True; use clearance for what is near at one instant")
        if self.budget is not None and not isinstance(self.budget, Budget):
            raise InputError(f"budget is {cast.shown(self.budget)}; pass jostle.Budget(seconds=…) or jostle.Budget(operations=…)")
        if self.motion:
            self._check_motion()

    def _check_motion(self) -> None:
        """Refuse what has no meaning along a motion."""
        if self.clearance > 0.0:
            raise InputError("clearance has no meaning with motion=True; use separation for faces that come nearer than a length")
        for field, cure in _NOT_WITH_MOTION:
            if getattr(self, field):
                raise InputError(f"{field} has no meaning with motion=True; {cure}")

"""The options of one `detect` call.

A `Query` is checked once, here, so that methods can rely on it. A method's `Traits` list the options it supports; any other
option raises `Unsupported` before work starts (never a silent fallback).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from jostle import cast
from jostle.errors import InputError

ROWS = ("faces", "first", "pairs", "any")
_FLAGS = ("solid", "itself", "adjacent", "motion", "all_contacts")
_NOT_WITH_MOTION = (
    ("solid", "a body that moves into another passes its surface; use solid=True for one instant, without motion"),
    ("adjacent", "faces that share a vertex touch all the time; leave it out"),
    ("budget", "leave it out, or shorten the step"),
)


@dataclass(frozen=True)
class Budget:
    """The limit of one `detect` call: seconds of wall time, or operations.

    A budget in operations gives the same answer on every machine. One in seconds does not; nothing else in jostle makes a result
    depend on a clock.

    Examples
    --------
    >>> jostle.Budget(seconds=0.002)
    Budget(seconds=0.002, operations=None)
    >>> jostle.Budget(operations=10_000)
    Budget(seconds=None, operations=10000)
    >>> world = jostle.World("monte_carlo")
    >>> report = world.detect(budget=jostle.Budget(seconds=0.002))
    >>> len(report.pairs)  # no bodies
    0
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


class Default:
    """A default that marks an option as not given; its repr is that of the value."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


def default(value: Any) -> Any:
    """Return the default of an option that a `Query` may give instead."""
    return Default(value)


def one_name(itself: Any, self_collision: Any) -> Any:
    """Return the value of an option with two names, None if neither is given."""
    if self_collision is None:
        return itself
    if itself is None:
        return cast.as_flag(self_collision, "self_collision")
    if cast.as_flag(itself, "itself") != cast.as_flag(self_collision, "self_collision"):
        raise InputError(f"itself is {itself} and self_collision is {self_collision}, two names of one option; give one of them")
    return self_collision


@dataclass(frozen=True, init=False)
class Query:
    """The options of one `detect` call, checked.

    Parameters
    ----------
    rows : {"faces", "first", "pairs", "any"}
        All touching face pairs; one row per body pair, of its most severe kind (with `clearance` the nearest); body pairs
        without rows; or at most one body pair, the lowest (with `motion` the one that meets first).
    clearance : float
        Also report face pairs closer than this distance. It adds rows and never removes any.
    solid : bool
        Treat closed bodies as solids: also report bodies wholly inside another (an open body contains nothing), and give pairs
        whose interiors meet although no face crosses another, such as duplicates, the kind OVERLAPPING.
    self_collision, itself : bool
        Two names of one option: also test every body against itself. Faces that share a welded vertex are left out.
    adjacent : bool
        With `self_collision`: also report faces that share a welded vertex, if they touch beyond what they share.
    motion : bool
        Test the motion since the last successful `detect`, not only its end.
    all_contacts : bool
        With `motion`: report every face pair that meets within the step, each at its first time, not only the first per body pair.
    separation : float
        With `motion`: the distance at which two faces count as in contact. Bodies that start within it are free as long as they
        come no closer, so that sliding and separating bodies are not stopped (docs/conventions.md).
    budget : Budget, optional
        Limit on the method's time or work; `report.complete` says whether it sufficed.

    Examples
    --------
    >>> world = jostle.World()
    >>> ball, wall = world.add("ball.stl", jostle.translation((0, 0, 1.1)), "ball"), world.add("wall.obj", name="wall")
    >>> near = jostle.Query(rows="pairs", clearance=0.2)
    >>> world.detect(near).pairs.kinds
    [Kind.NEAR]
    >>> world.detect(near, clearance=0.05).pairs.kinds  # an option by name overrides
    []
    """

    kinds: ClassVar[bool] = True  # whether the kinds of pairs are read

    rows: str = "faces"
    clearance: float = 0.0
    solid: bool = False
    itself: bool = False
    adjacent: bool = False
    motion: bool = False
    all_contacts: bool = False
    separation: float = 0.0
    budget: Budget | None = None

    def __init__(
        self,
        rows: str = "faces",
        clearance: float = 0.0,
        solid: bool = False,
        itself: bool | None = None,
        adjacent: bool = False,
        motion: bool = False,
        all_contacts: bool = False,
        separation: float = 0.0,
        budget: Budget | None = None,
        *,
        self_collision: bool | None = None,
    ) -> None:
        tested = one_name(itself, self_collision)
        self.__dict__.update(
            rows=rows,
            clearance=clearance,
            solid=solid,
            itself=False if tested is None else tested,
            adjacent=adjacent,
            motion=motion,
            all_contacts=all_contacts,
            separation=separation,
            budget=budget,
        )
        self._check()

    @property
    def self_collision(self) -> bool:
        """Another name of `itself`."""
        return self.itself

    def _check(self) -> None:
        """Check every field, so that no method has to."""
        cast.as_choice(self.rows, ROWS, "rows")
        if self.clearance.__class__ is not float or not 0.0 <= self.clearance <= cast.LARGEST_COORDINATE:
            object.__setattr__(self, "clearance", cast.as_length(self.clearance, "clearance"))
        if self.separation.__class__ is not float or not 0.0 <= self.separation <= cast.LARGEST_COORDINATE:
            object.__setattr__(self, "separation", cast.as_length(self.separation, "separation"))
        if not (self.solid is self.itself is self.adjacent is self.motion is self.all_contacts is False):
            self._check_flags()
        if self.separation > 0.0 and not self.motion:
            raise InputError("separation has no meaning without motion=True; use clearance for faces that are near at one instant")
        if self.budget is not None and not isinstance(self.budget, Budget):
            raise InputError(f"budget is {cast.shown(self.budget)}; pass jostle.Budget(seconds=…) or jostle.Budget(operations=…)")
        if self.motion:
            self._check_motion()

    def _check_flags(self) -> None:
        """Check the boolean options and their combinations."""
        for field in _FLAGS:
            object.__setattr__(self, field, cast.as_flag(getattr(self, field), field))
        if self.adjacent and not self.itself:
            raise InputError("adjacent=True has no meaning without self_collision=True (or itself=True)")
        if self.all_contacts and not self.motion:
            raise InputError("all_contacts=True has no meaning without motion=True")

    def _check_motion(self) -> None:
        """Raise for options that have no meaning with `motion`."""
        if self.clearance > 0.0:
            raise InputError("clearance has no meaning with motion=True; use separation for faces that come closer than a distance")
        for field, cure in _NOT_WITH_MOTION:
            if getattr(self, field):
                raise InputError(f"{field} has no meaning with motion=True; {cure}")


class YesOrNo(Query):
    """A query of which only whether anything is reported is read: kinds may be any."""

    kinds: ClassVar[bool] = False

"""Traits: what a method needs, answers and supports, as data.

`check_body` and `check_query` refuse anything else before work starts and name the trait. The documentation's method table and the
contract tests are generated from traits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from jostle.errors import Unsupported
from jostle.interface.query import Query
from jostle.shapes.leaks import leak_of
from jostle.shapes.mesh import Mesh


class Semantics(Enum):
    """Whether bodies touch as surfaces (a common point), solids (volume) or both."""

    SURFACE = "surface"
    SOLID = "solid"
    BOTH = "both"


class Need(Enum):
    """What a method requires of a body."""

    CONVEX = "convex"
    CLOSED = "closed"
    RIGID = "rigid"


class Answer(Enum):
    """What a method can report about a contact."""

    FACES = "faces"
    POINTS = "points"
    NORMAL = "normal"
    DEPTH = "depth"
    TIME = "time"
    DISTANCE = "distance"


class Serve(Enum):
    """The query options and features that a method supports."""

    CLEARANCE = "clearance"
    BUDGET = "budget"
    BATCH = "batch"
    MOTION = "motion"
    SELF = "self"
    ADJACENT = "adjacent"
    DEFORM = "deform"
    SOLID = "solid"


# The query field of each; BATCH and DEFORM are not query options.
_OPTIONS = (
    ("clearance", Serve.CLEARANCE),
    ("solid", Serve.SOLID),
    ("itself", Serve.SELF),
    ("adjacent", Serve.ADJACENT),
    ("motion", Serve.MOTION),
    ("budget", Serve.BUDGET),
)

# Cures for unsupported options, where there is more to say than to choose another method.
_CURES = {Serve.MOTION: "choose the method bounding_tree, or leave out motion"}


@dataclass(frozen=True)
class Guarantee:
    """How far an answer can be trusted; `value` is a length or a share."""

    name: str
    value: float | None = None

    def __str__(self) -> str:
        if self.name.endswith("within share"):
            return f"{self.name.removesuffix(' share')} {self.value:.3g} of the size"
        return self.name if self.value is None else f"{self.name} {self.value:g}"


EXACT = Guarantee("exact")  # equal to the oracle to the byte
NO_MISS = Guarantee("no miss")  # contains everything the oracle has


def within_resolution(length: float) -> Guarantee:
    """Find bodies that meet when eroded by the length, none farther apart than it."""
    return Guarantee("within", length)


def within_share(share: float) -> Guarantee:
    """Like `within_resolution`, with a share of the longest edge of either box."""
    return Guarantee("within share", share)


def no_miss_within(length: float) -> Guarantee:
    """Find all bodies that share a point, and none farther apart than the length."""
    return Guarantee("no miss, within", length)


def no_miss_within_share(share: float) -> Guarantee:
    """Like `no_miss_within`, with a share of the longest edge of either box."""
    return Guarantee("no miss, within share", share)


def statistical(recall: float) -> Guarantee:
    """Find at least this share of the oracle's rows."""
    return Guarantee("recall", recall)


@dataclass(frozen=True)
class Traits:
    """The capabilities of a method with its settings.

    Examples
    --------
    >>> traits = jostle.Voxmap(accuracy=0.01).traits
    >>> traits.semantics, traits.tells_where
    (<Semantics.SOLID: 'solid'>, True)
    >>> sorted(need.value for need in traits.needs)
    ['closed', 'rigid']
    """

    semantics: Semantics
    answers: Mapping[Answer, Guarantee]
    serves: frozenset[Serve] = frozenset()
    needs: frozenset[Need] = frozenset()
    paper: str | None = None  # key in docs/references.bib
    cures: Mapping[Need, str] = field(default_factory=dict)  # advice for a body that does not meet a need
    overlays: Mapping[str, str] = field(default_factory=dict)  # overlays for viewers: label → `what` of `overlay`

    @property
    def tells_where(self) -> bool:
        """Whether it reports contact rows (faces or points), not only body pairs."""
        return Answer.FACES in self.answers or Answer.POINTS in self.answers

    def check_body(self, method: str, name: str, mesh: Mesh, deformable: bool) -> None:
        """Raise `Unsupported` if a body does not meet the method's needs."""
        if Need.RIGID in self.needs and deformable:
            raise Unsupported(
                f"{method} needs rigid bodies (trait needs: rigid); body {name!r} is deformable{self._cure(Need.RIGID)}"
            )
        if deformable and Serve.DEFORM not in self.serves:
            raise Unsupported(f"{method} does not serve deforming bodies (trait serves: no deform); body {name!r} is deformable")
        if Need.CLOSED in self.needs and not mesh.is_closed:
            where = leak_of(mesh) or "no face has an area"
            raise Unsupported(
                f"{method} needs closed meshes (trait needs: closed); body {name!r} is open{self._cure(Need.CLOSED)}; {where}"
            )
        if Need.CONVEX in self.needs and not mesh.is_convex:
            raise Unsupported(
                f"{method} needs convex meshes (trait needs: convex); body {name!r} is not convex{self._cure(Need.CONVEX)}"
            )

    def _cure(self, need: Need) -> str:
        return f"; {self.cures[need]}" if need in self.cures else ""

    def check_query(self, method: str, query: Query) -> None:
        """Raise `Unsupported` if a query has an option that the method does not support."""
        for option, serve in _OPTIONS:
            if not getattr(query, option) or serve in self.serves:
                continue
            if serve is Serve.SOLID and self.semantics is not Semantics.SURFACE:
                continue
            cure = _CURES.get(serve, "choose another method")
            raise Unsupported(f"{method} does not serve {serve.value} (trait serves: no {serve.value}); {cure}")
        if query.rows in ("faces", "first") and not self.tells_where:
            raise Unsupported(f"{method} answers neither faces nor points; use rows='pairs'")

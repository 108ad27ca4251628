"""Traits: what a method needs, what it answers with which guarantee, and what it serves. Capabilities are data.

The method table of the documentation and the contract tests are generated from these, and `check_bodies` and `check_query`
refuse what is outside of them before any work is done, naming the trait.
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
    """What two bodies are to the method: surfaces that may share a point, solids that may share volume, or either."""

    SURFACE = "surface"
    SOLID = "solid"
    BOTH = "both"


class Need(Enum):
    """What a method needs of a body."""

    CONVEX = "convex"
    CLOSED = "closed"
    RIGID = "rigid"


class Answer(Enum):
    """What a method can say of a contact."""

    FACES = "faces"
    POINTS = "points"
    NORMAL = "normal"
    DEPTH = "depth"
    TIME = "time"
    DISTANCE = "distance"


class Serve(Enum):
    """Which wishes of a query a method serves."""

    CLEARANCE = "clearance"
    BUDGET = "budget"
    BATCH = "batch"
    MOTION = "motion"
    SELF = "self"
    ADJACENT = "adjacent"
    DEFORM = "deform"
    SOLID = "solid"


# The field of a query that asks for each of them; BATCH and DEFORM are asked for elsewhere.
_WISHES = (
    ("clearance", Serve.CLEARANCE),
    ("solid", Serve.SOLID),
    ("itself", Serve.SELF),
    ("adjacent", Serve.ADJACENT),
    ("motion", Serve.MOTION),
    ("budget", Serve.BUDGET),
)

# What to do where a method does not serve a wish, if one can say more than to choose another.
_CURES = {Serve.MOTION: "choose the method bounding_tree, or ask without motion"}


@dataclass(frozen=True)
class Guarantee:
    """How far an answer can be trusted; `value` is a length (resolution) or a share (of a size, recall) where one belongs to it."""

    name: str
    value: float | None = None

    def __str__(self) -> str:
        if self.name.endswith("within share"):
            return f"{self.name.removesuffix(' share')} {self.value:.3g} of the size"
        return self.name if self.value is None else f"{self.name} {self.value:g}"


EXACT = Guarantee("exact")  # equal to the oracle to the byte
NO_MISS = Guarantee("no miss")  # contains everything the oracle has


def within_resolution(length: float) -> Guarantee:
    """Reports when both bodies, eroded by the length, still meet, and never when they are farther apart than it."""
    return Guarantee("within", length)


def within_share(share: float) -> Guarantee:
    """Within a length that depends on the two bodies: this share of the longest edge of either one's box."""
    return Guarantee("within share", share)


def no_miss_within(length: float) -> Guarantee:
    """Reports whenever the bodies share a point, and never when they are farther apart than the length."""
    return Guarantee("no miss, within", length)


def no_miss_within_share(share: float) -> Guarantee:
    """As `no_miss_within`, with this share of the longest edge of either one's box for the length."""
    return Guarantee("no miss, within share", share)


def statistical(recall: float) -> Guarantee:
    """Finds at least this share of what the oracle finds."""
    return Guarantee("recall", recall)


@dataclass(frozen=True)
class Traits:
    """The capabilities of a method with its present settings."""

    semantics: Semantics
    answers: Mapping[Answer, Guarantee]
    serves: frozenset[Serve] = frozenset()
    needs: frozenset[Need] = frozenset()
    paper: str | None = None  # key in docs/references.bib
    cures: Mapping[Need, str] = field(default_factory=dict)  # what to do with a body that lacks what is needed
    overlays: Mapping[str, str] = field(default_factory=dict)  # what a viewer can show of the method: label → `what` of `overlay`

    @property
    def tells_where(self) -> bool:
        """Whether there are rows of contacts in its answers: faces or points, not only which bodies meet."""
        return Answer.FACES in self.answers or Answer.POINTS in self.answers

    def check_body(self, method: str, name: str, mesh: Mesh, deformable: bool) -> None:
        """Raise `Unsupported` when a body is outside of what the method needs."""
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
        """Raise `Unsupported` when a query asks for what the method does not serve."""
        for wish, serve in _WISHES:
            if not getattr(query, wish) or serve in self.serves:
                continue
            if serve is Serve.SOLID and self.semantics is not Semantics.SURFACE:
                continue
            cure = _CURES.get(serve, "choose another method")
            raise Unsupported(f"{method} does not serve {serve.value} (trait serves: no {serve.value}); {cure}")
        if query.rows in ("faces", "first") and not self.tells_where:
            raise Unsupported(f"{method} answers neither faces nor points; ask with rows='pairs'")

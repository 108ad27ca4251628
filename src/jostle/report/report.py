"""Report: the result of a query, as sorted structs of arrays.

A report is new for every call and never capped silently. Rows are sorted by (body_a, body_b, face_a, face_b), with body_a <
body_b (equal for self-collision, then face_a < face_b): equal inputs give byte-equal reports. Contact geometry (points, segment,
normal) is computed on first access. `-1` and NaN mean that the method does not answer this.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.geometry import contact_kind
from jostle.geometry.features import Feature, Features
from jostle.kernels.arrays import read_only_view
from jostle.report.row_kernels import count_runs, mark_missing, summarise_runs
from jostle.tables import MOST_HTML_ROWS, counted, dicts_of, html_table

Record = TypeVar("Record")


_unknown = np.empty(0)


def unknown_column(rows: int) -> Floats:
    """Return a read-only column of NaN; all such columns share memory."""
    global _unknown
    column = _unknown  # a local reference: another thread may replace it
    if len(column) < rows:
        column = np.full(max(1024, 2 * rows), np.nan)
        column.flags.writeable = False
        _unknown = column
    return column[:rows]


def replaced(record: Record, **fields: Any) -> Record:
    """Return a copy of a frozen dataclass with some fields replaced.

    It is 15x faster than `dataclasses.replace`.
    """
    copy = object.__new__(type(record))
    object.__setattr__(copy, "__dict__", record.__dict__ | fields)  # two thirds of the time of an update
    return copy


class Kind(IntEnum):
    """How two faces or bodies meet, in order of severity.

    The kind of a body pair is OVERLAPPING or the highest of its rows.

    Examples
    --------
    >>> [kind.name for kind in jostle.Kind]
    ['NEAR', 'TOUCHING', 'B_IN_A', 'A_IN_B', 'CROSSING', 'OVERLAPPING']
    >>> jostle.Kind.CROSSING > jostle.Kind.TOUCHING  # more severe
    True
    """

    NEAR = contact_kind.NEAR  # apart, but closer than the clearance
    TOUCHING = contact_kind.TOUCHING  # share a point, but neither passes through the other
    B_IN_A = contact_kind.B_IN_A  # (a connected part of) b lies inside a; only with solid=True
    A_IN_B = contact_kind.A_IN_B
    CROSSING = contact_kind.CROSSING  # faces pass through each other
    # Body pairs only, never rows, and only with solid=True: no faces cross, but interiors meet. As severe as CROSSING.
    OVERLAPPING = contact_kind.OVERLAPPING

    def __repr__(self) -> str:
        return f"Kind.{self.name}"

    __str__ = __repr__


class HasId(Protocol):
    """Anything with a body id."""

    @property
    def id(self) -> int:
        """The body's id."""
        ...


@dataclass(frozen=True, init=False)
class Counters:
    """Work done, independent of the machine.

    Examples
    --------
    >>> counters = jostle.collide("ball.stl", "wall.obj").counters
    >>> counters.body_pairs
    1
    """

    body_pairs: int  # pairs of bodies that reached the narrow phase
    box_tests: int
    triangle_tests: int  # exact face–face tests
    distance_tests: int
    pixels: int
    look_ups: int
    samples: int
    engine: ClassVar[str] = ""  # the method that answered, set by a world; not a number

    def __init__(
        self,
        body_pairs: int = 0,
        box_tests: int = 0,
        triangle_tests: int = 0,
        distance_tests: int = 0,
        pixels: int = 0,
        look_ups: int = 0,
        samples: int = 0,
    ) -> None:
        # Hand-written: every detect makes three, and the __init__ of a frozen dataclass takes three times as long.
        self.__dict__.update(
            body_pairs=body_pairs,
            box_tests=box_tests,
            triangle_tests=triangle_tests,
            distance_tests=distance_tests,
            pixels=pixels,
            look_ups=look_ups,
            samples=samples,
        )

    def __add__(self, other: Counters) -> Counters:
        # Hand-written: dataclasses.astuple takes 20 µs, a fifth of a small detect, and operator.add over __dict__ 1.5 µs more.
        return Counters(
            self.body_pairs + other.body_pairs,
            self.box_tests + other.box_tests,
            self.triangle_tests + other.triangle_tests,
            self.distance_tests + other.distance_tests,
            self.pixels + other.pixels,
            self.look_ups + other.look_ups,
            self.samples + other.samples,
        )


@dataclass(frozen=True, eq=False)
class Details:
    """Geometry of contact rows, in world coordinates."""

    segment: Floats  # (n,2,3) ends of the intersection; for NEAR rows the closest points on a and on b
    normal: Floats  # (n,3) unit, from a into b
    area: Floats | None = None  # (n,) surface area that a row represents, seen along its normal; None if unknown
    place: Floats | None = None  # (n,3) where the row's force acts; None for the middle of the segment

    def select(self, rows: NDArray[Any]) -> Details:
        """Return the rows of a mask or index array."""
        return replaced(self, **{name: None if column is None else column[rows] for name, column in self.__dict__.items()})


def _left_out() -> Any:
    """Mark a column that may be left out; `LeftOut` fills it with NaN on access."""


class LeftOut:
    """A column that was left out. (`__getattr__` would slow down every column access.)"""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, record: Any, owner: type) -> Any:
        if record is None:
            return self
        column = record.__dict__[self._name] = unknown_column(len(record))
        return column


class Columns:
    """Columns of one length, given by name; some may be left out (`_left_out`)."""

    kind: NDArray[np.uint8]

    if not TYPE_CHECKING:

        def __init__(self, *in_order, **columns):
            if in_order:
                message = f"{type(self).__name__} takes its columns by name: body_a=…, body_b=…"
                warnings.warn(message, DeprecationWarning, stacklevel=2)
                columns |= zip((each.name for each in fields(self)), in_order, strict=False)
            if not self._known.issuperset(columns):
                raise TypeError(f"{type(self).__name__} does not know {', '.join(sorted(columns.keys() - self._known))}")
            self.__dict__.update(columns)

    @classmethod
    def unchecked(cls, columns: dict[str, Any]) -> Self:
        """Return the record of columns whose names are known to be right: 0.3 µs instead of 1.

        The dict becomes the record's own: the caller must not keep it.
        """
        made = object.__new__(cls)
        object.__setattr__(made, "__dict__", columns)
        return made

    @property
    def kinds(self) -> list[Kind]:
        """The kind of each entry, as `Kind`."""
        return [_KINDS[kind] for kind in self.kind.tolist()]


def _know_columns(record: Any) -> tuple[str, ...]:
    """Set up a frozen dataclass of columns; return the names of its columns."""
    record.__init__ = Columns.__init__  # the dataclass's own takes three times as long, for every detect
    record._known = frozenset(each.name for each in fields(record))
    for each in fields(record):
        if each.default_factory is _left_out:
            setattr(record, each.name, LeftOut(each.name))
    return tuple(each.name for each in fields(record) if each.default is MISSING)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Contacts(Columns):
    """Contact rows: face pairs, or points for methods without faces.

    A new column is one more line here: selecting, joining and exporting rows use all columns, which have one entry per row.
    `face_b` (or `face_a`) is -1 in rows of kind A_IN_B (B_IN_A): the other face is the first of the contained component.

    Examples
    --------
    >>> contacts = jostle.collide("ball.stl", "wall.obj", pose_a=jostle.translation((0, 0, 0.9))).contacts
    >>> contacts.point.shape == contacts.normal.shape == (len(contacts), 3)
    True
    >>> crossing = contacts.select(contacts.kind == jostle.Kind.CROSSING)
    >>> len(crossing) == len(contacts)
    True
    """

    body_a: Ints
    body_b: Ints
    face_a: Ints
    face_b: Ints
    kind: NDArray[np.uint8]
    distance: Floats  # between the faces: 0.0 where they share a point; negative where a method knows the depth
    depth: Floats = field(default_factory=_left_out)  # penetration >= 0; NaN if unknown
    time: Floats = field(default_factory=_left_out)  # 0 … 1 within the step; NaN without motion
    _details: Details | Callable[[], Details] | None = None
    features: Features | None = None  # which vertices, edges and faces meet; only with motion

    @staticmethod
    def empty() -> Contacts:
        """Return contacts without rows."""
        return _NO_CONTACTS

    def __len__(self) -> int:
        return len(self.body_a)

    @property
    def details(self) -> Details:
        """Segment and normal of every row, computed on first access."""
        if callable(self._details):
            object.__setattr__(self, "_details", self._details())
        elif self._details is None:
            nan = np.full((len(self), 2, 3), np.nan)
            object.__setattr__(self, "_details", Details(segment=nan, normal=nan[:, 0]))
        assert isinstance(self._details, Details)
        return self._details

    @property
    def segment(self) -> Floats:
        """(n,2,3) ends of the faces' intersection; closest points of NEAR rows."""
        return self.details.segment

    @property
    def point(self) -> Floats:
        """(n,3) midpoint of the segment."""
        first, second = self.details.segment[:, 0], self.details.segment[:, 1]
        return first + 0.5 * (second - first)

    @property
    def normal(self) -> Floats:
        """(n,3) unit normal from a into b, never zero; docs/conventions.md defines it."""
        return self.details.normal

    def select(self, rows: NDArray[Any]) -> Contacts:
        """Return the rows of a mask or index array."""

        def details() -> Details:
            return self.details.select(rows)

        columns = {name: getattr(self, name)[rows] for name in CONTACT_COLUMNS}
        features = None if self.features is None else self.features.select(rows)
        return Contacts(**columns, _details=None if self._details is None else details, features=features)

    def to_array(self) -> NDArray[np.void]:
        """Return all columns, with geometry and any features, as one structured array."""
        fields: list[Any] = [(name, getattr(self, name).dtype) for name in CONTACT_COLUMNS]
        fields += [("point", np.float64, 3), ("normal", np.float64, 3)]
        if self.features is not None:
            fields += [("kind_a", np.uint8), ("vertices_a", np.int32, 3), ("kind_b", np.uint8), ("vertices_b", np.int32, 3)]
        rows = np.empty(len(self), dtype=fields)
        for name in rows.dtype.names or ():
            rows[name] = getattr(self.features if name in Features._fields else self, name)
        return rows

    def to_dicts(self, names: Mapping[int, str] | None = None) -> list[dict[str, Any]]:
        """Return the rows as dicts for JSON: kinds and given bodies by name, None for NaN."""
        columns = {name: getattr(self, name) for name in (*CONTACT_COLUMNS, "point", "normal")}
        if self.features is not None:
            columns |= {"feature_a": self.features.all_of_a(), "feature_b": self.features.all_of_b()}
        return dicts_of(columns, _in_words(names))

    def __repr__(self) -> str:
        return f"<Contacts: {counted(len(self), 'row')}{_kind_counts(self.kind)}>"

    def _repr_html_(self) -> str:
        return html_table(repr(self), self.select(np.arange(min(len(self), MOST_HTML_ROWS))).to_dicts(), len(self))

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        state["_details"] = None if self._details is None else self.details
        return state


CONTACT_COLUMNS = _know_columns(Contacts)
_NO_BODIES, _NO_KINDS, _NO_NUMBERS = np.empty(0, np.int32), np.empty(0, np.uint8), np.empty(0)
_NO_CONTACTS = Contacts(
    body_a=_NO_BODIES, body_b=_NO_BODIES, face_a=_NO_BODIES, face_b=_NO_BODIES, kind=_NO_KINDS, distance=_NO_NUMBERS
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pairs(Columns):
    """Body pairs that meet, sorted, each once.

    Examples
    --------
    >>> pairs = jostle.collide("ball.stl", "wall.obj", pose_a=jostle.translation((0, 0, 0.9))).pairs
    >>> len(pairs), pairs.names, pairs.kinds
    (1, [('a', 'b')], [Kind.CROSSING])
    """

    body_a: Ints
    body_b: Ints
    kind: NDArray[np.uint8]  # the most severe kind of the pair's rows, or OVERLAPPING
    rows: Ints  # number of contact rows; 0 if the query returns no rows
    distance: Floats  # least distance of the rows
    time: Floats = field(default_factory=_left_out)  # first time of the rows; NaN if unknown
    _names: ClassVar[Mapping[int, str] | None] = None  # body names by id, set by a world; not a column

    @staticmethod
    def empty() -> Pairs:
        """Return an empty set of pairs."""
        return _NO_PAIRS

    @staticmethod
    def of(contacts: Contacts) -> Pairs:
        """Summarise sorted contacts by body pair."""
        if len(contacts.body_a) == 0:
            return _NO_PAIRS
        a, b = read_only_view(contacts.body_a), read_only_view(contacts.body_b)
        count = count_runs(a, b)
        pairs = Pairs(
            body_a=np.empty(count, np.int32),
            body_b=np.empty(count, np.int32),
            kind=np.empty(count, np.uint8),
            rows=np.empty(count, np.int32),
            distance=np.empty(count),
            time=np.empty(count),
        )
        kind, distance, time = (read_only_view(column) for column in (contacts.kind, contacts.distance, contacts.time))
        summarise_runs(
            a, b, kind, distance, time, pairs.body_a, pairs.body_b, pairs.kind, pairs.rows, pairs.distance, pairs.time
        )  # fmt: skip
        return pairs

    def __len__(self) -> int:
        return len(self.body_a)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(zip(self.body_a.tolist(), self.body_b.tolist(), strict=True))

    def __contains__(self, pair: object) -> bool:
        if not isinstance(pair, tuple) or len(pair) != 2:
            return False
        low, high = sorted(_id(body) for body in pair)
        return bool(((self.body_a == low) & (self.body_b == high)).any())

    @property
    def names(self) -> list[tuple[str, str]]:
        """The names of both bodies of each pair, in order; the id as text if a body has no name.

        `report.names[id]` is the name of one body, also for the columns `body_a` and `body_b` of rows.
        """
        known = self._names or {}
        return [(known.get(a) or str(a), known.get(b) or str(b)) for a, b in self]

    def to_array(self) -> NDArray[np.void]:
        """Return all columns as one structured array."""
        rows = np.empty(len(self), dtype=[(name, getattr(self, name).dtype) for name in PAIR_COLUMNS])
        for name in PAIR_COLUMNS:
            rows[name] = getattr(self, name)
        return rows

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the pairs as dicts for JSON: bodies and kinds by name, None for NaN."""
        return dicts_of({name: getattr(self, name) for name in PAIR_COLUMNS}, _in_words(self._names))

    def __repr__(self) -> str:
        return f"<Pairs: {counted(len(self), 'pair')}{_kind_counts(self.kind)}>"

    def _repr_html_(self) -> str:
        return html_table(repr(self), self.select(np.s_[:MOST_HTML_ROWS]).to_dicts(), len(self))

    def without_rows(self) -> Pairs:
        """Return the same pairs, for a report without contact rows."""
        return replaced(self, rows=np.zeros_like(self.rows))

    def select(self, rows: NDArray[Any] | slice) -> Pairs:
        """Return the pairs of a mask or index array."""
        chosen = object.__new__(Pairs)
        for name, column in self.__dict__.items():
            chosen.__dict__[name] = column if name == "_names" else column[rows]
        return chosen

    def changes_since(self, before: Pairs) -> tuple[Pairs, Pairs]:
        """Return the pairs that `before` does not have, and those that only it has."""
        if self.same_as(before):
            return _NO_PAIRS, _NO_PAIRS
        return self._missing_from(before), before._missing_from(self)

    def _missing_from(self, other: Pairs) -> Pairs:
        """Return the pairs that `other` does not have; the two differ."""
        if len(self) == 0:
            return _NO_PAIRS
        if len(other) == 0:
            return self
        missing = np.empty(len(self), bool)
        a, b = read_only_view(self.body_a), read_only_view(self.body_b)
        mark_missing(a, b, read_only_view(other.body_a), read_only_view(other.body_b), missing)
        return self.select(missing)

    def same_as(self, other: Pairs) -> bool:
        """Return whether both have the same body pairs; kinds and distances may differ."""
        # Comparing bytes takes 0.3 µs, arrays 5.
        return self is other or (
            len(self.body_a) == len(other.body_a)
            and self.body_a.tobytes() == other.body_a.tobytes()
            and self.body_b.tobytes() == other.body_b.tobytes()
        )


PAIR_COLUMNS = _know_columns(Pairs)
_NO_PAIRS = Pairs(body_a=_NO_BODIES, body_b=_NO_BODIES, kind=_NO_KINDS, rows=_NO_BODIES, distance=_NO_NUMBERS, time=_NO_NUMBERS)


@dataclass(frozen=True)
class Closest:
    """The closest points of two bodies and their faces.

    Ties go to the lowest (face_a, face_b). `distance` is 0.0 exactly if the bodies touch; the points are then one common point of
    any two touching faces. Methods that walk over features of convex bodies also give the features, by mesh vertices: ("vertex",
    (i,)), ("edge", (i, j)) or ("face", (i, j, k, …)), the corners of a whole flat side in order. For others they are None.

    Examples
    --------
    >>> closest = jostle.distance("ball.stl", "wall.obj", pose_a=jostle.translation((0, 0, 1.5)))
    >>> closest.point_a.round(3).tolist(), closest.face_b
    ([0.0, 0.0, 0.5], 2)
    """

    distance: float
    point_a: Floats
    point_b: Floats
    face_a: int  # -1 if no face of the mesh holds the point: a hull may have faces of its own
    face_b: int
    feature_a: Feature | None = None
    feature_b: Feature | None = None


@dataclass(frozen=True)
class Reached:
    """How far a search by samples came, and what it may have missed.

    `undiscovered` is the Good–Turing estimate: the chance that the next seed finds a new region. It covers only regions that seeds
    can find, and is 1.0 until a seed is drawn.

    Examples
    --------
    >>> world = jostle.World("monte_carlo")
    >>> ball, wall = world.add("ball.stl", jostle.translation((0, 0, 0.9))), world.add("wall.obj")
    >>> report = world.detect(budget=jostle.Budget(operations=10_000))
    >>> report.reached.samples > 0, report.reached.undiscovered < 1
    (True, True)
    """

    operations: int  # the unit of `Budget(operations=…)`
    samples: int  # seeds drawn for new pairs
    updated: float  # share 0 … 1 of the tracked pairs that were updated
    pairs: int  # sample pairs tracked into the next step
    regions: int  # connected regions of touching faces
    undiscovered: float  # 0 … 1
    broken: int = 0  # facets of deforming bodies known to exceed the stated bound
    worst: float = 0.0  # largest excess, as a share of the facet's radius
    error: float = 0.0  # largest distance of faces reported as touching; 0: every row is exact


@dataclass(frozen=True, eq=False, init=False)
class Report:
    """The result of one query. Truth value: whether it has any pairs.

    `contacts` are the rows, `pairs` their summary by body pair.

    Examples
    --------
    >>> report = jostle.collide("ball.stl", "wall.obj", pose_a=jostle.translation((0, 0, 0.9)))
    >>> bool(report), report.complete
    (True, True)
    >>> report.pairs.names
    [('a', 'b')]
    >>> sorted(report.to_dicts()[0])[:4]
    ['body_a', 'body_b', 'depth', 'distance']
    """

    pairs: Pairs = field(default_factory=Pairs.empty)
    contacts: Contacts = field(default_factory=Contacts.empty)
    counters: Counters = field(default_factory=Counters)
    complete: bool = True  # False if a budget ended the search, or a bound the method relies on was broken
    began: Pairs = field(default_factory=Pairs.empty)  # pairs that the previous report does not have
    ended: Pairs = field(default_factory=Pairs.empty)  # pairs of the previous report that are gone, as they were
    names: Mapping[int, str] = field(default_factory=dict, repr=False)
    reached: Reached | None = None  # how far a search by samples came; None for other methods

    def __init__(
        self,
        pairs: Pairs = _NO_PAIRS,
        contacts: Contacts = _NO_CONTACTS,
        counters: Counters | None = None,
        complete: bool = True,
        began: Pairs = _NO_PAIRS,
        ended: Pairs = _NO_PAIRS,
        names: Mapping[int, str] | None = None,
        reached: Reached | None = None,
    ) -> None:
        # Hand-written, as for `Counters`: every detect makes one.
        fields = {
            "pairs": pairs,
            "contacts": contacts,
            "counters": Counters() if counters is None else counters,
            "complete": complete,
            "began": began,
            "ended": ended,
            "names": {} if names is None else names,
            "reached": reached,
        }
        object.__setattr__(self, "__dict__", fields)

    @staticmethod
    def of(contacts: Contacts, counters: Counters, complete: bool = True) -> Report:
        """Make a report from sorted contacts."""
        return Report(Pairs.of(contacts), contacts, counters, complete)

    def __bool__(self) -> bool:
        return len(self.pairs) > 0

    def __repr__(self) -> str:
        rows = counted(len(self.contacts), "row") + ("" if self.complete else ", incomplete")
        return f"<Report: {counted(len(self.pairs), 'pair')}{_kind_counts(self.pairs.kind) or ' (free)'}, {rows}>"

    def _repr_html_(self) -> str:
        return html_table(repr(self), self.pairs.select(np.s_[:MOST_HTML_ROWS]).to_dicts(), len(self.pairs))

    @property
    def touching(self) -> bool:
        """Whether any two bodies touch, cross or contain each other; NEAR does not count."""
        return bool((self.pairs.kind > Kind.NEAR).any())

    def faces_of(self, body: HasId | int | str, near: bool = True) -> Ints:
        """Return the faces of a body in all rows, unique; `near=False` skips NEAR rows."""
        wanted, near = self._id(body), cast.as_flag(near, "near")
        rows = np.ones(len(self.contacts), bool) if near else self.contacts.kind > Kind.NEAR
        found = [
            self.contacts.face_a[rows & (self.contacts.body_a == wanted)],
            self.contacts.face_b[rows & (self.contacts.body_b == wanted)],
        ]
        faces = np.unique(np.concatenate(found))
        return faces[faces >= 0]

    def between(self, a: HasId | int | str, b: HasId | int | str) -> Contacts:
        """Return the rows of one body pair; `face_a` is of the body with the lower id."""
        low, high = sorted((self._id(a), self._id(b)))
        return self.contacts.select((self.contacts.body_a == low) & (self.contacts.body_b == high))

    def to_array(self) -> NDArray[np.void]:
        """Return the contact rows as one structured array."""
        return self.contacts.to_array()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dicts for JSON: bodies and kinds by name, None for NaN."""
        return self.contacts.to_dicts(self.names)

    def _id(self, body: HasId | int | str) -> int:
        if isinstance(body, str):
            for number, name in self.names.items():
                if name == body:
                    return number
            raise InputError(f"no body is called {body!r}; this report knows {', '.join(map(repr, self.names.values()))}")
        return _id(body)


def _id(body: Any) -> int:
    return cast.as_count(body.id if cast.has(body, "id") else body, "body", highest=cast.LARGEST_ID)


_KINDS = {int(kind): kind for kind in Kind}
_KIND_NAMES = {int(kind): kind.name for kind in Kind}


def _kind_counts(column: NDArray[np.uint8]) -> str:
    """Return the count of each kind: " (2 NEAR, 1 CROSSING)"; "" without rows."""
    counts = np.bincount(column, minlength=max(_KINDS) + 1)
    found = ", ".join(f"{counts[kind]} {kind.name}" for kind in Kind if counts[kind])
    return f" ({found})" if found else ""


def _in_words(names: Mapping[int, str] | None) -> dict[str, Callable[[int], Any]]:
    """Return converters for dicts: body ids to names, kinds to their names."""

    def name(number: int) -> str | int:
        return known.get(number, number)

    known = names or {}
    return {"body_a": name, "body_b": name, "kind": _KIND_NAMES.__getitem__}

"""BodyTable: the state of a world, a column per property and a row per body.

An interrupt may come between any two bytecodes, so a world changes by a single operation, of one of two kinds:

- A change of several fields makes a new table, which the world assigns at once.
- A change of one row is written in place, by one call into C, to an array that no frame has seen. Derived values are dropped and
  `moved` and `deformed` are set first: a body may be marked without a change, but never changed without a mark.

Copy on write: an array that a frame has seen is sealed (not writeable), so a frame is a true snapshot that costs only references.
New bodies wait in a dict until a column is read, so that adding n bodies costs O(n). Rows are in the order of ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats, Ints
from jostle.errors import InputError
from jostle.interface.body_pairs import pair_key
from jostle.interface.frame import Bodies, Frame
from jostle.report.report import Pairs, replaced
from jostle.shapes.mesh import Mesh


@dataclass(frozen=True, eq=False)
class NewBody:
    """A checked body, ready to be added."""

    id: int
    name: str
    mesh: Mesh
    deformable: bool
    pose: Floats
    static: bool
    group: int
    category: int
    mask: int


COLUMNS = ("poses_t0", "poses", "moved", "deformed", "static", "group", "category", "mask")
PLACED = ("poses", "moved")  # the columns that a new pose changes


@dataclass(eq=False)
class BodyTable:
    """The state of a world. Methods that change it return the table to use next."""

    bodies: Bodies = field(default_factory=lambda: Bodies(np.empty(0, np.int32), (), (), np.empty(0, bool)))
    new: dict[str, NewBody] = field(default_factory=dict)  # pending bodies by name; their ids continue from `next_id` without gaps
    row_of_id: dict[int, int] = field(default_factory=dict)  # of `bodies`, as are all columns
    id_of_name: dict[str, int] = field(default_factory=dict)
    poses_t0: Floats = field(default_factory=lambda: np.empty((0, 4, 4)))
    poses: Floats = field(default_factory=lambda: np.empty((0, 4, 4)))
    moved: Bools = field(default_factory=lambda: np.empty(0, np.bool_))
    deformed: Bools = field(default_factory=lambda: np.empty(0, np.bool_))
    static: Bools = field(default_factory=lambda: np.empty(0, np.bool_))
    group: Ints = field(default_factory=lambda: np.empty(0, np.int32))
    category: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    mask: NDArray[np.uint32] = field(default_factory=lambda: np.empty(0, np.uint32))
    vertices_t0: tuple[Floats, ...] = ()
    vertices: list[Floats] | tuple[Floats, ...] = ()  # a tuple once a frame has seen it
    ignored: set[tuple[int, int]] = field(default_factory=set)  # pairs of ids, lower first
    next_id: int = 0  # of the next body, not counting pending ones
    units: str | None = None
    time: float = 0.0
    last_pairs: Pairs = field(default_factory=Pairs.empty)
    # Derived from the rest; None if it has to be recomputed.
    _frame: Frame | None = None
    _unsealed: tuple[str, ...] = COLUMNS  # columns that may be writeable; with none of them, vertices are a tuple
    _nowhere: Bools | None = None  # the value of `moved` and `deformed` after a step
    _ignored_keys: NDArray[np.int64] | None = None  # `ignored` by rows, sorted
    _filters_nothing: bool | None = None

    def __len__(self) -> int:
        return len(self.bodies) + len(self.new)

    def __getstate__(self) -> dict[str, Any]:
        # A copy shares nothing that is written in place. It is sealed again below, because pickling forgets that.
        own = {"new": dict(self.new), "ignored": set(self.ignored), "vertices": tuple(self.vertices)}
        derived = {"_frame": None, "_unsealed": COLUMNS, "_nowhere": None}
        self._seal()
        return {**self.__dict__, **own, **derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._seal()

    # ------------------------------------------------------------------ bodies

    def add(self, body: NewBody) -> None:
        """Append a body with a new name and the next id."""
        self.new[body.name] = body

    def without(self, number: int) -> BodyTable:
        """Return the table without a body; the rows behind it move up."""
        row, bodies = self.row(number), self.bodies
        rest = np.delete(np.arange(len(self)), row)
        return self._with_bodies(
            Bodies(bodies.ids[rest], _without(bodies.names, row), _without(bodies.meshes, row), bodies.deformable[rest]),
            **{name: getattr(self, name)[rest] for name in COLUMNS},
            vertices_t0=_without(self.vertices_t0, row),
            vertices=_without(tuple(self.vertices), row),
            ignored={pair for pair in self.ignored if number not in pair},
        )

    def settled(self) -> BodyTable:
        """Return the table with pending bodies in its columns."""
        new, old = list(self.new.values()), self.bodies
        if not new:
            return self
        poses = np.stack([body.pose for body in new])
        added: dict[str, Any] = {
            "poses": poses,
            "poses_t0": poses,
            "moved": [True] * len(new),
            "deformed": [body.deformable for body in new],
            **{name: [getattr(body, name) for body in new] for name in ("static", "group", "category", "mask")},
        }
        columns = {name: _appended(getattr(self, name), values) for name, values in added.items()}
        vertices = tuple(body.mesh.vertices for body in new)
        return self._with_bodies(
            Bodies(
                _appended(old.ids, [body.id for body in new]),
                old.names + tuple(body.name for body in new),
                old.meshes + tuple(body.mesh for body in new),
                _appended(old.deformable, added["deformed"]),
            ),
            **columns,
            vertices_t0=self.vertices_t0 + vertices,
            vertices=(*self.vertices, *vertices),
            new={},
            next_id=self.next_id + len(new),
        )

    def _with_bodies(self, bodies: Bodies, **fields: Any) -> BodyTable:
        ids = bodies.ids.tolist()
        return replaced(
            self,
            bodies=bodies,
            row_of_id={number: row for row, number in enumerate(ids)},
            id_of_name=dict(zip(bodies.names, ids, strict=True)),
            _frame=None,
            _unsealed=COLUMNS,
            _nowhere=None,
            _ignored_keys=None,
            _filters_nothing=None,
            **fields,
        )

    def ids(self) -> Iterator[int]:
        """Yield the ids of all bodies in order."""
        yield from self.row_of_id
        yield from [body.id for body in list(self.new.values())]  # a list first: a thread may add another body

    def names(self) -> list[str]:
        """Return the names of all bodies in order."""
        return [*self.bodies.names, *self.new]

    def meshes(self) -> list[Mesh]:
        """Return the meshes of all bodies in order."""
        return [*self.bodies.meshes, *(body.mesh for body in list(self.new.values()))]

    def id_called(self, name: str) -> int | None:
        """Return the id of the body with this name."""
        body = self.new.get(name)
        return self.id_of_name.get(name) if body is None else body.id

    def has(self, number: int) -> bool:
        """Return whether a body has this id."""
        return number in self.row_of_id or self.next_id <= number < self.next_id + len(self.new)

    def row(self, number: int) -> int:
        """Return the row of a body id."""
        row = self.row_of_id.get(number)
        if row is None:
            if not self.next_id <= number < self.next_id + len(self.new):
                raise InputError(f"body {number} is not in this world (any more)")
            row = len(self.bodies) + number - self.next_id
        return row

    # ------------------------------------------------------------------ changes, of settled tables only

    def place(self, rows: Any, poses: Floats) -> BodyTable:
        """Set the poses of some rows."""
        if self.poses.flags.writeable and self.moved.flags.writeable:
            self._frame = None
            self.moved[rows] = True
            self.poses[rows] = poses
            return self
        return replaced(
            self,
            poses=_written(self.poses, rows, poses),
            moved=_written(self.moved, rows, True),
            _frame=None,
            _unsealed=COLUMNS if self._unsealed else PLACED,
        )

    def deform(self, row: int, points: Floats) -> BodyTable:
        """Set the vertices of one body to a sealed array."""
        if isinstance(self.vertices, list) and self.deformed.flags.writeable:
            self._frame = None
            self.deformed[row] = True
            self.vertices[row] = points
            return self
        return self.change(vertices={row: points})

    def change(self, poses: Floats | None = None, vertices: Mapping[int, Floats] | None = None) -> BodyTable:
        """Set all poses (n,4,4), unless None, and some vertices; it owns the arrays."""
        fields: dict[str, Any] = {} if poses is None else {"poses": poses, "moved": np.ones(len(poses), bool)}
        if vertices:
            points = list(self.vertices)
            for row, array in vertices.items():
                points[row] = array
            fields |= {"vertices": points, "deformed": _written(self.deformed, list(vertices), True)}
        return replaced(self, _frame=None, _unsealed=COLUMNS, **fields)

    def teleport(self, row: int, pose: Floats | None, points: Floats | None) -> BodyTable:
        """Set pose and vertices of one body, unless None, also for the start of the step."""
        fields: dict[str, Any] = {}
        if points is not None:
            for name in ("vertices", "vertices_t0"):
                fields[name] = (*getattr(self, name)[:row], points, *getattr(self, name)[row + 1 :])
            fields["deformed"] = _written(self.deformed, row, True)
        if pose is not None:
            # Start and end are the halves of one block, so that both are written by one call.
            block = self.poses.base if self.poses.base is self.poses_t0.base and points is None else None
            if block is not None and all(column.flags.writeable for column in (self.poses_t0, self.poses, self.moved)):
                self._frame = None
                self.moved[row] = True
                block[:, row] = pose
                return self
            block = np.stack([self.poses_t0, self.poses])
            block[:, row] = pose
            fields |= {"poses_t0": block[0], "poses": block[1], "moved": _written(self.moved, row, True)}
        return replaced(self, _frame=None, _unsealed=COLUMNS, **fields)

    def filter(self, name: str, row: int, value: Any) -> BodyTable:
        """Set one of the filter columns of a body."""
        column = getattr(self, name)
        if column.flags.writeable:
            self._frame = self._filters_nothing = None
            column[row] = value
            return self
        return replaced(self, _frame=None, _unsealed=COLUMNS, _filters_nothing=None, **{name: _written(column, row, value)})

    def ignore(self, pair: tuple[int, int], ignored: bool) -> None:
        """Exclude a pair of ids, lower first, from tests, or include it again."""
        self._frame = self._ignored_keys = None
        (self.ignored.add if ignored else self.ignored.discard)(pair)

    def after_step(self, frame: Frame, **fields: Any) -> BodyTable:
        """Return the table after a successful detect: the next motion starts at its frame."""
        nowhere = self._nowhere
        if nowhere is None:
            nowhere = np.zeros(len(frame), bool)
            nowhere.flags.writeable = False
        return replaced(
            self,
            poses_t0=frame.poses,
            vertices_t0=frame.vertices,
            moved=nowhere,
            deformed=nowhere,
            _frame=None,
            _nowhere=nowhere,
            **fields,
        )

    # ------------------------------------------------------------------ reading

    def frame(self, dt: float = 1.0, workers: int | None = 1) -> Frame:
        """Return a snapshot; the same object until something is written."""
        last = self._frame
        if last is not None and last.dt == dt and last.workers == workers:
            return last
        self._seal()
        if self._ignored_keys is None:
            rows = [(self.row(low), self.row(high)) for low, high in sorted(self.ignored)]
            pairs = np.array(rows, np.int32).reshape(-1, 2)
            self._ignored_keys = np.sort(pair_key(pairs[:, 0], pairs[:, 1]))
        if self._filters_nothing is None:
            self._filters_nothing = self._no_filter_is_set()
        frame = self._frame = Frame.of(
            bodies=self.bodies,
            poses_t0=self.poses_t0,
            poses=self.poses,
            vertices_t0=self.vertices_t0,
            vertices=self.vertices,
            moved=self.moved,
            deformed=self.deformed,
            static=self.static,
            group=self.group,
            category=self.category,
            mask=self.mask,
            ignored=self._ignored_keys,
            time=self.time,
            dt=dt,
            unfiltered=self._filters_nothing and len(self._ignored_keys) == 0,
            workers=workers,
            _world_vertices={},
        )
        return frame

    def _seal(self) -> None:
        """Make later writes copy the arrays."""
        if not self._unsealed:
            return
        for name in self._unsealed:
            getattr(self, name).setflags(write=False)
        if isinstance(self.vertices, list):
            self.vertices = tuple(self.vertices)
        self._unsealed = ()

    def _no_filter_is_set(self) -> bool:
        """Return whether the filters pass every pair.

        That is: at most one static body, no groups, default bits.
        """
        return bool(self.static.sum() <= 1 and (self.group < 0).all() and (self.category == 1).all() and (self.mask & 1).all())


def _without(entries: tuple[Any, ...], row: int) -> tuple[Any, ...]:
    return entries[:row] + entries[row + 1 :]


def _appended(column: NDArray[Any], values: Any) -> NDArray[Any]:
    return np.concatenate([column, np.asarray(values, column.dtype)])


def _written(column: NDArray[Any], rows: Any, value: Any) -> NDArray[Any]:
    copy = column.copy()
    copy[rows] = value
    return copy

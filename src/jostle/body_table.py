"""BodyTable: the columns of a world, one row per body in the order of ids.

Copy on write: an array that a frame has seen is sealed (not writeable), and the next write copies it first. So a frame is a true
snapshot and costs nothing but references. New bodies wait in a list until a column is read, so that adding n bodies costs O(n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.errors import InputError
from jostle.frame import Bodies, Frame
from jostle.shapes.mesh import Mesh

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NewBody:
    """Everything about a body that is checked and ready to be added."""

    id: int
    name: str
    mesh: Mesh
    deformable: bool
    pose: Floats
    static: bool
    group: int
    category: int
    mask: int


_DTYPES: dict[str, Any] = {
    "poses": np.float64,
    "poses_t0": np.float64,
    "moved": np.bool_,
    "deformed": np.bool_,
    "static": np.bool_,
    "group": np.int32,
    "category": np.uint32,
    "mask": np.uint32,
}
_FILTERS = ("static", "group", "category", "mask")


class BodyTable:
    """Columns of all bodies; see the module's docstring."""

    def __init__(self) -> None:
        self.row_of_id: dict[int, int] = {}
        self.id_of_name: dict[str, int] = {}
        self._new: list[NewBody] = []
        self._columns: dict[str, NDArray[Any]] = {
            name: np.empty((0, 4, 4) if name.startswith("poses") else 0, dtype) for name, dtype in _DTYPES.items()
        }
        self._vertices: list[Floats] = []
        self._vertices_t0: tuple[Floats, ...] = ()
        self._take(Bodies(np.empty(0, np.int32), (), (), np.empty(0, bool)))

    def _take(self, bodies: Bodies) -> None:
        """Go on with other bodies: nothing that was derived from the old ones holds any more."""
        self._bodies = bodies
        self._unsealed = set(self._columns)  # the columns that no frame has seen as they are: to be written without a copy
        self._frame: Frame | None = None
        self._vertices_seen: tuple[Floats, ...] | None = None  # `_vertices` as frames have them; None when they have changed
        self._filters_nothing: bool | None = None  # of the filter columns as they are; None when they have changed
        self._nowhere = _sealed(np.zeros(len(bodies), bool))  # shared by all frames in which nothing has moved
        self._everywhere = _sealed(np.ones(len(bodies), bool))

    def __len__(self) -> int:
        return len(self.row_of_id)

    def add(self, body: NewBody) -> None:
        """Append a body whose name and id are new."""
        self.row_of_id[body.id] = len(self)
        self.id_of_name[body.name] = body.id
        self._new.append(body)
        self._frame = None

    def remove(self, number: int) -> None:
        """Take a body out; the rows behind it move up."""
        self._settle()
        row = self.row(number)
        bodies = self._bodies
        rest = np.delete(np.arange(len(self)), row)
        del self.id_of_name[bodies.names[row]]
        self._columns = {name: column[rest] for name, column in self._columns.items()}
        del self._vertices[row]
        self._vertices_t0 = _without(self._vertices_t0, row)
        self._take(Bodies(bodies.ids[rest], _without(bodies.names, row), _without(bodies.meshes, row), bodies.deformable[rest]))
        self.row_of_id = {int(n): k for k, n in enumerate(self._bodies.ids)}

    def row(self, number: int) -> int:
        """Return the row of a body id."""
        try:
            return self.row_of_id[number]
        except KeyError:
            raise InputError(f"body {number} is not in this world (any more)") from None

    @property
    def bodies(self) -> Bodies:
        """The bodies in order."""
        if self._new:
            self._settle()
        return self._bodies

    def column(self, name: str) -> NDArray[Any]:
        """Return a read-only view of a column."""
        if self._new:
            self._settle()
        return _sealed(self._columns[name].view())

    def vertices(self, row: int) -> Floats:
        """Return the (read-only) body coordinates of one body."""
        if self._new:
            self._settle()
        return self._vertices[row]

    def write(self, name: str, rows: Any, value: Any) -> None:
        """Write into a column, copying it first if a frame has seen it."""
        if self._new:
            self._settle()
        column = self._columns[name]
        if name not in self._unsealed:
            self._unsealed.add(name)
            column = self._columns[name] = column.copy()
        column[rows] = value
        self._frame = None
        if name in _FILTERS:
            self._filters_nothing = None

    def write_all_poses(self, poses: Floats) -> None:
        """Take an array that nobody else holds as the poses (n,4,4) of all bodies."""
        if self._new:
            self._settle()
        self._columns["poses"] = poses
        self._columns["moved"] = self._everywhere
        self._unsealed.add("poses")
        self._unsealed.discard("moved")
        self._frame = None

    def write_vertices(self, row: int, points: Floats, at_rest: bool = False) -> None:
        """Replace the vertices of one body by a sealed array; `at_rest`, those at the start of the step as well."""
        if self._new:
            self._settle()
        self._vertices[row] = points
        if at_rest:
            self._vertices_t0 = (*self._vertices_t0[:row], points, *self._vertices_t0[row + 1 :])
        self._vertices_seen = None
        self.write("deformed", row, True)

    def frame(self, ignored: NDArray[np.int64], time: float, dt: float, workers: int | None) -> Frame:
        """Return a snapshot; the same one as long as nothing is written."""
        if self._new:
            self._settle()
        last = self._frame
        if last is not None and last.time == time and last.dt == dt and last.ignored is ignored and last.workers == workers:
            return last
        for name in self._unsealed:
            self._columns[name].flags.writeable = False
        self._unsealed.clear()
        if self._vertices_seen is None:
            self._vertices_seen = tuple(self._vertices)
        if self._filters_nothing is None:
            self._filters_nothing = self._no_filter_is_set()
        self._frame = Frame.of(
            self._columns,
            bodies=self._bodies,
            vertices=self._vertices_seen,
            vertices_t0=self._vertices_t0,
            ignored=ignored,
            time=time,
            dt=dt,
            unfiltered=self._filters_nothing and len(ignored) == 0,
            workers=workers,
            _world_vertices={},
        )
        return self._frame

    def _no_filter_is_set(self) -> bool:
        """Whether the filter columns let every pair pass: at most one static body, no groups, category and mask untouched."""
        columns = self._columns
        return bool(
            columns["static"].sum() <= 1
            and (columns["group"] < 0).all()
            and (columns["category"] == 1).all()
            and (columns["mask"] & 1).all()
        )

    def begin_next_step(self, frame: Frame) -> None:
        """A detect succeeded: the frame it saw is where the next motion starts."""
        self._columns["poses_t0"] = frame.poses
        self._vertices_t0 = frame.vertices
        self._columns["moved"] = self._columns["deformed"] = self._nowhere
        self._unsealed.difference_update(("poses_t0", "moved", "deformed"))
        self._frame = None

    def _settle(self) -> None:
        """Move waiting bodies into the columns."""
        if not self._new:
            return
        new, self._new = self._new, []
        poses = np.stack([body.pose for body in new])
        added: dict[str, Any] = {
            "poses": poses,
            "poses_t0": poses,
            "moved": [True] * len(new),
            "deformed": [body.deformable for body in new],
            "static": [body.static for body in new],
            "group": [body.group for body in new],
            "category": [body.category for body in new],
            "mask": [body.mask for body in new],
        }
        for name, values in added.items():
            self._columns[name] = np.concatenate([self._columns[name], np.asarray(values, _DTYPES[name])])
        vertices = tuple(body.mesh.vertices for body in new)
        self._vertices += vertices
        self._vertices_t0 += vertices
        old = self._bodies
        self._take(
            Bodies(
                np.concatenate([old.ids, np.array([body.id for body in new], np.int32)]),
                old.names + tuple(body.name for body in new),
                old.meshes + tuple(body.mesh for body in new),
                np.concatenate([old.deformable, np.array([body.deformable for body in new], bool)]),
            )
        )


def _without(entries: tuple[Any, ...], row: int) -> tuple[Any, ...]:
    return entries[:row] + entries[row + 1 :]


def _sealed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array

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
        self._bodies = Bodies(np.empty(0, np.int32), (), (), np.empty(0, bool))
        self._columns: dict[str, NDArray[Any]] = {
            name: np.empty((0, 4, 4) if name.startswith("poses") else 0, dtype) for name, dtype in _DTYPES.items()
        }
        self._vertices: list[Floats] = []
        self._vertices_t0: list[Floats] = []
        self._frame: Frame | None = None
        self._filters_nothing: bool | None = None  # of the filter columns as they are; None when they have changed

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
        del self._vertices[row], self._vertices_t0[row]
        kept = rest.tolist()
        self._bodies = Bodies(
            bodies.ids[rest],
            tuple(bodies.names[k] for k in kept),
            tuple(bodies.meshes[k] for k in kept),
            bodies.deformable[rest],
        )
        self.row_of_id = {int(n): k for k, n in enumerate(self._bodies.ids)}
        self._frame = None
        self._filters_nothing = None

    def row(self, number: int) -> int:
        """Return the row of a body id."""
        try:
            return self.row_of_id[number]
        except KeyError:
            raise InputError(f"body {number} is not in this world (any more)") from None

    @property
    def bodies(self) -> Bodies:
        """The bodies in order."""
        self._settle()
        return self._bodies

    def column(self, name: str) -> NDArray[Any]:
        """Return a read-only view of a column."""
        self._settle()
        view = self._columns[name].view()
        view.flags.writeable = False
        return view

    def vertices(self, row: int) -> Floats:
        """Return the (read-only) body coordinates of one body."""
        self._settle()
        return self._vertices[row]

    def write(self, name: str, rows: Any, value: Any) -> None:
        """Write into a column, copying it first if a frame has seen it."""
        self._settle()
        column = self._columns[name]
        if not column.flags.writeable:
            column = self._columns[name] = column.copy()
        column[rows] = value
        self._frame = None
        if name in _FILTERS:
            self._filters_nothing = None

    def write_vertices(self, row: int, points: Floats) -> None:
        """Replace the vertices of one body by a sealed array."""
        self._settle()
        self._vertices[row] = points
        self.write("deformed", row, True)

    def frame(self, ignored: NDArray[np.int64], time: float, dt: float, workers: int | None) -> Frame:
        """Return a snapshot; the same one as long as nothing is written."""
        self._settle()
        last = self._frame
        if last is not None and last.time == time and last.dt == dt and last.ignored is ignored and last.workers == workers:
            return last
        for column in self._columns.values():
            column.flags.writeable = False
        if self._filters_nothing is None:
            self._filters_nothing = self._no_filter_is_set()
        self._frame = Frame(
            bodies=self._bodies,
            vertices=tuple(self._vertices),
            vertices_t0=tuple(self._vertices_t0),
            ignored=ignored,
            time=time,
            dt=dt,
            unfiltered=self._filters_nothing and len(ignored) == 0,
            workers=workers,
            **self._columns,  # type: ignore[arg-type]
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
        self._vertices_t0 = list(frame.vertices)
        for name in ("moved", "deformed"):
            self._columns[name] = np.zeros(len(self), bool)
        self._frame = None

    def _settle(self) -> None:
        """Move waiting bodies into the columns."""
        if not self._new:
            return
        new, self._new = self._new, []
        self._filters_nothing = None
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
        self._vertices += [body.mesh.vertices for body in new]
        self._vertices_t0 += [body.mesh.vertices for body in new]
        old = self._bodies
        self._bodies = Bodies(
            np.concatenate([old.ids, np.array([body.id for body in new], np.int32)]),
            old.names + tuple(body.name for body in new),
            old.meshes + tuple(body.mesh for body in new),
            np.concatenate([old.deformable, np.array([body.deformable for body in new], bool)]),
        )

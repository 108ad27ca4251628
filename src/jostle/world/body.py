"""Body: a light handle on one row of a world's table."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle.errors import InputError
from jostle.shapes.mesh import Mesh
from jostle.tables import counted, html_table
from jostle.world.body_table import BodyTable
from jostle.world.checks import checked_group, checked_pose, checked_vertices

if TYPE_CHECKING:
    from jostle.world.world import World

MOST_SHOWN = 6  # bodies in the repr of a list


class BodyList(Sequence["Body"]):
    """The bodies of a world at one time, in the order of their ids.

    Handles are made on access.
    """

    __slots__ = ("_count", "_ids", "_next_id", "_world")

    def __init__(self, world: World, table: BodyTable) -> None:
        self._world = world
        self._ids, self._next_id = table.bodies.ids, table.next_id  # ids of pending bodies continue from there without gaps
        self._count = len(self._ids) + len(table.new)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: SupportsIndex) -> Body: ...
    @overload
    def __getitem__(self, index: slice) -> list[Body]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Body | list[Body]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(self._count))]
        place = operator.index(index)
        if place < 0:
            place += self._count
        if not 0 <= place < self._count:
            raise IndexError(f"body index {index} is out of range; the list has {self._count} bodies")
        settled = len(self._ids)
        return Body(self._world, self._ids.item(place) if place < settled else self._next_id + place - settled)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (BodyList, list, tuple)) and len(other) == len(self) and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: list[Body] | BodyList) -> list[Body]:
        return [*self, *other]

    def __radd__(self, other: list[Body]) -> list[Body]:
        return [*other, *self]

    def __repr__(self) -> str:
        shown = [repr(body) for body in self[:MOST_SHOWN]]
        return f"[{', '.join(shown + (['…'] if len(self) > MOST_SHOWN else []))}]"


class Body:
    """A mesh placed in a world: a light handle, returned by `World.add`.

    Examples
    --------
    >>> world = jostle.World()
    >>> ball = world.add("ball.stl", name="ball")
    >>> ball.pose = jostle.translation((0, 0, 2))
    >>> ball.pose[:3, 3]
    array([0., 0., 2.])
    >>> float(ball.world_vertices[:, 2].min())
    1.0
    """

    __slots__ = ("_id", "_world")

    def __init__(self, world: World, number: int) -> None:
        self._world = world
        self._id = number

    @property
    def id(self) -> int:
        """The body's id: stable, never reused in its world."""
        return self._id

    @property
    def name(self) -> str:
        """The body's name, unique in its world."""
        table = self._table
        return table.bodies.names[table.row(self._id)]

    @property
    def mesh(self) -> Mesh:
        """The mesh it was added with."""
        table = self._table
        return table.bodies.meshes[table.row(self._id)]

    @property
    def deformable(self) -> bool:
        """Whether `vertices` can be set."""
        table = self._table
        return bool(table.bodies.deformable[table.row(self._id)])

    @property
    def pose(self) -> NDArray[np.float64]:
        """(4,4) body to world, as a read-only view; assign a whole pose to change it."""
        pose: NDArray[np.float64] = self._value("poses")
        pose.flags.writeable = False
        return pose

    @pose.setter
    def pose(self, value: ArrayLike) -> None:
        world = self._world
        placed = checked_pose(value, self.name)
        with world._alone():
            world._table = world._settle().place(self._row, placed)

    def teleport(self, pose: ArrayLike | None = None, vertices: ArrayLike | None = None) -> None:
        """Set the pose, the vertices or both without a motion.

        `motion=True` sees the body at rest there.
        """
        placed = None if pose is None else cast.as_pose(pose, self._owner)
        points = None if vertices is None else self._checked_vertices(vertices)
        world = self._world
        with world._alone():
            world._table = world._settle().teleport(self._row, placed, points)

    @property
    def vertices(self) -> NDArray[np.float64]:
        """(n,3) body coordinates, a read-only view; assign a whole array to deform."""
        points: NDArray[np.float64] = self._value("vertices")
        return points

    @vertices.setter
    def vertices(self, value: ArrayLike) -> None:
        points, world = self._checked_vertices(value), self._world
        with world._alone():
            world._table = world._settle().deform(self._row, points)

    def _checked_vertices(self, value: ArrayLike) -> NDArray[np.float64]:
        if not self.deformable:
            raise InputError(f"{self._owner}: vertices of a rigid body cannot be set; add it with deformable=True")
        return checked_vertices(value, len(self.mesh.vertices), self.name)

    @property
    def world_vertices(self) -> NDArray[np.float64]:
        """(n,3) vertices in world coordinates, bit for bit those of every exact method."""
        world = self._world
        with world._reading():
            frame, row = world._held_frame(), self._row
        return frame.world_vertices(row)

    @property
    def static(self) -> bool:
        """Whether the body is static; static bodies are not tested against each other."""
        return bool(self._value("static"))

    @static.setter
    def static(self, value: bool) -> None:
        self._write("static", cast.as_flag(value, "static", self._owner))

    @property
    def group(self) -> int | None:
        """Group number or None; bodies of one group are not tested against each other."""
        number = int(self._value("group"))
        return None if number < 0 else number

    @group.setter
    def group(self, value: int | None) -> None:
        self._write("group", checked_group(value, self._owner))

    @property
    def category(self) -> int:
        """The body's categories, as 32 bits."""
        return int(self._value("category"))

    @category.setter
    def category(self, value: int) -> None:
        self._write("category", cast.as_bits(value, "category", self._owner))

    @property
    def mask(self) -> int:
        """The categories it is tested against, as 32 bits; both bodies must match."""
        return int(self._value("mask"))

    @mask.setter
    def mask(self, value: int) -> None:
        self._write("mask", cast.as_bits(value, "mask", self._owner))

    @property
    def _table(self) -> BodyTable:
        return self._world._settled()

    @property
    def _row(self) -> int:
        return self._world._table.row(self._id)

    @property
    def _owner(self) -> str:
        return f"body {self.name!r}"

    def _value(self, column: str) -> Any:
        table = self._table
        return getattr(table, column)[table.row(self._id)]

    def _write(self, column: str, value: Any) -> None:
        world = self._world
        with world._alone():
            world._table = world._settle().filter(column, self._row, value)

    def __repr__(self) -> str:
        table = self._world._table
        if not table.has(self._id):
            return f"<Body {self._id}: removed>"
        row = table.row(self._id)
        return f"<Body {self._id} {table.names()[row]!r}: {counted(len(table.meshes()[row].faces), 'face')}>"

    def _repr_html_(self) -> str:
        return html_table(repr(self), [self._described()] if self._world._table.has(self._id) else [])

    def _described(self) -> dict[str, Any]:
        """Return the body's row in an HTML table."""
        mesh = self.mesh
        return {
            "id": self._id,
            "name": self.name,
            "vertices": len(mesh.vertices),
            "faces": len(mesh.faces),
            "origin": self.pose[:3, 3].tolist(),
            "is": ", ".join(word for word in ("static", "deformable") if getattr(self, word)),
        }

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and other._world is self._world and other._id == self._id

    def __hash__(self) -> int:
        return hash((id(self._world), self._id))

    def __reduce__(self) -> tuple[Any, ...]:
        return Body, (self._world, self._id)

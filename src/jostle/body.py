"""Body: a light handle on one row of a world's table. Everything that is set goes through the checks of `world_checks.py` first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle.body_table import BodyTable
from jostle.errors import InputError
from jostle.shapes.mesh import Mesh
from jostle.world_checks import checked_bits, checked_group, checked_pose, checked_vertices

if TYPE_CHECKING:
    from jostle.world import World


class Body:
    """A mesh placed in a world: a light handle, made by `World.add`."""

    __slots__ = ("_id", "_world")

    def __init__(self, world: World, number: int) -> None:
        self._world = world
        self._id = number

    @property
    def id(self) -> int:
        """The body's number: stable, never reused in this world."""
        return self._id

    @property
    def name(self) -> str:
        """The body's name, unique in its world."""
        return self._table.bodies.names[self._row]

    @property
    def mesh(self) -> Mesh:
        """The mesh it was added with."""
        return self._table.bodies.meshes[self._row]

    @property
    def deformable(self) -> bool:
        """Whether its vertices may be set."""
        return bool(self._table.bodies.deformable[self._row])

    @property
    def pose(self) -> NDArray[np.float64]:
        """(4,4) body to world; a read-only view, set it as a whole."""
        pose: NDArray[np.float64] = self._world.poses[self._row]
        return pose

    @pose.setter
    def pose(self, value: ArrayLike) -> None:
        world = self._world
        placed = checked_pose(value, self.name)
        with world._alone():
            world._table = world._settled().place(self._row, placed)

    def teleport(self, pose: ArrayLike | None = None, vertices: ArrayLike | None = None) -> None:
        """Set the pose, the vertices or both without a motion: methods that look along the motion see the body at rest there."""
        placed = None if pose is None else cast.as_pose(pose, self._owner)
        points = None if vertices is None else self._checked_vertices(vertices)
        world = self._world
        with world._alone():
            world._table = world._settled().teleport(self._row, placed, points)

    @property
    def vertices(self) -> NDArray[np.float64]:
        """(n,3) in body coordinates; a read-only view, set it as a whole (deformable bodies only)."""
        return self._table.vertices[self._row]

    @vertices.setter
    def vertices(self, value: ArrayLike) -> None:
        points, world = self._checked_vertices(value), self._world
        with world._alone():
            world._table = world._settled().deform(self._row, points)

    def _checked_vertices(self, value: ArrayLike) -> NDArray[np.float64]:
        if not self.deformable:
            raise InputError(f"{self._owner}: vertices of a rigid body cannot be set; add it with deformable=True")
        return checked_vertices(value, len(self.mesh.vertices), self.name)

    @property
    def world_vertices(self) -> NDArray[np.float64]:
        """(n,3) vertices in world coordinates, as every exact method sees them."""
        return self._world._frame().world_vertices(self._row)

    @property
    def static(self) -> bool:
        """Static bodies are not tested against each other."""
        return bool(self._table.static[self._row])

    @static.setter
    def static(self, value: bool) -> None:
        self._write("static", cast.as_flag(value, "static", self._owner))

    @property
    def group(self) -> int | None:
        """Bodies of one group (a number, or None for no group) are not tested against each other."""
        number = int(self._table.group[self._row])
        return None if number < 0 else number

    @group.setter
    def group(self, value: int | None) -> None:
        self._write("group", checked_group(value, self._owner))

    @property
    def category(self) -> int:
        """32 bits that say what the body is."""
        return int(self._table.category[self._row])

    @category.setter
    def category(self, value: int) -> None:
        self._write("category", checked_bits(value, "category", self._owner))

    @property
    def mask(self) -> int:
        """32 bits of the categories that the body is tested against; both bodies of a pair must agree."""
        return int(self._table.mask[self._row])

    @mask.setter
    def mask(self, value: int) -> None:
        self._write("mask", checked_bits(value, "mask", self._owner))

    @property
    def _table(self) -> BodyTable:
        return self._world._settled()

    @property
    def _row(self) -> int:
        return self._table.row(self._id)

    @property
    def _owner(self) -> str:
        return f"body {self.name!r}"

    def _write(self, column: str, value: Any) -> None:
        world = self._world
        with world._alone():
            world._table = world._settled().filter(column, self._row, value)

    def __repr__(self) -> str:
        if not self._table.has(self._id):
            return f"<Body {self._id}: removed>"
        return f"<Body {self._id} {self.name!r}: {len(self.mesh.faces)} faces>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and other._world is self._world and other._id == self._id

    def __hash__(self) -> int:
        return hash((id(self._world), self._id))

    def __reduce__(self) -> tuple[Any, ...]:
        return Body, (self._world, self._id)

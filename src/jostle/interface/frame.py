"""Bodies and Frame: what a detector sees of a world.

`Bodies` holds meshes and names; it changes only when bodies are added or removed. `Frame` is one instant: poses and vertices now
and at the last successful `detect`, and the filters. Both are snapshots: a world never writes into a frame that it has handed out,
so that a report can compute its contact geometry later.

Vertices are a tuple of one array per body, not one flat array, so that bodies that share a mesh share its vertices too (100 bodies
of 70,000 faces would need 84 MB flat). A method that needs them flat packs its own shapes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats, Ints
from jostle.geometry.rigid import transform_points
from jostle.interface.body_pairs import pair_key
from jostle.kernels.arrays import read_only_view
from jostle.kernels.cached_property import cached_property
from jostle.shapes.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Bodies:
    """The bodies of a world in the order of their ids; body i is row i elsewhere.

    Examples
    --------
    >>> class Names(jostle.Plain):
    ...     def start(self, bodies, shapes):
    ...         print("starting with", ", ".join(bodies.names))
    ...         return super().start(bodies, shapes)
    >>> world = jostle.World(Names())
    >>> ball, wall = world.add("ball.stl", name="ball"), world.add("wall.obj", name="wall")
    >>> bool(world.detect())
    starting with ball, wall
    True
    """

    ids: Ints  # (n,) ascending, stable for the life of a body, never reused
    names: tuple[str, ...]
    meshes: tuple[Mesh, ...]
    deformable: Bools  # (n,)

    def __len__(self) -> int:
        return len(self.meshes)

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)  # a copy: a thread may compute a cached property while this is pickled

    @cached_property
    def numbers_are_ids(self) -> bool:
        """Whether no body was ever removed, so that each body's number is its id."""
        return len(self.ids) == 0 or int(self.ids[-1]) == len(self.ids) - 1

    @cached_property
    def deforming(self) -> list[int]:
        """The numbers of the deformable bodies."""
        found: list[int] = np.flatnonzero(self.deformable).tolist()
        return found

    @cached_property
    def bounds(self) -> Floats:
        """(n,2,3) bounds of each mesh, read-only; infinite for deformable bodies."""
        bounds = np.array([mesh.bounds for mesh in self.meshes]).reshape(-1, 2, 3)
        bounds[self.deformable] = [[-np.inf], [np.inf]]
        return read_only_view(bounds)

    @cached_property
    def name_of_id(self) -> dict[int, str]:
        """The name of each body id."""
        return dict(zip(self.ids.tolist(), self.names, strict=True))


@dataclass(frozen=True, eq=False)
class Frame:
    """One instant of a world. All arrays have one row per body and are read-only.

    Examples
    --------
    A detector gets one in `detect`: `frame.world_vertices(body)` are the vertices of body number `body` in the world. The
    detector of docs/adding_a_method.md uses it.
    """

    bodies: Bodies
    poses_t0: Floats  # (n,4,4) at the last successful detect
    poses: Floats  # (n,4,4) now
    vertices_t0: tuple[Floats, ...]  # body coordinates; the mesh's own array for a rigid body
    vertices: tuple[Floats, ...]
    moved: Bools  # pose was set since the last successful detect
    deformed: Bools  # vertices were set since the last successful detect
    static: Bools  # never tested against another static body
    group: Ints  # bodies of one group >= 0 are not tested against each other; -1 is no group
    category: NDArray[np.uint32]
    mask: NDArray[np.uint32]  # a pair is tested when each one's category meets the other's mask
    ignored: NDArray[np.int64]  # sorted keys of ignored pairs, see `pair_key`
    time: float = 0.0
    dt: float = 1.0
    unfiltered: bool = False  # known: no filter excludes any pair
    workers: int | None = 1  # threads that a method may use; None for one per processor
    _world_vertices: dict[int, Floats] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(**fields: Any) -> Frame:
        """Make a frame from all fields by name, 4 µs faster than the constructor."""
        frame = Frame.__new__(Frame)
        object.__setattr__(frame, "__dict__", fields)
        return frame

    @staticmethod
    def at_rest(bodies: Bodies, poses: Floats) -> Frame:
        """Return a frame without motion or filters; poses are (n,4,4)."""
        count, poses = len(bodies), read_only_view(poses)
        vertices = tuple(mesh.vertices for mesh in bodies.meshes)
        none, one = np.zeros(count, bool), np.ones(count, np.uint32)
        group, ignored = np.full(count, -1, np.int32), np.empty(0, np.int64)
        return Frame(bodies, poses, poses, vertices, vertices, none, none, none, group, one, one, ignored, unfiltered=True)

    def __len__(self) -> int:
        return len(self.bodies)

    def world_vertices(self, body: int) -> Floats:
        """Return the world vertices (v,3) of a body by `geometry/rigid.py`; cached."""
        found = self._world_vertices.get(body)
        if found is None:
            found = transform_points(self.poses[body], self.vertices[body])
            found.flags.writeable = False
            self._world_vertices[body] = found
        return found

    def may_meet(self, body_a: Ints, body_b: Ints) -> Bools:
        """Return for each pair (body_a < body_b) whether the filters allow it."""
        if self.unfiltered:
            return np.ones(len(body_a), bool)
        allowed = ~(self.static[body_a] & self.static[body_b])
        allowed &= (self.group[body_a] != self.group[body_b]) | (self.group[body_a] < 0)
        allowed &= (self.category[body_a] & self.mask[body_b]) != 0
        allowed &= (self.category[body_b] & self.mask[body_a]) != 0
        if len(self.ignored):
            allowed &= ~np.isin(pair_key(body_a, body_b), self.ignored)
        return allowed

"""World and Body: what a user holds. No algorithm lives here.

A world keeps poses, vertices and filters of its bodies (`body_table.py`), hands a `Frame` to the detector of its method, and
turns body numbers into stable ids on the way out. Everything a user passes in goes through `cast` first, so a call that raises
has changed nothing.
"""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle.body_table import BodyTable, NewBody
from jostle.errors import BusyError, InputError, Unsupported
from jostle.frame import Frame
from jostle.geometry.rigid import all_rigid
from jostle.kernels.arrays import read_only_view
from jostle.overlay import Overlay
from jostle.protocol import Detector, Method, Progress, Shape
from jostle.query import Query
from jostle.registry import method_of, name_of
from jostle.report import Batch, Closest, Contacts, Pairs, Report, pair_key
from jostle.shapes.coerce import MeshLike, mesh_of
from jostle.shapes.mesh import UNITS, Mesh
from jostle.traits import Answer, Serve

ALL_BITS = 0xFFFFFFFF

T = TypeVar("T", Pairs, Contacts)


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
        pose: NDArray[np.float64] = self._table.column("poses")[self._row]
        return pose

    @pose.setter
    def pose(self, value: ArrayLike) -> None:
        self._write({"poses": _checked_poses(value, None, self)[0], "moved": True})

    def teleport(self, pose: ArrayLike) -> None:
        """Set the pose without a motion: methods that look along the motion see the body at rest there."""
        placed = cast.as_pose(pose, self._owner)
        self._write({"poses": placed, "poses_t0": placed, "moved": True})

    @property
    def vertices(self) -> NDArray[np.float64]:
        """(n,3) in body coordinates; a read-only view, set it as a whole (deformable bodies only)."""
        return self._table.vertices(self._row)

    @vertices.setter
    def vertices(self, value: ArrayLike) -> None:
        if not self.deformable:
            raise InputError(f"{self._owner}: vertices of a rigid body cannot be set; add it with deformable=True")
        points = cast.as_points(value, self._owner, count=len(self.mesh.vertices))
        with self._world._alone():
            self._table.write_vertices(self._row, points)

    @property
    def world_vertices(self) -> NDArray[np.float64]:
        """(n,3) vertices in world coordinates, as every exact method sees them."""
        return self._world._frame().world_vertices(self._row)

    @property
    def static(self) -> bool:
        """Static bodies are not tested against each other."""
        return bool(self._table.column("static")[self._row])

    @static.setter
    def static(self, value: bool) -> None:
        self._write({"static": cast.as_flag(value, "static", self._owner)})

    @property
    def group(self) -> int | None:
        """Bodies of one group (a number, or None for no group) are not tested against each other."""
        number = int(self._table.column("group")[self._row])
        return None if number < 0 else number

    @group.setter
    def group(self, value: int | None) -> None:
        self._write({"group": _group(value, self._owner)})

    @property
    def category(self) -> int:
        """32 bits that say what the body is."""
        return int(self._table.column("category")[self._row])

    @category.setter
    def category(self, value: int) -> None:
        self._write({"category": _bits(value, "category", self._owner)})

    @property
    def mask(self) -> int:
        """32 bits of the categories that the body is tested against; both bodies of a pair must agree."""
        return int(self._table.column("mask")[self._row])

    @mask.setter
    def mask(self, value: int) -> None:
        self._write({"mask": _bits(value, "mask", self._owner)})

    @property
    def _table(self) -> BodyTable:
        return self._world._table

    @property
    def _row(self) -> int:
        return self._table.row(self._id)

    @property
    def _owner(self) -> str:
        return f"body {self.name!r}"

    def _write(self, values: dict[str, Any]) -> None:
        with self._world._alone():
            for column, value in values.items():
                self._table.write(column, self._row, value)

    def __repr__(self) -> str:
        if self._id not in self._table.row_of_id:
            return f"<Body {self._id}: removed>"
        return f"<Body {self._id} {self.name!r}: {len(self.mesh.faces)} faces>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and other._world is self._world and other._id == self._id

    def __hash__(self) -> int:
        return hash((id(self._world), self._id))

    def __reduce__(self) -> tuple[Any, ...]:
        return Body, (self._world, self._id)


class World:
    """A set of bodies and the method that finds which of them touch.

    Parameters
    ----------
    method : str or Method, optional
        A name (`jostle methods` lists them) or an instance with settings. None takes the default engine.
    units : str, optional
        Units of all lengths; meshes that state other units are refused. Taken from the first mesh that states any.
    workers : int, optional
        Threads that `detect` may use for many pairs of bodies; None for one per processor. The report does not depend on it.

    A world belongs to one thread at a time; several worlds may run in several threads.
    """

    def __init__(self, method: str | Method | None = None, *, units: str | None = None, workers: int | None = 1) -> None:
        self.method = method_of(method)
        self._traits = self.method.traits
        self.units = None if units is None else cast.as_choice(units, UNITS, "units")
        self.workers = None if workers is None else cast.as_count(workers, "workers", lowest=1)
        self.time = 0.0  # seconds; grows by dt with every successful detect
        self.dt = 1.0  # seconds from one detect to the next, for methods that use velocities
        self._next_id = 0
        self._table = BodyTable()
        self._ignored: set[tuple[int, int]] = set()  # pairs of ids, lower first
        self._ignored_keys: NDArray[np.int64] | None = None  # the same as sorted keys of rows; None when out of date
        self._shapes: dict[str, Shape] = {}  # mesh digest -> prepared shape
        self._detector: Detector | None = None
        self._detector_ids = np.empty(0, np.int32)  # the bodies that the detector knows
        self._last_pairs = Pairs.empty()
        self._lock = threading.RLock()
        self._detecting = False

    def __repr__(self) -> str:
        faces = sum(len(mesh.faces) for mesh in self._table.bodies.meshes)
        return f"<World: {len(self)} bodies, {faces} faces, {self.method!r}>"

    # ------------------------------------------------------------------ bodies

    def add(
        self,
        mesh: MeshLike,
        pose: ArrayLike | None = None,
        name: str | None = None,
        *,
        deformable: bool = False,
        static: bool = False,
        group: int | None = None,
        category: int = 1,
        mask: int = ALL_BITS,
    ) -> Body:
        """Add a body and return its handle.

        Parameters
        ----------
        mesh : jostle.Mesh, trimesh.Trimesh, (vertices, faces) or a path
        pose : (4,4), optional
            Body to world; the identity by default.
        name : str, optional
            Unique in the world; made from the mesh's name by default.
        deformable : bool
            Whether `body.vertices` may be set.
        static, group, category, mask
            Filters, see `Body`.
        """
        made = mesh_of(mesh, name)
        if name is None:
            name = made.name if made.name not in self._table.id_of_name else f"{made.name} {self._next_id}"
        if name in self._table.id_of_name:
            raise InputError(f"a body called {name!r} is in the world already; choose another name")
        owner = f"body {name!r}"
        if made.units is not None and self.units is not None and made.units != self.units:
            raise InputError(f"{owner}: the mesh is in {made.units}, this world in {self.units}; scale one of them (Mesh.scaled)")
        body = NewBody(
            id=self._next_id,
            name=name,
            mesh=made,
            deformable=cast.as_flag(deformable, "deformable", owner),
            pose=cast.as_pose(pose, owner),
            static=cast.as_flag(static, "static", owner),
            group=_group(group, owner),
            category=_bits(category, "category", owner),
            mask=_bits(mask, "mask", owner),
        )
        self._traits.check_body(name_of(self.method), name, made, body.deformable)
        with self._alone():
            self._table.add(body)
            self._next_id += 1
            if made.units is not None:
                self.units = made.units
        return Body(self, body.id)

    def remove(self, body: Body | int | str) -> None:
        """Take a body out of the world. Its id is never used again."""
        number = self[body].id
        with self._alone():
            self._table.remove(number)
            self._ignored = {pair for pair in self._ignored if number not in pair}
            self._ignored_keys = None

    @property
    def bodies(self) -> list[Body]:
        """All bodies in the order of their ids: the order of `poses` and `set_poses`."""
        return list(self)

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Body]:
        return (Body(self, number) for number in self._table.row_of_id)

    def __contains__(self, body: object) -> bool:
        if isinstance(body, Body):
            return body._world is self and body.id in self._table.row_of_id
        return body in self._table.id_of_name or body in self._table.row_of_id

    def __getitem__(self, body: Body | int | str) -> Body:
        """Return a body by its name, its id, or itself."""
        if isinstance(body, Body):
            if body._world is not self:
                raise InputError(f"{body!r} belongs to another world")
            self._table.row(body.id)
            return body
        if isinstance(body, str):
            if body not in self._table.id_of_name:
                known = ", ".join(repr(name) for name in list(self._table.id_of_name)[:10])
                raise InputError(f"no body is called {body!r}; the world has {known or 'no bodies'}")
            return Body(self, self._table.id_of_name[body])
        self._table.row(cast.as_count(body, "body"))
        return Body(self, int(body))

    def ignore(self, a: Body | int | str, b: Body | int | str, ignored: bool = True) -> None:
        """Never test this pair of bodies (or, with `ignored=False`, test it again)."""
        low, high = sorted((self[a].id, self[b].id))
        if low == high:
            raise InputError(f"body {self[a].name!r} cannot be ignored against itself; ask for itself=False instead")
        with self._alone():
            (self._ignored.add if ignored else self._ignored.discard)((low, high))
            self._ignored_keys = None

    # ------------------------------------------------------------------ motion

    @property
    def poses(self) -> NDArray[np.float64]:
        """(n,4,4) poses of all bodies, a read-only view."""
        return self._table.column("poses")

    def set_poses(self, poses: ArrayLike, bodies: Sequence[Body | int | str] | None = None) -> None:
        """Set the poses (n,4,4) of all bodies in order, or of the named ones, in one call."""
        if bodies is None:
            names: Sequence[str] = self._table.bodies.names
            rows: Any = slice(None)
            count = len(self)
        else:
            chosen = [self[body] for body in bodies]
            names, rows, count = [body.name for body in chosen], [body._row for body in chosen], len(chosen)
        placed = _checked_poses(poses, count, _Owners(names))
        with self._alone():
            self._table.write("poses", rows, placed)
            self._table.write("moved", rows, True)

    # ------------------------------------------------------------------ questions

    def detect(self, query: Query | None = None, /, **wishes: Any) -> Report:
        """Find which faces touch now. Keyword arguments are those of `Query`; or pass a `Query`.

        A detect that raises changes nothing: the motion that methods look along still starts at the last success.
        """
        query = _query(query, wishes)
        self._traits.check_query(name_of(self.method), query)
        with self._alone(detecting=True):
            frame = self._frame()
            found = self._ready_detector().detect(frame, query)
            report = self._with_ids(found)
            self._table.begin_next_step(frame)
            self._last_pairs = report.pairs
            self.time += self.dt
        return report

    def in_collision(self) -> bool:
        """Return whether any two bodies touch; the search ends at the first that do. It does not count as a step."""
        query = Query(rows="any")
        with self._alone(detecting=True):
            return bool(self._ready_detector().detect(self._frame(), query).pairs)

    def detect_many(self, poses: ArrayLike, rows: str = "any", workers: int | None = None) -> Batch:
        """Answer for many sets of poses in one call. It consumes no motion and moves no body.

        Parameters
        ----------
        poses : (n, bodies, 4, 4)
            Sets of poses, each for all bodies in order.
        rows : {"any", "pairs", "faces"}
            Per set yes or no; also the touching pairs of bodies; or also all face pairs.
        workers : int, optional
            Threads; by default one per processor. The answer does not depend on it.
        """
        if Serve.BATCH not in self._traits.serves:
            raise Unsupported(f"{name_of(self.method)} does not serve batches (trait serves: no batch); choose another method")
        cast.as_choice(rows, ("any", "pairs", "faces"), "rows")
        workers = None if workers is None else cast.as_count(workers, "workers", lowest=1)
        sets = cast.as_pose_sets(poses, len(self), _Owners(self._table.bodies.names))
        with self._alone(detecting=True):
            frame = dataclasses.replace(self._frame(), workers=workers)
            batch = self._ready_detector().detect_many(frame, sets, rows)
            return batch.with_ids(self._table.bodies.ids)

    def distance(self, a: Body | int | str, b: Body | int | str) -> Closest:
        """Return the distance of two bodies with closest points (world) and faces. It does not count as a step."""
        if Answer.DISTANCE not in self._traits.answers:
            raise Unsupported(f"{name_of(self.method)} does not answer distance (trait answers); choose another method")
        first, second = self[a], self[b]
        if first == second:
            raise InputError(f"the distance of body {first.name!r} to itself was asked for; name two bodies")
        with self._alone(detecting=True):
            return self._ready_detector().closest(self._frame(), first._row, second._row)

    def overlay(self, what: str = "") -> Overlay:
        """Return what the method shows of itself for the present frame."""
        with self._alone(detecting=True):
            return self._ready_detector().overlay(self._frame(), what)

    def prepare(self, progress: Progress | None = None) -> None:
        """Preprocess the meshes of all bodies now instead of at the first question."""
        with self._alone(detecting=True):
            self._ready_detector(progress)

    # ------------------------------------------------------------------ keeping

    def save(self, path: str | PathLike[str]) -> None:
        """Write the world with its prepared shapes to one file."""
        from jostle.world_file import save_world

        save_world(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> World:
        """Read a world that `save` wrote; nothing is prepared again."""
        from jostle.world_file import load_world

        return load_world(path)

    @classmethod
    def from_scene(cls, path: str | PathLike[str], method: str | Method | None = None) -> World:
        """Make a world of a scene file (glTF, GLB): one body per node, with the nodes' names and poses."""
        from jostle.shapes.load import load_scene

        world = cls(method)
        for name, mesh, pose in load_scene(path):
            world.add(mesh, pose, name if name not in world else f"{name} {len(world)}")
        return world

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        del state["_lock"]
        # A detector may hold what does not pickle; the next detect starts a new one from the prepared shapes.
        state.update(_detector=None, _detector_ids=np.empty(0, np.int32), _detecting=False)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ inside

    @contextmanager
    def _alone(self, detecting: bool = False) -> Iterator[None]:
        """Hold the world for one call; a second thread is told so instead of waiting, because waiting would hide a mistake."""
        if not self._lock.acquire(blocking=False):
            raise BusyError("this world is in use by another thread; give each thread a world of its own")
        try:
            if self._detecting:
                raise BusyError("this world is detecting; a progress callback must not use it")
            self._detecting = detecting
            yield
        finally:
            if detecting:
                self._detecting = False
            self._lock.release()

    def _frame(self) -> Frame:
        if self._ignored_keys is None:
            rows = [(self._table.row(low), self._table.row(high)) for low, high in sorted(self._ignored)]
            pairs = np.array(rows, np.int32).reshape(-1, 2)
            self._ignored_keys = np.sort(pair_key(pairs[:, 0], pairs[:, 1]))
        return self._table.frame(self._ignored_keys, self.time, self.dt, self.workers)

    def _ready_detector(self, progress: Progress | None = None) -> Detector:
        """Return the detector, started or told of bodies that came and went."""
        bodies = self._table.bodies
        if self._detector is not None and np.array_equal(bodies.ids, self._detector_ids):
            return self._detector
        shapes = self._prepared_shapes(bodies.meshes, progress)
        if self._detector is None:
            self._detector = self.method.start(bodies, shapes)
        else:
            new_rows = [self._table.row_of_id.get(int(number), -1) for number in self._detector_ids]
            self._detector.change(bodies, shapes, np.array(new_rows, np.int32))
        self._detector_ids = bodies.ids
        return self._detector

    def _prepared_shapes(self, meshes: Sequence[Mesh], progress: Progress | None) -> tuple[Shape, ...]:
        """Prepare each distinct mesh once; shapes of meshes that are gone are dropped."""
        digests = [mesh.digest for mesh in meshes]
        ready: dict[str, Shape] = {}
        for k, (digest, mesh) in enumerate(zip(digests, meshes, strict=True)):
            if digest in ready:
                continue
            if digest in self._shapes:
                ready[digest] = self._shapes[digest]
                continue
            if progress is not None:
                progress(k / len(meshes), mesh.name)
            ready[digest] = self.method.prepare_shape(mesh)
        self._shapes = ready
        return tuple(ready[digest] for digest in digests)

    def _with_ids(self, found: Report) -> Report:
        """Turn body numbers into ids, and say what began and ended."""
        bodies = self._table.bodies
        pairs, contacts = _renumbered(found.pairs, bodies.ids), _renumbered(found.contacts, bodies.ids)
        return dataclasses.replace(
            found,
            pairs=pairs,
            contacts=contacts,
            began=pairs.missing_from(self._last_pairs),
            ended=self._last_pairs.missing_from(pairs),
            names=bodies.name_of_id,
        )


class _Owners(Sequence[str]):
    """Names of bodies as messages call them, made only when one is needed (10,000 strings a frame would cost milliseconds)."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: Any) -> Any:
        return f"body {self._names[index]!r}"


def _renumbered(table: T, ids: NDArray[np.int32]) -> T:
    if len(ids) == 0 or ids[-1] == len(ids) - 1:  # no body was ever removed: numbers are ids
        return table
    return dataclasses.replace(table, body_a=ids[table.body_a], body_b=ids[table.body_b])


def _checked_poses(poses: ArrayLike, count: int | None, owner: Any) -> NDArray[np.float64]:
    """Return a copy of `count` rigid poses of the named owners, or of the one pose of a body as (1,4,4).

    Float64 arrays that are right pass a kernel (0.1 ms for 10,000, 1 µs for one); all else goes to `cast`.
    """
    if isinstance(poses, np.ndarray) and poses.dtype == np.float64 and poses.shape == ((4, 4) if count is None else (count, 4, 4)):
        copied = np.array(poses, order="C").reshape(-1, 4, 4)
        if all_rigid(read_only_view(copied), cast.RIGID_TOLERANCE, cast.LARGEST_COORDINATE):
            return copied
    return cast.as_pose(poses, owner._owner)[None] if count is None else cast.as_poses(poses, count, owner)


_ALL_FACES = Query()


def _query(query: Query | None, wishes: dict[str, Any]) -> Query:
    known = {field.name for field in dataclasses.fields(Query)}
    for name in wishes:
        if name not in known:
            raise InputError(f"detect does not know {name!r}; it takes {', '.join(sorted(known))}")
    if query is None:
        return Query(**wishes) if wishes else _ALL_FACES
    if not isinstance(query, Query):
        raise InputError(f"query is {query!r}; pass a jostle.Query or keyword arguments")
    return dataclasses.replace(query, **wishes) if wishes else query


def _group(value: int | None, owner: str) -> int:
    return -1 if value is None else cast.as_count(value, "group", highest=2**31 - 1, owner=owner)


def _bits(value: int, field: str, owner: str) -> int:
    return cast.as_count(value, field, highest=ALL_BITS, owner=owner)

"""World: a set of bodies and the method that detects their contacts.

It contains no algorithm: it keeps poses, vertices and filters of its bodies (`world/body_table.py`), passes a `Frame` to its
method's detector, and maps body numbers to stable ids in the result. User input goes through `cast` first, so a call that raises
changes nothing.

An interrupted call (Ctrl-C) changes nothing or everything: the table changes by one assignment, and an interrupted detector is
dropped; the next query starts another one from the prepared shapes.

Every write to the table, even of derived data (a frame, columns with pending bodies), holds the world's lock: a signal handler or
a thread in between would write to a table that is then replaced.
"""

from __future__ import annotations

import copy
import dataclasses
import gc
import itertools
import threading
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle._types import Floats
from jostle.errors import BusyError, InputError, JostleError, Unsupported
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, Method, Progress, Shape
from jostle.interface.overlay import Overlay
from jostle.interface.query import Budget, Default, Query, default
from jostle.interface.traits import Answer, Serve
from jostle.kernels.progress import shown_progress
from jostle.registry import method_of, name_of
from jostle.report.batch import Batch
from jostle.report.report import Closest, Report, replaced
from jostle.shapes.coerce import MeshLike, mesh_of
from jostle.shapes.limits import Limits
from jostle.shapes.mesh import UNITS, Mesh
from jostle.tables import counted
from jostle.world.body import Body, BodyList
from jostle.world.body_table import COLUMNS, BodyTable, NewBody
from jostle.world.checks import (
    ALL_FACES,
    ANY_PAIR,
    IDENTITY,
    checked_group,
    checked_pose,
    checked_pose_sets,
    checked_poses,
    checked_query,
    refuse_options,
)
from jostle.world.exclusive import ExclusiveUse
from jostle.world.shape_cache import PreparedShapes

if TYPE_CHECKING:
    from jostle.world.gears import Gears

__all__ = ["Body", "World"]


class World:
    """A set of bodies and the method that finds which of them touch.

    A world belongs to one thread at a time; several worlds may run in several threads. See also
    docs/conventions.md.

    Parameters
    ----------
    method : str or Method, optional
        A name, with settings if needed ("voxmap(accuracy=0.01)"; `jostle methods` lists the names), or an instance. By default
        wide_tree, with answers by plain as long as that costs less than loading or compiling its kernels. A named method is
        always used itself.
    units : str, optional
        Units of all lengths; meshes with other units are refused. By default those of the first mesh that has any.
    workers : int, optional
        Threads that `detect` may use for many body pairs; None for one per processor. The report does not depend on it.

    Examples
    --------
    >>> world = jostle.World()
    >>> ball = world.add("ball.stl", jostle.translation((0, 0, 0.9)), "ball")
    >>> wall = world.add("wall.obj", static=True, name="wall")
    >>> world.detect().pairs.names
    [('ball', 'wall')]
    >>> ball.pose = jostle.translation((0, 0, 3))
    >>> bool(world.detect())
    False
    """

    def __init__(self, method: str | Method | None = None, *, units: str | None = None, workers: int | None = 1) -> None:
        self.method = method_of(method)
        self._method_name = name_of(self.method)
        self._traits = self.method.traits
        self._accepted: Query | None = None  # the last one that passed the check of the traits
        self._gears = None if method is not None else _gears_of(self.method)
        self._engine = self._method_name if self._gears is None else self._gears.first
        self.workers = workers
        self._dt = 1.0
        self._table = BodyTable(units=None if units is None else cast.as_choice(units, UNITS, "units"))
        self._shapes = PreparedShapes()
        self._detector: Detector | None = None  # None while it is in use
        self._detector_bodies: Bodies | None = None  # the bodies that the detector knows
        self._exclusive = ExclusiveUse()

    def __repr__(self) -> str:
        meshes = self._table.meshes()
        faces = counted(sum(len(mesh.faces) for mesh in meshes), "face")
        return f"<World: {counted(len(meshes), 'body', 'bodies')}, {faces}, {self.method!r}>"

    def _repr_html_(self) -> str:
        from jostle.world.notebook import world_as_html

        return world_as_html(self)

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
        mask: int = cast.ALL_BITS,
    ) -> Body:
        """Add a body and return its handle.

        Parameters
        ----------
        mesh : jostle.Mesh, trimesh.Trimesh, (vertices, faces) or a path
        pose : (4,4), optional
            Body to world; the identity by default.
        name : str, optional
            Unique in the world; by default made from the mesh's name.
        deformable : bool
            Allow `body.vertices` to be set.
        static : bool
            Never test it against another static body.
        group : int, optional
            Bodies of one group are not tested against each other.
        category, mask : int
            Bits. A pair is tested when the category of each meets the mask of the other.
        """
        made = mesh_of(mesh, None if name is None else cast.as_text(name, "name"))
        roster = self._roster
        if name is None:
            name = self._free_name(made.name)
        if self._table.id_called(name) is not None:
            raise InputError(f"a body called {name!r} is in the world already; choose another name")
        owner = f"body {name!r}"
        self._check_units(made, owner)
        body = NewBody(
            id=roster[0],
            name=name,
            mesh=made,
            deformable=cast.as_flag(deformable, "deformable", owner),
            pose=IDENTITY if pose is None else checked_pose(pose, name),
            static=cast.as_flag(static, "static", owner),
            group=checked_group(group, owner),
            category=cast.as_bits(category, "category", owner),
            mask=cast.as_bits(mask, "mask", owner),
        )
        self._traits.check_body(self._method_name, name, made, body.deformable)
        with self._alone():
            self._check_roster(roster)
            self._check_units(made, owner)  # again: another thread may have set them
            if made.units is None or made.units == self.units:
                self._table.add(body)
            else:
                self._table = replaced(self._settle(), new={name: body}, units=made.units)
        return Body(self, body.id)

    def _check_units(self, mesh: Mesh, owner: str) -> None:
        units = self.units
        if mesh.units is not None and units is not None and mesh.units != units:
            raise InputError(f"{owner}: the mesh is in {mesh.units}, this world in {units}; scale one of them (Mesh.scaled)")

    def _free_name(self, name: str) -> str:
        """Return a unique name: this one, or with the next free number appended."""
        if name not in self:
            return name
        return next(free for number in itertools.count(self._next_id) if (free := f"{name} {number}") not in self)

    def remove(self, body: Body | int | str) -> None:
        """Remove a body from the world. Its id is never reused."""
        number = self[body].id
        with self._alone():
            self._table = self._settle().without(number)

    @property
    def bodies(self) -> BodyList:
        """The present bodies in the order of their ids, as in `poses` and `set_poses`."""
        return BodyList(self, self._table)

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Body]:
        return (Body(self, number) for number in self._table.ids())

    def __contains__(self, body: object) -> bool:
        if isinstance(body, Body):
            return body._world is self and self._table.has(body.id)
        if isinstance(body, str):
            return self._table.id_called(body) is not None
        try:
            return self._table.has(cast.as_count(body, "body"))  # type: ignore[arg-type]
        except InputError:
            return False

    def __getitem__(self, body: Body | int | str) -> Body:
        """Return a body by name, id or handle."""
        if isinstance(body, Body):
            if body._world is not self:
                raise InputError(f"{body!r} belongs to another world")
            self._table.row(body.id)
            return body
        if isinstance(body, str):
            number = self._table.id_called(body)
            if number is None:
                known = ", ".join(repr(name) for name in self._table.names()[:10])
                raise InputError(f"no body is called {body!r}; the world has {known or 'no bodies'}")
            return Body(self, number)
        number = cast.as_count(body, "body", highest=cast.LARGEST_ID)
        self._table.row(number)
        return Body(self, number)

    def ignore(self, a: Body | int | str, b: Body | int | str, ignored: bool = True) -> None:
        """Exclude a body pair from tests; with `ignored=False` include it again."""
        low, high = sorted((self[a].id, self[b].id))
        if low == high:
            raise InputError(f"body {self[a].name!r} cannot be ignored against itself; ask for self_collision=False instead")
        ignored = cast.as_flag(ignored, "ignored")
        with self._alone():
            for number in (low, high):  # a pair with a body removed meanwhile would stay forever
                self._table.row(number)
            self._table.ignore((low, high), ignored)

    # ------------------------------------------------------------------ settings

    @property
    def units(self) -> str | None:
        """Units of all lengths; None until a mesh states some."""
        return self._table.units

    @units.setter
    def units(self, value: str | None) -> None:
        units = None if value is None else cast.as_choice(value, UNITS, "units")
        with self._alone():
            self._table = replaced(self._table, units=units)

    @property
    def time(self) -> float:
        """Time in seconds; grows by `dt` with every successful detect."""
        return self._table.time

    @time.setter
    def time(self, value: float) -> None:
        number = cast.as_number(value, "time")
        if not np.isfinite(number):
            raise InputError(f"time is {number}; it must be finite")
        with self._alone():
            self._table = replaced(self._table, time=number, _frame=None)

    @property
    def dt(self) -> float:
        """Seconds from one detect to the next, for methods that use velocities."""
        return self._dt

    @dt.setter
    def dt(self, value: float) -> None:
        self._dt = cast.as_seconds(value, "dt")

    @property
    def engine(self) -> str:
        """The name of the method that answered last; before that, of the first one to try.

        A world without a named method has two gears: plain at first, without a compiler, and wide_tree as soon as its kernels are
        worth loading or compiling. Both give the same answers (docs/conventions.md).
        """
        return self._engine

    @property
    def workers(self) -> int | None:
        """Threads that `detect` may use; None for one per processor."""
        return self._workers

    @workers.setter
    def workers(self, value: int | None) -> None:
        self._workers = None if value is None else cast.as_count(value, "workers", lowest=1)

    # ------------------------------------------------------------------ motion

    @property
    def poses(self) -> Floats:
        """(n,4,4) poses of all bodies, as a read-only view."""
        poses = self._settled().poses.view()
        poses.flags.writeable = False
        return poses

    def set_poses(self, poses: ArrayLike, bodies: Sequence[Body | int | str] | None = None) -> None:
        """Set the poses (n,4,4) of all bodies, or of those given, in one call."""
        if bodies is None:
            roster = self._roster
            placed = checked_poses(poses, len(self), self._settled().bodies.names)
            with self._alone():
                self._check_roster(roster)
                self._table = self._settle().change(placed)
            return
        chosen = [self[body] for body in cast.as_list(bodies, "bodies")]
        placed = checked_poses(poses, len(chosen), [body.name for body in chosen])
        with self._alone():
            self._table = self._settle().place([body._row for body in chosen], placed)

    def _set_static(self, static: NDArray[np.bool_]) -> None:
        """Set the static flags (n,) of all bodies, as one change."""
        column = np.array(static)
        with self._alone():
            self._check_roster((self._next_id, len(column)))
            self._table = replaced(self._settle(), static=column, _frame=None, _unsealed=COLUMNS, _filters_nothing=None)

    def _set_all(self, poses: ArrayLike | None, vertices: Mapping[Body, ArrayLike]) -> None:
        """Set all poses (n,4,4), unless None, and some bodies' vertices, as one change."""
        roster = self._roster
        placed = None if poses is None else checked_poses(poses, len(self), self._settled().bodies.names)
        points = {body: body._checked_vertices(value) for body, value in vertices.items()}
        with self._alone():
            self._check_roster(roster)
            self._table = self._settle().change(placed, {body._row: value for body, value in points.items()})

    # ------------------------------------------------------------------ queries

    def detect(
        self,
        query: Query | None = None,
        /,
        *,
        rows: str = default("faces"),
        clearance: float = default(0.0),
        solid: bool = default(False),
        self_collision: bool = default(False),
        itself: bool = default(False),
        adjacent: bool = default(False),
        motion: bool = default(False),
        all_contacts: bool = default(False),
        separation: float = default(0.0),
        budget: Budget | None = default(None),
        **unknown: Never,
    ) -> Report:
        """Find which faces touch now or, with `motion=True`, since the last detect.

        A detect that raises changes nothing: the next motion still starts at the last successful detect.

        Parameters
        ----------
        query : Query, optional
            All options in one object; options given by name override it.
        rows : {"faces", "first", "pairs", "any"}
            All touching face pairs; one row per body pair (with `clearance` the nearest); body pairs without rows; or at most
            one body pair (with `motion` the one that meets first).
        clearance : float
            Also report face pairs closer than this distance. It adds rows and never removes any.
        solid : bool
            Treat closed bodies as solids: also report bodies wholly inside another, and give pairs whose interiors meet although
            no face crosses another, such as duplicates, the kind OVERLAPPING.
        self_collision, itself : bool
            Two names of one option: also test every body against itself. Faces that share a welded vertex are left out.
        adjacent : bool
            With `self_collision`: also report faces that share a welded vertex, if they touch beyond what they share.
        motion : bool
            Test the motion since the last successful `detect`, not only its end.
        all_contacts : bool
            With `motion`: report every face pair that meets within the step, each at its first time, not only the first of each
            body pair.
        separation : float
            With `motion`: the distance at which two faces count as in contact. Bodies that start within it are free as long as they
            come no closer.
        budget : Budget, optional
            Limit on the method's time or work; `report.complete` says whether it sufficed.

        Returns
        -------
        Report

        Raises
        ------
        InputError
            An option is unknown or has an invalid value, as in every call of jostle.
        Unsupported
            The world's method does not support an option (`jostle methods` lists what each supports).
        """
        if not (  # one chain: a loop over the ten takes 0.4 µs longer
            rows.__class__ is clearance.__class__ is solid.__class__ is self_collision.__class__  # type: ignore[comparison-overlap]
            is itself.__class__ is adjacent.__class__ is motion.__class__ is all_contacts.__class__ is separation.__class__
            is budget.__class__ is Default and not unknown
        ):  # fmt: skip
            if unknown:
                refuse_options(World.detect, unknown)
            options = (rows, clearance, solid, self_collision, itself, adjacent, motion, all_contacts, separation, budget)
            query = checked_query(query, options)
        elif query.__class__ is not Query:
            query = ALL_FACES if query is None else checked_query(query, ())
        if query is not self._accepted:
            self._traits.check_query(self._method_name, query)
            self._accepted = query
        if query.budget is not None and query.budget.seconds is not None:
            return self._detect_without_collections(query)
        return self._detect(query)

    def _detect_without_collections(self, query: Query) -> Report:
        """Detect with Python's garbage collector paused, because a budget's clock runs.

        A collection takes between a fraction of a millisecond and a tenth of a second, depending on all objects of the program, and
        starts when enough new ones were made. (No context manager: its own exit object could trigger a collection.)
        """
        collects = gc.isenabled()
        try:
            gc.disable()  # inside the try: an interrupt right after it must enable it again
            return self._detect(query)
        finally:
            if collects:
                gc.enable()

    def _detect(self, query: Query) -> Report:
        with self._alone():
            frame, detector = self._held_frame(), self._taken_detector()
            report = self._with_ids(self._call_detector(detector, "detect", frame, query))
            self._table = self._table.after_step(frame, time=self.time + self.dt, last_pairs=report.pairs)
            self._detector = detector
        return report

    def safe_step(self, separation: float = 0.0, *, self_collision: bool | None = None, itself: bool | None = None) -> float:
        """Return the collision-free fraction 0 … 1 of the present step.

        The step is the motion since the last successful `detect`. This call moves no body and does not count as a step; `move_to`
        moves the bodies there.

        Parameters
        ----------
        separation : float
            The distance at which faces count as in contact. Bodies that start within it do not stop the step as long as they come
            no closer, so that they may slide along each other and move apart. With 0, bodies that touch at the start stop it at 0.
        self_collision, itself : bool, default False
            Two names of one option: also test deforming bodies against themselves.
        """
        query = Query(rows="any", motion=True, separation=separation, itself=itself, self_collision=self_collision)
        self._traits.check_query(self._method_name, query)
        found: Report = self._answer("detect", query)
        return float(min(1.0, found.pairs.time.min(initial=1.0)))

    def move_to(self, fraction: float) -> None:
        """Move all bodies back to a fraction 0 … 1 of the present step.

        0 is where the last successful `detect` saw them. Rigid bodies move along their screws, vertices of deforming ones along
        straight lines in the world. The fraction that `safe_step` returns is free of contact up to rounding; a separation leaves
        more room.
        """
        from jostle.continuous.moving_bodies import body_at, moving_bodies_of

        place = cast.as_number(fraction, "fraction")
        if not 0.0 <= place <= 1.0:
            raise InputError(f"fraction is {place}; it must lie between 0 and 1")
        with self._alone():
            frame = self._held_frame()
            moved = {row: body_at(frame, row, place) for row in moving_bodies_of(frame)}
            poses = frame.poses.copy()
            for row, (pose, _) in moved.items():
                poses[row] = pose
            vertices = {row: points for row, (_, points) in moved.items() if points is not None}
            self._table = replaced(self._settle().change(vertices=vertices), poses=poses)

    def in_collision(self) -> bool:
        """Return whether any two bodies touch, stopping at the first pair.

        Does not count as a step. Static bodies are not tested against each other: to ask about one body, mark the others
        static. Bodies are surfaces: one inside another touches nothing (`detect(rows="any", solid=True)` finds it).
        """
        found: Report = self._answer("detect", ANY_PAIR)
        return len(found.pairs) > 0

    def detect_many(
        self,
        poses: ArrayLike,
        rows: str = "any",
        workers: int | None = None,
        *,
        bodies: Body | int | str | Sequence[Body | int | str] | None = None,
        clearance: float = 0.0,
        solid: bool = False,
        distance: bool = False,
        **unknown: Never,
    ) -> Batch:
        """Answer for many sets of poses in one call.

        Moves no body and does not count as a step.

        Parameters
        ----------
        poses : (n, k, 4, 4)
            Sets of poses, for all bodies in order, for those that are not static, or for `bodies`; (n, 4, 4) for one body. The
            others stay where they are.
        rows : {"any", "pairs", "faces"}
            Per set: whether anything touches; also the touching body pairs; or also all face pairs.
        workers : int, optional
            Threads; by default one per processor. The answer does not depend on it.
        bodies : Body, int, str or a sequence of these, optional
            The bodies that the sets move, in the order of the poses.
        clearance : float
            `near` tells which sets have faces closer than this distance; pairs and rows that are near are listed too.
        solid : bool
            As in `detect`: a body inside another touches it.
        distance : bool
            Also compute the least distance of each set.

        Examples
        --------
        >>> world = jostle.World("wide_tree")
        >>> ball, wall = world.add("ball.stl", name="ball"), world.add("wall.obj", static=True, name="wall")
        >>> places = np.array([jostle.translation((0, 0, z)) for z in (0.5, 1.5, 2.5)])
        >>> found = world.detect_many(places, bodies="ball", clearance=0.7)
        >>> found.touching.tolist(), found.near.tolist()
        ([True, False, False], [True, True, False])
        """
        if unknown:
            refuse_options(World.detect_many, unknown)
        if Serve.BATCH not in self._traits.serves:
            raise Unsupported(f"{self._method_name} does not serve batches (trait serves: no batch); choose another method")
        cast.as_choice(rows, ("any", "pairs", "faces"), "rows")
        query = Query(rows=rows, clearance=clearance, solid=solid)
        self._traits.check_query(self._method_name, query)
        if cast.as_flag(distance, "distance") and Answer.DISTANCE not in self._traits.answers:
            raise Unsupported(f"{self._method_name} does not answer distance (trait answers); choose another method")
        workers = None if workers is None else cast.as_count(workers, "workers", lowest=1)
        roster = self._roster
        chosen = None if bodies is None else self._chosen_rows(bodies)
        known, static = self._settled().bodies, self._settled().static
        sets, moving = checked_pose_sets(poses, known.names, static, chosen)
        # Options that are not used are not passed: a detector of one's own need not know them.
        wanted = {"clearance": query.clearance, "solid": query.solid, "distance": distance}
        options: dict[str, Any] = {name: value for name, value in wanted.items() if value}
        if not np.array_equal(moving, np.arange(len(known))):
            options["moving"] = moving
        with self._alone():
            self._check_roster(roster)
            frame, detector = dataclasses.replace(self._held_frame(), workers=workers), self._taken_detector()
            batch: Batch = self._call_detector(detector, "detect_many", frame, sets, rows, **options)
            self._detector = detector
            return batch.with_ids(frame.bodies.ids)

    def _chosen_rows(self, bodies: Body | int | str | Sequence[Body | int | str]) -> list[int]:
        """Return the rows of some bodies, each named once."""
        one = isinstance(bodies, (Body, str, int, np.integer))
        names: list[Any] = [bodies] if one else cast.as_list(bodies, "bodies")  # type: ignore[arg-type]
        chosen = [self[name] for name in names]
        for k, body in enumerate(chosen):
            if body in chosen[:k]:
                raise InputError(f"bodies names {body.name!r} twice; name each body once")
        return [body._row for body in chosen]

    def distance(self, a: Body | int | str, b: Body | int | str) -> Closest:
        """Return the distance of the surfaces of two bodies, with closest points (world) and faces.

        Does not count as a step. The world keeps the prepared meshes, and begins at the faces that were closest in the
        last call. A body inside another is at a positive distance from its surface; `detect(solid=True)` tells inside from
        outside.
        """
        if Answer.DISTANCE not in self._traits.answers:
            raise Unsupported(f"{self._method_name} does not answer distance (trait answers); choose another method")
        first, second = self[a], self[b]
        if first == second:
            raise InputError(f"distance: a and b are both body {first.name!r}; name two bodies")
        with self._alone():
            closest: Closest = self._held_answer("closest", first._row, second._row)
        return closest

    def overlay(self, what: str = "") -> Overlay:
        """Return a drawing of the method's internals now; its README lists the names."""
        shown: Overlay = self._answer("overlay", cast.as_text(what, "what"))
        return shown

    def prepare(self, progress: Progress | bool | None = None) -> None:
        """Preprocess the meshes of all bodies now instead of at the first query.

        A world without a named method answers by NumPy first, which prepares nothing; `World("wide_tree")` prepares its trees.

        Parameters
        ----------
        progress : callable or bool, optional
            Called with a share 0 … 1 of the work and a text; one thread does the work then. True shows both in a line: on a
            terminal and in a notebook it is rewritten, elsewhere there is a new one every ten seconds.

        Examples
        --------
        >>> world = jostle.World("bounding_tree")
        >>> body = world.add(jostle.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]))
        >>> world.prepare(progress=True)
        """
        if progress is True:
            with shown_progress("preparing") as show:
                self.prepare(lambda share, what: show(share, what))
            return
        progress = None if progress is False else progress
        if progress is not None and not callable(progress):
            raise InputError(f"progress is {cast.shown(progress)}; pass True, or a function of a share and a text")
        with self._alone():
            self._ready_detector(progress)

    # ------------------------------------------------------------------ files

    def save(self, path: str | PathLike[str]) -> None:
        """Write the world to one file, with prepared shapes that take long to prepare."""
        from jostle.world.file import save_world

        save_world(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> World:
        """Read a world written by `save`, safe for untrusted files.

        Every array is checked. Shapes of voxmap and bounding_tree, which take long to prepare, are read; those of other methods are
        prepared again. The filled voxels are trusted: whoever can edit the file can change voxmap's answers.
        """
        from jostle.world.file import load_world

        return load_world(path)

    @classmethod
    def from_scene(cls, path: str | PathLike[str], method: str | Method | None = None, limits: Limits | None = None) -> World:
        """Make a world from a glTF or GLB file: a body per node, with its name and pose.

        `limits` are those of `jostle.load`.
        """
        from jostle.shapes.load import load_scene

        world = cls(method)
        for name, mesh, pose in load_scene(path, limits=limits):
            world.add(mesh, pose, world._free_name(name))
        return world

    def __getstate__(self) -> dict[str, Any]:
        # A detector may not pickle; the next detect starts a new one from the prepared shapes.
        # A copy has its own cache of prepared shapes, which another thread may change.
        with self._reading():
            own = {"_table": copy.copy(self._table), "_shapes": copy.copy(self._shapes)}
            return {**self.__dict__, "_detector": None, "_detector_bodies": None, **own}

    # ------------------------------------------------------------------ internals

    def _alone(self) -> threading.Lock:
        """Return the world's lock for one call, for a `with` statement."""
        return self._exclusive.free_lock()

    def _reading(self) -> threading.Lock:
        """Return the world's lock for a call that changes derived data only."""
        return self._exclusive.lock_to_read()

    @property
    def _roster(self) -> tuple[int, int]:
        """The next id and the number of bodies; changes when bodies are added or removed."""
        table = self._table
        return table.next_id + len(table.new), len(table)

    def _check_roster(self, roster: tuple[int, int]) -> None:
        """Raise if bodies were added or removed while values were checked.

        By another thread or a signal handler.
        """
        if roster != self._roster:
            raise BusyError("bodies were added or removed while the values of this call were checked; call it again")

    def _settled(self) -> BodyTable:
        """Return the table with all bodies in its columns, for reading."""
        table = self._table
        if table.new:
            with self._reading():
                table = self._settle()
        return table

    def _frame(self) -> Frame:
        """Return the present frame."""
        with self._reading():
            return self._held_frame()

    def _sealed_table(self) -> BodyTable:
        """Return the present table, sealed: later changes go to another table."""
        with self._reading():
            self._held_frame()
            return self._table

    def _settle(self) -> BodyTable:
        """Return the table with all bodies in its columns. The caller holds the lock."""
        table = self._table
        if table.new:
            table = self._table = table.settled()
        return table

    def _held_frame(self) -> Frame:
        """Return the present frame. The caller holds the lock."""
        return self._settle().frame(self.dt, self.workers)

    @property
    def _next_id(self) -> int:
        return self._roster[0]

    @_next_id.setter
    def _next_id(self, value: int) -> None:
        with self._alone():
            if value != self._next_id:
                self._table = replaced(self._settle(), next_id=value)

    @property
    def _ignored(self) -> set[tuple[int, int]]:
        return self._table.ignored

    def _begin_next_step(self) -> None:
        """Start the next motion where the bodies are now."""
        with self._alone():
            self._table = self._settle().after_step(self._held_frame())

    def _answer(self, name: str, *arguments: Any) -> Any:
        """Return the detector's answer to a query that does not count as a step."""
        with self._alone():
            return self._held_answer(name, *arguments)

    def _held_answer(self, name: str, *arguments: Any) -> Any:
        """Like `_answer`. The caller holds the lock."""
        frame, detector = self._held_frame(), self._taken_detector()
        answer = self._call_detector(detector, name, frame, *arguments)
        self._detector = detector
        return answer

    def _call_detector(self, detector: Detector, name: str, *arguments: Any, **options: Any) -> Any:
        """Call a method of the detector; keep it if it raises a `JostleError`."""
        try:
            answer = getattr(detector, name)(*arguments, **options)
        except JostleError:
            self._detector = detector
            raise
        self._engine = getattr(detector, "engine", self._method_name)
        return answer

    def _ready_detector(self, progress: Progress | None = None) -> Detector:
        """Return the detector, creating it or syncing it with added and removed bodies."""
        detector = self._detector = self._taken_detector(progress)
        return detector

    def _taken_detector(self, progress: Progress | None = None) -> Detector:
        """Return the synced detector and leave None in its place.

        So an interrupted one is never reused.
        """
        bodies, known = self._settle().bodies, self._detector_bodies
        detector, self._detector = self._detector, None
        if detector is not None and known is not None and (known is bodies or np.array_equal(known.ids, bodies.ids)):
            self._detector_bodies = bodies
            return detector
        shapes = self._prepared_shapes(bodies.meshes, progress)
        if detector is None or known is None:
            detector = (self._gears or self.method).start(bodies, shapes)
        else:
            row_of_id = self._table.row_of_id
            new_rows = [row_of_id.get(number, -1) for number in known.ids.tolist()]
            detector.change(bodies, shapes, np.array(new_rows, np.int32))
        self._detector_bodies = bodies
        return detector

    def _prepared_shapes(self, meshes: Sequence[Mesh], progress: Progress | None) -> tuple[Shape, ...]:
        """Prepare each distinct mesh once; drop shapes of removed meshes."""

        method = self._gears or self.method

        def prepare(done: int, count: int, mesh: Mesh) -> Shape:
            if progress is None:
                return method.prepare_shape(mesh)
            progress(done / count, mesh.name)
            return method.prepare_shape(mesh, lambda share, what: progress((done + share) / count, f"{mesh.name}, {what}"))

        in_threads = progress is None and getattr(method, "prepares_in_threads", False)
        return self._shapes.of(meshes, prepare, self.workers if in_threads else 1)

    def _with_ids(self, found: Report) -> Report:
        """Map body numbers to ids, and add which pairs began and ended."""
        bodies, last = self._table.bodies, self._table.last_pairs
        pairs, contacts, ids, names = found.pairs, found.contacts, bodies.ids, bodies.name_of_id
        object.__setattr__(found.counters, "engine", self._engine)
        if len(pairs.body_a):
            object.__setattr__(pairs, "_names", names)  # a report is new for every call
        if not bodies.numbers_are_ids:
            pairs = replaced(pairs, body_a=ids[pairs.body_a], body_b=ids[pairs.body_b])
            contacts = replaced(contacts, body_a=ids[contacts.body_a], body_b=ids[contacts.body_b])
        began, ended = pairs.changes_since(last)
        return replaced(found, pairs=pairs, contacts=contacts, began=began, ended=ended, names=names)


def _gears_of(method: Method) -> Gears:
    """Return the two gears of the default engine; imported here, since a named method needs none."""
    from jostle.world.gears import Gears

    return Gears(method)

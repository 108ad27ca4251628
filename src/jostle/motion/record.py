"""Recorded motions: the same frames of a world for every method.

A `Motion` holds for each frame the poses of all bodies and the vertices of deforming ones; a `Recorder` makes one from any loop
that moves a world. It is kept in one .npz file (`record_file.py`), whose content goes through the same checks as a caller's values.
A world is imported only where one is made: this module stands below it.

Baciu, Wong, Sun 1998 (§5) asked for this: the same initial conditions, geometry and motion paths for all algorithms.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.kernels.cached_property import cached_property
from jostle.motion.record_file import arrays_of, digest_of, read_fields, write_motion
from jostle.shapes.mesh import Mesh

if TYPE_CHECKING:
    from jostle.interface.method import Method
    from jostle.world.world import World


@dataclass(frozen=True, eq=False)
class Motion:
    """Frames of a world. Bodies are numbered from 0 in the order of `names`.

    Arrays are checked, copied and read-only.

    Parameters
    ----------
    names : tuple of str
        The bodies' names, all different.
    meshes : tuple of Mesh
        One per body; bodies may share one.
    poses : (frames, bodies, 4, 4) float64
        Body to world, rigid; at least one frame.
    vertices : mapping from body number to (frames, n, 3) float64
        The deforming bodies only, in body coordinates.
    dt : float
        Seconds from one frame to the next.
    static, group, category, mask : tuples
        Filters, one entry per body, see `Body`; () means the default for all.
    title : str
    ignored : tuple of (int, int)
        Body pairs that are never tested.
    """

    names: tuple[str, ...]
    meshes: tuple[Mesh, ...]
    poses: Floats
    vertices: Mapping[int, Floats] = field(default_factory=dict)
    dt: float = 1.0
    static: tuple[bool, ...] = ()
    group: tuple[int | None, ...] = ()
    title: str = ""
    category: tuple[int, ...] = ()
    mask: tuple[int, ...] = ()
    ignored: tuple[tuple[int, int], ...] = ()

    def __post_init__(self) -> None:
        names, meshes = _checked_names(cast.as_list(self.names, "names")), tuple(cast.as_list(self.meshes, "meshes"))
        bodies = len(names)
        if len(meshes) != bodies or not all(isinstance(mesh, Mesh) for mesh in meshes):
            raise InputError(f"meshes has {len(meshes)} entries for {bodies} names; pass one jostle.Mesh for each body")
        poses = cast.as_pose_sets(self.poses, bodies, lambda k: f"body {names[k]!r}")
        if len(poses) == 0:
            raise InputError("poses has no frames; a motion needs at least one")
        poses.flags.writeable = False
        checked: dict[str, Any] = {
            "names": names,
            "meshes": meshes,
            "poses": poses,
            "vertices": _checked_vertices(self.vertices, len(poses), names, meshes),
            "dt": cast.as_seconds(self.dt, "dt"),
            "static": self._each(bodies, "static", False, cast.as_flag),
            "group": self._each(bodies, "group", None, _checked_group),
            "title": cast.as_text(self.title, "title"),
            "category": self._each(bodies, "category", 1, cast.as_bits),
            "mask": self._each(bodies, "mask", cast.ALL_BITS, cast.as_bits),
            "ignored": _checked_pairs(self.ignored, bodies),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def _each(self, bodies: int, name: str, default: Any, check: Callable[[Any, str], Any]) -> tuple[Any, ...]:
        """Return a filter's checked entries, one per body; () means the default for all."""
        values = cast.as_list(getattr(self, name), name) or [default] * bodies
        if len(values) != bodies:
            raise InputError(f"{name} has {len(values)} entries for {bodies} bodies; pass one for each, or ()")
        return tuple(check(value, f"{name}[{k}]") for k, value in enumerate(values))

    def __len__(self) -> int:
        return len(self.poses)

    def __repr__(self) -> str:
        faces = sum(len(mesh.faces) for mesh in self.meshes)
        return f"<Motion {self.title!r}: {len(self)} frames, {len(self.names)} bodies, {faces} faces>"

    @cached_property
    def digest(self) -> str:
        """A hash of the bodies and frames, which is all that a method sees."""
        content = hashlib.blake2b(digest_size=16)
        for name, array in sorted(arrays_of(self).items()):
            content.update(f"{name} {digest_of(array)} ".encode())
        content.update(json.dumps([self.names, self.dt]).encode())
        surfaces = [mesh.analytic for mesh in self.meshes]
        if any(surface is not None for surface in surfaces):
            content.update(repr(surfaces).encode())
        return content.hexdigest()

    def world(self, method: str | Method | None = None, workers: int | None = 1) -> World:
        """Return a new world with all bodies at rest at frame 0, numbers as ids."""
        from jostle.world.world import World

        world = World(method, workers=workers)
        world.dt = self.dt
        for k, (name, mesh) in enumerate(zip(self.names, self.meshes, strict=True)):
            world.add(
                mesh,
                self.poses[0, k],
                name,
                deformable=k in self.vertices,
                static=self.static[k],
                group=self.group[k],
                category=self.category[k],
                mask=self.mask[k],
            )
        for low, high in self.ignored:
            world.ignore(low, high)
        if self.vertices:
            # Methods that use motion must not see one from the mesh as added to frame 0.
            self.apply(world, 0)
            world._begin_next_step()
            self.apply(world, 0)
        return world

    def apply(self, world: World, frame: int) -> None:
        """Set the poses and vertices of one frame (0 … len - 1) in a matching world."""
        _check_world(world)
        number = cast.as_count(frame, "frame", highest=len(self) - 1)
        if len(world) != len(self.names):
            raise InputError(f"this motion has {len(self.names)} bodies, the world {len(world)}; use a world of Motion.world")
        bodies = world.bodies
        deforming = {bodies[k]: vertices[number] for k, vertices in self.vertices.items()}
        for body, points in deforming.items():
            if not body.deformable or len(body.mesh.vertices) != len(points):
                raise InputError(
                    f"body {body.name!r} of the world is not deformable or does not have the {len(points)} vertices of the motion; "
                    "use a world of Motion.world"
                )
        world._set_all(self.poses[number], deforming)

    def first(self, frames: int) -> Motion:
        """Return the motion of the first frames only."""
        count = cast.as_count(frames, "frames", lowest=1)
        return replace(self, poses=self.poses[:count], vertices={k: array[:count] for k, array in self.vertices.items()})

    def save(self, path: str | PathLike[str]) -> None:
        """Write one .npz file, which appears only when it is complete."""
        write_motion(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Motion:
        """Read a motion written by `save`."""
        file = cast.as_path(path)
        try:
            return cls(**read_fields(file))
        except InputError as error:
            raise InputError(f"{file}: {error}") from None


class Recorder:
    """Makes a motion from a user's loop: `capture` after each step, then `motion`.

    The bodies of the world, their filters and `world.dt` must stay the same from the first capture on.
    """

    def __init__(self, world: World) -> None:
        _check_world(world)
        self._world = world
        self._first: Any = None  # frame
        # Poses and vertices by row; a world never writes to the arrays of a frame again, so nothing has to be copied.
        self._captured: list[tuple[Floats, dict[int, Floats]]] = []

    def __len__(self) -> int:
        return len(self._captured)

    def capture(self) -> None:
        """Add the present state of the world as the next frame."""
        frame = self._world._frame()
        if not self._captured or self._first is None:
            self._first = frame
        else:
            setting = _setting(frame)
            for name, before in _setting(self._first).items():
                if setting[name] is not before and not np.array_equal(setting[name], before):
                    raise InputError(f"{name} of the world changed after the first of {len(self)} captures; start another Recorder")
        self._captured.append((frame.poses, {row: frame.vertices[row] for row in frame.bodies.deforming}))

    def motion(self, title: str = "") -> Motion:
        """Return the motion captured so far."""
        first, captured = self._first, self._captured
        if first is None or not captured:
            raise InputError("nothing was captured; call capture() after each step")
        return Motion(
            names=first.bodies.names,
            meshes=first.bodies.meshes,
            poses=np.stack([poses for poses, _ in captured]),
            vertices={row: np.stack([vertices[row] for _, vertices in captured]) for row in first.bodies.deforming},
            dt=first.dt,
            static=tuple(first.static.tolist()),
            group=tuple(None if number < 0 else number for number in first.group.tolist()),
            title=title,
            category=tuple(first.category.tolist()),
            mask=tuple(first.mask.tolist()),
            ignored=tuple((key >> 32, key & 0xFFFFFFFF) for key in first.ignored.tolist()),
        )


def _setting(frame: Any) -> dict[str, Any]:
    """Return what must not change between captures, bodies first."""
    return {
        "bodies": frame.bodies.ids,
        **{name: getattr(frame, name) for name in ("dt", "static", "group", "category", "mask", "ignored")},
    }


def _check_world(world: World) -> None:
    from jostle.world.world import World

    if not isinstance(world, World):
        raise InputError(f"world is {cast.shown(world)}; pass a jostle.World")


def _checked_names(names: Sequence[str]) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    for k, name in enumerate(names):
        if not isinstance(name, str):
            raise InputError(f"names[{k}] is {name!r}; the name of a body is a string")
        if name in seen:
            raise InputError(f"names[{k}] is {name!r}, as is names[{seen[name]}]; names of bodies must be different")
        seen[name] = k
    return tuple(seen)


def _checked_vertices(vertices: Any, frames: int, names: tuple[str, ...], meshes: tuple[Mesh, ...]) -> dict[int, Floats]:
    if not isinstance(vertices, Mapping):
        raise InputError(f"vertices is {cast.shown(vertices)}; pass a dict from numbers of bodies to vertices")
    checked: dict[int, Floats] = {}
    for key in vertices:
        k = cast.as_count(key, "vertices: body number", highest=len(names) - 1)
        shape = (frames, len(meshes[k].vertices), 3)
        owner = f"body {names[k]!r}"
        given = cast.as_array(vertices[key], owner, "vertices")
        if given.shape != shape:
            raise InputError(f"{owner}: vertices has shape {given.shape}; it must be {shape}, (frames, n, 3)")
        checked[k] = cast.as_points(given.reshape(-1, 3), owner).reshape(shape)
    return dict(sorted(checked.items()))


def _checked_group(value: int | None, field: str) -> int | None:
    return None if value is None else cast.as_count(value, field, highest=cast.LARGEST_ID)


def _checked_pairs(pairs: Sequence[tuple[int, int]], bodies: int) -> tuple[tuple[int, int], ...]:
    checked = set()
    for k, listed in enumerate(cast.as_list(pairs, "ignored")):
        pair = cast.as_list(listed, f"ignored[{k}]")
        if len(pair) != 2:
            raise InputError(f"ignored[{k}] has {len(pair)} entries; a pair has two bodies")
        low, high = sorted(cast.as_count(number, f"ignored[{k}]", highest=bodies - 1) for number in pair)
        if low == high:
            raise InputError(f"ignored[{k}] names body {low} twice; a pair has two bodies")
        checked.add((low, high))
    return tuple(sorted(checked))

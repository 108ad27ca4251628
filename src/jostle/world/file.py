"""World files: one .npz of arrays (meshes, poses, filters, shapes) and JSON.

No pickle is read, so opening a file runs no code of its author, and sizes are checked before memory is taken (`array_file.py`).
Everything goes back through the checks of `World.add` and of the methods' settings; a defect is an `InputError` that names file and
field. Shapes are stored where preparing them takes far longer than reading and checking them (`STORED`). A stored shape that is
damaged, or belongs to another mesh or other settings, is prepared again: its digest shows that, and `stored.py` of its method
checks everything its kernels rely on, since anyone who edits a file can recompute digests.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle.array_file import ArrayFile, checked_field, checked_list
from jostle.atomic_file import write_arrays
from jostle.broad_phase import BROAD_PHASES
from jostle.errors import InputError, NoCompiler, Unsupported
from jostle.methods.bounding_tree import stored as stored_trees
from jostle.methods.voxmap import stored as stored_voxels
from jostle.registry import METHODS, method_of, name_of
from jostle.shapes.analytic import described, surface_described
from jostle.shapes.mesh import Mesh

if TYPE_CHECKING:
    from collections.abc import Callable

    from jostle.world.world import World

FORMAT = "jostle world 1"
_COLUMNS = {"ids": "i4", "deformable": "?", "static": "?", "group": "i4", "category": "u4", "mask": "u4"}
_POSES = ("poses", "poses_t0")
_OF_MESH = ("vertices", "faces", "source_face")


class Stored(NamedTuple):
    """How a method's shapes are stored.

    `fields_of` returns the arrays of a shape, `shape_of` the shape of a mesh from these arrays or an `InputError`.
    """

    fields_of: Callable[[Any], dict[str, NDArray[Any]]]
    shape_of: Callable[[Any, Mesh, dict[str, NDArray[Any]]], Any]
    names: tuple[str, ...]


STORED = {
    "bounding_tree": Stored(stored_trees.fields_of, stored_trees.tree_of, stored_trees.FIELDS),
    "voxmap": Stored(stored_voxels.fields_of, stored_voxels.shape_of, stored_voxels.FIELDS),
}


def save_world(world: World, path: str | PathLike[str]) -> None:
    """Write a world; the file appears only when it is complete."""
    target = cast.as_path(path, "path")
    method = name_of(world.method)
    if method not in METHODS:
        raise InputError(f"the world's method {world.method!r} is not in the registry; only registered methods can be saved")
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {target.parent} does not exist")
    world.prepare()
    frame = world._frame()
    bodies = frame.bodies
    arrays: dict[str, Any] = {name: getattr(frame, name) for name in (*_POSES, "static", "group", "category", "mask")}
    arrays["ids"], arrays["deformable"] = bodies.ids, bodies.deformable
    meshes = {_key_of(mesh): mesh for mesh in bodies.meshes}
    mesh_numbers = {key: k for k, key in enumerate(meshes)}
    digests: list[str | None] = []
    stored: set[str] = set()  # meshes of equal digests share their shape
    for k, mesh in enumerate(meshes.values()):
        arrays |= {f"mesh/{k}/{name}": getattr(mesh, name) for name in _OF_MESH}
        fields = STORED[method].fields_of(world._shapes[mesh.digest]) if method in STORED and mesh.digest not in stored else None
        stored.add(mesh.digest)
        digests.append(None if fields is None else _digest_of(world.method, mesh, fields))
        arrays |= {f"shape/{k}/{name}": value for name, value in (fields or {}).items()}
    for row in np.flatnonzero(bodies.deformable):
        arrays[f"body/{row}/vertices"], arrays[f"body/{row}/vertices_t0"] = frame.vertices[row], frame.vertices_t0[row]
    description = {
        "format": FORMAT,
        "method": method,
        "settings": _settings(world.method),
        "named": world._gears is None,
        "units": world.units,
        "time": float(world.time),
        "dt": float(world.dt),
        "next_id": world._next_id,
        "names": list(bodies.names),
        "mesh_of_body": [mesh_numbers[_key_of(mesh)] for mesh in bodies.meshes],
        "mesh_names": [mesh.name for mesh in meshes.values()],
        "mesh_units": [mesh.units for mesh in meshes.values()],
        "mesh_analytic": [described(mesh.analytic, f"mesh {mesh.name!r}") for mesh in meshes.values()],
        "ignored": sorted(world._ignored),
        "shape_digests": digests,
    }
    write_arrays(target, {"description": np.array(json.dumps(description)), **arrays})


def _key_of(mesh: Mesh) -> tuple[str, str, str | None, bytes]:
    """Return the identity of a mesh in a file; a digest alone has no name or units."""
    return mesh.digest, mesh.name, mesh.units, mesh.source_face.tobytes()


def _settings(method: Any) -> dict[str, Any]:
    """Return the settings of a method for JSON, broad phases by name and settings."""
    settings = {field.name: _plain(getattr(method, field.name)) for field in dataclasses.fields(method)}
    for name, value in settings.items():
        if dataclasses.is_dataclass(value):
            named = [known for known, made in BROAD_PHASES.items() if type(value) is made]
            if not named:
                raise InputError(f"the setting {name}={value!r} of the world's method is of the user's own and cannot be saved")
            settings[name] = {"broad_phase": named[0], "settings": _settings(value)}
    return settings


def _plain(value: Any) -> Any:
    """Return a NumPy number as a Python one, anything else unchanged."""
    return value.item() if isinstance(value, np.generic) else value


def _digest_of(method: Any, mesh: Mesh, fields: dict[str, NDArray[Any]]) -> str:
    """Return a hash of a stored shape, its mesh and its method's settings."""
    content = hashlib.blake2b(f"{mesh.digest} {json.dumps(_settings(method), sort_keys=True)}".encode(), digest_size=16)
    for name, array in sorted(fields.items()):
        content.update(f" {name} {array.dtype.str} {array.shape} ".encode())
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def load_world(path: str | PathLike[str]) -> World:
    """Read a world written by `save_world`."""
    file = cast.as_path(path, "path")
    try:
        with ArrayFile(file) as saved:
            return _World(saved).rebuilt()
    except NoCompiler:
        raise  # the file may be perfect
    except (InputError, Unsupported) as error:
        raise InputError(f"{file}: not a jostle world file, or damaged: {error}") from None


class _World:
    """A world file being read: its description and tables, arrays on demand."""

    def __init__(self, saved: ArrayFile) -> None:
        self.saved = saved
        self.fields = fields = saved.description(FORMAT)
        self.names = checked_list(fields, "names", str)
        self.mesh_names = checked_list(fields, "mesh_names", str)
        bodies, meshes = len(self.names), len(self.mesh_names)
        self.units = checked_list(fields, "mesh_units", str, type(None), count=meshes)
        self.mesh_of_body = checked_list(fields, "mesh_of_body", int, count=bodies)
        if not all(0 <= number < meshes for number in self.mesh_of_body):
            raise InputError(f"description: mesh_of_body has entries that are not between 0 and {meshes - 1}")
        if len(set(self.mesh_of_body)) != meshes:
            raise InputError("description: mesh_names has meshes that no body is made of")
        self.columns = {name: saved.read_checked(name, dtype, bodies) for name, dtype in _COLUMNS.items()}
        self.poses, self.poses_t0 = (saved.read_checked(name, "f8", bodies, 4, 4) for name in _POSES)
        self.next_id = checked_field(fields, "next_id", int)
        ids = self.columns["ids"].astype(np.int64)
        if not (np.diff(ids, prepend=-1) > 0).all() or not (ids < self.next_id).all() or not 0 <= self.next_id <= cast.LARGEST_ID:
            raise InputError(f"ids are not numbers from 0 on that grow from body to body and are below next_id, {self.next_id}")
        self._check_members(bodies, meshes)

    def _check_members(self, bodies: int, meshes: int) -> None:
        """Refuse arrays that do not belong to this world."""
        known = {"description", *_COLUMNS, *_POSES}
        known |= {f"mesh/{k}/{name}" for k in range(meshes) for name in _OF_MESH}
        deforming = np.flatnonzero(self.columns["deformable"]).tolist()
        known |= {f"body/{row}/{name}" for row in deforming for name in ("vertices", "vertices_t0")}
        unknown = [name for name in self.saved.names if name not in known and not name.startswith("shape/")]
        if unknown:
            raise InputError(f"{unknown[0]} is not a part of the world that was saved")

    def rebuilt(self) -> World:
        """Return the world."""
        from jostle.world.world import World

        fields = self.fields
        method = _method_of(fields)
        named = "named" not in fields or checked_field(fields, "named", bool) or method != method_of(None)  # older files do not say
        world = World(method if named else None, units=checked_field(fields, "units", str, type(None)))
        meshes = self._meshes()
        for row, name in enumerate(self.names):
            world._next_id = int(self.columns["ids"][row])
            group = int(self.columns["group"][row])
            body = world.add(
                meshes[self.mesh_of_body[row]],
                self.poses_t0[row],
                name,
                deformable=bool(self.columns["deformable"][row]),
                static=bool(self.columns["static"][row]),
                group=None if group == -1 else group,
                category=int(self.columns["category"][row]),
                mask=int(self.columns["mask"][row]),
            )
            if body.deformable:
                body.vertices = self.saved.read_checked(f"body/{row}/vertices_t0", "f8", len(body.mesh.vertices), 3)
        world._begin_next_step()
        world.set_poses(self.poses)
        for row, body in enumerate(world):
            if body.deformable:
                body.vertices = self.saved.read_checked(f"body/{row}/vertices", "f8", len(body.mesh.vertices), 3)
        for pair in checked_list(fields, "ignored", list):
            if len(pair) != 2 or not all(type(number) is int for number in pair):
                raise InputError(f"description: ignored has {pair!r}; it must have pairs of ids")
            world.ignore(*pair)
        world._next_id = self.next_id
        world.time, world.dt = (checked_field(fields, name, int, float) for name in ("time", "dt"))
        self._take_shapes(world, meshes)
        return world

    def _meshes(self) -> list[Mesh]:
        count = len(self.mesh_names)
        surfaces = [None] * count  # older files have none
        if "mesh_analytic" in self.fields:
            surfaces = checked_list(self.fields, "mesh_analytic", dict, type(None), count=count)
        meshes = []
        for k, name in enumerate(self.mesh_names):
            vertices = self.saved.read_checked(f"mesh/{k}/vertices", "f8", None, 3)
            faces = self.saved.read_checked(f"mesh/{k}/faces", "i4", None, 3)
            source = self.saved.read_checked(f"mesh/{k}/source_face", "i4", len(faces))
            surface = surface_described(surfaces[k])
            meshes.append(Mesh(vertices, faces, name=name, units=self.units[k], source_face=source, analytic=surface))
        return meshes

    def _take_shapes(self, world: World, meshes: list[Mesh]) -> None:
        """Pass the stored shapes to the world; a defective one is prepared again."""
        stored, digests = STORED.get(name_of(world.method)), self.fields.get("shape_digests")
        if stored is None or not isinstance(digests, list) or len(digests) != len(meshes):
            return
        for k, mesh in enumerate(meshes):
            try:
                fields = {name: self.saved.read(f"shape/{k}/{name}") for name in stored.names}
                if digests[k] == _digest_of(world.method, mesh, fields):
                    world._shapes[mesh.digest] = stored.shape_of(world.method, mesh, fields)
            except InputError:
                continue


def _method_of(fields: dict[str, Any]) -> Any:
    name, settings = checked_field(fields, "method", str), checked_field(fields, "settings", dict)
    if name not in METHODS:
        raise InputError(f"description: there is no method {name!r}; the methods are {', '.join(sorted(METHODS))}")
    return _made(METHODS[name], settings, f"settings of {name}")


def _made(kind: Any, settings: dict[str, Any], owner: str) -> Any:
    """Make a method or a broad phase from its settings."""
    given = {}
    for name, value in settings.items():
        if name not in {field.name for field in dataclasses.fields(kind)}:
            raise InputError(f"description: {owner} has {name!r}, which is no setting of it")
        given[name] = value
        if isinstance(value, dict):
            named = value.get("broad_phase")
            if not isinstance(named, str) or named not in BROAD_PHASES or not isinstance(value.get("settings"), dict):
                raise InputError(f"description: {owner}: {name} is {value!r}; it must name a broad phase and its settings")
            given[name] = _made(BROAD_PHASES[named], value["settings"], f"settings of {named}")
    return kind(**given)

"""Worlds in files: one .npz with the arrays of meshes, poses, filters and prepared shapes, and a description in JSON.

No pickle is read, so opening a file runs no code of its author. Everything goes back through the checks of `World.add`; prepared
shapes are taken as they are (they index into memory, so load files only from where you would load a program).
"""

from __future__ import annotations

import dataclasses
import json
import zipfile
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle.errors import InputError
from jostle.registry import BROAD_PHASES, METHODS, name_of
from jostle.shapes.analytic import described, surface_described
from jostle.shapes.mesh import Mesh
from jostle.whole_file import write_arrays

if TYPE_CHECKING:
    from jostle.world import World

FORMAT = "jostle world 1"


def save_world(world: World, path: str | PathLike[str]) -> None:
    """Write a world; it appears under its name only when it is whole."""
    method = name_of(world.method)
    if method not in METHODS:
        raise InputError(f"the world's method {world.method!r} is not in the registry; only registered methods can be saved")
    world.prepare()
    frame = world._frame()
    bodies = frame.bodies
    arrays: dict[str, Any] = {name: getattr(frame, name) for name in ("poses", "poses_t0", "static", "group", "category", "mask")}
    arrays["ids"], arrays["deformable"] = bodies.ids, bodies.deformable
    meshes = {mesh.digest: mesh for mesh in bodies.meshes}
    mesh_numbers = {digest: k for k, digest in enumerate(meshes)}
    for k, (digest, mesh) in enumerate(meshes.items()):
        arrays[f"mesh/{k}/vertices"], arrays[f"mesh/{k}/faces"] = mesh.vertices, mesh.faces
        arrays[f"mesh/{k}/source_face"] = mesh.source_face
        for field, value in world._shapes[digest]._asdict().items():
            arrays[f"shape/{k}/{field}"] = value
    for row in np.flatnonzero(bodies.deformable):
        arrays[f"body/{row}/vertices"], arrays[f"body/{row}/vertices_t0"] = frame.vertices[row], frame.vertices_t0[row]
    description = {
        "format": FORMAT,
        "method": method,
        "settings": _settings(world.method),
        "units": world.units,
        "time": world.time,
        "dt": world.dt,
        "next_id": world._next_id,
        "names": list(bodies.names),
        "mesh_of_body": [mesh_numbers[mesh.digest] for mesh in bodies.meshes],
        "mesh_names": [mesh.name for mesh in meshes.values()],
        "mesh_units": [mesh.units for mesh in meshes.values()],
        "mesh_analytic": [described(mesh.analytic, f"mesh {mesh.name!r}") for mesh in meshes.values()],
        "ignored": sorted(world._ignored),
    }
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {target.parent} does not exist")
    write_arrays(target, {"description": np.array(json.dumps(description)), **arrays})


def _settings(method: Any) -> dict[str, Any]:
    """Return the settings of a method for JSON; a broad phase among them becomes its name and its own settings."""
    settings = {field.name: getattr(method, field.name) for field in dataclasses.fields(method)}
    for name, value in settings.items():
        if dataclasses.is_dataclass(value):
            named = [known for known, made in BROAD_PHASES.items() if type(value) is made]
            if not named:
                raise InputError(f"the setting {name}={value!r} of the world's method is of the user's own and cannot be saved")
            settings[name] = {"broad_phase": named[0], "settings": _settings(value)}
    return settings


def _setting(value: Any) -> Any:
    return BROAD_PHASES[value["broad_phase"]](**value["settings"]) if isinstance(value, dict) else value


def load_world(path: str | PathLike[str]) -> World:
    """Read a world that `save_world` wrote."""
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as saved:
            arrays = {name: saved[name] for name in saved.files}
        description = json.loads(str(arrays.pop("description")))
        if description["format"] != FORMAT:
            raise InputError(f"{path}: this is {description['format']!r}, expected {FORMAT!r}")
        return _rebuilt(description, arrays)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except InputError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, zipfile.BadZipFile, EOFError) as error:
        raise InputError(f"{path}: not a jostle world file, or damaged ({error})") from None


def _rebuilt(description: dict[str, Any], arrays: dict[str, Any]) -> World:
    from jostle.world import World

    made = METHODS[description["method"]]
    settings = {name: _setting(value) for name, value in description["settings"].items()}
    world = World(made(**settings), units=description["units"])
    surfaces = description.get("mesh_analytic", [None] * len(description["mesh_names"]))  # older files have none
    meshes = [
        Mesh(
            arrays[f"mesh/{k}/vertices"],
            arrays[f"mesh/{k}/faces"],
            name=name,
            units=description["mesh_units"][k],
            source_face=arrays[f"mesh/{k}/source_face"],
            analytic=surface_described(surfaces[k]),
        )
        for k, name in enumerate(description["mesh_names"])
    ]
    for row, name in enumerate(description["names"]):
        world._next_id = int(arrays["ids"][row])
        group = int(arrays["group"][row])
        body = world.add(
            meshes[description["mesh_of_body"][row]],
            arrays["poses_t0"][row],
            name,
            deformable=bool(arrays["deformable"][row]),
            static=bool(arrays["static"][row]),
            group=None if group < 0 else group,
            category=int(arrays["category"][row]),
            mask=int(arrays["mask"][row]),
        )
        if body.deformable:
            body.vertices = arrays[f"body/{row}/vertices_t0"]
    world._begin_next_step()
    world.set_poses(arrays["poses"])
    for body in world:
        if body.deformable:
            body.vertices = arrays[f"body/{body._row}/vertices"]
    for low, high in description["ignored"]:
        world.ignore(low, high)
    world._next_id = int(description["next_id"])
    world.time, world.dt = float(description["time"]), float(description["dt"])
    for k, mesh in enumerate(meshes):
        prefix = f"shape/{k}/"
        fields = {name[len(prefix) :]: value for name, value in arrays.items() if name.startswith(prefix)}
        world._shapes[mesh.digest] = world.method.shape_type(**fields)
    return world

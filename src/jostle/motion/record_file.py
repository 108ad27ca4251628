"""Motions in files: one .npz with arrays and a description in JSON.

No pickle is read, so opening a file runs no code of its author. A mesh that several bodies share is stored once. Each array has
its digest in the description: a file that was cut off, edited or is of something else raises `InputError` that names the field.
Equal motions give byte-equal files. An analytic surface (`Mesh.analytic`) is stored by its kind and numbers; one of the user's
own cannot be, so its mesh is stored as faces alone, with a warning here and at every load.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jostle.errors import InputError
from jostle.shapes.analytic import described, surface_described
from jostle.shapes.mesh import Mesh
from jostle.whole_file import write_arrays

if TYPE_CHECKING:
    from jostle.motion.record import Motion
    from jostle.shapes.analytic import RaySurface

FORMAT = "jostle motion 1"
LEFT_OUT = "left_out"  # in the place of an analytic surface: the class of one that cannot be stored
_DTYPES = {"poses": "f8", "static": "?", "group": "i4", "category": "u4", "mask": "u4", "ignored": "i4", "mesh_of_body": "i4"}


def write_motion(motion: Motion, path: str | PathLike[str]) -> None:
    """Write a motion; it appears under its name only when it is whole."""
    arrays = arrays_of(motion)
    meshes = [motion.meshes[body] for body in _first_body_of_each_mesh(motion.meshes).values()]
    description = {
        "format": FORMAT,
        "title": motion.title,
        "dt": motion.dt,
        "names": list(motion.names),
        "mesh_names": [mesh.name for mesh in meshes],
        "mesh_units": [mesh.units for mesh in meshes],
        "digests": {name: digest_of(array) for name, array in arrays.items()},
    }
    surfaces = [_surface_stored(mesh) for mesh in meshes]
    if any(surface is not None for surface in surfaces):
        description["mesh_analytic"] = surfaces
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {target.parent} does not exist")
    for mesh, surface in zip(meshes, surfaces, strict=True):
        if surface is not None and LEFT_OUT in surface:
            _warn(target, mesh.name, surface[LEFT_OUT], 4)
    write_arrays(target, {"description": np.array(json.dumps(description)), **arrays})


def arrays_of(motion: Motion) -> dict[str, NDArray[Any]]:
    """Return the arrays of a motion under their names in a file."""
    arrays: dict[str, NDArray[Any]] = {
        "poses": motion.poses,
        "static": np.array(motion.static, np.bool_),
        "group": np.array([-1 if number is None else number for number in motion.group], np.int32),
        "category": np.array(motion.category, np.uint32),
        "mask": np.array(motion.mask, np.uint32),
        "ignored": np.array(motion.ignored, np.int32).reshape(-1, 2),
    }
    first = _first_body_of_each_mesh(motion.meshes)
    for number, body in enumerate(first.values()):
        mesh = motion.meshes[body]
        arrays[f"mesh/{number}/vertices"], arrays[f"mesh/{number}/faces"] = mesh.vertices, mesh.faces
        arrays[f"mesh/{number}/source_face"] = mesh.source_face
    number_of_key = {key: number for number, key in enumerate(first)}
    arrays["mesh_of_body"] = np.array([number_of_key[_key_of(mesh)] for mesh in motion.meshes], np.int32)
    for k, vertices in motion.vertices.items():
        arrays[f"body/{k}/vertices"] = vertices
    return arrays


def digest_of(array: NDArray[Any]) -> str:
    """Return a hash of an array's dtype, shape and bytes."""
    content = hashlib.blake2b(f"{array.dtype.str} {array.shape} ".encode(), digest_size=16)
    content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def _first_body_of_each_mesh(meshes: tuple[Mesh, ...]) -> dict[Any, int]:
    first: dict[Any, int] = {}
    for k, mesh in enumerate(meshes):
        first.setdefault(_key_of(mesh), k)
    return first


def _key_of(mesh: Mesh) -> Any:
    """What makes two meshes one in a file. Of equal meshes with different names the first gives its name to all."""
    return mesh.digest, mesh.units, mesh.source_face.tobytes()


def read_fields(file: Path) -> dict[str, Any]:
    """Return the fields of a motion by name; `InputError` names the field of the file that is wrong."""
    arrays = _read(file)
    description = _description(arrays.pop("description", None))
    names, mesh_names, mesh_units = (description[key] for key in ("names", "mesh_names", "mesh_units"))
    deforming = {k: f"body/{k}/vertices" for k in range(len(names)) if f"body/{k}/vertices" in arrays}
    _check_that_nothing_changed(arrays, description["digests"], [*deforming.values()], len(mesh_names))
    _check_lengths(arrays, description)
    surfaces = _surfaces(description, file)
    meshes = [
        _mesh_of(arrays, k, name, units, surface)
        for k, (name, units, surface) in enumerate(zip(mesh_names, mesh_units, surfaces, strict=True))
    ]
    return {
        "names": tuple(names),
        "meshes": tuple(meshes[number] for number in arrays["mesh_of_body"]),
        "poses": arrays["poses"],
        "vertices": {k: arrays[name] for k, name in deforming.items()},
        "dt": description["dt"],
        "static": tuple(arrays["static"].tolist()),
        "group": tuple(None if number < 0 else number for number in arrays["group"].tolist()),
        "title": description["title"],
        "category": tuple(arrays["category"].tolist()),
        "mask": tuple(arrays["mask"].tolist()),
        "ignored": tuple((low, high) for low, high in arrays["ignored"].tolist()),
    }


def _check_that_nothing_changed(arrays: dict[str, Any], digests: dict[str, Any], deforming: list[str], meshes: int) -> None:
    """All arrays of a motion are there, no others, each as it was saved."""
    dtypes = _DTYPES | dict.fromkeys(deforming, "f8")
    for k in range(meshes):
        dtypes |= {f"mesh/{k}/vertices": "f8", f"mesh/{k}/faces": "i4", f"mesh/{k}/source_face": "i4"}
    for name in sorted({*arrays, *digests, *dtypes}):
        if name not in arrays:
            raise InputError(f"{name} is missing")
        if name not in dtypes or name not in digests:
            raise InputError(f"{name} is not a part of the motion that was saved")
        if arrays[name].dtype != np.dtype(dtypes[name]):
            raise InputError(f"{name} has dtype {arrays[name].dtype}; it must be {np.dtype(dtypes[name])}")
        if digest_of(arrays[name]) != digests[name]:
            raise InputError(f"{name} is not what was saved (its digest differs): the file was edited or is damaged")


def _check_lengths(arrays: dict[str, Any], description: dict[str, Any]) -> None:
    """Tables that belong together are equally long, and numbers of meshes are in range."""
    bodies, meshes = len(description["names"]), len(description["mesh_names"])
    if len(description["mesh_units"]) != meshes:
        raise InputError(f"description: mesh_units has {len(description['mesh_units'])} entries for {meshes} mesh_names")
    for name in ("static", "group", "category", "mask", "mesh_of_body"):
        if arrays[name].shape != (bodies,):
            raise InputError(f"{name} has shape {arrays[name].shape} for {bodies} names; it must be ({bodies},)")
    if not ((arrays["mesh_of_body"] >= 0) & (arrays["mesh_of_body"] < meshes)).all():
        raise InputError(f"mesh_of_body has entries that are not between 0 and {meshes - 1}")
    if arrays["ignored"].ndim != 2 or arrays["ignored"].shape[1] != 2:
        raise InputError(f"ignored has shape {arrays['ignored'].shape}; it must be (n, 2)")


def _read(file: Path) -> dict[str, Any]:
    """Return all arrays of a file, none of them a pickle."""
    name = "the file"
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as saved:
            arrays = {}
            for name in saved.files:
                arrays[name] = saved[name]
                if not isinstance(arrays[name], np.ndarray):
                    raise ValueError("not an array")
            return arrays
    except FileNotFoundError:
        raise InputError("there is no such file") from None
    except Exception as error:  # what zipfile, zlib, ast and numpy make of foreign bytes has no common base
        raise InputError(f"{name} cannot be read: not a motion that jostle saved, or damaged ({error})") from None


def _mesh_of(arrays: dict[str, Any], k: int, name: str, units: str | None, surface: RaySurface | None) -> Mesh:
    vertices, faces, source = (arrays[f"mesh/{k}/{part}"] for part in ("vertices", "faces", "source_face"))
    try:
        return Mesh(vertices, faces, name=name, units=units, source_face=source, analytic=surface)
    except InputError as error:
        raise InputError(f"mesh/{k}: {error}") from None


def _surface_stored(mesh: Mesh) -> dict[str, Any] | None:
    """Return the analytic surface of a mesh for JSON; of one that cannot be stored, what is left out."""
    try:
        return described(mesh.analytic, "")
    except InputError:
        return {LEFT_OUT: type(mesh.analytic).__qualname__}


def _surfaces(description: dict[str, Any], file: Path) -> list[RaySurface | None]:
    """Return the analytic surface of each mesh, None for those that have none, as all in older files."""
    names = description["mesh_names"]
    tables = description.get("mesh_analytic", [None] * len(names))
    if not isinstance(tables, list) or len(tables) != len(names):
        raise InputError(f"description: mesh_analytic is not a list of {len(names)} surfaces, one for each of mesh_names")
    found: list[RaySurface | None] = []
    for k, table in enumerate(tables):
        if isinstance(table, dict) and LEFT_OUT in table:
            _warn(file, names[k], table[LEFT_OUT], 5)
            table = None
        try:
            found.append(surface_described(table))
        except (InputError, KeyError, TypeError) as error:
            raise InputError(f"description: mesh_analytic[{k}] is {table!r}, not a surface that can be made ({error})") from None
    return found


def _warn(file: Path, mesh: str, surface: object, calls: int) -> None:
    """Warn whoever called `save` or `load`, so many calls ago."""
    text = f"{file}: mesh {mesh!r} is kept as its faces; its analytic surface, {surface}, is of the user's own and left out"
    warnings.warn(text, UserWarning, stacklevel=calls)


def _description(array: Any) -> dict[str, Any]:
    """Return the description with the fields it must have, each of its type."""
    if array is None or array.dtype.kind != "U" or array.shape != ():
        raise InputError("description is missing or not a text: not a motion that jostle saved")
    try:
        description = json.loads(str(array))
    except (ValueError, RecursionError) as error:
        raise InputError(f"description is not JSON ({error})") from None
    if not isinstance(description, dict):
        raise InputError("description is not a table of fields")
    found = description.get("format")
    if found != FORMAT:
        raise InputError(f"description: format is {found!r}, expected {FORMAT!r}")
    texts = {"names": (str,), "mesh_names": (str,), "mesh_units": (str, type(None))}
    for name, kinds in texts.items():
        value = description.get(name)
        if not isinstance(value, list) or not all(isinstance(entry, kinds) for entry in value):
            raise InputError(f"description: {name} is missing or not a list of texts")
    if not isinstance(description.get("title"), str):
        raise InputError("description: title is missing or not a text")
    if not isinstance(description.get("dt"), (int, float)):
        raise InputError("description: dt is missing or not a number")
    if not isinstance(description.get("digests"), dict):
        raise InputError("description: digests is missing or not a table")
    return description

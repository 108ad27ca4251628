"""Motion files: one .npz with arrays and a description in JSON.

No pickle is read, so opening a file runs no code of its author. A mesh shared by several bodies is stored once. The description has
a digest of each array: a file that is truncated, edited or of another kind raises `InputError` that names the field. Equal motions
give byte-equal files. An analytic surface (`Mesh.analytic`) is stored by its kind and numbers; a user-defined one cannot be, so its
mesh is stored as faces alone, with a warning here and at every load.
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

from jostle.array_file import ArrayFile, checked, checked_field, checked_list
from jostle.atomic_file import write_arrays
from jostle.cast import as_path
from jostle.errors import InputError
from jostle.shapes.analytic import described, surface_described
from jostle.shapes.mesh import Mesh

if TYPE_CHECKING:
    from jostle.motion.record import Motion
    from jostle.shapes.analytic import RaySurface

FORMAT = "jostle motion 1"
LEFT_OUT = "left_out"  # in the place of an analytic surface: the class of one that cannot be stored
_DTYPES = {"static": "?", "group": "i4", "category": "u4", "mask": "u4", "mesh_of_body": "i4", "poses": "f8", "ignored": "i4"}


def write_motion(motion: Motion, path: str | PathLike[str]) -> None:
    """Write a motion; the file appears only when it is complete."""
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
    target = as_path(path)
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {target.parent} does not exist")
    for mesh, surface in zip(meshes, surfaces, strict=True):
        if surface is not None and LEFT_OUT in surface:
            _warn(target, mesh.name, surface[LEFT_OUT], 4)
    write_arrays(target, {"description": np.array(json.dumps(description)), **arrays})


def arrays_of(motion: Motion) -> dict[str, NDArray[Any]]:
    """Return the arrays of a motion by their names in a file."""
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
    """Return the identity of a mesh in a file; equal meshes take the first name."""
    return mesh.digest, mesh.units, mesh.source_face.tobytes()


def read_fields(file: Path) -> dict[str, Any]:
    """Return the fields of a motion by name; an `InputError` names the bad one."""
    with ArrayFile(file) as saved:
        description = saved.description(FORMAT)
        _check_description(description)
        arrays = {name: saved.read(name) for name in saved.names if name != "description"}
    names, mesh_names, mesh_units = (description[key] for key in ("names", "mesh_names", "mesh_units"))
    deforming = {k: f"body/{k}/vertices" for k in range(len(names)) if f"body/{k}/vertices" in arrays}
    _check_that_nothing_changed(arrays, description["digests"], [*deforming.values()], len(mesh_names))
    _check_shapes(arrays, len(names), len(mesh_names))
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
        "group": tuple(None if number == -1 else number for number in arrays["group"].tolist()),
        "title": description["title"],
        **{name: tuple(arrays[name].tolist()) for name in ("static", "category", "mask")},
        "ignored": tuple((low, high) for low, high in arrays["ignored"].tolist()),
    }


def _check_that_nothing_changed(arrays: dict[str, Any], digests: dict[str, Any], deforming: list[str], meshes: int) -> None:
    """Check that exactly the arrays of a motion are there, each as saved."""
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


def _check_shapes(arrays: dict[str, Any], bodies: int, meshes: int) -> None:
    """Check that tables are equally long and numbers of meshes in range."""
    for name, dtype in _DTYPES.items():
        shape: tuple[int | None, ...] = {"poses": (None, bodies, 4, 4), "ignored": (None, 2)}.get(name, (bodies,))
        checked(arrays[name], name, dtype, *shape)
    if not ((arrays["mesh_of_body"] >= 0) & (arrays["mesh_of_body"] < meshes)).all():
        raise InputError(f"mesh_of_body has entries that are not between 0 and {meshes - 1}")


def _mesh_of(arrays: dict[str, Any], k: int, name: str, units: str | None, surface: RaySurface | None) -> Mesh:
    vertices, faces, source = (arrays[f"mesh/{k}/{part}"] for part in ("vertices", "faces", "source_face"))
    try:
        return Mesh(vertices, faces, name=name, units=units, source_face=source, analytic=surface)
    except InputError as error:
        raise InputError(f"mesh/{k}: {error}") from None


def _surface_stored(mesh: Mesh) -> dict[str, Any] | None:
    """Return the analytic surface of a mesh for JSON, or what is left out."""
    try:
        return described(mesh.analytic, "")
    except InputError:
        return {LEFT_OUT: type(mesh.analytic).__qualname__}


def _surfaces(description: dict[str, Any], file: Path) -> list[RaySurface | None]:
    """Return the analytic surface of each mesh, or None (as in older files)."""
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
        except InputError as error:
            raise InputError(f"description: mesh_analytic[{k}]: {error}") from None
    return found


def _warn(file: Path, mesh: str, surface: object, calls: int) -> None:
    """Warn the caller of `save` or `load`, so many calls up."""
    text = f"{file}: mesh {mesh!r} is kept as its faces; its analytic surface, {surface}, is of the user's own and left out"
    warnings.warn(text, UserWarning, stacklevel=calls)


def _check_description(description: dict[str, Any]) -> None:
    """Refuse a description with a missing field or a wrong type."""
    checked_list(description, "names", str)
    meshes = len(checked_list(description, "mesh_names", str))
    checked_list(description, "mesh_units", str, type(None), count=meshes)
    for name, kinds in {"title": (str,), "dt": (int, float), "digests": (dict,)}.items():
        checked_field(description, name, *kinds)

"""Mesh files in: STL, OBJ, PLY, OFF, RAW, glTF/GLB, and 3MF and Collada through trimesh.

Face k of the mesh is the k-th triangle of the file, in the file's order; polygons are cut into fans in order, and
`Mesh.source_face` leads back to them. Only points with bit-equal coordinates become one vertex (numbered by first occurrence),
so a sphere of size 1e-9 keeps its shape; float32 values are kept exactly. A file that cannot be read whole raises `InputError`
with the file and the reason: there is no partial mesh. The formats are read by `jostle.shapes.formats`, see there why; 3MF and
Collada, where their parsers are installed, go through trimesh.

Units are never guessed: they are what the caller says, except that glTF is in metres by its specification.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle.errors import InputError
from jostle.shapes.formats.by_trimesh import BY_TRIMESH, read_by_trimesh
from jostle.shapes.formats.gltf import Scene, read_gltf
from jostle.shapes.formats.obj import read_obj
from jostle.shapes.formats.off import read_off
from jostle.shapes.formats.ply import read_ply
from jostle.shapes.formats.polygons import Polygons, UnreadableError, checked, merged, triangles
from jostle.shapes.formats.raw import read_raw
from jostle.shapes.formats.stl import read_stl
from jostle.shapes.mesh import Mesh

Floats = NDArray[np.float64]

_READERS: dict[str, Callable[[bytes], Polygons]] = {
    ".obj": read_obj,
    ".off": read_off,
    ".ply": read_ply,
    ".raw": read_raw,
    ".stl": read_stl,
}
_SCENES = (".glb", ".gltf")
ENDINGS = tuple(sorted([*_READERS, *_SCENES, *BY_TRIMESH]))


def load(path: str | os.PathLike[str], units: str | None = None, name: str | None = None) -> Mesh:
    """Return the mesh of a file.

    Parameters
    ----------
    path : str or path
        Ending in .stl, .obj, .ply, .off, .raw, .gltf, .glb, .3mf or .dae (in any case).
    units : str, optional
        One of `jostle.shapes.mesh.UNITS`, for `Mesh.units`. By default None; "m" for glTF.
    name : str, optional
        Of the mesh; by default the file's name without its ending.

    Returns
    -------
    Mesh
        For a glTF scene all nodes in the file's order, in world coordinates.
    """
    file = cast.as_path(path)
    name = file.stem if name is None else name
    if _ending(file) in _SCENES:
        parts = load_scene(file, units)
        points = np.vstack([_moved(mesh.vertices, pose) for _, mesh, pose in parts])
        starts = np.cumsum([0] + [len(mesh.vertices) for _, mesh, _ in parts])
        faces = np.vstack([mesh.faces.astype(np.int64) + start for (_, mesh, _), start in zip(parts, starts, strict=False)])
        return _as_mesh(points, faces, None, file, name, parts[0][1].units)
    try:
        reader = _READERS.get(_ending(file))
        content = _content(file)
        polygons = checked(read_by_trimesh(file) if reader is None else reader(content))
    except UnreadableError as reason:
        raise InputError(f"{file}: {reason}") from None
    faces, source = triangles(polygons)
    one_to_one = len(faces) == len(polygons.sizes)
    return _as_mesh(polygons.points, faces, None if one_to_one else source, file, name, units)


def load_scene(path: str | os.PathLike[str], units: str | None = None, alone: bool = False) -> list[tuple[str, Mesh, Floats]]:
    """Return (name, mesh, pose) for every node of a glTF or GLB file that shows a mesh, in the file's order of nodes.

    The pose is rigid, (4, 4), body to world. What is not rigid in a node's place (scale, shear, mirroring) is in the vertices of
    its mesh; a mirrored mesh has its faces turned round. Nodes that show the same mesh with the same scale share one Mesh object.
    A file of another format is a scene of one node. With `alone` no other file is read: a glTF file whose buffers lie beside it is
    refused.
    """
    file = cast.as_path(path)
    if _ending(file) not in _SCENES:
        mesh = load(file, units)
        return [(mesh.name, mesh, np.eye(4))]
    try:
        scene = read_gltf(_content(file), None if alone else file.parent)
    except UnreadableError as reason:
        raise InputError(f"{file}: {reason}") from None
    if not scene.nodes:
        raise InputError(f"{file}: no node of its scene shows a mesh")
    return _placed_meshes(scene, file, "m" if units is None else units)


def _placed_meshes(scene: Scene, file: Path, units: str) -> list[tuple[str, Mesh, Floats]]:
    made: dict[tuple[int, bytes], Mesh] = {}
    placed = []
    for node in scene.nodes:
        pose, stretch = split_rigid(node.transform)
        key = (node.mesh, stretch.tobytes())
        if key not in made:
            points, faces, name = scene.meshes[node.mesh]
            try:
                checked(Polygons(points, faces.ravel(), np.full(len(faces), 3)), f"mesh {name!r}")
            except UnreadableError as reason:
                raise InputError(f"{file}: {reason}") from None
            if not np.array_equal(stretch, np.eye(3)):
                points = _moved(points, stretch)
                faces = faces[:, ::-1] if np.linalg.det(stretch) < 0.0 else faces
            made[key] = _as_mesh(points, faces, None, file, name, units)
        placed.append((node.name, made[key], pose))
    return placed


def split_rigid(transform: Floats) -> tuple[Floats, Floats]:
    """Return a rigid (4, 4) pose and a (3, 3) stretch: the transform is the stretch first and the pose after it.

    A rigid transform comes back untouched, with the identity as its stretch. A mirroring one keeps a reflection in the stretch,
    along that axis which leaves the pose turned least.
    """
    pose = np.array(transform)
    linear = pose[:3, :3].copy()
    if np.abs(linear.T @ linear - np.eye(3)).max() <= cast.RIGID_TOLERANCE and np.linalg.det(linear) > 0.0:
        return pose, np.eye(3)
    u, singular, vt = np.linalg.svd(linear)
    signs = [np.ones(3)]
    if np.linalg.det(u @ vt) < 0.0:
        signs = [np.where(np.arange(3) == k, -1.0, 1.0) for k in range(3)]
    sign = max(signs, key=lambda s: float(np.trace(u @ (s[:, None] * vt))))
    pose[:3, :3] = u @ (sign[:, None] * vt)
    return pose, vt.T @ ((sign * singular)[:, None] * vt)


def _moved(points: Floats, transform: Floats) -> Floats:
    """Apply a (4, 4) or (3, 3) transform; sums run in the fixed order of the world vertices everywhere else in jostle."""
    x, y, z = points.T
    moved = [(row[0] * x + row[1] * y) + row[2] * z for row in transform[:3]]
    if transform.shape == (4, 4):
        moved = [column + shift for column, shift in zip(moved, transform[:3, 3], strict=True)]
    result = np.stack(moved, axis=1)
    return np.where(np.abs(result) < cast.SMALLEST_COORDINATE, 0.0, result)


def _ending(file: Path) -> str:
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{file}: the ending {file.suffix!r} cannot be read; choose one of {', '.join(ENDINGS)}")
    return ending


def _content(file: Path) -> bytes:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{file}: there is no such file") from None
    except OSError as error:
        raise InputError(f"{file}: it cannot be read ({error.strerror or error})") from None
    if not data.strip():
        raise InputError(f"{file}: the file is empty")
    return data


def _as_mesh(
    points: Floats, faces: NDArray[np.int64], source: NDArray[np.int32] | None, file: Path, name: str, units: str | None
) -> Mesh:
    try:
        return Mesh(*merged(points, faces), name=name, units=units, source_face=source)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None

"""Load mesh files: STL, OBJ, PLY, OFF, RAW, glTF/GLB, 3MF and Collada.

Face k of the mesh is the k-th triangle of the file, in the file's order. Polygons are triangulated in place, and `Mesh.source_face`
gives the polygon of each face: convex polygons become a fan about their first corner, others are ear-clipped; a polygon that
crosses itself is refused (`formats/triangulate.py`). Only points with bit-equal coordinates become one vertex (numbered by first
occurrence), so a sphere of size 1e-9 keeps its shape; float32 values are kept exactly.

A file that cannot be read completely raises `InputError` with the file and the reason, and no other error; there is no partial
mesh. `Limits` bounds the memory and the time that a file may take. Only regular files are read. `jostle.shapes.formats` has the
readers and the reason for our own; Collada goes through trimesh, with the extra `collada`.

Units are never guessed: the caller gives them, except that glTF is in metres by its specification.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.shapes.formats.by_trimesh import read_collada
from jostle.shapes.formats.gltf import GltfContent, read_gltf
from jostle.shapes.formats.obj import read_obj
from jostle.shapes.formats.off import read_off
from jostle.shapes.formats.ply import read_ply
from jostle.shapes.formats.polygons import Polygons, checked, is_mirroring, merged, moved
from jostle.shapes.formats.raw import read_raw
from jostle.shapes.formats.source import Budget, Source, UnreadableError, printable, read_regular_file, reason_of, shortened
from jostle.shapes.formats.stl import read_stl
from jostle.shapes.formats.three_mf import read_3mf
from jostle.shapes.formats.triangulate import triangles
from jostle.shapes.limits import Limits
from jostle.shapes.mesh import Mesh, concatenated

_READERS: dict[str, Callable[[Source], Polygons]] = {
    ".3mf": read_3mf,
    ".dae": read_collada,
    ".obj": read_obj,
    ".off": read_off,
    ".ply": read_ply,
    ".raw": read_raw,
    ".stl": read_stl,
}
_SCENES = (".glb", ".gltf")
ENDINGS = tuple(sorted([*_READERS, *_SCENES]))


def load(path: str | os.PathLike[str], units: str | None = None, name: str | None = None, limits: Limits | None = None) -> Mesh:
    """Return the mesh of a file.

    Parameters
    ----------
    path : str or path
        A .stl, .obj, .ply, .off, .raw, .gltf, .glb, .3mf or .dae file (in any case).
    units : str, optional
        One of `jostle.shapes.mesh.UNITS`, for `Mesh.units`. By default None; "m" for glTF.
    name : str, optional
        Of the mesh; by default the file's name without its ending.
    limits : Limits, optional
        By default `Limits()`, which is generous. Use `jostle.shapes.limits.UPLOAD_LIMITS` for files of unknown origin.

    Returns
    -------
    Mesh
        For a glTF scene, all nodes in file order, in world coordinates; `World.from_scene` makes a body of each.

    Examples
    --------
    >>> ball = jostle.load("ball.stl", units="mm")
    >>> ball.name, ball.units, ball.is_closed
    ('ball', 'mm', True)
    """
    return load_counted(path, units, name, limits)[0]


def load_counted(
    path: str | os.PathLike[str], units: str | None = None, name: str | None = None, limits: Limits | None = None
) -> tuple[Mesh, int]:
    """Return the mesh of a file, as `load` does, and how many nodes it joins."""
    file, budget = cast.as_path(path), _budget(limits)
    name = printable(file.stem) if name is None else name
    ending = _ending(file)
    with _refusals(file):
        if ending in _SCENES:
            parts = _scene_parts(file, units, budget, file.parent)
            return _joined(parts, budget, name), len(parts)
        polygons = checked(_READERS[ending](_source(file, budget, None)))
        faces, source = triangles(polygons, budget)
        one_to_one = len(faces) == len(polygons.sizes)
        return Mesh(*merged(polygons.points, faces), name=name, units=units, source_face=None if one_to_one else source), 1


def load_scene(
    path: str | os.PathLike[str], units: str | None = None, alone: bool = False, limits: Limits | None = None
) -> list[tuple[str, Mesh, Floats]]:
    """Return (name, mesh, pose) of every node with a mesh, in file order.

    The pose is rigid, (4, 4), body to world. Scale, shear and mirroring of a node are applied to the vertices of its mesh; a
    mirrored mesh has its faces flipped. Nodes with the same mesh and scale share one Mesh object. A file of another format is a
    scene of one node. Buffers are read from the file's own folder and below; with `alone` no other file is read, and a glTF file
    with buffers beside it is refused.
    """
    file = cast.as_path(path)
    if _ending(file) not in _SCENES:
        mesh = load(file, units, limits=limits)
        return [(mesh.name, mesh, np.eye(4))]
    budget = _budget(limits)
    with _refusals(file):
        return _scene_parts(file, units, budget, None if alone else file.parent)


def _scene_parts(file: Path, units: str | None, budget: Budget, folder: Path | None) -> list[tuple[str, Mesh, Floats]]:
    scene = read_gltf(_source(file, budget, folder))
    if not scene.nodes:
        raise UnreadableError("no node of its scene shows a mesh of triangles")
    return _placed_meshes(scene, budget, "m" if units is None else units)


def _joined(parts: list[tuple[str, Mesh, Floats]], budget: Budget, name: str) -> Mesh:
    """Return all parts as one mesh, in world coordinates."""
    budget.check("vertices", sum(len(mesh.vertices) for _, mesh, _ in parts))
    budget.check("faces", sum(len(mesh.faces) for _, mesh, _ in parts))
    points, faces = concatenated((moved(mesh.vertices, pose), mesh.faces) for _, mesh, pose in parts)
    return Mesh(*merged(points, faces), name=name, units=parts[0][1].units)


def _placed_meshes(scene: GltfContent, budget: Budget, units: str) -> list[tuple[str, Mesh, Floats]]:
    for points, faces, name in scene.meshes.values():
        checked(Polygons(points, faces.ravel(), np.full(len(faces), 3)), f"mesh {name!r}")
    placed = []
    stretches: dict[tuple[int, bytes], Floats] = {}
    for node in scene.nodes:
        budget.tick()
        pose, stretch = split_rigid(node.transform)
        key = (node.mesh, stretch.tobytes())
        stretches[key] = stretch
        placed.append((node.name, key, pose))
    budget.check("vertices", sum(len(scene.meshes[k][0]) for k, _ in stretches))
    budget.check("faces", sum(len(scene.meshes[k][1]) for k, _ in stretches))
    made: dict[tuple[int, bytes], Mesh] = {}
    for key, stretch in stretches.items():
        budget.tick()
        points, faces, name = scene.meshes[key[0]]
        if not np.array_equal(stretch, np.eye(3)):
            points = moved(points, stretch)
            faces = faces[:, ::-1] if is_mirroring(stretch) else faces
        made[key] = Mesh(*merged(points, faces), name=name, units=units)
    return [(name, made[key], pose) for name, key, pose in placed]


def split_rigid(transform: Floats) -> tuple[Floats, Floats]:
    """Split a transform into a rigid (4, 4) pose after a (3, 3) stretch.

    A rigid transform is returned unchanged, with the identity as its stretch. Of a mirroring one, the stretch keeps a reflection
    along the axis that turns the pose least.
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


def _budget(limits: Limits | None) -> Budget:
    if limits is not None and not isinstance(limits, Limits):
        raise InputError(f"limits is {shortened(repr(limits))}; pass a jostle.Limits")
    return Budget(Limits() if limits is None else limits)


def _ending(file: Path) -> str:
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        if os.path.isdir(file):  # noqa: PTH112, as Path.is_dir raises for names that are too long
            raise InputError(f"{printable(str(file))}: it is a folder; name one of the files in it ({', '.join(ENDINGS)})")
        raise InputError(
            f"{printable(str(file))}: the ending {printable(file.suffix)!r} cannot be read; choose one of {', '.join(ENDINGS)}"
        )
    return ending


def _source(file: Path, budget: Budget, folder: Path | None) -> Source:
    try:
        data = read_regular_file(file, budget)
    except FileNotFoundError:
        raise UnreadableError("there is no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL
        raise UnreadableError(f"it cannot be read ({reason_of(error)})") from None
    if not data.strip():
        raise UnreadableError("the file is empty")
    return Source(data, budget, folder)


@contextlib.contextmanager
def _refusals(file: Path) -> Iterator[None]:
    """Turn any error of a reader into an `InputError` with the file's name."""
    try:
        yield
    except (UnreadableError, InputError) as reason:
        raise InputError(f"{printable(str(file))}: {reason}") from None
    except MemoryError:
        raise InputError(f"{printable(str(file))}: it needs more memory than there is") from None
    except Exception as error:
        raise InputError(f"{printable(str(file))}: it cannot be read ({type(error).__name__}: {reason_of(error)})") from error

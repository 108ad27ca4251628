"""Convert what users pass as a mesh into a Mesh."""

from __future__ import annotations

from os import PathLike
from typing import Any, TypeAlias

from jostle import cast
from jostle.errors import InputError
from jostle.shapes.mesh import Mesh

MeshLike: TypeAlias = "Mesh | str | PathLike[str] | tuple[Any, Any] | Any"


def mesh_of(value: MeshLike, name: str | None = None) -> Mesh:
    """Return a Mesh for a Mesh, a path, (vertices, faces) or a trimesh object."""
    if isinstance(value, Mesh):
        return value
    if isinstance(value, (str, PathLike)):
        from jostle.shapes.load import load

        return load(value)
    given: Any = value
    if isinstance(given, (tuple, list)) and len(given) == 2 and not any(_is_mesh(part) for part in given):
        vertices, faces = given
    elif cast.has(given, "vertices", "faces"):
        vertices, faces = given.vertices, given.faces
    else:
        owner = "mesh" if name is None else f"body {name!r}: mesh"
        raise InputError(f"{owner} is a {type(value).__name__}; {_cure_for(value)}")
    return Mesh(vertices, faces, name=name or "mesh")


def _is_mesh(value: Any) -> bool:
    return isinstance(value, (Mesh, str, PathLike)) or cast.has(value, "vertices", "faces")


def _cure_for(value: Any) -> str:
    """Return what to pass instead of a value that is no mesh."""
    if cast.has(value, "geometry", "graph"):  # trimesh.Scene
        return "pass scene.to_mesh() for all of it as one body, or add one body per node"
    if isinstance(value, (tuple, list)) and any(_is_mesh(part) for part in value):
        return "pass one mesh; in a World each mesh is a body of its own (World.add)"
    if cast.has(value, "vertices", "triangles"):  # open3d
        return "pass (vertices, faces): (numpy.asarray(mesh.vertices), numpy.asarray(mesh.triangles))"
    if cast.has(value, "vertices") or (cast.has(value, "shape", "dtype") and getattr(value, "ndim", 0) == 2):
        return f"it has no faces; {cast.NO_POINTS}, pass (vertices, faces)"
    return "pass a jostle.Mesh, a trimesh.Trimesh, (vertices, faces) or a path"

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
    if isinstance(value, (tuple, list)) and len(value) == 2:
        vertices, faces = value
    elif cast.has(value, "vertices", "faces"):
        vertices, faces = value.vertices, value.faces
    else:
        raise InputError(
            f"{'mesh' if name is None else f'body {name!r}: mesh'} is a {type(value).__name__}; "
            "pass a jostle.Mesh, a trimesh.Trimesh, (vertices, faces) or a path"
        )
    return Mesh(vertices, faces, name=name or "mesh")

"""Save mesh files: OBJ, OFF and PLY with every digit of float64, STL in float32.

OBJ, OFF and PLY files load back bit for bit, in the same order. STL has no shared vertices and fewer digits: a coordinate that
float32 cannot represent changes, and close vertices may coincide.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from jostle.atomic_file import atomic_write
from jostle.cast import as_path, shown
from jostle.errors import InputError
from jostle.shapes.mesh import Mesh


def save(mesh: Mesh, path: str | os.PathLike[str]) -> Path:
    """Write a mesh to .obj, .off, .ply or .stl, and return the path.

    An existing file is replaced.
    """
    if not isinstance(mesh, Mesh):
        raise InputError(f"mesh is {shown(mesh)}; pass a jostle.Mesh")
    file = as_path(path)
    writer = _WRITERS.get(file.suffix.lower())
    if writer is None:
        raise InputError(f"{file}: the ending {file.suffix!r} is not one that can be written; choose one of {', '.join(_WRITERS)}")
    content = writer(mesh)
    with atomic_write(file) as temporary:
        temporary.write_bytes(content)
    return file


def _lines(mesh: Mesh, header: str, vertex: str, face: str, first: int) -> bytes:
    """Return one line of text per vertex and face; floats round-trip exactly."""
    rows = [header]
    rows += [vertex.format(*(repr(value) for value in point)) for point in mesh.vertices.tolist()]
    rows += [face.format(*triangle) for triangle in (mesh.faces + first).tolist()]
    return ("\n".join(rows) + "\n").encode("ascii")


def _as_obj(mesh: Mesh) -> bytes:
    return _lines(mesh, "# jostle", "v {} {} {}", "f {} {} {}", 1)


def _as_off(mesh: Mesh) -> bytes:
    return _lines(mesh, f"OFF\n{len(mesh.vertices)} {len(mesh.faces)} 0", "{} {} {}", "3 {} {} {}", 0)


def _as_ply(mesh: Mesh) -> bytes:
    header = [
        "ply\nformat binary_little_endian 1.0",
        f"element vertex {len(mesh.vertices)}",
        *(f"property double {axis}" for axis in "xyz"),
        f"element face {len(mesh.faces)}\nproperty list uchar int vertex_indices\nend_header\n",
    ]
    faces = np.empty(len(mesh.faces), dtype=[("size", "u1"), ("corners", "<i4", 3)])
    faces["size"], faces["corners"] = 3, mesh.faces
    return "\n".join(header).encode("ascii") + mesh.vertices.astype("<f8").tobytes() + faces.tobytes()


def _as_stl(mesh: Mesh) -> bytes:
    records = np.zeros(len(mesh.faces), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    records["normal"], records["corners"] = mesh.face_normals, mesh.vertices[mesh.faces]
    return b"jostle".ljust(80, b" ") + len(mesh.faces).to_bytes(4, "little") + records.tobytes()


_WRITERS: dict[str, Callable[[Mesh], bytes]] = {".obj": _as_obj, ".off": _as_off, ".ply": _as_ply, ".stl": _as_stl}

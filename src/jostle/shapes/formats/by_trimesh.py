"""Formats that trimesh reads and jostle does not: 3MF and Collada.

trimesh is imported here, on use. It is told not to process anything: its default merges near vertices, which turns a sphere of size
1e-9 into a point. Faces come in the order in which trimesh gives them; polygons of the file are not known.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from jostle.shapes.formats.polygons import Polygons, UnreadableError

BY_TRIMESH = {".3mf": "lxml and networkx", ".dae": "pycollada"}
"""Endings, and the packages that trimesh needs for them."""


def read_by_trimesh(file: Path) -> Polygons:
    """Return the triangles of all geometry in a file, in world coordinates."""
    import trimesh

    ending = file.suffix.lower()
    if ending[1:] not in trimesh.available_formats():
        raise UnreadableError(f"to read {ending} files, install {BY_TRIMESH[ending]}")
    try:
        loaded: Any = trimesh.load(file, process=False, force="mesh")
        points = np.array(loaded.vertices, dtype=np.float64)
        faces = np.array(loaded.faces, dtype=np.int64)
    except Exception as error:  # a parser of another library may raise anything
        raise UnreadableError(f"trimesh cannot read it ({type(error).__name__}: {error})") from None
    if len(faces) == 0:
        raise UnreadableError("trimesh finds no triangles in it")
    return Polygons(points, faces.ravel(), np.full(len(faces), 3))

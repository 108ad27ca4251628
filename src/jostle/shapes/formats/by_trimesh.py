"""Collada files, read through trimesh.

trimesh and pycollada come with the extra `collada`, and are imported on use. trimesh's processing is off: it merges near vertices,
which turns a sphere of size 1e-9 into a point. Faces are in trimesh's order; the file's polygons are unknown. The XML is parsed
once before: entities are refused, and the triangles of all node instances are counted.
"""

from __future__ import annotations

import io
from importlib.util import find_spec
from typing import Any

import numpy as np

from jostle.shapes.formats.polygons import Polygons
from jostle.shapes.formats.source import Source, UnreadableError, reason_of, shortened
from jostle.shapes.formats.xml import parse_xml


def read_collada(source: Source) -> Polygons:
    """Return the triangles of all geometry in a Collada file, in world coordinates."""
    if find_spec("trimesh") is None or find_spec("collada") is None:
        raise UnreadableError("reading .dae files needs trimesh and pycollada; pip install 'jostle[collada]' brings them")
    import trimesh

    _Instances(source).check()
    try:
        # From bytes, not from its path: no other file is read.
        loaded: Any = trimesh.load(io.BytesIO(source.data), file_type="dae", process=False, force="mesh")
        points = np.array(loaded.vertices, dtype=np.float64)
        faces = np.array(loaded.faces, dtype=np.int64)
    except Exception as error:  # a parser of another library may raise anything
        raise UnreadableError(f"trimesh cannot read it ({type(error).__name__}: {reason_of(error)})") from None
    if len(faces) == 0:
        raise UnreadableError("trimesh finds no triangles in it")
    source.budget.take("vertices", len(points))
    source.budget.take("faces", len(faces))
    return Polygons(points, faces.ravel(), np.full(len(faces), 3))


class _Instances:
    """Counts the instances of nodes: nested instances grow exponentially."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._open: list[str] = []  # enclosing nodes
        self._shown: dict[str, list[str]] = {}  # by node: nodes and geometry
        self._geometry = ""  # the present or last one
        self._corners: dict[str, int] = {}  # by geometry: indices in its lists, three or more per triangle
        parse_xml([source.data], source.budget, self._start, self._end, text=self._text)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        kind = name.rpartition(" ")[2]
        here = self._shown.setdefault(self._open[-1] if self._open else "scene", [])
        if kind == "node":
            inner = "#" + attributes.get("id", f" {len(self._shown)}")
            here.append(inner)
            self._open.append(inner)
        elif kind in ("instance_node", "instance_geometry"):
            here.append(attributes.get("url", ""))
        elif kind == "geometry":
            self._geometry = "#" + attributes.get("id", "")
        self._in_list = kind == "p"

    def _end(self, name: str) -> None:
        if name.rpartition(" ")[2] == "node":
            self._open.pop()

    def _text(self, text: str) -> None:
        if self._in_list:
            self._corners[self._geometry] = self._corners.get(self._geometry, 0) + len(text.split())

    def check(self) -> None:
        """Count the nodes and faces of all instances in the budget."""
        waiting, corners = [("scene", 1)], 0
        while waiting:
            node, depth = waiting.pop()
            self._source.budget.take("nodes", 1)
            self._source.budget.check("nesting", depth, f"node {shortened(node)!r} is nested {depth} deep")
            corners += self._corners.get(node, 0)
            self._source.budget.check("faces", corners // 3)
            waiting += [(inner, depth + 1) for inner in self._shown.get(node, [])]

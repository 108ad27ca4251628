"""Wavefront OBJ: `v` and `f` lines; everything else is skipped.

Polygons of any size (`fo` in old files), indices with and without slashes, negative (relative) indices and continued lines are
read. Index 0, indices beyond the vertices, and free-form curves and surfaces are refused.
"""

from __future__ import annotations

from collections.abc import Iterator

from jostle.shapes.formats.polygons import Polygons, polygons_from_lists
from jostle.shapes.formats.source import Source, UnreadableError, as_index, as_number

_FACE = ("f", "fo")  # "fo" in old files
_FREE_FORM = frozenset(("curv", "curv2", "surf", "bsp", "bzp", "cdc", "cdp", "res"))


def read_obj(source: Source) -> Polygons:
    """Return the polygons of an OBJ file."""
    points: list[list[float]] = []
    polygons: list[list[int]] = []
    lines_of_faces: list[int] = []
    for line, words in _statements(source.lines(vertices=points, faces=polygons)):
        keyword = words[0]
        if keyword == "v":
            if len(words) < 4:
                raise UnreadableError(f"line {line}: a vertex needs three coordinates")
            points.append([as_number(word, line) for word in words[1:4]])
        elif keyword in _FACE:
            polygons.append([_corner(word, len(points), line) for word in words[1:]])
            lines_of_faces.append(line)
        elif keyword in _FREE_FORM:
            raise UnreadableError(f"line {line}: free-form geometry ({keyword}) cannot be read; export triangles or polygons")
    for polygon, line in zip(polygons, lines_of_faces, strict=True):
        if len(polygon) < 3:
            raise UnreadableError(f"line {line}: a face needs at least 3 corners")
        if max(polygon) >= len(points):
            raise UnreadableError(f"line {line}: the face refers to vertex {max(polygon) + 1}; there are {len(points)}")
    return polygons_from_lists(source, points, polygons)


def _statements(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and words, without comments, joining continued lines."""
    pending: list[str] = []
    first = 0
    for number, raw in lines:
        content = raw.split("#", 1)[0].rstrip()
        first = first if pending else number
        if content.endswith("\\"):
            pending += [*content[:-1].split(), ""]  # the empty word marks that a continuation is open
            continue
        words = [word for word in pending if word] + content.split()
        pending = []
        if words:
            yield first, words
    if pending:
        raise UnreadableError(f"line {first}: the file ends within a continued line")


def _corner(word: str, count: int, line: int) -> int:
    index = as_index(word.split("/", 1)[0], line)
    if index > 0:
        return index - 1
    if index == 0:
        raise UnreadableError(f"line {line}: the face refers to vertex 0; OBJ counts from 1")
    if count + index < 0:
        raise UnreadableError(f"line {line}: the face refers to vertex {index}; only {count} vertices precede it")
    return count + index

"""ASCII OFF with its variants (COFF, NOFF, CNOFF, STOFF, …), geometry only.

A vertex line begins with its three coordinates, a face line with its number of corners and their indices. The body must match the
header exactly.
"""

from __future__ import annotations

import itertools
import re

from jostle.shapes.formats.polygons import Polygons, polygons_from_lists
from jostle.shapes.formats.source import Source, UnreadableError, as_index, as_number


def read_off(source: Source) -> Polygons:
    """Return the polygons of an OFF file."""
    if source.data[:40].split(b"\n", 1)[0].upper().strip().endswith(b"BINARY"):
        raise UnreadableError("binary OFF cannot be read; export ASCII")
    lines = ((k, words) for k, raw in source.lines() if (words := raw.split("#", 1)[0].split()))
    line, words = next(lines, (0, [""]))
    if not re.fullmatch(r"(ST)?C?N?OFF", words[0]):
        raise UnreadableError("it does not begin with OFF (or COFF, NOFF, STOFF)")
    line, counts = (line, words[1:]) if len(words) > 1 else next(lines, (line, []))  # counts may follow the keyword on its line
    if len(counts) < 2:
        raise UnreadableError("the numbers of vertices and faces are missing")
    vertex_count, face_count = as_index(counts[0], line), as_index(counts[1], line)
    source.budget.check("vertices", vertex_count, f"it announces {vertex_count:,} vertices")
    source.budget.check("faces", face_count, f"it announces {face_count:,} faces")
    body = list(itertools.islice(lines, max(vertex_count, 0) + max(face_count, 0)))
    found = len(body) + sum(1 for _ in lines)
    if vertex_count < 0 or face_count < 0 or found != vertex_count + face_count:
        raise UnreadableError(f"it announces {vertex_count} vertices and {face_count} faces but has {found} lines for them")
    points = [_coordinates(words, line) for line, words in body[:vertex_count]]
    polygons = [_corners(words, vertex_count, line) for line, words in body[vertex_count:]]
    return polygons_from_lists(source, points, polygons)


def _coordinates(words: list[str], line: int) -> list[float]:
    if len(words) < 3:
        raise UnreadableError(f"line {line}: a vertex needs three coordinates")
    return [as_number(word, line) for word in words[:3]]


def _corners(words: list[str], vertex_count: int, line: int) -> list[int]:
    size = as_index(words[0], line)
    if size < 3:
        raise UnreadableError(f"line {line}: the face has {size} corners; a face needs at least 3")
    if len(words) < size + 1:
        raise UnreadableError(f"line {line}: the face announces {size} corners but lists {len(words) - 1}")
    corners = [as_index(word, line) for word in words[1 : size + 1]]
    for corner in corners:
        if not 0 <= corner < vertex_count:
            raise UnreadableError(f"line {line}: the face refers to vertex {corner}; indices run from 0 to {vertex_count - 1}")
    return corners

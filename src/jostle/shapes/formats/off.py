"""Object File Format: OFF, COFF, NOFF, CNOFF, STOFF and the like in ASCII. Normals, colours and textures are passed over.

A vertex line begins with its three coordinates, a face line with its number of corners and their indices. What the header
announces must all be there, and nothing may follow.
"""

from __future__ import annotations

import re

from jostle.shapes.formats.polygons import Polygons, UnreadableError, as_index, as_number, lines_of, polygons_from_lists


def read_off(data: bytes) -> Polygons:
    """Return the polygons of an OFF file."""
    if data[:40].split(b"\n", 1)[0].upper().strip().endswith(b"BINARY"):
        raise UnreadableError("binary OFF cannot be read; export ASCII")
    lines = [(k, words) for k, raw in enumerate(lines_of(data), start=1) if (words := raw.split("#", 1)[0].split())]
    if not lines or not re.fullmatch(r"(ST)?C?N?OFF", lines[0][1][0]):
        raise UnreadableError("it does not begin with OFF (or COFF, NOFF, STOFF)")
    if len(lines[0][1]) > 1:
        lines[0] = (lines[0][0], lines[0][1][1:])  # counts on the line of the keyword
    else:
        del lines[0]
    if not lines or len(lines[0][1]) < 2:
        raise UnreadableError("the numbers of vertices and faces are missing")
    line, counts = lines[0]
    vertex_count, face_count = as_index(counts[0], line), as_index(counts[1], line)
    body = lines[1:]
    if vertex_count < 0 or face_count < 0 or len(body) != vertex_count + face_count:
        raise UnreadableError(f"it announces {vertex_count} vertices and {face_count} faces but has {len(body)} lines for them")
    points = [_coordinates(words, line) for line, words in body[:vertex_count]]
    polygons = [_corners(words, vertex_count, line) for line, words in body[vertex_count:]]
    return polygons_from_lists(points, polygons)


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

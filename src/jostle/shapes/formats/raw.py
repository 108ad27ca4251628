"""RAW triangles: nine numbers per line (Crossroads), names between blocks.

A line that begins with a letter is a name and is skipped; every other line must hold exactly nine numbers.
"""

from __future__ import annotations

import numpy as np

from jostle.shapes.formats.polygons import Polygons, triangle_soup
from jostle.shapes.formats.source import Source, UnreadableError, as_number


def read_raw(source: Source) -> Polygons:
    """Return the triangles of a RAW file."""
    rows: list[list[float]] = []
    for line, text in source.lines(faces=rows):
        words = text.split()
        if not words or _is_name(words):
            continue
        if len(words) != 9:
            raise UnreadableError(f"line {line}: a triangle needs nine numbers, not {len(words)}")
        rows.append([as_number(word, line) for word in words])
    return triangle_soup(source, np.asarray(rows, dtype=np.float64).reshape(-1, 3))


def _is_name(words: list[str]) -> bool:
    """Return whether a line is an object name: a letter or quote first, and short."""
    first = words[0]
    if first.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        return False
    return len(words) < 9 and (first[0].isalpha() or first[0] in "_\"'#")

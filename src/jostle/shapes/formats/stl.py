"""STL, binary and ASCII: a soup of triangles.

Binary float32 coordinates are kept exactly; stored normals are skipped. A file whose length fits the count in its header is binary,
even if it begins with "solid", as many do. The solids of an ASCII file become one mesh. A file that ends early is refused.
"""

from __future__ import annotations

import codecs

import numpy as np

from jostle.shapes.formats.polygons import Polygons, triangle_soup
from jostle.shapes.formats.source import Source, UnreadableError, as_number, shortened

_HEADER = 84
_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def read_stl(source: Source) -> Polygons:
    """Return the triangles of an STL file."""
    data = source.data
    promised = int.from_bytes(data[80:_HEADER], "little") if len(data) >= _HEADER else -1
    if promised >= 0 and len(data) == _HEADER + promised * _RECORD.itemsize:
        return triangle_soup(source, source.array(_HEADER, _RECORD, promised, "it is cut off")["corners"])
    if data.removeprefix(codecs.BOM_UTF8).lstrip()[:5].lower() == b"solid" and b"\0" not in data:
        return _read_ascii(source)
    if promised < 0:
        raise UnreadableError("it is shorter than the header of a binary STL and does not begin with 'solid'")
    found = (len(data) - _HEADER) / _RECORD.itemsize
    raise UnreadableError(
        f"its header announces {promised} triangles but there is room for {found:g}; the file is cut off or not an STL"
    )


def _read_ascii(source: Source) -> Polygons:
    # The keywords of a facet.
    order = ("facet", "outer", "vertex", "vertex", "vertex", "endloop", "endfacet")
    corners: list[list[float]] = []
    step, in_solid = 0, False
    for line, raw in source.lines(vertices=corners):
        words = raw.split()
        if not words:
            continue
        keyword = words[0].lower()
        if keyword == "solid" and not in_solid:
            in_solid = True
        elif keyword == "endsolid" and in_solid and step == 0:
            in_solid = False
        elif not in_solid or keyword != order[step]:
            expected = repr(order[step]) if in_solid else "'solid'"
            raise UnreadableError(f"line {line}: {expected} is expected, not {shortened(words[0])!r}")
        else:
            if keyword == "vertex":
                if len(words) != 4:
                    raise UnreadableError(f"line {line}: a vertex needs three coordinates")
                corners.append([as_number(word, line) for word in words[1:]])
            step = (step + 1) % len(order)
    if in_solid:
        raise UnreadableError("it ends without 'endsolid'; the file is cut off")
    return triangle_soup(source, np.asarray(corners, dtype=np.float64).reshape(-1, 3))

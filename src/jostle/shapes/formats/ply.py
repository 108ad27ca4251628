"""PLY: ASCII and binary of both byte orders, polygons of any size.

`x`, `y`, `z` of the element `vertex` and the list `vertex_indices` (or `vertex_index`) of the element `face` are read; all other
properties and elements are skipped. Binary numbers keep their exact values; ASCII numbers become float64. The body must match the
header exactly.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from jostle.shapes.formats.polygons import Polygons, polygons_from_lists
from jostle.shapes.formats.source import Source, UnreadableError, as_index, as_number, shortened

_OLD_NAMES = ("char", "uchar", "short", "ushort", "int", "uint", "float", "double")
_NEW_NAMES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64")
_TYPES = dict(zip(_OLD_NAMES + _NEW_NAMES, 2 * ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"), strict=True))
_WHOLE_TYPES = {name: kind for name, kind in _TYPES.items() if kind[0] in "iu"}
_FIRST_LINE = re.compile(b"(?:" + codecs.BOM_UTF8 + rb")?ply[ \t]*(?P<end>\r\n|\r|\n)")
_LAST_LINE = re.compile(rb"[\r\n]end_header\b[^\r\n]*")
_ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": ""}


class _Property(NamedTuple):
    name: str
    kind: str  # numpy type of the value, or of the entries of a list
    count_kind: str  # numpy type of a list's length; "" for a single value


_LENGTH = _Property("length of a list", "i4", "")
_ROWS_PER_TICK = 4096


class _Element(NamedTuple):
    name: str
    rows: int
    properties: list[_Property]


Table = dict[str, list[list[float]] | NDArray[np.generic]]


def read_ply(source: Source) -> Polygons:
    """Return the polygons of a PLY file."""
    order, elements, start = _header(source)
    corner_list = _name_of_corner_list(elements)
    for element in elements:
        limit = "faces" if element.name == "face" else "vertices"
        source.budget.check(limit, element.rows, f"it announces {element.rows:,} rows of {shortened(element.name)!r}")
    kept = {("vertex", axis) for axis in "xyz"} | {("face", corner_list)}
    tables = _read_binary(source, start, elements, order, kept) if order else _read_ascii(source, start, elements, kept)
    points = np.stack([np.asarray(tables["vertex"][axis], dtype=np.float64).reshape(-1) for axis in "xyz"], axis=1)
    lists = tables["face"][corner_list]
    if isinstance(lists, np.ndarray):  # all of one size
        source.budget.take("vertices", len(points))
        corners = lists.astype(np.int64)
        return Polygons(points, corners.ravel(), np.full(len(corners), corners.shape[1]))
    return polygons_from_lists(source, points, cast("list[list[int]]", lists))


def _header(source: Source) -> tuple[str, list[_Element], int]:
    """Return byte order ("" for ASCII), elements, and the start of the body."""
    data = source.data
    first, last = _FIRST_LINE.match(data), _LAST_LINE.search(data)
    if first is None or last is None:
        raise UnreadableError("it has no PLY header ('ply' … 'end_header')")
    # If lines end in "\r" alone, a "\n" after the last one is the first byte of the body.
    body = last.end() + 1 if first["end"] == b"\r" else data.find(b"\n", last.end()) + 1 or len(data)
    order = None
    elements: list[_Element] = []
    header = data[first.end() : last.start()].decode("utf-8", "replace")
    for line, text in enumerate(re.split("\r\n|\r|\n", header), start=2):
        match text.split():
            case [] | ["comment" | "obj_info", *_]:
                continue
            case ["format", name, _] if name in _ORDERS:
                order = _ORDERS[name]
            case ["element", name, count] if count.isdecimal():
                elements.append(_Element(name, as_index(count, line), []))
            case ["property", "list", count_kind, kind, name] if elements and count_kind in _WHOLE_TYPES and kind in _TYPES:
                elements[-1].properties.append(_Property(name, _TYPES[kind], _TYPES[count_kind]))
            case ["property", kind, name] if elements and kind in _TYPES:
                elements[-1].properties.append(_Property(name, _TYPES[kind], ""))
            case _:
                raise UnreadableError(f"line {line}: {shortened(text.strip())!r} is not understood")
    if order is None:
        raise UnreadableError("its header names no format (ascii, binary_little_endian or binary_big_endian)")
    return order, elements, body


def _name_of_corner_list(elements: list[_Element]) -> str:
    """Return the name of the face's corner list, or raise if there is no clear one."""
    by_name = {element.name: {p.name: p for p in element.properties} for element in elements}
    for element in elements:
        if len(by_name) != len(elements) or not element.properties or len(by_name[element.name]) != len(element.properties):
            raise UnreadableError(
                f"its header describes the element {shortened(element.name)!r} twice, twice the same property, or none"
            )
    for axis in "xyz":
        if axis not in by_name.get("vertex", {}) or by_name["vertex"][axis].count_kind:
            raise UnreadableError(f"its header has no coordinate {axis!r} for an element 'vertex'")
    for name in ("vertex_indices", "vertex_index"):
        p = by_name.get("face", {}).get(name)
        if p is not None and p.count_kind and p.kind[0] in "iu":
            return name
    raise UnreadableError("its header has no list 'vertex_indices' for an element 'face' (strips and points cannot be read)")


def _read_ascii(source: Source, start: int, elements: list[_Element], kept: set[tuple[str, str]]) -> dict[str, Table]:
    words = source.text(start).split()
    at = 0
    tables: dict[str, Table] = {}
    for element in elements:
        columns: dict[str, list[list[float]]] = {p.name: [] for p in element.properties}
        for row, p in _cells(source, element):
            size = 1
            if p.count_kind:
                size = int(_value(words[at], _LENGTH, element, row)) if at < len(words) else -1
                at += 1
            if size < 0 or at + size > len(words):
                raise UnreadableError(_cut_off(element, row))
            values = [_value(word, p, element, row) for word in words[at : at + size]]
            if (element.name, p.name) in kept:
                columns[p.name].append(values)
            at += size
        tables[element.name] = dict(columns)
    if at != len(words):
        raise UnreadableError(f"{len(words) - at} words follow what its header announces")
    return tables


def _cells(source: Source, element: _Element) -> Iterator[tuple[int, _Property]]:
    """Yield row and property of every entry of an element, within the time limit."""
    for row in range(element.rows):
        if row % _ROWS_PER_TICK == 0:
            source.budget.tick()
        for p in element.properties:
            yield row, p


def _value(word: str, p: _Property, element: _Element, row: int) -> float:
    try:
        return as_index(word, "") if p.kind[0] in "iu" else as_number(word, "")
    except UnreadableError:
        field = shortened(p.name)
        raise UnreadableError(f"{shortened(element.name)} {row}: {shortened(word)!r} is not a value for {field!r}") from None


def _cut_off(element: _Element, row: int) -> str:
    return f"it ends within {shortened(element.name)} {row} of {element.rows}"


def _read_binary(source: Source, at: int, elements: list[_Element], order: str, kept: set[tuple[str, str]]) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    for element in elements:
        table = _read_even_rows(source, at, element, order)
        if table is None:
            tables[element.name], at = _read_uneven_rows(source, at, element, order, kept)
        else:
            tables[element.name] = {p.name: table[p.name] for p in element.properties}
            at += table.nbytes
    if at != len(source):
        raise UnreadableError(f"{len(source) - at} bytes follow what its header announces")
    return tables


def _read_even_rows(source: Source, at: int, element: _Element, order: str) -> NDArray[np.void] | None:
    """Read all rows at once if every list is as long as in the first row; None if not."""
    fields: list[tuple[str, str] | tuple[str, str, tuple[int, ...]]] = []
    sizes: dict[str, int] = {}
    end = at  # of the first row
    for p in element.properties:
        if p.count_kind:
            size = int(source.array(end, order + p.count_kind, 1, _cut_off(element, 0))[0]) if element.rows else 0
            fields += [(_size_of(p), order + p.count_kind), (p.name, order + p.kind, (size,))]
            sizes[_size_of(p)] = size
            end += np.dtype(p.count_kind).itemsize + size * np.dtype(p.kind).itemsize
        else:
            fields.append((p.name, order + p.kind))
            end += np.dtype(p.kind).itemsize
        if min(sizes.values(), default=0) < 0 or (element.rows and end > len(source)):
            raise UnreadableError(_cut_off(element, 0))
    if at + (end - at) * element.rows > len(source) or end - at >= 1 << 31:
        return None  # cut off, lists of different sizes, or beyond numpy's records of 2³¹ bytes: read row by row
    table = source.array(at, np.dtype(fields), element.rows, _cut_off(element, 0))
    return table if all((table[name] == size).all() for name, size in sizes.items()) else None


def _size_of(p: _Property) -> str:
    return f"size of {p.name}"  # a name with blanks is no property's


def _read_uneven_rows(source: Source, at: int, element: _Element, order: str, kept: set[tuple[str, str]]) -> tuple[Table, int]:
    columns: dict[str, list[list[float]]] = {p.name: [] for p in element.properties}
    for row, p in _cells(source, element):
        size = 1
        if p.count_kind:
            size = int(source.array(at, order + p.count_kind, 1, _cut_off(element, row))[0])
            at += np.dtype(p.count_kind).itemsize
        values = source.array(at, order + p.kind, size, _cut_off(element, row))
        if (element.name, p.name) in kept:
            columns[p.name].append(values.tolist())
        at += values.nbytes
    return dict(columns), at

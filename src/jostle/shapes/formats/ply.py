"""Polygon File Format (PLY): ASCII, binary little-endian and binary big-endian, polygons of any size.

`x`, `y`, `z` of the element `vertex` and the list `vertex_indices` (or `vertex_index`) of the element `face` are read, all
other properties and elements passed over. Binary numbers keep their exact values; ASCII ones are read as float64. What the
header announces must all be there, and nothing may follow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.shapes.formats.polygons import Floats, Polygons, UnreadableError, as_text, polygons_from_lists

_OLD_NAMES = ("char", "uchar", "short", "ushort", "int", "uint", "float", "double")
_NEW_NAMES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64")
_TYPES = dict(zip(_OLD_NAMES + _NEW_NAMES, 2 * ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8"), strict=True))
_ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": ""}


class _Property(NamedTuple):
    name: str
    kind: str  # numpy type of the value, or of the entries of a list
    count_kind: str  # numpy type of a list's length; "" for a single value


class _Element(NamedTuple):
    name: str
    rows: int
    properties: list[_Property]


Table = dict[str, list[list[float]] | NDArray[np.generic]]


def read_ply(data: bytes) -> Polygons:
    """Return the polygons of a PLY file."""
    order, elements, start = _header(data)
    corner_list = _name_of_corner_list(elements)
    tables = _read_binary(data, start, elements, order) if order else _read_ascii(as_text(data[start:]), elements)
    points = np.stack([np.asarray(tables["vertex"][axis], dtype=np.float64).reshape(-1) for axis in "xyz"], axis=1)
    lists = tables["face"][corner_list]
    if isinstance(lists, np.ndarray):  # all of one size
        corners = lists.astype(np.int64)
        return Polygons(points, corners.ravel(), np.full(len(corners), corners.shape[1]))
    return polygons_from_lists(points, [[int(corner) for corner in polygon] for polygon in lists])


def _header(data: bytes) -> tuple[str, list[_Element], int]:
    """Return byte order ("" for ASCII), elements, and where the body begins."""
    end = data.find(b"end_header")
    if data[:3] != b"ply" or end < 0:
        raise UnreadableError("it has no PLY header ('ply' … 'end_header')")
    body = data.find(b"\n", end) + 1 or len(data)
    order = None
    elements: list[_Element] = []
    for line, text in enumerate(data[:end].decode("latin-1").splitlines(), start=1):
        words = text.split()
        match words:
            case [] | ["ply"] | ["comment" | "obj_info", *_]:
                continue
            case ["format", name, _] if name in _ORDERS:
                order = _ORDERS[name]
            case ["element", name, count] if count.isdigit():
                elements.append(_Element(name, int(count), []))
            case ["property", "list", count_kind, kind, name] if elements and count_kind in _TYPES and kind in _TYPES:
                elements[-1].properties.append(_Property(name, _TYPES[kind], _TYPES[count_kind]))
            case ["property", kind, name] if elements and kind in _TYPES:
                elements[-1].properties.append(_Property(name, _TYPES[kind], ""))
            case _:
                raise UnreadableError(f"line {line}: {text.strip()!r} is not understood")
    if order is None:
        raise UnreadableError("its header names no format (ascii, binary_little_endian or binary_big_endian)")
    return order, elements, body


def _name_of_corner_list(elements: list[_Element]) -> str:
    """Return the name of the list of a face's corners; refuse a header that does not describe a mesh, or not clearly."""
    by_name = {element.name: {p.name: p for p in element.properties} for element in elements}
    for element in elements:
        if len(by_name) != len(elements) or not element.properties or len(by_name[element.name]) != len(element.properties):
            raise UnreadableError(f"its header describes the element {element.name!r} twice, twice the same property, or none")
    for axis in "xyz":
        if axis not in by_name.get("vertex", {}) or by_name["vertex"][axis].count_kind:
            raise UnreadableError(f"its header has no coordinate {axis!r} for an element 'vertex'")
    for name in ("vertex_indices", "vertex_index"):
        p = by_name.get("face", {}).get(name)
        if p is not None and p.count_kind and p.kind[0] in "iu":
            return name
    raise UnreadableError("its header has no list 'vertex_indices' for an element 'face' (strips and points cannot be read)")


def _read_ascii(text: str, elements: list[_Element]) -> dict[str, Table]:
    words = text.split()
    at = 0
    tables: dict[str, Table] = {}
    for element in elements:
        columns: dict[str, list[list[float]]] = {p.name: [] for p in element.properties}
        for row in range(element.rows):
            for p in element.properties:
                size = 1
                if p.count_kind:
                    size = int(_value(words[at], _Property("length of a list", "i4", ""), element, row)) if at < len(words) else -1
                    at += 1
                if size < 0 or at + size > len(words):
                    raise UnreadableError(f"it ends within {element.name} {row} of {element.rows}")
                columns[p.name].append([_value(word, p, element, row) for word in words[at : at + size]])
                at += size
        tables[element.name] = dict(columns)
    if at != len(words):
        raise UnreadableError(f"{len(words) - at} words follow what its header announces")
    return tables


def _value(word: str, p: _Property, element: _Element, row: int) -> float:
    try:
        if "_" in word:
            raise ValueError
        return int(word) if p.kind[0] in "iu" else float(word)
    except ValueError:
        raise UnreadableError(f"{element.name} {row}: {word!r} is not a value for {p.name!r}") from None


def _read_binary(data: bytes, at: int, elements: list[_Element], order: str) -> dict[str, Table]:
    tables: dict[str, Table] = {}
    for element in elements:
        sizes = _list_sizes_of_first_row(data, at, element, order)
        table = _read_even_rows(data, at, element, order, sizes)
        if table is None:
            tables[element.name], at = _read_uneven_rows(data, at, element, order)
        else:
            tables[element.name] = {p.name: table[p.name] for p in element.properties}
            at += table.nbytes
    if at != len(data):
        raise UnreadableError(f"{len(data) - at} bytes follow what its header announces")
    return tables


def _list_sizes_of_first_row(data: bytes, at: int, element: _Element, order: str) -> list[int]:
    sizes = []
    for p in element.properties if element.rows else []:
        size = 1
        if p.count_kind:
            size = int(_numbers(data, at, order + p.count_kind, 1, element, 0)[0])
            at += np.dtype(p.count_kind).itemsize
            sizes.append(size)
        at += size * np.dtype(p.kind).itemsize
    return sizes


def _read_even_rows(data: bytes, at: int, element: _Element, order: str, sizes: list[int]) -> NDArray[np.void] | None:
    """Read all rows at once if every list is as long as in the first row; None if not."""
    fields: list[tuple[str, str] | tuple[str, str, tuple[int, ...]]] = []
    remaining = list(sizes)
    for p in element.properties:
        if p.count_kind:
            fields.append((f"size of {p.name}", order + p.count_kind))
            fields.append((p.name, order + p.kind, (max(remaining.pop(0), 0) if remaining else 0,)))
        else:
            fields.append((p.name, order + p.kind))
    record = np.dtype(fields)
    if at + record.itemsize * element.rows > len(data):
        return None  # cut off, or lists of different sizes: the slow way tells
    table = np.frombuffer(data, dtype=record, count=element.rows, offset=at)
    lists = [p for p in element.properties if p.count_kind]
    even = all((table[f"size of {p.name}"] == size).all() for p, size in zip(lists, sizes, strict=False))
    return table if even else None


def _read_uneven_rows(data: bytes, at: int, element: _Element, order: str) -> tuple[Table, int]:
    columns: dict[str, list[list[float]]] = {p.name: [] for p in element.properties}
    for row in range(element.rows):
        for p in element.properties:
            size = 1
            if p.count_kind:
                size = int(_numbers(data, at, order + p.count_kind, 1, element, row)[0])
                at += np.dtype(p.count_kind).itemsize
            values = _numbers(data, at, order + p.kind, size, element, row)
            columns[p.name].append(values.tolist())
            at += values.nbytes
    return dict(columns), at


def _numbers(data: bytes, at: int, kind: str, count: int, element: _Element, row: int) -> Floats:
    if count < 0 or at + count * np.dtype(kind).itemsize > len(data):
        raise UnreadableError(f"it ends within {element.name} {row} of {element.rows}")
    return np.frombuffer(data, dtype=kind, count=count, offset=at)

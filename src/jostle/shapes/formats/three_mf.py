"""3MF: the build's objects and components, as triangles in build coordinates.

Objects follow the order of the build's items; components of an object follow its own triangles. Materials and slices are ignored;
units are not applied. Files whose geometry requires an extension are refused.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from array import array
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Longs
from jostle.shapes.formats.polygons import Polygons, is_mirroring, moved
from jostle.shapes.formats.source import Source, UnreadableError, as_index, as_number, reason_of, shortened
from jostle.shapes.formats.xml import parse_xml
from jostle.shapes.mesh import concatenated

_CORE = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02 "
_PATH = "http://schemas.microsoft.com/3dmanufacturing/production/2015/06 path"
_MODEL = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
_USUAL_MODEL = "3D/3dmodel.model"
_CHUNK = 1 << 20
_HARMLESS = ("production", "material", "slice", "trianglesets", "securecontent")  # within the namespace of an extension
_SMALL = 1 << 20  # bytes that may be compressed by any ratio

Key = tuple[str, str]  # part of the archive, object


class _Use(NamedTuple):
    """An object in the build or within another object."""

    key: Key
    transform: Floats


class _Object:
    def __init__(self) -> None:
        self.points = array("d")
        self.corners = array("q")
        self.components: list[_Use] = []


def read_3mf(source: Source) -> Polygons:
    """Return the triangles of a 3MF file."""
    try:
        items, objects = _Archive(source).model()
    except KeyError as error:
        raise UnreadableError(f"an element of its model has no {error}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError, LookupError) as error:
        raise UnreadableError(f"its archive is broken ({reason_of(error)})") from None
    return _built(source, items, objects)


class _Archive:
    def __init__(self, source: Source) -> None:
        self._source = source
        members = source.data.count(b"PK\x01\x02")
        source.budget.check("nodes", members, f"its archive has {members:,} members")
        self._zip = zipfile.ZipFile(io.BytesIO(source.data))
        self._members = {info.filename.lstrip("/").casefold(): info for info in self._zip.infolist()}

    def model(self) -> tuple[list[_Use], dict[Key, _Object]]:
        """Return the build's items and the objects of all models that they need."""
        main = self._main()
        objects: dict[Key, _Object] = {}
        items = self._read(main, objects)
        read, waiting = {main}, [use.key[0] for use in items] + [use.key[0] for o in objects.values() for use in o.components]
        while waiting:
            part = waiting.pop()
            if part not in read:
                read.add(part)
                known = len(objects)
                self._read(part, objects)
                waiting += [use.key[0] for o in list(objects.values())[known:] for use in o.components]
        return items, objects

    def _main(self) -> str:
        found = [_USUAL_MODEL]

        def start(_: str, attributes: dict[str, str]) -> None:
            if attributes.get("Type") == _MODEL and "Target" in attributes:
                found.append(attributes["Target"])

        if "_rels/.rels" in self._members:
            parse_xml(self._chunks("_rels/.rels"), self._source.budget, start)
        return _part(found[-1])

    def _chunks(self, part: str) -> Iterator[bytes]:
        """Yield the content of a member in pieces, within the limits."""
        info = self._members.get(part)
        if info is None:
            raise UnreadableError(f"its archive has no {shortened(part)!r}")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
            raise UnreadableError(f"{shortened(part)!r} in its archive is encrypted or not compressed by deflate")
        self._refuse_bomb(info, info.file_size)
        size = 0
        with self._zip.open(info) as member:
            while chunk := member.read(_CHUNK):
                size += len(chunk)
                self._refuse_bomb(info, size)
                self._source.budget.take("decoded_bytes", len(chunk))
                yield chunk

    def _refuse_bomb(self, info: zipfile.ZipInfo, size: int) -> None:
        ratio = size // max(min(info.compress_size, len(self._source)), 1) if size > _SMALL else 1
        self._source.budget.check("ratio", ratio, f"its archive unpacks to {ratio:,} times its size")

    def _read(self, part: str, objects: dict[Key, _Object]) -> list[_Use]:
        """Read one model: add its objects, and return the items of its build."""
        model = _Model(part, objects)
        parse_xml(self._chunks(part), self._source.budget, model.start, namespaces=model.namespaces)
        return model.items


class _Model:
    """The content of a model, collected element by element."""

    def __init__(self, part: str, objects: dict[Key, _Object]) -> None:
        self._part, self._objects = part, objects
        self._object = _Object()
        self.items: list[_Use] = []
        self.namespaces: dict[str, str] = {}

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Read one element, the common ones first."""
        if name == _CORE + "triangle":
            self._object.corners.extend([as_index(attributes[k], "a triangle") for k in ("v1", "v2", "v3")])
        elif name == _CORE + "vertex":
            self._object.points.extend([_number(attributes[k]) for k in "xyz"])
        elif name == _CORE + "object":
            self._object = _Object()
            key = self._part, attributes["id"]
            if key in self._objects:
                raise UnreadableError(f"it has two objects {shortened(attributes['id'])!r}")
            self._objects[key] = self._object
        elif name == _CORE + "component":
            self._object.components.append(self._use(attributes))
        elif name == _CORE + "item":
            self.items.append(self._use(attributes))
        elif name == _CORE + "model":
            for prefix in attributes.get("requiredextensions", "").split():
                namespace = self.namespaces.get(prefix, prefix)
                if not any(f"/{word}/" in namespace for word in _HARMLESS):
                    raise UnreadableError(f"it needs the extension {shortened(prefix)!r}; export without it")

    def _use(self, attributes: dict[str, str]) -> _Use:
        transform = np.eye(4)
        if "transform" in attributes:
            words = attributes["transform"].split()
            if len(words) != 12:
                raise UnreadableError(f"a transform has {len(words)} numbers; it needs 12")
            transform[:3] = np.array([_number(word) for word in words]).reshape(4, 3).T
        if not np.isfinite(transform).all():
            raise UnreadableError("a transform is not finite")
        return _Use((_part(attributes.get(_PATH, self._part)), attributes["objectid"]), transform)


def _number(word: str) -> float:
    return as_number(word, "a vertex or transform")


def _part(target: str) -> str:
    """Return a part's name; targets start at the archive's root, with "." and ".."."""
    name = posixpath.normpath(target.lstrip("/"))
    if name.split("/")[0] == "..":
        raise UnreadableError(f"its part {shortened(target)!r} lies outside of its archive")
    return name.casefold()


def _built(source: Source, items: list[_Use], objects: dict[Key, _Object]) -> Polygons:
    """Return the objects at their places in the build."""
    _count(source, items, objects)
    parts: list[tuple[Floats, Longs]] = []
    arrays = {key: _arrays(shown) for key, shown in objects.items()}
    waiting = [(use, np.eye(4)) for use in reversed(items)]
    while waiting:
        source.budget.tick()
        (key, transform), parent = waiting.pop()
        with np.errstate(over="ignore", invalid="ignore"):
            world = parent @ transform
        if not np.isfinite(world).all():
            raise UnreadableError(f"object {shortened(key[1])!r}: its transform is not finite")
        own, triangles = arrays[key]
        if not (world == np.eye(4)).all():
            own = moved(own, world)
            triangles = triangles[:, ::-1] if is_mirroring(world) else triangles
        parts.append((own, triangles))
        waiting += [(use, world) for use in reversed(objects[key].components)]
    points, faces = concatenated(parts)
    return Polygons(points, faces.ravel(), np.full(len(faces), 3))


class _Total(NamedTuple):
    """The content of an object with all its components."""

    vertices: int
    faces: int
    nodes: int
    depth: int


def _count(source: Source, items: list[_Use], objects: dict[Key, _Object]) -> None:
    """Count the build's content before making it: nesting grows exponentially."""
    totals: dict[Key, _Total] = {}
    waiting, within = [use.key for use in items], set()
    while waiting:
        key = waiting[-1]
        if key not in objects:
            raise UnreadableError(f"it refers to an object {shortened(key[1])!r}, which it does not have")
        missing = [use.key for use in objects[key].components if use.key not in totals]
        if not missing:
            totals[key] = _sum([totals[use.key] for use in objects[key].components], objects[key])
            within.discard(waiting.pop())
            continue
        if key in within:
            raise UnreadableError(f"object {shortened(key[1])!r} is a component of itself")
        within.add(key)
        waiting += missing
    total = _sum([totals[use.key] for use in items], _Object())
    source.budget.take("vertices", total.vertices)
    source.budget.take("faces", total.faces)
    source.budget.take("nodes", total.nodes - 1)
    source.budget.check("nesting", total.depth - 1, f"its components are nested {total.depth - 1} deep")


def _sum(parts: list[_Total], own: _Object) -> _Total:
    vertices, faces, nodes = (sum(part[k] for part in parts) for k in range(3))
    depth = max((part.depth for part in parts), default=0)
    return _Total(vertices + len(own.points) // 3, faces + len(own.corners) // 3, nodes + 1, depth + 1)


def _arrays(shown: _Object) -> tuple[Floats, Longs]:
    points = np.frombuffer(shown.points).reshape(-1, 3) if shown.points else np.empty((0, 3))
    triangles = np.frombuffer(shown.corners, dtype=np.int64).reshape(-1, 3) if shown.corners else np.empty((0, 3), dtype=np.int64)
    if len(triangles) and not 0 <= triangles.min() <= triangles.max() < len(points):
        raise UnreadableError(f"a triangle refers to vertex {triangles.max()}; its object has {len(points)} (counted from 0)")
    return points, triangles

"""glTF 2.0 (.gltf, .glb): nodes, their meshes and poses.

Only nodes of the default scene are read, in the file's order. The primitives of a mesh follow each other in order; strips and fans
are unrolled, points and lines skipped, and so are nodes without triangles. Skins, morph targets, animations and materials are
ignored: a mesh is read in its rest shape. Files whose geometry needs an extension are refused. Buffers beside the file are read
from its own folder and below only.
"""

from __future__ import annotations

import base64
import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle._types import Floats, Longs
from jostle.geometry.quaternion import rotation_of_quaternion
from jostle.shapes.formats.source import Budget, Source, UnreadableError, reason_of, shortened

_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_LONGEST_NAME = 1000
_HARMLESS = ("KHR_materials", "KHR_texture", "KHR_lights", "EXT_texture", "EXT_lights", "KHR_animation", "KHR_xmp")


class Node(NamedTuple):
    """A node with a mesh."""

    name: str
    mesh: int
    transform: Floats  # (4, 4) node to world, affine


class GltfContent(NamedTuple):
    """The content of a glTF file: nodes, and points, triangles and name per mesh."""

    nodes: list[Node]
    meshes: dict[int, tuple[Floats, Longs, str]]


def read_gltf(source: Source) -> GltfContent:
    """Return the nodes and meshes of a glTF or GLB file."""
    document, binary = _split(source)
    try:
        _refuse_unknown_extensions(document)
        source.budget.take("nodes", len(document.get("nodes", [])))
        buffers = [_buffer(source, buffer, binary) for buffer in document.get("buffers", [])]
        file = _File(document, buffers, source.budget)
        nodes = _nodes(file)
        primitives = {k: _primitives(file, k) for k in sorted({node.mesh for node in nodes})}
        nodes = [node for node in nodes if primitives[node.mesh]]
        meshes = {k: _mesh(file, k, own) for k, own in primitives.items() if own}
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise UnreadableError(f"its structure is broken ({type(error).__name__}: {reason_of(error)})") from None
    return GltfContent(nodes, meshes)


class _File(NamedTuple):
    document: dict[str, Any]
    buffers: list[Source]
    budget: Budget

    def entry(self, group: str, k: object) -> dict[str, Any]:
        """Return entry k of a list of the document; negative numbers are invalid."""
        entries = self.document.get(group, [])
        if type(k) is not int or not 0 <= k < len(entries):
            raise UnreadableError(f"it refers to entry {shortened(str(k))} of {group!r}, which has {len(entries)}")
        return entries[k]


def _split(source: Source) -> tuple[dict[str, Any], bytes | None]:
    """Return the JSON document and the binary chunk, if any."""
    text, binary = source.data, None
    if text[:4] == b"glTF":
        version, length = (int.from_bytes(text[k : k + 4], "little") for k in (4, 8))
        if version != 2 or length != len(source):
            raise UnreadableError(
                f"its header says version {version}, {length} bytes; it has {len(source)} bytes (only version 2 can be read)"
            )
        text, binary = _chunks(source)
    source.budget.take("entries", sum(text.count(mark) for mark in (b",", b"[", b"{")))
    try:
        document = json.loads(text.decode("utf-8-sig"))
    except RecursionError:
        raise UnreadableError("its JSON is nested too deeply") from None
    except ValueError as error:  # of the encoding, the syntax, or a number of thousands of digits
        raise UnreadableError(f"its JSON does not parse ({reason_of(error)})") from None
    if not isinstance(document, dict):
        raise UnreadableError("its JSON is not an object")
    asset = document.get("asset")
    version_text = shortened(str(asset.get("version", "none"))) if isinstance(asset, dict) else "none"
    if not version_text.startswith("2"):
        raise UnreadableError(f"it is glTF version {version_text}; only version 2 can be read")
    return document, binary


def _chunks(source: Source) -> tuple[bytes, bytes | None]:
    """Return the JSON and the first binary chunk of a GLB file."""
    found: dict[bytes, tuple[int, int]] = {}
    at, cut_off = 12, "its last chunk is cut off"
    while at < len(source):
        source.budget.tick()
        size, kind = int(source.array(at, "<u4", 1, cut_off)[0]), source.slice(at + 4, 4, cut_off)
        if at == 12 and kind != b"JSON":
            break
        if kind in (b"JSON", b"BIN\0"):
            found.setdefault(kind, (at + 8, size))
        at += 8 + size
    if b"JSON" not in found:
        raise UnreadableError("its first chunk is not JSON")
    contents = {kind: source.slice(*place, cut_off) for kind, place in found.items()}
    return contents[b"JSON"], contents.get(b"BIN\0")


def _refuse_unknown_extensions(document: dict[str, Any]) -> None:
    for extension in document.get("extensionsRequired", []):
        if not extension.startswith(_HARMLESS):
            raise UnreadableError(
                f"it needs the extension {shortened(extension)}; export without it (no compression, no quantisation)"
            )
    if any("EXT_mesh_gpu_instancing" in node.get("extensions", {}) for node in document.get("nodes", [])):
        raise UnreadableError("it uses EXT_mesh_gpu_instancing; export one node per instance")


def _buffer(source: Source, buffer: dict[str, Any], binary: bytes | None) -> Source:
    uri = buffer.get("uri")
    if uri is None:
        if binary is None:
            raise UnreadableError("a buffer has neither a uri nor a binary chunk")
        content = source.decoded(binary)
    elif uri.startswith("data:"):
        source.budget.take("decoded_bytes", 3 * len(uri) // 4)
        content = source.decoded(base64.b64decode(uri.split(",", 1)[1], validate=True))
    else:
        content = source.beside(uri)
    if len(content) < buffer["byteLength"]:
        raise UnreadableError(f"a buffer should have {buffer['byteLength']} bytes but has {len(content)}")
    return content


def _nodes(file: _File) -> list[Node]:
    """Return the default scene's nodes with a mesh, with world transforms."""
    nodes = file.document.get("nodes", [])
    children = {child for node in nodes for child in node.get("children", [])}
    if file.document.get("scenes"):
        roots = file.entry("scenes", file.document.get("scene", 0)).get("nodes", [])
    else:
        roots = [k for k in range(len(nodes)) if k not in children]
    world: dict[int, Floats] = {}
    waiting = [(root, np.eye(4), 1) for root in roots]
    while waiting:
        k, parent, depth = waiting.pop()
        file.budget.check("nesting", depth, f"node {shortened(str(k))} is nested {depth} deep")
        node = file.entry("nodes", k)
        if k in world:
            raise UnreadableError(f"node {k} is reached twice; nodes must form a tree")
        world[k] = _placed(parent, _local(node, k), k)
        waiting += [(child, world[k], depth + 1) for child in node.get("children", [])]
    shown = [k for k in sorted(world) if "mesh" in nodes[k]]
    return [Node(_name_of(file, k), nodes[k]["mesh"], world[k]) for k in shown]


def _name_of(file: _File, k: int) -> str:
    node = file.entry("nodes", k)
    name = node.get("name") or file.entry("meshes", node["mesh"]).get("name") or f"node {k}"
    return shortened(str(name), _LONGEST_NAME)


def _placed(parent: Floats, local: Floats, k: int) -> Floats:
    """Return the world transform of a node, within the range of coordinates."""
    with np.errstate(all="ignore"):
        transform: Floats = parent @ local
    if not (np.abs(transform) <= cast.LARGEST_COORDINATE).all():
        raise UnreadableError(f"node {k}: its scale or place in the world is beyond {cast.LARGEST_COORDINATE:g}")
    return transform


def _local(node: dict[str, Any], k: int) -> Floats:
    """Return a node's own transform: its matrix, or scale, rotation, translation."""
    transform = np.eye(4)
    if "matrix" in node:
        transform = np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    else:
        x, y, z, w = _unit(np.array(node.get("rotation", (0.0, 0.0, 0.0, 1.0)), dtype=np.float64), k)
        rotation = rotation_of_quaternion(w, x, y, z)
        with np.errstate(over="ignore"):
            transform[:3, :3] = rotation * np.array(node.get("scale", (1.0, 1.0, 1.0)), dtype=np.float64).reshape(3)
        transform[:3, 3] = np.array(node.get("translation", (0.0, 0.0, 0.0)), dtype=np.float64).reshape(3)
    if not np.isfinite(transform).all() or not (transform[3] == (0.0, 0.0, 0.0, 1.0)).all():
        raise UnreadableError(f"the transform of node {k} is not a finite affine map")
    return transform


def _unit(quaternion: Floats, k: int) -> Floats:
    """Return a quaternion normalised again, so that its float32 rotation is rigid."""
    if quaternion.shape != (4,) or not (np.abs(quaternion) < 2.0).all() or not 0.5 < float(np.linalg.norm(quaternion)) < 2.0:
        raise UnreadableError(f"the rotation of node {k} is not a unit quaternion")
    return quaternion / np.linalg.norm(quaternion)


class _Primitive(NamedTuple):
    where: str
    mode: int
    positions: int
    indices: int | None
    corners: int  # of its triangles


def _primitives(file: _File, k: int) -> list[_Primitive]:
    """Return the triangle primitives of a mesh, counted in the budget."""
    found = []
    counted: set[int] = set()
    for p, primitive in enumerate(file.entry("meshes", k)["primitives"]):
        mode, positions = primitive.get("mode", 4), primitive["attributes"].get("POSITION")
        if mode in (0, 1, 2, 3) or positions is None:
            continue
        indices = primitive.get("indices")
        if positions not in counted:  # primitives may share their points
            counted.add(positions)
            file.budget.take("vertices", _whole(file.entry("accessors", positions), "count"))
        corners = _whole(file.entry("accessors", positions if indices is None else indices), "count")
        file.budget.take("faces", corners // 3 if mode == 4 else max(corners - 2, 0))
        found.append(_Primitive(f"mesh {_mesh_name(file, k)!r}, primitive {p}", mode, positions, indices, corners))
    return found


def _mesh_name(file: _File, k: int) -> str:
    return shortened(str(file.entry("meshes", k).get("name") or f"mesh {k}"), _LONGEST_NAME)


def _mesh(file: _File, k: int, primitives: list[_Primitive]) -> tuple[Floats, Longs, str]:
    points, faces, start = [np.empty((0, 3))], [np.empty((0, 3), dtype=np.int64)], 0
    first: dict[int, tuple[int, int]] = {}  # first point of an accessor, and its number of points
    for where, mode, positions, indices, corners in primitives:
        file.budget.tick()
        if positions not in first:
            own = _accessor(file, positions, "VEC3")
            if own.dtype.kind != "f":
                raise UnreadableError(f"{where}: positions are not floats")
            first[positions] = start, len(own)
            points.append(own.astype(np.float64))
            start += len(own)
        begin, count = first[positions]
        order = np.arange(corners)
        if indices is not None:
            order = _accessor(file, indices, "SCALAR").ravel()
            if order.dtype.kind != "u":
                raise UnreadableError(f"{where}: indices are not unsigned whole numbers")
        if corners and int(order.max()) >= count:
            raise UnreadableError(f"{where}: an index is {order.max()}; there are {count} vertices")
        faces.append(_unrolled(order.astype(np.int64), mode, where) + begin)
    return np.vstack(points), np.vstack(faces), _mesh_name(file, k)


def _unrolled(order: Longs, mode: int, where: str) -> Longs:
    """Return the triangles of a list, strip or fan, all with one orientation."""
    if mode == 4:
        if len(order) % 3:
            raise UnreadableError(f"{where}: {len(order)} indices do not make whole triangles")
        return order.reshape(-1, 3)
    if mode not in (5, 6):
        raise UnreadableError(f"{where}: mode {shortened(str(mode))} does not exist")
    k = np.arange(max(len(order) - 2, 0))
    if mode == 5:
        return np.stack([order[k], order[k + 1 + k % 2], order[k + 2 - k % 2]], axis=1)
    return np.stack([order[k + 1], order[k + 2], np.broadcast_to(order[:1], k.shape)], axis=1)


def _accessor(file: _File, k: int, kind: str) -> NDArray[Any]:
    """Return (count, width) values of an accessor, with its sparse replacements."""
    accessor = file.entry("accessors", k)
    if accessor["type"] != kind:
        raise UnreadableError(f"accessor {k} holds {shortened(str(accessor['type']))} where {kind} is needed")
    component, width, count = _COMPONENTS[accessor["componentType"]], _WIDTHS[kind], _whole(accessor, "count")
    sparse = accessor.get("sparse")
    if "bufferView" in accessor:
        values = _view(file, accessor, component, width, count)
    elif sparse is None or count > sum(len(buffer) for buffer in file.buffers):
        raise UnreadableError(f"accessor {k} has no bufferView: its {count:,} values are not in the file")
    else:
        values = np.zeros((count, width), dtype=component)
    if sparse is not None:
        changed = _whole(sparse, "count")
        if changed > count:
            raise UnreadableError(f"accessor {k} replaces {changed} of its {count} values")
        index = _COMPONENTS[sparse["indices"]["componentType"]]
        where = _view(file, sparse["indices"], index, 1, changed).ravel().astype(np.int64)
        if len(where) and not 0 <= where.min() <= where.max() < count:
            raise UnreadableError(f"accessor {k}: a sparse index is not within its {count} values")
        values = values.copy()
        values[where] = _view(file, sparse["values"], component, width, changed)
    return values


def _view(file: _File, part: dict[str, Any], component: str, width: int, count: int) -> NDArray[Any]:
    """Return values of an accessor, or of its sparse part, from the buffer view."""
    k = part["bufferView"]
    view = file.entry("bufferViews", k)
    item = np.dtype(component).itemsize * width
    stride, first, offset = _whole(view, "byteStride", item), _whole(view, "byteOffset", 0), _whole(part, "byteOffset", 0)
    file.entry("buffers", view["buffer"])  # refuses numbers out of range
    too_short = f"buffer view {k} is too short for {count} values"
    if count and offset + stride * (count - 1) + item > _whole(view, "byteLength"):
        raise UnreadableError(too_short)
    content: Source = file.buffers[view["buffer"]]
    return content.rows(first + offset, component, (count, width), stride, too_short)


def _whole(entry: dict[str, Any], field: str, usual: int | None = None) -> int:
    """Return a non-negative integer of the document."""
    value = entry.get(field, usual)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < 1 << 62 or value != int(value):
        raise UnreadableError(f"its field {field!r} is {shortened(repr(value))}; it must be a whole number, 0 or more")
    return int(value)

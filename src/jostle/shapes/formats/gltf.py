"""glTF 2.0, as .gltf (JSON with buffers beside it or inside) and .glb: nodes, the meshes they show, and where.

Nodes come in the file's order, those of the default scene only. The triangles of all primitives of a mesh follow each other
in order; strips and fans are unrolled, points and lines passed over. Skins, morph targets, animations and materials are not
geometry here: a mesh is read in its rest shape. Files that need an extension to show their geometry are refused.
"""

from __future__ import annotations

import base64
import binascii
import json
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from jostle.shapes.formats.polygons import Floats, Ints, UnreadableError

_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}
_HARMLESS = ("KHR_materials", "KHR_texture", "KHR_lights", "EXT_texture", "EXT_lights", "KHR_animation", "KHR_xmp")


class Node(NamedTuple):
    """One node that shows a mesh."""

    name: str
    mesh: int
    transform: Floats  # (4, 4), node to world, any affine map


class Scene(NamedTuple):
    """What a file shows: nodes in order, and points, triangles and name of each mesh they use."""

    nodes: list[Node]
    meshes: dict[int, tuple[Floats, Ints, str]]


def read_gltf(data: bytes, folder: Path | None) -> Scene:
    """Return the scene of a glTF or GLB file; `folder` is where its buffers lie, None if no other file may be read."""
    document, binary = _split(data)
    try:
        _refuse_unknown_extensions(document)
        buffers = [_buffer(buffer, binary, folder) for buffer in document.get("buffers", [])]
        nodes = _nodes(document)
        meshes = {k: _mesh(document, buffers, k) for k in sorted({node.mesh for node in nodes})}
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, MemoryError, binascii.Error) as error:
        raise UnreadableError(f"its structure is broken ({type(error).__name__}: {error})") from None
    return Scene(nodes, meshes)


def _split(data: bytes) -> tuple[dict[str, Any], bytes | None]:
    """Return the JSON document and the binary chunk, if there is one."""
    text, binary = data, None
    if data[:4] == b"glTF":
        version, length = (int.from_bytes(data[k : k + 4], "little") for k in (4, 8))
        if version != 2 or length != len(data):
            raise UnreadableError(
                f"its header says version {version}, {length} bytes; it has {len(data)} bytes (only version 2 can be read)"
            )
        chunks = _chunks(data)
        if not chunks or chunks[0][0] != b"JSON":
            raise UnreadableError("its first chunk is not JSON")
        text = chunks[0][1]
        binary = next((content for kind, content in chunks[1:] if kind == b"BIN\0"), None)
    try:
        document = json.loads(text.decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise UnreadableError(f"its JSON does not parse ({error})") from None
    if not isinstance(document, dict):
        raise UnreadableError("its JSON is not an object")
    version_text = str(document.get("asset", {}).get("version", "none")) if isinstance(document.get("asset", {}), dict) else "none"
    if not version_text.startswith("2"):
        raise UnreadableError(f"it is glTF version {version_text}; only version 2 can be read")
    return document, binary


def _chunks(data: bytes) -> list[tuple[bytes, bytes]]:
    chunks, at = [], 12
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "little")
        if at + 8 + size > len(data):
            raise UnreadableError("its last chunk is cut off")
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + size]))
        at += 8 + size
    return chunks


def _refuse_unknown_extensions(document: dict[str, Any]) -> None:
    for extension in document.get("extensionsRequired", []):
        if not extension.startswith(_HARMLESS):
            raise UnreadableError(f"it needs the extension {extension}; export without it (no compression, no quantisation)")
    if any("EXT_mesh_gpu_instancing" in node.get("extensions", {}) for node in document.get("nodes", [])):
        raise UnreadableError("it uses EXT_mesh_gpu_instancing; export one node per instance")


def _entry(document: dict[str, Any], group: str, k: int) -> dict[str, Any]:
    """Entry k of a list of the document; a negative number is no entry, unlike in Python."""
    entries = document.get(group, [])
    if type(k) is not int or not 0 <= k < len(entries):
        raise UnreadableError(f"it refers to entry {k} of {group!r}, which has {len(entries)}")
    entry: dict[str, Any] = entries[k]
    return entry


def _buffer(buffer: dict[str, Any], binary: bytes | None, folder: Path | None) -> bytes:
    uri = buffer.get("uri")
    if uri is None:
        if binary is None:
            raise UnreadableError("a buffer has neither a uri nor a binary chunk")
        content = binary
    elif uri.startswith("data:"):
        content = base64.b64decode(uri.split(",", 1)[1], validate=True)
    elif folder is None:
        raise UnreadableError(f"its buffer {uri!r} is another file; save it as one file (.glb)")
    else:
        try:
            content = (folder / unquote(uri)).read_bytes()
        except OSError as error:
            raise UnreadableError(f"its buffer {uri!r} cannot be read ({error.strerror or error})") from None
    if len(content) < buffer["byteLength"]:
        raise UnreadableError(f"a buffer should have {buffer['byteLength']} bytes but has {len(content)}")
    return content


def _nodes(document: dict[str, Any]) -> list[Node]:
    """Nodes of the default scene that show a mesh, in the file's order, with their place in the world."""
    nodes = document.get("nodes", [])
    children = {child for node in nodes for child in node.get("children", [])}
    if document.get("scenes"):
        roots = _entry(document, "scenes", document.get("scene", 0)).get("nodes", [])
    else:
        roots = [k for k in range(len(nodes)) if k not in children]
    world: dict[int, Floats] = {}
    waiting = [(root, np.eye(4)) for root in roots]
    while waiting:
        k, parent = waiting.pop()
        if k in world:
            raise UnreadableError(f"node {k} is reached twice; nodes must form a tree")
        node = _entry(document, "nodes", k)
        world[k] = parent @ _local(node, k)
        waiting += [(child, world[k]) for child in node.get("children", [])]
    shown = [k for k in sorted(world) if "mesh" in nodes[k]]
    names = [nodes[k].get("name") or _entry(document, "meshes", nodes[k]["mesh"]).get("name") or f"node {k}" for k in shown]
    return [Node(str(name), nodes[k]["mesh"], world[k]) for k, name in zip(shown, names, strict=True)]


def _local(node: dict[str, Any], k: int) -> Floats:
    """The node's own transform: a column-major matrix, or scale, then rotation, then translation."""
    transform = np.eye(4)
    if "matrix" in node:
        transform = np.array(node["matrix"], dtype=np.float64).reshape(4, 4).T
    else:
        x, y, z, w = _unit(np.array(node.get("rotation", (0.0, 0.0, 0.0, 1.0)), dtype=np.float64), k)
        rotation = np.array(
            [
                [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
                [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
                [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
            ]
        )
        transform[:3, :3] = rotation * np.array(node.get("scale", (1.0, 1.0, 1.0)), dtype=np.float64).reshape(3)
        transform[:3, 3] = np.array(node.get("translation", (0.0, 0.0, 0.0)), dtype=np.float64).reshape(3)
    if not np.isfinite(transform).all() or not (transform[3] == (0.0, 0.0, 0.0, 1.0)).all():
        raise UnreadableError(f"the transform of node {k} is not a finite affine map")
    return transform


def _unit(quaternion: Floats, k: int) -> Floats:
    """Quaternions are stored as float32: made unit again, so that a rotation is rigid to the last digits."""
    length = float(np.linalg.norm(quaternion))
    if quaternion.shape != (4,) or not 0.5 < length < 2.0:
        raise UnreadableError(f"the rotation of node {k} is not a unit quaternion")
    return quaternion / length


def _mesh(document: dict[str, Any], buffers: list[bytes], k: int) -> tuple[Floats, Ints, str]:
    mesh = _entry(document, "meshes", k)
    name = str(mesh.get("name") or f"mesh {k}")
    points, faces, start = [np.empty((0, 3))], [np.empty((0, 3), dtype=np.int64)], 0
    for p, primitive in enumerate(mesh["primitives"]):
        mode = primitive.get("mode", 4)
        if mode in (0, 1, 2, 3) or "POSITION" not in primitive["attributes"]:
            continue
        corners = _accessor(document, buffers, primitive["attributes"]["POSITION"], "VEC3")
        if corners.dtype.kind != "f":
            raise UnreadableError(f"mesh {name!r}, primitive {p}: positions are not floats")
        order = np.arange(len(corners))
        if "indices" in primitive:
            order = _accessor(document, buffers, primitive["indices"], "SCALAR").ravel().astype(np.int64)
        if len(order) and int(order.max()) >= len(corners):
            raise UnreadableError(f"mesh {name!r}, primitive {p}: an index is {order.max()}; there are {len(corners)} vertices")
        faces.append(_unrolled(order, mode, f"mesh {name!r}, primitive {p}") + start)
        points.append(corners.astype(np.float64))
        start += len(corners)
    return np.vstack(points), np.vstack(faces), name


def _unrolled(order: Ints, mode: int, where: str) -> Ints:
    """Triangles of a list, strip or fan of vertices; every second triangle of a strip is turned round."""
    if mode == 4:
        if len(order) % 3:
            raise UnreadableError(f"{where}: {len(order)} indices do not make whole triangles")
        return order.reshape(-1, 3)
    if mode not in (5, 6):
        raise UnreadableError(f"{where}: mode {mode} does not exist")
    k = np.arange(max(len(order) - 2, 0))
    if mode == 5:
        return np.stack([order[k], order[k + 1 + k % 2], order[k + 2 - k % 2]], axis=1)
    return np.stack([order[k + 1], order[k + 2], np.broadcast_to(order[:1], k.shape)], axis=1)


def _accessor(document: dict[str, Any], buffers: list[bytes], k: int, kind: str) -> NDArray[Any]:
    """Return (count, width) values of an accessor, with its sparse replacements."""
    accessor = _entry(document, "accessors", k)
    if accessor["type"] != kind:
        raise UnreadableError(f"accessor {k} holds {accessor['type']} where {kind} is needed")
    component, width, count = _COMPONENTS[accessor["componentType"]], _WIDTHS[kind], int(accessor["count"])
    values = np.zeros((count, width), dtype=component)
    if "bufferView" in accessor:
        values = _view(document, buffers, accessor["bufferView"], accessor.get("byteOffset", 0), component, width, count)
    if "sparse" in accessor:
        sparse = accessor["sparse"]
        at, new = sparse["indices"], sparse["values"]
        kind_of_index = _COMPONENTS[at["componentType"]]
        where = _view(document, buffers, at["bufferView"], at.get("byteOffset", 0), kind_of_index, 1, sparse["count"])
        values = values.copy()
        values[where.ravel().astype(np.int64)] = _view(
            document, buffers, new["bufferView"], new.get("byteOffset", 0), component, width, sparse["count"]
        )
    return values


def _view(
    document: dict[str, Any], buffers: list[bytes], k: int, offset: int, component: str, width: int, count: int
) -> NDArray[Any]:
    view = _entry(document, "bufferViews", k)
    item = np.dtype(component).itemsize * width
    stride, first = view.get("byteStride", item), view.get("byteOffset", 0)
    start = first + offset
    end = start + stride * (count - 1) + item if count else start
    _entry(document, "buffers", view["buffer"])  # refuses numbers out of range
    content = buffers[view["buffer"]]
    if min(offset, first, count) < 0 or stride < item or end > min(first + view["byteLength"], len(content)):
        raise UnreadableError(f"buffer view {k} is too short for {count} values")
    return np.ndarray((count, width), component, content, start, (stride, np.dtype(component).itemsize)).copy()

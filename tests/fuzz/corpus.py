"""Small good files of every format: those that jostle writes, and the forms of each format that it only reads."""

from __future__ import annotations

import base64
import json
import tempfile
from pathlib import Path

import numpy as np

from jostle.shapes import build
from jostle.shapes.save import save
from tests.shapes.hostile import CORE, TETRAHEDRON, packed, three_mf

FORMATS = ("stl", "obj", "off", "ply", "raw", "gltf", "glb", "3mf", "dae")

POINTS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.25, 0.5, 0.5], [1e-9, 3e7, -0.0]]
POLYGONS = [[0, 1, 2, 3], [0, 1, 4], [0, 4, 2, 1, 3], [1, 2, 5], [0, 1, 2, 4, 3]]


def corpus(ending: str) -> list[bytes]:
    """Return the files that mutations of a format start from."""
    own = [written(ending)] if ending in ("stl", "obj", "off", "ply") else []
    return own + _FORMS[ending]()


def written(ending: str) -> bytes:
    """A file by jostle's own writer."""
    with tempfile.TemporaryDirectory() as folder:
        return save(build.box(), Path(folder) / f"box.{ending}").read_bytes()


def _stl() -> list[bytes]:
    corners = "".join(f"vertex {x} {y} {z}\n" for x, y, z in POINTS[:3])
    facet = f"facet normal 0 0 1\nouter loop\n{corners}endloop\nendfacet\n"
    return [f"solid one\n{facet}endsolid one\nsolid\n{facet}{facet}endsolid\n".encode()]


def _obj() -> list[bytes]:
    points = "".join(f"v {x} {y} {z}\n" for x, y, z in POINTS)
    faces = "".join("f " + " ".join(f"{c + 1}" for c in polygon) + "\n" for polygon in POLYGONS)
    odd = "o part\nvt 0 0\nvn 0 0 1\nf -6/1/1 -5//1 \\\n -4/1\ns off\nl 1 2\n"
    return [(points + faces).encode(), (points + odd).encode()]


def _rows() -> str:
    points = "".join(f"{x} {y} {z}\n" for x, y, z in POINTS)
    return points + "".join(f"{len(p)} " + " ".join(map(str, p)) + "\n" for p in POLYGONS)


def _off() -> list[bytes]:
    counts = f"{len(POINTS)} {len(POLYGONS)} 0\n"
    return [f"OFF # comment\n{counts}{_rows()}".encode(), f"COFF {counts}{_rows()}".encode()]


def _ply() -> list[bytes]:
    def header(form: str, kind: str, count: str) -> bytes:
        axes = "".join(f"property {kind} {axis}\n" for axis in "xyz")
        return (
            f"ply\nformat {form} 1.0\ncomment x\nelement vertex {len(POINTS)}\n{axes}element face {len(POLYGONS)}\n"
            f"property list {count} int vertex_indices\nelement edge 0\nproperty list uint float w\nend_header\n"
        ).encode()

    def body(order: str, count: str) -> bytes:
        faces = [np.array([len(p)], order + count).tobytes() + np.array(p, order + "i4").tobytes() for p in POLYGONS]
        return np.array(POINTS, order + "f4").tobytes() + b"".join(faces)

    return [
        header("ascii", "double", "uchar") + _rows().encode(),
        header("binary_little_endian", "float", "uint") + body("<", "u4"),
        header("binary_big_endian", "float", "short") + body(">", "i2"),
    ]


def _raw() -> list[bytes]:
    return [b"Object1\n0 0 0 1 0 0 0 1 0\n\n'wing'\n1 0 0 1 1 0 0 1 0.5\n"]


def _document() -> tuple[dict, bytes]:
    points = np.array(POINTS, "<f4").tobytes()
    indices = np.array([0, 1, 2, 0, 2, 3], "<u2").tobytes()
    content = points + indices + np.array([4], "<u2").tobytes() + bytes(2) + np.array([7, 8, 9], "<f4").tobytes()
    sparse = {"count": 1, "indices": {"bufferView": 2, "componentType": 5123}, "values": {"bufferView": 3}}
    primitive = {"attributes": {"POSITION": 0}, "indices": 1}
    document = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 2]}],
        "nodes": [
            {"name": "a", "mesh": 0, "children": [1], "rotation": [0, 0, 0.5**0.5, 0.5**0.5], "scale": [2, 2, -2]},
            {"mesh": 1, "translation": [1, 2, 3]},
            {"mesh": 0, "matrix": [1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1]},
        ],
        "meshes": [
            {"name": "m", "primitives": [primitive, {**primitive, "mode": 5}]},
            {"primitives": [{"attributes": {"POSITION": 2}, "mode": 6}]},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 6, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"},
            {"bufferView": 0, "componentType": 5126, "count": 6, "type": "VEC3", "sparse": sparse},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": 72, "byteStride": 12},
            {"buffer": 0, "byteOffset": 72, "byteLength": 12},
            {"buffer": 0, "byteOffset": 84, "byteLength": 2},
            {"buffer": 0, "byteOffset": 88, "byteLength": 12},
        ],
        "buffers": [{"byteLength": len(content)}],
    }
    return document, content


def _gltf() -> list[bytes]:
    document, content = _document()
    document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(content).decode()
    return [json.dumps(document).encode()]


def as_glb(document: bytes, content: bytes) -> bytes:
    """The two chunks of a GLB file with its header."""
    text, content = document + b" " * (-len(document) % 4), content + bytes(-len(content) % 4)
    chunks = len(text).to_bytes(4, "little") + b"JSON" + text + len(content).to_bytes(4, "little") + b"BIN\0" + content
    return b"glTF" + (2).to_bytes(4, "little") + (12 + len(chunks)).to_bytes(4, "little") + chunks


def _glb() -> list[bytes]:
    document, content = _document()
    return [as_glb(json.dumps(document).encode(), content)]


def _3mf() -> list[bytes]:
    component = '<component objectid="1" transform="1 0 0 0 1 0 0 0 -1 0 0 1"/>'
    objects = f'<object id="1" type="model">{TETRAHEDRON}</object><object id="2"><components>{component}</components></object>'
    model = (
        f'<?xml version="1.0" encoding="UTF-8"?><model unit="millimeter" xmlns="{CORE}"><resources>{objects}</resources>'
        '<build><item objectid="1"/><item objectid="2" transform="1 0 0 0 1 0 0 0 1 5 0 0"/></build></model>'
    )
    kind = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
    relations = f'<Relationships><Relationship Target="/3D/3dmodel.model" Id="r" Type="{kind}"/></Relationships>'
    return [three_mf(objects), packed({"_rels/.rels": relations.encode(), "3D/3dmodel.model": model.encode()}, 0)]


def _dae() -> list[bytes]:
    def source(name: str, values: str) -> str:
        count = len(values.split())
        axes = "".join(f'<param name="{axis}" type="float"/>' for axis in "XYZ")
        return (
            f'<source id="{name}"><float_array id="{name}-a" count="{count}">{values}</float_array><technique_common>'
            f'<accessor source="#{name}-a" count="{count // 3}" stride="3">{axes}</accessor></technique_common></source>'
        )

    text = (
        '<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>'
        '<library_geometries><geometry id="g"><mesh>' + source("p", "0 0 0 1 0 0 0 1 0 0 0 1") + '<vertices id="v">'
        '<input semantic="POSITION" source="#p"/></vertices><triangles count="2"><input semantic="VERTEX" source="#v" offset="0"/>'
        '<p>0 1 2 0 2 3</p></triangles></mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="s">'
        '<node id="n"><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>'
        '<scene><instance_visual_scene url="#s"/></scene></COLLADA>'
    )
    return [text.encode()]


_FORMS = {
    "stl": _stl,
    "obj": _obj,
    "off": _off,
    "ply": _ply,
    "raw": _raw,
    "gltf": _gltf,
    "glb": _glb,
    "3mf": _3mf,
    "dae": _dae,
}

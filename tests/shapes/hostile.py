"""Files made to break a reader, and a process with little memory to read them in."""

from __future__ import annotations

import base64
import io
import json
import os
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

CORE = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"


def ply(count_kind: str, size: int, faces: int = 4) -> bytes:
    """A binary PLY whose first face announces a list of that size."""
    header = (
        "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        f"element face {faces}\nproperty list {count_kind} int vertex_indices\nend_header\n"
    )
    length = {"uint": "<u4", "int": "<i4", "uchar": "u1"}[count_kind]
    return header.encode() + bytes(36) + np.array([size], length).tobytes() + bytes(12)


def gltf(points: int = 3, **changes: object) -> dict:
    """A glTF document of one node and triangle; `changes` replace its groups."""
    content = np.zeros((points, 3), "<f4")
    content[:3] = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    uri = "data:application/octet-stream;base64," + base64.b64encode(content.tobytes()).decode()
    return {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": points, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 12 * points}],
        "buffers": [{"byteLength": 12 * points, "uri": uri}],
        **changes,
    }


def nested_scales(depth: int, scale: float) -> dict:
    nodes = [{"children": [k + 1], "scale": [scale] * 3} for k in range(depth)] + [{"mesh": 0}]
    return gltf(nodes=nodes)


TETRAHEDRON = (
    '<mesh><vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/><vertex x="0" y="1" z="0"/><vertex x="0" y="0" z="1"/>'
    '</vertices><triangles><triangle v1="0" v2="2" v3="1"/><triangle v1="0" v2="1" v3="3"/><triangle v1="1" v2="2" v3="3"/>'
    '<triangle v1="2" v2="0" v3="3"/></triangles></mesh>'
)


def three_mf(resources: str, build: str = '<item objectid="1"/>', before: str = "", attributes: str = "") -> bytes:
    """A 3MF with these resources and items."""
    model = (
        f'<?xml version="1.0"?>{before}<model xmlns="{CORE}" {attributes}>'
        f"<resources>{resources}</resources><build>{build}</build></model>"
    )
    return packed({"3D/3dmodel.model": model.encode()})


def packed(members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def doubled_components(levels: int) -> bytes:
    """2**levels tetrahedra in a few hundred bytes: each object shows the one before it twice."""
    objects = f'<object id="1">{TETRAHEDRON}</object>' + "".join(
        f'<object id="{k}"><components><component objectid="{k - 1}"/><component objectid="{k - 1}"/></components></object>'
        for k in range(2, levels + 2)
    )
    return three_mf(objects, f'<item objectid="{levels + 1}"/>')


def many_triangles(count: int) -> bytes:
    row = '<triangle v1="0" v2="2" v3="1"/>'
    return three_mf('<object id="1">' + TETRAHEDRON.replace("<triangles>", "<triangles>" + row * count) + "</object>")


def bombs() -> dict[str, tuple[bytes, str]]:
    """Files by name, with what their refusal must say. Each asked for gigabytes, ran for minutes or ended the process."""
    shared = {"primitives": 500 * [{"attributes": {"POSITION": 0}}]}
    many_nodes = [{"mesh": 0, "translation": [k, 0, 0]} for k in range(12_000)]
    many_scales = [{"mesh": 0, "scale": [1 + k, 1, 1]} for k in range(12_000)]
    laughs = '<!DOCTYPE x [<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {b} "{10 * f"&{a};"}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    everywhere = {"accessors": [{"componentType": 5126, "count": 30_000_000, "type": "VEC3"}]}
    sparse = {
        "count": 1,
        "indices": {"bufferView": 0, "componentType": 5123},
        "values": {"bufferView": 0},
    }
    return {
        "list of 2^29.ply": (ply("uint", 0x1FFFFFFF), "ends within face 0 of 4"),
        "list of 2^32.ply": (ply("uint", 0xFFFFFFFF), "ends within face 0 of 4"),
        "list of -1.ply": (ply("int", -1), "ends within face 0 of 4"),
        "rows.ply": (ply("uchar", 3, faces=10**15), "faces="),
        "rows below the limit.ply": (ply("uchar", 3, faces=10**8), "ends within face 1 of 100000000"),
        "rows.off": (b"OFF\n99999999999999999 1 0\n0 0 0\n", "vertices="),
        "rows.stl": (b"x".ljust(80) + b"\xff\xff\xff\xff" + bytes(50), "announces 4294967295 triangles"),
        "zeros.gltf": (json.dumps(gltf(**everywhere)).encode(), "accessor 0 has no bufferView"),
        "sparse zeros.gltf": (
            json.dumps(gltf(accessors=[{**everywhere["accessors"][0], "sparse": sparse}])).encode(),
            "accessor 0 has no bufferView",
        ),
        "one accessor.gltf": (
            json.dumps(gltf(10_002, meshes=200 * [shared], nodes=[{"mesh": k} for k in range(200)])).encode(),
            "faces=",
        ),
        "nodes.gltf": (json.dumps(gltf(30_000, nodes=many_nodes)).encode(), "faces="),
        "scales.gltf": (json.dumps(gltf(30_000, nodes=many_scales)).encode(), "vertices="),
        "deep.gltf": (json.dumps(nested_scales(20_000, 1.0)).encode(), "nesting="),
        "deep json.gltf": (b'{"asset": ' + 5_000_000 * b"[", "nested too deeply"),
        "triangles.3mf": (many_triangles(5_000_000), "ratio="),
        "components.3mf": (doubled_components(40), "vertices="),
        "circle.3mf": (
            three_mf('<object id="1"><components><component objectid="1"/></components></object>'),
            "object '1' is a component of itself",
        ),
        "entities.3mf": (three_mf("<object id='1'>&i;</object>", before=laughs + "]>"), "DOCTYPE"),
        "external entity.3mf": (
            three_mf("<object id='1'>&a;</object>", before='<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'),
            "DOCTYPE",
        ),
        "elements.3mf": (three_mf(600 * "<a>" + 600 * "</a>"), "nesting="),
    }


READ = """
import os, resource, sys
from jostle.errors import InputError
from jostle.shapes.load import load
pages = int(open("/proc/self/statm").read().split()[0])
most = pages * os.sysconf("SC_PAGE_SIZE") + int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for path in sys.argv[2:]:
    try:
        print(path, "loaded:", load(path), sep="\\t")
    except InputError as refusal:
        print(path, refusal, sep="\\t")
    sys.stdout.flush()
"""


def read_in_a_small_process(paths: list[Path], megabytes: int, seconds: float) -> dict[str, str]:
    """Read files one after the other with so much memory, and return what is said of each."""
    command = [sys.executable, "-c", READ, str(megabytes << 20), *map(str, paths)]
    # One thread of BLAS: each maps memory of its own.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds, check=False)
    said = dict(line.split("\t", 1) for line in ended.stdout.splitlines())
    assert ended.returncode == 0, f"{ended.returncode} after {list(said)[-1:]}: {ended.stderr[-2000:]}"
    return said


assert resource.RLIMIT_AS  # where there is none, these tests cannot run

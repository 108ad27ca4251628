"""Files, builders and `jostle check` with `plain` never import Numba: each runs in a process of its own."""

import json
import struct
import subprocess
import sys

import numpy as np
import pytest

from jostle.shapes import build
from jostle.shapes.save import save

CHECK = """
import sys
from jostle.cli.app import app

try:
    app(sys.argv[1:])
except SystemExit as end:
    assert end.code == 1, end.code
assert "numba" not in sys.modules
"""
BUILDERS = """
import sys
import jostle
from jostle.shapes import build

world = jostle.World("plain")
for made in (build.shuttle, build.comb, build.horseshoe, build.torus, build.hand, build.head, build.chair, build.clover,
             build.cloth, build.capsule, build.cone, build.polytope36, build.mikoshi_mesh, build.stellated_dodecahedron):
    world.add(made(), deformable=made is build.cloth)
world.add(build.blob(500))
report = world.detect()
assert len(report.contacts.normal) == len(report.contacts) > 100
world.distance(0, 1)
assert "numba" not in sys.modules
"""


def run(source, *arguments):
    done = subprocess.run([sys.executable, "-c", source, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def as_glb(mesh):
    """Return a mesh as binary glTF."""
    vertices, faces = mesh.vertices.astype("<f4"), mesh.faces.astype("<u4")
    views = [{"buffer": 0, "byteLength": vertices.nbytes}, {"buffer": 0, "byteOffset": vertices.nbytes, "byteLength": faces.nbytes}]
    ends = {"min": vertices.min(axis=0).tolist(), "max": vertices.max(axis=0).tolist()}
    document = {
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "buffers": [{"byteLength": vertices.nbytes + faces.nbytes}], "bufferViews": views,
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(vertices), "type": "VEC3", **ends},
            {"bufferView": 1, "componentType": 5125, "count": faces.size, "type": "SCALAR"},
        ],
    }  # fmt: skip
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = b"".join(
        struct.pack("<I4s", len(data), name) + data
        for name, data in ((b"JSON", text), (b"BIN\0", vertices.tobytes() + faces.tobytes()))
    )
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two meshes of 5,120 faces in every format, and one of polygons."""
    folder = tmp_path_factory.mktemp("meshes")
    for ending in ("obj", "stl", "ply", "off"):
        save(build.icosphere(4), folder / f"ball.{ending}")
    (folder / "ball.glb").write_bytes(as_glb(build.icosphere(4)))
    corners = np.array([[0, 0, 0], [4, 0, 0], [4, 4, 0], [2, 1, 0], [0, 4, 0], [1, 1, 3]])
    lines = [f"v {x} {y} {z}" for x, y, z in corners - [1, 1, 0.5]]
    (folder / "polygons.obj").write_text("\n".join([*lines, "f 1 2 3 4 5", "f 1 2 6", "f 2 3 6 5"]) + "\n")
    return folder


@pytest.mark.parametrize("file", ["ball.obj", "ball.stl", "ball.ply", "ball.off", "ball.glb", "polygons.obj"])
def test_a_check_of_two_files(files, file):
    out = run(CHECK, "check", str(files / file), str(files / "ball.obj"), "--method", "plain", "--translate", "0.5", "0.1", "0.2")
    assert "crossing" in out


@pytest.mark.parametrize("options", [["--solid"], ["--clearance", "0.01"], ["--json"]], ids=lambda options: options[0])
def test_a_check_with_options(files, options):
    run(
        CHECK,
        "check",
        str(files / "ball.stl"),
        str(files / "ball.obj"),
        "--method",
        "plain",
        "--translate",
        "1",
        "0.2",
        "0",
        *options,
    )


def test_builders_and_a_world_of_their_meshes():
    run(BUILDERS)

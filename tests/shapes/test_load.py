"""Mesh files: every format in file order, exactly; broken files refused by name."""

from __future__ import annotations

import base64
import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import trimesh

from jostle.errors import InputError
from jostle.shapes import build
from jostle.shapes.load import load, load_scene, split_rigid
from jostle.shapes.mesh import Mesh
from jostle.shapes.save import save

pytestmark = pytest.mark.small

POINTS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.1, 0, 1], [1, 0, 1], [1, 1, 1]]
POLYGONS = [[0, 1, 2, 3], [0, 1, 4], [0, 1, 2, 6, 4], [1, 2, 5]]  # a quad, a triangle, a pentagon, a triangle
TRIANGLES = [[0, 1, 2], [0, 2, 3], [0, 1, 4], [0, 1, 2], [0, 2, 6], [0, 6, 4], [1, 2, 5]]
SOURCE = [0, 0, 1, 2, 2, 2, 3]


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def obj_text() -> str:
    return "".join(f"v {x} {y} {z}\n" for x, y, z in POINTS) + "".join(
        "f " + " ".join(str(corner + 1) for corner in polygon) + "\n" for polygon in POLYGONS
    )


def polygon_lines() -> str:
    return "".join(f"{x} {y} {z}\n" for x, y, z in POINTS) + "".join(
        f"{len(polygon)} " + " ".join(map(str, polygon)) + "\n" for polygon in POLYGONS
    )


def ply_header(form: str, coordinate: str = "double", extra: str = "") -> str:
    axes = "".join(f"property {coordinate} {axis}\n" for axis in "xyz")
    return (
        f"ply\nformat {form} 1.0\ncomment made by hand\nelement vertex {len(POINTS)}\n{axes}{extra}"
        f"element face {len(POLYGONS)}\nproperty list uchar int vertex_indices\nend_header\n"
    )


def binary_ply(order: str, coordinate: str = "double") -> bytes:
    form = {"<": "binary_little_endian", ">": "binary_big_endian"}[order]
    points = np.array(POINTS).astype(order + {"double": "f8", "float": "f4"}[coordinate]).tobytes()
    faces = b"".join(bytes([len(polygon)]) + np.array(polygon).astype(order + "i4").tobytes() for polygon in POLYGONS)
    return ply_header(form, coordinate).encode() + points + faces


MIXED = {
    "mixed.obj": obj_text(),
    "mixed.off": f"OFF # a comment\n{len(POINTS)} {len(POLYGONS)} 0\n\n" + polygon_lines(),
    "ascii.ply": ply_header("ascii") + polygon_lines(),
    "little.ply": binary_ply("<"),
    "big.ply": binary_ply(">"),
    "Upper.OBJ": obj_text().replace("\n", "\r\n"),
}


@pytest.mark.parametrize("name", MIXED)
def test_polygons_are_fanned_in_the_order_of_the_file(tmp_path, name):
    mesh = load(write(tmp_path, name, MIXED[name]))
    assert mesh.vertices.tolist() == POINTS
    assert mesh.faces.tolist() == TRIANGLES
    assert mesh.source_face.tolist() == SOURCE
    assert mesh.name == Path(name).stem
    assert mesh.units is None


def test_name_and_units_are_what_the_caller_says(tmp_path):
    path = write(tmp_path, "part.obj", obj_text())
    mesh = load(str(path), units="mm", name="cover")
    assert (mesh.name, mesh.units) == ("cover", "mm")
    with pytest.raises(InputError, match=r"part\.obj.*units is 'inch'"):
        load(path, units="inch")


@pytest.mark.parametrize("ending", ["obj", "off", "ply"])
def test_what_is_saved_loads_back_bit_for_bit(tmp_path, ending):
    mesh = build.blob(300, 2, 0.6).scaled(np.pi * 1e-7)
    again = load(save(mesh, tmp_path / f"blob.{ending}"))
    assert again.digest == mesh.digest


def test_binary_stl_keeps_float32_and_order(tmp_path):
    mesh = build.shuttle()
    rounded = Mesh(mesh.vertices.astype(np.float32), mesh.faces)
    again = load(save(mesh, tmp_path / "shuttle.stl"))
    assert (again.vertices[again.faces] == rounded.vertices[rounded.faces]).all()
    assert len(again.vertices) == len(mesh.vertices)
    assert again.is_closed
    # Vertices are numbered by first occurrence in the file.
    _, first = np.unique(again.faces.ravel(), return_index=True)
    assert (np.diff(first) > 0).all()


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "off", "glb"])
def test_files_written_by_trimesh(tmp_path, ending):
    mesh = build.hand(0.4)
    path = tmp_path / f"hand.{ending}"
    trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).export(path)
    again = load(path)
    assert again.is_closed
    np.testing.assert_allclose(again.vertices[again.faces], mesh.vertices[mesh.faces], atol=1e-7)
    assert again.units == ("m" if ending == "glb" else None)


def test_ascii_stl_with_several_solids(tmp_path):
    def solid(name: str, shift: float) -> str:
        corners = "".join(f"   vertex {x + shift:e} {y} {z}\n" for x, y, z in POINTS[:3])
        return f"solid {name}\n facet normal nan 0 1\n  OUTER LOOP\n{corners}  endloop\n endfacet\nendsolid {name}\n"

    mesh = load(write(tmp_path, "two.stl", solid("first part", 0.0) + "\n" + solid("", 1.0)))
    assert mesh.faces.tolist() == [[0, 1, 2], [1, 3, 4]]
    assert mesh.vertices.tolist() == [[0, 0, 0], [1, 0, 0], [1, 1, 0], [2, 0, 0], [2, 1, 0]]


def test_a_binary_stl_may_begin_with_solid(tmp_path):
    path = save(build.box(), tmp_path / "box.stl")
    data = path.read_bytes()
    path.write_bytes(b"solid box".ljust(80) + data[80:])
    assert len(load(path).faces) == 12


def test_a_tiny_sphere_keeps_its_vertices(tmp_path):
    mesh = build.sphere(168, radius=1e-9)
    for ending in ("obj", "off", "ply"):
        assert load(save(mesh, tmp_path / f"tiny.{ending}")).digest == mesh.digest
    again = load(save(mesh, tmp_path / "tiny.stl"))
    assert len(again.vertices) == len(mesh.vertices)
    assert again.is_closed


def test_only_bit_equal_points_become_one_vertex(tmp_path):
    near = repr(float(np.nextafter(1.0, 2.0)))
    text = f"v 1 0 0\nv {near} 0 0\nv 0 1 0\nv 1.0 -0.0 0\nv 9 9 9\nv 0 0 1\nf 4 2 3\nf 1 3 6\n"
    mesh = load(write(tmp_path, "near.obj", text))
    assert mesh.vertices.tolist() == [[1, 0, 0], [float(near), 0, 0], [0, 1, 0], [9, 9, 9], [0, 0, 1]]
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 4]]


def test_obj_indices_slashes_colours_and_continued_lines(tmp_path):
    text = """# café
mtllib x.mtl
o thing
v 0 0 0 1.0
v 1 0 0 0.5 0.5 0.5
vt 0 0
vn 0 0 1
v 0 1 0
g a b
usemtl red
f -3/-1 -2//-1 -1/1/1
v 0 0 1  # behind the first face
f 1/1/1 \\
  2 4
s off
l 1 2
f -1 -2 -3
"""
    mesh = load(write(tmp_path, "odd.obj", text))
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 1, 3], [3, 2, 1]]


def test_off_variants(tmp_path):
    body = "0 0 0 {0}\n1 0 0 {0}\n0 1 0 {0}\n3 0 1 2 255 0 0\n"
    for name, keyword, extra in (("a", "OFF 3 1 0", ""), ("b", "COFF\n3 1 0", "1 0 0 1"), ("c", "NOFF\n3 1", "0 0 1")):
        mesh = load(write(tmp_path, f"{name}.off", keyword + "\n" + body.format(extra)))
        assert mesh.faces.tolist() == [[0, 1, 2]]


def test_ply_with_other_elements_and_properties(tmp_path):
    header = (
        "ply\nformat {} 1.0\nobj_info x\nelement camera 1\nproperty float f\nelement vertex 3\nproperty uchar red\n"
        "property float x\nproperty float y\nproperty float z\nelement face 2\nproperty list uchar float uv\n"
        "property list uchar uint vertex_index\nproperty uchar flag\nelement edge 1\nproperty int a\nend_header\n"
    )
    text = header.format("ascii") + "5.5\n9 0 0 0\n9 1 0 0\n9 0 1 0.1\n2 0.5 0.5 3 0 1 2 1\n0 3 0 2 1 1\n7\n"
    assert load(write(tmp_path, "a.ply", text)).faces.tolist() == [[0, 1, 2], [0, 2, 1]]
    binary = np.float32(5.5).tobytes()
    for point in ((0, 0, 0), (1, 0, 0), (0, 1, 0.1)):
        binary += bytes([9]) + np.array(point, "<f4").tobytes()
    binary += bytes([2]) + np.array([0.5, 0.5], "<f4").tobytes() + bytes([3]) + np.array([0, 1, 2], "<u4").tobytes() + bytes([1])
    binary += bytes([0, 3]) + np.array([0, 2, 1], "<u4").tobytes() + bytes([1]) + np.int32(7).tobytes()
    mesh = load(write(tmp_path, "b.ply", header.format("binary_little_endian").encode() + binary))
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 1]]
    assert mesh.vertices[2, 2] == float(np.float32(0.1))


def test_ply_headers_of_any_comment_and_line_ending(tmp_path):
    for comment in ("Ångström", "two\x0bcolumns", "after end_header", "\x1c"):
        text = (ply_header("ascii") + polygon_lines()).replace("made by hand", comment)
        for end in ("\n", "\r\n", "\r"):
            assert load(write(tmp_path, "commented.ply", text.replace("\n", end))).faces.tolist() == TRIANGLES
    header, body = binary_ply("<").split(b"end_header\n")
    body = b"\n" + body[1:]  # 0.0 becomes 5e-323
    file = write(tmp_path, "body.ply", (header + b"end_header\n").replace(b"\n", b"\r") + body)
    assert load(file).faces.tolist() == TRIANGLES


@pytest.mark.parametrize("name", ["mixed.obj", "mixed.off", "ascii.ply"])
def test_a_byte_order_mark_is_passed_over(tmp_path, name):
    assert load(write(tmp_path, name, "\ufeff" + MIXED[name])).faces.tolist() == TRIANGLES


def test_ascii_stl_with_a_byte_order_mark(tmp_path):
    facet = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
    assert len(load(write(tmp_path, "part.stl", f"\ufeffsolid part\n{facet}endsolid part\n")).faces) == 1


def test_obj_faces_by_their_old_name(tmp_path):
    assert load(write(tmp_path, "old.obj", obj_text().replace("f ", "fo ", 2))).faces.tolist() == TRIANGLES


def test_raw_with_and_without_names(tmp_path):
    rows = ["0 0 0 1 0 0 0 1 0", "1 0 0  1 1 0\t0 1 0"]
    plain = load(write(tmp_path, "plain.raw", "\n".join(rows)))
    named = load(write(tmp_path, "named.raw", f"Object1\n{rows[0]}\n\nleft wing (2)\n{rows[1]}\n"))
    assert plain.faces.tolist() == [[0, 1, 2], [1, 3, 2]]
    assert named.digest == plain.digest


HEAD_STL = "solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n"
BROKEN = {
    "zero index.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n", "line 4.*vertex 0"),
    "beyond.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 4\n", "line 5.*vertex 4; there are 3"),
    "before the first.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -4 1 2\n", "line 4.*vertex -4"),
    "two corners.obj": ("v 0 0 0\nv 1 0 0\nf 1 2\n", "line 3.*at least 3"),
    "word.obj": ("v 0 zero 0\n", "line 1.*'zero' is not a number"),
    "short.obj": ("v 0 0\n", "line 1.*three coordinates"),
    "half index.obj": ("v 0 0 0\nf 1 2.5 1\n", "line 2.*'2.5'"),
    "nan.obj": ("v 0 0 0\nv 1 nan 0\nv 0 1 0\nf 1 2 3\n", "vertex 1 has nan as its y"),
    "inf.obj": ("v 0 0 0\nv 1 1e999 0\nv 0 1 0\nf 1 2 3\n", "vertex 1 has inf"),
    "separator.obj": ("v 1_0 0 0\n", "'1_0' is not a number"),
    "points only.obj": ("v 0 0 0\nv 1 0 0\n", "no faces"),
    "surface.obj": ("v 0 0 0\ncstype bezier\nsurf 0 1 0 1 1\n", "line 3.*free-form"),
    "binary.obj": (b"v 0 0\0 0\n", "binary data"),
    "huge.obj": ("v 0 0 0\nv 1e31 0 0\nv 0 1 0\nf 1 2 3\n", r"vertices\[1, 0\] is 1e\+31"),
    "open.obj": ("v 0 0 0\nf 1 1 \\", "ends within"),
    "keyword.off": ("3 1 0\n0 0 0\n", "does not begin with OFF"),
    "four.off": ("4OFF\n3 1 0\n", "does not begin with OFF"),
    "binary.off": ("OFF BINARY\n\0\0\0\3", "binary OFF"),
    "cut.off": ("OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", "announces 3 vertices and 2 faces but has 4 lines"),
    "more.off": ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 1 2\n", "but has 5 lines"),
    "beyond.off": ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "line 6.*vertex 3"),
    "negative.off": ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "line 6.*vertex -1"),
    "few corners.off": ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n", "announces 4 corners but lists 3"),
    "two corners.off": ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2 0 1\n", "has 2 corners"),
    "no counts.off": ("OFF\n", "numbers of vertices and faces"),
    "header.ply": ("ply\nformat ascii 1.0\n", "no PLY header"),
    "format.ply": (ply_header("ascii").replace("ascii", "text") + polygon_lines(), "line 2.*not understood"),
    "no z.ply": (ply_header("ascii").replace("property double z\n", ""), "no coordinate 'z'"),
    "no list.ply": (ply_header("ascii").replace("property list uchar int vertex_indices\n", "property int a\n"), "no list"),
    "twice.ply": (ply_header("ascii", extra="property float x\n"), "twice"),
    "cut ascii.ply": ((ply_header("ascii") + polygon_lines())[:-8], "ends within face 3 of 4"),
    "more ascii.ply": (ply_header("ascii") + polygon_lines() + "1\n", "1 words follow"),
    "cut binary.ply": (binary_ply("<")[:-1], "ends within face 3 of 4"),
    "cut points.ply": (binary_ply("<")[:300], "ends within vertex"),
    "more binary.ply": (binary_ply(">") + b"\n", "1 bytes follow"),
    "word.ply": (ply_header("ascii") + polygon_lines().replace("0.1", "O.1"), "vertex 4.*'O.1'"),
    "beyond.ply": (ply_header("ascii") + polygon_lines().replace("1 2 5", "1 2 7"), "face 3 refers to vertex 7"),
    "negative.ply": (ply_header("ascii") + polygon_lines().replace("1 2 5", "1 2 -5"), "face 3 refers to vertex -5"),
    "cut ascii.stl": (HEAD_STL, "cut off"),
    "two vertices.stl": (HEAD_STL + "endloop\nendfacet\nendsolid\n", "line 6: 'vertex' is expected, not 'endloop'"),
    "four vertices.stl": (HEAD_STL + "vertex 0 1 0\nvertex 1 1 0\n", "line 7: 'endloop' is expected, not 'vertex'"),
    "nan.stl": (HEAD_STL + "vertex 0 nan 0\nendloop\nendfacet\nendsolid\n", "vertex 2 has nan"),
    "no solid.stl": ("facet normal 0 0 1\n", "shorter than the header"),
    "without faces.stl": (bytes(84), "no faces"),
    "34 bytes.stl": (b"x" * 34, "shorter than the header"),
    "eight.raw": ("0 0 0 1 0 0 0 1\n", "line 1.*nine numbers, not 8"),
    "comma.raw": ("0 0 0 1 0 0 0 1 0\n0,0 0 0 1 0 0 0 1 0\n", "line 2: '0,0' is not a number"),
    "nan.raw": ("nan 0 0 1 0 0 0 1 0\n", "vertex 0 has nan"),
    "names only.raw": ("wing\n", "no faces"),
    "empty.obj": ("", "empty"),
    "blank.stl": ("  \n", "empty"),
    "thing.xyz": ("0 0 0\n", "ending '.xyz'.*\\.obj"),
    "thing": ("0 0 0\n", "ending ''"),
    "text.glb": ("glTF", "version"),
    "text.gltf": ("{", "JSON does not parse"),
    "list.gltf": ("[]", "not an object"),
    "old.gltf": ('{"asset": {"version": "1.0"}}', "version 1.0"),
    "bare.gltf": ('{"asset": {"version": "2.0"}}', "no node"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_with_file_and_reason(tmp_path, name):
    content, reason = BROKEN[name]
    path = write(tmp_path, name, content)
    with pytest.raises(InputError, match=reason) as refusal:
        load(path)
    assert name in str(refusal.value)


def test_a_cut_binary_stl_is_refused(tmp_path):
    path = save(build.sphere(48), tmp_path / "ball.stl")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=r"ball\.stl.*announces 48 triangles"):
        load(path)


def test_an_ending_is_refused_with_the_name_once(tmp_path):
    with pytest.raises(InputError) as refusal:
        load(tmp_path / "part.step")
    assert str(refusal.value).count("part.step") == 1


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.stl: there is no such file"):
        load(tmp_path / "nothing.stl")
    (tmp_path / "folder.stl").mkdir()
    with pytest.raises(InputError, match=r"folder\.stl: it cannot be read"):
        load(tmp_path / "folder.stl")
    with pytest.raises(InputError, match=r"ball\.xyz.*cannot|ending"):
        save(build.box(), tmp_path / "ball.xyz")


@pytest.mark.parametrize("seed", range(3))
def test_damaged_files_load_or_are_refused_but_never_crash(tmp_path, seed):
    rng = np.random.default_rng(seed)
    whole = {**MIXED, "ball.stl": save(build.box(), tmp_path / "b.stl").read_bytes(), "scene.gltf": json.dumps(scene_document())}
    for name, content in whole.items():
        data = bytearray(content.encode() if isinstance(content, str) else content)
        for _ in range(30):
            damaged = bytearray(data)
            for at in rng.integers(0, len(data), 2):
                damaged[at] = rng.integers(1, 256)
            if rng.random() < 0.3:
                damaged = damaged[: rng.integers(1, len(data))]
            try:
                mesh = load(write(tmp_path, "damaged" + Path(name).suffix, bytes(damaged)))
            except InputError as refusal:
                assert "damaged" in str(refusal)  # noqa: PT017
            else:
                assert np.isfinite(mesh.vertices).all()


# --- glTF ----------------------------------------------------------------------------------------------------------------

QUARTER = 0.5**0.5


def scene_document() -> dict:
    """Four nodes: shared mesh, nested mirror and scale, a mesh of two primitives (list and strip), a repeated name."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [-0.0, 0, 0]], "<f4").tobytes()
    indices = np.array([0, 1, 2, 1, 3, 2], "<u2").tobytes()
    strip = np.array([4, 1, 2, 3], "<u2").tobytes()
    content = points + indices + strip
    primitive = {"attributes": {"POSITION": 0}, "indices": 1}
    return {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [2, 0, 3]}],
        "nodes": [
            {"name": "zeta", "mesh": 0, "translation": [1, 2, 3]},
            {"name": "kid", "mesh": 1, "scale": [2, 2, -2], "translation": [0, 0, 1]},
            {"name": "top", "mesh": 0, "children": [1], "rotation": [0, 0, QUARTER, QUARTER]},
            {"name": "zeta", "mesh": 0, "matrix": [1, 0, 0, 0, 0, 3, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1]},
            {"name": "not in the scene", "mesh": 0},
        ],
        "meshes": [
            {"name": "quad", "primitives": [primitive]},
            {"name": "both", "primitives": [primitive, {"attributes": {"POSITION": 0}, "indices": 2, "mode": 5}]},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 5, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 6, "type": "SCALAR"},
            {"bufferView": 2, "componentType": 5123, "count": 4, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": 60},
            {"buffer": 0, "byteOffset": 60, "byteLength": 12},
            {"buffer": 0, "byteOffset": 72, "byteLength": 8},
        ],
        "buffers": [{"byteLength": 80, "uri": "data:application/octet-stream;base64," + base64.b64encode(content).decode()}],
    }


def test_scene_nodes_come_in_order_and_share_meshes(tmp_path):
    nodes = load_scene(write(tmp_path, "scene.gltf", json.dumps(scene_document())))
    assert [name for name, _, _ in nodes] == ["zeta", "kid", "top", "zeta"]
    meshes = [mesh for _, mesh, _ in nodes]
    assert meshes[0] is meshes[2]
    assert meshes[0].vertices.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]  # 0 and -0 are one vertex
    assert meshes[0].faces.tolist() == [[0, 1, 2], [1, 3, 2]]
    assert all(mesh.units == "m" for mesh in meshes)
    np.testing.assert_allclose(nodes[0][2], [[1, 0, 0, 1], [0, 1, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]], atol=0)
    np.testing.assert_allclose(nodes[2][2][:3, :3], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)
    # A stretch goes into the vertices and leaves a rigid pose.
    np.testing.assert_allclose(meshes[3].vertices.max(axis=0), [1, 3, 0], atol=1e-12)
    np.testing.assert_allclose(nodes[3][2], [[1, 0, 0, 5], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], atol=1e-12)


def test_nodes_that_show_lines_alone_are_passed_over(tmp_path):
    document = scene_document()
    document["meshes"].append({"name": "edges", "primitives": [{"attributes": {"POSITION": 0}, "mode": 1}]})
    document["nodes"][0]["mesh"] = 2
    nodes = load_scene(write(tmp_path, "scene.gltf", json.dumps(document)))
    assert [name for name, _, _ in nodes] == ["kid", "top", "zeta"]
    document["scenes"][0]["nodes"] = [0]
    with pytest.raises(InputError, match="no node of its scene shows a mesh of triangles"):
        load_scene(write(tmp_path, "scene.gltf", json.dumps(document)))


def test_mirrored_nodes_have_their_faces_turned_round(tmp_path):
    _, mesh, pose = load_scene(write(tmp_path, "scene.gltf", json.dumps(scene_document())))[1]
    # By hand: turned by 90° after scaling by (2, 2, -2) and shifting by 1 in z.
    quad = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])
    expected = np.stack([-2 * quad[:, 1], 2 * quad[:, 0], -2 * quad[:, 2] + 1], axis=1)
    world = mesh.vertices @ pose[:3, :3].T + pose[:3, 3]
    np.testing.assert_allclose(world, expected, atol=1e-12)
    np.testing.assert_allclose(pose[:3, :3].T @ pose[:3, :3], np.eye(3), atol=1e-12)
    assert np.linalg.det(pose[:3, :3]) > 0.0
    assert mesh.faces.tolist() == [[2, 1, 0], [2, 3, 1], [2, 1, 0], [2, 3, 1]]  # list, then strip, all reversed


def test_a_scene_loads_as_one_mesh_in_world_coordinates(tmp_path):
    document = scene_document()
    mesh = load(write(tmp_path, "scene.gltf", json.dumps(document)), units="cm")
    assert len(mesh.faces) == 2 + 4 + 2 + 2
    assert mesh.units == "cm"
    assert mesh.name == "scene"
    corners = mesh.vertices[mesh.faces]
    assert corners[0].tolist() == [[1, 2, 3], [2, 2, 3], [1, 3, 3]]
    np.testing.assert_allclose(corners[-1], [[6, 0, 0], [6, 3, 0], [5, 3, 0]], atol=1e-12)


def test_a_mirrored_solid_stays_outward(tmp_path):
    scene = trimesh.Scene()
    ball = build.shuttle()
    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    scene.add_geometry(trimesh.Trimesh(ball.vertices, ball.faces, process=False), transform=mirror)
    path = tmp_path / "mirror.glb"
    scene.export(path)
    (_, mesh, pose), *others = load_scene(path)
    assert not others
    assert mesh.is_closed
    assert mesh.volume == pytest.approx(ball.volume, rel=1e-5)
    np.testing.assert_allclose(pose, np.eye(4), atol=1e-7)


def test_external_buffers_strides_and_sparse_values(tmp_path):
    document = scene_document()
    data = base64.b64decode(document["buffers"][0]["uri"].split(",")[1])
    points = np.frombuffer(data[:60], "<f4").reshape(5, 3)
    strided = np.zeros((5, 4), "<f4")
    strided[:, :3] = points
    new = np.array([[7, 8, 9]], "<f4").tobytes()
    content = strided.tobytes() + data[60:72] + np.array([3], "<u2").tobytes() + b"\0\0" + new
    write(tmp_path, "my buffer.bin", content)
    document["buffers"] = [{"byteLength": len(content), "uri": "my%20buffer.bin"}]
    document["bufferViews"] = [
        {"buffer": 0, "byteLength": 80, "byteStride": 16},
        {"buffer": 0, "byteOffset": 80, "byteLength": 12},
        {"buffer": 0, "byteOffset": 92, "byteLength": 2},
        {"buffer": 0, "byteOffset": 96, "byteLength": 12},
    ]
    sparse = {"count": 1, "indices": {"bufferView": 2, "componentType": 5123}, "values": {"bufferView": 3}}
    document["accessors"] = [{**document["accessors"][0], "sparse": sparse}, document["accessors"][1]]
    document["nodes"], document["scenes"] = [{"mesh": 0}], [{"nodes": [0]}]
    mesh = load(write(tmp_path, "outside.gltf", json.dumps(document)))
    assert mesh.vertices[3].tolist() == [7, 8, 9]
    assert mesh.faces.tolist() == [[0, 1, 2], [1, 3, 2]]
    (tmp_path / "my buffer.bin").unlink()
    with pytest.raises(InputError, match=r"outside\.gltf.*my%20buffer\.bin"):
        load(tmp_path / "outside.gltf")


def change(document: dict, path: str, value: object) -> dict:
    *parents, last = path.split(".")
    place = document
    for key in parents:
        place = place[int(key)] if isinstance(place, list) else place[key]
    place[int(last) if isinstance(place, list) else last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("nodes.0.mesh", 9, "entry 9 of 'meshes'"),
        ("nodes.0.mesh", -1, "entry -1 of 'meshes'"),
        ("nodes.1.children", [2], "reached twice"),
        ("nodes.2.children", [77], "entry 77 of 'nodes'"),
        ("nodes.0.translation", [0, 0], "broken"),
        ("nodes.0.rotation", [0, 0, 0, 0], "unit quaternion"),
        ("nodes.3.matrix", [float("nan")] * 16, "finite affine"),
        ("accessors.0.count", 6, "too short for 6"),
        ("accessors.1.count", 5, "whole triangles"),
        ("accessors.0.type", "VEC2", "VEC2 where VEC3"),
        ("accessors.0.componentType", 5123, "positions are not floats"),
        ("accessors.0.componentType", 1, "broken"),
        ("accessors.0.count", 3, "an index is 3; there are 3"),
        ("bufferViews.0.byteOffset", -4, "'byteOffset' is -4; it must be a whole number"),
        ("bufferViews.1.buffer", 1, "entry 1 of 'buffers'"),
        ("buffers.0.byteLength", 81, "should have 81 bytes but has 80"),
        ("buffers.0.uri", "data:application/octet-stream;base64,***", "broken"),
        ("meshes.0.primitives.0.mode", 9, "mode 9"),
        ("extensionsRequired", ["KHR_draco_mesh_compression"], "KHR_draco_mesh_compression"),
        ("scene", 4, "entry 4 of 'scenes'"),
        ("scenes.0.nodes", [], "no node"),
    ],
)
def test_broken_scenes_are_refused(tmp_path, path, value, reason):
    document = change(scene_document(), path, value)
    with pytest.raises(InputError, match=reason) as refusal:
        load_scene(write(tmp_path, "broken.gltf", json.dumps(document)))
    assert "broken.gltf" in str(refusal.value)


def test_cut_glb_is_refused(tmp_path):
    path = tmp_path / "ball.glb"
    trimesh.Trimesh(build.sphere(48).vertices, build.sphere(48).faces, process=False).export(path)
    data = path.read_bytes()
    for cut in (10, 15, 100, len(data) - 4):
        with pytest.raises(InputError, match=r"ball\.glb"):
            load(write(tmp_path, "ball.glb", data[:cut]))


def test_other_formats_are_scenes_of_one_node(tmp_path):
    ((name, mesh, pose),) = load_scene(save(build.box(), tmp_path / "crate.off"), units="mm")
    assert (name, mesh.units, len(mesh.faces)) == ("crate", "mm", 12)
    assert (pose == np.eye(4)).all()


@pytest.mark.parametrize("seed", range(20))
def test_split_rigid_gives_back_any_transform(seed):
    rng = np.random.default_rng(seed)
    transform = np.eye(4)
    transform[:3] = rng.normal(size=(3, 4))
    pose, stretch = split_rigid(transform)
    np.testing.assert_allclose(pose[:3, :3] @ stretch, transform[:3, :3], atol=1e-12)
    np.testing.assert_allclose(pose[:3, :3].T @ pose[:3, :3], np.eye(3), atol=1e-12)
    assert np.linalg.det(pose[:3, :3]) > 0.0
    assert (pose[:3, 3] == transform[:3, 3]).all()
    rigid = np.eye(4)
    rigid[:3, :3] = pose[:3, :3]
    again, identity = split_rigid(rigid)
    assert (again == rigid).all()
    assert (identity == np.eye(3)).all()


# --- models that people know ---------------------------------------------------------------------------------------------

KNOWN = {
    "cow.obj": (5804, True),
    "fandisk.obj": (12946, True),
    "rocker-arm.obj": (20088, True),
    "stanford-bunny.obj": (69451, False),
    "suzanne.obj": (968, False),
    "teapot.obj": (6320, False),
}


@pytest.mark.parametrize("name", KNOWN)
def test_well_known_models(name):
    folder = os.environ.get("JOSTLE_DATA")
    if not folder or not (Path(folder) / "meshes" / name).exists():
        pytest.skip("the environment variable JOSTLE_DATA does not lead to a folder with meshes/" + name)
    mesh = load(Path(folder) / "meshes" / name)
    assert (len(mesh.faces), mesh.is_closed) == KNOWN[name]


def test_3mf(tmp_path):
    path = tmp_path / "ball.3mf"
    ball = trimesh.creation.icosphere(subdivisions=1)
    ball.export(path)
    mesh = load(path)
    assert len(mesh.faces) == 80
    assert mesh.is_closed
    assert np.allclose(mesh.vertices[mesh.faces], ball.triangles, atol=1e-6)
    path.write_bytes(b"PK no archive")
    with pytest.raises(InputError, match=r"ball\.3mf: its archive is broken"):
        load(path)


@pytest.mark.parametrize("missing", ["trimesh", "collada"])
def test_collada_without_its_packages_names_the_extra(tmp_path, monkeypatch, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    (tmp_path / "scene.dae").write_text("<COLLADA/>")
    with pytest.raises(InputError, match=r"scene\.dae: reading \.dae files needs .*; pip install 'jostle\[collada\]' brings them"):
        load(tmp_path / "scene.dae")


@pytest.mark.small
def test_a_folder_is_called_one(tmp_path):
    with pytest.raises(InputError, match=r": it is a folder; name one of the files in it \(\.3mf, \.dae, \.glb"):
        load(tmp_path)


@pytest.mark.small
def test_unknown_endings_name_what_can_be_read(tmp_path):
    (tmp_path / "thing.blend").write_bytes(b"x")
    with pytest.raises(InputError, match=r"'\.blend' cannot be read; choose one of \.3mf, \.dae, \.glb"):
        load(tmp_path / "thing.blend")

"""Files made to break a reader are refused by name and reason, in little memory."""

from __future__ import annotations

import io
import json
import os
import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import jostle
from jostle.errors import InputError
from jostle.shapes import build
from jostle.shapes.limits import UPLOAD_LIMITS, Limits
from jostle.shapes.load import load, load_scene
from jostle.shapes.save import save

if sys.platform != "linux":
    pytest.skip("these tests limit the address space as Linux does", allow_module_level=True)

from tests.shapes import hostile

MEGABYTES = 600  # of address space, beyond what the imports take


def test_bombs_are_refused_in_little_memory_and_pipes_at_once(tmp_path):
    """Before the limits each of them ended the process, filled the memory, ran for minutes or never opened."""
    bombs = hostile.bombs()
    expected = {name: reason for name, (_, reason) in bombs.items()}
    for name, (content, _) in bombs.items():
        (tmp_path / name).write_bytes(content)
    os.mkfifo(tmp_path / "pipe.stl")
    (tmp_path / "device.obj").symlink_to("/dev/zero")
    (tmp_path / "pipe buffer.gltf").write_text(json.dumps(hostile.gltf(buffers=[{"byteLength": 36, "uri": "pipe.stl"}])))
    expected |= dict.fromkeys(("pipe.stl", "device.obj", "pipe buffer.gltf"), "cannot be read (it is no regular file)")
    answers = hostile.read_in_a_small_process([tmp_path / name for name in expected], MEGABYTES, 120.0)
    said = {Path(path).name: answer for path, answer in answers.items()}
    wrong = {name: said.get(name) for name, reason in expected.items() if name not in said[name] or reason not in said[name]}
    assert wrong == {}


# ---------------------------------------------------------------------- what is outside of the folder


@pytest.fixture
def folders(tmp_path) -> Path:
    """A folder with a buffer inside, below, and secrets outside."""
    inside = tmp_path / "inside"
    (inside / "below").mkdir(parents=True)
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes()
    for file in (inside / "own buffer.bin", inside / "below" / "b.bin", tmp_path / "secret.bin"):
        file.write_bytes(points)
    (inside / "link.bin").symlink_to(tmp_path / "secret.bin")
    (inside / "way").symlink_to(tmp_path)
    (inside / "here.bin").symlink_to("below/b.bin")
    (inside / "round.bin").symlink_to("round.bin")
    return inside


def scene_with_buffer(folder: Path, uri: object) -> Path:
    path = folder / "scene.gltf"
    path.write_text(json.dumps(hostile.gltf(buffers=[{"byteLength": 36, "uri": uri}])))
    return path


@pytest.mark.parametrize("uri", ["own%20buffer.bin", "own buffer.bin", "below/b.bin", "./below/../below/b.bin", "here.bin"])
def test_buffers_in_the_folder_of_the_file_are_read(folders, uri):
    assert len(load(scene_with_buffer(folders, uri)).faces) == 1


@pytest.mark.parametrize(
    "uri",
    [
        "../secret.bin",
        "%2e%2e/secret.bin",
        "below/../../secret.bin",
        "link.bin",
        "way/secret.bin",
        "{outside}/secret.bin",
        "{outside}/inside/own buffer.bin",
        "file://{outside}/secret.bin",
        "FILE:{outside}/secret.bin",
        "http://localhost/secret.bin",
        "%2fetc/passwd",
        "own%20buffer.bin%00",
        "\0",
        "",
        ".",
        "below",
        "round.bin",
        "none.bin",
        "/dev/zero",
        "x" * 5000,
        "\ud800.bin",
        5,
        ["own buffer.bin"],
    ],
)
def test_no_other_file_is_read(folders, uri):
    if isinstance(uri, str):
        uri = uri.format(outside=folders.parent)
    path = scene_with_buffer(folders, uri)
    with pytest.raises(InputError, match=r"scene\.gltf: ") as refusal:
        load(path)
    assert len(str(refusal.value)) < 600
    str(refusal.value).encode()
    with pytest.raises(InputError, match=r"scene\.gltf: "):
        load_scene(path, alone=True)


def test_a_scene_by_a_relative_path_has_its_own_folder_too(folders, monkeypatch):
    scene_with_buffer(folders, "below/b.bin")
    monkeypatch.chdir(folders)
    assert len(load("scene.gltf").faces) == 1
    monkeypatch.chdir(folders / "below")
    assert len(load("../scene.gltf").faces) == 1


# ---------------------------------------------------------------------- other errors than InputError

PLY = (
    "ply\nformat ascii 1.0\nelement vertex {0}\nproperty float x\nproperty float y\nproperty float z\n"
    "element face {1}\nproperty list {2} int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n{3}\n"
)
ODD = {
    "20 digits.ply": (PLY.format(3, 1, "uchar", "3 0 1 99999999999999999999"), "'99999999999999999999' is not a value"),
    "nan index.ply": (PLY.format(3, 1, "uchar", "3 0 1 nan"), "'nan' is not a value"),
    "nan length.ply": (PLY.format(3, 1, "uchar", "nan 0 1 2"), "'nan' is not a value"),
    "float length.ply": (PLY.format(3, 1, "float", "3 0 1 2"), "not understood"),
    "superscript.ply": (PLY.format("²", 1, "uchar", "3 0 1 2").encode("latin-1"), "line 3.*not understood"),
    "5000 digits.ply": (PLY.format("9" * 5000, 1, "uchar", "3 0 1 2"), "line 3.*whole number"),
    "5000 digit index.ply": (PLY.format(3, 1, "uchar", "3 0 1 " + 5000 * "9"), "is not a value"),
    "length.ply": (PLY.format(3, 1, "uint", "4294967295 0 1 2"), "ends within face 0"),
    "negative length.ply": (PLY.format(3, 1, "uint", "-3 0 1 2"), "ends within face 0"),
    "nan.ply": (PLY.format(3, 1, "uchar", "3 0 1 2").replace("1 0 0", "1 nan 0"), "vertex 1 has nan"),
    "20 digits.obj": ("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999999999999999\n", "line 4.*whole number"),
    "5000 digits.obj": ("v 0 0 0\nf 1 1 " + 5000 * "9", "line 2.*whole number"),
    "5000 digits.off": ("OFF\n" + 5000 * "9" + " 1 0\n", "line 2.*whole number"),
    "20 digits.off": ("OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 99999999999999999999\n", "line 6.*whole number"),
    "huge dart.obj": ("v 1e300 1e-300 0\nv 0 1 0\nv 0.1 0 0\nv 0 -1 0\nf 1 2 3 4\n", r"vertices\[0, 0\] is 1e\+300"),
    "huge bow tie.off": ("OFF\n4 1 0\n0 0 0\n1e308 1e308 0\n1e308 0 0\n0 3 0\n4 0 1 2 3\n", r"vertices\[1, 0\] is 1e\+308"),
    "scales.gltf": (json.dumps(hostile.nested_scales(50, 1e30)), "node 1: its scale or place in the world is beyond 1e\\+30"),
    "scale.gltf": (json.dumps(hostile.nested_scales(1, 1e308)), "beyond"),
    "far.gltf": (json.dumps(hostile.gltf(nodes=[{"mesh": 0, "translation": [1e200, 0, 0]}])), "beyond"),
    "no scale.gltf": (json.dumps(hostile.gltf(nodes=[{"mesh": 0, "scale": [10**400, 1, 1]}])), "structure is broken"),
    "digits.gltf": ('{"asset": {"version": ' + 5000 * "9" + "}}", "JSON does not parse"),
    "rotation.gltf": (json.dumps(hostile.gltf(nodes=[{"mesh": 0, "rotation": [1e200, 0, 0, 1]}])), "unit quaternion"),
    "circle.gltf": (
        json.dumps(hostile.gltf(nodes=[{"mesh": 0, "children": [1]}, {"children": [0]}], scenes=[{"nodes": [0]}])),
        "twice",
    ),
    "count.gltf": (
        json.dumps(hostile.gltf(accessors=[{"bufferView": 0, "componentType": 5126, "count": 1.5, "type": "VEC3"}])),
        "'count' is 1.5",
    ),
    "stride.gltf": (json.dumps(hostile.gltf(bufferViews=[{"buffer": 0, "byteLength": 36, "byteStride": 0}])), "too short"),
    "wide stride.gltf": (
        json.dumps(hostile.gltf(bufferViews=[{"buffer": 0, "byteLength": 36, "byteStride": 1 << 60}])),
        "too short",
    ),
    "wrapping stride.gltf": (
        json.dumps(hostile.gltf(bufferViews=[{"buffer": 0, "byteLength": 1 << 61, "byteStride": 1 << 61}])),
        "too",
    ),
    "offset.gltf": (json.dumps(hostile.gltf(bufferViews=[{"buffer": 0, "byteLength": 36, "byteOffset": 1 << 61}])), "too short"),
    "signed.gltf": (
        json.dumps(
            hostile.gltf(
                meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
                accessors=[
                    {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
                    {"bufferView": 0, "componentType": 5120, "count": 3, "type": "SCALAR"},
                ],
            )
        ),
        "not unsigned",
    ),
    "names.3mf": (hostile.packed({"other": b""}), "no '3d/3dmodel.model'"),
    "lzma.3mf": (hostile.packed({"3D/3dmodel.model": b"x" * 99}, 14), "deflate"),
    "transform.3mf": (
        hostile.three_mf(f'<object id="1">{hostile.TETRAHEDRON}</object>', '<item objectid="1" transform="1 0 0"/>'),
        "3 numbers",
    ),
    "far.3mf": (
        hostile.three_mf(
            f'<object id="1">{hostile.TETRAHEDRON}</object>', '<item objectid="1" transform="1 0 0 0 1 0 0 0 1 1e99 0 0"/>'
        ),
        r"vertices\[0, 0\] is 1e\+99",
    ),
    "index.3mf": (
        hostile.three_mf(
            f'<object id="1">{hostile.TETRAHEDRON.replace(chr(34) + "3" + chr(34), chr(34) + "4" + chr(34))}</object>'
        ),
        "vertex 4",
    ),
    "missing.3mf": (hostile.three_mf("", '<item objectid="7"/>'), "object '7'"),
    "nothing.3mf": (hostile.three_mf(""), "object '1'"),
    "no item.3mf": (hostile.three_mf("", ""), "no faces"),
    "attribute.3mf": (hostile.three_mf("", "<item/>"), "no .objectid."),
    "extension.3mf": (
        hostile.three_mf("", attributes='requiredextensions="b" xmlns:b="http://x/beamlattice/2017/02"'),
        "extension 'b'",
    ),
    "xml.3mf": (hostile.packed({"3D/3dmodel.model": b"<model>"}), "does not parse"),
}


@pytest.mark.parametrize("name", ODD)
def test_whatever_a_reader_raises_is_an_input_error(tmp_path, name):
    content, reason = ODD[name]
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError, match=reason) as refusal:
        load(path)
    assert name in str(refusal.value)
    assert len(str(refusal.value)) < 600


@pytest.mark.parametrize(
    "error", [MemoryError, RecursionError, OverflowError(34, "x"), np.linalg.LinAlgError, KeyError("a"), AssertionError]
)
def test_the_net_under_all_readers(tmp_path, monkeypatch, error):
    def fails(_: object) -> None:
        raise error

    path = save(build.box(), tmp_path / "box.stl")
    monkeypatch.setitem(sys.modules["jostle.shapes.load"]._READERS, ".stl", fails)
    with pytest.raises(InputError, match=r"box\.stl: it "):
        load(path)


@pytest.mark.parametrize("path", [5, None, b"box.stl", ["box.stl"], 1.5, object(), {}])
def test_what_is_no_path_is_an_input_error(path):
    for call in (jostle.load, load_scene):
        with pytest.raises(InputError, match=r"path is .*pass .*a str or a pathlib\.Path"):
            call(path)


@pytest.mark.parametrize("name", ["a\0b.stl", "x" * 5000 + ".stl", "\ud800.stl", "", "."])
def test_odd_names_are_an_input_error(name):
    with pytest.raises(InputError) as refusal:
        load(name)
    str(refusal.value).encode()


def test_a_name_of_bytes_that_are_no_text(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/ball\xff.stl")
    save(build.box(), tmp_path / "box.stl").rename(path)
    assert load(path).name == "ball\ufffd"


def test_a_node_with_half_a_character_in_its_name(tmp_path):
    (tmp_path / "scene.gltf").write_text(json.dumps(hostile.gltf(nodes=[{"mesh": 0, "name": "a\ud800"}])))
    assert load_scene(tmp_path / "scene.gltf")[0][0] == "a\ufffd"


# ---------------------------------------------------------------------- limits


def written(folder: Path) -> dict[str, Path]:
    files = {ending: save(build.box(), folder / f"box.{ending}") for ending in ("stl", "obj", "ply", "off")}
    texts = {
        "gltf": json.dumps(hostile.gltf(6, nodes=[{"children": [1]}, {"mesh": 0}])).encode(),
        "3mf": hostile.doubled_components(2),
        "raw": 4 * b"0 0 0 1 0 0 0 1 0\n",
    }
    for ending, content in texts.items():
        files[ending] = folder / f"file.{ending}"
        files[ending].write_bytes(content)
    return files


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "off", "gltf", "3mf", "raw"])
@pytest.mark.parametrize("limit", ["file_bytes", "vertices", "faces"])
def test_each_limit_names_itself_and_its_cure(tmp_path, ending, limit):
    path = written(tmp_path)[ending]
    load(path, limits=UPLOAD_LIMITS)
    with pytest.raises(InputError, match=rf"{ending}: .*; at most 1 are read, raise it with limits=Limits\({limit}=…\)"):
        load(path, limits=Limits(**{limit: 1}))


@pytest.mark.parametrize(
    ("limit", "ending"),
    [
        ("nodes", "gltf"),
        ("nodes", "3mf"),
        ("nesting", "gltf"),
        ("nesting", "3mf"),
        ("entries", "gltf"),
        ("decoded_bytes", "gltf"),
        ("decoded_bytes", "3mf"),
    ],
)
def test_limits_of_scenes(tmp_path, limit, ending):
    with pytest.raises(InputError, match=rf"limits=Limits\({limit}=…\)"):
        load_scene(written(tmp_path)[ending], limits=Limits(**{limit: 1}))


def test_a_limit_is_exact(tmp_path):
    path = save(build.box(), tmp_path / "box.off")
    mesh = load(path, limits=Limits(vertices=8, faces=12, file_bytes=path.stat().st_size))
    assert len(mesh.faces) == 12
    for limit in ({"vertices": 7}, {"faces": 11}, {"file_bytes": path.stat().st_size - 1}):
        with pytest.raises(InputError, match="at most"):
            load(path, limits=Limits(**limit))


def test_time_is_a_limit(tmp_path, monkeypatch):
    path = save(build.box(), tmp_path / "box.obj")
    monkeypatch.setattr("jostle.shapes.formats.source._LINES_PER_TICK", 1)
    with pytest.raises(InputError, match=r"longer than 1e-09 s to read; raise it with limits=Limits\(seconds=…\)"):
        load(path, limits=Limits(seconds=1e-9))


@pytest.mark.parametrize(
    "fields",
    [
        {"faces": 0},
        {"faces": -1},
        {"faces": 1.5},
        {"faces": "many"},
        {"seconds": 0},
        {"seconds": float("nan")},
        {"seconds": "long"},
    ],
)
def test_limits_are_checked(fields):
    with pytest.raises(InputError, match="limits: "):
        Limits(**fields)


def test_limits_that_are_none(tmp_path):
    with pytest.raises(InputError, match=r"limits is 5; pass a jostle\.Limits"):
        load(save(build.box(), tmp_path / "box.off"), limits=5)


# ---------------------------------------------------------------------- 3MF


def test_3mf_components_transforms_and_mirrors(tmp_path):
    objects = f'<object id="1">{hostile.TETRAHEDRON}</object><object id="2"><components><component objectid="1"/>' + (
        '<component objectid="1" transform="-1 0 0 0 1 0 0 0 1 5 0 0"/></components></object>'
    )
    (tmp_path / "two.3mf").write_bytes(
        hostile.three_mf(objects, '<item objectid="2"/><item objectid="1" transform="0 1 0 -1 0 0 0 0 2 0 0 9"/>')
    )
    mesh = load(tmp_path / "two.3mf")
    corners = mesh.vertices[mesh.faces]
    assert len(mesh.faces) == 12
    assert corners[0].tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert corners[4].tolist() == [[4, 0, 0], [5, 1, 0], [5, 0, 0]]  # mirrored, and turned round to stay outward
    assert corners[9].tolist() == [[0, 0, 9], [0, 1, 9], [0, 0, 11]]
    assert mesh.volume == pytest.approx(1 / 6 + 1 / 6 + 2 / 6)


def test_3mf_parts_of_the_production_extension(tmp_path):
    space = "http://schemas.microsoft.com/3dmanufacturing/production/2015/06"
    main = (
        f'<model xmlns="{hostile.CORE}" xmlns:p="{space}" requiredextensions="p"><resources><object id="5"><components>'
        '<component objectid="1" p:path="/3D/Objects/a.model"/></components></object></resources>'
        '<build><item objectid="5"/></build></model>'
    )
    part = f'<model xmlns="{hostile.CORE}"><resources><object id="1">{hostile.TETRAHEDRON}</object></resources><build/></model>'
    kind = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
    relations = f'<Relationships><Relationship Target="/3D/main.model" Id="r" Type="{kind}"/></Relationships>'
    members = {"_rels/.rels": relations.encode(), "3D/main.model": main.encode(), "3D/Objects/a.model": part.encode()}
    (tmp_path / "parts.3mf").write_bytes(hostile.packed(members))
    assert len(load(tmp_path / "parts.3mf").faces) == 4


def three_mf_with_target(target: str) -> bytes:
    """A tetrahedron in 3D/main.model, where the relations name `target`."""
    model = zipfile.ZipFile(io.BytesIO(hostile.doubled_components(0))).read("3D/3dmodel.model")
    relation = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
    relations = f'<Relationships><Relationship Type="{relation}" Target="{target}"/></Relationships>'
    return hostile.packed({"_rels/.rels": relations.encode(), "3D/main.model": model})


@pytest.mark.parametrize(
    "target", ["3D/main.model", "/3D/main.model", "./3D/main.model", "/./3D/main.model", "3D/./x/../main.model", "3D//main.model"]
)
def test_3mf_relations_may_hold_dots(tmp_path, target):
    (tmp_path / "dots.3mf").write_bytes(three_mf_with_target(target))
    assert len(load(tmp_path / "dots.3mf").faces) == 4


@pytest.mark.parametrize("target", ["../3D/main.model", "/../3D/main.model", "3D/../../3D/main.model", "..", "./.."])
def test_3mf_relations_that_leave_the_archive_are_refused(tmp_path, target):
    (tmp_path / "out.3mf").write_bytes(three_mf_with_target(target))
    with pytest.raises(InputError, match=rf"out\.3mf: its part '{re.escape(target)}' lies outside of its archive"):
        load(tmp_path / "out.3mf")

"""Untrusted world and motion files are refused, or as good as jostle's own.

`fuzz_stored.py` tries more.
"""

import io
import json
import os
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import jostle
from jostle import array_file
from jostle.kernels.jit import JIT_DISABLED
from jostle.methods.bounding_tree import stored as stored_trees
from jostle.methods.voxmap import stored as stored_voxels
from jostle.motion.record import Motion, Recorder
from jostle.shapes.analytic import Torus
from jostle.shapes.build import icosphere, torus
from tests import fuzz_stored
from tests.tiny import box, random_soup, translation

FILES = int(os.environ.get("JOSTLE_STORED_FILES", "40"))


def test_edited_files_are_refused_or_answer_as_what_they_hold(tmp_path):
    outcomes, findings = fuzz_stored.run(FILES, 7, tmp_path, "wide_tree,bounding_tree,voxmap")
    assert findings == []
    assert {said for _, said in outcomes} >= {"refused", "answered"}


def saved(world, tmp_path):
    world.save(tmp_path / "world.npz")
    return fuzz_stored.arrays_of((tmp_path / "world.npz").read_bytes())


def written(arrays, file):
    """Write arrays as they are, with checksums that are right."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", array if isinstance(array, bytes) else fuzz_stored.npy(array))
    return file


def edited(arrays, change):
    """Change the description."""
    description = json.loads(str(arrays["description"]))
    change(description)
    return arrays | {"description": np.array(json.dumps(description))}


@pytest.mark.parametrize(
    "method",
    [
        jostle.BoundingTree(),
        jostle.BoundingTree(volume="sphere", leaf_faces=1),
        jostle.BoundingTree(volume="aabb", degree=6),
        jostle.Voxmap(),
        jostle.Voxmap(surface_only=True),
        jostle.Voxmap(depth=False, across=31, both=True),
    ],
    ids=str,
)
def test_stored_shapes_are_taken_as_they_were(method, tmp_path):
    world = jostle.World(method)
    meshes = [icosphere(2), box(), torus(1.0, 0.3).scaled(1e-3), icosphere(1).moved(translation((1e5, 0, 0)))]
    meshes.append(jostle.Mesh(analytic=Torus(1.0, 0.25)))
    if not isinstance(method, jostle.Voxmap) or method.surface_only:
        meshes.append(random_soup(np.random.default_rng(1)))
    for mesh in meshes:
        world.add(mesh)
    world.save(tmp_path / "world.npz")
    again = jostle.World.load(tmp_path / "world.npz")
    assert len(again._shapes) == len(meshes)
    for mesh in meshes:
        for mine, loaded in zip(world._shapes[mesh.digest], again._shapes[mesh.digest], strict=True):
            assert np.asarray(mine).dtype == np.asarray(loaded).dtype
            assert np.array_equal(mine, loaded)
            if isinstance(mine, np.ndarray):
                assert mine.flags.writeable == loaded.flags.writeable  # kernels are compiled for one or the other
    assert again.detect().to_array().tobytes() == world.detect().to_array().tobytes()


@pytest.mark.parametrize("method", ["wide_tree", "bounding_tree"])
def test_equal_meshes_keep_names_units_and_polygons(method, tmp_path):
    ball = icosphere(1)
    halves, thirds = np.arange(len(ball.faces)) // 2, np.arange(len(ball.faces)) // 3
    meshes = [
        jostle.Mesh(ball.vertices, ball.faces, name="left", units="mm", source_face=halves),
        jostle.Mesh(ball.vertices, ball.faces, name="left", source_face=halves),
        jostle.Mesh(ball.vertices, ball.faces, name="right", source_face=thirds),
    ]
    world = jostle.World(method)
    for mesh in meshes:
        world.add(mesh)
    world.save(tmp_path / "world.npz")
    loaded = jostle.World.load(tmp_path / "world.npz")
    for mesh, body in zip(meshes, loaded, strict=True):
        assert (body.mesh.name, body.mesh.units) == (mesh.name, mesh.units)
        assert (body.mesh.source_face == mesh.source_face).all()
    assert loaded.detect().to_array().tobytes() == world.detect().to_array().tobytes()


def test_other_shapes_are_prepared_again_whatever_the_file_says_of_them(tmp_path):
    world = fuzz_stored.world_of("wide_tree")
    arrays = saved(world, tmp_path)
    assert not [name for name in arrays if name.startswith("shape/")]
    arrays |= {f"shape/0/{name}": np.full(5, 2**30, np.int32) for name in ("faces", "first", "count")}
    again = jostle.World.load(written(arrays, tmp_path / "edited.npz"))
    assert again.detect().to_array().tobytes() == world.detect().to_array().tobytes()


TREES = {
    "order": lambda order: order.__setitem__(3, order[4]),
    "first_child": lambda child: child.__setitem__(0, 0),
    "child_count": lambda count: count.__setitem__(0, 6),
    "first_face": lambda first: first.__setitem__(-1, first[-1] + 1),
    "face_count": lambda count: count.__setitem__(0, count[0] - 1),
    "volumes": lambda volumes: volumes.__setitem__((2, 3), 0.9 * volumes[2, 3]),
}
VOXELS = {
    "words": lambda words: words.__setitem__(-1, 2**64 - 1),
    "middle": lambda middle: middle.__setitem__(0, 1e20),
    "points": lambda points: points.__setitem__((5, 1), np.nan),
    "feet": lambda feet: feet.__setitem__((0, 0), 1e10),
    "normals": lambda normals: normals.__setitem__(2, 0.0),
    "deep": lambda deep: deep.__setitem__((0, 0), np.inf),
    "band_first": lambda first: first.__setitem__(np.argmax(first), 2**30),
    "band_values": lambda values: values.resize((values.shape[0], 256), refcheck=False),
}


@pytest.mark.parametrize(
    ("method", "module", "field", "damage"),
    [
        *((jostle.BoundingTree(), stored_trees, field, damage) for field, damage in TREES.items()),
        *((jostle.Voxmap(across=30), stored_voxels, field, damage) for field, damage in VOXELS.items()),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_stored_shape_that_is_not_one_is_refused(method, module, field, damage):
    mesh = icosphere(2)
    shape = method.prepare_shape(mesh)
    made = module.tree_of if module is stored_trees else module.shape_of
    fields = {name: np.array(array) for name, array in module.fields_of(shape).items()}
    made(method, mesh, fields)
    damage(fields[field])
    with pytest.raises(jostle.InputError):
        made(method, mesh, fields)
    with pytest.raises(jostle.InputError):
        made(method, icosphere(1), module.fields_of(shape))


def test_a_damaged_shape_is_prepared_again(tmp_path):
    world = fuzz_stored.world_of("voxmap")
    arrays = saved(world, tmp_path)
    arrays["shape/0/words"][0] ^= np.uint64(1 << 20)  # in range: only the digest tells
    again = jostle.World.load(written(arrays, tmp_path / "edited.npz"))
    assert len(again._shapes) == len(world._shapes) - 1
    assert again.detect().to_array().tobytes() == world.detect().to_array().tobytes()


WRONG = {
    "is not JSON": lambda arrays: arrays | {"description": np.array("[" * 100_000)},
    "format is 'x'": lambda arrays: edited(arrays, lambda fields: fields.update(format="x")),
    "names is missing": lambda arrays: edited(arrays, lambda fields: fields.pop("names")),
    "there is no method": lambda arrays: edited(arrays, lambda fields: fields.update(method="__class__")),
    "no setting": lambda arrays: edited(arrays, lambda fields: fields["settings"].update(x=1)),
    "build is": lambda arrays: edited(arrays, lambda fields: fields["settings"].update(build=[])),
    "units is": lambda arrays: edited(arrays, lambda fields: fields.update(units="parsec")),
    "mesh_of_body": lambda arrays: edited(arrays, lambda fields: fields["mesh_of_body"].__setitem__(0, -1)),
    "already": lambda arrays: edited(arrays, lambda fields: fields["names"].__setitem__(0, fields["names"][1])),
    "dt is": lambda arrays: edited(arrays, lambda fields: fields.update(dt=float("nan"))),
    "time is": lambda arrays: edited(arrays, lambda fields: fields.update(time=10**400)),
    "ignored": lambda arrays: edited(arrays, lambda fields: fields.update(ignored=[[0]])),
    "not in this world": lambda arrays: edited(arrays, lambda fields: fields.update(ignored=[[0, 99]])),
    "ids": lambda arrays: arrays | {"ids": arrays["ids"][::-1]},
    "next_id": lambda arrays: edited(arrays, lambda fields: fields.update(next_id=1)),
    "static has dtype": lambda arrays: arrays | {"static": arrays["static"].astype("u1")},
    "group has shape": lambda arrays: arrays | {"group": arrays["group"][:1]},
    "group is -2": lambda arrays: arrays | {"group": np.full_like(arrays["group"], -2)},
    "poses is missing": lambda arrays: {name: array for name, array in arrays.items() if name != "poses"},
    "not rigid": lambda arrays: arrays | {"poses": 2.0 * arrays["poses"] - np.diag([0, 0, 0, 1.0])},
    r"faces\[0, 0\] is": lambda arrays: arrays | {"mesh/0/faces": arrays["mesh/0/faces"] + 1000},
    "is nan": lambda arrays: arrays | {"mesh/0/vertices": arrays["mesh/0/vertices"] * np.nan},
    "source_face": lambda arrays: arrays | {"mesh/0/source_face": -1 - arrays["mesh/0/source_face"]},
    "vertices_t0 has shape": lambda arrays: arrays | {"body/4/vertices_t0": arrays["body/4/vertices_t0"][:-1]},
    "not a part of the world": lambda arrays: arrays | {"extra": np.zeros(1)},
    "poses cannot be read": lambda arrays: arrays | {"poses": b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 16},
    "does not agree with its": lambda arrays: arrays | {"poses": header("(2305843009213693953, 8)")},
    "mesh_analytic": lambda arrays: edited(arrays, lambda fields: fields.update(mesh_analytic=[])),
    "analytic surface": lambda arrays: edited(arrays, lambda fields: fields["mesh_analytic"].__setitem__(0, {"surface": []})),
}


def header(shape):
    """A .npy file of a hundred bytes that says it has another shape."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(100) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + bytes(100)


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_with_a_world_file_is_said(message, tmp_path):
    arrays = saved(fuzz_stored.world_of("wide_tree"), tmp_path)
    file = written(WRONG[message](arrays), tmp_path / "edited.npz")
    with pytest.raises(jostle.InputError, match=rf"edited\.npz: .*{message}"):
        jostle.World.load(file)


def as_file(tmp_path, content):
    (tmp_path / "x.npz").write_bytes(content)
    return tmp_path / "x.npz"


def damaged_files(tmp_path):
    """Files with a damaged archive, by the error that readers raised."""
    good = io.BytesIO()
    with zipfile.ZipFile(good, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("description.npy", fuzz_stored.npy(np.array("x" * 1000)))
    content, directory = good.getvalue(), good.getvalue().rfind(b"PK\x01\x02")
    yield "bad stream", content[:60] + b"\xff" * 8 + content[68:]
    yield "packed in another way", content[: directory + 10] + b"\x63\x00" + content[directory + 12 :]
    yield "encrypted", content[: directory + 8] + b"\x01\x00" + content[directory + 10 :]
    yield "cut", content[:-9]
    yield "empty", b""
    twice = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(twice, "w") as archive:
        for _ in range(2):
            archive.writestr("description.npy", fuzz_stored.npy(np.array("{}")))
    yield "twice", twice.getvalue()


def test_damaged_archives_are_refused_by_world_and_motion(tmp_path):
    for words, content in damaged_files(tmp_path):
        for load in (jostle.World.load, Motion.load):
            with pytest.raises(jostle.InputError, match=r"x\.npz") as raised:
                load(as_file(tmp_path, content))
            assert raised.value.__cause__ is None, words


def test_bombs_are_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("description.npy", bytes(10_000_000))
    monkeypatch.setattr(array_file, "MOST_BYTES", 1_000_000)
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    for load in (jostle.World.load, Motion.load):
        with pytest.raises(jostle.InputError, match="10000000 bytes; at most 1000000 are read"):
            load(as_file(tmp_path, packed.getvalue()))


@pytest.mark.small
def test_what_is_no_regular_file_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    for load in (jostle.World.load, Motion.load):
        for file in (tmp_path / "pipe.npz", tmp_path, "/dev/zero"):
            with pytest.raises(jostle.InputError, match="not a regular file"):
                load(file)


def test_motion_files_with_digests_that_are_right_are_checked_too(tmp_path):
    world = fuzz_stored.world_of("wide_tree")
    recorder = Recorder(world)
    recorder.capture()
    recorder.motion("one frame").save(tmp_path / "motion.npz")
    arrays = fuzz_stored.arrays_of((tmp_path / "motion.npz").read_bytes())
    wrong = {
        "mesh_of_body": arrays["mesh_of_body"] + 99,
        "poses": arrays["poses"][0],
        "ignored": np.array([[0, 99]], np.int32),
        "group": np.full_like(arrays["group"], -5),
        "mesh/0/faces": -arrays["mesh/0/faces"],
        "body/4/vertices": arrays["body/4/vertices"] * np.inf,
    }
    for name, array in wrong.items():
        with np.errstate(invalid="ignore"):
            changed = arrays | {name: array}
        description = json.loads(str(arrays["description"]))
        fuzz_stored._make_digests({k: v for k, v in changed.items() if k != "description"}, description)
        changed["description"] = np.array(json.dumps(description))
        with pytest.raises(jostle.InputError, match=r"edited\.npz: "):
            Motion.load(written(changed, tmp_path / "edited.npz"))


NEVER_COMPILED = """
import sys
import jostle
for path in sys.argv[1:]:
    try:
        world = jostle.World.load(path)
    except jostle.Unsupported as error:
        print("refused", isinstance(error, jostle.InputError), error)
    else:
        print("loaded", len(world))
"""


@pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
def test_a_kernel_that_must_not_be_compiled_is_no_defect_of_the_file(tmp_path):
    files = []
    for method in ("bounding_tree", "plain", "brute_force"):
        world = jostle.World(method)
        world.add(box())
        files.append(tmp_path / f"{method}.npz")
        world.save(files[-1])
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "JOSTLE_"))}
    environment |= {"JOSTLE_COMPILE": "never", "JOSTLE_COMPILED": "0", "JOSTLE_CACHE_DIR": str(tmp_path / "empty")}
    environment["PYTHONPATH"] = str(Path(jostle.__file__).parents[1])
    command = [sys.executable, "-c", NEVER_COMPILED, *map(str, files)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    refused, *loaded = done.stdout.splitlines()
    assert refused.startswith("refused False method bounding_tree: kernel ")
    assert "damaged" not in refused
    assert "unset JOSTLE_COMPILE" in refused
    assert loaded == ["loaded 1"] * 2  # after Numba was loaded, too

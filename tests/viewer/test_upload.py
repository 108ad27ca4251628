"""Files that are added on the page: what is taken and what is refused, under harmless names, and where the bodies go."""

import json
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import jostle
from jostle.errors import InputError
from jostle.motion.pose import translation
from jostle.shapes import build
from jostle.shapes.save import save
from jostle.viewer.session import Listener, Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import subject_of, subject_of_world

pytest.importorskip("viser", reason="viser is not installed; pip install 'jostle[viewer]'")

from jostle.viewer import upload
from jostle.viewer.upload import harmless, limit_transfers, parts_of


def content_of(mesh, folder, name="mesh.stl"):
    return save(mesh, folder / name).read_bytes()


def outside(folder):
    return {"asset": {"version": "2.0"}, "buffers": [{"uri": str(folder / "secret.bin"), "byteLength": 3}], "nodes": []}


def test_a_file_is_read_as_everywhere_and_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ((name, mesh, pose),) = parts_of("C:\\things\\a box.STL", content_of(build.box((1, 2, 3)), tmp_path))
    assert name == "a box"
    assert len(mesh.faces) == 12
    assert np.array_equal(pose, np.eye(4))
    assert [each.name for each in tmp_path.iterdir()] == ["mesh.stl"]


def test_what_is_refused_says_why_without_the_place_it_was_kept(tmp_path, monkeypatch):
    box = content_of(build.box((1, 1, 1)), tmp_path)
    (tmp_path / "secret.bin").write_bytes(b"abc")
    for name, content, limit, words in (
        ("box.exe", box, 1.0, "box.exe: files that can be added end in .glb"),
        ("box.3mf", box, 1.0, "end in"),
        ("../../etc/passwd", b"root", 1.0, "passwd: files that can be added"),
        ("box.stl", box, 1e-4, "box.stl: it has 0.0 MB, at most 0.0001 are taken; --upload-limit"),
        ("box.stl", box[:200], 1.0, "box.stl: "),
        ("box.stl", b"", 1.0, "box.stl: "),
        ("box.obj", b"v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n", 1.0, "box.obj: "),
        ("scene.gltf", json.dumps(outside(tmp_path)).encode(), 1.0, "is another file; save it as one file"),
    ):
        with pytest.raises(InputError) as refused:
            parts_of(name, content, limit)
        assert words in str(refused.value)
        assert tempfile.gettempdir() + "/jostle-upload" not in str(refused.value)
    monkeypatch.setattr(upload, "MOST_FACES", 11)
    with pytest.raises(InputError, match="it has 12 faces in 1 bodies; a page takes 11"):
        parts_of("box.stl", box)


@pytest.mark.parametrize(
    ("name", "kept"),
    [("../../a.stl", "a.stl"), ("..", "file"), ("", "file"), ("\x00<b>&.obj", "__b__.obj"), ("/tmp/x/", "file"), (".stl", "stl")],
)
def test_names_are_harmless(name, kept):
    assert harmless(name) == kept


def test_a_long_name_keeps_its_ending():
    assert len(harmless(300 * "x" + ".stl")) == 60
    assert Path(harmless(300 * "x" + ".stl")).suffix == ".stl"


class Heard(Listener):
    def __init__(self):
        self.problems, self.subjects = [], []

    def problem(self, text):
        self.problems.append(text)

    def bodies_added(self, subject):
        self.subjects.append(subject)


def test_new_bodies_stand_beside_the_others_and_touch_when_they_are_moved(tmp_path):
    world = jostle.World()
    world.add(build.box((1, 1, 1)), translation((5, 0, 0)), "box")
    session = Session(subject_of_world(world, "one box"))
    heard = Heard()
    session.listen(heard)
    for _ in range(2):
        session.add_bodies(parts_of("box.stl", content_of(build.box((1, 1, 1)), tmp_path)))
    snapshot = session.round()
    assert heard.subjects[-1].start.names == ("box", "box 2", "box 3")
    assert snapshot.found.pairs == frozenset()
    assert (np.diff(snapshot.poses[:, 0, 3]) < -1.0).all()
    session.move(2, translation((5.2, 0.1, 0.3)), "me")
    assert (0, 2) in session.round().found.pairs
    session.change(method="face_octree")
    assert (0, 2) in session.round().found.pairs
    session.put_back()
    assert session.round().found.pairs == frozenset()


def test_new_bodies_stay_where_they_are_while_a_motion_plays(tmp_path):
    session = Session(subject_of(["spheres(count=3, faces=80)"]))
    session.add_bodies(parts_of("box.stl", content_of(build.box((1, 1, 1)), tmp_path)))
    session.round()
    pose = translation((9.0, 0.2, 0.1))
    session.move(3, pose, "me")
    session.seek(5)
    session.step(1)
    snapshot = session.round()
    assert np.array_equal(snapshot.poses[:3], session.subject.frames.at(6)[0])
    session.step(1)
    assert np.array_equal(session.round().poses[3], pose)


def test_what_the_method_does_not_serve_is_refused_and_nothing_changes(tmp_path):
    session = Session(subject_of(["spheres(count=2, faces=80)"]), Settings(method="voxmap"))
    heard = Heard()
    session.listen(heard)
    session.add_bodies(parts_of("plate.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"))
    session.round()
    assert "closed" in heard.problems[0]
    assert len(session.world) == len(session.subject.start.names) == 2


def test_too_large_a_transfer_is_refused_before_it_comes():
    """The start and the parts of a transfer, as viser has them."""
    begun, parts, told = [], [], []
    under_way, handlers = {}, {}
    gui = SimpleNamespace(
        _websock_interface=SimpleNamespace(
            unregister_handler=lambda kind, handler: None, register_handler=lambda kind, handler: handlers.update({kind: handler})
        ),
        _current_file_upload_states=under_way,
        _handle_file_transfer_start=lambda client, message: begun.append(message),
        _handle_file_transfer_part=lambda client, message: parts.append(message),
    )
    limit_transfers(gui, 1.0, lambda client, text: told.append((client, text)))
    start, part = handlers.values()
    start(7, SimpleNamespace(size_bytes=1_000_001, filename="big.stl"))
    assert told == [(7, "big.stl: it has 1.0 MB, at most 1 are taken; --upload-limit sets how many")]
    start(7, SimpleNamespace(size_bytes=600_000, filename="a.stl"))
    assert len(begun) == 1
    under_way["a"] = {"total_bytes": 600_000, "transferred_bytes": 0}
    start(8, SimpleNamespace(size_bytes=600_000, filename="b.stl"))
    assert "another file is on its way" in told[-1][1]
    part(7, SimpleNamespace(transfer_uuid="a", content=b"x"))
    part(7, SimpleNamespace(transfer_uuid="a", content=bytes(600_001)))
    assert len(begun) == len(parts) == 1
    assert under_way == {}

"""Uploaded files: what is accepted and refused, safe names, and where the bodies go."""

import asyncio
import dataclasses
import json
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest

import jostle
from jostle.errors import InputError
from jostle.geometry.pose import translation
from jostle.shapes import build
from jostle.shapes.save import save
from jostle.viewer.session import Listener, Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import subject_of, subject_of_world

pytest.importorskip("viser", reason="viser is not installed; pip install 'jostle[viewer]'")

from jostle.viewer import upload
from jostle.viewer.messages import FileTransferPart, FileTransferStartUpload
from jostle.viewer.transfers import SMALLEST_PART, Transfers
from jostle.viewer.upload import harmless, parts_of
from tests.viewer.raw_client import served, start_of, until


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
        ("box.exe", box, 1.0, "box.exe: the name must end in one of .glb"),
        ("box.3mf", box, 1.0, "end in"),
        ("../../etc/passwd", b"root", 1.0, "passwd: the name must end in one of"),
        ("box.stl", box, 1e-4, "box.stl: it has 0.0 MB; the limit is 0.0001 MB (--upload-limit)"),
        ("box.stl", box[:200], 1.0, "box.stl: "),
        ("box.stl", b"", 1.0, "box.stl: "),
        ("box.obj", b"v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n", 1.0, "box.obj: "),
        ("scene.gltf", json.dumps(outside(tmp_path)).encode(), 1.0, "is another file; save it as one file"),
    ):
        with pytest.raises(InputError) as refused:
            parts_of(name, content, limit)
        assert words in str(refused.value)
        assert tempfile.gettempdir() + "/jostle-upload" not in str(refused.value)
    monkeypatch.setattr(upload, "UPLOAD_LIMITS", dataclasses.replace(upload.UPLOAD_LIMITS, faces=11))
    with pytest.raises(InputError, match=r"^box\.stl: .*faces.*11"):
        parts_of("box.stl", box)
    monkeypatch.setattr(upload, "MOST_BODIES", 0)
    with pytest.raises(InputError, match="it has 1 bodies; a page accepts 0 per file"):
        parts_of("box.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")


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


class Sender:
    """A browser that sends a file, as `Transfers` knows it."""

    def __init__(self):
        self.told, self.acknowledged, self.dismissed = [], [], 0

    def notify(self, text):
        self.told.append(text)

    def acknowledge(self, start, received):
        self.acknowledged.append(received)

    def dismiss(self, start):
        self.dismissed += 1


def announced(size, parts, name="a.stl", transfer="t"):
    return FileTransferStartUpload("button", transfer, name, "", parts, size)


def part(index, content, transfer="t"):
    return FileTransferPart("button", transfer, index, content)


PIECE = bytes(SMALLEST_PART)


def test_what_counts_is_what_came_not_what_was_announced():
    async def story():
        came, senders = [], [Sender() for _ in range(7)]
        transfers = Transfers(4 * SMALLEST_PART, lambda name, size: f"{name} {size} is too large", lambda *file: came.append(file))
        transfers.begin(0, senders[0], announced(4 * SMALLEST_PART + 1, 5))
        assert senders[0].told == [f"a.stl {4 * SMALLEST_PART + 1} is too large"]
        assert senders[0].dismissed == 1
        transfers.receive(0, part(0, PIECE))  # the page sends it all the same
        for one in range(6):  # announce more than there is room for in all, and then stall
            transfers.begin(one, senders[one], announced(4 * SMALLEST_PART, 4))
        assert transfers.held == 0
        transfers.begin(6, senders[6], announced(2 * SMALLEST_PART, 2, "b.stl"))
        transfers.receive(6, part(0, PIECE))
        transfers.receive(6, part(1, PIECE))
        assert [(by, name, len(content)) for by, name, content in came] == [(senders[6], "b.stl", 2 * SMALLEST_PART)]
        assert senders[6].acknowledged == [SMALLEST_PART, 2 * SMALLEST_PART]
        # One file at a time for each; two are two browsers.
        transfers.begin(1, senders[1], announced(SMALLEST_PART, 1, "c.stl", "u"))
        assert "another of your files is uploading" in senders[1].told[-1]
        # What is held is bounded, and whoever comes last is refused, not those before.
        for one in range(5):
            for index in range(3):
                transfers.receive(one, part(index, PIECE))
        assert transfers.held == 14 * SMALLEST_PART  # of sixteen; the last one's are free again
        assert "too many files" in senders[4].told[-1]
        assert [sender.told for sender in senders[2:4]] == [[], []]
        transfers.finished(2 * SMALLEST_PART)  # read
        for one in range(6):
            transfers.forget(one)
        assert transfers.held == 0

    asyncio.run(story())


def test_a_file_that_stalls_is_dropped_and_its_sender_told(monkeypatch):
    monkeypatch.setattr("jostle.viewer.transfers.STALLED", 0.02)

    async def story():
        sender = Sender()
        transfers = Transfers(4 * SMALLEST_PART, lambda name, size: name, lambda *file: None)
        transfers.begin(0, sender, announced(4 * SMALLEST_PART, 4))
        transfers.receive(0, part(0, PIECE))
        while not sender.told:
            await asyncio.sleep(0.005)
        assert sender.told == ["a.stl: nothing arrived for 0.02 s, so it was dropped; try again"]
        assert sender.dismissed == 1
        assert transfers.held == 0
        transfers.begin(0, sender, announced(0, 0, "b.stl"))
        assert sender.acknowledged[-1] == 0

    asyncio.run(story())


@pytest.mark.parametrize(
    "parts",
    [
        [(1, PIECE)], [(0, PIECE), (0, PIECE)], [(0, b"")], [(0, b"x")], [(0, 3 * PIECE)], [(0, PIECE), (1, PIECE + b"x")],
        [(0, PIECE), (1, b"x")], [(7, PIECE)],
    ],
)  # fmt: skip
def test_parts_that_no_page_sends_are_malformed(parts):
    async def story():
        transfers = Transfers(4 * SMALLEST_PART, lambda name, size: name, lambda *file: pytest.fail("it is not whole"))
        with pytest.raises(InputError):
            transfers.begin(0, Sender(), announced(2 * SMALLEST_PART, 3))
        transfers.begin(0, Sender(), announced(2 * SMALLEST_PART, 2))
        for index, content in parts[:-1]:
            transfers.receive(0, part(index, content))
        with pytest.raises(InputError):
            transfers.receive(0, part(*parts[-1]))
        transfers.forget(0)
        assert transfers.held == 0

    asyncio.run(story())


def one_box():
    world = jostle.World("brute_force")
    world.add(build.box((1, 1, 1)), translation((5, 0, 0)), "box")
    return Session(subject_of_world(world, "one box"))


def test_a_good_upload_is_added_and_says_nothing_red(tmp_path):
    with served(one_box()) as page:
        client = page.client()
        number = client.upload("box.stl", content_of(build.box((1, 1, 1)), tmp_path))
        done = client.hears(lambda each: each["type"] == "FileTransferPartAck" and each["transfer_uuid"] == number)
        assert done["transferred_bytes"] == done["total_bytes"]
        until(lambda: len(page.session.world) == 2)
        client.set("points and normals", True)
        until(lambda: page.session.settings.contacts)
        until(lambda: page.page.uploads.transfers.held == 0)
        client.hears(lambda each: each.get("updates", {}).get("options"))  # the new body can be chosen
        assert [each for each in client.heard if each["type"] == "NotificationShowMessage"] == []


def test_who_stalls_blocks_nobody(tmp_path):
    with served(one_box()) as page:
        stalled, good = page.client(), page.client()
        stalled.send(start_of("large.stl", "stalled", 20_000_000, 39))
        stalled.send({"type": "FileTransferPart", "source_component_uuid": "", "transfer_uuid": "stalled", "part_index": 0,
                      "content": bytes(2**19)})  # fmt: skip
        until(lambda: page.page.uploads.transfers.held == 2**19)
        good.upload("box.stl", content_of(build.box((1, 1, 1)), tmp_path))
        until(lambda: len(page.session.world) == 2)
        stalled.close()
        until(lambda: page.page.uploads.transfers.held == 0)


def test_whatever_is_wrong_with_a_file_its_sender_is_told(tmp_path, monkeypatch):
    with served(one_box(), upload_limit=0.5) as page:
        client, other = page.client(), page.client()
        triangle = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
        for name, content, words in (
            ("a.stl", b"", "a.stl"),
            ("cut.stl", content_of(build.box((1, 1, 1)), tmp_path)[:200], "cut.stl"),
            ("b.exe", b"MZ", "the name must end in one of"),
            ("c.ply", b"ply\nformat ascii 1.0\nelement vertex 99999999999999999999\nend_header\n", "c.ply"),
            ("d.obj", triangle + b"f 1 2 99999999999999999999999\n", "d.obj"),
            ("e.gltf", b"{" * 1000, "e.gltf"),
            ("<b>&\u202e.obj", triangle + b"f 1 2 nan\n", "_b___.obj"),
        ):
            client.upload(name, content)
            assert words in client.told(words)
        client.upload("large.stl", b"abc", size=600_000)
        assert "it has 0.6 MB; the limit is 0.5 MB" in client.told("large.stl")
        client.hears(lambda each: each["type"] == "RemoveNotificationMessage")

        def fails(*_arguments, **_options):
            raise ZeroDivisionError

        monkeypatch.setattr(upload, "load_scene", fails)
        client.upload("f.obj", triangle + b"f 1 2 3\n")
        assert client.told("f.obj") == "f.obj: it cannot be read (ZeroDivisionError)"
        assert len(page.session.world) == 1
        assert page.guard.closed == 0
        other.drain()
        until(lambda: page.page.uploads.transfers.held == 0)


def test_where_no_files_are_taken_one_that_comes_closes_its_connection():
    with served(one_box(), upload_limit=0.0) as page:
        client = page.client()
        client.send(start_of("a.stl", "t", 10, 1))
        assert client.is_closed()


def test_a_page_takes_no_more_bodies_than_it_can_show(tmp_path, monkeypatch):
    monkeypatch.setattr(upload, "MOST_BODIES_IN_ALL", 2)
    with served(one_box()) as page:
        client = page.client()
        content = content_of(build.box((1, 1, 1)), tmp_path)
        client.upload("one.stl", content)
        until(lambda: len(page.session.world) == 2)
        client.upload("two.stl", content)
        assert "with it the page would have 36 faces in 3 bodies" in client.told("two.stl")


def test_files_that_come_while_the_page_is_busy_are_counted_too(tmp_path, monkeypatch):
    """They wait to be added, and none of them is on the page yet when the next one is read."""
    monkeypatch.setattr(upload, "MOST_BODIES_IN_ALL", 2)
    with served(one_box()) as page:
        client, other = page.client(), page.client()
        heard, busy, go_on = [], threading.Event(), threading.Event()
        monkeypatch.setattr(other.person, "notify", heard.append)
        page.session._request(lambda: (busy.set(), go_on.wait()))
        busy.wait()
        content = content_of(build.box((1, 1, 1)), tmp_path)
        for count, name in enumerate(("one.stl", "two.stl"), 1):
            client.upload(name, content)
            until(lambda count=count: len(page.session._loop._requests) == count)
        go_on.set()
        client.told("two.stl: with it the page would have")
        assert len(page.session.world) == 2
        assert heard == []  # only its sender is told

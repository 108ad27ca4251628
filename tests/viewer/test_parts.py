"""The small parts of the viewer: subjects, frames in time, timings, marks, rays, the scale of the page, overlays, the sound."""

import io
import re
import wave

import numpy as np
import pytest

import jostle
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.interface.overlay import Overlay
from jostle.motion.record import Recorder
from jostle.registry import METHODS
from jostle.render.panels import NOTHING
from jostle.shapes import build
from jostle.shapes.save import save
from jostle.viewer import numbers
from jostle.viewer.creases import creases_of
from jostle.viewer.marked_faces import lifted
from jostle.viewer.overlay_shapes import MOST_SHAPES, as_picture, drawn
from jostle.viewer.page_scale import SIZE, PageScale
from jostle.viewer.picking import distance_along
from jostle.viewer.playback import Playback
from jostle.viewer.settings import overlay_key, overlay_names
from jostle.viewer.snapshot import Found, Snapshot
from jostle.viewer.sound import knock
from jostle.viewer.subject import subject_of, subject_of_world
from jostle.viewer.timings import Timings


class TenFrames:
    dt, count = 1.0, 10


def test_playback_leaves_out_no_frame_and_begins_again():
    playback = Playback(TenFrames(), rate=10.0)
    assert not playback.advance(0.0)
    playback.play(now=0.0)
    shown = []
    for tick in range(100):
        if playback.advance(0.05 * tick):
            shown.append(playback.number)
    assert shown == [*range(1, 10), *([*range(10)] * 5)][: len(shown)]
    assert len(shown) == 50  # ten a second
    playback.step(-1)
    assert not playback.playing
    playback.seek(99)
    assert playback.number == 9
    playback.play(now=9.0)
    assert playback.advance(9.0)
    assert playback.number == 0  # from the start again
    playback.advance(30.0)  # a slow detection: the frames that are late do not come all at once
    assert not playback.advance(30.01)


def test_numbers_name_bodies_and_faces_and_the_first_detection():
    timings = Timings()
    snapshot = Snapshot(np.empty((0, 4, 4)), {}, Found(), False, 0.5968, 0, None)
    timings.add(0.5968)
    words = re.sub("<[^>]*>", " ", numbers.as_html(snapshot, timings, 5, 3072)).split()
    assert " ".join(words).endswith("detection now 596.8 ms (the first loads code) median – worst – bodies 5 their faces 3,072")
    timings.add(0.002)
    assert "the first" not in numbers.as_html(snapshot, timings, 5, 3072)


def test_timings_leave_out_the_first_and_forget_the_oldest():
    timings = Timings(window=3)
    for seconds in (9.0, 1.0, 4.0, 2.0, 3.0):
        timings.add(seconds)
    assert timings.curve().tolist() == [4.0, 2.0, 3.0]
    assert (timings.median, timings.worst) == (3.0, 4.0)
    timings.clear()
    assert np.isnan(timings.worst)


def test_marked_faces_lie_on_either_side_of_the_face():
    box = build.box((2.0, 2.0, 2.0))
    points, triangles = lifted(box.vertices, box.faces, np.array([0, 5], np.int32), 0.1)
    assert len(triangles) == 4
    for face, above, below in ((0, 0, 2), (5, 1, 3)):
        a, b, c = box.vertices[box.faces[face]]
        normal = np.cross(b - a, c - a) / np.linalg.norm(np.cross(b - a, c - a))
        for triangle, side in ((above, 0.1), (below, -0.1)):
            assert np.allclose((points[triangles[triangle]] - a) @ normal, side, atol=1e-6)
            p, q, r = points[triangles[triangle]].astype(float)
            assert np.sign(np.cross(q - p, r - p) @ normal) == np.sign(side)  # each looks outward on its side


def test_creases_of_a_box_are_its_twelve_edges():
    lines = creases_of(build.box((1.0, 2.0, 3.0)).vertices, build.box((1.0, 2.0, 3.0)).faces)
    assert sorted(np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1).round(6).tolist()) == [1.0] * 4 + [2.0] * 4 + [3.0] * 4


def test_a_ray_meets_a_box_where_it_must():
    box = build.box((2.0, 2.0, 2.0))
    assert distance_along(np.array([5.0, 0.3, 0.2]), np.array([-1.0, 0.0, 0.0]), box.vertices, box.faces) == pytest.approx(4.0)
    assert distance_along(np.array([5.0, 1.3, 0.2]), np.array([-1.0, 0.0, 0.0]), box.vertices, box.faces) == np.inf
    assert distance_along(np.array([5.0, 0.3, 0.2]), np.array([1.0, 0.0, 0.0]), box.vertices, box.faces) == np.inf
    assert distance_along(np.zeros(3), np.array([0.1, 1.0, 0.2]), box.vertices, box.faces) == pytest.approx(1.0)


@pytest.mark.parametrize(("size", "place"), [(1.0, 0.0), (1e-9, 0.0), (3.0, 1e7)])
def test_worlds_of_any_size_anywhere_fit_on_the_page_and_come_back(size, place):
    world = jostle.World()
    pose = translation((place, -place, place)) @ rotation_about((1, 2, 3), 2.5)
    world.add(build.box((size, size, 2.0 * size)), pose, "box")
    scale = PageScale.of(subject_of_world(world, "box").start)
    assert scale.extent.max() == pytest.approx(SIZE, rel=1e-6)
    centre = np.array([0.1 * size, 0.0, 0.0])
    wxyz, position = scale.place(pose, centre)
    assert np.abs(position).max() < SIZE
    back = scale.pose(wxyz, position, centre)
    assert np.allclose(back[:3, :3], pose[:3, :3], atol=1e-12)
    assert np.allclose(back[:3, 3], pose[:3, 3], atol=1e-9 * max(size, place))


def test_shapes_of_overlays():
    overlay = Overlay(
        "all",
        boxes=np.array([[[0, 0, 0], [1, 2, 3.0]]]),
        spheres=np.array([[1, 1, 1, 2.0]]),
        discs=np.array([[0, 0, 1, 0, 0, 1, 3.0]]),
        segments=np.array([[[0, 0, 0], [1, 1, 1.0]]]),
        points=np.ones((5, 3)),
    )
    shown = drawn(overlay)
    assert (shown.shapes, shown.shown) == (9, 9)
    box, ball, disc = shown.lines[:12], shown.lines[12:84], shown.lines[84:109]
    assert sorted(np.linalg.norm(box[:, 1] - box[:, 0], axis=1).tolist()) == [1.0] * 4 + [2.0] * 4 + [3.0] * 4
    assert np.allclose(np.linalg.norm(ball.reshape(-1, 3) - 1.0, axis=1), 2.0)
    assert np.allclose(np.linalg.norm(disc[:24].reshape(-1, 3) - [0, 0, 1], axis=1), 3.0)
    assert np.allclose(disc[:24, :, 2], 1.0)
    assert disc[24].tolist() == [[0, 0, 1], [0, 0, 4]]
    many = drawn(Overlay("many", boxes=np.zeros((3 * MOST_SHAPES, 2, 3))))
    assert (many.shapes, many.shown) == (3 * MOST_SHAPES, MOST_SHAPES)


def test_pictures_of_images():
    pixels = as_picture(np.array([[0.0, 1.0], [np.inf, 0.5]]), smallest=4)
    assert pixels.shape == (4, 4, 3)
    assert pixels[3, 0].tolist() == list(NOTHING)
    assert pixels[0, 0].sum() < pixels[3, 3].sum() < pixels[0, 3].sum()


@pytest.mark.parametrize("method", list(METHODS))
def test_every_method_has_the_overlays_that_are_offered(method):
    world = jostle.World(method)
    assert world.method.traits.overlays
    world.add(build.icosahedron(1.0), name="a")
    world.add(build.icosahedron(1.0), translation((1.2, 0.1, 0.0)), "b")
    seen = 0
    for name in overlay_names(world.method)[1:]:
        overlay = world.overlay(overlay_key(world.method, name))
        shown = drawn(overlay)
        seen += shown.shown + len(overlay.images) + sum(map(len, overlay.faces.values()))
    # A plane that separates two bodies is there only when they are apart.
    assert seen > 0 or method == "separating_plane"


def test_the_sound_is_one():
    with wave.open(io.BytesIO(knock())) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        assert 0.05 < file.getnframes() / file.getframerate() < 0.5
    assert 5000 < np.abs(samples).max() < 32767
    assert np.abs(samples[-100:]).max() < 300  # it fades, and does not click


def test_subjects_of_files_motions_and_worlds(tmp_path):
    world = jostle.World()
    ball = world.add(build.icosahedron(1.0), name="ball")
    recorder = Recorder(world)
    for k in range(4):
        ball.pose = translation((k, 0.0, 0.0))
        recorder.capture()
    recorder.motion("a ball").save(tmp_path / "motion.npz")
    world.save(tmp_path / "world.npz")
    save(build.box((1, 1, 1)), tmp_path / "box.stl")
    motion = subject_of([str(tmp_path / "motion.npz")])
    assert (motion.title, motion.frames.count) == ("a ball", 4)
    assert motion.frames.at(2)[0][0, 0, 3] == 2.0
    saved = subject_of([str(tmp_path / "world.npz")])
    assert saved.frames is None
    assert saved.start.poses[0, 0, 0, 3] == 3.0
    files = subject_of([str(tmp_path / "box.stl")] * 2)
    assert files.start.names == ("box", "box 1")
    assert subject_of([]).name == "room"


def test_what_cannot_be_looked_at_is_one_sentence(tmp_path):
    (tmp_path / "bad.stl").write_text("nothing")
    (tmp_path / "bad.npz").write_bytes(b"nothing")
    for words, message in (
        (["nothing"], "there is no scene and no file 'nothing'; the built-in scenes are"),
        (["spheres(colour=red)"], "scene spheres has no setting 'colour'"),
        ([str(tmp_path / "bad.stl")], "bad.stl"),
        ([str(tmp_path / "bad.npz")], "bad.npz"),
        ([str(tmp_path / "bad.npz"), "b.stl"], "must be the only file"),
        (["a.stl", "b.stl"], "there is no such file"),
    ):
        with pytest.raises(InputError, match=message.replace("(", r"\(").replace(")", r"\)")) as raised:
            subject_of(words)
        assert "\n" not in str(raised.value)

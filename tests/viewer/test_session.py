"""A session without a page: what it finds against the truth, what it refuses, who holds what, and that nobody waits for it."""

import threading
import time

import numpy as np
import pytest

import jostle
from jostle.errors import InputError, Unsupported
from jostle.fitting import read_path, walk
from jostle.geometry.pose import rotation_about, translation
from jostle.shapes import build
from jostle.viewer.fit_panel import save_paths
from jostle.viewer.listener import Listener
from jostle.viewer.session import Session
from jostle.viewer.settings import Settings
from jostle.viewer.subject import subject_of, subject_of_world


class Heard(Listener):
    def __init__(self):
        self.snapshots, self.problems, self.settings = [], [], []

    def show(self, snapshot):
        self.snapshots.append(snapshot)

    def problem(self, text):
        self.problems.append(text)

    def settings_changed(self, settings):
        self.settings.append(settings)


def two_boxes(gap=0.5, method=None, **more):
    world = jostle.World(method)
    world.add(build.box((1.0, 1.0, 1.0)), translation((-0.5 - 0.5 * gap, 0.0, 0.0)), "left")
    world.add(build.box((1.0, 1.0, 1.0)), translation((0.5 + 0.5 * gap, 0.0, 0.0)), "right")
    return subject_of_world(world, "two boxes", **more)


def heard_of(session):
    heard = Heard()
    session.listen(heard)
    return heard


def first(session):
    session._request(session._detect_again)
    return session.round()


def test_what_is_shown_is_what_brute_force_finds():
    session = Session(two_boxes())
    assert first(session).found.pairs == frozenset()
    pose = translation((0.1, 0.2, 0.3)) @ rotation_about((1, 2, 3), 0.4)
    assert session.move(0, pose, "me")
    snapshot = session.round()
    truth = jostle.World("brute_force")
    truth.add(build.box((1.0, 1.0, 1.0)), pose)
    truth.add(build.box((1.0, 1.0, 1.0)), translation((0.75, 0.0, 0.0)))
    report = truth.detect()
    assert report.touching
    for body in (0, 1):
        assert snapshot.found.touching[body].tolist() == report.faces_of(body).tolist()
    assert snapshot.found.pairs == snapshot.began == {(0, 1)}
    assert snapshot.found.face_pairs == len(report.contacts)
    session.move(0, pose @ translation((0.01, 0.0, 0.0)), "me")
    assert session.round().began == frozenset()  # they touched before
    assert session.round() is None  # nothing changed: nothing is done


def test_near_faces_are_apart_from_touching_ones():
    session = Session(two_boxes(gap=0.05), Settings(clearance=0.1, contacts=True))
    found = first(session).found
    assert found.pairs == frozenset()
    assert found.touching == {}
    assert found.near_pairs == 1
    truth = jostle.World("brute_force")
    for x in (-0.525, 0.525):
        truth.add(build.box((1.0, 1.0, 1.0)), translation((x, 0.0, 0.0)))
    report = truth.detect(clearance=0.1)
    for body in (0, 1):
        assert found.near[body].tolist() == report.faces_of(body).tolist()
    assert np.allclose(found.points, report.contacts.point)
    assert np.allclose(found.normals, report.contacts.normal)


def test_an_unsupported_option_is_refused_and_a_change_of_method_drops_it():
    session = Session(two_boxes(), Settings(clearance=0.1))
    heard = heard_of(session)
    session.change(method="bounding_tree")
    session.round()
    assert session.settings.method == "bounding_tree"
    assert session.settings.clearance == 0.0
    assert "does not serve clearance" in heard.problems[0]
    session.change(clearance=0.2)
    session.round()
    assert session.settings.clearance == 0.0
    assert "bounding_tree does not serve clearance" in heard.problems[1]
    session.change(method="nothing")
    session.change(clearance=-1.0)
    session.round()
    assert session.settings.method == "bounding_tree"
    assert "there is no method 'nothing'" in heard.problems[2]
    assert heard.settings[-1] == session.settings
    with pytest.raises(Unsupported, match="does not serve clearance"):
        Session(two_boxes(), Settings(method="bounding_tree", clearance=0.1))


def test_another_method_begins_where_bodies_are_now():
    session = Session(subject_of(["deforming_spheres(count=2, faces=80)"]))
    session.seek(7)
    shown = session.round()
    session.change(method="face_octree")
    again = session.round()
    assert np.array_equal(again.poses, shown.poses)
    assert len(again.vertices) == 2
    for body, vertices in again.vertices.items():
        assert np.array_equal(vertices, shown.vertices[body])
    heard = heard_of(session)
    session.change(method="voxmap")  # which needs rigid bodies
    session.round()
    assert session.settings.method == "face_octree"
    assert "needs rigid bodies" in heard.problems[0]


@pytest.mark.parametrize("scene", ["two_spheres(faces=80)", "deforming_spheres(count=3, faces=80)"])
def test_frames_are_those_that_a_recording_has(scene):
    from jostle.scenes import make_scene

    session = Session(subject_of([scene]))
    name = scene.partition("(")[0]
    motion = make_scene(name, **({"faces": 80} if name == "two_spheres" else {"count": 3, "faces": 80})).record(30)
    for frame in (11, 3, 29):
        session.seek(frame)
        snapshot = session.round()
        assert snapshot.frame == frame
        assert np.array_equal(snapshot.poses, motion.poses[frame])
        for body, vertices in motion.vertices.items():
            assert np.array_equal(snapshot.vertices[body], vertices[frame])


def test_a_scene_that_stops_ends_there():
    session = Session(subject_of(["two_spheres(faces=80, cycles=12)"]))
    session.seek(10_000)
    snapshot = session.round()
    assert snapshot.frame == session.playback.frames.count - 1
    assert snapshot.found.pairs == {(0, 1)}  # it stops with the contact


def test_a_held_body_stays_in_the_hand_while_the_motion_plays():
    session = Session(subject_of(["spheres(count=3, faces=80)"]))
    assert session.take(1, "blue")
    pose = translation((0.3, 0.2, 0.1))
    session.move(1, pose, "blue")
    session.round()
    session.step(1)
    snapshot = session.round()
    assert np.array_equal(snapshot.poses[1], pose)
    session.release(1, "blue")
    session.step(1)
    assert not np.array_equal(session.round().poses[1], pose)


def test_one_holder_at_a_time_and_who_leaves_releases():
    session = Session(two_boxes())
    assert session.take(0, "blue")
    assert not session.take(0, "green")
    assert not session.move(0, np.eye(4), "green")
    assert session.take(1, "green")
    session.leave("blue")
    assert session.holding.held() == {1: "green"}
    assert session.move(0, np.eye(4), "green")


def test_a_slow_method_keeps_nobody_waiting(monkeypatch):
    session = Session(two_boxes())
    heard = heard_of(session)
    session.start()
    detect, running = session.world.detect, threading.Event()

    def slow(query):
        running.set()
        time.sleep(0.6)
        return detect(query)

    deadline = time.monotonic() + 30
    while not heard.snapshots:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    monkeypatch.setattr(session.world, "detect", slow)
    session.move(0, translation((-2.0, 0.0, 0.0)), "me")
    assert running.wait(10)
    begin = time.perf_counter()
    for k in range(1000):
        session.move(0, translation((-2.0 - 1e-3 * k, 0.0, 0.0)), "me")
    assert time.perf_counter() - begin < 0.5
    done = len(heard.snapshots)
    session.stop()
    assert len(heard.snapshots) - done <= 2  # the thousand goals are one: the last
    assert heard.problems == []


def test_a_fault_is_told_and_the_loop_goes_on(monkeypatch):
    session = Session(two_boxes())
    heard = heard_of(session)
    monkeypatch.setattr(session.world, "detect", lambda query: 1 // 0)
    session.move(0, np.eye(4), "me")
    assert session.round() is None
    assert "this is a bug in jostle: ZeroDivisionError" in heard.problems[0]
    monkeypatch.undo()
    session.move(0, np.eye(4), "me")
    assert session.round() is not None


def test_bodies_are_pushed_away_and_come_to_rest():
    session = Session(two_boxes(gap=0.2), Settings(respond="push"))
    first(session)
    assert session.take(0, "me")
    for x in np.linspace(-0.6, 0.3, 60):
        session.move(0, translation((x, 0.0, 0.0)), "me")
        session.round()
    assert session.world.poses[1, 0, 3] > 0.6 + 0.4
    session.release(0, "me")
    for _ in range(200):
        if session.round() is None:
            break
    assert session.round() is None  # at rest: nothing is computed any more


def test_a_guided_body_stops_before_contact_slides_and_its_path_is_one_for_fit(tmp_path):
    separation = 0.01
    session = Session(two_boxes(method="bounding_tree"), Settings(method="bounding_tree"), fit=separation)
    for _ in range(20):
        session.move(0, translation((0.0, 0.9, 0.0)), "me")  # through the other one, and aside
        snapshot = session.round()
        truth = jostle.World("brute_force")
        for pose in snapshot.poses:
            truth.add(build.box((1.0, 1.0, 1.0)), pose)
        assert truth.distance(0, 1).distance >= 0.9 * separation
    assert snapshot.found.pairs == {(0, 1)}
    assert snapshot.poses[0, 1, 3] == pytest.approx(0.9, abs=0.05)  # it slid along the side
    assert truth.distance(0, 1).distance == pytest.approx(separation, rel=0.1)
    ((file, command),) = save_paths(session, tmp_path)
    assert file.name == "body_0_way.csv"
    assert "--move=left --path=body_0_way.csv" in command
    world = jostle.World("bounding_tree")
    for name, pose in zip(("left", "right"), session.subject.start.poses[0], strict=True):
        world.add(build.box((1.0, 1.0, 1.0)), pose, name)
    assert walk(world, "left", read_path(file), separation=0.9 * separation).removed


def test_a_way_that_was_not_gone_cannot_be_saved(tmp_path):
    session = Session(two_boxes(method="bounding_tree"), Settings(method="bounding_tree"), fit=0.01)
    with pytest.raises(InputError, match="nothing was moved yet"):
        save_paths(session, tmp_path)


def test_a_request_that_fails_does_not_affect_others_of_its_round(monkeypatch):
    session = Session(two_boxes())
    heard = heard_of(session)
    monkeypatch.setattr(session, "_put_back", lambda: 1 // 0)
    session.put_back()
    session.change(clearance=0.25)
    session.move(0, translation((0.0, 0.0, 3.0)), "me")
    assert session.round() is not None
    assert session.settings.clearance == 0.25
    assert session.world.poses[0, 2, 3] == 3.0
    assert ["ZeroDivisionError" in text for text in heard.problems] == [True]


def test_a_page_cannot_choose_what_is_imported():
    session = Session(two_boxes(), Settings())
    heard = heard_of(session)
    session.change(method="jostle.methods.brute_force.method:BruteForce")
    session.round()
    assert session.settings.method == "wide_tree"
    assert "there is no method 'jostle.methods.brute_force.method:BruteForce'" in heard.problems[0]


def test_a_viewer_started_with_a_method_from_outside_offers_it():
    outside = "jostle.methods.brute_force.method:BruteForce"
    session = Session(two_boxes(), Settings(method=outside))
    for method in ("wide_tree", outside):
        session.change(method=method)
        session.round()
        assert session.settings.method == method

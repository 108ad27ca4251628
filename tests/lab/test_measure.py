"""Measuring: every method sees the same frames, whatever another one does; what it found is counted and compared."""

import re

import numpy as np
import pytest

from jostle import BruteForce, SeparatingPlane
from jostle.geometry.pose import rotation_about, translation
from jostle.lab import measure as measure_module
from jostle.lab.measure import empty_point, measure_point
from jostle.lab.methods import NamedMethod, methods_of
from jostle.lab.replay import Replayer
from jostle.lab.truth import BODY_PAIRS, FACES, Truth, missed_and_extra, question_for
from jostle.motion.record import Motion
from jostle.scenes import make_scene
from tests.lab import fakes
from tests.oracle.rows import rows_between
from tests.tiny import box, tetrahedron


def measured(motion, methods, rounds=1, limit=20.0, progress=lambda *_: None):
    point = empty_point("here", motion)
    named = [NamedMethod(type(method).__name__, method) for method in methods]
    measure_point(point, motion, named, rounds, limit, progress)
    return point


class Placed:
    def __init__(self, motion, body, frame):
        self.pose, self.mesh = motion.poses[frame, body], motion.meshes[body]
        self.vertices = motion.vertices[body][frame] if body in motion.vertices else self.mesh.vertices


def rational_rows(motion, frame):
    bodies = [Placed(motion, k, frame) for k in range(len(motion.names))]
    pairs = [(a, b) for a in range(len(bodies)) for b in range(a + 1, len(bodies))]
    return [[a, b, i, j] for a, b in pairs for i, j, _ in rows_between(bodies[a], bodies[b])]


@pytest.mark.parametrize("deforming", [False, True])
def test_the_truth_is_that_of_rational_arithmetic_in_every_frame(deforming):
    motion = fakes.toy_motion(deforming=deforming)
    truth = Truth(motion)
    expected = [rational_rows(motion, frame) for frame in range(len(motion))]
    assert [truth.rows(frame).tolist() for frame in range(len(motion))] == expected
    assert len({len(rows) for rows in expected}) > 2  # it goes from inside through the wall to the outside
    assert [truth.rows(frame).tolist() for frame in (3, 0, 1)] == [expected[k] for k in (3, 0, 1)]


def test_the_truth_of_solids_knows_who_is_inside():
    motion = fakes.toy_motion()
    truth = Truth(motion)
    assert truth.rows(0).tolist() == []
    assert truth.rows(0, solid=True)[:, :2].tolist() == [[0, 1]]
    assert truth.rows(4, solid=True).tolist() == []


@pytest.mark.small
def test_rows_are_compared_as_multisets():
    true = np.array([[0, 1, 5, 6], [0, 1, 5, 7], [0, 2, 1, 1]])
    assert missed_and_extra(true[::-1], true, FACES) == (0, 0)
    assert missed_and_extra(true[1:], true, FACES) == (1, 0)
    assert missed_and_extra(np.vstack([true, true[:1]]), true, FACES) == (0, 1)
    assert missed_and_extra(np.array([[0, 1], [1, 2]]), true, BODY_PAIRS) == (1, 1)
    assert missed_and_extra(np.empty((0, 4), int), true[:0], FACES) == (0, 0)


@pytest.mark.small
def test_a_method_is_asked_what_its_traits_say():
    plain, solid = question_for(BruteForce()), question_for(fakes.Solid())
    assert (plain.options, plain.solid, plain.compared) == ({}, False, FACES)
    assert (solid.options, solid.solid, solid.compared) == ({"solid": True, "rows": "pairs"}, True, BODY_PAIRS)


@pytest.mark.small
def test_a_method_that_looks_along_the_motion_is_compared_by_body_pairs():
    along = question_for(BruteForce(), {"motion": True})
    assert (along.options, along.solid, along.compared) == ({"motion": True}, False, BODY_PAIRS)


def passing_motion(deforming=False):
    """A tetrahedron that jumps through a box from frame to frame, never touching it in any; then it rests."""
    poses = np.tile(np.eye(4), (4, 2, 1, 1))
    poses[:, 1, 0, 3] = (-3.0, 3.0, -3.0, -3.0)
    mesh = tetrahedron()
    vertices = {1: np.stack([mesh.vertices] * 4)} if deforming else {}
    return Motion(("box", "jumps"), (box((0, 0, 0), (1, 1, 1)), mesh), poses, vertices)


@pytest.mark.parametrize("deforming", [False, True])
def test_what_is_met_on_the_way_is_found_along_the_motion(deforming, in_this_process):
    motion = passing_motion(deforming)
    point = empty_point(None, motion)
    wanted = (
        "brute_force(motion=True), brute_force, bounding_tree(mode=pseudo_dynamic, instants=1, motion=True), wide_tree(motion=True)"
    )
    measure_point(point, motion, methods_of(wanted), 2, 60.0)
    along, static, at_the_end, wide = point.runs
    assert [run.status for run in point.runs] == ["ok", "ok", "ok", "unsupported"]
    assert "bounding_tree" in wide.why
    assert (along.pairs, along.missed, along.extra, along.compared) == ([0, 1, 1, 0], 0, 0, "body pairs")
    assert (static.pairs, static.missed, static.compared) == ([0, 0, 0, 0], 0, "faces")
    assert (at_the_end.pairs, at_the_end.missed, at_the_end.extra) == ([0, 0, 0, 0], 2, 0)
    truth = Truth(motion)
    assert [len(truth.rows_along(frame)) for frame in (3, 1, 0, 2)] == [0, 1, 0, 1]
    # At rest it stands 2.0 from the box.
    assert [len(truth.rows_along(frame, 1.0)) for frame in range(4)] == [0, 1, 1, 0]


def test_the_way_back_to_the_first_frame_is_no_motion():
    poses = np.tile(np.eye(4), (3, 2, 1, 1))
    for frame in range(3):
        poses[frame, 1] = translation((3.0, 0.0, 0.0)) @ rotation_about((0.0, 0.0, 1.0), 0.5 * np.pi * frame)
    motion = Motion(("box", "turns"), (box(), tetrahedron()), poses)
    replayer = Replayer(BruteForce(), {"motion": True})
    replayer._motion = motion
    replayer.prepare()
    for _ in range(2):  # half a turn from the last frame to the first has no shortest way
        reply = replayer("replay", 0, 100.0, True)
        assert (reply.status, reply.why) == ("ok", "")
        assert [answer.pairs for answer in reply.answers] == [0, 0, 0]


def test_what_is_found_is_counted_and_compared(in_this_process):
    motion = fakes.toy_motion()
    point = measured(motion, [BruteForce(), fakes.Loses(), fakes.Solid()], rounds=2)
    expected = [rational_rows(motion, frame) for frame in range(len(motion))]
    counts = [len(rows) for rows in expected]
    assert (point.value, point.bodies, point.faces, point.frames) == ("here", 3, 28, 5)
    honest, loses, solid = point.runs
    assert [run.status for run in point.runs] == ["ok"] * 3
    assert honest.contacts == counts
    assert honest.pairs == [int(count > 0) for count in counts]
    assert (honest.missed, honest.extra, honest.compared, honest.expected, honest.agrees) == (0, 0, "faces", sum(counts), True)
    assert all(work["box_tests"] == 12 * 4 + 12 * 12 + 4 * 12 for work in honest.counters)
    assert honest.rounds == 2
    for run in point.runs:
        assert len(run.frame_seconds) == len(run.update_seconds) == 5
        assert all(0.0 < update < total for update, total in zip(run.update_seconds, run.frame_seconds, strict=True))
        assert run.prepare_seconds > 0.0
        assert run.memory_bytes is None or run.memory_bytes >= 0
    wrong = sum(count > 1 for count in counts)
    assert wrong > 0
    assert (loses.missed, loses.extra, loses.agrees, loses.expected) == (wrong, wrong, False, sum(counts))
    # Inside counts for solids: frame 0 has no touching faces, but one body in the other.
    assert counts[0] == 0
    assert (solid.pairs[0], solid.missed, solid.extra, solid.compared) == (1, 0, 0, "body pairs")


def test_a_method_that_answers_for_solids_and_tells_no_faces_is_compared_by_body_pairs(in_this_process):
    point = measured(fakes.toy_motion(), [SeparatingPlane(), SeparatingPlane(cache=False)], rounds=1)
    for run in point.runs:
        assert (run.status, run.compared, run.missed, run.extra) == ("ok", "body pairs", 0, 0)
        assert run.pairs == [1, 1, 1, 1, 0]
        assert run.contacts == [0] * 5
    assert all(work["look_ups"] == 0 for work in point.runs[1].counters)
    assert all(work["look_ups"] >= 2 for work in point.runs[0].counters[1:])
    deforming = measured(fakes.toy_motion(deforming=True), [SeparatingPlane()]).runs[0]
    assert deforming.status == "unsupported"
    assert "body 'small' is deformable" in deforming.why


def test_a_method_that_crashes_or_hangs_is_a_row_and_the_others_go_on():
    motion = fakes.toy_motion(deforming=True)
    bad = [fakes.Crashes(), fakes.Sleeps(call=4), fakes.SlowToPrepare()]
    point = measured(motion, [*bad, BruteForce()], limit=1.5)
    crashes, sleeps, slow, honest = point.runs
    assert (honest.status, honest.agrees, honest.rounds) == ("ok", True, 1)
    assert crashes.status == "failed"
    assert "SIGSEGV" in crashes.why
    assert "goodbye" in crashes.why
    assert sleeps.status == "too slow"
    assert re.fullmatch(r"stopped after \d of 5 frames: it exceeded its limit of 1.5 s", sleeps.why)
    assert (slow.status, slow.why) == ("too slow", "stopped while preparing: it exceeded its limit of 1.5 s")
    check_unfinished(point.runs[:-1])


def test_a_method_that_fails_or_does_not_serve_is_a_row_and_the_others_go_on(in_this_process):
    raises, rigid, honest = measured(fakes.toy_motion(deforming=True), [fakes.Raises(), fakes.RigidOnly(), BruteForce()]).runs
    assert (honest.status, honest.agrees, honest.rounds) == ("ok", True, 1)
    assert (raises.status, raises.why) == ("failed", "ZeroDivisionError: it divides by nothing")
    assert rigid.status == "unsupported"
    assert "trait needs: rigid" in rigid.why
    check_unfinished([raises, rigid])


def check_unfinished(runs):
    for run in runs:
        assert run.agrees in (None, True)
        assert len(run.frame_seconds) == len(run.contacts) == len(run.counters) < 5


def test_who_is_slow_says_how_far_it_came_and_who_gets_through_once_is_timed(in_this_process):
    motion = fakes.toy_motion()
    slow, enough = measured(motion, [fakes.Sleeps(seconds=0.4), fakes.Sleeps(seconds=0.05)], rounds=30, limit=1.2).runs
    assert slow.status == "too slow"
    assert 1 <= len(slow.frame_seconds) <= 3
    assert slow.why == f"stopped after {len(slow.frame_seconds)} of 5 frames: it exceeded its limit of 1.2 s"
    assert (slow.missed, slow.extra) == (0, 0)
    assert (enough.status, enough.why, len(enough.frame_seconds)) == ("ok", "", 5)
    assert 1 <= enough.rounds < 30
    assert min(enough.frame_seconds) >= 0.05


def test_methods_take_turns_within_a_round(tmp_path, monkeypatch, in_this_process):
    monkeypatch.setattr(measure_module, "TURN_SECONDS", 1e-6)
    file = tmp_path / "calls.txt"
    measured(fakes.toy_motion(), [fakes.WritesDown(str(file), "a"), fakes.WritesDown(str(file), "b")], rounds=1)
    # Each turn is one frame, the first with some calls before it that are not timed. The second round turns the order round.
    assert re.fullmatch("a{2,6}b{2,6}(ab){4}b{2,6}a{2,6}(ba){4}", file.read_text())


def test_a_frame_has_the_median_of_its_rounds():
    class Process:
        running = True

        def __init__(self, replies):
            self.replies = iter(replies)

        def ask(self, message, timeout):
            return next(self.replies)

        def end(self):
            pass

    motion = fakes.toy_motion(frames=2)
    replayer = Replayer(BruteForce())
    replayer._motion = motion
    replayer.prepare()
    answers = replayer.replay(0, 100.0, True).answers

    def reply(*totals, answering=False):
        return measure_module.Reply(updates=tuple(0.1 * t for t in totals), totals=totals, answers=answers if answering else ())

    contender = measure_module._Contender(NamedMethod("x", BruteForce()), 2, 100.0)
    contender._process = Process([reply(9.0, 9.0, answering=True), reply(1.0, 5.0), reply(3.0, 6.0), reply(2.0, 70.0)])
    for k in range(4):
        contender.begin_round()
        contender.take_turn(answering=k == 0)
    contender.end()
    assert contender.run.frame_seconds == [2.0, 6.0]
    assert contender.run.update_seconds == pytest.approx([0.2, 0.6])
    assert contender.run.rounds == 3


def test_memory_is_the_growth_by_what_a_method_keeps():
    lean, heavy = measured(fakes.toy_motion(), [BruteForce(), fakes.HoldsMemory()]).runs
    if lean.memory_bytes is None:
        pytest.skip("this system does not tell")
    assert lean.memory_bytes < 16_000_000
    assert 60_000_000 < heavy.memory_bytes < 90_000_000


@pytest.mark.parametrize(("word", "frames"), [("warm-up", 0), ("round 1", 5)])
def test_ctrl_c_keeps_what_was_measured(word, frames, in_this_process):
    motion = fakes.toy_motion()
    point = empty_point(None, motion)

    def interrupt(what, share):
        assert 0.0 <= share <= 1.0
        if word in what:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_point(point, motion, [NamedMethod("x", BruteForce()), NamedMethod("y", fakes.RigidOnly())], 2, 20.0, interrupt)
    first, second = point.runs
    assert (first.status, second.status) == ("interrupted", "interrupted")
    assert first.why in ("interrupted after 0 of 5 frames", "interrupted after 0 of 2 timed rounds")
    assert len(first.frame_seconds) == len(first.contacts) == frames


def test_pairs_of_bodies_that_meet_are_those_of_their_rows():
    motion = make_scene("cones", count=12, faces=36, speed=0.1).record(40)
    truth = Truth(motion)
    met = 0
    for frame in range(0, len(motion), 4):
        for solid in (False, True):
            pairs, rows = truth.pairs(frame, solid), truth.rows(frame, solid)
            assert pairs[:, :2].tolist() == np.unique(rows[:, :2], axis=0).tolist()
            assert (pairs[:, 2:] == -1).all()
            met += len(pairs)
    assert met > 0

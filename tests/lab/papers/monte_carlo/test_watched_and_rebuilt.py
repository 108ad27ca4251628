"""Methods that are watched, and methods whose shapes are built anew in each frame: what they count, against what is known."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from jostle import BoundingTree, BruteForce, WideTree, World
from jostle.geometry.pose import translation
from jostle.lab.papers.monte_carlo.counted import with_counts
from jostle.lab.papers.monte_carlo.instrumented import LARGE, Instrumented
from jostle.lab.papers.monte_carlo.rebuilt import BUILD, QUERY, Rebuilt
from jostle.lab.regions import regions_of
from jostle.lab.truth import FACES, NOTHING, Truth, question_for
from jostle.motion.record import Motion
from jostle.report.report import Counters, Pairs, Report
from jostle.shapes import build
from tests.lab.fakes import Wrapped, toy_motion


@dataclass(frozen=True)
class OneRegion(WideTree):
    """Tells one region only: that of the first row. Every third call it tells nothing."""

    def start(self, bodies, shapes):
        self.bodies.append(bodies)
        return Wrapped(self, super().start(bodies, shapes))

    def before(self, call):
        pass

    bodies = []  # noqa: RUF012
    calls = []  # noqa: RUF012

    def after(self, report):
        self.calls.append(report)
        contacts = report.contacts
        rows = np.stack([contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b], axis=1)
        label = regions_of(rows, self.bodies[-1].meshes).label
        contacts = contacts.select(label == (0 if len(self.calls) % 3 else -1))
        return Report(Pairs.of(contacts), contacts, report.counters, complete=False)


def two_balls_over_a_plate(frames=7):
    """A plate, and two balls that sink into it and come out again, the second a little later; 12 touching pairs and more."""
    plate, ball = build.plate(8, 8, (4.0, 2.0)), build.icosphere(2, 0.5)
    poses = np.tile(np.eye(4), (frames, 3, 1, 1))
    for frame in range(frames):
        height = 0.7 - 0.6 * np.sin(np.pi * frame / (frames - 1))
        poses[frame, 1] = translation((-1.01, 0.02 + 0.001 * frame, height))
        poses[frame, 2] = translation((1.02, -0.03, height))
    return Motion(("plate", "left", "right"), (plate, ball, ball), poses)


def replayed(motion, method, times=1, **options):
    """The counters of each frame, asked so many times."""
    world = motion.world(method)
    found = []
    for frame in range(len(motion)):
        for _ in range(times):
            motion.apply(world, frame)
            report = world.detect(**options)
        found.append(vars(report.counters))
    return found


@pytest.mark.small
def test_counters_have_room_for_more():
    report = with_counts(Report(counters=Counters(box_tests=3)), {"cpu_microseconds": 7})
    assert vars(report.counters)["cpu_microseconds"] == 7
    assert vars(report.counters)["box_tests"] == 3
    assert report.counters.triangle_tests == 0


def test_a_watched_method_answers_as_it_would_alone():
    for deforming in (False, True):
        motion = toy_motion(deforming=deforming)
        alone, watched = motion.world("brute_force"), motion.world(Instrumented(BruteForce(), truth=True))
        for frame in range(len(motion)):
            reports = []
            for world in (alone, watched):
                motion.apply(world, frame)
                reports.append(world.detect())
            for column in ("body_a", "body_b", "face_a", "face_b", "kind"):
                assert np.array_equal(getattr(reports[0].contacts, column), getattr(reports[1].contacts, column))
            counts = vars(reports[1].counters)
            assert counts["regions_reported"] == counts["regions"]
            assert counts["faces_reported"] == counts["touching_faces"] == sum(len(reports[0].faces_of(body)) for body in alone)
            assert counts["triangle_tests"] == reports[0].counters.triangle_tests
            assert counts["complete"] == 1
            assert counts["missed_for"] == 0


def test_what_is_missed_is_counted_region_by_region():
    motion = two_balls_over_a_plate()
    OneRegion.calls.clear()
    counted = replayed(motion, Instrumented(OneRegion(), truth=True))
    truth = Truth(motion)
    true = [regions_of(truth.rows(frame), motion.meshes) for frame in range(len(motion))]
    assert [each["regions"] for each in counted] == [each.count for each in true] == [0, 2, 2, 2, 2, 2, 0]
    assert all(each.sizes.min() >= LARGE for each in true[1:-1])
    told = [0, 1, 0, 1, 1, 0, 0]  # calls 3 and 6 tell nothing
    assert [each["regions_reported"] for each in counted] == told
    assert [each["large_missed"] for each in counted] == [0, 1, 2, 1, 1, 2, 0]
    assert [each["missed_for"] for each in counted] == [0, 1, 2, 3, 4, 5, 0]  # the second ball, all the time
    for each, regions, first in zip(counted, true, told, strict=True):
        assert each["touching_faces"] == regions.faces()
        assert each["faces_reported"] == (regions.faces(np.arange(regions.count) == 0) if first else 0)
    assert {each["complete"] for each in counted} == {0}


def test_the_truth_of_deforming_bodies_has_seen_no_other_frame(monkeypatch):
    """The exact engine is given each frame as it is: it would not tell if it lost something by following a deformation."""
    made, moved = [], []
    take = World.add

    def noted(self, mesh, *where, **how):
        made.append(how.get("deformable", False))
        return take(self, mesh, *where, **how)

    motion = toy_motion(deforming=True)
    world = motion.world(Instrumented(BruteForce(), truth=True))
    world.detect()
    monkeypatch.setattr(World, "add", noted)
    for frame in range(len(motion)):
        motion.apply(world, frame)
        world.detect()
        moved.append(len(made))
    assert not any(made)
    assert moved == [len(motion.names) * frame for frame in range(len(motion))]  # frame 0 was asked for before


def test_a_frame_asked_again_is_no_later_frame_and_one_that_comes_again_costs_nothing():
    motion = two_balls_over_a_plate()
    OneRegion.calls.clear()
    world = motion.world(Instrumented(OneRegion(), truth=True))
    for frame in (0, 0, 1, 1, 1, 1):  # calls 3 and 6 tell nothing
        motion.apply(world, frame)
        counts = vars(world.detect().counters)
        assert counts["missed_for"] == (0 if frame == 0 else 1)
    assert counts["regions_reported"] == 0
    motion.apply(world, 0)
    assert vars(world.detect().counters)["regions"] == 2  # as it was: nothing was compared


def test_times_are_those_of_the_call_and_nothing_else():
    motion = two_balls_over_a_plate(4)
    for truth in (False, True):
        for counts in replayed(motion, Instrumented(BruteForce(), truth), times=2):
            assert 0 < counts["cpu_microseconds"] <= counts["wall_microseconds"] + 1_000
            assert counts["wall_microseconds"] < 1e6
            assert ("regions" in counts) is truth


@pytest.mark.small
def test_what_the_laboratory_asks_of_a_watched_method():
    assert question_for(Instrumented(BruteForce(), truth=True)).compared == FACES
    assert question_for(Instrumented(BruteForce())).compared == NOTHING


@pytest.mark.parametrize("volume", ["obb", "aabb"])
def test_trees_that_are_built_anew_find_what_is_true(volume):
    method = Rebuilt(BoundingTree(volume=volume, splitting="binary_gottschalk", leaf_faces=1))
    for deforming in (False, True):
        motion = toy_motion(deforming=deforming)
        truth, world = Truth(motion), motion.world(method)
        assert any(len(truth.rows(frame)) for frame in range(len(motion)))
        for frame in range(len(motion)):
            motion.apply(world, frame)
            report = world.detect()
            contacts = report.contacts
            rows = np.stack([contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b], axis=1)
            assert np.array_equal(rows, truth.rows(frame))
            assert np.isfinite(contacts.point).all()
            assert (vars(report.counters)[BUILD] > 0) is deforming
            assert vars(report.counters)[QUERY] > 0
    # Asked again without new vertices, nothing is built; bodies may come and go.
    assert vars(world.detect().counters)[BUILD] == 0
    world.remove("far")
    assert len(world.detect().contacts) == len(truth.rows(len(motion) - 1))


def test_only_the_bodies_that_deformed_are_built():
    built = []

    @dataclass(frozen=True)
    class Noted(BoundingTree):
        def prepare_shape(self, mesh, progress=None):
            built.append(len(mesh.faces))
            return super().prepare_shape(mesh, progress)

    world = World(Rebuilt(Noted()))
    ball, box = world.add(build.icosphere(1), name="ball", deformable=True), world.add(build.box(), name="box", deformable=True)
    world.detect()
    built.clear()
    ball.vertices = 0.6 * build.icosphere(1).vertices
    assert len(world.detect().contacts) > 0
    assert built == [80]
    box.vertices = 0.3 * build.box().vertices
    assert len(world.detect().contacts) == 0
    assert built == [80, 12]
    assert replace(Rebuilt(Noted())).traits == Noted().traits

"""Approximate answers: what the guarantee of a method allows is told from what it does not."""

import dataclasses

import numpy as np
import pytest

from jostle import Mesh, MonteCarlo, Voxmap, WideTree, scenes
from jostle.geometry.pose import translation
from jostle.interface.traits import no_miss_within
from jostle.lab import balls
from jostle.lab.balls import ball_in_both
from jostle.lab.bands import Band, faceting_error
from jostle.lab.measure import empty_point, measure_point
from jostle.lab.methods import NamedMethod
from jostle.lab.papers.voxmap.sized import paper_look_up
from jostle.lab.results import MethodRun, quality_of
from jostle.lab.truth import FACES, Truth, question_for
from jostle.motion.record import Motion
from jostle.report.report import Pairs, Report
from jostle.shapes import analytic, build
from tests.contract.test_concave_solids import depths
from tests.tiny import box, random_pose

# ---------------------------------------------------------------------- balls in two solids


@pytest.mark.parametrize("seed", range(12))
def test_a_ball_fits_into_two_boxes_when_their_common_box_is_as_thick(seed):
    rng = np.random.default_rng(seed)
    lower, upper = rng.uniform(0.0, 0.4, (2, 3)), rng.uniform(0.6, 1.0, (2, 3))
    common = upper.min(axis=0) - lower.max(axis=0)
    scale = 10.0 ** rng.integers(-6, 7)
    pose = translation(scale * rng.uniform(-50.0, 50.0, 3)) @ random_pose(rng, 0.0)
    bodies = [(box(scale * lower[k], scale * upper[k]), pose) for k in range(2)]
    largest = 0.5 * scale * common.min()
    for share, fits in ((0.01, True), (0.5, True), (0.97, True), (1.03, False), (1.5, False), (30.0, False)):
        assert ball_in_both(*bodies, share * largest) is fits
        assert ball_in_both(*bodies[::-1], share * largest) is fits


@pytest.mark.parametrize("few_faces", [2000, 10])
def test_what_is_found_of_concave_solids_is_what_samples_show(few_faces, monkeypatch):
    monkeypatch.setattr(balls, "FEW_FACES", few_faces)  # far faces are forgotten beyond it
    rng = np.random.default_rng(4)
    meshes = [build.torus(0.7, 0.3, 12, 8), build.stellated_dodecahedron(1.0), box(upper=(0.5, 0.8, 0.6))]
    decided = {True: 0, False: 0}
    for _ in range(8):
        a, b = (meshes[k] for k in rng.integers(3, size=2))
        pose_a, pose_b = random_pose(rng, 0.3), random_pose(rng, 0.5)
        seen = deepest((a, pose_a), (b, pose_b), rng)
        for radius in (0.3 * seen, 0.97 * seen, 1.05 * seen + 0.01, 2.0 * seen + 0.3):
            if radius > 0.0:
                fits = ball_in_both((a, pose_a), (b, pose_b), radius)
                assert fits is bool(radius < seen)
                decided[fits] += 1
    assert min(decided.values()) >= 5


def deepest(a, b, rng):
    """The largest lesser depth in two placed meshes, by samples about the best ones of all."""
    points, best = rng.uniform(-1.0, 1.0, (300, 3)), []
    for spread in (0.2, 0.08, 0.03, 0.01, 0.0):
        found = np.minimum(*(depths(mesh, (points - pose[:3, 3]) @ pose[:3, :3]) for mesh, pose in (a, b)))
        best.append(found.max())
        tops = points[np.argsort(-found)[:5]]
        points = (tops[:, None] + spread * rng.normal(size=(5, 30, 3))).reshape(-1, 3)
    return max(best)


def test_who_has_worked_enough_says_that_it_does_not_know(monkeypatch):
    monkeypatch.setattr(balls, "MOST_WORK", 100.0)
    ring = build.torus(0.7, 0.3, 20, 12)
    assert ball_in_both((ring, np.eye(4)), (ring, np.eye(4)), 0.295) is None


# ---------------------------------------------------------------------- bands


def two_boxes(gaps):
    """Unit cubes beside each other with these gaps, a frame each; negative ones overlap."""
    poses = np.tile(np.eye(4), (len(gaps), 2, 1, 1))
    poses[:, 1, 0, 3] = 1.0 + np.array(gaps)
    return Motion(("left", "right"), (box((0, 0, 0), (1, 1, 1)),) * 2, poses)


def beyond(method, gaps, told):
    motion = two_boxes(gaps)
    question, truth = question_for(method), Truth(motion)
    band = Band(method, question, truth)
    pairs = np.array([[1, 0]] if told else np.empty((0, 2)), int)
    return [band.beyond(pairs, truth.rows_for(question, frame), frame) for frame in range(len(gaps))]


def test_pairs_within_the_length_may_be_told_or_missed_and_others_not():
    method = Voxmap(accuracy=0.1)
    assert beyond(method, (-0.5, 0.05, 0.1, 0.11, 3.0), told=True) == [(0, 0)] * 3 + [(0, 1)] * 2
    assert beyond(method, (-0.5, -0.25, -0.19, 0.0, 0.05), told=False) == [(1, 0)] * 2 + [(0, 0)] * 3


def test_a_share_is_one_of_the_longest_edge():
    assert str(Voxmap(across=32).guarantee) == "within 0.0494 of the size"
    assert beyond(Voxmap(across=32), (0.049, 0.05), told=True) == [(0, 0), (0, 1)]
    assert beyond(Voxmap(across=32), (-0.098, -0.1), told=False) == [(0, 0), (1, 0)]


def test_surfaces_and_methods_that_never_miss_may_miss_nothing():
    surfaces = Voxmap(accuracy=0.1, surface_only=True)
    assert beyond(surfaces, (-0.01, 0.0, 0.05), told=False) == [(1, 0), (1, 0), (0, 0)]
    assert beyond(surfaces, (0.05, 0.11), told=True) == [(0, 0), (0, 1)]
    careful = NeverMisses(accuracy=0.1)
    assert beyond(careful, (-0.01, 0.05), told=False) == [(1, 0), (0, 0)]
    assert beyond(careful, (0.05, 0.11), told=True) == [(0, 0), (0, 1)]


@dataclasses.dataclass(frozen=True)
class NeverMisses(Voxmap):
    @property
    def guarantee(self):
        return no_miss_within(self.accuracy)


def test_maps_and_shells_of_chosen_sizes_have_the_band_of_their_voxels_or_none():
    sized = paper_look_up("x", map_voxels=1000).method
    assert Band(sized, question_for(sized), None).words == "within 1.58 voxels"
    assert beyond(sized, (0.15, 0.17), told=True) == [(0, 0), (0, 1)]
    shell = paper_look_up("x", map_voxels=1000, shell_points=25).method
    assert Band(shell, question_for(shell), None).words == "no guarantee"
    assert beyond(shell, (-0.01,), told=False) == [(1, 0)]
    exact = WideTree()
    assert Band(exact, question_for(exact), None).words == ""


def test_faces_beside_an_analytic_surface_widen_the_band():
    coarse = Mesh(analytic=analytic.Cylinder(1.0, 2.0, 8))
    sagitta = 1.0 - np.cos(np.pi / 8)
    assert sagitta <= faceting_error(coarse) <= 1.5 * sagitta
    assert faceting_error(box()) == 0.0
    turn = np.pi / 8  # flat side to flat side: the faces are two sagittas apart when the cylinders touch
    poses = np.tile(np.eye(4), (1, 2, 1, 1))
    poses[0, :, :2, :2] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
    poses[0, 1, 0, 3] = 2.0
    motion = Motion(("a", "b"), (coarse, coarse), poses)
    method, truth = Voxmap(accuracy=0.02), Truth(motion)
    found = motion.world(method).detect().pairs
    assert len(found) == 1
    question = question_for(method)
    assert len(truth.rows_for(question, 0)) == 0
    rows = np.stack([found.body_a, found.body_b], axis=1)
    assert Band(method, question, truth).beyond(rows, truth.rows_for(question, 0), 0) == (0, 0)


# ---------------------------------------------------------------------- in a run


class Lying:
    """A detector that forgets every second pair, and tells of the first and the last body."""

    def __init__(self, inner):
        self._inner = inner

    def detect(self, frame, query):
        report = self._inner.detect(frame, query)
        invented = {"body_a": 0, "body_b": len(frame) - 1}
        columns = {}
        for each in dataclasses.fields(Pairs):
            column = getattr(report.pairs, each.name)
            columns[each.name] = np.append(column[1::2], invented.get(each.name, 0)).astype(column.dtype)
        return Report(Pairs(**columns), report.contacts, report.counters)


@dataclasses.dataclass(frozen=True)
class LyingVoxmap(Voxmap):
    def start(self, bodies, shapes):
        return Lying(super().start(bodies, shapes))


def test_a_run_tells_what_is_in_the_band_from_what_is_wrong(in_this_process):
    motion = scenes.make_scene("polytopes", count=24, fill=0.06, speed=0.4).record(40)
    methods = [NamedMethod("honest", Voxmap(accuracy=2.0)), NamedMethod("lying", LyingVoxmap(accuracy=2.0)),
               NamedMethod("exact", WideTree())]  # fmt: skip
    point = empty_point(None, motion)
    measure_point(point, motion, methods, 1, 60.0)
    honest, lying, exact = point.runs
    assert [(run.status, run.why) for run in point.runs] == [("ok", "")] * 3
    assert honest.extra > 5
    assert (honest.guarantee, honest.missed_beyond, honest.extra_beyond, honest.keeps_guarantee) == ("within 2", 0, 0, True)
    assert lying.missed_beyond > 0
    assert lying.extra_beyond > 30  # the first and the last are hardly ever near
    assert lying.missed >= lying.missed_beyond
    assert (exact.guarantee, exact.missed_beyond, exact.extra_beyond, exact.agrees) == ("", 0, 0, True)


def test_a_share_of_the_faces_may_be_missed_and_nothing_told_that_does_not_touch():
    """A method that promises a share of the touching faces keeps its word whatever it misses, and breaks it by one row too many."""
    motion = Motion(("a", "b"), (box(), box()), np.tile(np.eye(4), (1, 2, 1, 1)))
    method, truth = MonteCarlo(thorough=False), Truth(motion)
    question = question_for(method)
    true = truth.rows_for(question, 0)
    assert question.compared == FACES
    assert len(true) > 12
    band = Band(method, question, truth)
    assert band.words == "only what touches"
    assert band.beyond(true[:3], true, 0) == (0, 0)
    assert band.beyond(np.vstack([true[:3], [(0, 1, 7, 999)]]), true, 0) == (0, 1)
    assert band.beyond(np.vstack([true[:3], true[:1]]), true, 0) == (0, 1)
    few = MethodRun("x", contacts=[3], missed=9, extra=0, missed_beyond=0, extra_beyond=0, guarantee=band.words, compared=FACES)
    assert quality_of(few) == "in its band (only what touches)"
    assert quality_of(dataclasses.replace(few, extra=1, extra_beyond=1)) == "wrong: 1 out of its band (only what touches)"
    assert Band(WideTree(), question_for(WideTree()), truth).words == ""

"""The experiments: what they promise, and how their verdicts follow from what was measured."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from jostle.errors import InputError
from jostle.lab.experiment import Experiment, RecordedMotion, own_experiment, slope
from jostle.lab.experiments import EXPERIMENTS, deforming, experiment_named, shuttles, spheres
from jostle.lab.methods import methods_of
from jostle.lab.results import VERDICTS, ExperimentResult, MethodRun, Point
from jostle.lab.run import LabRun
from jostle.scenes import make_scene
from tests.lab import fakes

BIBLIOGRAPHY = (Path(__file__).parents[2] / "docs" / "references.bib").read_text()


def run_of(method, seconds, frames=4, faces=0, **fields):
    times = [seconds] * frames
    made = {
        "frame_seconds": times,
        "update_seconds": times,
        "contacts": [3] * frames,
        "pairs": [1] * frames,
        "counters": [{"box_tests": faces * faces}] * frames,
        "missed": 0,
        "extra": 0,
        "compared": "faces",
        "rounds": 5,
    }
    return MethodRun(method, **{**made, **fields})


def result_of(experiment, runs):
    """A result with one point for each value; `runs(value)` makes its runs."""
    points = [Point(value, 2, 100, 4, runs(value)) for value in experiment.values]
    return ExperimentResult(experiment.name, experiment.title, experiment.parameter, points)


def verdict_of(experiment, result, words):
    (found,) = [each for each in experiment.verdicts(result) if words in each.claim]
    return found


SOME = {
    "spheres": lambda value: [run_of("wide_tree", 1e-4), run_of("brute_force", 1e-9 * value**2, faces=value)],
    "shuttles": lambda value: [run_of("wide_tree", 1e-4 * value), run_of("brute_force", 0.02)],
    "deforming": lambda value: [run_of("wide_tree", 1e-4), run_of("brute_force", 1e-3)],
}


@pytest.mark.small
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.name)
def test_every_experiment_is_whole_and_judges_nothing_that_was_not_measured(experiment):
    assert experiment_named(experiment.name) is experiment
    assert re.fullmatch(r"[a-z_]+", experiment.name)
    assert methods_of(",".join(experiment.methods))
    full = result_of(experiment, SOME[experiment.name])
    nothing = ExperimentResult(experiment.name, "", "", [])
    for result, judged in (
        (full, True),
        (dataclasses.replace(full, quick=True), False),
        (dataclasses.replace(full, interrupted=True), False),
        (nothing, False),
    ):
        verdicts = experiment.verdicts(result)
        assert verdicts
        assert any(each.verdict != "not judged" for each in verdicts) is judged
        for each in verdicts:
            assert each.verdict in VERDICTS
            assert each.why
            assert "nan" not in each.ours
            assert f"{{{each.paper}," in BIBLIOGRAPHY
            assert "§" in each.place
    # Methods that are yet to come are not judged, and the reason names them.
    missing = [each for each in experiment.verdicts(full) if "did not take part" in each.why]
    assert missing
    assert all(each.verdict == "not judged" for each in missing)


@pytest.mark.small
def test_the_square_is_judged_by_work_and_by_time():
    words = "grows with the square"

    def made(power, work_power):
        def runs(value):
            work = [{"box_tests": round(value**work_power)}]
            return [run_of("brute_force", 1e-6 * value**power, frames=1, counters=work), run_of("wide_tree", 1e-4 * value**0.5)]

        return verdict_of(spheres.EXPERIMENT, result_of(spheres.EXPERIMENT, runs), words)

    both = made(1.95, 2.0)
    assert both.verdict == "reproduced"
    assert "power 2.00" in both.ours
    assert "power 1.95" in both.ours
    assert "wide_tree, at contact: time with the power 0.50" in both.ours
    assert made(1.2, 2.0).verdict == "partly"
    assert made(1.2, 1.5).verdict == "refuted"
    few = result_of(dataclasses.replace(spheres.EXPERIMENT, values=(8, 10, 24)), SOME["spheres"])
    assert verdict_of(spheres.EXPERIMENT, few, words).why.startswith("Fewer than two points")
    late = verdict_of(
        spheres.EXPERIMENT,
        result_of(spheres.EXPERIMENT, lambda value: [run_of("brute_force", 1.0, status="failed", why="x")]),
        words,
    )
    assert (late.verdict, late.why) == ("not judged", "brute_force served 0 of 2 points (failed, x).")


@pytest.mark.small
def test_the_own_algorithm_of_the_paper_is_judged_when_it_takes_part():
    def made(power):
        result = result_of(spheres.EXPERIMENT, lambda value: [run_of("face_octree", 1e-5 * value**power)])
        return verdict_of(spheres.EXPERIMENT, result, "The face octree needs")

    assert [made(power).verdict for power in (0.6, 1.2, 2.0)] == ["reproduced", "partly", "refuted"]
    assert "70 ms at 3,968 faces (the power 0.60)" in made(0.6).printed


@pytest.mark.small
def test_fifteen_shuttles_are_judged_by_a_tenth_of_a_second_and_by_the_two():
    def made(times, **fields):
        def runs(value):
            share = {"face_octree": value}
            return [run_of(method, time * share.get(method, 1), **fields) for method, time in times.items()]

        return shuttles.EXPERIMENT.verdicts(result_of(shuttles.EXPERIMENT, runs))

    assert [made({"brute_force": time})[0].verdict for time in (0.04, 0.1, 0.3)] == ["refuted", "partly", "reproduced"]
    assert made({"brute_force": 0.2}, status="too slow", why="stopped after 1 of 4 frames")[0].verdict == "reproduced"
    assert made({"brute_force": 0.2}, status="failed", why="x")[0].verdict == "not judged"
    assert made({"wide_tree": 0.2})[0].verdict == "not judged"
    octree = made({"face_octree": 0.01})[1]
    assert (octree.verdict, "7.5 times" in octree.ours) == ("refuted", True)
    assert made({"wide_tree": 0.01})[1].ours.startswith("wide_tree: 10 and 10 ms, 1.0 times")


@pytest.mark.small
def test_deforming_bodies_are_judged_by_agreement_in_all_frames():
    def made(tree=1e-4, plain=1e-3, **fields):
        def runs(value):
            return [run_of("wide_tree", tree, **fields), run_of("brute_force", plain)]

        return [each.verdict for each in deforming.EXPERIMENT.verdicts(result_of(deforming.EXPERIMENT, runs))]

    assert made() == ["reproduced", "refuted", "not judged", "not judged"]
    assert made(missed=1)[1] == "reproduced"
    assert made(tree=1e-2)[1] == "reproduced"
    wrong = result_of(deforming.EXPERIMENT, lambda value: [run_of("brute_force", 1.0, extra=1)])
    assert deforming.EXPERIMENT.verdicts(wrong)[0].verdict == "refuted"


@pytest.mark.small
def test_an_exponent_is_a_slope():
    x = np.array([1.0, 10.0, 100.0])
    assert slope(x, 3.0 * x**1.5) == pytest.approx(1.5)
    assert np.isnan(slope([1.0], [1.0]))


@pytest.mark.small
def test_slips_in_an_experiment_are_told_at_once():
    scene = RecordedMotion(fakes.toy_motion())
    with pytest.raises(ValueError, match="'pie chart'"):
        Experiment("x", "", "", lambda value, quick: scene, ("wide_tree",), 5, draw=("pie chart",))
    with pytest.raises(ValueError, match="'x' needs values"):
        Experiment("x", "", "", lambda value, quick: scene, (), 5)
    with pytest.raises(InputError, match="spheres"):
        experiment_named("nothing")
    assert own_experiment("a b/ä..", "", scene, ("wide_tree",)).name == "a-b-ä"
    assert own_experiment("..", "", scene, ("wide_tree",)).name == "scene"


def test_the_two_of_fifteen_move_as_they_do_among_all_and_touch():
    scene = make_scene("shuttles", count=6)
    whole, two = scene.record(60), shuttles.TwoThatTouch(scene).record(60)
    assert len(two.names) == 2
    rows = [whole.names.index(name) for name in two.names]
    assert np.array_equal(two.poses, whole.poses[:, rows])
    world = whole.world()
    touching = np.zeros((6, 6), int)
    for frame in range(len(whole)):
        whole.apply(world, frame)
        pairs = world.detect().pairs
        touching[pairs.body_a, pairs.body_b] += 1
    assert len(np.unique(touching)) > 2  # some touch longer than others
    assert touching[*rows] == touching.max()


def test_a_run_measures_every_value_judges_and_is_kept_when_interrupted():
    toy = dataclasses.replace(spheres.EXPERIMENT, values=(8, 10), quick_values=(8,), methods=("brute_force",), frames=4)
    run = LabRun(toy, rounds=1)
    seen = []
    run.show_progress(lambda what, done, points: seen.append((done, points)))
    result = run.run()
    assert [point.value for point in result.points] == [8, 10]
    assert [point.frames for point in result.points] == [4, 4]
    assert all(each.agrees for point in result.points for each in point.runs)
    assert result.verdicts
    assert (result.quick, result.interrupted, result.advice) == (False, False, "")
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {points for _, points in seen} == {2}
    assert len(run.motion.meshes[0].faces) == 10
    assert result.machine["cpu"]
    assert ExperimentResult.from_json(result.to_json()) == result

    def interrupt(what, done, points):
        if "10: brute_force, round" in what:
            raise KeyboardInterrupt

    run = LabRun(toy, rounds=1)
    run.show_progress(interrupt)
    result = run.run()
    assert result.interrupted
    assert [point.runs[0].status for point in result.points] == ["ok", "interrupted"]
    assert all(each.verdict == "not judged" for each in result.verdicts)


def test_a_scene_of_ones_own_ends_in_advice():
    motion = fakes.toy_motion()
    run = LabRun(own_experiment("mine", "Mine", RecordedMotion(motion), ("brute_force",), 3), rounds=1)
    result = run.run()
    assert result.points[0].frames == 3
    assert result.advice.startswith("brute_force serves this scene best: exact in all 3 frames")
    assert result.verdicts == []

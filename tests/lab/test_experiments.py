"""The experiments: what they promise, and how their verdicts follow from what was measured."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest

from jostle.lab.catalogue import every_experiment, experiments_named
from jostle.lab.experiment import Experiment, RecordedMotion, own_experiment, slope
from jostle.lab.experiments import EXPERIMENTS, deforming
from jostle.lab.methods import methods_of
from jostle.lab.papers.face_octree import fig_07_faces
from jostle.lab.results import VERDICTS, ExperimentResult, MethodRun, Point
from jostle.lab.run import LabRun
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


SOME = {
    "deforming": lambda value: [run_of("wide_tree", 1e-4), run_of("face_octree", 2e-4), run_of("brute_force", 1e-3)],
}


@pytest.mark.small
@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.name)
def test_every_experiment_is_whole_and_judges_nothing_that_was_not_measured(experiment):
    assert experiments_named(experiment.name) == (experiment,)
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
def test_deforming_bodies_are_judged_by_agreement_in_all_frames():
    def made(tree=1e-4, plain=1e-3, **fields):
        def runs(value):
            return [run_of("wide_tree", tree, **fields), run_of("brute_force", plain), run_of("face_octree", 1e-4)]

        return [each.verdict for each in deforming.EXPERIMENT.verdicts(result_of(deforming.EXPERIMENT, runs))]

    assert made() == ["reproduced", "refuted", "not judged"]
    assert made(missed=1)[1] == "reproduced"
    assert made(tree=1e-2)[1] == "reproduced"
    wrong = result_of(deforming.EXPERIMENT, lambda value: [run_of("face_octree", 1.0, extra=1)])
    assert deforming.EXPERIMENT.verdicts(wrong)[0].verdict == "refuted"


@pytest.mark.small
def test_no_two_experiments_have_one_name():
    names = [each.name for each in every_experiment()]
    assert len(set(names)) == len(names)
    assert set(EXPERIMENTS) < set(every_experiment())


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
    assert own_experiment("a b/ä..", "", scene, ("wide_tree",)).name == "a-b-ä"
    assert own_experiment("..", "", scene, ("wide_tree",)).name == "scene"


def test_a_run_measures_every_value_judges_and_is_kept_when_interrupted(in_this_process):
    toy = dataclasses.replace(fig_07_faces.EXPERIMENT, values=(8, 10), quick_values=(8,), methods=("brute_force",), frames=4)
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


def test_a_scene_of_ones_own_ends_in_advice(in_this_process):
    motion = fakes.toy_motion()
    run = LabRun(own_experiment("mine", "Mine", RecordedMotion(motion), ("brute_force",), 3), rounds=1)
    result = run.run()
    assert result.points[0].frames == 3
    assert result.advice.startswith("brute_force serves this scene best: exact in all 3 frames")
    assert result.verdicts == []

"""The figures of Eckstein and Schömer: what is printed, the motion, that each runs, and how verdicts follow from times."""

import dataclasses
from importlib import resources

import numpy as np
import pytest

from jostle import BruteForce, World
from jostle.lab import measure
from jostle.lab.catalogue import experiments_named
from jostle.lab.experiment import RecordedMotion
from jostle.lab.methods import methods_of, with_settings
from jostle.lab.papers import PAPERS
from jostle.lab.papers.bounding_tree import FIGURES, WITHOUT_A_FIGURE, degrees, fig_05_along_the_motion
from jostle.lab.papers.bounding_tree.printed import BINARY, MODERN, PRINTED, QUICK_FACES, SPLITTINGS, label_of
from jostle.lab.papers.bounding_tree.removal import ALL_FRAMES, Removal
from jostle.lab.results import VERDICTS, MethodRun
from jostle.lab.run import LabRun
from jostle.lab.truth import BODY_PAIRS
from tests.lab.papers.made_up import assert_none_is_judged, made_up_result, made_up_run

FIG = {figure.name.removeprefix("bounding_tree/"): figure for figure in FIGURES + WITHOUT_A_FIGURE}
STATIC, LINEAR, REGULA_FALSI = fig_05_along_the_motion.STATIC, fig_05_along_the_motion.LINEAR, fig_05_along_the_motion.REGULA_FALSI


def run_of(method, times, tests=100, **fields):
    """A run with the given milliseconds per frame; every other frame has a collision."""
    made = {
        "contacts": [3 * (k % 2) for k in range(len(times))],
        "pairs": [k % 2 for k in range(len(times))],
        "counters": [{"box_tests": tests}] * len(times),
        "compared": BODY_PAIRS if "motion" in method else "faces",
    }
    return made_up_run(method, times, **{**made, **fields})


def result_of(name, runs, values=None, **fields):
    return made_up_result(FIG[name], runs, values, bodies=16, faces=60000, **fields)


def verdicts(name, runs, **fields):
    return [each.verdict for each in FIG[name].verdicts(result_of(name, runs, **fields))]


# ---------------------------------------------------------------------- what is printed, and by name


@pytest.mark.small
def test_what_is_printed_is_one_file_and_every_value_has_its_place():
    text = resources.files("jostle.lab.papers.bounding_tree").joinpath("printed.toml").read_text()
    assert text.count("place = ") == len(PRINTED)
    assert all("§" in table["place"] for table in PRINTED.values())
    assert set(FIG) == set(PRINTED) - {"scene"}
    # 40 ms static and 100 ms along the motion are all the times in the text.
    assert fig_05_along_the_motion.PRINTED_RATIO == 2.5


@pytest.mark.small
def test_figures_are_found_by_name_and_a_paper_is_all_of_them():
    assert "bounding_tree" in [paper.name for paper in PAPERS]
    assert experiments_named("bounding_tree") == FIGURES + WITHOUT_A_FIGURE
    assert experiments_named("fig_04") == experiments_named("bounding_tree/fig_04") == (FIG["fig_04"],)
    assert experiments_named("degrees") == (FIG["degrees"],)
    for figure in FIG.values():
        assert figure.paper == "eckstein1999"
        assert figure.figure
        assert figure.caption
        assert figure.about
        assert MODERN in figure.methods  # the modern engine, beside every figure


@pytest.mark.small
def test_hierarchies_have_the_settings_of_the_paper_and_values_set_what_they_say():
    (default,) = methods_of(label_of())
    for label in {label for figure in FIGURES for label in figure.methods} - {MODERN}:
        method = methods_of(label)[0].method
        assert (method.degree, method.improvement, method.leaf_faces, method.quality) == (None, 0.75, 4, "surface")

    def at(figure, value):
        return with_settings(default, figure.settings(value))

    assert [methods_of(label)[0].method.degree for label in degrees.FIXED.values()] == [2, 3, 4, 5, 6]
    factors = [methods_of(label)[0].method.improvement for label in degrees.FLEXIBLE.values()]
    assert factors == [0.5, 0.6, 0.7, 0.75, 0.8, 0.9]
    kinds = [at(FIG["degrees"], kind).method for kind in degrees.TYPES]
    assert [each.splitting for each in kinds] == ["without_optimisation", "insertion", *["gottschalk"] * 4]
    assert [each.volume for each in kinds] == ["obb"] * 4 + ["aabb", "sphere"]
    assert [each.quality for each in kinds] == ["surface"] * 3 + ["volume"] + ["surface"] * 2
    assert [at(FIG["fig_04"], value).method.volume for value in FIG["fig_04"].values] == ["obb", "aabb", "sphere"]
    assert {methods_of(label_of(splitting=each))[0].method.splitting for each in (*SPLITTINGS.values(), BINARY)} == {
        "without_optimisation", "insertion", "gottschalk", "binary_gottschalk",
    }  # fmt: skip
    (wide,) = methods_of(MODERN)
    assert with_settings(wide, {"degree": 3}) == wide


@pytest.mark.small
def test_along_the_motion_the_paper_encloses_start_and_end_and_every_label_is_another():
    labels = FIG["fig_05"].methods
    assert len(set(labels)) == len(labels)
    along = {label: methods_of(label)[0] for label in labels}
    assert [label for label, each in along.items() if not each.options] == [STATIC, MODERN]
    for label in (LINEAR, REGULA_FALSI):
        assert (along[label].method.sweep, along[label].method.time_splits) == ("enclosing", 0)
        assert along[label].options == {"motion": True}


# ---------------------------------------------------------------------- the motion


def test_the_hand_takes_the_covers_off_and_collides_on_the_way():
    motion = Removal(QUICK_FACES).record()
    assert 300 < len(motion) < ALL_FRAMES
    assert [name for name, static in zip(motion.names, motion.static, strict=True) if not static] == ["cover_1", "cover_2"]
    moves = np.linalg.norm(np.diff(motion.poses[:, :, :3, 3], axis=0), axis=2) > 0.0
    rows = [motion.names.index(name) for name in ("cover_1", "cover_2")]
    assert moves.any(axis=0).nonzero()[0].tolist() == sorted(rows)
    assert not (moves[:, rows[0]] & moves[:, rows[1]]).any()  # one after the other
    far = np.linalg.norm(motion.poses[-1, rows, :3, 3] - motion.poses[0, rows, :3, 3], axis=1)
    assert (far > 100.0).all()
    world = motion.world("wide_tree")
    touching = []
    for frame in range(len(motion)):
        motion.apply(world, frame)
        touching.append(bool(world.detect(rows="any")))
    assert not touching[0]
    assert 0.1 < np.mean(touching) < 0.5
    changes = np.count_nonzero(np.diff(touching))
    assert changes > 10  # it goes to and fro
    assert np.array_equal(Removal(QUICK_FACES, 8).record(5).poses, motion.poses[: 8 * 5 : 8])


# ---------------------------------------------------------------------- each figure, quickly


@pytest.mark.parametrize("name", FIG)
def test_every_figure_runs_quickly_and_who_is_exact_agrees_with_the_exact_engine(name, in_this_process):
    figure = FIG[name]
    small = dataclasses.replace(figure, quick_values=figure.quick_values[-1:], quick_frames=15)
    result = LabRun(small, quick=True, rounds=1).run()
    (point,) = result.points
    assert point.frames == 15
    found = {}
    for run in point.runs:
        assert (run.status, run.why) == ("ok", ""), run.method
        assert len(run.frame_seconds) == 15
        assert run.compared == (BODY_PAIRS if "motion" in run.method else "faces")
        found[run.method] = sum(run.pairs)
        promised = "motion" not in run.method or run.method == fig_05_along_the_motion.CERTIFIED
        assert run.agrees or not promised, run.method
    assert min(found.values()) > 0
    if name == "fig_05":
        assert found[fig_05_along_the_motion.CERTIFIED] >= found[STATIC]
    assert (result.paper, result.figure, result.caption) == (figure.paper, figure.figure, figure.caption)
    assert result.verdicts
    for verdict in result.verdicts:
        assert verdict.verdict == "not judged"
        assert "nan" not in verdict.ours


def test_what_a_value_sets_reaches_the_methods_that_have_it(in_this_process):
    scene = RecordedMotion(Removal(QUICK_FACES).record(2))
    toy = dataclasses.replace(FIG["fig_04"], scene=lambda value, quick: scene, methods=("bounding_tree", MODERN))
    boxes, _, spheres = LabRun(toy, rounds=1).run().points
    tests = [[run.total("box_tests") for run in point.runs] for point in (boxes, spheres)]
    assert tests[0][0] != tests[1][0]
    assert tests[0][1] == tests[1][1]
    assert [run.method for run in spheres.runs] == ["bounding_tree", MODERN]


def test_the_truth_along_the_motion_is_that_of_all_pairs_of_faces():
    motion = Removal(QUICK_FACES, 8).record(5)
    truth = measure.Truth(motion)
    world = World(BruteForce())
    # Only the cover that moves, and what is near it: all pairs of faces of all parts would take minutes.
    near = [motion.names.index(name) for name in ("cover_1", "housing", "battery")]
    for row in near:
        world.add(motion.meshes[row], motion.poses[0, row], motion.names[row], static=motion.static[row])
    met = 0
    for frame in range(len(motion)):
        world.set_poses(motion.poses[frame, near])
        pairs = {frozenset(near[body] for body in pair) for pair in world.detect(motion=True).pairs}
        rows = truth.rows_along(frame)
        assert {frozenset(row[:2].tolist()) for row in rows if set(row[:2].tolist()) <= set(near)} == pairs
        met += len(pairs)
    assert met > 0
    # In any order, and not to be mixed up with what touches at one instant.
    again = measure.Truth(motion)
    for frame in (4, 1, 3):
        assert np.array_equal(again.rows_along(frame), truth.rows_along(frame))
    assert sum(len(truth.rows_along(frame)) for frame in range(5)) != sum(len(truth.rows(frame)) for frame in range(5))


# ---------------------------------------------------------------------- verdicts


@pytest.mark.small
@pytest.mark.parametrize("name", FIG)
def test_nothing_is_judged_that_was_not_measured(name):
    without = result_of(name, lambda value: [run_of("wide_tree", [1.0, 2.0])])
    failed = result_of(name, lambda value: [MethodRun(method, "failed", "x") for method in FIG[name].methods])
    needed = degrees.FLEXIBLE[degrees.BEST] if name == "degrees" else FIG[name].methods[0]
    part = result_of(name, lambda value: [run_of(method, [1.0, 2.0]) for method in FIG[name].methods if method != needed])
    assert_none_is_judged(FIG[name], [without, failed, part])


@pytest.mark.small
@pytest.mark.parametrize("name", FIG)
def test_quick_and_interrupted_runs_are_not_judged(name):
    def runs(value):
        return [run_of(method, [1.0] * 6 + [2.0] * 6) for method in FIG[name].methods]

    assert set(verdicts(name, runs)) <= set(VERDICTS) - {"not judged"}
    for state in ("quick", "interrupted"):
        assert set(verdicts(name, runs, **{state: True})) == {"not judged"}
    if name != "fig_05":
        result = result_of(name, runs, values=FIG[name].values[:1])
        assert {each.verdict for each in FIG[name].verdicts(result)} == {"not judged"}


@pytest.mark.small
def test_degrees_are_judged_by_the_time_of_the_whole_sequence():
    settings = degrees.FIXED | degrees.FLEXIBLE

    def made(times, tests=None):
        def runs(kind):
            return [
                run_of(label, [times(kind, key)] * 4, tests=round(1e3 * (tests or times)(kind, key)))
                for key, label in settings.items()
            ]

        return FIG["degrees"].verdicts(result_of("degrees", runs))

    def bowl(kind, setting):
        return 1.0 + abs(float(setting) - 0.75) if "." in setting else 2.0

    best, flexible = made(bowl)
    assert (best.verdict, flexible.verdict) == ("reproduced", "reproduced")
    assert "within 3% of the fastest for 6 of 6 types, and of the fewest tests for 6" in best.why
    assert "insertion: fastest with α = 0.75 (4 ms for the sequence, 4 ms with 0.75)" in best.ours
    assert "in 100% of comparisons (fewer tests in 100%)" in flexible.why
    assert "less than every fixed degree for 6 of 6 types" in flexible.why

    def rising(kind, setting):
        return 1.0 + float(setting) if "." in setting else 0.1 * float(setting)

    best, flexible = made(rising, tests=bowl)
    assert (best.verdict, flexible.verdict) == ("refuted", "refuted")
    assert "for 0 of 6 types, and of the fewest tests for 6" in best.why
    assert "fastest with α = 0.5" in best.ours
    assert "best fixed degree 2 with 0.8 ms" in flexible.ours
    assert "in 0% of comparisons (fewer tests in 100%)" in flexible.why

    assert made(lambda kind, setting: (bowl if kind == "insertion" else rising)(kind, setting))[0].verdict == "partly"
    # Ahead of most fixed degrees, but never of all.
    assert made(lambda kind, setting: 0.5 if setting == "2" else bowl(kind, setting))[1].verdict == "partly"
    # Totals within three per cent are the same.
    assert made(lambda kind, setting: 0.98 if setting == "0.8" else bowl(kind, setting))[0].verdict == "reproduced"


@pytest.mark.small
def test_fig_04_is_judged_by_slowest_frames_and_by_who_is_ahead():
    without, insertion, gottschalk = (label_of(splitting=each) for each in ("without_optimisation", "insertion", "gottschalk"))

    def made(slowest, binary=3.0, means=None, only=None):
        """Milliseconds of the slowest frame of each of the three; for one volume alone if told, else for all."""

        def runs(value):
            given = slowest if only in (None, value) else (2.0, 2.0, 2.1)
            rows = [
                run_of(m, [(means or {}).get(m, 1.0)] * 9 + [most])
                for m, most in zip((without, insertion, gottschalk), given, strict=True)
            ]
            return [*rows, run_of(label_of(splitting=BINARY), [binary] * 10, tests=50), run_of(MODERN, [0.1] * 10)]

        return FIG["fig_04"].verdicts(result_of("fig_04", runs))

    as_printed = made((20.0, 30.0, 40.0))
    assert [each.verdict for each in as_printed] == ["reproduced", "reproduced", "reproduced", "refuted"]
    assert "oriented boxes: modified Gottschalk (§3.3), 40 ms" in as_printed[1].ours
    assert "slowest 8.2 times the mean" in as_printed[2].ours
    assert "8.8 ms in 5 colliding and 1 ms in 5 free frames" in as_printed[2].ours
    ahead = made((2.0, 2.0, 4.0))[3]
    assert ahead.verdict == "reproduced"
    assert "13 ms against 30 ms for the sequence, 1,000 against 500 tests" in ahead.ours
    assert "make fewer tests with 0" in ahead.why
    assert [each.verdict for each in made((50.0, 30.0, 40.0))] == ["refuted", "refuted", "reproduced", "refuted"]
    assert made((3.0, 2.0, 2.0), only="spheres")[1].verdict == "partly"
    assert made((50.0, 2.0, 2.0), only="spheres")[0].verdict == "partly"
    slow = made((3.0, 3.0, 3.0), means={insertion: 2.9})
    assert slow[0].verdict == "partly"  # fast enough, but one is far behind
    assert made((1.0, 1.0, 1.0))[2].verdict == "refuted"


@pytest.mark.small
def test_fig_05_is_judged_by_ratios_to_static_tests_and_by_what_is_missed():
    certified, instants = fig_05_along_the_motion.CERTIFIED, fig_05_along_the_motion.INSTANTS

    def made(static, linear, regula_falsi, missed=0, extra=0, others=True):
        def runs(value):
            rows = [
                run_of(STATIC, [1.0, static]),
                run_of(LINEAR, [1.0, linear]),
                run_of(REGULA_FALSI, [1.0, regula_falsi], pairs=[0, 200 - missed + extra], missed=missed, extra=extra),
            ]
            return rows + ([run_of(certified, [1.0, 3.0]), run_of(instants, [1.0, 7.0], missed=1)] if others else [])

        return FIG["fig_05"].verdicts(result_of("fig_05", runs))

    as_printed = made(40.0, 80.0, 100.0)
    assert [each.verdict for each in as_printed] == ["reproduced"] * 3
    assert "linear interpolation 2 times, with regula falsi 2.5 times" in as_printed[0].why
    assert "8 static tests a step 0.2 times" in as_printed[0].why
    assert "takes 2.5 times the slowest static one, and less than 100 ms" in as_printed[1].why
    assert "8 static tests a step: 1 missed and 0 extra" in as_printed[2].ours
    assert [each.verdict for each in made(40.0, 30.0, 101.0)[:2]] == ["partly", "refuted"]
    assert [each.verdict for each in made(10.0, 5.0, 9.0)[:2]] == ["refuted", "reproduced"]
    assert made(10.0, 20.0, 40.0)[1].verdict == "partly"
    missing = made(1.0, 2.0, 2.0, missed=1)[2]
    assert missing.verdict == "partly"
    assert "with regula falsi: 1 missed and 0 extra of 200" in missing.ours
    assert made(1.0, 2.0, 2.0, missed=10)[2].verdict == "refuted"
    assert made(1.0, 2.0, 2.0, extra=10)[2].verdict == "refuted"
    both = made(1.0, 2.0, 2.0, others=False)
    assert [each.verdict for each in both] == ["reproduced"] * 3
    assert "certified test takes" not in both[0].why

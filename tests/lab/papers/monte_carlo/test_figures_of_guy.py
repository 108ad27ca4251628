"""The figures of Guy and Debunne: what is printed, that each runs, and how verdicts follow from times, regions and percentiles."""

from importlib import resources

import numpy as np
import pytest
from PIL import Image

from jostle.lab.catalogue import experiments_named
from jostle.lab.drawings.by_method import slowest_frame
from jostle.lab.files import write_files
from jostle.lab.papers import PAPERS
from jostle.lab.papers.judging import verdict_of
from jostle.lab.papers.monte_carlo import FIGURES, WITHOUT_A_FIGURE, encounters, frame_times, recall, table_1
from jostle.lab.papers.monte_carlo.budgets import BUDGETS, UNLIMITED, WITH_MORE
from jostle.lab.papers.monte_carlo.contenders import AABB, LAST, LEVELS, OBB
from jostle.lab.papers.monte_carlo.encounters import DRAGON, PAIRS, SPHERE, Encounter, deforming
from jostle.lab.papers.monte_carlo.instrumented import Instrumented
from jostle.lab.papers.monte_carlo.judged import percent
from jostle.lab.papers.monte_carlo.pictures import draw_encounters
from jostle.lab.papers.monte_carlo.printed import PRINTED, TABLE
from jostle.lab.papers.monte_carlo.rebuilt import BUILD, QUERY
from jostle.lab.plots import draw_experiment
from jostle.lab.results import MethodRun, Point
from jostle.lab.run import LabRun
from tests.lab.papers.made_up import assert_none_is_judged, assert_only_whole_runs_are_judged, made_up_result, made_up_run

FIG = {figure.name.removeprefix("monte_carlo/"): figure for figure in FIGURES + WITHOUT_A_FIGURE}
NAMES = ("table_1_shells", "recall", "frame_times")
JUDGED = table_1.JUDGED


# ---------------------------------------------------------------------- what is printed, and what is run


@pytest.mark.small
def test_every_number_comes_from_the_data_file_and_has_its_place():
    assert all("place" in table for table in PRINTED.values())
    text = resources.files("jostle.lab.papers.monte_carlo").joinpath("printed.toml").read_text(encoding="utf-8")
    assert "guy2004" in text
    assert [len(TABLE[column]) for column in ("faces", "aabb_ms", "shells_ms")] == [3, 3, 3]
    assert [len(TABLE[column]) for column in ("obb_build_ms", "obb_query_ms")] == [2, 2]
    assert {len(times) for times in TABLE["shells_ms"]} == {3}
    assert all(times == sorted(times, reverse=True) for times in TABLE["shells_ms"])
    assert TABLE["shells_ms"][2] == [140, 51, 5.5]


@pytest.mark.small
def test_figures_are_found_by_name_and_say_what_they_are():
    (paper,) = [paper for paper in PAPERS if paper.name == "monte_carlo"]
    assert paper.figures == experiments_named("monte_carlo") == FIGURES + WITHOUT_A_FIGURE
    assert tuple(FIG) == NAMES
    for name, figure in FIG.items():
        assert experiments_named(name) == (figure,)
        assert figure.paper == "guy2004"
        assert figure.figure
        assert figure.caption
        assert figure.about


def test_who_takes_part():
    for figure in FIG.values():
        for value in figure.values:
            assert [each.label for each in figure.methods_at(value)] == list(figure.methods)
    made = {each.label: each for each in FIG["table_1_shells"].methods_at(SPHERE)}
    assert [made[label].method.levels for label in LEVELS] == [1, 2, 3, 4, None]
    assert {made[label].method.thorough for label in LEVELS} == {False}
    assert (made[AABB].method.volume, made[AABB].method.leaf_faces) == ("aabb", 1)
    assert (made[OBB].method.method.volume, made[OBB].method.method.splitting) == ("obb", "binary_gottschalk")
    for name, truth in (("recall", True), ("frame_times", False)):
        for each in FIG[name].methods_at(SPHERE):
            assert isinstance(each.method, Instrumented)
            assert each.method.truth is truth
            assert each.method.method.thorough
            asked = each.options["budget"].seconds if "budget" in each.options else None
            assert asked == WITH_MORE.get(each.label)
    assert list(BUDGETS.values()) == pytest.approx([0.0005, 0.001, 0.002, 0.005])
    assert list(WITH_MORE.values())[4:] == pytest.approx([0.01])
    assert FIG["frame_times"].frames == 3_000


def test_bodies_are_as_large_as_printed_and_motions_have_30_frames_a_second():
    for pair, faces in zip(PAIRS[:2], TABLE["faces"], strict=False):
        motion = Encounter(pair).record(2)
        assert sorted(len(mesh.faces) for mesh in motion.meshes) == sorted(faces)
        assert motion.dt == pytest.approx(1.0 / 30.0)
    soft = Encounter(deforming(SPHERE), most=3, first=5).record(9)
    whole = Encounter(deforming(SPHERE)).record(9)
    assert len(soft) == 3
    assert np.array_equal(soft.poses, whole.poses[5:8])
    assert np.array_equal(soft.vertices[1], whole.vertices[1][5:8])


def test_the_true_bunny_takes_part_where_it_is_at_hand(monkeypatch, tmp_path):
    monkeypatch.delenv("JOSTLE_DATA", raising=False)
    assert encounters.with_bunny(PAIRS) == PAIRS
    monkeypatch.setenv("JOSTLE_DATA", str(tmp_path))
    assert encounters.bunny_file() is None
    (tmp_path / "meshes").mkdir()
    file = tmp_path / "meshes" / "stanford-bunny.obj"
    file.write_text("v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    assert encounters.with_bunny(PAIRS) == (*PAIRS, encounters.TRUE_BUNNY)
    motion = Encounter(encounters.TRUE_BUNNY).record(1)
    assert [len(mesh.faces) for mesh in motion.meshes] == [50_000, 4]


# ---------------------------------------------------------------------- each figure, quickly


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_runs_quickly(name, in_this_process, tmp_path):
    lab_run = LabRun(FIG[name], quick=True, rounds=1)
    result = lab_run.run()
    assert [point.value for point in result.points] == list(FIG[name].quick_values)
    for point in result.points:
        for run in point.runs:
            assert (run.status, run.why) == ("ok", ""), run.method
            assert len(run.frame_seconds) == point.frames
            assert run.extra in (0, None), run.method  # whatever a budget leaves out, what is told is true
            if not run.method.startswith("monte_carlo"):
                assert run.missed == 0
    assert max(sum(run.contacts) for run in result.points[0].runs) > 0 or name == "frame_times"
    for verdict in result.verdicts:
        assert verdict.verdict == "not judged"
        assert verdict.ours
        assert "nan" not in verdict.ours
    if name == "recall":
        (unlimited,) = [run for run in result.points[0].runs if run.method == UNLIMITED]
        assert unlimited.total("touching_faces") > 0
        assert recall.recall_of(unlimited) == 1.0
    if name == "frame_times":
        assert all(work["cpu_microseconds"] > 0 for run in result.points[0].runs for work in run.counters)
        assert {run.compared for run in result.points[0].runs} == {""}
    # Saving plots takes as long as all the rest: those of table 1 are only made.
    assert slowest_frame(result, {}).axes if name == "table_1_shells" else draw_experiment(result, tmp_path)


def test_charts_are_drawn_of_what_was_run_and_of_what_failed(tmp_path):
    for name, draw, make in (
        ("recall", recall._pictures, lambda label, k: recall_run(label, 1000 - 3 * k)),
        ("frame_times", frame_times._pictures, lambda label, k: timed_run(label, lambda frame: 0.3 * k + frame / 50, frames=50)),
    ):
        figure = FIG[name]

        def runs(value, figure=figure, make=make):
            served = [make(label, k) for k, label in enumerate(figure.methods[1:])]
            return [MethodRun(figure.methods[0], "failed", "it broke"), *served]

        (tmp_path / name).mkdir()
        write_files(made_up_result(figure, runs), tmp_path / name)
        (file,) = draw(tmp_path / name)
        assert file.name == f"picture_1_{name}.png"
        with Image.open(file) as picture:
            assert len(picture.convert("RGB").getcolors(1 << 24)) > 20


def test_pictures_are_drawn(tmp_path):
    (file,) = draw_encounters(tmp_path, (SPHERE,), 30)
    assert file.name == "picture_1_sphere_and_torus.png"
    with Image.open(file) as picture:
        assert picture.size == (720, 540)


# ---------------------------------------------------------------------- verdicts of table 1


def table_run(method, time, found=100, missed=0, build=0, frames=4, **fields):
    """A run of some frames of so many milliseconds each."""
    contacts = [found] * frames
    counters = [{BUILD: int(1e3 * build), QUERY: int(1e3 * (time - build))}] * frames
    return made_up_run(method, [time] * frames, contacts, [1] * frames, counters, missed=missed * frames, **fields)


def table_judged(time_of, values=None, missed_of=lambda method, value: 0, build_of=lambda value: 0.0):
    """The verdicts of table 1 where `time_of(method, value)` are milliseconds, None for a method that did not serve."""

    def runs(value):
        made = []
        for method in FIG["table_1_shells"].methods:
            time = time_of(method, value)
            missed = missed_of(method, value)
            build = build_of(value) if method == OBB else 0.0
            run = None if time is None else table_run(method, time, 100 - missed, missed, build, prepare_seconds=0.042)
            made.append(MethodRun(method, "failed", "x") if run is None else run)
        return made

    return FIG["table_1_shells"].verdicts(made_up_result(FIG["table_1_shells"], runs, values))


def shells_of(times, others=10.0):
    given = dict(zip(LEVELS, times, strict=True))
    return lambda method, value: given.get(method, others)


@pytest.mark.small
def test_more_levels_less_time_is_judged_by_the_large_pair_and_by_every_step():
    levels, *_ = table_judged(shells_of([60.0, 30.0, 9.0, 5.0, 5.0]))
    assert levels.verdict == "reproduced"
    assert "12 and 12 times as fast as one" in levels.why
    assert "12 to 12 times on others" in levels.why
    assert f"{DRAGON}: 140/51/5.5 ms" in levels.printed
    assert f"{SPHERE}: AABB 10 ms, OBB 42/10 ms, shells 60/30/9/5/5 ms, wide_tree 10 ms" in levels.ours
    assert table_judged(shells_of([30.0, 20.0, 9.0, 5.0, 5.0]))[0].verdict == "partly"
    assert table_judged(shells_of([60.0, 30.0, 5.0, 9.0, 5.0]))[0].verdict == "partly"  # it rises once
    assert table_judged(shells_of([60.0, 30.0, 5.0, 5.4, 5.4]))[0].verdict == "reproduced"  # a little is nothing
    assert table_judged(shells_of([6.0, 5.0, 5.0, 5.0, 5.0]))[0].verdict == "refuted"

    def only_small(method, value):
        return shells_of([60.0, 30.0, 9.0, 5.0, 5.0] if str(value).startswith(SPHERE) else [6.0] * 5)(method, value)

    assert table_judged(only_small)[0].verdict == "refuted"


@pytest.mark.small
def test_shells_are_judged_against_trees_with_what_they_miss():
    fast = [60.0, 30.0, 9.0, 5.0, 5.0]
    _, aabb, obb, _ = table_judged(shells_of(fast))
    assert (aabb.verdict, obb.verdict) == ("reproduced", "reproduced")
    assert "all with all levels" in aabb.why
    assert "wide_tree, which is exact, takes 2 to 2 times as long as the shells" in aabb.why
    assert f"{DRAGON}: 434 ms, shells 5.5" in aabb.printed
    assert f"{DRAGON}: N/A ms, shells 5.5" in obb.printed
    assert [each.verdict for each in table_judged(shells_of(fast, 1.0))[1:3]] == ["refuted", "refuted"]

    def slow_once(method, value):
        return 1.0 if method == AABB and value == JUDGED[0] else shells_of(fast)(method, value)

    some = table_judged(slow_once)
    assert [each.verdict for each in some[1:3]] == ["partly", "reproduced"]
    assert f"not for {JUDGED[0]}" in some[1].why

    def misses(count):
        return lambda method, value: count if method == LAST and value == JUDGED[-1] else 0

    assert table_judged(shells_of(fast), missed_of=misses(1))[1].verdict == "reproduced"
    lost = table_judged(shells_of(fast), missed_of=misses(2))[1]
    assert lost.verdict == "partly"
    assert "98.0 % with all levels" in lost.why


@pytest.mark.small
def test_construction_and_query_are_told_apart():
    levels = table_judged(shells_of([5.0] * 5), build_of=lambda value: 7.0)[0]
    assert f"{SPHERE}: AABB 10 ms, OBB 42/10 ms" in levels.ours
    assert f"{deforming(SPHERE)}: AABB 10 ms, OBB 7/3 ms" in levels.ours


@pytest.mark.small
def test_the_rate_is_judged_by_the_slowest_frame_of_the_large_pair():
    assert table_judged(shells_of([99.0, 99.0, 99.0, 33.0, 33.0]))[3].verdict == "reproduced"
    assert table_judged(shells_of([99.0, 99.0, 99.0, 99.0, 34.0]))[3].verdict == "refuted"

    def slow_where_it_deforms(method, value):
        return 40.0 if value == deforming(DRAGON) else 20.0

    assert table_judged(slow_where_it_deforms)[3].verdict == "partly"
    assert f"{SPHERE}: 33 ms in the slowest frame" in table_judged(shells_of([33.0] * 5), (SPHERE,))[3].ours  # as in a quick run


@pytest.mark.small
def test_who_is_too_slow_for_all_frames_is_compared_over_those_it_got_through():
    """Shells take 1 ms in the first two of four frames and 9 after; trees 2 ms, and those of oriented boxes see two frames only."""

    def runs(value):
        times = {OBB: [2.0, 2.0], AABB: [2.0] * 4}
        made = []
        for method in FIG["table_1_shells"].methods:
            each = times.get(method, [1.0, 1.0, 9.0, 9.0])
            counters = [{BUILD: 500, QUERY: 1500}] * len(each)
            made.append(made_up_run(method, each, [1] * len(each), [1] * len(each), counters, prepare_seconds=0.042))
        return made

    _, aabb, obb, _ = FIG["table_1_shells"].verdicts(made_up_result(FIG["table_1_shells"], runs))
    assert (aabb.verdict, obb.verdict) == ("refuted", "reproduced")
    assert f"{SPHERE}: 42/2 ms (first 2 of 4 frames), shells 1 ms" in obb.ours
    assert f"{deforming(SPHERE)}: 0.5/1.5 ms (first 2 of 4 frames), shells 1 ms" in obb.ours
    assert f"{SPHERE}: 2 ms, shells 5 ms" in aabb.ours


# ---------------------------------------------------------------------- verdicts of recall and frame times


def recall_run(method, reported=1000, touching=1000, missed_for=0, regions=(3, 3), **fields):
    """A run of four frames; `reported` of so many touching faces are in reported regions."""
    counters = [
        {
            "touching_faces": touching,
            "faces_reported": reported,
            "missed_for": missed_for if frame == 2 else 0,
            "regions": regions[1],
            "regions_reported": regions[0],
        }
        for frame in range(4)
    ]
    return made_up_run(method, [1.0] * 4, [5] * 4, [1] * 4, counters, **fields)


def recall_judged(run_of, values=None):
    figure = FIG["recall"]
    return figure.verdicts(made_up_result(figure, lambda value: [run_of(method, value) for method in figure.methods], values))


@pytest.mark.small
def test_recall_is_judged_at_two_milliseconds():
    found = dict(zip(recall.METHODS, (900, 980, 992, 999, 1000, 1000), strict=True))
    verdict, longest, every = recall_judged(lambda method, value: recall_run(method, found[method]))
    assert (verdict.verdict, longest.verdict, every.verdict) == ("reproduced", "reproduced", "reproduced")
    assert "our claim" in verdict.claim
    assert "our claim" in longest.claim
    assert f"{SPHERE}: 90.0 % at 0.5 ms, 98.0 % at 1 ms, 99.2 % at 2 ms, 99.90 % at 5 ms, all at 10 ms, all without a budget" in (
        verdict.ours
    )
    assert verdict.ours.count("99.9 % need 5 ms") == len(recall.VALUES)
    assert "do not touch: none" in verdict.why

    def worse(method, value):
        return recall_run(method, 980 if value == DRAGON or method != recall.AT else 992)

    some = recall_judged(worse)[0]
    assert some.verdict == "partly"
    assert f"{DRAGON}: 98.0 % at 0.5 ms, 98.0 % at 1 ms, 98.0 % at 2 ms, 98.0 % at 5 ms, 98.0 % at 10 ms" in some.ours
    assert some.ours.count("99.9 % need a larger budget") == len(recall.VALUES)
    assert recall_judged(lambda method, value: recall_run(method, 980))[0].verdict == "refuted"
    told = recall_judged(lambda method, value: recall_run(method, extra=int(value == DRAGON)))[0]
    assert told.verdict == "refuted"
    assert "do not touch: 6" in told.why
    few = recall_judged(lambda method, value: recall_run(method, missed=20 if value == DRAGON else 0))[0]
    assert few.verdict == "reproduced"
    assert "Of the touching face pairs themselves 50.0 % are reported in the worst motion" in few.why  # 20 contacts, and 20 missed
    assert recall_judged(lambda method, value: recall_run(method, 0, 0))[0].verdict == "reproduced"  # where nothing touches


@pytest.mark.small
def test_a_budget_gives_a_recall_where_all_larger_ones_do():
    found = dict(zip(recall.METHODS, (999, 1000, 990, 1000, 1000, 1000), strict=True))
    once = made_up_result(FIG["recall"], lambda value: [recall_run(method, found[method]) for method in recall.METHODS])
    assert recall.least_budget(once, SPHERE, 0.999) == "5 ms"  # 0.5 and 1 ms gave it by luck
    assert recall.least_budget(once, SPHERE, 0.99) == "0.5 ms"
    assert recall.least_budget(once, SPHERE, 1.1) == ""


@pytest.mark.small
def test_the_longest_miss_and_all_regions_are_judged():
    def missed_for(frames):
        return lambda method, value: recall_run(method, missed_for=frames if method == recall.AT and value == DRAGON else 9)

    assert recall_judged(lambda method, value: recall_run(method, missed_for=3))[1].verdict == "reproduced"
    assert recall_judged(missed_for(3))[1].verdict == "partly"
    late = recall_judged(lambda method, value: recall_run(method, missed_for=4))[1]
    assert late.verdict == "refuted"
    assert "most consecutive frames: sphere and torus: 4 at 0.5 ms" in late.ours
    assert recall_judged(lambda method, value: recall_run(method, regions=(995, 1000)))[2].verdict == "partly"
    lost = recall_judged(lambda method, value: recall_run(method, regions=(2, 3)))[2]
    assert lost.verdict == "refuted"
    assert f"{SPHERE}: 8 of 12 regions in 4 frames, at most 3 at once" in lost.ours


def timed_run(method, cpu, wall=None, frames=1000):
    """A run whose CPU times, in milliseconds, are those of `cpu(k)`."""
    wall = wall or cpu
    counters = [
        {"cpu_microseconds": round(1e3 * cpu(k)), "wall_microseconds": round(1e3 * wall(k)), "complete": k % 2}
        for k in range(frames)
    ]
    return made_up_run(method, [1.0] * frames, [0] * frames, [0] * frames, counters, compared="")


def times_judged(cpu_of, values=None):
    figure = FIG["frame_times"]

    def runs(value):
        return [timed_run(method, lambda k, method=method: cpu_of(method, value, k), lambda k: 50.0) for method in figure.methods]

    (verdict,) = figure.verdicts(made_up_result(figure, runs, values))
    return verdict


@pytest.mark.small
def test_budgets_are_judged_by_the_thousandth_frame():
    def over(by, often):
        return lambda method, value, k: 1e3 * BUDGETS[method] + (by if k % 1000 < often else -0.1)

    assert times_judged(over(0.29, 500)).verdict == "reproduced"
    kept = times_judged(over(9.0, 1))
    assert kept.verdict == "reproduced"
    assert "for 12 of 12" in kept.why
    assert "0.5 ms: 0.40 / 0.40 / 0.40 / 9.50 ms (wall 50.00 / 50.00 / 50.00 / 50.00; 50% of 1,000 frames complete)" in kept.ours
    late = times_judged(over(0.5, 3))
    assert late.verdict == "refuted"
    assert f"{SPHERE} at 0.5 ms by 0.50 ms" in late.why
    assert times_judged(lambda method, value, k: 1e3 * BUDGETS[method] + (0.5 if value == DRAGON else 0.0)).verdict == "partly"


@pytest.mark.small
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_judged_of_what_was_not_run(name):
    figure = FIG[name]
    make = {
        "table_1_shells": lambda m: table_run(m, 5.0),
        "recall": recall_run,
        "frame_times": lambda m: timed_run(m, lambda k: 0.4),
    }[name]

    def runs(value):
        return [make(method) for method in figure.methods]

    def one_failed(value):
        return [MethodRun(method, "failed", "it broke") if value == SPHERE else make(method) for method in figure.methods]

    assert_none_is_judged(figure, [made_up_result(figure, runs, (SPHERE,)), made_up_result(figure, one_failed)])
    assert_only_whole_runs_are_judged(figure, runs)
    # What becomes of the true bunny, which is not there everywhere, decides nothing.
    without = made_up_result(figure, runs, JUDGED)
    without.points.append(Point(encounters.TRUE_BUNNY, 2, 100, 4, [MethodRun(m, "failed", "it broke") for m in figure.methods]))
    assert "not judged" not in {verdict.verdict for verdict in figure.verdicts(without)}


@pytest.mark.small
def test_words_for_shares_and_verdicts():
    assert [percent(share) for share in (1.0, 0.5, 0.9985, 0.99954, 0.99999)] == ["all", "50.0 %", "99.9 %", "99.95 %", "99.9990 %"]
    assert [verdict_of(held) for held in ([True], [True, False], [False], [])] == ["reproduced", "partly", "refuted", "refuted"]
    assert frame_times.percentiles(timed_run("x", lambda k: float(k))) == pytest.approx([0.5, 0.99, 0.999, 0.999], abs=1.1e-3)

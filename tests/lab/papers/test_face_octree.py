"""The figures of Kitamura et al. 1998: what is printed, what is run, and how verdicts follow from what was measured."""

import dataclasses
import math
from importlib import resources

import pytest

from jostle.lab.catalogue import experiments_named
from jostle.lab.methods import methods_of
from jostle.lab.papers import PAPERS
from jostle.lab.papers.face_octree import FIGURES, WITHOUT_A_FIGURE, fig_07_faces
from jostle.lab.papers.face_octree.printed import AS_PRINTED, PRINTED
from jostle.lab.results import VERDICTS, MethodRun
from jostle.lab.run import LabRun
from jostle.scenes import make_scene
from tests.lab.papers.made_up import assert_none_is_judged, made_up_result, made_up_run

FIG = {figure.name.removeprefix("face_octree/"): figure for figure in FIGURES + WITHOUT_A_FIGURE}
FACES = "face_octree"


def run_of(method, times, **fields):
    """A run with the given milliseconds per frame; the last frame alone has a collision unless told otherwise."""
    frames = len(times)
    made = {
        "contacts": [0] * (frames - 1) + [3],
        "pairs": [0] * (frames - 1) + [1],
        "counters": [{"body_pairs": int(k >= frames // 2)} for k in range(frames)],
    }
    return made_up_run(method, times, **{**made, **fields})


def result_of(name, runs, values=None, **fields):
    return made_up_result(FIG[name], runs, values, **fields)


def verdicts(name, runs, values=None, **fields):
    return [each.verdict for each in FIG[name].verdicts(result_of(name, runs, values, **fields))]


# ---------------------------------------------------------------------- what is printed


@pytest.mark.small
def test_what_is_printed_is_one_file_and_agrees_with_itself():
    text = resources.files("jostle.lab.papers.face_octree").joinpath("printed.toml").read_text()
    assert text.count("place = ") == len(PRINTED)
    assert all("§" in table["place"] for table in PRINTED.values())
    assert set(FIG) - {"bodies"} == set(PRINTED) - {"real_time"}
    # 5,936 faces in 100 ms, extrapolated by the paper, is the line through its last two points.
    times = dict(zip(PRINTED["fig_06"]["faces"], [1e-3 * t for t in PRINTED["fig_06"]["last_cycle_ms"]], strict=True))
    assert fig_07_faces.faces_within(0.1, times) == pytest.approx(PRINTED["fig_07"]["faces_in_real_time"], rel=0.002)
    assert math.log(70 / 11) / math.log(3968 / 168) == pytest.approx(0.585, abs=0.001)  # so the printed power lies near 0.6


def test_the_scenes_have_the_faces_that_are_printed():
    def faces(name, **parameters):
        return {body.name: len(body.mesh.faces) for body in make_scene(name, **parameters).bodies}

    room, four = faces("room"), faces("head_and_shuttle")
    twelve, fourteen = PRINTED["fig_12"], PRINTED["fig_14"]
    assert (room["head"], room["shuttle"]) == (twelve["faces_of_head"], twelve["faces_of_shuttle"])
    assert room["grasping hand"] == room["pushing hand"] == twelve["faces_of_hand"]
    assert four == {what: fourteen[f"faces_of_{what}"] for what in ("head", "shuttle", "chair", "sphere")}
    assert set(faces("meeting_shuttles", count=2, cycles=4).values()) == {PRINTED["fig_08"]["faces"]}
    assert make_scene("meeting_spheres", count=2).parameters["faces"] == PRINTED["fig_13"]["faces"]


@pytest.mark.small
def test_the_settings_of_the_paper_are_a_method():
    (named,) = methods_of(AS_PRINTED)
    assert named.label == AS_PRINTED
    assert (named.method.level, named.method.face_box, named.method.broad) == (6, "clip", "brute_force")


# ---------------------------------------------------------------------- by name, and whole


@pytest.mark.small
def test_figures_are_found_by_name_and_a_paper_is_all_of_them():
    assert "face_octree" in [paper.name for paper in PAPERS]
    assert experiments_named("face_octree") == FIGURES + WITHOUT_A_FIGURE
    assert experiments_named("fig_06") == experiments_named("face_octree/fig_06") == (FIG["fig_06"],)
    assert experiments_named("fig_99") == experiments_named("spheres") == ()
    for figure in FIGURES:
        assert figure.paper == "kitamura1998"
        assert figure.figure.startswith("fig. ")
        assert figure.caption
        assert figure.about
        assert FACES in figure.methods
        assert "wide_tree" in figure.methods  # the modern engine, beside every figure


@pytest.mark.parametrize("name", FIG)
def test_every_figure_runs_quickly_and_all_methods_agree_with_the_exact_engine(name, in_this_process):
    figure = FIG[name]
    values = figure.quick_values[-1:] if len(figure.quick_values) > 1 else figure.quick_values
    frames = min(figure.quick_frames, 40)
    small = dataclasses.replace(figure, quick_values=values, quick_frames=frames)
    result = LabRun(small, quick=True, rounds=1).run()
    (point,) = result.points
    assert point.frames == frames
    for run in point.runs:
        assert (run.status, run.why) == ("ok", "")
        assert run.agrees, run.method
        assert len(run.frame_seconds) == frames
    assert (result.paper, result.figure, result.caption) == (figure.paper, figure.figure, figure.caption)
    assert result.verdicts
    for verdict in result.verdicts:
        assert verdict.verdict == "not judged"
        assert "nan" not in verdict.ours
    ends_with_contact = name in ("fig_06", "fig_07", "fig_08", "fig_13", "fig_14")
    if ends_with_contact:
        pairs = point.run_of(FACES).pairs
        assert pairs == [0] * (frames - 1) + [1]


# ---------------------------------------------------------------------- verdicts


@pytest.mark.small
@pytest.mark.parametrize("name", FIG)
def test_nothing_is_judged_that_was_not_measured(name):
    without = result_of(name, lambda value: [run_of("wide_tree", [1.0, 2.0])])
    failed = result_of(name, lambda value: [MethodRun(method, "failed", "x") for method in FIG[name].methods])
    assert_none_is_judged(FIG[name], [without, failed])


@pytest.mark.small
@pytest.mark.parametrize("name", FIG)
def test_quick_and_interrupted_runs_are_not_judged(name):
    def runs(value):
        size = float(value or 1)
        return [run_of(method, [size] * 6 + [2.0 * size] * 6) for method in FIG[name].methods]

    assert set(verdicts(name, runs)) <= set(VERDICTS) - {"not judged"}
    for state in ("quick", "interrupted"):
        assert set(verdicts(name, runs, **{state: True})) == {"not judged"}


@pytest.mark.small
def test_fig_06_is_flat_then_grows_and_ends_highest():
    rising = [1.0] * 10 + [1.5, 2, 2, 3, 4, 4, 5, 6, 7, 8]
    assert verdicts("fig_06", lambda value: [run_of(FACES, rising)]) == ["reproduced"]
    hump = [1.0] * 10 + [9.0] * 9 + [3.0]
    assert verdicts("fig_06", lambda value: [run_of(FACES, hump)]) == ["partly"]
    falling = list(range(40, 0, -2))
    assert verdicts("fig_06", lambda value: [run_of(FACES, falling)]) == ["refuted"]
    (verdict,) = FIG["fig_06"].verdicts(result_of("fig_06", lambda value: [run_of(FACES, rising)]))
    assert "3,968 faces 1 ms, boxes overlap from cycle 11, last cycle 8 ms" in verdict.ours


@pytest.mark.small
def test_fig_07_is_judged_by_the_power_by_the_line_and_by_the_square():
    def made(power, scale=1e-3, square=2.0, work=2.0):
        def runs(value):
            naive = run_of("edge_face", [1e-4 * value**square] * 2, counters=[{"triangle_tests": round(value**work)}] * 2)
            return [run_of(FACES, [1e-3, scale * value**power]), naive]

        return FIG["fig_07"].verdicts(result_of("fig_07", runs))

    assert [made(power)[0].verdict for power in (0.6, 0.8, 0.95, 1.3)] == ["reproduced", "reproduced", "partly", "refuted"]
    # Half a millisecond at 500 faces and a straight line: 100 ms at 100,000 faces.
    line = made(1.0)[1]
    assert line.verdict == "reproduced"
    assert "100,000 faces by the line through its last two points" in line.ours
    assert made(1.0, scale=0.1)[1].verdict == "refuted"  # 100 ms at 1,000 faces
    assert made(0.0)[1].why == "The time does not grow over the last two points."
    assert [made(0.6, square=s, work=w)[2].verdict for s, w in ((2.0, 2.0), (1.2, 2.0), (1.2, 1.2))] == [
        "reproduced", "partly", "refuted"
    ]  # fmt: skip
    assert verdicts("fig_07", lambda value: [run_of(FACES, [1.0, 2.0])], values=(8, 10))[0] == "not judged"


@pytest.mark.small
def test_fig_08_is_judged_by_fifteen_over_two():
    def made(fifteen, naive=1.0, **fields):
        def runs(value):
            return [
                run_of(FACES, [1.0, 1.0 if value == 2 else fifteen]),
                run_of("edge_face", [naive] * 2, **fields),
            ]

        return verdicts("fig_08", runs)

    assert [made(fifteen)[0] for fifteen in (1.9, 5.0, 9.0)] == ["reproduced", "partly", "refuted"]
    assert [made(2.0, naive)[1] for naive in (500.0, 100.0, 10.0)] == ["reproduced", "partly", "refuted"]
    assert made(2.0, 500.0, status="too slow", why="stopped")[1] == "reproduced"
    assert made(2.0, 500.0, status="failed", why="x")[1] == "not judged"


@pytest.mark.small
def test_fig_12_is_judged_by_real_time_and_by_what_collisions_cost():
    def made(without, with_one, **fields):
        times = [without, with_one] * 20
        given = {"pairs": [0, 1] * 20, "contacts": [0, 5] * 20, **fields}
        return verdicts("fig_12", lambda value: [run_of(FACES, times, **given)])

    assert made(0.1, 1.0) == ["reproduced", "reproduced"]
    assert made(0.5, 1.0) == ["reproduced", "partly"]  # more with collisions, but not next to nothing without
    assert made(0.9, 1.0) == ["reproduced", "refuted"]
    assert made(0.1, 150.0)[0] == "partly"
    assert made(0.1, 1.0, missed=1)[0] == "partly"
    assert made(0.1, 150.0, extra=1)[0] == "refuted"
    assert made(0.1, 1.0, pairs=[1] * 40)[1] == "not judged"


@pytest.mark.small
def test_fig_13_is_judged_by_who_is_ahead_from_twenty_on_and_by_powers():
    def made(octree, planes, pairs=lambda count: 1):
        def runs(value):
            k, work = FIG["fig_13"].values.index(value), [{"body_pairs": pairs(value)}] * 2
            return [run_of(FACES, [0.01, octree[k]]), run_of("separating_plane", [planes[k]] * 2, counters=work)]

        return FIG["fig_13"].verdicts(result_of("fig_13", runs))

    printed = PRINTED["fig_13"]
    as_printed = made(printed["face_octree_last_cycle_ms"], printed["separating_plane_ms"])
    assert [each.verdict for each in as_printed] == ["reproduced", "reproduced"]
    assert "ahead with 20, 30, 40 spheres" in as_printed[0].why
    assert "179 µs for each pair of bodies (the paper: 179 µs)" in as_printed[0].why
    assert "separating_plane 1.89" in as_printed[1].ours
    modern = made([1.6, 2.1, 2.2, 4.1], [0.01, 0.035, 0.076, 0.14])
    assert [each.verdict for each in modern] == ["refuted", "reproduced"]
    assert "ahead nowhere" in modern[0].why
    assert made([1, 2, 3, 3.5], [1, 1, 1, 4])[0].verdict == "partly"
    assert made([1, 1.5, 2, 2.2], [1, 2, 3, 4])[1].verdict == "partly"
    assert made([1, 4, 9, 16], [1, 2, 3, 4])[1].verdict == "refuted"
    hidden = made([1, 4, 9, 16], [1, 1.1, 1.2, 1.3], pairs=lambda count: count * (count - 1) // 2)[1]
    assert hidden.verdict == "partly"
    assert "grows with exponent 2.06, but the fixed cost of a call hides it" in hidden.why


@pytest.mark.small
def test_fig_14_is_judged_by_the_last_cycle_and_by_the_cycles_after_the_first_overlap():
    def made(octree, update):
        return FIG["fig_14"].verdicts(result_of("fig_14", lambda v: [run_of(FACES, octree), run_of("octree_update", update)]))[0]

    flat = [1.0] * 8
    much = made(flat + [11.0] * 8, flat + [161.0] * 8)
    assert much.verdict == "reproduced"
    assert "takes 15 times as long (the paper: 14.6)" in much.why
    assert "100% of the 8 cycles from the first overlap in cycle 9 on" in much.why
    assert made(flat + [11.0] * 8, flat + [20.0] * 8).verdict == "partly"
    assert made(flat + [11.0] * 8, flat + [5.0] * 7 + [161.0]).verdict == "partly"
    assert made(flat + [11.0] * 8, flat + [5.0] * 8).verdict == "refuted"
    never = [{"body_pairs": 0}] * 16
    runs = [run_of(FACES, [1.0] * 16, counters=never), run_of("octree_update", [1.0] * 16)]
    assert FIG["fig_14"].verdicts(result_of("fig_14", lambda value: runs))[0].why == "Boxes never overlapped."


@pytest.mark.small
def test_fig_18_is_judged_by_cycles_with_and_without_collisions():
    def made(own, rival, few=None):
        """Times without and with a collision, of both; `few` those of the rival at 168 faces."""

        def runs(value):
            hits = {"pairs": [0, 1] * 20, "contacts": [0, 5] * 20}
            theirs = few if few is not None and value == 168 else rival
            pairs = {**hits, "contacts": [0] * 40, "compared": "body pairs"}
            return [run_of(FACES, list(own) * 20, **hits), run_of("closest_features", list(theirs) * 20, **pairs)]

        return verdicts("fig_16_17_18", runs)

    assert made((1.0, 2.0), (0.1, 6.0), few=(0.1, 2.5)) == ["reproduced"] * 3
    assert made((1.0, 2.0), (0.1, 1.0)) == ["refuted", "reproduced", "partly"]
    assert made((1.0, 2.0), (2.0, 6.0))[1] == "partly"  # more with collisions, but never ahead
    assert made((1.0, 2.0), (3.0, 3.0)) == ["reproduced", "refuted", "reproduced"]
    assert made((1.0, 2.0), (0.1, 0.1)) == ["refuted", "partly", "refuted"]
    assert made((1.0, 2.0), (0.1, 6.0), few=(0.1, 1.5))[0] == "partly"


@pytest.mark.small
def test_the_number_of_bodies_is_judged_by_powers():
    def growing(grid, none):
        def runs(value):
            times = {
                FACES: value**grid,
                "face_octree(broad=None)": 3.0 * value**none,
                "face_octree(broad='brute_force')": value**1.5,
            }
            return [run_of(method, [1e-3 * time] * 4) for method, time in times.items()]

        return runs

    assert verdicts("bodies", growing(1.0, 1.1)) == ["reproduced"]
    assert verdicts("bodies", growing(1.0, 1.6)) == ["partly"]
    assert verdicts("bodies", growing(1.7, 1.6)) == ["refuted"]
    (verdict,) = FIG["bodies"].verdicts(result_of("bodies", growing(1.0, 1.1)))
    assert "1.00 with a grid of boxes, 1.10 without boxes" in verdict.why
    assert "% more at 2,000 bodies" in verdict.why

"""The figures of Lock and Wills: what is printed, maps and shells of chosen sizes, that each runs, and how verdicts follow."""

import dataclasses
from importlib import resources

import numpy as np
import pytest

from jostle import Voxmap, scenes
from jostle.errors import InputError
from jostle.lab.catalogue import experiments_named
from jostle.lab.papers import PAPERS
from jostle.lab.papers.voxmap import (
    FIGURES,
    WITHOUT_A_FIGURE,
    fig_11_voxels,
    fig_12_shell_points,
    fig_13_fixed_and_varied,
    half_accuracy,
    two_cores,
)
from jostle.lab.papers.voxmap import fig_14_bodies as fig_14
from jostle.lab.papers.voxmap.fig_07_colliding import EVERY_POINT
from jostle.lab.papers.voxmap.pair import pair_mesh
from jostle.lab.papers.voxmap.pictures import draw_collisions
from jostle.lab.papers.voxmap.printed import MODERN, OURS, PRINTED
from jostle.lab.papers.voxmap.sized import paper_look_up
from jostle.lab.papers.voxmap.steady import YARDSTICK, line_through, middle_slope, smoothed
from jostle.lab.results import MethodRun
from jostle.lab.run import LabRun
from jostle.lab.sized_voxmap import voxel_for, voxels_of
from jostle.lab.truth import BODY_PAIRS
from tests.lab.papers.made_up import assert_none_is_judged, assert_only_whole_runs_are_judged, made_up_result, made_up_run

FIG = {figure.name.removeprefix("voxmap/"): figure for figure in FIGURES + WITHOUT_A_FIGURE}
FIXED, VARIED = fig_13_fixed_and_varied.FIXED, fig_13_fixed_and_varied.VARIED


def run_of(method, time, contacts=(0, 0, 5, 0), tests=100, look_ups=1000, **fields):
    """A run of four frames of so many milliseconds each."""
    times = [time] * 4
    made = {
        "contacts": list(contacts),
        "pairs": [int(hits > 0) for hits in contacts],
        "counters": [{"box_tests": tests, "look_ups": look_ups}] * 4,
        "compared": BODY_PAIRS,
    }
    return made_up_run(method, times, **{**made, **fields})


def judged(name, time_of, values=None, pace=lambda value: 1.0, **fields):
    """The verdicts where `time_of(method, value)` are milliseconds, None for a method that did not serve.

    `pace(value)` is how much slower the machine was at a value, for all methods and for the yardstick.
    """

    def runs(value):
        times = {method: 1.0 if method == YARDSTICK else time_of(method, value) for method in FIG[name].methods}
        times = {method: None if time is None else pace(value) * time for method, time in times.items()}
        return [MethodRun(m, "too slow", "x") if time is None else run_of(m, time, **fields) for m, time in times.items()]

    return FIG[name].verdicts(made_up_result(FIG[name], runs, values))


# ---------------------------------------------------------------------- what is printed, and what is run


@pytest.mark.small
def test_every_number_comes_from_the_data_file_and_has_its_place():
    assert all("place" in table for table in PRINTED.values())
    text = resources.files("jostle.lab.papers.voxmap").joinpath("printed.toml").read_text(encoding="utf-8")
    assert "lock2000" in text
    table = PRINTED["fig_12"]
    assert len(table["points"]) == len(table["rate_hz"]) == len(table["look_up_ms"]) == 12
    for points, rate, time in zip(table["points"], table["rate_hz"], table["look_up_ms"], strict=True):
        assert 1e3 / rate / points == pytest.approx(time, rel=0.03)  # the table's columns say the same
    assert pytest.approx(0.035 / 0.026) == fig_12_shell_points.SPREAD


@pytest.mark.small
def test_figures_are_found_by_name_and_say_what_they_are():
    (paper,) = [paper for paper in PAPERS if paper.name == "voxmap"]
    assert paper.figures == experiments_named("voxmap") == FIGURES + WITHOUT_A_FIGURE
    assert experiments_named("fig_11") == experiments_named("voxmap/fig_11") == (FIG["fig_11"],)
    with pytest.raises(InputError, match=r"face_octree/fig_14, voxmap/fig_14"):
        experiments_named("fig_14")
    for figure in FIG.values():
        assert figure.paper == "lock2000"
        assert figure.figure
        assert figure.caption
        assert figure.about
        for value in figure.values:
            assert [each.label for each in figure.methods_at(value)] == list(figure.methods)


@pytest.mark.small
def test_the_samples_are_those_of_the_paper():
    assert len(fig_11_voxels.VOXELS) == 12
    assert fig_11_voxels.VOXELS[0] == pytest.approx(20, rel=0.15)
    assert fig_11_voxels.VOXELS[-1] == pytest.approx(200_000, rel=0.01)
    assert FIG["fig_12"].values[:12] == tuple(PRINTED["fig_12"]["points"])
    assert (len(fig_14.COUNTS), fig_14.COUNTS[0], fig_14.COUNTS[-1]) == (10, 2, 256)
    assert FIG["fig_14"].values[-1] == 16384
    pruners = [each.method.broad for each in FIG["fig_14"].methods_at(64)[:-1]]
    assert pruners[:4] == [None, "bounding_spheres", "fast_aabb", "coherent_aabb"]
    assert pruners[4].startswith("priority_queue(speed=")
    assert pruners[5:] == ["uniform_grid", "uniform_grid"]
    papers, ours = FIG["fig_14"].methods_at(64)[:6], FIG["fig_14"].methods_at(64)[6]
    assert {(each.method.grouped, each.method.depth, each.method.as_printed, each.method.accuracy) for each in papers} == {
        (False, False, True, 1.0)
    }
    assert (ours.method.grouped, ours.method.depth, ours.method.as_printed) == (True, True, False)
    assert [each.workers for each in FIG["two_cores"].methods_at("64 bodies")] == [1, 2]


@pytest.mark.small
def test_many_bodies_have_fewer_frames(monkeypatch):
    monkeypatch.setattr(fig_14, "BODY_FRAMES", 100)
    wanted = {2: 30, 5: 20, 20: fig_14.FEWEST_FRAMES}
    assert {count: len(fig_14.Crowd(count).record(30)) for count in wanted} == wanted
    assert len(fig_14.Crowd(20).record(3)) == 3


@pytest.mark.small
def test_no_centre_moves_faster_than_the_queue_is_told():
    motion = scenes.make_scene("polytopes", count=12).record(60)
    corners = motion.meshes[0].vertices
    apart = np.linalg.norm(corners[:, None] - corners[None, :], axis=2)
    a, b = np.unravel_index(apart.argmax(), apart.shape)
    middle = 0.5 * (corners[a] + corners[b])
    places = motion.poses[:, :, :3, :3] @ middle + motion.poses[:, :, :3, 3]
    fastest = np.linalg.norm(np.diff(places, axis=0), axis=2).max()
    assert 0.6 * fig_14.largest_speed(12) < fastest < fig_14.largest_speed(12)


# ---------------------------------------------------------------------- maps and shells of chosen sizes


@pytest.mark.small
def test_an_edge_is_found_for_any_number_of_voxels():
    mesh = pair_mesh()
    assert [voxels_of(mesh, voxel_for(mesh, count)) for count in (1, 8, 12_672)] == [1, 8, 12_650]
    for voxels in fig_11_voxels.VOXELS:
        assert voxels_of(mesh, voxel_for(mesh, voxels)) == voxels


def test_maps_and_shells_have_the_sizes_that_were_asked_for():
    mesh = pair_mesh()
    for voxels in fig_11_voxels.VOXELS[::3]:
        shape = paper_look_up("x", map_voxels=voxels).method.prepare_shape(mesh)
        assert shape.cells.prod() == voxels
    for points in (25, 384, 9337):
        fixed = paper_look_up("x", shell_points=points, map_voxels=12_672).method.prepare_shape(mesh)
        varied = paper_look_up("x", shell_points=points).method.prepare_shape(mesh)
        assert len(fixed.points) == len(varied.points) == len(np.unique(fixed.points, axis=0)) == points
        assert np.array_equal(fixed.points, varied.points)
        assert fixed.cells.prod() == 12_650 != varied.cells.prod()
        # They are spread over the whole of the surface.
        extent = np.ptp(mesh.bounds, axis=0)
        assert (np.ptp(fixed.points, axis=0) > (0.7 if points > 100 else 0.3) * extent).all()


def test_every_point_of_every_pair_is_looked_up_and_hits_what_the_method_hits():
    motion = scenes.make_scene("polytopes", count=12, fill=0.05, speed=0.4).record(40)
    paper = paper_look_up("x", accuracy=2.0).method
    worlds = [motion.world(method) for method in (paper, Voxmap(accuracy=2.0, depth=False))]
    points = len(paper.prepare_shape(motion.meshes[0]).points)
    hits = 0
    for frame in range(len(motion)):
        for world in worlds:
            motion.apply(world, frame)
        one, other = (world.detect() for world in worlds)
        assert one.counters.look_ups == 66 * 8 * -(-points // 8)
        assert other.counters.look_ups < one.counters.look_ups
        for column in ("body_a", "body_b", "segment"):
            assert np.array_equal(getattr(one.contacts, column), getattr(other.contacts, column))
        hits += len(one.contacts)
    assert hits > 50


# ---------------------------------------------------------------------- each figure, quickly


@pytest.mark.parametrize("name", FIG)
def test_every_figure_runs_quickly_and_misses_nothing_much(name, in_this_process):
    figure = FIG[name]
    frames = 12 if name == "fig_07" else 6
    value = 40 if name == "fig_14" else figure.quick_values[-1]  # so many that all pruners have something to let through
    small = dataclasses.replace(figure, quick_values=(value,), quick_frames=frames)
    result = LabRun(small, quick=True, rounds=1).run()
    (point,) = result.points
    assert point.frames == frames
    for run in point.runs:
        assert (run.status, run.why) == ("ok", ""), run.method
        assert len(run.frame_seconds) == frames
        assert run.compared == ("faces" if run.method == MODERN else BODY_PAIRS)
        assert run.total("look_ups") > 0 or run.method in (MODERN, OURS)  # groups of points are passed over
    # The same motion and the same accuracy: the same hits, whatever prunes; ours has points beside voxels with feet inside, too.
    runs = {run.method: run.contacts for run in point.runs if run.method not in (MODERN, YARDSTICK)}
    ours = runs.pop(OURS, None)
    assert len(set(map(tuple, runs.values()))) <= 1
    for contacts in runs.values() if ours else ():
        assert all(mine >= paper for mine, paper in zip(ours, contacts, strict=True))
    if name == "fig_07":
        assert max(point.runs[0].contacts) > 10
    if name == "fig_14":
        work = {run.method: run.total("look_ups") for run in point.runs}
        assert work[fig_14.ALL_PAIRS] > 4 * work[fig_14.SPHERES] == 4 * work[fig_14.QUEUE]
        assert work[fig_14.FAST] == work[fig_14.COHERENT] == work[fig_14.GRID]
    assert (result.paper, result.figure, result.caption) == (figure.paper, figure.figure, figure.caption)
    assert result.verdicts
    for verdict in result.verdicts:
        assert verdict.verdict == "not judged"
        assert "nan" not in verdict.ours


def test_pictures_show_both_kinds_of_bodies_at_three_moments(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr("jostle.lab.papers.voxmap.pictures.save_picture", lambda *given, **named: drawn.append((given, named)))
    files = draw_collisions(tmp_path)
    assert [file.stem.split("_", 2)[2] for file in files] == [
        f"{kind}_{moment}" for kind in ("stellated_dodecahedra", "icosahedra") for moment in ("before", "during", "after")
    ]
    for number, ((_, meshes, poses), named) in enumerate(drawn):
        during = number % 3 == 1
        assert len(meshes) == len(poses) == len(named["colours"]) == (4 if during else 3)
        assert named["caption"].split(": ")[1].startswith("0 of") is not during
    hits = drawn[1][0][1][3]
    # Red points are inside the body of voxels, or nearly.
    placed = drawn[1][0][2][2]
    inside = np.linalg.norm((hits.vertices - placed[:3, 3]) @ placed[:3, :3], axis=1)
    assert inside.max() < 1.1


# ---------------------------------------------------------------------- verdicts


@pytest.mark.small
@pytest.mark.parametrize("name", FIG)
def test_nothing_is_judged_that_was_not_measured(name):
    failed = made_up_result(FIG[name], lambda value: [MethodRun(method, "failed", "x") for method in FIG[name].methods])
    without = made_up_result(FIG[name], lambda value: [run_of(MODERN, 1.0)])
    assert_none_is_judged(FIG[name], [failed, without])


@pytest.mark.small
@pytest.mark.parametrize("name", FIG)
def test_quick_and_interrupted_runs_are_not_judged(name):
    assert_only_whole_runs_are_judged(FIG[name], lambda value: [run_of(method, 1.0) for method in FIG[name].methods])


@pytest.mark.small
def test_fig_07_wants_hits_only_while_bodies_collide():
    def made(contacts, **fields):
        return judged("fig_07", lambda method, value: 1.0, contacts=contacts, **fields)[0]

    seen = made((0, 0, 7, 0))
    assert seen.verdict == "reproduced"
    assert "icosahedra: 0 hits in frames 0 to 1, 7 in frame 2 (hits in frames 2 to 2), 0 until the last frame, 3" in seen.ours
    assert made((0, 0, 7, 0), missed=1).verdict == "partly"
    assert made((0, 0, 0, 0)).verdict == "refuted"
    assert made((0, 0, 7, 1)).verdict == "refuted"


@pytest.mark.small
def test_fig_11_is_judged_by_the_power_of_accuracy():
    def made(power, start=0.06, at=lambda voxels: 1.0, **fields):
        (verdict,) = judged("fig_11", lambda method, voxels: (start + 1e-5 * voxels ** (power / 3.0)) * at(voxels), **fields)
        return verdict

    assert made(1.0, start=0.0).verdict == "reproduced"
    square = made(2.0)
    assert square.verdict == "partly"
    assert "exponent 2.0" in square.why
    assert "fixed cost of a frame, 60" in square.why
    assert made(-1.0, start=0.0).verdict == "refuted"
    flat = made(0.0)
    assert flat.verdict == "refuted"
    assert "does not grow with the accuracy" in flat.why
    assert "nan" not in flat.why
    # A sample that its neighbours contradict, and a machine that is slower for a while, are no findings.
    large = [voxels for voxels in FIG["fig_11"].values if voxels >= fig_11_voxels.LARGE]
    for noisy in large[1:-1]:
        assert made(2.0, at=lambda voxels, noisy=noisy: 1.6 if voxels == noisy else 1.0).verdict == "partly"
        busy = made(2.0, pace=lambda voxels, noisy=noisy: 2.0 if voxels <= noisy else 1.0)
        assert (busy.verdict, "exponent 2.0" in busy.why) == ("partly", True)
    assert made(2.0, at=lambda voxels: 1.0 if voxels < large[3] else 0.2).verdict == "refuted"  # a map that is faster, and stays so


@pytest.mark.small
def test_fig_12_is_judged_by_what_each_further_point_costs():
    def made(time_of):
        return judged("fig_12", lambda method, points: time_of(points))

    constant, thousand = made(lambda points: 0.05 + 1e-5 * points)
    assert (constant.verdict, thousand.verdict) == ("reproduced", "reproduced")
    assert "is 50 µs a frame and 10 ns a point" in constant.why
    assert "costs 1.00 times the cheapest" in constant.why
    assert "10 ns at 50,000" in constant.ours
    assert "25 points 19,900 Hz, 0.002 ms" in constant.ours
    assert "618.4 Hz at 25" in constant.printed
    assert made(lambda points: 0.05 + 1e-5 * points * (1.0 + 0.8 * (points > 200_000)))[0].verdict == "partly"
    assert made(lambda points: 0.05 + 1e-5 * points * (1.0 + 3.0 * (points > 200_000)))[0].verdict == "refuted"
    assert made(lambda points: 0.05 + 1e-5 * points * (1.0 + 3.0 * (points < 200_000)))[0].verdict == "refuted"
    for power in (0.5, 1.5, 2.0):
        for start in (0.0, 0.05):
            assert made(lambda points, p=power, a=start: a + 1e-5 * points**p)[0].verdict == "refuted"
    assert made(lambda points: 0.05)[0].verdict == "refuted"  # all of a frame is its own cost: nothing is known of points
    assert made(lambda points: points)[1].verdict == "refuted"
    assert fig_12_shell_points.EXPERIMENT.printed[EVERY_POINT][25.0] == pytest.approx(1e3 / 618.4)


@pytest.mark.small
def test_fig_12_is_not_refuted_by_one_sample_nor_by_a_busy_machine():
    def made(at=lambda points: 1.0, **fields):
        return judged("fig_12", lambda method, points: (0.05 + 1.6e-6 * points) * at(points), **fields)[0]

    shells = FIG["fig_12"].values
    for noisy in shells[:-1]:
        if noisy != fig_12_shell_points.BEYOND[0]:  # the ends of what is compared have one neighbour only
            assert made(lambda points, noisy=noisy: 2.0 if points == noisy else 1.0).verdict == "reproduced", noisy
    for slow in shells:
        busy = {"pace": lambda points, slow=slow: 2.2 if points <= slow else 1.0}
        assert made(**busy).verdict == "reproduced"
    assert made(lambda points: 3.0 if points > 100_000 else 1.0).verdict == "refuted"  # that the yardstick did not see
    rng = np.random.default_rng(3)
    noise = dict(zip(shells, rng.uniform(0.94, 1.06, len(shells)), strict=True))
    assert made(noise.get).verdict == "reproduced"


@pytest.mark.small
def test_frames_that_others_held_up_do_not_count():
    def runs(points):
        time = 0.05 + 1.6e-6 * points
        held_up = [time] * 4 + [time + 4.0 * (points == 1_000_000)] * 6
        made = [made_up_run(method, held_up, [0] * 10, [0] * 10, [{}] * 10) for method in FIG["fig_12"].methods]
        made[-1].frame_seconds = [1e-3] * 10
        return made

    constant, _ = FIG["fig_12"].verdicts(made_up_result(FIG["fig_12"], runs))
    assert constant.verdict == "reproduced"
    assert "1.6 ns a point" in constant.why


@pytest.mark.small
def test_lines_and_slopes_do_not_mind_outliers():
    true = {float(x): 3.0 + 0.5 * x for x in (1, 2, 5, 10, 100, 1000)}
    assert line_through(true) == pytest.approx((3.0, 0.5))
    assert line_through(true | {10.0: 40.0, 2.0: 1.0}) == pytest.approx((3.0, 0.5))
    assert line_through({1.0: 1.0, 2.0: 4.0, 3.0: 9.0})[0] == 0.0  # never below 0
    assert line_through({}) == (0.0, 0.0)
    assert smoothed([1.0, 9.0, 2.0, 3.0, 3.0]) == [1.0, 2.0, 3.0, 3.0, 3.0]
    assert [smoothed(row) for row in ([], [1.0], [2.0, 1.0])] == [[], [1.0], [2.0, 1.0]]
    x = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
    assert middle_slope(x, [a**1.5 for a in x]) == pytest.approx(1.5)
    assert middle_slope(x, [a**1.5 * (9.0 if a == 4.0 else 1.0) for a in x]) == pytest.approx(1.5)
    assert np.isnan(middle_slope([1.0, 2.0], [0.0, 1.0]))


@pytest.mark.small
def test_fig_13_is_judged_by_how_far_apart_the_two_are():
    def made(ratio):
        return judged("fig_13", lambda method, points: ratio(points) if method == VARIED else 1.0)[0]

    assert made(lambda points: 1.2).verdict == "reproduced"
    far = made(lambda points: 1.1 if points < 1e5 else 3.0)
    assert far.verdict == "partly"
    assert "for 8 of 10 shells" in far.why
    assert "3.00 times as long" in far.why
    assert made(lambda points: 0.5).verdict == "refuted"


@pytest.mark.small
def test_fig_14_is_judged_claim_by_claim():
    def made(**changes):
        def time_of(method, count):
            usual = {
                fig_14.ALL_PAIRS: 0.01 * count**2, fig_14.SPHERES: 0.0001 * count**2, fig_14.FAST: 0.003 * count,
                fig_14.COHERENT: 0.004 * count, fig_14.QUEUE: 0.0001 * count, fig_14.GRID: 0.001 * count, OURS: 0.0005 * count,
                MODERN: 0.0004 * count,
            }  # fmt: skip
            return changes[method](count) if method in changes else usual[method]

        # Names of pruners have spaces; they are handed over with underscores.
        changes = {method.replace("_", " "): time for method, time in changes.items()}
        return judged("fig_14", time_of)

    def verdicts(**changes):
        return [each.verdict for each in made(**changes)]

    magnitude, crossing, queue, coherence, interactive = made()
    assert magnitude.verdict == "partly"  # two bodies gain little by boxes
    assert "bounding spheres 1e+02 times at 8" in magnitude.why
    assert crossing.verdict == "reproduced"
    assert queue.verdict == coherence.verdict == interactive.verdict == "reproduced"
    assert "exponent 1.00" in queue.why
    assert "1.33 times as long as fast boxes" in coherence.why
    assert "bounding spheres: 256 bodies" in interactive.ours
    assert verdicts(fast_boxes=lambda n: 0.0001 * n**2, all_pairs=lambda n: 0.1 * n**2)[:2] == ["reproduced", "refuted"]
    assert verdicts(bounding_spheres=lambda n: 1.0 * n**2, fast_boxes=lambda n: 1.0 * n**2)[0] == "refuted"
    assert verdicts(priority_queue=lambda n: 0.4 * n)[2] == "partly"
    assert verdicts(priority_queue=lambda n: 5.0 * n)[2] == "refuted"
    assert verdicts(coherent_boxes=lambda n: 0.002 * n)[3] == "refuted"
    assert verdicts(coherent_boxes=lambda n: 0.002 * n if n > 1000 else 0.004 * n)[3] == "partly"
    slow = {"bounding_spheres": 10.0, "fast_boxes": 10.0, "coherent_boxes": 10.0, "priority_queue": 10.0}
    assert verdicts(**{method: lambda n, ms=ms: ms * n for method, ms in slow.items()})[4] == "refuted"
    # Who drops out where the paper has no samples is judged all the same; who drops out before is not.
    assert "not judged" not in verdicts(all_pairs=lambda n: 0.01 * n**2 if n <= 256 else None)
    missing = made(all_pairs=lambda n: 0.01 * n**2 if n <= 64 else None)[0]
    assert (missing.verdict, missing.why) == ("not judged", "Not run: all pairs at 256 bodies.")


@pytest.mark.small
def test_who_is_ahead_in_fig_14_is_judged_frame_by_frame():
    def runs(count):
        made = [run_of(method, 1.0) for method in FIG["fig_14"].methods]
        coherent = made[FIG["fig_14"].methods.index(fig_14.COHERENT)]
        coherent.frame_seconds = [1.1e-3, 1.1e-3, 1.1e-3, 0.1e-3]  # slower in three frames of four, though not on average
        return made

    result = made_up_result(FIG["fig_14"], runs)
    assert fig_14.time_ratio(result, 64, fig_14.COHERENT, fig_14.FAST) == pytest.approx(1.1)
    assert FIG["fig_14"].verdicts(result)[3].verdict == "reproduced"


@pytest.mark.small
def test_half_the_accuracy_is_judged_behind_fast_boxes_at_one_unit():
    def made(fast, others=lambda accuracy: 1.0):
        def time_of(method, accuracy):
            return (fast if method == half_accuracy.FAST else others)(accuracy)

        return judged("half_accuracy", time_of)[0]

    half = made(lambda accuracy: accuracy**-2.0)
    assert half.verdict == "reproduced"
    assert "fast boxes: 4.00 times from 0.25 to 0.5" in half.why
    assert made(lambda accuracy: 1.0, lambda accuracy: accuracy**-2.0).verdict == "partly"
    assert made(lambda accuracy: accuracy**-0.5).verdict == "refuted"
    assert half_accuracy.gains_of({1.0: 8.0, 4.0: 1.0}) == {}


@pytest.mark.small
def test_two_cores_are_judged_by_the_best_gain():
    def made(gain):
        return judged("two_cores", lambda method, value: 1.0 if method == two_cores.ONE else 1.0 / gain(value))[0]

    best = made(lambda value: 1.9 if value == "64 bodies" else 0.8)
    assert best.verdict == "reproduced"
    assert "1.90 times as fast for 64 bodies" in best.why
    assert made(lambda value: 1.3).verdict == "partly"
    assert made(lambda value: 1.0).verdict == "refuted"
    runs = {two_cores.ONE: 1.0, two_cores.TWO: 0.6}
    for machine, why in (
        ({"load_average": [4.0, 3.0, 2.0]}, "load 4.0"),
        ({"usable_cores": 1}, "only one core"),
        ({"usable_cores": 2}, ""),
    ):
        result = made_up_result(FIG["two_cores"], lambda value: [run_of(m, time) for m, time in runs.items()], machine=machine)
        (verdict,) = FIG["two_cores"].verdicts(result)
        assert verdict.verdict == ("not judged" if why else "reproduced")
        assert why in verdict.why

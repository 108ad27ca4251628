"""Limits that an experiment sets: enough frames of a slow method, who is not asked again, threads, methods of its own."""

import base64
import dataclasses
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from jostle import InputError, WideTree
from jostle.lab import measure, plots, replay
from jostle.lab.experiment import Experiment, RecordedMotion
from jostle.lab.methods import NamedMethod, methods_of
from jostle.lab.page import write_page
from jostle.lab.plots import draw_experiment
from jostle.lab.replay import Replayer
from jostle.lab.results import ExperimentResult, Point
from jostle.lab.run import LabRun
from jostle.lab.truth import Truth
from tests.lab import fakes
from tests.lab.in_this_process import InThisProcess
from tests.lab.papers.made_up import made_up_run


class Clock:
    """A clock that only goes on when somebody sleeps."""

    now = 0.0

    @classmethod
    def read(cls):
        return cls.now


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(measure, "ServerProcess", InThisProcess)
    monkeypatch.setattr(measure, "time", SimpleNamespace(monotonic=Clock.read))
    monkeypatch.setattr(replay, "time", SimpleNamespace(perf_counter=Clock.read))


@dataclass(frozen=True)
class Sleepy(WideTree):
    """Takes so many seconds for a frame, by that clock."""

    seconds: float = 0.0

    def start(self, bodies, shapes):
        return fakes.Wrapped(self, super().start(bodies, shapes))

    def before(self, call):
        Clock.now += self.seconds

    def after(self, report):
        return report


def experiment(seconds_of, **fields):
    made = {
        "sleepy": lambda value: NamedMethod("sleepy", Sleepy(seconds=seconds_of(value))),
        "quick": lambda value: NamedMethod("quick", Sleepy()),
    }
    scene = RecordedMotion(fakes.toy_motion(20))
    given = {"values": (1, 2, 3), "quick_values": (1,), "frames": 20, "parameter": "x", "made": made, **fields}
    return Experiment("toy", "", "", lambda value, quick: scene, ("quick", "sleepy"), **given)


def test_a_slow_method_stands_with_the_frames_that_it_had_time_for(in_this_process, monkeypatch):
    monkeypatch.setattr(measure, "TURN_SECONDS", 0.1)
    slow = experiment(lambda value: 0.04, values=(1,), limit=0.5, enough=3, rounds=1)
    quick, sleepy = LabRun(slow).run().points[0].runs
    assert (quick.status, quick.why, len(quick.frame_seconds)) == ("ok", "", 20)
    assert sleepy.served
    assert len(sleepy.frame_seconds) == 12  # and one before the clock begins
    assert sleepy.why == "timed over the first 12 of 20 frames"
    assert len(sleepy.contacts) == len(sleepy.frame_seconds)
    assert sleepy.agrees
    assert LabRun(dataclasses.replace(slow, enough=None)).run().points[0].runs[1].status == "too slow"


def test_who_is_too_slow_is_not_asked_again(in_this_process):
    growing = experiment(lambda value: 0.002 * value, slowest=0.003, rounds=1, frames=5)
    points = LabRun(growing).run().points
    assert [point.run_of("sleepy").status for point in points] == ["ok", "ok", "too slow"]
    assert points[2].run_of("sleepy").why == "skipped: with fewer it needed more than 0.003 s for a frame"
    assert [point.run_of("quick").status for point in points] == ["ok"] * 3
    patient = LabRun(dataclasses.replace(growing, slowest=None)).run().points
    assert [point.run_of("sleepy").status for point in patient] == ["ok"] * 3


def test_rounds_and_limits_of_an_experiment_give_way_to_those_of_a_user(in_this_process):
    toy = experiment(lambda value: 0.0, values=(1,), rounds=3, frames=2)
    assert [run.rounds for run in LabRun(toy).run().points[0].runs] == [3, 3]
    assert [run.rounds for run in LabRun(toy, rounds=1).run().points[0].runs] == [1, 1]
    assert [run.rounds for run in LabRun(toy, quick=True).run().points[0].runs] == [2, 2]
    chosen = LabRun(toy, methods=methods_of("brute_force"), rounds=1).run()
    assert chosen.methods == ["brute_force"]


@pytest.mark.small
def test_threads_stand_among_the_settings_of_a_method():
    one, two = methods_of("wide_tree, wide_tree(workers=2)")
    assert (one.label, one.workers, two.label, two.workers) == ("wide_tree", 1, "wide_tree(workers=2)", 2)
    assert one.method == two.method
    for wrong in ("0", "many", "1.5"):
        with pytest.raises(InputError, match="workers"):
            methods_of(f"wide_tree(workers={wrong})")


def test_a_world_gets_the_threads_of_its_method(tmp_path):
    fakes.toy_motion().save(tmp_path / "m.npz")
    for named in methods_of("wide_tree, wide_tree(workers=2)"):
        replayer = Replayer(named.method, named.options, named.workers)
        replayer.load(str(tmp_path / "m.npz"))
        assert replayer.prepare().status == "ok"
        assert replayer._world.workers == named.workers


def test_the_way_back_to_the_first_frame_is_a_jump(tmp_path):
    motion = fakes.toy_motion(9)
    motion.save(tmp_path / "m.npz")
    replayer = Replayer(methods_of("wide_tree")[0].method)
    replayer.load(str(tmp_path / "m.npz"))
    replayer.prepare()
    seen = []
    detect = replayer._world.detect

    def watch(**options):
        frame = replayer._world._frame()
        seen.append((frame.poses != frame.poses_t0).any())
        return detect(**options)

    replayer._world.detect = watch
    for _ in range(2):
        seen.clear()
        reply = replayer("replay", 0, 10.0, False)
        assert (reply.status, len(reply.totals)) == ("ok", 9)
        assert not any(seen[: len(seen) - 8])
        assert all(seen[-8:])


# ---------------------------------------------------------------------- drawings


def swept(**fields):
    def run(method, ms, look_ups):
        return made_up_run(method, [ms] * 4, [0] * 4, [0] * 4, [{"look_ups": look_ups}] * 4, compared="body pairs")

    points = [Point(value, 2, 72, 4, [run("all pairs", 0.1 * value, value), run("none", 0.1, 0)]) for value in (10, 100, 1000)]
    return ExperimentResult("toy", "A toy", "points", points, **fields)


def test_update_rates_are_drawn_in_hertz_with_what_is_printed(tmp_path):
    result = swept(draw=["update rate", "time per look-up"], printed={"all pairs": [[10, 20.0], [100, 50.0], [300, 100.0]]})
    with plots._own_settings():
        figures = dict(plots._figures(result))
    assert list(figures)[:2] == ["update_rate", "time_per_look_up"]
    rates, others, printed = figures["update_rate"].axes[0].get_lines()
    assert rates.get_ydata() == pytest.approx([1000.0, 100.0, 10.0])
    assert others.get_ydata() == pytest.approx([1e4] * 3)
    assert (list(printed.get_xdata()), printed.get_ydata()) == ([10, 100, 300], pytest.approx([50.0, 20.0, 10.0]))
    (per_look_up,) = figures["time_per_look_up"].axes[0].get_lines()
    assert per_look_up.get_ydata() == pytest.approx([1e5] * 3)
    written = draw_experiment(result, tmp_path)
    assert {"update_rate.svg", "time_per_look_up.png"} <= {path.name for path in written}


def test_what_is_measured_for_the_judge_alone_is_not_drawn():
    with plots._own_settings():
        figures = dict(plots._figures(swept(draw=["update rate"], aside=["none"])))
    (rates,) = figures["update_rate"].axes[0].get_lines()
    assert rates.get_ydata() == pytest.approx([1000.0, 100.0, 10.0])


def test_pictures_of_an_experiment_are_on_the_page(tmp_path):
    result = swept(draw=["update rate"])
    folder = tmp_path / result.name
    draw_experiment(result, folder)
    (folder / "picture_2_two_spheres_during.png").write_bytes(b"not quite a picture")
    page = write_page([result], tmp_path).read_text(encoding="utf-8")
    assert "Two spheres during." in page
    assert base64.b64encode(b"not quite a picture").decode() in page


def test_where_no_body_fits_into_another_the_truth_of_surfaces_is_that_of_solids():
    motion = fakes.toy_motion()
    assert [Truth(motion, may_be_inside=inside).rows(0, solid=True)[:, :2].tolist() for inside in (True, False)] == [[[0, 1]], []]

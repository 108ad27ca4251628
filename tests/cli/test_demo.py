"""`jostle demo`: every method runs on bodies it supports, its row shows the results, and the viewer opens."""

import contextlib
import io
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import jostle
from jostle.cli.app import app
from jostle.cli.tour import experiment, measuring, table, viewer
from jostle.cli.warmups import TOUR_ENTRIES
from jostle.errors import JostleError
from jostle.kernels.jit import JIT_DISABLED
from jostle.kernels.warmup import WARMUPS
from jostle.lab import measure
from jostle.lab.results import MethodRun
from jostle.lab.truth import Truth, question_for
from jostle.registry import METHODS
from jostle.scenes import make_scene
from tests.lab.in_this_process import InThisProcess

FRAMES = 3


class Compiling:
    """Stands for the processes that compile; an entry ends whenever one is asked for."""

    fails = ()

    def __init__(self, modules, entries):
        self.names, self.outcomes, self.compiled, self.events = list(entries), [], 0, []

    left = property(lambda self: len(self.outcomes) < len(self.names))
    ended = property(lambda self: len(self.outcomes))

    def next_outcome(self, seconds):
        if not seconds or not self.left:
            return None
        name = self.names[len(self.outcomes)]
        self.outcomes.append((name, 1.0, "Unsupported: on purpose" if name in self.fails else None))
        self.events.append(name)
        return self.outcomes[-1]

    def kept_off(self, processors):
        return contextlib.nullcontext()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(measure, "ServerProcess", InThisProcess)
    monkeypatch.setattr(measuring, "ROUNDS", 1)
    monkeypatch.setattr(measuring, "WarmUp", Compiling)
    monkeypatch.setattr("jostle.lab.plots._figures", lambda result: iter(()))  # they have tests of their own, and take long


def words_of(console_output):
    return " ".join(console_output.split())


def test_the_tour_goes_through_every_method_and_writes_its_page(in_this_process, tmp_path):
    from jostle.lab.files import read_results

    done = CliRunner().invoke(app, ["demo", "--frames", str(FRAMES), "--out", str(tmp_path), "--no-viewer"])
    assert done.exit_code == 0, (done.output, done.exception)
    (result,) = read_results(tmp_path)
    runs = {run.method: (point.value, run) for point in result.points for run in point.runs}
    assert sorted(runs) == sorted(METHODS)
    for name, (value, run) in runs.items():
        assert run.served, (name, run.why)
        assert value == experiment.bodies_for(METHODS[name]())
        assert sum(run.pairs) > 0
        assert run.keeps_guarantee is not False, name
    lines = [line.split() for line in done.output.splitlines()]
    rows = [words[0] for words in lines if words and words[0] in METHODS]
    assert rows[0] == "plain"
    assert sorted(rows) == sorted(METHODS)
    assert [point.value for point in result.points] == list(experiment.GIVEN)
    for point in result.points:
        assert [run.method for run in point.runs] == [name for name in METHODS if runs[name][0] == point.value]
    assert runs["brute_force"][1].frames_right == FRAMES
    page = (tmp_path / "index.html").read_text()
    assert page.count("<img") == 2 + 5  # first and last frame, and how five methods see the last
    assert all(name in page for name in METHODS)


@pytest.mark.parametrize("bodies", experiment.GIVEN)
def test_the_exact_answer_is_that_of_all_faces_against_all_faces(bodies):
    motion = experiment.tour_experiment(FRAMES).scene(bodies, False).record()
    truth, world = Truth(motion), motion.world("brute_force")
    for frame in range(len(motion)):
        motion.apply(world, frame)
        found = world.detect().contacts
        rows = np.stack([found.body_a, found.body_b, found.face_a, found.face_b], axis=1)
        assert np.array_equal(rows, truth.rows(frame))
        pairs = world.detect(solid=True, rows="pairs").pairs
        assert np.array_equal(np.stack([pairs.body_a, pairs.body_b], axis=1), truth.pairs(frame, solid=True)[:, :2])
    assert len(rows) > 0


def test_all_methods_are_given_bodies_that_they_serve():
    for name, made in METHODS.items():
        motion = experiment.tour_experiment(2).scene(experiment.bodies_for(made()), False).record()
        world = motion.world(made())
        assert len(world) == 5, name
    assert {experiment.bodies_for(made()) for made in METHODS.values()} == set(experiment.GIVEN)
    assert question_for(METHODS["voxmap"]()).solid


@pytest.mark.parametrize(
    ("fields", "cells", "words"),
    [
        ({"missed": 0, "extra": 0, "frames_right": 4, "compared": "faces"}, ["4/4", "0", "0"], ""),
        (
            {"missed": 2, "extra": 0, "frames_right": 3, "compared": "body pairs", "guarantee": "within 0.1",
             "missed_beyond": 0, "extra_beyond": 0},
            ["3/4", "2", "0"],
            "",
        ),
        ({"missed": 0, "extra": 5, "frames_right": 1, "compared": "faces"}, ["1/4", "0", "5"], "5 beyond its guarantee"),
        (
            {"missed": 0, "extra": 0, "frames_right": 4, "compared": "faces", "why": "timed over the first 4 of 9 frames"},
            ["4/4", "0", "0"],
            "timed over the first 4 of 9 frames",
        ),
        ({"status": "failed", "why": "it fell over"}, ["–", "–", "–"], "failed: it fell over"),
        ({}, ["–", "–", "–"], ""),
    ],
)  # fmt: skip
def test_the_agreement_in_a_row(fields, cells, words):
    run = MethodRun("wide_tree", pairs=[1] * 4, contacts=[1] * 4, **fields)
    assert table.cells_of(run)[-3:] == cells
    assert table.remark(run) == words


def test_every_row_is_one_line_of_at_most_a_hundred_characters():
    log = io.StringIO()
    console = Console(file=log, width=80)  # the width that rich takes in a log
    table.print_heading(console)
    for name in METHODS:
        run = MethodRun(name, pairs=[99_999], contacts=[99_999], frame_seconds=[5.678] * 1000, missed=9999, extra=9999)
        run.frames_right, run.pairs = 100, [100] * 200
        table.print_row(console, run)
    heading, *rows = log.getvalue().splitlines()
    rows = [row for row in rows if not row.startswith("  ")]  # remarks
    assert [row.split()[0] for row in rows] == list(METHODS)
    for row in rows:
        assert len(row) <= table.WIDTH
        assert row.split()[4:6] == ["5,678", "5,678"]
        assert row.split()[-3:] == ["100/200", "9,999", "9,999"]
    assert len(heading) <= table.WIDTH


class MeasuredTour:
    """Notes which methods are measured, and when."""

    def __init__(self, events):
        self.events = events

    def measure(self, names, print_row, progress):
        progress("something")
        self.events.append(tuple(names))


def compile_and_measure(monkeypatch, fails=()):
    started = []

    class Noted(Compiling):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.fails = fails
            started.append(self)
            tour.events = self.events

    monkeypatch.setattr(measuring, "WarmUp", Noted)
    tour, shown = MeasuredTour([]), []
    try:
        measuring.compile_and_measure(tour, lambda run: None, lambda *state: shown.append(state))
    finally:
        (noted,) = started
    return noted.events, shown


def test_a_method_is_measured_as_soon_as_its_entries_have_ended(monkeypatch):
    events, shown = compile_and_measure(monkeypatch)
    measured = {name: k for k, event in enumerate(events) if isinstance(event, tuple) for name in event}
    assert measured.keys() | {measuring.FIRST} == set(METHODS)
    for name, k in measured.items():
        assert max(events.index(entry) for entry in measuring.ENTRIES_OF[name]) == k - 1
    assert [done for _, done, _ in shown] == sorted(done for _, done, _ in shown)
    assert shown[0] == ("0 kernels", 0, len(TOUR_ENTRIES))
    assert ("0 kernels; something", 1, len(TOUR_ENTRIES)) in shown


def test_what_does_not_compile_is_left_out_and_reported(monkeypatch):
    events = []
    monkeypatch.setattr(MeasuredTour, "measure", lambda self, names, *_: events.extend(names))
    with pytest.raises(JostleError, match="voxel maps: Unsupported: on purpose"):
        compile_and_measure(monkeypatch, fails=("voxel maps",))
    assert set(events) == METHODS.keys() - {measuring.FIRST, "voxmap"}


def test_the_entries_of_the_tour_exist():
    names = [name for name, _ in WARMUPS]
    assert set(TOUR_ENTRIES) < set(names)
    assert len(set(TOUR_ENTRIES)) == len(TOUR_ENTRIES)
    assert measuring.ENTRIES_OF.keys() == METHODS.keys() - {measuring.FIRST}
    assert {entry for entries in measuring.ENTRIES_OF.values() for entry in entries} < set(TOUR_ENTRIES)


def test_ctrl_c_ends_the_tour_with_its_status_and_writes_nothing(in_this_process, monkeypatch, tmp_path):
    def interrupt(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr(measuring, "measure_point", interrupt)
    done = CliRunner().invoke(app, ["demo", "--frames", "2", "--out", str(tmp_path), "--no-viewer"])
    assert done.exit_code == 130
    assert done.output.splitlines()[-1] == "interrupted: the tour is not complete"
    assert list(tmp_path.rglob("*.json")) == []


class TestViewer:
    @pytest.fixture(autouse=True)
    def _needs_viser(self):
        pytest.importorskip("viser", reason="viser is not installed; pip install 'jostle[viewer]'")

    @pytest.fixture
    def console(self):
        return Console(record=True, width=200)

    @pytest.fixture
    def scene(self):
        return make_scene("tour", frames=FRAMES)

    def test_it_shows_contacts_before_its_address_is_printed(self, console, scene):
        with socket.socket() as taken:  # its usual port may be somebody else's
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            with viewer.viewer_opened(console, scene, port) as page:
                found = re.fullmatch(
                    r"open http://127\.0\.0\.1:(\d+) in a browser: (\d+) touching faces are red \(plain needs no compiler\)",
                    words_of(console.export_text()),
                )
                assert int(found[1]) != port
                world = scene.record().world("plain")
                scene.record().apply(world, FRAMES - 1)
                report = world.detect()
                assert int(found[2]) == sum(len(report.faces_of(body)) for body in world) > 0
                page.finish(console, stay=False)
        assert words_of(console.export_text()) == "the viewer is closed; open it with: jostle view tour --play"
        with socket.socket() as trial:
            assert trial.connect_ex(("127.0.0.1", int(found[1]))) != 0

    @pytest.mark.parametrize("chosen", ["plain", "brute_force"])
    def test_on_a_terminal_it_plays_by_a_compiled_method_until_ctrl_c(self, console, scene, monkeypatch, chosen):
        waited = []

        def sleep(seconds):
            waited.append(seconds)
            if len(waited) == 2:
                raise KeyboardInterrupt

        monkeypatch.setattr("jostle.cli.view.time", type("Clock", (), {"sleep": staticmethod(sleep)}))
        with viewer.viewer_opened(console, scene, 0) as page:
            page.session.stop()  # rounds are made here
            page.session.change(method=chosen)
            page.session.round()
            console.export_text()
            page.finish(console, stay=True)
            page.session.round()
            assert page.session.settings.method == {"plain": "wide_tree"}.get(chosen, chosen)
            assert page.session.playback.playing
        words = words_of(console.export_text())
        assert re.search(r"open http://127\.0\.0\.1:\d+ in a browser; Ctrl-C closes it closed", words)
        assert len(waited) == 2

    def test_without_viser_it_says_how_to_get_it(self, console, scene, monkeypatch):
        monkeypatch.setitem(sys.modules, "viser", None)
        with viewer.viewer_opened(console, scene, 0) as page:
            assert page is None
        assert words_of(console.export_text()) == "no viewer: the viewer needs viser; pip install 'jostle[viewer]' brings it"

    @pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")
    def test_viewer_and_first_row_are_there_before_anything_is_compiled(self, tmp_path):
        roots = [str(Path(jostle.__file__).parents[1]), str(Path(__file__).parents[2])]
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "JOSTLE_"))}
        environment |= {"JOSTLE_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(roots)}
        command = [sys.executable, "-c", AT_FIRST, "demo", "--frames", "3", "--port", "0", "--out", str(tmp_path / "out")]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 130, done.stderr
        noted = json.loads(done.stderr)
        assert noted["status"] == 200
        assert noted["red"]
        assert not noted["numba"]
        assert noted["compiled"] == 0
        *_, row, interrupted = done.stdout.splitlines()
        assert row.split()[:2] == ["plain", "deforming"]
        assert row.split()[-3:] == ["3/3", "0", "0"]
        assert interrupted == "interrupted: the tour is not complete"


AT_FIRST = """
import json, sys, urllib.request
from jostle.cli import main
from jostle.cli.tour import measuring, viewer
from jostle.kernels.cache_state import cache_statistics

class Page(viewer.TourViewer):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        pages.append(self)

class CompilingBegins:
    def __init__(self, *_):
        from tests.viewer.raw_client import RawClient, camera

        noted = {"numba": "numba" in sys.modules, "compiled": cache_statistics.misses}
        (page,) = pages
        noted["status"] = urllib.request.urlopen(page.address).status
        client = RawClient(int(page.address.rpartition(":")[2]))
        client.send(camera())
        noted["red"] = client.hears(lambda each: each.get("name", "").endswith("/red"))["name"]
        client.close()
        json.dump(noted, sys.stderr)
        raise KeyboardInterrupt

pages = []
viewer.TourViewer, measuring.WarmUp = Page, CompilingBegins
main()
"""

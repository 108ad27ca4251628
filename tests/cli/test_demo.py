"""`jostle demo`: every method runs on bodies it supports, its row shows the results, and the viewer opens."""

import re
import socket
import sys

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from jostle.cli import warmup
from jostle.cli.app import app
from jostle.cli.tour import experiment, table, viewer
from jostle.cli.warmups import TOUR_ENTRIES
from jostle.kernels.warmup import WARMUPS
from jostle.lab import measure
from jostle.lab.results import MethodRun
from jostle.lab.truth import Truth, question_for
from jostle.registry import METHODS
from tests.lab.in_this_process import InThisProcess

FRAMES = 3


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(measure, "ServerProcess", InThisProcess)
    monkeypatch.setattr(experiment, "ROUNDS", 1)
    monkeypatch.setattr(warmup, "compile_with_progress", lambda console, entries: None)
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
        assert re.search(rf"{name} .*{re.escape(table.agreement(run).split()[0])}", done.output)
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
    ("fields", "words"),
    [
        ({"missed": 0, "extra": 0, "frames_right": 4, "compared": "faces"}, "same faces in 4 of 4 frames"),
        (
            {"missed": 2, "extra": 0, "frames_right": 3, "compared": "body pairs", "guarantee": "within 0.1",
             "missed_beyond": 0, "extra_beyond": 0},
            "same bodies in 3 of 4 frames; 2 missed, 0 extra; as it guarantees",
        ),
        (
            {"missed": 0, "extra": 5, "frames_right": 1, "compared": "faces"},
            "same faces in 1 of 4 frames; 0 missed, 5 extra; 5 beyond its guarantee",
        ),
        (
            {"missed": 0, "extra": 0, "frames_right": 4, "compared": "faces", "why": "timed over the first 4 of 9 frames"},
            "same faces in 4 of 4 frames; timed over the first 4 of 9 frames",
        ),
        ({"status": "failed", "why": "it fell over"}, "failed: it fell over"),
        ({}, "not compared"),
    ],
)  # fmt: skip
def test_the_agreement_in_words(fields, words):
    assert table.agreement(MethodRun("wide_tree", pairs=[1] * 4, contacts=[1] * 4, **fields)) == words


def test_the_entries_of_the_tour_exist():
    names = [name for name, _ in WARMUPS]
    assert set(TOUR_ENTRIES) < set(names)
    assert len(set(TOUR_ENTRIES)) == len(TOUR_ENTRIES)


def test_ctrl_c_ends_the_tour_with_its_status_and_writes_nothing(in_this_process, monkeypatch, tmp_path):
    def interrupt(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("jostle.lab.run.measure_point", interrupt)
    done = CliRunner().invoke(app, ["demo", "--frames", "2", "--out", str(tmp_path), "--no-viewer"])
    assert done.exit_code == 130
    assert "interrupted" in done.output
    assert list(tmp_path.rglob("*.json")) == []


class TestViewer:
    @pytest.fixture(autouse=True)
    def _needs_viser(self):
        pytest.importorskip("viser", reason="viser is not installed; pip install 'jostle[viewer]'")

    @pytest.fixture
    def console(self):
        return Console(record=True, width=200)

    def test_without_a_terminal_it_answers_says_so_and_ends(self, console):
        with socket.socket() as taken:  # its usual port may be somebody else's
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            viewer.show_viewer(console, port, stay=False)
        text = words_of(console.export_text())
        found = re.fullmatch(
            r"viewer check passed \(http://127\.0\.0\.1:(\d+)\); run `jostle view tour --play` to keep it open", text
        )
        assert found
        assert int(found[1]) != port
        with socket.socket() as trial:
            assert trial.connect_ex(("127.0.0.1", int(found[1]))) != 0

    def test_on_a_terminal_it_stays_until_ctrl_c(self, console, monkeypatch):
        waited = []

        def sleep(seconds):
            waited.append(seconds)
            if len(waited) == 2:
                raise KeyboardInterrupt

        monkeypatch.setattr("jostle.cli.view.time", type("Clock", (), {"sleep": staticmethod(sleep)}))
        viewer.show_viewer(console, 0, stay=True)
        assert re.search(r"open http://127\.0\.0\.1:\d+ in a browser; Ctrl-C closes it closed", words_of(console.export_text()))
        assert len(waited) == 2

    def test_without_viser_it_says_how_to_get_it(self, console, monkeypatch):
        monkeypatch.setitem(sys.modules, "viser", None)
        viewer.show_viewer(console, 0, stay=True)
        assert words_of(console.export_text()) == "no viewer: the viewer needs viser; pip install 'jostle[viewer]' brings it"

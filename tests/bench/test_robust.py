"""Bad and extreme input: every case comes out as it must, and a process that dies or hangs is a row that says so."""

import io
import json
import os
import signal
import time
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import jostle
from jostle.bench import robust, robust_answered, robust_refused
from jostle.bench.robust import CASES, NOT_TRIED, Case, Outcome, run_case
from jostle.bench.robust_refused import BOX, Answer
from jostle.cli import warmup
from jostle.cli.bench import bench as application
from tests.interrupted_writes import cut_short
from tests.lab.in_this_process import InThisProcess
from tests.oracle import rational


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_comes_out_as_it_must(case):
    answer = case.run()
    assert answer.ok, answer.came
    assert answer.came


def test_the_cases_are_those_that_break_other_libraries():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    known = [case for case in CASES if case.peers != NOT_TRIED]
    assert len(known) >= 12
    assert all(case.expected and case.peers for case in CASES)


# What a case says must depend on what it got: each kind of truth and of refusal is able to fail.


@pytest.mark.small
def test_triangles_in_the_plane_meet_as_rational_arithmetic_says():
    rng = np.random.default_rng(5)
    meeting = 0
    for _ in range(300):
        a, b = rng.integers(0, 7, (2, 3, 2))
        lifted = [[tuple(map(Fraction, [*map(int, point), 0])) for point in triangle] for triangle in (a, b)]
        expected = rational.squared_distance(*lifted) == 0
        if all(np.linalg.det(np.diff(t, axis=0)) for t in (a, b)):
            assert robust_answered.meet_in_the_plane(a, b) == expected
            meeting += expected
    assert 50 < meeting < 250


@pytest.mark.small
def test_intervals_that_share_an_end_overlap_and_empty_ones_do_not():
    zero, one, two, three = map(Fraction, range(4))
    first, second = [(zero, one), None, (two, two)], [(one, two), None, (three, three)]
    assert robust_answered.overlapping(first, second) == {(0, 0), (2, 0)}


class Columns(SimpleNamespace):
    def __len__(self):
        return len(self.face_a)


def test_a_report_that_misses_adds_or_repeats_rows_or_errs_in_kind_is_not_ok():
    report = jostle.collide(BOX, BOX)
    rows, kind = robust_refused.rows_of(report), jostle.Kind.TOUCHING
    assert robust_answered.judged(report, rows, kind).ok
    few = set(sorted(rows)[1:])
    assert "1 extra" in robust_answered.judged(report, few, kind).came
    assert "1 missed" in robust_answered.judged(report, rows | {(99, 99)}, kind).came
    assert f"{len(rows)} not CROSSING" in robust_answered.judged(report, rows, jostle.Kind.CROSSING).came
    twice = np.array([3, 3])
    doubled = SimpleNamespace(contacts=Columns(face_a=twice, face_b=twice, kind=np.array([kind, kind])))
    assert "1 twice" in robust_answered.judged(doubled, {(3, 3)}, kind).came


@pytest.mark.small
def test_what_is_accepted_or_refused_with_other_words_or_leaves_a_trace_is_not_ok():
    def refuse():
        raise jostle.InputError("vertices[3] is odd")

    def fail():
        raise KeyError("inside")

    assert robust_refused.refuses(("odd", refuse)) == Answer(True, "InputError: vertices[3] is odd")
    assert not robust_refused.refuses(("even", refuse)).ok
    assert not robust_refused.refuses(("odd", refuse), ("odd", lambda: None)).ok
    assert not robust_refused.refuses(("odd", refuse), unchanged=lambda: False).ok
    with pytest.raises(KeyError):  # an error that is none of ours is a failure of the case
        robust_refused.refuses(("inside", fail))


# Processes.


def right():
    return Answer(True, "as expected")


def wrong():
    return Answer(False, "two and two is five")


def raising():
    raise ZeroDivisionError("by nothing")


def crashing():
    os.write(2, b"the last words\n")
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(10)  # a signal may take a moment


def leaving():
    os._exit(7)


def hanging():
    time.sleep(600)


FAKES = {
    right: ("ok", "as expected"),
    wrong: ("wrong", "two and two is five"),
    raising: ("failed", "ZeroDivisionError: by nothing"),
    crashing: ("crashed", "its process died of SIGSEGV: the last words"),
    leaving: ("crashed", "its process ended with code 7"),
    hanging: ("hung", "no answer within 0.5 s"),
}


@pytest.mark.parametrize("run", FAKES, ids=lambda run: run.__name__)
def test_a_process_that_dies_or_hangs_is_a_row_that_says_so(run, monkeypatch):
    if run in (wrong, raising):  # they need no process of their own: `right` has one
        monkeypatch.setattr(robust, "ServerProcess", InThisProcess)
    outcome = run_case(Case("fake", "nothing", "they do it too", run), limit=0.5 if run is hanging else 60.0)
    assert (outcome.status, outcome.came) == FAKES[run]
    assert outcome.ok == (run is right)
    assert (outcome.name, outcome.expected, outcome.peers) == ("fake", "nothing", "they do it too")
    assert (outcome.seconds is None) == (outcome.status in ("crashed", "hung"))


def test_a_process_that_does_not_even_start_in_time_is_a_row():
    outcome = run_case(Case("fake", "", "", right), ready=0.0)
    assert (outcome.status, outcome.came) == ("hung", "no answer within 0 s")


# The command.


def fake_outcomes(case):
    status = "ok" if case.name.startswith("good") else "crashed"
    return Outcome(case.name, status, case.expected, "came [bold]so[/bold]", None, case.peers)


def command(monkeypatch, names, *arguments):
    monkeypatch.setattr(robust, "CASES", tuple(Case(name, "exp", "peers", right) for name in names))
    monkeypatch.setattr(warmup, "compile_with_progress", lambda console: 0.0)
    return CliRunner().invoke(application, ["robust", *map(str, arguments)])


def test_the_command_prints_the_table_and_writes_json(monkeypatch, tmp_path):
    monkeypatch.setattr(robust, "run_case", fake_outcomes)
    file = tmp_path / "robust.json"
    answer = command(monkeypatch, ["good one", "good [two]"], "--json", file)
    assert answer.exit_code == 0, answer.output
    assert "all 2 ok" in answer.output
    assert "good [two]" in answer.output
    assert "came [bold]so[/bold]" in answer.output
    stored = json.loads(file.read_text())
    assert stored["ok"] is True
    assert [case["name"] for case in stored["cases"]] == ["good one", "good [two]"]
    assert set(stored["cases"][0]) == {"name", "status", "expected", "came", "seconds", "peers", "ok"}
    assert stored["machine"]["cpu"]


def test_the_command_fails_when_any_case_does(monkeypatch, tmp_path):
    monkeypatch.setattr(robust, "run_case", fake_outcomes)
    file = tmp_path / "robust.json"
    answer = command(monkeypatch, ["good one", "bad one"], "--json", file)
    assert answer.exit_code == 1
    assert "1 of 2 are not ok: bad one" in answer.output
    assert json.loads(file.read_text())["ok"] is False


def test_the_command_runs_a_real_case_in_its_process(monkeypatch):
    monkeypatch.setattr(warmup, "compile_with_progress", lambda console: 0.0)
    monkeypatch.setattr(robust, "CASES", tuple(case for case in CASES if case.name == "an offset of 1e7"))
    answer = CliRunner().invoke(application, ["robust"])
    assert answer.exit_code == 0, answer.output
    assert "all 1 ok" in answer.output


def test_an_interrupted_command_prints_what_it_has(monkeypatch):
    def interrupted(case):
        if case.name == "second":
            raise KeyboardInterrupt
        return fake_outcomes(case)

    monkeypatch.setattr(robust, "run_case", interrupted)
    answer = command(monkeypatch, ["good one", "second", "third"])
    assert answer.exit_code == 130
    assert "good one" in answer.output
    assert "interrupted" in answer.output


def test_a_file_that_is_interrupted_is_as_before(tmp_path, monkeypatch):
    monkeypatch.setattr(robust, "run_case", fake_outcomes)
    (tmp_path / "old.json").write_text("old")
    cut_short(monkeypatch)
    answer = command(monkeypatch, ["good one"], "--json", tmp_path / "old.json")
    assert answer.exit_code == 130
    assert (tmp_path / "old.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["old.json"]


def test_a_missing_folder_is_told_before_anything_runs(monkeypatch, tmp_path):
    answer = command(monkeypatch, ["good one"], "--json", tmp_path / "nowhere" / "robust.json")
    assert isinstance(answer.exception, jostle.InputError)


def test_the_table_is_wide_enough_for_all_columns():
    console = Console(width=120, record=True, file=io.StringIO())
    robust.print_outcomes(console, [Outcome("a [name]", "hung", "e", "no answer", None, "p")])
    text = console.export_text()
    assert "a [name]" in text
    assert "hung" in text
    assert "1 of 1 are not ok" in text

"""The bench on toy sizes: what it compares with is the truth, what it says of each contestant is right. Nothing is timed."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from jostle import Voxmap, WideTree
from jostle.bench import run as run_module
from jostle.bench import worker as worker_module
from jostle.bench.case import Case, Contestant, Found, Unable
from jostle.bench.compare import Check, compare, total
from jostle.bench.machine import describe_machine
from jostle.bench.peers import PEERS, load_peer
from jostle.bench.reference import exact_answer
from jostle.bench.run import Bench, CaseResult, Row
from jostle.bench.scenarios import FULL, QUICK, SCENARIOS, Sizes, make_cases
from jostle.bench.table import as_json, print_case, summary
from jostle.bench.worker import Worker
from jostle.cli.bench import bench as application
from jostle.errors import InputError
from tests.interrupted_writes import cut_short
from tests.lab.in_this_process import InThisProcess
from tests.oracle import rational
from tests.oracle.rows import candidates, rows_between, rows_within, triangles

TOY = Sizes(
    blob_a=160, blob_b=200, ball=1, batch_blob=120, batch=6, shuttles=3, cones=4, small_meshes=(6, 12), frames=2, moving_blob=80
)


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(worker_module, "ServerProcess", InThisProcess)


def fake(name):
    return f"tests.bench.fakes:{name}"


def oracle_body(case, body, frame, poses):
    vertices, faces = case.local_vertices(body, frame), case.mesh(body)[1]
    mesh = SimpleNamespace(vertices=case.mesh(body)[0], faces=faces)
    return SimpleNamespace(pose=poses[body], vertices=vertices, mesh=mesh)


def rational_rows(case, frame, poses):
    bodies = [oracle_body(case, body, frame, poses) for body in range(len(case.mesh_of_body))]
    if case.itself:
        return [[0, 0, i, j] for i, j, _ in rows_within(bodies[0])]
    pairs = [(a, b) for a in range(len(bodies)) for b in range(a + 1, len(bodies))]
    return [[a, b, i, j] for a, b in pairs for i, j, _ in rows_between(bodies[a], bodies[b])]


def exact_cases():
    return [case for name in ("pair-all", "deform", "self", "n-body") for case in make_cases(name, TOY)]


@pytest.mark.parametrize("case", exact_cases(), ids=lambda case: f"{case.scenario}-{case.name[:24]}-{case.question}")
def test_the_reference_has_the_rows_of_rational_arithmetic(case):
    frame = case.frame_count - 1
    poses = case.poses[0] if case.deformed is not None else case.poses[frame]
    expected = rational_rows(case, frame, poses)
    assert exact_answer(case, frame).data.tolist() == expected
    assert expected or case.scenario in ("n-body", "self")


def test_the_reference_of_self_collision_finds_folds():
    # A strip of 8 triangles rolled up so that its ends cross: neighbours share vertices and are left out.
    angle = np.linspace(0.0, 2.2 * np.pi, 6)
    ring = np.stack([np.cos(angle), np.sin(angle), 0.1 * angle], axis=1)
    vertices = np.vstack([ring, ring * [1.0, 1.0, 1.0] + [0.05, 0.02, 1.0]])
    faces = np.array([f for k in range(5) for f in ([k, k + 1, k + 6], [k + 1, k + 7, k + 6])], np.int32)
    case = Case("self", "strip", "faces", ((vertices, faces),), (0,), np.eye(4)[None, None], ((vertices,),))
    expected = rational_rows(case, 0, case.poses[0])
    assert expected
    assert exact_answer(case, 0).data.tolist() == expected


def test_the_reference_of_batches_is_yes_or_no_per_pose():
    (case,) = make_cases("batch-poses", TOY)
    expected = [bool(rational_rows(case, 0, poses)) for poses in case.poses]
    assert exact_answer(case, 0).data.tolist() == expected
    assert 0 < sum(expected) < len(expected)


@pytest.mark.parametrize("case", make_cases("distance", TOY), ids=lambda case: case.name[:10])
def test_the_reference_of_distances_is_that_of_rational_arithmetic(case):
    a, b = (triangles(oracle_body(case, body, 0, case.poses[0])) for body in range(2))
    value = float(exact_answer(case, 0).data[0])
    near = candidates(a, b, value)
    assert len(near) < 5000
    squared = min(rational.squared_distance(a[i], b[j]) for i, j in near)
    assert value == pytest.approx(math.sqrt(squared), rel=1e-13)


@pytest.mark.parametrize("case", make_cases("continuous", TOY), ids=lambda case: case.name[:24])
def test_the_reference_of_motions_is_where_rational_arithmetic_finds_the_first_touch(case):
    def touch_at(time):
        return bool(rational_rows(case, 0, case.poses[0] + time * (case.poses[1] - case.poses[0])))

    time = float(exact_answer(case, 0).data[0])
    until = min(time, 1.0) - 1e-6
    assert not any(touch_at(share * until) for share in np.linspace(0.0, 1.0, 12))
    assert time == math.inf or touch_at(time + 1e-6)
    assert time < 1.0 or "small step" in case.name


def test_the_reference_of_motions_knows_when_an_apex_comes_down_on_a_plate():
    plate = (np.array([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]]), np.array([[0, 1, 2]], np.int32))
    dart = (np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 2.0], [0.0, 1.0, 2.0]]), np.array([[0, 1, 2]], np.int32))
    poses = np.tile(np.eye(4), (2, 2, 1, 1))
    poses[1, 1, 2, 3] = -4.0
    assert float(exact_answer(Case("continuous", "dart", "time", (plate, dart), (0, 1), poses), 0).data[0]) == pytest.approx(0.25)
    poses[1, 1, 2, 3] = -0.75
    assert float(exact_answer(Case("continuous", "dart", "time", (plate, dart), (0, 1), poses), 0).data[0]) == math.inf


@pytest.mark.small
def test_a_time_may_be_a_little_early_but_not_late():
    case = question("time")
    for answer, correct in ((0.5, True), (0.49999, True), (0.499, False), (0.50001, False), (math.inf, False)):
        assert compare(case, Found.value(answer), Found.value(0.5)).correct is correct
    assert compare(case, Found.value(math.inf), Found.value(math.inf)).correct


def test_the_scenarios_are_those_that_were_promised_and_the_same_every_time():
    assert list(SCENARIOS) == [
        "pair-all",
        "pair-first",
        "build",
        "deform",
        "self",
        "distance",
        "batch-poses",
        "n-body",
        "continuous",
    ]
    for name in SCENARIOS:
        for first, second in zip(make_cases(name, TOY), make_cases(name, TOY), strict=True):
            assert first.poses.tobytes() == second.poses.tobytes()
            for (v, f), (w, g) in zip(first.meshes, second.meshes, strict=True):
                assert v.tobytes() == w.tobytes()
                assert f.tobytes() == g.tobytes()
    assert (FULL.blob_a, FULL.blob_b, FULL.batch, FULL.small_meshes) == (50_000, 70_000, 1_000, (1_000, 10_000))
    assert QUICK.blob_a < FULL.blob_a
    with pytest.raises(InputError, match="pair-all"):
        make_cases("nothing", TOY)


def question(kind, rows=2):
    return Case("pair-all", "", kind, (), tuple(range(rows)), np.empty((1, rows, 4, 4)))


@pytest.mark.small
def test_rows_are_compared_whatever_their_order_and_which_body_comes_first():
    truth = Found("rows", np.array([[0, 1, 5, 6], [0, 1, 5, 7], [0, 2, 1, 1]]))
    same = Found("rows", np.array([[2, 0, 1, 1], [0, 1, 5, 7], [1, 0, 6, 5]]))
    assert compare(question("faces"), same, truth) == Check(3, 3, 0, 0)
    fewer = Found("rows", truth.data[1:])
    assert compare(question("faces"), fewer, truth) == Check(2, 3, 1, 0)
    swapped_faces = Found("rows", np.array([[0, 1, 6, 5], [0, 1, 5, 7], [0, 2, 1, 1]]))
    assert compare(question("faces"), swapped_faces, truth) == Check(3, 3, 1, 1)
    twice = Found("rows", np.vstack([truth.data, truth.data[:1]]))
    assert compare(question("faces"), twice, truth) == Check(4, 3, 0, 1)
    nothing = Found("rows", np.empty((0, 4), np.int64))
    assert compare(question("faces"), nothing, truth) == Check(0, 3, 3, 0)
    assert compare(question("faces"), nothing, nothing).correct
    of_itself = Found("rows", np.array([[0, 0, 9, 2]]))
    assert compare(question("faces"), of_itself, Found("rows", np.array([[0, 0, 2, 9]]))).correct


@pytest.mark.small
def test_loose_rows_are_compared_as_often_as_they_come():
    truth = Found("rows", np.array([[0, 1, 5, 6], [2, 3, 6, 5], [0, 2, 1, 1]]))
    assert compare(question("faces"), Found("loose-rows", np.array([[5, 6], [6, 5], [1, 1]])), truth).correct
    assert compare(question("faces"), Found("loose-rows", np.array([[5, 6], [1, 1]])), truth).missed == 1
    assert compare(question("faces"), Found("loose-rows", np.array([[5, 6], [1, 1], [1, 1]])), truth).extra == 1


@pytest.mark.small
def test_bodies_flags_and_distances_are_compared():
    truth = Found("rows", np.array([[0, 1, 5, 6], [0, 1, 5, 7], [2, 3, 1, 1]]))
    assert compare(question("bodies"), Found("bodies", np.array([[3, 2], [0, 1]])), truth) == Check(2, 2, 0, 0)
    assert compare(question("bodies"), Found("bodies", np.array([[0, 1], [0, 3]])), truth) == Check(2, 2, 1, 1)
    flags = Found("flags", np.array([True, True, False]))
    assert compare(question("any"), Found("flags", np.array([True, False, True])), flags) == Check(2, 2, 1, 1)
    with pytest.raises(ValueError, match="answers came"):
        compare(question("any"), Found.flag(True), flags)
    assert not compare(question("faces"), Found.flag(False), truth).correct
    distance = question("distance")
    assert compare(distance, Found.value(0.5 + 5e-10), Found.value(0.5)).correct
    assert not compare(distance, Found.value(0.5 + 5e-9), Found.value(0.5)).correct
    assert not compare(distance, Found.value(float("nan")), Found.value(0.5)).correct
    assert total([Check(1, 2, 1, 0), Check(5, 4, 0, 1)]) == Check(6, 6, 1, 1)
    assert total([]) is None


def row(peer, rounds, check=None, other_question="", status="ok", threads=1):
    return Row(
        Contestant(peer, threads),
        "1.0",
        "a variant",
        other_question=other_question,
        status=status,
        rounds=rounds,
        checks=[check or RIGHT],
    )


RIGHT, WRONG = Check(4, 4, 0, 0), Check(3, 4, 1, 0)


@pytest.mark.small
def test_the_ratio_is_to_the_best_peer_that_is_correct_and_answers_the_question():
    jostle = row("jostle", [2.0, 1.0, 9.0])
    peers = [
        row("fcl", [8.0]),
        row("coal", [6.0, 6.0, 5.0]),
        row("meshlib", [4.0], WRONG),
        row("ipctk", [1.0], other_question="boxes"),
        row("libigl", [0.5], status="crashed"),
    ]
    result = CaseResult("pair-all", "toy", "", 1, [jostle, *peers])
    assert result.best_peer() is peers[1]
    assert result.ratio(jostle) == 3.0
    assert "3[/bold] times the speed of the best correct peer (coal" in summary(result)[0]
    assert result.ratio(row("jostle", [1.0], WRONG)) is None
    result = CaseResult("pair-all", "toy", "", 1, [jostle, peers[2], peers[3]])
    assert result.best_peer() is None
    assert result.ratio(jostle, correct=False) == 2.0
    assert "none being correct" in summary(result)[0]
    wrong = CaseResult("pair-all", "toy", "", 1, [row("jostle", [1.0], WRONG), peers[0]])
    assert "not the exact one" in summary(wrong)[0]


def printed(result):
    console = Console(width=220)
    with console.capture() as capture:
        print_case(console, result)
    return capture.get()


def toy_pair():
    return make_cases("pair-all", TOY)[0]


def rows_of(result, peer):
    return {each.variant: each for each in result.rows if each.contestant.peer == peer}


def test_a_peer_that_is_missing_unable_failing_or_lying_is_a_row_that_says_so(monkeypatch, in_this_process):
    monkeypatch.setattr(run_module, "ROUND_SECONDS", 0.001)
    names = [fake(name) for name in ("Honest", "Liar", "Missing", "Incapable", "Failing")]
    result = Bench(names, rounds=2, method="brute_force").run([toy_pair()]).cases[0]
    text = printed(result)

    truth = len(exact_answer(toy_pair(), 0).data)
    (jostle,) = rows_of(result, "jostle").values()
    assert jostle.correct
    assert (jostle.check.found, len(jostle.rounds)) == (truth, 2)
    (honest,) = rows_of(result, fake("Honest")).values()
    assert honest.correct

    liar = rows_of(result, fake("Liar"))
    assert (liar["lie"].check.missed, liar["lie"].check.extra, liar["lie"].correct) == (1, 2, False)
    assert liar["aside"].check.correct
    assert not liar["aside"].correct
    assert result.best_peer() is honest

    reasons = {name: next(iter(rows_of(result, fake(name)).values())) for name in ("Missing", "Incapable", "Failing")}
    assert [each.status for each in reasons.values()] == ["missing", "unable", "failed"]
    assert "is not installed" in reasons["Missing"].why
    assert reasons["Incapable"].why == "it was never meant to"
    assert "ZeroDivisionError" in reasons["Failing"].why
    assert all(each.seconds is None for each in reasons.values())
    for words in ("not installed", "cannot do this", "ZeroDivisionError", "another question", "wrong", "exact"):
        assert words in text


def test_a_variant_that_crashes_is_a_row_that_says_so_and_the_others_go_on(monkeypatch):
    monkeypatch.setattr(run_module, "ROUND_SECONDS", 0.001)
    result = Bench([fake("Missing"), fake("Crasher")], rounds=2, method="brute_force").run([toy_pair()]).cases[0]
    (missing,) = rows_of(result, fake("Missing")).values()
    assert (missing.status, "is not installed" in missing.why) == ("missing", True)
    (jostle,) = rows_of(result, "jostle").values()
    assert (jostle.correct, len(jostle.rounds)) == (True, 2)
    crasher = rows_of(result, fake("Crasher"))
    assert crasher["at once"].status == "crashed"
    assert "SIGSEGV" in crasher["at once"].why
    assert "the library says goodbye" in crasher["at once"].why
    assert crasher["later"].status == "crashed"
    assert "ended with code 7" in crasher["later"].why
    assert crasher["later"].check.correct
    assert not crasher["later"].correct
    assert "crashed: its process" in printed(result)


def test_a_peer_that_hangs_is_ended_and_can_be_asked_again():
    worker = Worker(Contestant(fake("Sleeper")))
    try:
        assert worker.prepare(toy_pair(), 60.0).status == "ok"
        outcome = worker.call("sleep", 0, 1, 0.3)
        assert (outcome.status, outcome.why) == ("timeout", "no answer within 0.3 s")
        assert worker.call("sleep", 0, 1, 0.3).status == "crashed"
        assert worker.prepare(toy_pair(), 60.0).status == "ok"
    finally:
        worker.end()


def test_ctrl_c_keeps_what_was_measured_and_hands_it_over(in_this_process):
    handed = []

    def interrupt(what, done, steps):
        if "Honest" in what and "prepares" not in what and done >= 2:
            raise KeyboardInterrupt

    bench = Bench([fake("Honest")], rounds=3, method="brute_force", progress=interrupt)
    result = bench.run([toy_pair(), toy_pair()], handed.append)
    assert result.interrupted
    assert len(result.cases) == 1
    assert handed == result.cases
    assert [len(each.rounds) for each in handed[0].rows] == [1, 1]
    assert as_json(result, {}, "")["interrupted"] is True


def test_all_scenarios_run_with_what_is_installed_and_jostle_is_exact(in_this_process):
    cases = [case for name in SCENARIOS for case in make_cases(name, TOY)]
    result = Bench(list(PEERS), rounds=1, method="brute_force").run(cases)
    assert [each.scenario for each in result.cases] == [case.scenario for case in cases]
    for each, case in zip(result.cases, cases, strict=True):
        assert {row.contestant.peer for row in each.rows} == {"jostle", *PEERS}
        for row in each.rows:
            assert row.status in ("ok", "missing", "unable") or (row.is_jostle and row.status == "failed"), row
            if row.status == "ok":
                assert len(row.checks) == case.frame_count
                assert len(row.rounds) == 1
            else:
                assert row.why
            if row.is_jostle and row.status == "ok":
                assert row.correct, row
        print_case(Console(quiet=True), each)
    jostle_ran = {each.scenario for each in result.cases for row in each.rows if row.is_jostle and row.status == "ok"}
    assert jostle_ran >= {"pair-all", "build", "deform", "self", "distance", "n-body", "continuous"}

    stored = json.loads(json.dumps(as_json(result, describe_machine(), "jostle bench peers"), allow_nan=False))
    assert stored["command"] == "jostle bench peers"
    assert stored["machine"]["cpu"]
    assert stored["versions"]["jostle"]
    first = stored["cases"][0]["rows"][0]
    assert (first["peer"], first["correct"], first["missed"], first["extra"]) == ("jostle", True, 0, 0)
    assert first["median_seconds"] > 0.0
    assert first["found"] == first["expected"] == len(exact_answer(cases[0], 0).data)


def test_the_settings_of_a_method_take_part():
    (case,) = (case for case in make_cases("pair-first", TOY) if "shallow" in case.name)
    peer = load_peer(Contestant("jostle", 1, {"method": WideTree(build="sah")}))
    (job,) = peer.variants(case).values()
    assert job.found(job.run(0)).data.tolist() == [True]
    voxels = Voxmap(across=20)
    peer = load_peer(Contestant("jostle", 1, {"method": voxels}))
    assert peer.method is voxels
    with pytest.raises(Unable, match="wide_tree only"):
        peer.variants(case)
    (other,) = (case for case in make_cases("pair-all", TOY) if "deep" in case.name)
    (job,) = peer.variants(other).values()
    assert job.other_question == "points of contact, no faces"  # never called correct, nor wrong
    assert len(job.found(job.run(0)).data) > 0
    for case in make_cases("n-body", TOY):
        (job,) = peer.variants(case).values()
        assert bool(job.other_question) == (case.question == "faces")


def test_the_command_refuses_what_it_does_not_know(tmp_path):
    runner = CliRunner()
    for arguments, words in (
        (["--peers", "fcl,nobody"], "nobody"),
        (["--scenario", "nothing"], "nothing"),
        (["--json", str(tmp_path / "no" / "such.json")], "no folder"),
        (["--markdown", str(tmp_path / "no" / "such.md")], "no folder"),
        (["--method", "nothing"], "no method 'nothing'"),
        (["--method", "voxmap(exactness=1)"], "voxmap has no setting 'exactness'; it has accuracy"),
        (["--method", "voxmap(accuracy=-1)"], "accuracy=-1 is refused"),
        (["--method", " "], "names no method"),
        (["--method", "bounding_tree(motion=True, workers=2)"], "leave out motion, workers"),
    ):
        refused = runner.invoke(application, ["peers", *arguments])
        assert isinstance(refused.exception, InputError)
        assert words in str(refused.exception)


@pytest.mark.parametrize("option", ["--json", "--markdown"])
def test_files_that_are_interrupted_are_as_before(tmp_path, monkeypatch, option):
    monkeypatch.setattr("jostle.bench.run.Bench.run", lambda self, cases, show: None)
    (tmp_path / "old").write_text("old")
    cut_short(monkeypatch)
    outcome = CliRunner().invoke(application, ["peers", "--quick", option, str(tmp_path / "old")])
    assert outcome.exit_code == 130
    assert (tmp_path / "old").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_the_command_prints_tables_and_writes_files(tmp_path, monkeypatch, in_this_process):
    monkeypatch.setattr("jostle.bench.scenarios.QUICK", TOY)
    target = tmp_path / "out.json"
    page = tmp_path / "out.md"
    arguments = ["peers", "--quick", "--rounds", "1", "--scenario", "distance", "--peers", "fcl"]
    arguments += ["--json", str(target), "--markdown", str(page)]
    outcome = CliRunner().invoke(application, [*arguments, "--method", "wide_tree(build=sah)"])
    assert outcome.exit_code == 0, outcome.output
    assert "distance: icospheres" in outcome.output
    stored = json.loads(target.read_text())
    assert [case["scenario"] for case in stored["cases"]] == ["distance", "distance"]
    assert stored["interrupted"] is False
    lines = page.read_text().splitlines()
    ratios = [line for line in lines if line.startswith("| distance |")]
    assert len(ratios) == 2
    assert all(len(line.split(" | ")) == 7 for line in ratios)
    assert len([line for line in lines if line.startswith("| jostle ")]) == 2

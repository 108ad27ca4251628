"""The kinds: cases are what they say, answers are compared with the truth, tables name the worst. Nothing is timed."""

import json
import math
from fractions import Fraction
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from jostle.bench import reference_pairs
from jostle.bench import run as run_module
from jostle.bench import worker as worker_module
from jostle.bench.case import Case, Contestant, Found, KindLabel
from jostle.bench.compare import Check, compare
from jostle.bench.kinds import part as part_module
from jostle.bench.kinds import placing, table
from jostle.bench.kinds.catalogue import CHECKED_ON, CHOSEN_ON, KINDS, parts_of
from jostle.bench.kinds.meshes.compounds import mixed
from jostle.bench.kinds.meshes.extrusions import l_beam
from jostle.bench.kinds.meshes.round_parts import pipe
from jostle.bench.kinds.part import FULL, QUICK, TILT, Asked, Part, Sizes
from jostle.bench.kinds.questions import KindCases, Stage
from jostle.bench.peers import PEERS, load_peer
from jostle.bench.peers.overlapping_boxes import OverlappingBoxes
from jostle.bench.reference import exact_answer
from jostle.bench.reference_distance import distance_of
from jostle.bench.reference_pairs import Placed, touching_faces
from jostle.bench.run import Bench, CaseResult, Row
from jostle.cli.bench import bench as application
from jostle.errors import InputError
from jostle.geometry.rigid import transform_points
from jostle.shapes import build
from jostle.shapes.save import save
from tests.lab.in_this_process import InThisProcess
from tests.oracle import rational
from tests.oracle.rows import rows_between, triangles

TOY = Sizes(
    bodies=5, few_bodies=4, poses=2, few_poses=2, model=200, organic=(80, 100, 120, 160), terrain=(6, 5), holes=((2, 2), (3, 2)),
    cloth=(12, 8), ball=1, frames=2,
)  # fmt: skip
SMALL = Part("toy", tuple(Asked), lambda: pipe(5).moved(TILT), l_beam, bodies=5, spacing=0.3, poses=3)


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(worker_module, "ServerProcess", InThisProcess)


def toy(asked, **changed):
    """A case of a pipe of 40 faces against an L beam, or of five pipes."""
    case = Stage("cloth", SMALL, TOY).case(asked)
    return Case(**{**vars(case), **changed})


def placed(case, body, pose):
    vertices, faces = case.mesh(body)
    return SimpleNamespace(pose=pose, vertices=vertices, mesh=SimpleNamespace(vertices=vertices, faces=faces))


def rational_distance(a, b):
    one, other = triangles(a), triangles(b)
    return math.sqrt(min(rational.squared_distance(p, q) for p in one for q in other))


# ---------------------------------------------------------------------- the catalogue


@pytest.mark.small
def test_every_kind_is_in_one_half():
    assert sorted([*CHOSEN_ON, *CHECKED_ON]) == sorted(KINDS)
    assert len(CHOSEN_ON) == len(CHECKED_ON) == 9
    for half in (CHOSEN_ON, CHECKED_ON):
        asked = {each for kind in half for part in parts_of(kind, FULL) for each in part.asked}
        assert asked == set(Asked)


@pytest.mark.small
def test_parts_have_names_of_their_own_and_cad_parts_are_tilted_as_well():
    for kind in KINDS:
        names = [part.name for part in parts_of(kind, QUICK)]
        assert len(set(names)) == len(names)
        straight = [name for name in names if f"{name}, tilted" in names]
        if kind in ("pipe", "cylinder", "cone", "disc", "capsule", "beam", "screw", "spring", "gear", "sheet"):
            assert straight
    tilted = {part.name: part for part in parts_of("pipe", QUICK)}["128 segments, tilted"].make()
    assert np.ptp(tilted.vertices, axis=0).min() > 0.3  # along no axis as thin as the pipe


def test_faces_number_12_to_500_000():
    small, large = set(), {}
    for kind in KINDS:
        for part in parts_of(kind, FULL):
            for make in filter(None, (part.make, part.make_other)):
                count = len(make().faces)
                small.add(count)
                if count > 200_000:
                    large.setdefault(kind, []).append(count)
    assert min(small) == 12
    assert {kind: max(counts) for kind, counts in large.items()} == {"organic": 500_000, "sheet": 496_672, "terrain": 498_000}


def test_cases_are_the_same_every_time_and_as_many_as_promised():
    cases = KindCases(list(KINDS), TOY)
    listed = list(cases)
    assert len(cases) == len(listed) == len({case.name for case in listed})
    for first, second in zip(listed, cases, strict=True):
        assert first.poses.tobytes() == second.poses.tobytes()
        assert all(v.tobytes() == w.tobytes() for (v, _), (w, _) in zip(first.meshes, second.meshes, strict=True))
        assert (first.scenario, first.cpu_time, first.name) == ("kinds", True, second.name)
        for shown in (first.label.kind, first.label.part, first.label.asked):
            assert shown in first.name
    one_each = KindCases(list(KINDS), TOY, one_each=True)
    assert len(one_each) == sum(len(parts_of(kind, TOY)) for kind in KINDS)
    assert {case.label.asked for case in one_each} == {str(asked) for asked in Asked}
    assert {case.label.kind for case in KindCases(["gear", "pipe"], TOY)} == {"gear", "pipe"}


def test_meshes_of_a_folder_replace_the_organic_ones(tmp_path):
    with pytest.raises(InputError, match="has no mesh"):
        parts_of("organic", FULL, tmp_path)
    save(build.shuttle(), tmp_path / "ship.off")
    save(build.box((20.0, 30.0, 60.0), (100.0, 0.0, 0.0)), tmp_path / "crate.stl")
    (tmp_path / "notes.txt").write_text("no mesh")
    parts = parts_of("organic", FULL, tmp_path)
    assert [part.name for part in parts] == ["crate", "ship"]
    crate = parts[0].make()
    assert crate.size == pytest.approx(2.0)
    assert np.abs(crate.bounds.mean(axis=0)).max() < 1e-12
    assert parts_of("pipe", FULL, tmp_path)[0].name == "128 segments"


# ---------------------------------------------------------------------- where bodies stand


def test_approaches_end_at_a_near_miss():
    a, b = pipe(12), build.icosphere(1, 0.4)
    near = placing.approaches(a, b, 5)
    rest = Placed(a.vertices, a.faces)
    gaps = []
    for pose in near.poses(0.0)[:, 1]:
        gaps.append(distance_of(rest, Placed(transform_points(pose, b.vertices), b.faces)) / a.size)
    assert min(gaps) > 0.0
    assert max(gaps) <= placing.CLOSE_ENOUGH * placing.NEAR_MISS
    assert near.poses(0.0)[:, 0].tolist() == [np.eye(4).tolist()] * 5
    moved = near.poses(np.array([0.0, 0.1, 0.2, 0.3, 0.4])) - near.poses(0.0)
    assert np.linalg.norm(moved[:, 1, :3, 3], axis=1) == pytest.approx(a.size * np.array([0.0, 0.1, 0.2, 0.3, 0.4]))
    assert (placing.approaches(a, b, 8, upward=True).directions[:, 2] > 0.0).all()


def test_questions_are_asked_where_they_have_an_answer_worth_having():
    within = []
    for case in KindCases(["beam", "plate", "terrain", "link"], TOY):
        answer = exact_answer(case, 0).data
        if case.label.asked == Asked.MISS:
            assert not answer.any()
        elif case.label.asked == Asked.DISTANCE:
            assert (answer > 0.0).all()
        elif case.label.asked == Asked.FIRST:
            assert answer.any()
        elif case.label.asked == Asked.WITHIN:
            within += answer.tolist()
    assert 0 < sum(within) < len(within)
    for case in KindCases(["pipe", "spring", "cloth"], TOY):
        if case.deformed is not None:
            rows = [exact_answer(case, frame).data.tolist() for frame in range(2)]
            assert rows[0]
            assert rows[0] != rows[1]


# ---------------------------------------------------------------------- the truth


@pytest.mark.parametrize("asked", [Asked.ALL, Asked.PAIRS], ids=str)
def test_the_reference_of_crowds_is_that_of_rational_arithmetic(asked):
    case = toy(asked)
    assert case.job == "crowd"
    bodies = [placed(case, body, pose) for body, pose in enumerate(case.poses[0])]
    pairs = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    expected = [[a, b, i, j] for a, b in pairs for i, j, _ in rows_between(bodies[a], bodies[b])]
    assert expected
    assert exact_answer(case, 0).data.tolist() == expected


def test_the_reference_of_poses_is_that_of_rational_arithmetic():
    case = toy(Asked.FIRST)
    rest = placed(case, 0, np.eye(4))
    rows = [rows_between(rest, placed(case, 1, pose)) for pose in case.poses[:, 1]]
    assert exact_answer(case, 0).data.tolist() == [bool(each) for each in rows]
    listed = [[2 * k, 2 * k + 1, i, j] for k, each in enumerate(rows) for i, j, _ in each]
    assert listed
    assert exact_answer(toy(Asked.FIRST, question="faces"), 0).data.tolist() == listed
    case = toy(Asked.NEAREST)
    distances = np.array([rational_distance(rest, placed(case, 1, pose)) for pose in case.poses[:, 1]])
    assert exact_answer(toy(Asked.NEAREST, question="distance"), 0).data == pytest.approx(distances, rel=1e-12)
    near = distances <= case.clearance
    assert 0 < near.sum() < len(near)
    assert exact_answer(case, 0).data == pytest.approx(np.where(near, distances, np.inf), rel=1e-12)
    assert exact_answer(toy(Asked.WITHIN), 0).data.tolist() == near.tolist()


def test_the_reference_remembers_a_crowd_only_while_it_is_the_same():
    memory = {}
    rows = exact_answer(toy(Asked.ALL), 0, memory)
    assert exact_answer(toy(Asked.PAIRS), 0, memory).data is rows.data
    moved = toy(Asked.ALL)
    moved.poses[0, :, 0, 3] *= 100.0
    assert len(exact_answer(moved, 0, memory).data) < len(rows.data)
    first = toy(Asked.FIRST)
    assert exact_answer(first, 0, memory).kind == "flags"
    apart = toy(Asked.DISTANCE, poses=first.poses)  # the same poses, another question
    assert exact_answer(apart, 0, memory).data.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("part", ["all by force", "a grid, and long faces by force"])
def test_all_ways_to_touching_faces_are_those_of_rational_arithmetic(part, monkeypatch):
    a, b = mixed(120, 1, 4), mixed(100, 1, 4, seed=13)
    pose = TILT.copy()
    pose[:3, 3] = (0.4, 0.3, 0.2)
    bodies = [SimpleNamespace(pose=p, vertices=m.vertices, mesh=m) for p, m in ((np.eye(4), a), (pose, b))]
    expected = [[i, j] for i, j, _ in rows_between(*bodies)]
    if part != "all by force":
        monkeypatch.setattr(reference_pairs, "MOST_BY_FORCE", 10)
        monkeypatch.setattr(reference_pairs, "LONG", 2.0)
    one, other = Placed(a.vertices, a.faces), Placed(transform_points(pose, b.vertices), b.faces)
    if part != "all by force":
        assert len(reference_pairs._by_extent(one, 2.0 * np.quantile(reference_pairs._extent(one), 0.1))[1]) > 8
    assert expected
    assert touching_faces(one, other).tolist() == expected


def test_distances_of_slivers_are_those_of_rational_arithmetic():
    rng = np.random.default_rng(4)
    spoke = np.array([[0.0, 0.0, 0.0], [9.0, 0.001, 0.0], [9.0, -0.001, 0.0]])
    for _ in range(20):
        a, b = (rng.normal(size=(4, 1, 3)) + spoke @ np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(2))
        faces = np.arange(12, dtype=np.int32).reshape(-1, 3)
        exact = math.sqrt(min(rational.squared_distance(p.tolist(), q.tolist()) for p in a for q in b))
        assert distance_of(Placed(a.reshape(-1, 3), faces), Placed(b.reshape(-1, 3), faces)) == pytest.approx(exact, rel=1e-12)
    assert Fraction(exact) > 0


# ---------------------------------------------------------------------- the contestants


@pytest.mark.parametrize("asked", list(Asked), ids=str)
def test_what_is_installed_answers_and_jostle_is_exact(asked, in_this_process, monkeypatch):
    monkeypatch.setattr(run_module, "ROUND_SECONDS", 0.001)
    case = toy(asked)
    result = Bench(list(PEERS), rounds=1).run([case]).cases[0]
    assert result.label == KindLabel("cloth", "toy", str(asked))
    found = {}
    for row in result.rows:
        assert row.status in ("ok", "missing"), row  # a peer that cannot do it is left out
        if row.status == "ok":
            found.setdefault(row.contestant.peer, []).append(row)
            assert len(row.checks) == case.frame_count
            assert row.other_question or row.correct or "float32" in row.note, row
    ours = [row.variant.partition(":")[0] for row in found.pop("jostle")]
    assert ours[0] == "wide_tree"
    assert ("bounding_tree" in ours) == (asked not in (Asked.DISTANCE, Asked.NEAREST, Asked.WITHIN))
    assert ours.count("wide_tree") == {Asked.DISTANCE: 2, Asked.NEAREST: 2, Asked.WITHIN: 3}.get(asked, 1)
    installed = {peer for peer in PEERS if load_or_none(peer) is not None}
    if asked in (Asked.ALL, Asked.PAIRS):
        assert set(found) == installed - {"ipctk", "libigl"}
    elif asked in (Asked.FIRST, Asked.MISS):
        assert set(found) == installed
    elif asked == Asked.DISTANCE:
        assert set(found) == installed - {"ipctk", "libigl"}


def load_or_none(peer):
    try:
        return load_peer(Contestant(peer))
    except ImportError:
        return None


def test_closest_features_take_part_where_meshes_are_convex():
    sphere = Part("sphere", (Asked.DISTANCE, Asked.WITHIN), partial(build.icosphere, 1), poses=2)
    peer = load_peer(Contestant("jostle"))
    for asked in sphere.asked:
        case = Stage("capsule", sphere, TOY).case(asked)
        jobs = peer.variants(case)
        assert next(iter(jobs)).startswith("wide_tree")
        assert any(name.startswith("closest_features") for name in jobs)
        for job in jobs.values():
            assert compare(case, job.found(job.run(0)), exact_answer(case, 0)).correct


def test_boxes_in_numpy_are_those_of_turned_boxes():
    mesh = pipe(5).moved(TILT)
    poses = placing.crowd(mesh, 30, 0.4)
    case = Case("kinds", "", "bodies", ((mesh.vertices, mesh.faces),), (0,) * 30, poses, runs_as="crowd")
    box = build.box(np.ptp(mesh.vertices, axis=0), mesh.bounds.mean(axis=0)).vertices
    boxes = [transform_points(pose, box) for pose in poses[0]]
    apart = [[(a.min(0) > b.max(0)).any() or (b.min(0) > a.max(0)).any() for b in boxes] for a in boxes]
    expected = [[a, b] for a in range(30) for b in range(a + 1, 30) if not apart[a][b]]
    assert 10 < len(expected) < 300
    assert OverlappingBoxes(case).pairs(0) == expected


@pytest.mark.small
def test_numbers_of_several_poses_are_compared_one_by_one():
    case = Case("kinds", "", "nearest", (), (0, 1), np.empty((3, 2, 4, 4)), runs_as="poses")
    truth = Found("value", np.array([0.5, np.inf, 0.25]))
    assert compare(case, Found("value", truth.data + np.array([1e-10, 0.0, 0.0])), truth).correct
    off = compare(case, Found("value", np.array([0.5, np.inf, 0.3])), truth)
    assert (off.correct, off.found, off.expected) == (False, 0.3, 0.25)
    for wrong in ([0.5, 0.7, 0.25], [np.inf, np.inf, 0.25], [0.5, np.inf, np.nan]):
        assert not compare(case, Found("value", np.array(wrong)), truth).correct
    with pytest.raises(ValueError, match="answers came"):
        compare(case, Found.value(0.5), truth)
    assert Found.of_poses(case, [0.1, 0.2]).data.tolist() == [np.inf, np.inf]  # beyond a clearance of 0


class Slow:
    """A peer whose calls are told how long they take."""

    calls = 0

    def variants(self, case):
        return {"slow": Slow.job(case)}

    @staticmethod
    def job(case):
        from jostle.bench.case import Job

        def run(frame):
            Slow.calls += 1
            return exact_answer(case, frame)

        return Job(run, lambda answer: answer)


@pytest.mark.parametrize("row_seconds", [0.0, math.inf])
def test_a_slow_row_is_timed_by_its_first_call(row_seconds, in_this_process, monkeypatch):
    monkeypatch.setattr(run_module, "ROUND_SECONDS", 1e-9)
    Slow.calls = 0
    peer = "tests.bench.test_kinds:Slow"
    result = Bench([peer], rounds=5, row_seconds=row_seconds).run([toy(Asked.FIRST)]).cases[0]
    (row,) = [row for row in result.rows if row.contestant.peer == peer]
    assert row.correct
    assert (Slow.calls, len(row.rounds)) == ((1, 1) if row_seconds == 0.0 else (7, 5))


# ---------------------------------------------------------------------- the tables

RIGHT, WRONG = Check(4, 4, 0, 0), Check(3, 4, 1, 0)


def row(peer, variant, seconds, check=RIGHT):
    return Row(Contestant(peer), "1.0", variant, rounds=[] if seconds is None else [seconds], checks=[check])


def result(kind, asked, *rows, name="a part"):
    label = KindLabel(kind, name, str(asked))
    return CaseResult("kinds", f"{kind}, {name}: {asked}", "", 1, list(rows), label)


def measured():
    ours, other = partial(row, "jostle", "wide_tree: World.detect"), partial(row, "jostle", "bounding_tree: World.detect")
    return [
        result("pipe", Asked.ALL, ours(0.008), other(0.002), row("fcl", "loop", 0.004), row("coal", "OBB", 0.001, WRONG)),
        result("cone", Asked.ALL, ours(0.001), other(0.003), row("fcl", "loop", 0.010)),
        result("disc", Asked.ALL, ours(0.002), other(0.001, WRONG), row("fcl", "loop", 0.006)),
        result("gear", Asked.ALL, ours(0.001), row("coal", "OBB", 0.5, WRONG), name="24 teeth"),
        result("gear", Asked.FIRST, ours(0.001, WRONG), other(0.002), row("fcl", "loop", 0.004)),
        result("link", Asked.FIRST, other(0.002), row("fcl", "loop", 0.004)),
        CaseResult("pair-all", "blobs", "", 1, [ours(0.001)]),
    ]


@pytest.mark.small
def test_ratios_are_to_the_best_correct_peer_and_to_our_best_other_answer():
    cases = table.compared(measured(), "wide_tree")
    assert [case.label.kind for case in cases] == ["pipe", "cone", "disc", "gear", "gear", "link"]
    assert [case.to_peer for case in cases] == [0.5, 10.0, 3.0, None, 0.0, 0.0]
    assert [case.to_other for case in cases] == [0.25, 3.0, None, None, 0.0, 0.0]
    by_kind = table.each_case(cases)
    assert all(len(line) == len(table.EACH_HEADINGS) for line in by_kind)
    assert by_kind[0] == [
        "pipe",
        "a part",
        "all rows",
        "8.000",
        "fcl (loop)",
        "4.000",
        "0.5",
        "bounding_tree: World.detect",
        "2.000",
        "0.25",
    ]
    assert [line[0] for line in by_kind] == ["pipe", "cone", "disc", "gear", "", "link"]
    assert by_kind[3][3:] == ["1.000", "none is correct", "", "", "", "", ""]
    assert by_kind[4][3] == "1.000 (wrong)"
    assert by_kind[5][3] == "no answer"
    assert table.one_line(cases[0]) == ("pipe, a part: all rows: 8.000 ms; 0.5 to fcl (loop); 0.25 to bounding_tree: World.detect")


@pytest.mark.small
def test_the_worst_rows_are_those_of_both_halves_apart():
    rows = table.worst_rows(table.compared(measured(), "wide_tree"))
    assert all(len(line) == len(table.WORST_HEADINGS) for line in rows)
    assert rows == [
        ["all rows", "chosen on", "3", "0.5", "pipe, a part", "3", "0.25", "pipe, a part", "1.62"],
        ["all rows", "checked on", "1", "", "", "", "", "", ""],
        ["first hit", "checked on", "2", "0", "gear, a part", "0", "0", "gear, a part", "0"],
    ]
    with_settings = table.compared(measured(), "bounding_tree")  # another method of jostle is ours then
    assert [case.to_peer for case in with_settings] == [2.0, 10.0 / 3.0, 0.0, None, 2.0, 2.0]


@pytest.mark.small
def test_tables_are_printed_and_stored():
    cases = table.compared(measured(), "wide_tree")
    console = Console(width=250)
    with console.capture() as capture:
        table.print_tables(console, cases)
    for words in ("By kind", "Worst rows", "none is correct", "(wrong)", "24 teeth", "checked on"):
        assert words in capture.get()
    lines = table.as_markdown(cases)
    assert lines[0] == "**By kind**"
    assert lines[3].count("|") == len(table.EACH_HEADINGS) + 1
    stored = json.loads(json.dumps(table.as_json(cases), allow_nan=False))
    assert stored[0] == {
        "kind": "pipe", "part": "a part", "asked": "all rows", "half": "chosen on", "our_seconds": 0.008, "ours_correct": True,
        "best_correct_peer": "fcl (loop)", "times_the_best_correct_peer": 0.5,
        "best_other_of_ours": "bounding_tree: World.detect", "times_the_best_other_of_ours": 0.25,
    }  # fmt: skip
    assert stored[5]["our_seconds"] is None


# ---------------------------------------------------------------------- the command


def test_the_command_refuses_kinds_that_it_does_not_know(tmp_path):
    for arguments, words in (
        (["--kind", "teapot"], "no kind 'teapot'; choose among pipe"),
        (["--kind", "pipe", "--scenario", "distance"], "add --scenario kinds"),
        (["--meshes", str(tmp_path)], "has no mesh"),
        (["--scenario", "kind"], "continuous, kinds"),
    ):
        refused = CliRunner().invoke(application, ["peers", *arguments])
        assert isinstance(refused.exception, InputError), refused.output
        assert words in str(refused.exception)


def test_the_command_runs_one_kind(tmp_path, monkeypatch, in_this_process):
    monkeypatch.setattr(part_module, "QUICK", TOY)
    target, page = tmp_path / "out.json", tmp_path / "out.md"
    arguments = ["peers", "--quick", "--rounds", "1", "--kind", "link", "--kind", "beam", "--peers", "fcl"]
    outcome = CliRunner().invoke(application, [*arguments, "--json", str(target), "--markdown", str(page)])
    assert outcome.exit_code == 0, outcome.output
    count = len(parts_of("link", TOY)) + len(parts_of("beam", TOY))
    assert f"{count} of {count}: link, 960 faces" in outcome.output
    assert "Worst rows" in outcome.output
    stored = json.loads(target.read_text())
    assert len(stored["cases"]) == len(stored["kinds"]) == count
    assert {case["kind"] for case in stored["kinds"]} == {"beam", "link"}
    assert all(case["label"]["kind"] in ("beam", "link") for case in stored["cases"])
    text = page.read_text()
    assert "| beam | I |" in text
    assert "**Worst rows**" in text
    assert "**kinds:" not in text


def test_all_other_scenarios_are_the_default(monkeypatch):
    asked = []
    monkeypatch.setattr("jostle.bench.run.Bench.run", lambda self, cases, show: asked.extend(cases))
    monkeypatch.setattr("jostle.bench.scenarios.QUICK", SimpleNamespace())
    monkeypatch.setattr("jostle.bench.scenarios.make_cases", lambda name, sizes: [name])
    CliRunner().invoke(application, ["peers", "--quick"])
    assert asked
    assert "kinds" not in asked

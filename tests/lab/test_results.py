"""Results: what is derived from the times, JSON in and out, and the files."""

import csv
import json
import math

import pytest

from jostle.errors import InputError
from jostle.lab.files import FRAME_COLUMNS, SUMMARY_COLUMNS, folder_for, read_result, read_results, write_files
from jostle.lab.results import ExperimentResult, MethodRun, Point, Verdict, quality_of

pytestmark = pytest.mark.small


def a_run(method="wide_tree", seconds=(0.001, 0.002, 0.003, 0.01), **fields):
    frames = len(seconds)
    made = {
        "prepare_seconds": 0.5,
        "memory_bytes": 1000,
        "frame_seconds": list(seconds),
        "update_seconds": [0.1 * each for each in seconds],
        "counters": [{"box_tests": 10 + k, "samples": 0} for k in range(frames)],
        "contacts": [2] * frames,
        "pairs": [1] * frames,
        "missed": 0,
        "extra": 0,
        "compared": "faces",
        "rounds": 3,
    }
    return MethodRun(method, **{**made, **fields})


def a_result(name="toy"):
    slow = MethodRun("brute_force", "too slow", "stopped after 0 of 4 frames: it exceeded its limit of 1 s")
    verdict = Verdict("kitamura1998", "§1", "a claim, with a comma", "not judged", "a quick run", "70 ms", "3 ms")
    points = [Point(8, 2, 16, 4, [a_run(), slow]), Point("other", 2, 32, 4, [a_run(missed=1, extra=2)])]
    return ExperimentResult(name, "A toy", "faces", points, [verdict], {"cpu": "one"}, True, False, "2020", "jostle lab run toy")


def test_times_over_the_frames():
    run = a_run(seconds=[0.001 * k for k in range(1, 102)])
    assert run.median == pytest.approx(0.051)
    assert run.p95 == pytest.approx(0.096)
    assert run.maximum == pytest.approx(0.101)
    assert run.deviation == pytest.approx(math.sqrt((101**2 - 1) / 12) * 0.001)
    empty = MethodRun("x")
    assert (empty.median, empty.p95, empty.maximum, empty.deviation, empty.agrees, empty.expected) == (None,) * 6


def test_what_was_expected_follows_from_what_was_found():
    assert a_run(missed=3, extra=1).expected == 8 + 3 - 1
    assert a_run(missed=3, extra=1, compared="body pairs").expected == 4 + 3 - 1
    assert a_run().agrees
    assert not a_run(extra=1).agrees
    assert a_run().total("box_tests") == 10 + 11 + 12 + 13


def test_an_approximate_answer_is_judged_by_its_guarantee():
    def quality(**fields):
        run = MethodRun("m", **fields)
        return quality_of(run), run.beyond, run.keeps_guarantee

    assert quality(missed=0, extra=0) == ("exact", 0, True)
    assert quality(missed=1, extra=2) == ("wrong", 3, False)  # files of before have no more
    band = {"missed": 1, "extra": 2, "guarantee": "within 0.1"}
    assert quality(**band, missed_beyond=0, extra_beyond=0) == ("in its band (within 0.1)", 0, True)
    assert quality(**band, missed_beyond=1, extra_beyond=1) == ("wrong: 2 out of its band (within 0.1)", 2, False)
    assert quality(missed=1, extra=2, guarantee="no guarantee", missed_beyond=1, extra_beyond=2) == ("no guarantee", 3, None)
    assert MethodRun("m").keeps_guarantee is None


def test_a_result_comes_back_from_json_as_it_was():
    result = a_result()
    text = json.dumps(result.to_json(), allow_nan=False)
    assert ExperimentResult.from_json(text) == result
    assert ExperimentResult.from_json(json.loads(text)) == result
    stored = json.loads(text)["points"][0]["runs"][0]
    assert (stored["median_seconds"], stored["maximum_seconds"]) == (0.0025, 0.01)
    assert result.methods == ["wide_tree", "brute_force"]
    assert result.points[0].run_of("nobody") is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda stored: stored.update(format="else"), ["'else'", "jostle lab 1"]),
        (lambda stored: stored.pop("title"), ["title"]),
        (lambda stored: stored["points"][1].pop("faces"), ["points[1]", "faces"]),
        (lambda stored: stored["points"][0]["runs"][1].pop("method"), ["points[0].runs[1]", "method"]),
        (lambda stored: stored["points"][0]["runs"][1].update(status="fine"), ["brute_force", "'fine'"]),
        (lambda stored: stored["verdicts"][0].update(verdict="true"), ["'true'"]),
        (lambda stored: stored["verdicts"].append(3), ["verdicts[1]"]),
        (lambda stored: stored.update(points=5), ["points is 5"]),
        (
            lambda stored: stored["points"][0]["runs"][0].update(frame_seconds=["x"]),
            ["points[0].runs[0]", "frame_seconds is ['x']"],
        ),
        (lambda stored: stored["points"][0].update(bodies=None), ["points[0]", "bodies is None"]),
    ],
)
def test_a_damaged_result_is_refused_with_file_and_field(tmp_path, change, words):
    stored = a_result().to_json()
    stored = json.loads(json.dumps(stored))
    change(stored)
    file = tmp_path / "result.json"
    file.write_text(json.dumps(stored))
    with pytest.raises(InputError) as refused:
        read_result(file)
    for word in [str(file), *words]:
        assert word in str(refused.value)


def test_a_file_that_is_no_result_is_refused(tmp_path):
    file = tmp_path / "result.json"
    for content in (b"", b"{", b"[]", b"\xff\xfe\x00", b"[" * 100_000):
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"result\.json"):
            read_result(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_result(tmp_path / "none.json")


def test_the_files_hold_every_point_method_and_frame(tmp_path):
    folder = folder_for(tmp_path / "out", "toy")
    written = write_files(a_result(), folder)
    assert [file.name for file in written] == ["summary.csv", "frames.csv", "result.json"]
    assert sorted(file.name for file in folder.iterdir()) == ["frames.csv", "result.json", "summary.csv"]
    with written[0].open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [*SUMMARY_COLUMNS, "box_tests"]  # counters that nobody used are left out
    assert [(row["value"], row["method"], row["status"]) for row in rows] == [
        ("8", "wide_tree", "ok"),
        ("8", "brute_force", "too slow"),
        ("other", "wide_tree", "ok"),
    ]
    assert (rows[0]["median_seconds"], rows[0]["contacts"], rows[0]["box_tests"], rows[0]["why"]) == ("0.0025", "8", "46", "")
    assert (rows[1]["median_seconds"], rows[1]["contacts"], rows[1]["missed"], rows[1]["box_tests"]) == ("", "", "", "")
    assert (rows[2]["missed"], rows[2]["extra"]) == ("1", "2")
    with written[1].open(newline="") as file:
        frames = list(csv.DictReader(file))
    assert list(frames[0]) == [*FRAME_COLUMNS, "box_tests"]
    assert [(row["value"], row["frame"], row["seconds"], row["box_tests"]) for row in frames[:5]] == [
        ("8", "0", "0.001", "10"),
        ("8", "1", "0.002", "11"),
        ("8", "2", "0.003", "12"),
        ("8", "3", "0.01", "13"),
        ("other", "0", "0.001", "10"),
    ]
    assert len(frames) == 8


def test_all_results_of_a_folder_are_read_by_name(tmp_path):
    for name in ("b", "a"):
        write_files(a_result(name), folder_for(tmp_path, name))
    write_files(a_result("a_paper/fig_1"), folder_for(tmp_path, "a_paper/fig_1"))
    (tmp_path / "empty").mkdir()
    assert [result.name for result in read_results(tmp_path)] == ["a", "a_paper/fig_1", "b"]
    assert read_results(tmp_path / "nowhere") == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(InputError, match="taken"):
        folder_for(tmp_path / "taken", "toy")

"""`jostle lab`, at toy size: every experiment, a user's own file and motion, Ctrl-C, and refusals."""

import dataclasses
import json
import os
import subprocess
import sys
import types

import numpy as np
import pytest
import trimesh
from typer.testing import CliRunner

from jostle.cli.app import app
from jostle.errors import InputError
from jostle.lab import catalogue, experiments, measure, papers
from jostle.lab.files import read_results
from tests.interrupted_writes import cut_short
from tests.lab.fakes import toy_motion
from tests.lab.in_this_process import InThisProcess

TOY = {"deforming": ("hands",), "face_octree/fig_07": (8, 24), "face_octree/fig_14": (None,)}


@pytest.fixture
def drawn(monkeypatch):
    """Stand in for plots and page, and note what they were called with."""
    calls = []

    def draw_experiment(result, folder, motion):
        calls.append(("plots", result.name, folder, len(motion)))
        return []

    def write_page(results, folder):
        calls.append(("page", [result.name for result in results], folder))
        return folder / "index.html"

    for name, function in (("plots", draw_experiment), ("page", write_page)):
        module = types.ModuleType(f"jostle.lab.{name}")
        setattr(module, function.__name__, function)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(f"jostle.lab.{name}", module, raising=False)
    return calls


@pytest.fixture
def toys(monkeypatch):
    """One experiment and two figures, with few values, few frames and two methods."""
    small = {
        each.name: dataclasses.replace(
            each, quick_values=TOY[each.name], quick_frames=10 if "07" in each.name else 3, methods=("wide_tree", "brute_force")
        )
        for each in catalogue.every_experiment()
        if each.name in TOY
    }
    own = tuple(each for name, each in small.items() if "/" not in name)
    figures = tuple(each for name, each in small.items() if "/" in name)
    paper = papers.Paper("face_octree", "kitamura1998", "A toy of a paper", figures)
    for module in (experiments, catalogue):
        monkeypatch.setattr(module, "EXPERIMENTS", own)
    for module in (papers, catalogue):
        monkeypatch.setattr(module, "PAPERS", (paper,))


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(measure, "ServerProcess", InThisProcess)


def lab(*arguments):
    return CliRunner().invoke(app, ["lab", *map(str, arguments)])


def succeeded(outcome):
    assert outcome.exit_code == 0, (outcome.output, outcome.exception)
    return outcome


def test_list_names_experiments_figures_by_paper_and_scenes():
    text = succeeded(lab("list")).output
    for word in ("deforming", "scene: spheres, hands", "cones", "SCENE.glb", "jostle lab run face_octree", "kitamura1998"):
        assert word in text
    for number in ("06", "07", "08", "12", "13", "14", "16_17_18"):
        assert f"face_octree/fig_{number}" in text
    assert text.index("deforming") < text.index("Kitamura") < text.index("face_octree/fig_06")


def test_every_experiment_runs_and_writes_its_files(tmp_path, toys, drawn, in_this_process):
    for words in ("deforming", "face_octree"):  # one experiment, then all figures of a paper
        outcome = succeeded(lab("run", words, "--quick", "--rounds", 1, "--out", tmp_path))
        assert "not judged" in outcome.output
        assert "exact" in outcome.output
    assert "kitamura1998, fig. 14" in outcome.output
    for name, values in TOY.items():
        folder = tmp_path / name
        assert sorted(file.name for file in folder.iterdir()) == ["frames.csv", "result.json", "summary.csv"]
        stored = json.loads((folder / "result.json").read_text())
        assert [point["value"] for point in stored["points"]] == list(values)
        assert stored["quick"] is True
        assert stored["machine"]["numba"]
        for point in stored["points"]:
            assert [run["method"] for run in point["runs"]] == ["wide_tree", "brute_force"]
            for run in point["runs"]:
                assert (run["status"], run["missed"], run["extra"], run["rounds"]) == ("ok", 0, 0, 1)
                assert len(run["frame_seconds"]) == point["frames"]
        frames = (folder / "frames.csv").read_text().splitlines()
        assert len(frames) == 1 + sum(len(run["frame_seconds"]) for point in stored["points"] for run in point["runs"])
        assert ("plots", name, folder, stored["points"][-1]["frames"]) in drawn
    assert drawn[-1] == ("page", list(TOY), tmp_path)
    # The last frame of the spheres is the one in which they touch.
    spheres = next(each for each in read_results(tmp_path) if each.name == "face_octree/fig_07")
    assert (spheres.paper, spheres.figure) == ("kitamura1998", "fig. 7")
    for point in spheres.points:
        contacts = point.runs[0].contacts
        assert contacts[-1] > 0
        assert not any(contacts[:-1])
    drawn.clear()
    succeeded(lab("report", "--out", tmp_path))
    assert drawn == [("page", list(TOY), tmp_path)]


@pytest.mark.small
def test_a_figure_that_several_papers_have_must_be_named_in_full(monkeypatch):
    other = dataclasses.replace(catalogue.experiments_named("fig_06")[0], name="another/fig_06")
    monkeypatch.setattr(catalogue, "PAPERS", (*papers.PAPERS, papers.Paper("another", "x", "", (other,))))
    assert catalogue.experiments_named("another/fig_06") == catalogue.experiments_named("another") == (other,)
    with pytest.raises(InputError, match=r"face_octree/fig_06, another/fig_06"):
        catalogue.experiments_named("fig_06")


def ten_bodies(path):
    scene = trimesh.Scene()
    for k in range(10):
        mesh = trimesh.creation.icosphere(subdivisions=0) if k % 2 else trimesh.creation.box()
        pose = np.eye(4)
        pose[:3, 3] = (1.2 * k, 0.1 * k, 0.0)
        scene.add_geometry(mesh, node_name=f"body {k}", transform=pose)
    path.write_bytes(scene.export(file_type="glb"))
    return path


def test_a_file_of_ten_bodies_ends_in_advice(tmp_path, drawn, in_this_process):
    file = ten_bodies(tmp_path / "robot arm.glb")
    outcome = succeeded(lab("run", file, "--quick", "--rounds", 1, "--out", tmp_path / "out"))
    (result,) = read_results(tmp_path / "out")
    assert result.name == "robot-arm"
    (point,) = result.points
    assert (point.bodies, point.faces, point.frames) == (10, 5 * 12 + 5 * 20, 20)
    for run in point.runs:
        assert run.expected > 0
        assert run.missed == 0 if run.method == "voxmap" else run.agrees  # bodies that nearly touch are within its accuracy
    assert "serves this scene best: exact in all 20 frames" in result.advice
    assert result.advice.split()[0] in outcome.output


def test_a_recorded_motion_is_replayed_with_the_methods_that_were_named(tmp_path, drawn):
    toy_motion(frames=4, deforming=True).save(tmp_path / "deforming.npz")
    outcome = succeeded(
        lab(
            "run",
            "--motion",
            tmp_path / "deforming.npz",
            "--methods",
            "wide_tree(build=sah)",
            "--rounds",
            1,
            "--json",
            "--out",
            tmp_path,
        )
    )
    stored = json.loads(outcome.stdout)
    assert stored["name"] == "own-deforming"  # apart from the experiment of that name
    assert stored["title"] == "a toy"
    (run,) = stored["points"][0]["runs"]
    assert (run["method"], run["status"], run["missed"], run["extra"]) == ("wide_tree(build='sah')", "ok", 0, 0)
    assert stored["points"][0]["frames"] == 4
    assert json.loads((tmp_path / "own-deforming" / "result.json").read_text()) == stored
    assert "written to" in outcome.stderr


def test_a_method_that_is_too_slow_is_a_row_and_the_run_goes_on(tmp_path, drawn):
    toy_motion(frames=4).save(tmp_path / "toy.npz")
    arguments = ("run", "--motion", tmp_path / "toy.npz", "--methods", "brute_force", "--out", tmp_path, "--limit", 0.001)
    outcome = succeeded(lab(*arguments))
    (result,) = read_results(tmp_path)
    (run,) = result.points[0].runs
    assert run.status == "too slow"
    assert result.advice.startswith("No method finished this scene. brute_force is too slow for it: stopped")
    assert "too slow" in outcome.output


def test_without_matplotlib_the_data_is_kept_and_the_extra_is_named(tmp_path, toys, drawn, monkeypatch):
    def missing(result, folder, motion):
        raise ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib")

    monkeypatch.setattr(sys.modules["jostle.lab.plots"], "draw_experiment", missing)
    outcome = succeeded(lab("run", "deforming", "--quick", "--methods", "brute_force", "--rounds", 1, "--out", tmp_path))
    assert "pip install 'jostle[lab]'" in outcome.output
    assert (tmp_path / "deforming" / "result.json").exists()
    assert drawn[-1][0] == "page"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing"], ["'nothing'", "spheres", "crowd", "SCENE.glb"]),
        (["nothing.glb"], ["nothing.glb"]),
        ([], ["jostle lab list", "--motion"]),
        (["spheres", "--motion", "x.npz"], ["either"]),
        (["--motion", "no.npz"], ["no.npz"]),
        (["spheres", "--methods", "wide_tree(build=oak)"], ["wide_tree", "build='oak'"]),
        (["spheres", "--methods", "nobody"], ["nobody"]),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_written(tmp_path, arguments, words):
    outcome = lab("run", *arguments, "--out", tmp_path / "out")
    assert isinstance(outcome.exception, InputError)
    for word in words:
        assert word in str(outcome.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["../../outside", "..", "a/../../..", "/outside", "a/b/c", "", "a//b", "a/", ".", "a\0b"])
def test_a_result_whose_name_leads_out_of_the_folder_is_refused(tmp_path, name):
    out = tmp_path / "deep" / "out"
    for folder, kept in (("good", "good"), ("foreign", name)):
        (out / folder).mkdir(parents=True)
        stored = {"format": "jostle lab 1", "name": kept, "title": "", "points": []}
        (out / folder / "result.json").write_text(json.dumps(stored))
    before = sorted(tmp_path.rglob("*"))
    outcome = lab("report", "--out", out)
    assert isinstance(outcome.exception, InputError)
    assert str(out / "foreign" / "result.json") in str(outcome.exception)
    assert "name is" in str(outcome.exception)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_report_that_is_interrupted_leaves_the_old_markdown(tmp_path, drawn, monkeypatch):
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "result.json").write_text(json.dumps({"format": "jostle lab 1", "name": "toy", "title": ""}))
    (tmp_path / "verdicts.md").write_text("old")
    cut_short(monkeypatch)
    outcome = lab("report", "--out", tmp_path, "--markdown", tmp_path / "verdicts.md")
    assert outcome.exit_code == 130
    assert (tmp_path / "verdicts.md").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["toy", "verdicts.md"]


def test_a_report_of_nothing_is_refused(tmp_path, drawn):
    outcome = lab("report", "--out", tmp_path)
    assert isinstance(outcome.exception, InputError)
    assert "jostle lab run" in str(outcome.exception)


CODE = """
import os, signal, sys
import jostle.lab.measure as measure
from jostle.cli import main

take_turn = measure._Contender.take_turn

def interrupted(self, answering):
    if not answering:
        os.killpg(0, signal.SIGINT)  # as a terminal does: the processes of the methods hear it as well
    take_turn(self, answering)

if __name__ == "__main__":
    measure._Contender.take_turn = interrupted
    main()
"""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups are of POSIX systems")
def test_ctrl_c_writes_what_was_measured_and_says_130(tmp_path):
    toy_motion().save(tmp_path / "toy.npz")
    script = tmp_path / "script.py"
    script.write_text(CODE)
    arguments = ["lab", "run", "--motion", "toy.npz", "--methods", "brute_force", "--out", "out"]
    done = subprocess.run(
        [sys.executable, script, *arguments], cwd=tmp_path, capture_output=True, text=True, start_new_session=True, timeout=300
    )
    assert done.returncode == 130, (done.stdout, done.stderr)
    assert "interrupted: the results above are partial" in done.stdout
    assert "Traceback" not in done.stderr
    (result,) = read_results(tmp_path / "out")
    assert result.interrupted
    (run,) = result.points[0].runs
    assert (run.status, run.why) == ("interrupted", "interrupted after 0 of 5 timed rounds")
    assert len(run.frame_seconds) == 5
    assert run.agrees

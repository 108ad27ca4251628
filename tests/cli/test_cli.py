"""The command line: answers, exit statuses and messages. Pipes, faults and terminals get processes of their own."""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.tiny import box


def in_a_process(*arguments, code="from jostle.cli import main; main()", **streams):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}, text=True)


def write_obj(path, mesh):
    lines = ["v " + " ".join(map(repr, map(float, point))) for point in mesh.vertices]
    lines += ["f " + " ".join(str(k + 1) for k in face) for face in mesh.faces]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def files(tmp_path):
    return write_obj(tmp_path / "small.obj", box()), write_obj(tmp_path / "large.obj", box((-2, -2, -2), (2, 2, 2)))


def test_check_says_free_touching_crossing_inside_and_near(files, jostle):
    small, large = files
    free = in_a_process("check", small, large)
    assert (free.returncode, free.stderr) == (0, "")
    assert free.stdout == "free: small.obj and large.obj do not touch\n"
    inside = jostle("check", small, large, "--solid")
    assert inside.returncode == 1
    assert "small.obj lies inside large.obj" in inside.stdout
    crossing = jostle("check", small, small, "--translate", "0.5", "0.25", "0.125")
    assert crossing.returncode == 1
    assert "cross: 18 face pairs (18 crossing)" in crossing.stdout
    touching = jostle("check", small, small, "--translate", "1", "0", "0")
    assert touching.returncode == 1
    assert "touch without crossing" in touching.stdout
    near = jostle("check", small, small, "--translate", "1.5", "0", "0", "--clearance", "0.6")
    assert near.returncode == 1
    assert "closer than the clearance" in near.stdout
    assert jostle("check", small, small, "--translate", "1.5", "0", "0", "--clearance", "0.5").returncode == 0


def test_check_says_that_solids_overlap(files, jostle):
    small, _ = files
    same = jostle("check", small, small, "--solid")
    assert same.returncode == 1
    said = " ".join(same.stdout.split())
    assert "small.obj and small.obj overlap: their interiors meet although no face passes through another; 1" in said
    assert "touching)" in said
    pushed = jostle("check", small, small, "--translate", "0.5", "0", "0", "--solid", "--json")
    report = json.loads(pushed.stdout)
    assert (pushed.returncode, report["verdict"]) == (1, "OVERLAPPING")
    assert {row["kind"] for row in report["rows"]} == {"TOUCHING"}
    flush = jostle("check", small, small, "--translate", "1", "0", "0", "--solid")
    assert flush.returncode == 1
    assert "touch without crossing" in flush.stdout


def test_check_says_when_a_file_has_several_nodes(files, tmp_path, jostle):
    import trimesh

    scene = trimesh.Scene([trimesh.creation.box(), trimesh.creation.box().apply_translation((5, 0, 0))])
    scene.export(tmp_path / "two.glb")
    trimesh.Scene([trimesh.creation.box()]).export(tmp_path / "one.glb")
    result = jostle("check", files[0], tmp_path / "two.glb", "--translate", "9", "0", "0")
    assert result.returncode == 0
    note = "are tested as one mesh, and not against each other; jostle.World.from_scene makes a body of each\n"
    assert result.stderr == f"jostle: note: the 2 nodes of {tmp_path / 'two.glb'} {note}"
    assert jostle("check", files[0], tmp_path / "one.glb").stderr == ""


def test_check_says_that_a_folder_is_one(files, tmp_path, jostle):
    result = jostle("check", files[0], tmp_path)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"jostle: {tmp_path}: it is a folder; name one of the files in it (")


def test_check_takes_methods_without_faces(files, jostle):
    small, large = files
    by_planes = ("--method", "separating_plane")
    free = jostle("check", small, small, *by_planes, "--translate", "1.5", "0", "0")
    assert (free.returncode, free.stdout) == (0, "free: small.obj and small.obj do not touch\n")
    inside = jostle("check", small, large, *by_planes)  # it answers for solids, asked or not
    assert (inside.returncode, inside.stderr) == (1, "")
    assert inside.stdout == "small.obj and large.obj cross (this method reports no faces)\n"
    touching = jostle("check", small, small, *by_planes, "--translate", "1", "0", "0", "--json")
    report = json.loads(touching.stdout)
    assert touching.returncode == 1
    assert (report["verdict"], report["distance"], report["rows"]) == ("TOUCHING", 0.0, [])


def test_check_counts_points_if_a_method_reports_points(files, jostle):
    small, _ = files
    found = jostle("check", small, small, "--translate", "0.5", "0", "0", "--method", "image_space")
    assert found.returncode == 1
    assert "points (" in found.stdout
    assert "face pair" not in found.stdout
    assert "nan" not in found.stdout


def test_check_says_why_a_method_does_not_take_a_mesh(files, tmp_path, jostle):
    from jostle.shapes import build

    ring = write_obj(tmp_path / "ring.obj", build.torus(segments=8, sides=6))
    refused = jostle("check", files[0], ring, "--method", "separating_plane")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "body 'B' is not convex" in refused.stderr
    assert "concave='hull'" in refused.stderr
    near = jostle("check", files[0], files[0], "--method", "separating_plane", "--clearance", "0.5")
    assert near.returncode == 2
    assert "does not serve clearance" in near.stderr


def test_check_takes_poses(files, jostle):
    small = files[0]
    pose = "1 0 0 3  0 1 0 0  0 0 1 0  0 0 0 1"
    assert jostle("check", small, small, "--pose-b", pose).returncode == 0
    assert jostle("check", small, small, "--pose-b", pose.replace("3", "0.5")).returncode == 1
    # Turned by 180 degrees about z, the box fills -1 … 0: one edge is left to touch, and none after a shift.
    turned = ("check", small, small, "--rotate", "0", "0", "1", "180", "--translate")
    assert jostle(*turned, "-0.5", "0", "0").returncode == 0
    assert jostle(*turned, "0.5", "0.5", "0.5").returncode == 1


def test_check_prints_json_and_draws(files, tmp_path, jostle):
    small = files[0]
    picture = tmp_path / "picture.png"
    result = jostle("check", small, small, "--translate", "0.5", "0.25", "0.125", "--json", "--picture", picture)
    report = json.loads(result.stdout)
    assert result.returncode == 1
    assert report["verdict"] == "CROSSING"
    assert report["free"] is False
    assert len(report["rows"]) == 18
    assert report["rows"][0]["depth"] is None
    assert set(report["bodies"]) == {"A", "B"}
    assert picture.read_bytes().startswith(b"\x89PNG")
    free = json.loads(jostle("check", small, small, "--translate", "5", "0", "0", "--json").stdout)
    assert (free["verdict"], free["rows"]) == ("FREE", [])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--pose-b", "1 2 3"], "--pose-b has 3 numbers"),
        (["--pose-b", "a b"], "--pose-b"),
        (["--pose-b", "2 0 0 0 0 2 0 0 0 0 2 0 0 0 0 1"], "not rigid"),
        (["--clearance", "nan"], "clearance is nan"),
        (["--clearance", "-1"], "clearance is -1"),
        (["--method", "magic"], "no method 'magic'"),
        (["--rotate", "0", "0", "0", "10"], "axis"),
        (["--picture", "out.jpg"], "--picture out.jpg: the name must end in .png"),
        (["--picture", "no/folder/out.png"], "there is no folder no/folder"),
    ],
)
def test_bad_options_are_one_sentence_and_exit_status_2(files, jostle, arguments, message):
    result = jostle("check", *files, *arguments)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_bad_files_are_exit_status_2(files, tmp_path, jostle):
    (tmp_path / "bad.stl").write_bytes(b"no mesh")
    for bad in (tmp_path / "missing.stl", tmp_path / "bad.stl"):
        result = jostle("check", bad, files[0])
        assert result.returncode == 2
        assert bad.name in result.stderr
        assert "Traceback" not in result.stderr
    assert jostle("check", files[0]).returncode == 2


def test_faults_do_not_look_like_an_answer(files):
    code = (
        "import jostle.world.world, jostle.cli\n"
        "def broken(*a, **k): raise ZeroDivisionError('on purpose')\n"
        "jostle.world.world.World.detect = broken\n"
        "jostle.cli.main()"
    )
    result = in_a_process("check", *files, code=code)
    assert result.returncode == 3
    assert "bug in jostle" in result.stderr


def test_output_that_nobody_reads_does_not_look_like_an_answer(files):
    for arguments in (["methods"], ["check", *files, "--json"]):
        reader, writer = os.pipe()
        os.close(reader)
        result = in_a_process(*arguments, stdout=writer)
        os.close(writer)
        assert (result.returncode, result.stderr) == (141, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_output_that_cannot_be_written_is_an_error(files):
    for last in ([], ["--json"]):
        with Path("/dev/full").open("w") as full:
            result = in_a_process("check", *files, *last, stdout=full)
        assert result.returncode == 2
        assert result.stderr == "jostle: the output cannot be written (No space left on device)\n"


LONG = "a" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "A", "B", "--picture", f"{LONG}.png"],
        ["shot", "A", "--out", f"{LONG}.png"],
        ["shot", LONG, "--out", "x.png"],
        ["fit", LONG, "--move", "part"],
        ["fit", "headlight", "--move", "cover_1", "--trace", f"{LONG}/x.csv"],
        ["sim", LONG],
        ["sim", "spheres", "--frames", "1", "--record", f"{LONG}/x.npz"],
        ["view", LONG],
        ["lab", "run", LONG],
        ["lab", "report", "--out", LONG],
    ],
    ids=lambda words: " ".join(word for word in words if LONG not in word),
)
def test_names_that_the_system_refuses_are_bad_input(files, jostle, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = {"A": str(files[0]), "B": str(files[1])}
    result = jostle(*(given.get(word, word) for word in arguments))
    assert result.returncode == 2
    assert "File name too long" in result.stderr


def test_a_file_without_permission_is_bad_input(jostle, monkeypatch):
    def refused(path, *, follow_symlinks=True):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_file", refused)
    assert jostle("sim", "secret/world.npz") == (2, "", "jostle: secret/world.npz: Permission denied\n")


def test_a_terminal_of_few_characters_shows_what_it_can(files, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    result = in_a_process("check", files[0], files[0])
    assert result.returncode == 1
    assert "? and " in result.stdout


def test_help_names_the_commands_and_exit_statuses(jostle):
    for arguments in (["--help"], []):
        result = jostle(*arguments)
        assert all(command in result.stdout for command in ("check", "methods", "warmup", "demo"))
    assert "Exit status" in jostle("check", "--help").stdout


def test_the_version_is_that_of_the_package(jostle):
    assert jostle("--version") == (0, f"jostle {version('jostle')}\n", "")


def test_methods_prints_every_method(jostle):
    from jostle.registry import METHODS

    result = jostle("methods", "--markdown")
    assert result.returncode == 0
    assert all(name in result.stdout for name in METHODS)


@pytest.mark.parametrize(("width", "table"), [(80, False), (140, True)])
def test_the_methods_are_readable_in_a_narrow_window(monkeypatch, width, table):
    from typer.testing import CliRunner

    from jostle.cli.app import app
    from jostle.cli.methods import rows

    monkeypatch.setenv("COLUMNS", str(width))
    lines = [line.rstrip() for line in CliRunner().invoke(app, ["methods"]).output.splitlines()]
    assert max(map(len, lines)) <= width
    assert any("┃" in line for line in lines) is table
    for name, semantics, *_ in rows():
        assert any(name in line for line in lines)
        if not table:
            assert lines[lines.index(name) + 1] == f"    answers for: {semantics}"


def test_the_table_of_methods_in_the_documents_is_that_of_the_traits():
    from jostle.cli.methods import as_markdown

    page = Path(__file__).parents[2] / "docs" / "choosing" / "which_method.md"
    assert as_markdown() in page.read_text(encoding="utf-8")


def test_the_stored_table_of_methods_is_that_of_the_traits():
    from jostle.cli.methods import STORED, as_markdown, rows, stored_rows

    assert STORED.read_text(encoding="utf-8") == as_markdown() + "\n"
    assert stored_rows() == rows()


@pytest.mark.parametrize("command", ["warmup", "check"])
def test_ctrl_c_is_one_sentence_and_exit_status_130(files, jostle, command, monkeypatch):
    def interrupt(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("jostle.kernels.warmup.warm_up", interrupt)
    monkeypatch.setattr("jostle.world.world.World.detect", interrupt)
    result = jostle(command, *(files if command == "check" else ()))
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "jostle: interrupted\n")


def test_a_warm_up_without_a_compiler_names_a_few_kernels_and_the_cure(tmp_path):
    environment = os.environ | {"JOSTLE_COMPILE": "never", "JOSTLE_COMPILED": "0", "JOSTLE_CACHE_DIR": str(tmp_path)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    refused = in_a_process("warmup", env=environment)
    assert refused.returncode == 2
    first, *entries, last = refused.stderr.splitlines()
    assert first == "jostle: some kernels did not compile:"
    assert len(entries) == 3
    assert all("JOSTLE_COMPILE=never forbids" in entry and "unset JOSTLE_COMPILE" in entry for entry in entries)
    assert last.startswith("and ")
    assert not list(tmp_path.iterdir())


def test_a_warm_up_with_a_setting_that_means_nothing_is_refused_in_one_sentence():
    refused = in_a_process("warmup", env=os.environ | {"JOSTLE_COMPILE": "background"})
    assert refused.returncode == 2
    assert refused.stderr == "jostle: environment: JOSTLE_COMPILE is 'background'; it must be foreground or never, or not set\n"

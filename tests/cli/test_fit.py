"""`jostle fit`: both answers, their exit statuses, written files, refusals."""

import csv
import re

import numpy as np
import pytest
import trimesh

from jostle import JostleError, World, fitting
from jostle.cli.app import app
from jostle.fitting import RecordedPath, read_path, write_path
from jostle.geometry.pose import translation
from tests.tiny import box


@pytest.fixture
def saved(tmp_path):
    """A part before a wall, saved as a world; a path into the wall and one past it."""
    world = World()
    world.add(box((0, 0, 0), (1, 1, 1)), name="part")
    world.add(box((3, -2, -2), (4, 2, 2)), name="wall")
    world.add(box((3, -2, 2), (4, 2, 6)), name="on the wall")
    world.save(tmp_path / "world.npz")
    write_path(RecordedPath(np.array([translation((x, 0, 0)) for x in range(7)])), tmp_path / "into.csv")
    write_path(RecordedPath(np.array([translation((x, 3, 0)) for x in range(7)])), tmp_path / "past.csv")
    return tmp_path


def test_a_part_that_can_be_removed_and_one_that_is_blocked(saved, jostle):
    free = jostle("fit", saved / "world.npz", "--move", "part", "--path", saved / "past.csv", "--separation", "0.1")
    assert free.returncode == 0
    assert "can be removed: part reached the end of its path" in free.stdout
    assert "separation 0.1" in free.stdout
    blocked = jostle(
        *("fit", saved / "world.npz", "--move", "part", "--path", saved / "into.csv", "--separation", "0.1"),
        *("--trace", saved / "trace.csv", "--picture", saved / "end.png", "--write-path", saved / "again.csv"),
    )
    assert blocked.returncode == 1
    assert "blocked at pose 2 of 6 (fraction 0.9000, time 1.9) by wall" in blocked.stdout
    with (saved / "trace.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["contact"] for row in rows] == ["", "", "wall"]
    assert float(rows[-1]["x"]) == pytest.approx(1.9, abs=1e-6)
    assert (saved / "end.png").read_bytes().startswith(b"\x89PNG")
    assert (saved / "again.csv").read_text() == (saved / "into.csv").read_text()
    gone = jostle("fit", saved / "world.npz", "--move", "part", "--path", saved / "into.csv", "--without", "wall")
    assert gone.returncode == 0
    assert "without wall" in gone.stdout
    short = jostle("fit", saved / "world.npz", "--move", "part", "--path", saved / "into.csv", "--frames", "2")
    assert short.returncode == 0
    assert "free so far: part reached pose 1" in short.stdout
    assert "removed" not in short.stdout


def test_a_scene_file_is_a_scene(saved, jostle):
    scene = trimesh.Scene()
    for name, extents, place in (("part", (1, 1, 1), (0.5, 0.5, 0.5)), ("wall", (1, 4, 4), (3.5, 0, 0))):
        scene.add_geometry(trimesh.creation.box(extents), node_name=name, geom_name=name, transform=translation(place))
    (saved / "two.glb").write_bytes(scene.export(file_type="glb"))
    write_path(RecordedPath(np.array([translation((x, 0.5, 0.5)) for x in (0.5, 3.5)])), saved / "glb.csv")
    result = jostle("fit", saved / "two.glb", "--move", "part", "--path", saved / "glb.csv", "--separation", "0.25")
    assert result.returncode == 1
    assert "separation 0.25 m\n" in result.stdout
    assert "blocked at pose 1 of 1 (fraction 0.5833, time 0.583333) by wall" in result.stdout


def test_pairs_that_a_saved_world_ignores_stay_ignored(saved, jostle):
    world = World.load(saved / "world.npz")
    world.ignore("part", "wall")
    world.save(saved / "ignoring.npz")
    result = jostle("fit", saved / "ignoring.npz", "--move", "part", "--path", saved / "into.csv")
    assert result.returncode == 0


def test_a_part_that_slides(saved, jostle):
    places = [
        *((k / 4, k / 8, 0) for k in range(13)),
        *((3, 1.5 + k / 4, 0) for k in range(1, 19)),
        *((4 + k, 6, 0) for k in range(3)),
    ]
    write_path(RecordedPath(np.array([translation(place) for place in places])), saved / "aside.csv")
    arguments = ("fit", saved / "world.npz", "--move", "part", "--path", saved / "aside.csv", "--separation", "0.05")
    stopped = jostle(*arguments)
    slid = jostle(*arguments, "--slide")
    assert (stopped.returncode, slid.returncode) == (1, 0)
    assert "reached the end of its path, along wall" in slid.stdout


def test_the_headlight_has_both_outcomes(tmp_path, jostle):
    small = ("fit", "headlight", "--faces", "14000", "--move")
    free = jostle(*small, "bulb_2", "--write-path", tmp_path / "p.csv")
    assert free.returncode == 0
    assert "bulb_2 along remove_bulb_2" in free.stdout
    assert "without cover_2" in free.stdout
    assert "can be removed" in free.stdout
    assert len(read_path(tmp_path / "p.csv")) > 50
    blocked = jostle(*small, "bulb_2", "--path", tmp_path / "p.csv")  # a file does not say that the cover is gone
    assert blocked.returncode == 1
    assert " by cover_2" in blocked.stdout
    straight = jostle(*small, "cover_1", "--path", "pull_cover_1")
    assert straight.returncode == 1
    assert "blocked at pose 1 of 40 (fraction 0.2667, time 0.266667) by housing" in straight.stdout


def test_an_interrupt_leaves_the_trace_so_far(saved, jostle, monkeypatch):
    every_step = fitting.walk_along

    def some(*arguments, **options):
        for number, step in enumerate(every_step(*arguments, **options)):
            if number == 3:
                raise KeyboardInterrupt
            yield step

    monkeypatch.setattr("jostle.fitting.walk_along", some)
    arguments = ("fit", saved / "world.npz", "--move", "part", "--path", saved / "past.csv", "--trace", saved / "trace.csv")
    result = jostle(*arguments)
    assert result.returncode == 130
    assert "interrupted at pose 2 of 6" in result.stdout
    assert len((saved / "trace.csv").read_text().splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing", "--move", "part"], "no scene and no file 'nothing'"),
        (["WORLD", "--move", "nobody", "--path", "INTO"], "no body is called 'nobody'"),
        (["WORLD", "--move", "part"], "has no path of its own for 'part'"),
        (["WORLD", "--move", "part", "--path", "no.csv"], "there is no such file"),
        (["WORLD", "--move", "part", "--path", "BAD"], "line 2: there are 3 values"),
        (["WORLD", "--move", "part", "--path", "INTO", "--without", "part"], "the body to move"),
        (["WORLD", "--move", "part", "--path", "INTO", "--without", "nobody"], "nobody"),
        (["WORLD", "--move", "part", "--path", "INTO", "--separation", "-1"], "separation"),
        (["WORLD", "--move", "part", "--path", "INTO", "--separation", "0", "--slide"], "separation > 0"),
        (["WORLD", "--move", "part", "--path", "INTO", "--method", "wide_tree"], "bounding_tree"),
        (["WORLD", "--move", "part", "--path", "INTO", "--faces", "20000"], "--faces"),
        (["WORLD", "--move", "part", "--path", "INTO", "--trace", "no/folder/t.csv"], "there is no folder"),
        (["WORLD", "--move", "part", "--path", "INTO", "--trace", "INTO"], "this file is an input and would be overwritten"),
        (["WORLD", "--move", "part", "--path", "INTO", "--write-path", "WORLD"], "this file is an input and would be overwritten"),
        (["WORLD", "--move", "part", "--path", "INTO", "--picture", "INTO"], "the name must end in .png"),
        (["headlight", "--faces", "14000", "--move", "cover_1", "--path", "remove_bulb_1"], "a path of 'bulb_1'"),
        (["headlight", "--faces", "14000", "--move", "pipe"], "no path of its own for 'pipe'"),
        (["headlight", "--faces", "14000", "--move", "cover_1", "--path", "x"], "remove_cover_1, pull_cover_1"),
        (["headlight", "--faces", "10", "--move", "cover_1"], "faces is 10"),
    ],
)
def test_what_cannot_be_done_is_refused(saved, arguments, message):
    (saved / "bad.csv").write_text("time,x,y,z,qw,qx,qy,qz\n1,2,3\n")
    files = {"WORLD": saved / "world.npz", "INTO": saved / "into.csv", "BAD": saved / "bad.csv"}
    with pytest.raises(JostleError, match=re.escape(message)):
        app(["fit", *(str(files.get(word, word)) for word in arguments)], standalone_mode=False)


def test_exit_statuses_and_messages(saved, jostle):
    refused = jostle("fit", saved / "world.npz", "--move", "part")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == f"jostle: {saved / 'world.npz'} has no path of its own for 'part'; give one with --path FILE\n"
    blocked = jostle("fit", saved / "world.npz", "--move", "part", "--path", saved / "into.csv")
    assert (blocked.returncode, blocked.stderr) == (1, "")
    assert "blocked at pose 2 of 6" in blocked.stdout


def test_help_tells_the_exit_statuses(jostle):
    result = jostle("fit", "--help")
    assert "Exit status: 0" in result.stdout
    assert "--slide" in result.stdout

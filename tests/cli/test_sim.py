"""`jostle sim`: scenes and files, the summary, the recording, Ctrl-C, refusals."""

import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from jostle import InputError, JostleError, World
from jostle.cli.app import app
from jostle.geometry.pose import translation
from jostle.motion.record import Motion
from tests.tiny import box


@pytest.fixture
def jostle(capsys):
    """The command in this process: most of its time would go into loading compiled code."""

    def run(*arguments):
        code = app([str(word) for word in arguments], standalone_mode=False)
        return 0 if code is None else code, capsys.readouterr().out

    return run


def test_a_scene_is_simulated_recorded_and_summed_up(jostle, tmp_path):
    file = tmp_path / "out.npz"
    code, text = jostle("sim", "spheres(count=6, faces=168, fill=0.2)", "--frames", 40, "--seed", 3, "--record", file)
    assert code == 0
    assert "6 bodies, 1,008 faces, cube of" in text
    assert "wide_tree, exchange, semi_implicit" in text
    assert "40 frames, " in text
    assert re.search(r"energy (\S+) at the start, \1 at the end", text)
    assert re.search(r"detection median \S+ ms, worst \S+ ms; step median \S+ ms, of which detection \d+ %", text)
    motion = Motion.load(file)
    assert len(motion) == 41
    assert "simulated with exchange" in motion.title
    # The same again, to the bit; another seed gives another motion.
    jostle("sim", "spheres(count=6, faces=168, fill=0.2)", "--frames", 40, "--seed", 3, "--record", tmp_path / "again.npz")
    assert np.array_equal(Motion.load(tmp_path / "again.npz").poses, motion.poses)


def test_impulses_with_gravity_friction_and_settings(jostle):
    code, text = jostle(
        *("sim", "spheres(count=4, faces=168)", "--frames", 5, "--response", "impulse", "--method", "wide_tree(build=sah)"),
        *("--restitution", 0.5, "--friction", 0.2, "--gravity", 0, 0, -9.81, "--dt", 0.01, "--density", 2.0),
        *("--integrator", "explicit", "--cube", 50, "--workers", 2),
    )
    assert code == 0
    assert "wide_tree, impulse, explicit, 0.01 s a step" in text
    assert "cube of 50" in text
    assert "%)" not in text  # a share of an energy without a zero says nothing


def test_a_saved_world(jostle, tmp_path):
    world = World()
    world.add(box(), name="a")
    world.add(box(), translation((3.0, 0.0, 0.0)), "b")
    world.save(tmp_path / "world.npz")
    code, text = jostle("sim", tmp_path / "world.npz", "--frames", 3, "--record", tmp_path / "out.npz")
    assert code == 0
    assert "world: 2 bodies" in text
    assert "no walls" in text
    poses = Motion.load(tmp_path / "out.npz").poses
    assert np.array_equal(poses[0], world.poses)
    assert not np.array_equal(poses[1], poses[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no scene and no file 'nothing'; the built-in scenes are spheres"),
        (["spheres(colour=red)"], "scene spheres has no setting 'colour'; it has count"),
        (["spheres", "--method", "nothing"], "there is no method 'nothing'"),
        (["spheres", "--method", "bounding_tree(motion=True)"], "leave out motion"),
        (["spheres", "--method", "closest_features", "--response", "impulse"], "does not answer points"),
        (["spheres", "--response", "bounce"], "choose one of exchange, impulse"),
        (["spheres", "--dt", "-1"], "dt is -1.0"),
        (["spheres", "--dt", "0"], "dt is 0.0"),
        (["spheres", "--cube", "-1"], "cube is -1.0; it must be a positive length"),
        (["spheres", "--cube", "1"], "is not inside of the cube of edge 1"),
        (["spheres", "--friction", "0.5"], "has no restitution and no friction"),
        (["spheres", "--mass", "1", "--density", "1"], "give one of them"),
        (["spheres", "--record", "no/such/folder/out.npz"], "there is no folder no/such/folder"),
        (["spheres", "--record", "."], "this is a folder; name a file"),
        (["spheres(seed=1)", "--seed", "2"], "the seed is given twice"),
        (["head_and_shuttle", "--response", "impulse", "--gravity", "nan", "0", "0"], "gravity is [nan, 0.0, 0.0]"),
    ],
)
def test_what_is_refused_in_one_sentence(jostle, arguments, message):
    with pytest.raises(JostleError, match=re.escape(message)) as error:
        jostle("sim", *arguments)
    assert "\n" not in str(error.value)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_leaves_what_was_recorded(tmp_path):
    code = "from jostle.cli import main; main()"
    words = ("sim", "spheres(count=6, faces=168)", "--frames", "100000000", "--record", str(tmp_path / "out.npz"))
    process = subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    second = process.stdout.readline()
    assert "exchange" in second
    time.sleep(0.7)  # the first step loads the code
    process.send_signal(signal.SIGINT)
    text, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert "interrupted" in text
    assert len(Motion.load(tmp_path / "out.npz")) >= 1


def test_a_recording_does_not_replace_the_world_that_it_is_made_from(jostle, tmp_path):
    file = tmp_path / "world.npz"
    World().save(file)
    before = file.read_bytes()
    with pytest.raises(InputError, match="this file is an input and would be overwritten"):
        jostle("sim", file, "--record", file)
    assert file.read_bytes() == before

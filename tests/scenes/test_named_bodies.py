"""The words of a command: each kind of file and scene, by the content of the file."""

from __future__ import annotations

import json

import numpy as np
import pytest

from jostle import InputError, World, translation
from jostle.motion.record import Motion
from jostle.scenes import Scene
from jostle.scenes.named_bodies import one_frame, read_bodies, read_scene
from jostle.shapes.build import box
from jostle.shapes.save import save


@pytest.fixture
def files(tmp_path):
    world = World()
    world.add(box(), name="a")
    world.add(box(), translation((3.0, 0.0, 0.0)), "b")
    world.save(tmp_path / "world.npz")
    one_frame(world, "two boxes").save(tmp_path / "motion.npz")
    save(box(), tmp_path / "box.stl")
    for name, description in (("other", {"format": "jostle dream 1"}), ("list", [])):
        np.savez(tmp_path / f"{name}.npz", description=np.array(json.dumps(description)))
    return tmp_path


def test_a_file_says_itself_whether_it_is_a_motion_or_a_world(files):
    (files / "world.npz").rename(files / "motion of a world.npz")
    (files / "motion.npz").rename(files / "world.npz")
    motion, world = read_bodies([str(files / "world.npz")]), read_bodies([str(files / "motion of a world.npz")])
    assert (type(motion), type(world)) == (Motion, World)
    assert motion.names == ("a", "b") == tuple(body.name for body in world)
    assert np.array_equal(motion.poses[0], world.poses)


def test_scenes_and_mesh_files(files):
    scene = read_bodies(["two_spheres(faces=80)"])
    assert isinstance(scene, Scene)
    assert scene.parameters["faces"] == 80
    for one_each in (False, True):
        both = read_bodies([str(files / "box.stl")] * 2, one_each=one_each)
        assert [body.name for body in both] == ["box", "box 1"]
    assert read_bodies(["spheres(count=3, faces=80)"], seed=7).parameters["seed"] == 7


def test_the_bodies_of_a_file_as_a_scene(files):
    scene = read_scene(str(files / "world.npz"))
    assert [body.name for body in scene.bodies] == ["a", "b"]
    assert np.array_equal(scene.record(1).poses[0], World.load(files / "world.npz").poses)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["other.npz"], "format is 'jostle dream 1'; it must be 'jostle motion 1' or 'jostle world 1'"),
        (["list.npz"], "list.npz: description is not a table of fields"),
        (["box.stl", "world.npz"], "world.npz: a motion or a world must be the only file; leave out the others"),
        (["box.stl", "none.stl"], "none.stl: there is no such file"),
        (["none.stl"], "there is no scene and no file"),
    ],
)
def test_what_is_refused(files, names, message):
    with pytest.raises(InputError, match=message):
        read_bodies([str(files / name) for name in names])


def test_a_motion_is_no_scene(files):
    with pytest.raises(InputError, match=r"motion.npz: this is a recorded motion; name a scene, a scene file or a saved world"):
        read_scene(str(files / "motion.npz"))

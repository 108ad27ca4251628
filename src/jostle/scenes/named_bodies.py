"""Scenes, saved worlds, motions, scene files and mesh files named in a command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jostle.array_file import ArrayFile
from jostle.errors import InputError
from jostle.motion import record_file
from jostle.motion.record import Motion, Recorder
from jostle.scenes import make_scene_written
from jostle.scenes.from_user import scene_of_world
from jostle.scenes.scene import Scene
from jostle.shapes.load import load, load_scene
from jostle.world import file as world_file
from jostle.world.world import World

SEVERAL_BODIES = (".glb", ".gltf")  # files that place bodies; all others hold one


def read_bodies(
    words: Sequence[str], seed: int | None = None, alternatives: str = "", *, one_each: bool = False
) -> Scene | Motion | World:
    """Return the scene, motion or world that the words of a command line stand for.

    Parameters
    ----------
    words : sequence of str
        One scene, one file, or several mesh files.
    seed : int, optional
        Of a scene.
    alternatives : str
        Other accepted input, for the message.
    one_each : bool
        Whether each of several files is one body; otherwise scene files give one body per node.
    """
    files = [Path(word) for word in words]
    if len(files) == 1:
        if not files[0].is_file():
            return make_scene_written(words[0], seed, alternatives)
        return _load_saved(files[0]) if _is_saved(files[0]) else World.from_scene(files[0])
    world = World()
    for file in files:
        if _is_saved(file):
            raise InputError(f"{file}: a motion or a world must be the only file; leave out the others")
        for name, mesh, pose in [(file.stem, load(file), None)] if one_each else load_scene(file):
            world.add(mesh, pose, world._free_name(name))
    return world


def read_scene(text: str, seed: int | None = None, alternatives: str = "") -> Scene:
    """Return the scene that a text names; bodies of a file drift in place."""
    found = read_bodies([text], seed, alternatives)
    return found if isinstance(found, Scene) else drifting(at_rest(found, text), text, seed)


def drifting(world: World, text: str, seed: int | None = None) -> Scene:
    """Return a scene of the bodies of a file."""
    return scene_of_world(world, name=Path(text).stem, seed=0 if seed is None else seed)


def at_rest(found: Motion | World, text: str) -> World:
    """Return the world of a file; a recorded motion is refused."""
    if isinstance(found, Motion):
        raise InputError(f"{text}: this is a recorded motion; name a scene, a scene file or a saved world")
    return found


def one_frame(world: World, title: str) -> Motion:
    """Return a world at its present poses, as a motion of one frame."""
    recorder = Recorder(world)
    recorder.capture()
    return recorder.motion(title)


def _is_saved(file: Path) -> bool:
    return file.suffix.lower() == ".npz"


def _load_saved(file: Path) -> Motion | World:
    """Return a recorded motion or a saved world, by the format in the file."""
    try:
        with ArrayFile(file) as saved:
            is_world = saved.description(record_file.FORMAT, world_file.FORMAT)["format"] == world_file.FORMAT
    except InputError as error:
        raise InputError(f"{file}: {error}") from None
    return World.load(file) if is_world else Motion.load(file)

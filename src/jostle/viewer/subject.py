"""What is looked at: a named scene, mesh files, a saved world or a recorded motion, as bodies that start somewhere and may move.

Whatever it was, a session needs the same of it: a motion of one frame, from which a world can be made for any method, and the
frames after it if there are any (frames.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jostle.errors import InputError
from jostle.fitting.path import RecordedPath
from jostle.motion.record import Motion, Recorder
from jostle.scenes import Scene, make_scene_written
from jostle.shapes.load import load_scene
from jostle.viewer.frames import Frames, RecordedFrames, SceneFrames
from jostle.world import World


@dataclass(frozen=True, eq=False)
class Subject:
    """Bodies to look at.

    Parameters
    ----------
    name : str
        As it was asked for: the scene, or the files.
    title : str
        For people.
    start : Motion
        One frame: meshes, names, filters, and where all bodies are at first.
    frames : Frames, optional
        How they move, if they do.
    cube : float, optional
        Edge of the cube about the origin in which they live.
    paths : mapping
        Recorded ways of single bodies, for fitting.
    hands : tuple of int
        Bodies that can grasp others.
    """

    name: str
    title: str
    start: Motion
    frames: Frames | None = None
    cube: float | None = None
    paths: Mapping[str, RecordedPath] = field(default_factory=dict)
    hands: tuple[int, ...] = ()


def subject_of(names: Sequence[str]) -> Subject:
    """Return what words of a command line stand for: one scene, one .npz file, or mesh files (GLB and glTF: one body per node)."""
    if not names:
        return _of_scene("room")
    if len(names) == 1 and not Path(names[0]).is_file():
        return _of_scene(names[0])
    if len(names) == 1 and Path(names[0]).suffix.lower() == ".npz":
        return _of_npz(Path(names[0]))
    return _of_files([Path(name) for name in names])


def subject_of_scene(scene: Scene, name: str) -> Subject:
    """Return a scene as a subject; its frames are made when they are looked at."""
    frames = SceneFrames(scene)
    hands = tuple(number for number, body in enumerate(scene.bodies) if body.hand == "grasps")
    return Subject(name, scene.title, scene.record(1), frames if frames.count > 1 else None, scene.cube, scene.paths, hands)


def _of_scene(text: str) -> Subject:
    return subject_of_scene(make_scene_written(text), text)


def _of_npz(file: Path) -> Subject:
    """A recorded motion, or a saved world: the file itself says which it is."""
    try:
        motion = Motion.load(file)
    except InputError as no_motion:
        try:
            return subject_of_world(World.load(file), file.name)
        except InputError as no_world:
            # A file of the one kind is refused as the other for what it is; a damaged one is told as a motion, with the field.
            reason = no_world if "format" in str(no_motion) else no_motion
            raise InputError(str(reason)) from None
    frames = RecordedFrames(motion) if len(motion) > 1 else None
    return Subject(file.name, motion.title or file.stem, motion.first(1), frames)


def _of_files(files: Sequence[Path]) -> Subject:
    world = World()
    for file in files:
        if file.suffix.lower() == ".npz":
            raise InputError(f"{file}: a motion or a world is looked at alone; leave out the other files")
        for name, mesh, pose in load_scene(file):
            free = name if name not in world else f"{name} {len(world)}"
            world.add(mesh, pose, free)
    return subject_of_world(world, " ".join(file.name for file in files))


def subject_of_world(world: World, name: str) -> Subject:
    """Return the bodies of a world as they are now; the world itself is left alone."""
    if len(world) == 0:
        raise InputError(f"{name}: there are no bodies to look at")
    recorder = Recorder(world)
    recorder.capture()
    return Subject(name, name, recorder.motion(name))

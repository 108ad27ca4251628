"""The bodies argument of all commands: a built-in scene with parameters, or files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from jostle.array_file import ArrayFile
from jostle.errors import InputError
from jostle.motion.record import Motion, Recorder
from jostle.scenes import Scene, make_scene_written, scene_of_file, scene_of_world
from jostle.world.file import FORMAT
from jostle.world.world import World

SEVERAL_BODIES = (".glb", ".gltf")  # files that place bodies; all others hold one


def scene_written(text: str, seed: int | None, besides: str = "") -> Scene:
    """Return the scene of a name with parameters or of a file; an error lists `besides` as further choices."""
    given = {} if seed is None else {"seed": seed}
    file = Path(text)
    if file.is_file():
        if file.suffix.lower() == ".npz":
            return scene_of_world(World.load(file), name=file.stem, **given)
        return scene_of_file(file, **given)
    return make_scene_written(text, seed, besides)


def is_motion_file(file: Path) -> bool:
    """Return whether a .npz file is not a world; `Motion.load` reports what is wrong with it, if anything."""
    try:
        with ArrayFile(file) as saved:
            saved.description(FORMAT)
            return False
    except InputError:
        return True


def motion_of_files(files: Sequence[Path], pose_of_last: np.ndarray | None = None) -> Motion:
    """Return a motion of one frame with the bodies of mesh files, a scene file or a saved world."""
    if len(files) == 1 and files[0].suffix.lower() == ".npz":
        world = World.load(files[0])
    elif len(files) == 1 and files[0].suffix.lower() in SEVERAL_BODIES:
        world = World.from_scene(files[0])
    else:
        world = World()
        for number, file in enumerate(files):
            taken = {body.name for body in world}
            name = file.stem if file.stem not in taken else f"{file.stem} {number + 1}"
            world.add(str(file), pose_of_last if number == len(files) - 1 else None, name)
    recorder = Recorder(world)
    recorder.capture()
    return recorder.motion(", ".join(file.name for file in files))

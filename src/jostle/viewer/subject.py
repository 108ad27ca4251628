"""The subject of a viewer: a scene, mesh files, a saved world or a recorded motion.

Whatever it was, a session needs the same of it: a motion of one frame, from which a world can be made for any method, and the
frames after it if there are any (frames.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from jostle._types import Floats
from jostle.cast import ALL_BITS
from jostle.errors import InputError
from jostle.fitting.path import RecordedPath
from jostle.motion.record import Motion
from jostle.scenes import Scene
from jostle.scenes.named_bodies import one_frame, read_bodies
from jostle.shapes.mesh import Mesh
from jostle.viewer.frames import Frames, RecordedFrames, SceneFrames
from jostle.world.world import World

GAP = 0.05  # between bodies that are there and those that are added, of the size of the larger


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
        Recorded paths of single bodies, for fitting.
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


def subject_of(words: Sequence[str]) -> Subject:
    """Return the subject of command-line words.

    One scene, one .npz file, or mesh files (GLB and glTF: one body per node).
    """
    words = words or ["room"]
    found = read_bodies(words)
    if isinstance(found, Scene):
        return subject_of_scene(found, words[0])
    name = " ".join(Path(word).name for word in words)
    if isinstance(found, World):
        return subject_of_world(found, name)
    frames = RecordedFrames(found) if len(found) > 1 else None
    return Subject(name, found.title or Path(words[0]).stem, found.first(1), frames)


def subject_of_scene(scene: Scene, name: str) -> Subject:
    """Return a scene as a subject; its frames are made when they are looked at."""
    frames = SceneFrames(scene)
    hands = tuple(number for number, body in enumerate(scene.bodies) if body.hand == "grasps")
    return Subject(name, scene.title, scene.record(1), frames if frames.count > 1 else None, scene.cube, scene.paths, hands)


def subject_of_world(world: World, name: str) -> Subject:
    """Return the bodies of a world as they are now; the world itself is left alone."""
    if len(world) == 0:
        raise InputError(f"{name}: there are no bodies to look at")
    return Subject(name, name, one_frame(world, name))


def with_bodies(subject: Subject, poses: Floats, parts: Sequence[tuple[str, Mesh, Floats]]) -> Subject:
    """Return a subject with more bodies, placed beside the existing ones (at these poses), keeping their layout."""
    start = subject.start
    shapes = [start.vertices[k][0] if k in start.vertices else mesh.vertices for k, mesh in enumerate(start.meshes)]
    lower, upper = _box(zip(shapes, poses, strict=True))
    low, high = _box((mesh.vertices, pose) for _, mesh, pose in parts)
    shift = 0.5 * (lower + upper) - 0.5 * (low + high)
    # To the side that is on the left at first: on the right of the page is the panel.
    shift[0] = lower[0] - GAP * max(np.max(upper - lower), np.max(high - low)) - high[0]
    names, placed = list(start.names), []
    for name, _, pose in parts:
        names.append(name if name not in names else next(f"{name} {k}" for k in range(2, 10**6) if f"{name} {k}" not in names))
        placed.append(np.array(pose))
        placed[-1][:3, 3] += shift
    more = len(parts)
    grown = replace(
        start,
        names=tuple(names),
        meshes=(*start.meshes, *(mesh for _, mesh, _ in parts)),
        poses=np.concatenate([start.poses[:1], np.stack(placed)[None]], axis=1),
        static=(*start.static, *(False,) * more),
        group=(*start.group, *(None,) * more),
        category=(*start.category, *(1,) * more),
        mask=(*start.mask, *(ALL_BITS,) * more),
    )
    return replace(subject, start=grown)


def _box(placed: Iterable[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Lower and upper corner of meshes at poses."""
    points = [vertices @ pose[:3, :3].T + pose[:3, 3] for vertices, pose in placed if len(vertices)]
    corners = np.vstack(points or [np.zeros((1, 3))])
    return corners.min(axis=0), corners.max(axis=0)

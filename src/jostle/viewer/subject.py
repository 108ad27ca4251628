"""The subject of a viewer: a scene, mesh files, a saved world or a motion.

A session needs the same of each: a motion of one frame, from which a world can be made for any method, and the frames after it, if
any (frames.py).
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

GAP = 0.05  # between existing and added bodies, of the larger size


@dataclass(frozen=True, eq=False)
class Subject:
    """Bodies to show.

    Parameters
    ----------
    name : str
        The scene or the files, as requested.
    title : str
        For people.
    start : Motion
        One frame: meshes, names, filters and initial poses.
    frames : Frames, optional
        Their motion, if any.
    cube : float, optional
        Edge of the cube about the origin that bounds them.
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
    """Return a scene as a subject; its frames are made when shown."""
    frames = SceneFrames(scene)
    hands = tuple(number for number, body in enumerate(scene.bodies) if body.hand == "grasps")
    return Subject(name, scene.title, scene.record(1), frames if frames.count > 1 else None, scene.cube, scene.paths, hands)


def subject_of_world(world: World, name: str) -> Subject:
    """Return the bodies of a world as they are now; the world is not changed."""
    if len(world) == 0:
        raise InputError(f"{name}: there are no bodies to show")
    return Subject(name, name, one_frame(world, name))


def with_bodies(subject: Subject, poses: Floats, parts: Sequence[tuple[str, Mesh, Floats]]) -> Subject:
    """Return a subject with more bodies, beside the existing ones (at these poses)."""
    start = subject.start
    lower, upper = world_box((first_vertices(start, body), pose) for body, pose in enumerate(poses))
    low, high = world_box((mesh.vertices, pose) for _, mesh, pose in parts)
    shift = 0.5 * (lower + upper) - 0.5 * (low + high)
    # To the left in the initial view: the panel is on the right.
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


def first_vertices(motion: Motion, body: int) -> Floats:
    """Return the vertices (n,3) of a body in the first frame."""
    return motion.vertices[body][0] if body in motion.vertices else motion.meshes[body].vertices


def world_box(placed: Iterable[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """Return the lower and upper corner of vertices (n,3) at poses (4,4)."""
    points = [vertices @ pose[:3, :3].T + pose[:3, 3] for vertices, pose in placed if len(vertices)]
    corners = np.vstack(points or [np.zeros((1, 3))])
    return corners.min(axis=0), corners.max(axis=0)

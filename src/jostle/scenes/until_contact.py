"""Scenes that end when two bodies first touch (Kitamura et al. 1998).

Frame 0 is the paper's cycle 1: with `cycles` of 72 the bodies touch in frame 71, for any face count (`meeting.py`). Other bodies
are placed at random one by one, and kept if they touch no earlier body in any frame. The two that meet come first: a scene of fewer
bodies with the same seed and cube has the same two.
"""

from __future__ import annotations

import math

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.methods.wide_tree.pair import Pair
from jostle.scenes.bodies import MovingBody
from jostle.scenes.meeting import placed_to_meet
from jostle.scenes.placing import TRIES, direction, random_pose_at
from jostle.scenes.scene import Scene
from jostle.scenes.stepper import Stepper
from jostle.shapes import build
from jostle.shapes.mesh import Mesh

TEN_DEGREES = math.radians(10.0)
TWO_DEGREES = math.radians(2.0)
_LINE = np.array([1.0, 0.8, 0.65]) / np.linalg.norm([1.0, 0.8, 0.65])  # slanted, so that boxes overlap well before bodies touch
_STARTS = 200  # orientations to try; spheres of 8 faces need a few


def two_spheres(
    *,
    faces: int = 960,
    speed: float = 0.05,
    turn: float = TEN_DEGREES,
    cycles: int = 72,
    response: str = "stop",
    frames: int = 110,
    seed: int = 0,
) -> Scene:
    """Return two identical spheres that approach until they touch.

    After Kitamura et al. 1998, §4.1, fig. 6, fig. 7.

    From the paper: translation and rotation, 8 to 3,968 faces per sphere, contact in cycle 72. Speed and turn are those of §5.3.
    Ours: the line, and random orientations and axes. They first touch in the last of `cycles` frames; the motion ends there.
    """
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    return Scene(
        name="two_spheres",
        title=f"two spheres of {faces:,} faces until they touch",
        bodies=_meeting_pair(rng, build.sphere(faces), speed, cast.as_number(turn, "turn"), cycles, "sphere"),
        response=response,
        frames=cast.as_count(frames, "frames", lowest=1),
    )


def meeting_spheres(
    *,
    count: int = 10,
    faces: int = 528,
    cube: float = 15.0,
    speed: float = 0.05,
    turn: float = TEN_DEGREES,
    cycles: int = 72,
    response: str = "stop",
    frames: int = 72,
    seed: int = 0,
) -> Scene:
    """Return spheres in a cube, two of which first touch in the last cycle.

    After Kitamura et al. 1998, §5.1, fig. 13.

    From the paper: 10 to 40 spheres of 528 faces in steps of ten; the run ends when two of them touch. Speed and turn are those
    of §5.3, the number of cycles that of §4.1. Ours: one cube for all counts, 5 % filled by 40 spheres, and the random rest.
    """
    return _meeting("meeting_spheres", "sphere", build.sphere(faces), count, cube, speed, turn, cycles, response, frames, seed)


def meeting_shuttles(
    *,
    count: int = 15,
    cube: float = 3.45,
    speed: float = 0.02,
    turn: float = TWO_DEGREES,
    cycles: int = 72,
    response: str = "stop",
    frames: int = 72,
    seed: int = 0,
) -> Scene:
    """Return space shuttles in a cube, two of which first touch in the last cycle.

    After Kitamura et al. 1998, §4.2, fig. 8.

    From the paper: 15 concave shuttles of 528 faces, translation and rotation, many overlapping boxes in every frame, an end when
    two touch; the same two alone for comparison (`count=2`). Ours: the rest. The bounding balls of 15 shuttles fill 30 % of the
    cube, the number of cycles is that of §4.1, and the shuttles are slow enough to miss each other that long.
    """
    return _meeting("meeting_shuttles", "shuttle", build.shuttle(), count, cube, speed, turn, cycles, response, frames, seed)


def head_and_shuttle(
    *,
    speed: float = 0.016,
    turn: float = TWO_DEGREES,
    cycles: int = 40,
    response: str = "stop",
    frames: int = 40,
    seed: int = 0,
) -> Scene:
    """Return a head and a shuttle that approach until they touch.

    After Kitamura et al. 1998, fig. 14, fig. 15.

    From the paper, §5.2: face counts (head of Venus 1,816, shuttle 528, chair 146, sphere 120); head and shuttle approach while
    they turn, and the run ends with their contact; no boxes overlap before cycle 17; sphere and chair move and turn a little and
    touch nothing. Ours: 40 cycles, the line, and speeds (lengths per frame; head and shuttle are about 1 long) such that boxes
    first overlap in cycle 17.
    """
    last = cast.as_count(cycles, "cycles", lowest=2) - 1
    speed, turn = cast.as_length(speed, "speed"), cast.as_number(turn, "turn")
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    line = np.array([1.0, 0.75, 0.55]) / np.linalg.norm([1.0, 0.75, 0.55])
    head = _centred("head", build.head(), np.eye(4), speed * line, np.array([0.1, 0.2, 1.0]), turn)
    nose_ahead = rotation_about((0.0, 0.0, 1.0), 2.2) @ rotation_about((0.0, 1.0, 0.0), 0.5)
    shuttle = _centred("shuttle", build.shuttle(), nose_ahead, -speed * line, np.array([1.0, 0.3, 0.2]), turn)
    two = placed_to_meet(head, shuttle, line, last)
    if two is None:
        raise InputError(f"at speed {speed:.4g} head and shuttle do not touch for the first time in cycle {cycles}; change it")
    beside = []
    for name, mesh, place in (
        ("chair", build.chair(), (1.1, -1.3, -0.2)),
        ("sphere", build.sphere(120, 0.35), (-1.0, 1.2, 0.3)),
    ):
        pose = translation(place)
        beside.append(_centred(name, mesh, pose, 0.2 * speed * direction(rng), direction(rng), 0.5 * turn))
    return Scene(
        name="head_and_shuttle",
        title="a head and a shuttle until they touch, a chair and a sphere beside them",
        bodies=(*two, *beside),
        response=response,
        frames=cast.as_count(frames, "frames", lowest=1),
    )


def _meeting(
    name: str,
    what: str,
    mesh: Mesh,
    count: int,
    cube: float,
    speed: float,
    turn: float,
    cycles: int,
    response: str,
    frames: int,
    seed: int,
) -> Scene:
    """Return the scene of many equal bodies; `speed` is in radii per frame."""
    count, last = cast.as_count(count, "count", lowest=2), cast.as_count(cycles, "cycles", lowest=2) - 1
    edge, speed, turn = cast.as_length(cube, "cube"), cast.as_length(speed, "speed"), cast.as_number(turn, "turn")
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    bodies = list(_meeting_pair(rng, mesh, speed, turn, cycles, what))
    paths = [_Path(body, edge, last) for body in bodies]
    pair, room = Pair(mesh, mesh), edge / 2.0 - bodies[0].radius
    for k in range(2, count):
        for _ in range(TRIES):
            pose = random_pose_at(rng, rng.uniform(-room, room, 3), bodies[0].centre)
            body = MovingBody(f"{what} {k}", mesh, pose, direction(rng) * (speed * bodies[0].radius), direction(rng), turn)
            path = _Path(body, edge, last)
            if not any(path.touches(other, pair) for other in paths):
                break
        else:
            raise InputError(f"{count} {what}s do not keep apart in a cube of edge {edge:.4g} ({k} do); enlarge the cube")
        bodies.append(body)
        paths.append(path)
    return Scene(
        name=name,
        title=f"{count:,} {what}s of {len(mesh.faces):,} faces until two touch",
        bodies=tuple(bodies),
        cube=edge,
        response=response,
        frames=cast.as_count(frames, "frames", lowest=1),
    )


class _Path:
    """The poses of a body between walls, frame by frame."""

    def __init__(self, body: MovingBody, cube: float, last: int) -> None:
        self._reach = 2.0 * body.radius
        stepper = Stepper([body], cube)
        frames = [(stepper.poses[0], stepper.centres[0]) for _ in stepper.steps(last + 1)]
        self._poses, self._centres = [pose for pose, _ in frames], np.stack([centre for _, centre in frames])

    def touches(self, other: _Path, pair: Pair) -> bool:
        """Return whether surfaces touch in any frame."""
        gaps = ((self._centres - other._centres) ** 2).sum(axis=1)
        near = np.flatnonzero(gaps <= self._reach**2).tolist()
        return any(pair.touches(self._poses[frame], other._poses[frame]) for frame in near)


def _meeting_pair(
    rng: np.random.Generator, mesh: Mesh, speed: float, turn: float, cycles: int, what: str
) -> tuple[MovingBody, MovingBody]:
    """Return two bodies of one mesh that first touch in the last of `cycles` frames."""
    last = cast.as_count(cycles, "cycles", lowest=2) - 1
    if cast.as_length(speed, "speed") == 0.0:
        raise InputError("speed is 0; bodies must move to meet")
    velocity = speed * MovingBody("", mesh).radius * _LINE
    for _ in range(_STARTS):
        a, b = (
            _centred(f"{what} {name}", mesh, random_pose_at(rng, np.zeros(3), np.zeros(3)), towards, direction(rng), turn)
            for name, towards in (("a", velocity), ("b", -velocity))
        )
        two = placed_to_meet(a, b, _LINE, last)
        if two is not None:
            return two
    raise InputError(
        f"speed {speed:.4g} and turn {turn:.4g}: no two {what}s touch for the first time in cycle {cycles}; change them"
    )


def _centred(name: str, mesh: Mesh, turn: Floats, velocity: Floats, axis: Floats, spin: float) -> MovingBody:
    """Return a body whose centre, about which it turns, is at the origin."""
    return MovingBody(name, mesh, turn @ translation(-MovingBody(name, mesh).centre), velocity, axis, spin)

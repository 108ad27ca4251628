"""The room of Kitamura et al. 1998 (§4.3, fig. 11, 12): two hands, three bodies.

In the paper two people move the hands with gloves; here the hands follow seeded closed paths, so that every method sees the same
motion. Touching bodies respond by "normals" (`response.py`).
"""

from __future__ import annotations

import math

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about
from jostle.scenes.bodies import Cycle, Loop, MovingBody
from jostle.scenes.cubes import as_swell, swelling
from jostle.scenes.encounters import opening_and_closing
from jostle.scenes.placing import TRIES, direction, random_pose_at
from jostle.scenes.scene import Scene
from jostle.shapes import build
from jostle.shapes.build.hand import LARGEST_BEND

THREE_DEGREES = math.radians(3.0)
_SWINGS = (np.array([2.0, 1.0, 3.0]), np.array([1.0, 3.0, 2.0]))  # per axis, of the grasping and the pushing hand


def room(
    *,
    faces: int = 528,
    cube: float = 3.2,
    speed: float = 0.03,
    turn: float = THREE_DEGREES,
    path: int = 400,
    bend: float = 1.0,
    period: int = 80,
    swell: float = 0.25,
    response: str = "normals",
    frames: int = 800,
    seed: int = 0,
) -> Scene:
    """Return a room in which one hand grasps and one pushes three bodies.

    From the paper (§4.3): a head of Venus of 1,816 faces, a shuttle of 528, two hands of 960 each, a sphere; the sphere and the
    hands deform; one hand grasps bodies, the other pushes them; touching bodies respond by their velocities and the normals of
    their faces (`response.py`); walls reflect; about 800 cycles. Ours: all other numbers.

    Parameters
    ----------
    faces : int
        Of the sphere; its radius is 0.3, varying by the share `swell`.
    cube : float
        Edge of the room; head, shuttle and hands are about 1 long.
    speed : float
        Initial speed of head, shuttle and sphere, length per frame.
    turn : float
        Rotation of these three, radians per frame.
    path : int
        Frames of each hand's closed path.
    bend, period : float, int
        Largest bend of the fingers, and the frames of one bend; the sphere swells with the same period.
    """
    bend = cast.as_number_between(bend, "bend", 0.0, LARGEST_BEND, "radians")
    swell = as_swell(swell)
    edge, speed, turn = cast.as_length(cube, "cube"), cast.as_length(speed, "speed"), cast.as_number(turn, "turn")
    period, path = cast.as_count(period, "period", lowest=4), cast.as_count(path, "path", lowest=2)
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    ball = build.sphere(faces, 0.3)
    free = [
        MovingBody("head", build.head()),
        MovingBody("shuttle", build.shuttle()),
        MovingBody("sphere", ball, cycle=Cycle(0.3 * swelling(ball.vertices / 0.3, swell, period))),
    ]
    hands = _hands(rng, edge, path, bend, period)
    places = _places(rng, [*hands, *free], edge)
    bodies = list(hands)
    for body, place in zip(free, places, strict=True):
        pose = random_pose_at(rng, place, body.centre)
        bodies.append(MovingBody(body.name, body.mesh, pose, speed * direction(rng), direction(rng), turn, body.cycle))
    return Scene(
        name="room",
        title="a room with two hands, a head, a shuttle and a sphere",
        bodies=tuple(bodies),
        cube=edge,
        response=response,
        frames=cast.as_count(frames, "frames", lowest=1),
    )


def _hands(rng: np.random.Generator, edge: float, path: int, bend: float, period: int) -> list[MovingBody]:
    """Return two hands on loops about the middle of the room, apart at the start."""
    mesh, shapes = build.hand(), opening_and_closing(bend, period)
    one = MovingBody("hand", mesh, cycle=Cycle(shapes))
    reach = 0.6 * (edge / 2.0 - one.radius)
    if reach <= 0.0:
        raise InputError(f"cube is {edge:.4g}; a hand needs more than {2.0 * one.radius:.4g}")
    for _ in range(TRIES):
        loops = [Loop(np.full(3, reach), swings, rng.uniform(0.0, 2.0 * np.pi, 3), path) for swings in _SWINGS]
        if float(((loops[0].at(0) - loops[1].at(0)) ** 2).sum()) > (2.0 * one.radius) ** 2:
            break
    else:
        raise InputError(f"cube is {edge:.4g}; there is no room for two hands that do not touch at the start")
    hands = []
    for name, role, loop, towards in (("grasping hand", "grasps", loops[0], 0.0), ("pushing hand", "pushes", loops[1], np.pi)):
        pose = rotation_about((0.3, 1.0, 0.2), towards + 0.4)
        pose[:3, 3] = loop.at(0) - pose[:3, :3] @ one.centre
        hands.append(MovingBody(name, mesh, pose, cycle=Cycle(shapes, int(rng.integers(period))), loop=loop, hand=role))
    return hands


def _places(rng: np.random.Generator, bodies: list[MovingBody], edge: float) -> list[Floats]:
    """Return centres of all bodies but the first two, their balls apart."""
    places = [body.loop.at(0) for body in bodies[:2] if body.loop is not None]
    for body in bodies[2:]:
        reach = edge / 2.0 - body.radius
        for _ in range(TRIES if reach > 0.0 else 0):
            place = rng.uniform(-reach, reach, 3)
            gaps = [float(((place - other) ** 2).sum()) - (body.radius + bodies[k].radius) ** 2 for k, other in enumerate(places)]
            if min(gaps) > 0.0:
                break
        else:
            raise InputError(f"cube is {edge:.4g}; {body.name} does not fit in beside the others")
        places.append(place)
    return places[2:]

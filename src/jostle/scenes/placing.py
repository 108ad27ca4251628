"""Seeded random placement: bodies apart in a cube, with directions and spins."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about
from jostle.geometry.unit_vectors import unit_vector
from jostle.methods.wide_tree.pair import Pair
from jostle.scenes.bodies import Cycle, MovingBody
from jostle.shapes.mesh import Mesh

TRIES = 2_000  # per body; a cube filled with balls to 30 % needs a few dozen


def ball_volume(radius: float) -> float:
    """Return the volume of a ball."""
    return 4.0 / 3.0 * np.pi * radius**3


def cube_of_fill(volume: float, fill: float) -> float:
    """Return the edge of the cube that a volume fills to the share `fill`."""
    return float((volume / as_fill(fill)) ** (1.0 / 3.0))


def as_fill(fill: float) -> float:
    """Return the share of a cube's volume, 0 < fill <= 1."""
    share = cast.as_number(fill, "fill")
    if not 0.0 < share <= 1.0:
        raise InputError(f"fill is {share}; it is the share of the cube's volume, more than 0 and at most 1")
    return share


def as_turn(turn: float) -> float:
    """Return a finite angle."""
    angle = cast.as_number(turn, "turn")
    if not np.isfinite(angle):
        raise InputError(f"turn is {angle}; it must be a finite angle")
    return angle


def places_apart(rng: np.random.Generator, count: int, radius: float, cube: float) -> Floats:
    """Return (n, 3) centres of equal balls apart from balls and walls, in linear time."""
    room = _room(cube, radius)
    places = np.empty((count, 3))
    cells: dict[tuple[int, ...], list[int]] = {}
    around = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
    for k in range(count):
        for _ in range(TRIES):
            place = rng.uniform(-room, room, 3)
            cell = tuple(int(c) for c in np.floor(place / (2.0 * radius)))
            near = [other for step in around for other in cells.get((cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]), ())]
            if not near or (((places[near] - place) ** 2).sum(axis=1) > (2.0 * radius) ** 2).all():
                break
        else:
            raise _too_many(count, k, cube)
        places[k] = place
        cells.setdefault(cell, []).append(k)
    return places


def _room(cube: float, radius: float) -> float:
    """Return how far from the origin along each axis the centre of a ball may be."""
    room = cube / 2.0 - radius
    if room < 0.0:
        raise InputError(f"cube is {cube:.4g}; a body of radius {radius:.4g} does not fit into it")
    return room


def _too_many(count: int, placed: int, cube: float) -> InputError:
    return InputError(f"{count} bodies do not fit into a cube of edge {cube:.4g} ({placed} did); enlarge the cube or lower fill")


def random_bodies(
    rng: np.random.Generator,
    mesh: Mesh,
    count: int,
    cube: float,
    speed: float,
    turn: float,
    name: str,
    cycles: Sequence[Cycle] | None = None,
    close: bool = False,
) -> tuple[MovingBody, ...]:
    """Return copies of a mesh apart in a cube, with random poses and directions.

    Parameters
    ----------
    speed : float
        In radii of the body (of the ball about the middle of its box) per frame.
    turn : float
        Radians per frame, about a random axis per body.
    cycles : sequence of Cycle, optional
        Shapes of each body, if they deform.
    close : bool
        Only surfaces are apart at the start (by the default engine), boxes and balls may overlap; for rigid bodies.
    """
    speed, turn = cast.as_length(speed, "speed"), as_turn(turn)
    shapes = [None] * count if cycles is None else list(cycles)
    at_rest = [MovingBody(f"{name} {k}", mesh, cycle=shapes[k]) for k in range(count)]
    if close:
        poses = _poses_with_surfaces_apart(rng, at_rest, cube)
    else:
        places = places_apart(rng, count, max(body.radius for body in at_rest), cube)
        poses = [random_pose_at(rng, place, body.centre) for place, body in zip(places, at_rest, strict=True)]
    return tuple(
        MovingBody(body.name, mesh, pose, direction(rng) * (speed * body.radius), direction(rng), turn, body.cycle)
        for body, pose in zip(at_rest, poses, strict=True)
    )


def _poses_with_surfaces_apart(rng: np.random.Generator, bodies: Sequence[MovingBody], cube: float) -> list[Floats]:
    """Return poses of bodies with one mesh that do not touch, within a cube."""
    pair, room = Pair(bodies[0].mesh, bodies[0].mesh), _room(cube, bodies[0].radius)
    poses: list[Floats] = []
    for body in bodies:
        for _ in range(TRIES):
            pose = random_pose_at(rng, rng.uniform(-room, room, 3), body.centre)
            if not any(pair.touches(other, pose) for other in poses):
                break
        else:
            raise _too_many(len(bodies), len(poses), cube)
        poses.append(pose)
    return poses


def random_pose_at(rng: np.random.Generator, place: Floats, centre: Floats) -> Floats:
    """Return a pose with a random orientation that has the body's centre at a place."""
    pose = rotation_about(direction(rng), rng.uniform(0.0, 2.0 * np.pi))
    pose[:3, 3] = place - pose[:3, :3] @ centre
    return pose


def direction(rng: np.random.Generator) -> Floats:
    """Return a random unit vector (3,)."""
    return unit_vector(rng.normal(size=3))

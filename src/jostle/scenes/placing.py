"""Seeded random placement: bodies in a cube, apart at the start, each with a direction and a spin."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about
from jostle.methods.wide_tree.pair import Pair
from jostle.scenes.bodies import Cycle, MovingBody
from jostle.shapes.mesh import Mesh

TRIES = 2_000  # for one body; cubes that are filled with balls to 30 % need a few dozen


def ball_volume(radius: float) -> float:
    """Return the volume of a ball."""
    return 4.0 / 3.0 * np.pi * radius**3


def cube_of_fill(volume: float, fill: float) -> float:
    """Return the edge of the cube of which a volume fills the share `fill` (0 < fill <= 1)."""
    share = cast.as_number(fill, "fill")
    if not 0.0 < share <= 1.0:
        raise InputError(f"fill is {share}; it is the share of the cube's volume, more than 0 and at most 1")
    return float((volume / share) ** (1.0 / 3.0))


def places_apart(rng: np.random.Generator, radii: Sequence[float], cube: float) -> Floats:
    """Return (n, 3) centres in a cube around the origin such that balls overlap neither balls nor walls."""
    centres = np.empty((len(radii), 3))
    sizes = np.asarray(radii, float)
    for k, radius in enumerate(sizes):
        room = cube / 2.0 - radius
        if room < 0.0:
            raise InputError(f"cube is {cube:.4g}; a body of radius {radius:.4g} does not fit into it")
        for _ in range(TRIES):
            centres[k] = rng.uniform(-room, room, 3)
            gaps = ((centres[:k] - centres[k]) ** 2).sum(axis=1) - (sizes[:k] + radius) ** 2
            if (gaps > 0.0).all():
                break
        else:
            raise InputError(
                f"{len(sizes)} bodies do not fit into a cube of edge {cube:.4g} ({k} did); enlarge the cube or lower fill"
            )
    return centres


def bodies_at_random(
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
    """Return copies of a mesh in a cube, apart, randomly rotated, equally fast in random directions.

    Parameters
    ----------
    speed : float
        In radii of the body (of the ball about the middle of its box) per frame.
    turn : float
        Radians per frame, about an axis of its own for each body.
    cycles : sequence of Cycle, optional
        Shapes of each body, if they deform.
    close : bool
        Only surfaces are apart at the start (by the default engine), boxes and balls may overlap; for rigid bodies.
    """
    speed, turn = cast.as_length(speed, "speed"), cast.as_number(turn, "turn")
    if not np.isfinite(turn):
        raise InputError(f"turn is {turn}; it must be a finite angle")
    shapes = [None] * count if cycles is None else list(cycles)
    at_rest = [MovingBody(f"{name} {k}", mesh, cycle=shapes[k]) for k in range(count)]
    if close:
        poses = _poses_with_surfaces_apart(rng, at_rest, cube)
    else:
        places = places_apart(rng, [body.radius for body in at_rest], cube)
        poses = [turned_at_random(rng, place, body.centre) for place, body in zip(places, at_rest, strict=True)]
    return tuple(
        MovingBody(body.name, mesh, pose, direction(rng) * (speed * body.radius), direction(rng), turn, body.cycle)
        for body, pose in zip(at_rest, poses, strict=True)
    )


def _poses_with_surfaces_apart(rng: np.random.Generator, bodies: Sequence[MovingBody], cube: float) -> list[Floats]:
    """Return poses of bodies with one rigid mesh that do not touch, within the walls of a cube."""
    pair = Pair(bodies[0].mesh, bodies[0].mesh)
    poses: list[Floats] = []
    for body in bodies:
        room = cube / 2.0 - body.radius
        if room < 0.0:
            raise InputError(f"cube is {cube:.4g}; a body of radius {body.radius:.4g} does not fit into it")
        for _ in range(TRIES):
            pose = turned_at_random(rng, rng.uniform(-room, room, 3), body.centre)
            if not any(pair.touches(other, pose) for other in poses):
                break
        else:
            raise InputError(
                f"{len(bodies)} bodies do not fit into a cube of edge {cube:.4g} ({len(poses)} did); enlarge the cube or lower fill"
            )
        poses.append(pose)
    return poses


def turned_at_random(rng: np.random.Generator, place: Floats, centre: Floats) -> Floats:
    """Return a pose with a random orientation that has the body's centre at a place."""
    pose = rotation_about(direction(rng), rng.uniform(0.0, 2.0 * np.pi))
    pose[:3, 3] = place - pose[:3, :3] @ centre
    return pose


def direction(rng: np.random.Generator) -> Floats:
    """Return a random unit vector (3,)."""
    vector = rng.normal(size=3)
    unit: Floats = vector / np.linalg.norm(vector)
    return unit

"""Scenes of Lock, Wills 2000: polytopes of 36 faces in a cube, colliding pairs.

Defaults are the paper's numbers, cited in each docstring with what the paper leaves open. The paper's response also reverses the
rotation of both bodies, which changes no cost: here spins stay, as in all scenes, and `jostle.sim` has the paper's own response.
"""

from __future__ import annotations

import math

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.scenes.bodies import MovingBody
from jostle.scenes.placing import as_fill, as_turn, direction, places_apart, random_pose_at
from jostle.scenes.scene import Scene
from jostle.shapes import build
from jostle.shapes.mesh import Mesh

CUBE = 100.0
THREE_DEGREES = math.radians(3.0)
KINDS = ("both", "stellated_dodecahedra", "icosahedra")


def polytopes(
    *,
    count: int = 64,
    fill: float = 0.025,
    cube: float = CUBE,
    speed: float = 0.1,
    turn: float = THREE_DEGREES,
    response: str = "exchange",
    frames: int = 1000,
    seed: int = 0,
) -> Scene:
    """Return identical irregular convex polytopes of 36 faces that collide in a cube.

    After Lock, Wills 2000, §7, §8, fig. 10, 14.

    From the paper: 2 to 256 of them, 36 faces, filling 2.5 % of a cube of 100 units (so more of them are smaller), a velocity of up
    to 10 % of the radius per frame, reflecting walls, exchanged velocities, 1,000 frames. Ours: the polytope, random places,
    directions and axes, speeds drawn uniformly up to the largest, and 3 degrees per frame.

    Parameters
    ----------
    fill : float
        The share of the cube that all bodies take; it sets their size.
    cube : float
        Edge of the cube.
    speed : float
        The largest speed, in radii of a body per frame.
    """
    count = cast.as_count(count, "count", lowest=1)
    edge, speed, turn = cast.as_length(cube, "cube"), cast.as_length(speed, "speed"), as_turn(turn)
    mesh = polytope_of_volume(as_fill(fill) * edge**3 / count)
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    pattern = MovingBody("", mesh)
    places = places_apart(rng, count, pattern.radius, edge)
    bodies = [
        MovingBody(
            f"polytope {k}",
            mesh,
            random_pose_at(rng, place, pattern.centre),
            direction(rng) * (rng.uniform(0.0, speed) * pattern.radius),
            direction(rng),
            turn,
        )
        for k, place in enumerate(places)
    ]
    return Scene(
        name="polytopes",
        title=f"{count:,} polytopes of {len(mesh.faces)} faces in a cube",
        bodies=tuple(bodies),
        cube=edge,
        response=response,
        frames=cast.as_count(frames, "frames", lowest=1),
    )


def stellated(
    *,
    kind: str = "both",
    speed: float = 0.1,
    turn: float = THREE_DEGREES,
    start: float = 3.0,
    response: str = "exchange",
    frames: int = 30,
    seed: int = 0,
) -> Scene:
    """Return stellated dodecahedra and icosahedra that approach, collide and part.

    After Lock, Wills 2000, fig. 7.

    From the paper: a pair of concave stellated dodecahedra (60 faces), a pair of convex icosahedra, before, during and after their
    collision. Ours: all numbers. The radius of all of them is 1.

    Parameters
    ----------
    kind : {"both", "stellated_dodecahedra", "icosahedra"}
        Which pairs there are; "both" stand far apart.
    speed : float
        Speed of each body towards the other, radii per frame.
    start : float
        Distance of the centres at frame 0, more than 2 radii.
    """
    kind = cast.as_choice(kind, KINDS, "kind")
    speed, turn, start = cast.as_length(speed, "speed"), cast.as_number(turn, "turn"), cast.as_length(start, "start")
    if start <= 2.0:
        raise InputError(f"start is {start}; it must be more than 2 radii, or the bodies might touch at the start")
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    chosen = {"stellated dodecahedron": build.stellated_dodecahedron(), "icosahedron": build.icosahedron()}
    bodies: list[MovingBody] = []
    for row, (name, mesh) in enumerate(chosen.items()):
        pair = _approaching(rng, name, mesh, np.array([0.0, 0.0, -6.0 * row]), speed, turn, start)
        bodies += pair if kind in ("both", KINDS[1 + row]) else []
    return Scene(
        name="stellated",
        title=f"{' and '.join(f'two {words}' for words in _plurals(kind))} collide",
        bodies=tuple(bodies),
        response=response,
        frames=cast.as_count(frames, "frames", lowest=1),
    )


def polytope_of_volume(volume: float) -> Mesh:
    """Return the polytope of 36 faces with a given volume, its box centred."""
    pattern = build.polytope36()
    scale = (volume / pattern.volume) ** (1.0 / 3.0)
    return Mesh((pattern.vertices - pattern.bounds.mean(axis=0)) * scale, pattern.faces, name=pattern.name)


def _approaching(
    rng: np.random.Generator, name: str, mesh: Mesh, middle: Floats, speed: float, turn: float, start: float
) -> list[MovingBody]:
    """Return two bodies of one mesh that approach along x, a little off centre."""
    aside = rng.uniform(-0.15, 0.15, 3) * (0.0, 1.0, 1.0)
    made = []
    for letter, side in (("a", -1.0), ("b", 1.0)):
        place = middle + side * (np.array([0.5 * start, 0.0, 0.0]) + aside)
        pose = random_pose_at(rng, place, MovingBody("", mesh).centre)
        velocity = np.array([-side * speed, 0.0, 0.0])
        made.append(MovingBody(f"{name} {letter}", mesh, pose, velocity, direction(rng), turn))
    return made


def _plurals(kind: str) -> tuple[str, ...]:
    return ("stellated dodecahedra", "icosahedra") if kind == "both" else (kind.replace("_", " "),)

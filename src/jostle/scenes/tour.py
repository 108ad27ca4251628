"""The scene of `make demo`: a hand closes around a soft ball while shuttles fly into both.

Every kind of body that a method may have to do with is in it: concave ones that are rigid (shuttles), a concave one that bends
(the hand) and a round one over which waves run (the ball). No paper: all numbers are ours.
"""

from __future__ import annotations

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.scenes.bodies import Cycle, MovingBody
from jostle.scenes.cubes import swelling
from jostle.scenes.scene import Scene
from jostle.shapes import build
from jostle.shapes.build.hand import LARGEST_BEND

RADIUS = 0.22  # of the ball; the hand is about 0.95 long
# Upright, its palm to the left of the reader of a picture; the ball in front of the palm.
_UPRIGHT = rotation_about((0.0, 0.0, 1.0), np.pi - 0.75) @ rotation_about((1.0, 0.0, 0.0), np.pi / 2.0)
_IN_THE_HAND = np.array([0.02, 0.45, -0.38])
# Of each shuttle: its nose at the start and at the end of the motion, and how it is rolled about its way.
_FLIGHTS = (
    ((0.6, -0.4, 0.7), (-0.02, 0.02, 0.55), 0.5),
    ((-0.95, -0.5, 0.53), (-0.2, -0.25, 0.47), -0.4),
    ((0.2, -0.75, 0.1), (-0.28, -0.2, 0.48), 0.9),
)


def tour(*, faces: int = 528, bend: float = 1.0, swell: float = 0.2, frames: int = 20, seed: int = 0) -> Scene:
    """Return a hand of 960 faces that closes around a deforming ball, and three shuttles of 528.

    Parameters
    ----------
    faces : int
        Of the ball.
    bend : float
        Of every joint at the end of the motion, 0 … 1.2 radians.
    swell : float
        By how much of its radius the ball swells to either side, 0 … 0.9.
    seed : int
        Of how the shuttles turn on their ways; 0 for no turn at all.
    """
    if not 0.0 <= cast.as_number(bend, "bend") <= LARGEST_BEND:
        raise InputError(f"bend is {bend}; it must be between 0 and {LARGEST_BEND} radians")
    if not 0.0 <= cast.as_number(swell, "swell") <= 0.9:
        raise InputError(f"swell is {swell}; it must be between 0 and 0.9 of the radius")
    frames, seed = cast.as_count(frames, "frames", lowest=1), cast.as_count(seed, "seed")
    last = max(1, frames - 1)
    ball = build.sphere(faces, RADIUS)
    place = translation(_UPRIGHT[:3, :3] @ _IN_THE_HAND)
    bodies = [
        MovingBody("hand", build.hand(), _UPRIGHT, cycle=Cycle(_closing(bend, last))),
        MovingBody("ball", ball, place, cycle=Cycle(RADIUS * swelling(ball.vertices / RADIUS, swell, 2 * last))),
    ]
    spins = np.random.default_rng(seed).uniform(-0.03, 0.03, len(_FLIGHTS)) * (seed > 0)
    for number, ((start, end, roll), spin) in enumerate(zip(_FLIGHTS, spins.tolist(), strict=True), 1):
        way = np.subtract(end, start)
        pose = _nose_first(np.array(start), way, roll)
        bodies.append(MovingBody(f"shuttle {number}", build.shuttle(), pose, way / last, way, spin))
    return Scene(
        name="tour",
        title="a hand closes about a soft ball, and shuttles fly into them",
        bodies=tuple(bodies),
        frames=frames,
    )


def _closing(bend: float, last: int) -> Floats:
    """Return (2 · last, n, 3) hands from open to bent, in frame `last`, and back."""
    bends = bend * (1.0 - np.cos(np.pi * np.arange(2 * last) / last)) / 2.0
    return np.stack([build.hand(each).vertices for each in bends.tolist()])


def _nose_first(nose: Floats, way: Floats, roll: float) -> Floats:
    """Return the pose of a shuttle with its nose at a place; in its mesh the nose is the origin."""
    ahead = -way / np.linalg.norm(way)
    side = np.cross((0.0, 0.0, 1.0), ahead)
    side /= np.linalg.norm(side)
    pose: Floats = np.eye(4)
    pose[:3, :3] = np.stack([ahead, side, np.cross(ahead, side)], axis=1)
    pose[:3, 3] = nose
    return pose @ rotation_about((1.0, 0.0, 0.0), roll)

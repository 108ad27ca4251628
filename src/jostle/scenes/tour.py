"""The scene of `make demo`: a hand closes around a ball, shuttles fly into both.

It has every kind of body: rigid concave ones (shuttles), a concave one that bends (the hand) and a round one that deforms (the
ball). No paper: all numbers are ours.
"""

from __future__ import annotations

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.geometry.pose import rotation_about, translation
from jostle.geometry.unit_vectors import unit_vector
from jostle.scenes.bodies import Cycle, MovingBody
from jostle.scenes.cubes import as_swell, swelling
from jostle.scenes.scene import Scene
from jostle.shapes import build
from jostle.shapes.build.hand import LARGEST_BEND

RADIUS = 0.22  # of the ball; the hand is about 0.95 long
# Upright, its palm to the left in pictures; the ball in front of the palm.
_UPRIGHT = rotation_about((0.0, 0.0, 1.0), np.pi - 0.75) @ rotation_about((1.0, 0.0, 0.0), np.pi / 2.0)
_IN_THE_HAND = np.array([0.02, 0.45, -0.38])
# Per shuttle: its nose at the start and at the end, and its roll about the flight direction.
_FLIGHTS = (
    ((0.6, -0.4, 0.7), (-0.02, 0.02, 0.55), 0.5),
    ((-0.95, -0.5, 0.53), (-0.2, -0.25, 0.47), -0.4),
    ((0.2, -0.75, 0.1), (-0.28, -0.2, 0.48), 0.9),
)


def tour(*, faces: int = 528, bend: float = 1.0, swell: float = 0.2, frames: int = 20, seed: int = 0) -> Scene:
    """Return a hand that closes around a deforming ball, and three shuttles.

    Parameters
    ----------
    faces : int
        Of the ball.
    bend : float
        Final bend of every joint, 0 … 1.2 radians.
    swell : float
        Amplitude of the ball's waves as a share of its radius, 0 … 0.9.
    seed : int
        Of the shuttles' spins; 0 for none.
    """
    bend = cast.as_number_between(bend, "bend", 0.0, LARGEST_BEND, "radians")
    swell = as_swell(swell)
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
        flight = np.subtract(end, start)
        pose = _nose_first(np.array(start), flight, roll)
        bodies.append(MovingBody(f"shuttle {number}", build.shuttle(), pose, flight / last, flight, spin))
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


def _nose_first(nose: Floats, flight: Floats, roll: float) -> Floats:
    """Return the pose of a shuttle with its nose, its mesh's origin, at a place."""
    ahead = unit_vector(-flight)
    side = unit_vector(np.cross((0.0, 0.0, 1.0), ahead))
    pose: Floats = np.eye(4)
    pose[:3, :3] = np.stack([ahead, side, np.cross(ahead, side)], axis=1)
    pose[:3, 3] = nose
    return pose @ rotation_about((1.0, 0.0, 0.0), roll)

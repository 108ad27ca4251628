"""Two bodies that pass through each other along a line: blobs and bending hands."""

from __future__ import annotations

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.scenes.bodies import Cycle, MovingBody
from jostle.scenes.scene import Scene
from jostle.shapes import build
from jostle.shapes.build.hand import LARGEST_BEND

_LINE = np.array([1.0, 0.37, 0.21]) / np.linalg.norm([1.0, 0.37, 0.21])  # along no axis of a mesh


def blobs(
    *,
    faces: int = 50_000,
    faces_b: int | None = None,
    roughness: float = 0.6,
    start: float = 1.4,
    end: float = 0.3,
    turn: float = 0.01,
    frames: int = 60,
    seed: int = 1,
) -> Scene:
    """Return two large concave blobs that approach and interpenetrate deeply.

    No paper: all numbers are ours.

    Parameters
    ----------
    faces, faces_b : int
        Even; `faces_b` equals `faces` by default.
    roughness : float
        0 is a sphere, 0.6 strongly concave.
    start, end : float
        Distance of the blobs' origins in the first and the last frame; each has radius 1.
    turn : float
        Rotation of the second blob, radians per frame.
    """
    start, end, turn = cast.as_number(start, "start"), cast.as_number(end, "end"), cast.as_number(turn, "turn")
    if not (abs(start) < np.inf and abs(end) < np.inf and abs(turn) < np.inf):
        raise InputError(f"start, end and turn are {start}, {end} and {turn}; they must be finite numbers")
    frames, seed = cast.as_count(frames, "frames", lowest=1), cast.as_count(seed, "seed")
    a = build.blob(faces, seed=seed, roughness=roughness)
    b = build.blob(faces if faces_b is None else faces_b, seed=seed + 1, roughness=roughness)
    pose = translation(_LINE * start) @ rotation_about((0.3, -0.7, 0.5), 0.9)
    velocity = _LINE * ((end - start) / max(frames - 1, 1))
    return Scene(
        name="blobs",
        title=f"two blobs of {len(a.faces):,} and {len(b.faces):,} faces that approach along a line",
        bodies=(MovingBody("blob a", a), MovingBody("blob b", b, pose, velocity, np.array([0.3, 0.2, 1.0]), turn)),
        frames=frames,
    )


def hands(
    *,
    bend: float = 1.0,
    period: int = 48,
    speed: float = 0.01,
    turn: float = 0.005,
    cube: float = 2.0,
    frames: int = 150,
    seed: int = 0,
) -> Scene:
    """Return two hands that open and close while passing through each other.

    From Kitamura et al. 1998, §4.3: deforming hands of 960 faces, moved by users for about 800 frames. Ours: the motion. The hands
    approach along z, palm to palm, are reflected at the walls of the cube and meet again.

    Parameters
    ----------
    bend : float
        Largest bend of every joint, 0 … 1.2 radians.
    period : int
        Frames to open and close once; one finger follows the other.
    speed : float
        Length per frame; a hand is about 0.95 long.
    turn : float
        Radians per frame, about the direction of motion.
    cube : float
        Edge of the cube.
    seed : int
        Of each hand's phase.
    """
    bend = cast.as_number_between(bend, "bend", 0.0, LARGEST_BEND, "radians")
    period = cast.as_count(period, "period", lowest=1)
    speed, turn, cube = cast.as_length(speed, "speed"), cast.as_number(turn, "turn"), cast.as_length(cube, "cube")
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    mesh = build.hand()
    shapes = opening_and_closing(bend, period)
    up = np.array([0.0, 0.0, 1.0])
    bodies = []
    for name, side in (("upper hand", 1.0), ("lower hand", -1.0)):
        cycle = Cycle(shapes, int(rng.integers(period)))
        at_origin = MovingBody(name, mesh, cycle=cycle)
        # The palm faces -z: the lower hand is turned over, its thumb on the other side.
        pose = np.eye(4) if side > 0.0 else rotation_about((0.0, 1.0, 0.0), np.pi)
        room = cube / 2.0 - at_origin.radius
        if room <= 0.0:
            raise InputError(f"cube is {cube:.4g}; a hand needs more than {2.0 * at_origin.radius:.4g}")
        pose[:3, 3] = up * (side * 0.9 * room) - pose[:3, :3] @ at_origin.centre
        bodies.append(MovingBody(name, mesh, pose, -side * speed * up, up, turn, cycle))
    return Scene(
        name="hands",
        title="two hands of 960 faces that bend and pass through each other",
        bodies=tuple(bodies),
        cube=cube,
        frames=cast.as_count(frames, "frames", lowest=1),
    )


def opening_and_closing(bend: float, period: int) -> Floats:
    """Return (period, n, 3) hands that bend and open, one finger after the other."""
    hands_in_time = []
    for frame in range(period):
        phase = 2.0 * np.pi * (frame / period - 0.1 * np.arange(5))
        hands_in_time.append(build.hand((bend * (1.0 - np.cos(phase)) / 2.0).tolist()).vertices)
    return np.stack(hands_in_time)

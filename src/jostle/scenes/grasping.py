"""Two hands close on a ball (Baciu, Wong, Sun 1998, §5.4, fig. 8, table 1).

A hand is 19 convex capsules of one group (`build.hand_of_capsules`), the ball a convex body: 39 bodies. The hands hold the ball
between them, palm to palm and pointing in opposite directions, and bend their fingers, all joints alike. A finger stops when one of
its bones touches the ball; the motion ends when all ten have. Bones are rigid and turn about the balls that they share at the
joints. The paper prints triangle counts and frames (68 to 89); places, sizes and rates are ours.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.geometry.pose import rotation_about, translation
from jostle.methods.wide_tree.pair import Pair
from jostle.scenes.bodies import MovingBody
from jostle.scenes.scene import Scene
from jostle.shapes import build
from jostle.shapes.build.hand import FINGERS
from jostle.shapes.mesh import Mesh

BALL = 0.27  # radius; a hand is about 0.95 long
AT = np.array([0.0, 0.47, -0.40])  # of the ball in hand coordinates: in front of the knuckles
BONES = (3, 4, 4, 4, 4)  # of thumb, index, middle, ring and little finger, the first of each in the palm
SHARES = (1.0, 1.1, 0.7)  # of the bend, by joint
MOST_BEND = 1.5  # radians; a finger that has not touched by then passes the ball
FEWEST_FACES = 600
TOWARDS = {"thumb": np.array([0.75, 0.25, -0.6])}  # direction of the bend, if not to the palm
PALM = np.array([0.0, 0.0, -1.0])


class Finger(NamedTuple):
    """A finger's moving bones, with the joint that each turns about, in the open hand."""

    bones: list[int]  # numbers among the capsules of the hand
    joints: Floats  # (n, 3)
    hinge: Floats  # (3,) unit


def grasping(*, faces: int = 9_792, turn: float = 0.007, frames: int = 100, seed: int = 0) -> Scene:
    """Return two hands of capsules that close on a ball.

    After Baciu, Wong, Sun 1998, §5.4, fig. 8, table 1.

    From the paper: two hands of convex parts and a ball, 1,860 to 76,032 triangles in all; the sequence ends when all fingers touch
    the ball, after 68 to 89 frames. Ours: the rest.

    Parameters
    ----------
    faces : int
        Total face count, about; 600 or more. The counts of table 1 are met exactly.
    turn : float
        Radians by which a joint at the root of a finger bends per frame; 0.007 lets the last finger touch in about 70 frames.
    frames : int
        At most; the motion ends when all fingers touch.
    seed : int
        Of the ball's first orientation.
    """
    turn, frames = cast.as_length(turn, "turn"), cast.as_count(frames, "frames", lowest=1)
    if not 1e-3 <= turn <= 0.2:
        raise InputError(f"turn is {turn}; a joint bends by 0.001 to 0.2 radians per frame")
    capsules, ball = parts_with(cast.as_count(faces, "faces"))
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    rolled = rotation_about(rng.normal(size=3), rng.uniform(0.0, math.pi))
    fingers = fingers_of(capsules)
    # The other hand is this one after an exact half turn about an axis through the ball, across the fingers.
    other = np.diag([1.0, -1.0, -1.0, 1.0])
    stands = {"upper": translation(-AT), "lower": other @ translation(-AT)}
    bodies, last = [MovingBody("ball", ball, rolled)], 0
    for group, (side, stand) in enumerate(stands.items()):
        tracks: dict[int, Floats] = {}
        for finger in fingers:
            poses = _bent_until_touch(finger, capsules, stand, ball, rolled, turn)
            tracks |= {bone: poses[:, k] for k, bone in enumerate(finger.bones)}
            last = max(last, len(poses))
        for number, (capsule, name) in enumerate(zip(capsules, _names(), strict=True)):
            track = tracks.get(number, stand[None])
            bodies.append(MovingBody(f"{side} {name}", capsule, track[0], track=track, group=group))
    total = 2 * sum(len(capsule.faces) for capsule in capsules) + len(ball.faces)
    return Scene(
        name="grasping",
        title=f"two hands of capsules close on a ball, {total:,} faces",
        bodies=tuple(bodies),
        frames=min(frames, last),
    )


def parts_with(faces: int) -> tuple[list[Mesh], Mesh]:
    """Return a hand's capsules and a ball; with two hands, about `faces` faces.

    Among hands that leave the ball 2 to 12 % of the faces, the best match wins; ties go to a ball of about 5 %.
    """
    if faces < FEWEST_FACES:
        raise InputError(f"faces is {faces}; two hands and a ball have at least {FEWEST_FACES}")
    best: tuple[float, float, int, int] | None = None
    for cells in range(max(1, math.floor(0.88 * faces / 152.0)), math.ceil(0.98 * faces / 152.0) + 1):
        rings = max(1, round((cells / 4.0) ** 0.5))
        hand = 76 * rings * max(3, round(cells / rings))  # as `hand_of_capsules` makes it of 76 * cells
        ball = _round_ball(faces - 2 * hand)
        share = (faces - 2 * hand) / faces
        if ball and 0.015 <= share <= 0.13:
            rank = (abs(faces - 2 * hand - ball), abs(math.log(share / 0.05)), 76 * cells, ball)
            best = rank if best is None or rank < best else best
    if best is None:
        return build.hand_of_capsules(round(0.475 * faces)), build.sphere(_round_ball(faces // 20) or 24, BALL)
    return build.hand_of_capsules(best[2]), build.sphere(best[3], BALL)


def _round_ball(faces: int) -> int:
    """Return the largest round sphere's face count up to `faces`, or 0.

    It is 0 if none is within a tenth.
    """
    for count in range(faces - faces % 2, max(7, int(0.9 * faces)), -2):
        half = count // 2
        if any(half % rings == 0 and 0.5 <= half / rings / (2.0 * (rings + 1)) <= 2.0 for rings in range(1, half // 3 + 1)):
            return count
    return 0


def fingers_of(capsules: list[Mesh]) -> list[Finger]:
    """Return the five fingers of an open hand."""
    fingers, first = [], 0
    for name, count in zip(FINGERS, BONES, strict=True):
        bones = list(range(first + 1, first + count))
        joints = np.stack([_start_of(capsules[bone]) for bone in bones])
        along = capsules[bones[0]].vertices[-1] - capsules[bones[0]].vertices[0]
        hinge = np.cross(along, TOWARDS.get(name, PALM))
        fingers.append(Finger(bones, joints, hinge / np.linalg.norm(hinge)))
        first += count
    return fingers


def _start_of(capsule: Mesh) -> Floats:
    """Return the centre of the ball at the capsule's first end.

    Vertices run from pole to pole, and the first ring lies on that ball.
    """
    pole, last, ring = capsule.vertices[0], capsule.vertices[-1], capsule.vertices[1]
    axis = (last - pole) / np.linalg.norm(last - pole)
    away = ring - pole
    return pole + axis * ((away**2).sum() / (2.0 * (away * axis).sum()))


def bent(finger: Finger, angle: float) -> Floats:
    """Return poses (bones, 4, 4) of a finger bent by an angle, in the hand."""
    poses, parent = [], np.eye(4)
    for joint, share in zip(finger.joints, SHARES, strict=False):
        parent = parent @ rotation_about(finger.hinge, share * angle, joint)
        poses.append(parent)
    return np.stack(poses)


def _bent_until_touch(finger: Finger, capsules: list[Mesh], stand: Floats, ball: Mesh, ball_pose: Floats, turn: float) -> Floats:
    """Return world poses (frames, bones, 4, 4) until a bone touches the ball."""
    pairs = [Pair(capsules[bone], ball) for bone in finger.bones]
    poses: list[Floats] = []
    while len(poses) * turn <= MOST_BEND:
        poses.append(stand @ bent(finger, len(poses) * turn))
        if any(pair.touches(pose, ball_pose) for pair, pose in zip(pairs, poses[-1], strict=True)):
            return np.stack(poses)
    raise InputError(f"turn is {turn}; a finger passed the ball without touching it: choose another")


def _names() -> list[str]:
    return [f"{name} {k}" for name, count in zip(FINGERS, BONES, strict=True) for k in range(count)]

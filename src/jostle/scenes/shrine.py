"""Two hands assemble a portable shrine (Kitamura et al. 1998, §4.4, front cover).

The paper names a mikoshi of 5,263 faces; shapes, places and paths are ours (`shrine_parts.py`). The parts lie around the building
site at seeded places, grip side up. Two hands work at once, half a trip apart: a hand goes to its part, touches it, carries it in
an arc near its place and from there straight in until it touches the standing parts. At the start nothing touches; at the end every
part touches its support.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.continuous.interpolate import pose_at
from jostle.geometry.pose import rotation_about, translation
from jostle.scenes.bodies import MovingBody
from jostle.scenes.scene import Scene
from jostle.scenes.shrine_parts import DOWN, Part, distance_to_contact, places_of, shrine_parts
from jostle.shapes import build
from jostle.shapes.build.rings import joined
from jostle.shapes.mesh import Mesh

HANDS = ("west hand", "east hand")
HAND_SIZE = 0.32  # of `build.hand`, which is about 0.95 long
PALM = HAND_SIZE * np.array([0.0, 0.33, 0.0])  # the middle of the palm, in the hand
SITE = 0.8  # half the edge of the building site
SPACE = 0.05  # least distance between two parts at the start
LEAST_PACE = 8
BACK = 0.12  # length of the straight approach of a part, and of a hand's retreat
RAISED = 0.16


def shrine(*, pace: int = 24, frames: int | None = None, seed: int = 0) -> Scene:
    """Return a shrine of 38 parts, two hands that assemble it, and four stones.

    The parts have 5,263 faces in all, each hand 960.

    From the paper (§4.4): a mikoshi of 5,263 faces, assembled by partners who each carry parts; §4.3: hands of 960 faces. Ours:
    the rest. A closed mesh of triangles has an even number of faces, so one part is open: the banner.

    Parameters
    ----------
    pace : int
        Frames to fetch and place one part, 8 or more.
    frames : int, optional
        By default until all parts are placed and the hands have drawn back.
    seed : int
        Of the first places and orientations of the parts.
    """
    pace = cast.as_count(pace, "pace", lowest=LEAST_PACE)
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    parts = shrine_parts()
    lying = _about_the_site(parts, rng)
    stones = joined([build.box((0.14, 0.14, 0.05), (x, y, 0.025)) for x in (-0.42, 0.42) for y in (-0.38, 0.38)], "stones")
    places = places_of(parts, stones)
    mesh = Mesh(HAND_SIZE * build.hand(0.25).vertices, build.hand().faces, name="hand")
    # Askew at rest, so that no turn to a part is half a turn, which has no shortest path.
    rests = [translation((side * 1.2, 0.0, 1.0)) @ _hand_towards(DOWN, (-0.96 * side, 0.28 * side, 0.0)) for side in (-1.0, 1.0)]
    hand_poses = [[rest] * (1 + side * (pace // 2)) for side, rest in enumerate(rests)]
    tracks: list[Floats] = []
    for number, (part, begin, end) in enumerate(zip(parts, lying, places, strict=True)):
        poses = hand_poses[number % 2]
        grip = _grip(part, mesh, 1.0 - 2.0 * (number % 2))
        poses += _reaching(poses[-1], begin @ grip, pace // 3)
        carried = _carried(part, begin, end, pace - pace // 3)
        tracks.append(np.stack([begin] * len(poses) + carried))
        poses += [pose @ grip for pose in carried]
    hands = []
    for name, poses, rest in zip(HANDS, hand_poses, rests, strict=True):
        poses += _reaching(poses[-1], rest, pace // 3)
        hands.append(MovingBody(name, mesh, poses[0], track=np.stack(poses), hand="grasps"))
    bodies = [MovingBody(part.name, part.mesh, track[0], track=track) for part, track in zip(parts, tracks, strict=True)]
    return Scene(
        name="shrine",
        title=f"two hands put a shrine of {sum(len(part.mesh.faces) for part in parts):,} faces together",
        bodies=(*hands, *bodies, MovingBody("stones", stones, static=True)),
        frames=max(map(len, hand_poses)) if frames is None else cast.as_count(frames, "frames", lowest=1),
    )


def _about_the_site(parts: Sequence[Part], rng: np.random.Generator) -> list[Floats]:
    """Return the parts' first poses, above z = 0, the largest nearest to the site."""
    turned = [rotation_about((0.0, 0.0, 1.0), rng.uniform(-0.4, 0.4)) @ _side_up(part.grip) for part in parts]
    boxes = [_placed(part.mesh, pose) for part, pose in zip(parts, turned, strict=True)]
    halves = [0.5 * np.ptp(box[:, :2], axis=0) + 0.5 * SPACE for box in boxes]
    taken = [(np.zeros(2), np.full(2, SITE))]
    poses: list[Floats] = list(turned)
    for number in sorted(range(len(parts)), key=lambda k: -float(halves[k].max())):
        half = halves[number]
        reach = SITE
        while True:  # farther out until there is room
            reach += 0.001
            at = rng.uniform(-reach, reach, 2)
            # On its own side of the shrine, so that no path crosses standing parts.
            if at @ parts[number].aim[:2] >= 0.7 * float(np.linalg.norm(at) * np.linalg.norm(parts[number].aim[:2])) and all(
                (np.abs(at - other) >= half + others).any() for other, others in taken
            ):
                break
        taken.append((at, half))
        lower, upper = boxes[number].min(axis=0), boxes[number].max(axis=0)
        middle = 0.5 * (lower + upper)
        poses[number] = translation((at[0] - middle[0], at[1] - middle[1], -lower[2])) @ turned[number]
    return poses


def _side_up(grip: Floats) -> Floats:
    """Return the rotation that turns a part's grip side up, for a hand from above."""
    axis = np.cross(-grip, -DOWN)
    return np.eye(4) if not axis.any() else rotation_about(axis, float(np.arccos(np.clip(grip @ DOWN, -1.0, 1.0))))


def _hand_towards(grip: Floats, fingers: Sequence[float] | Floats) -> Floats:
    """Return the rotation of a hand with given palm and finger directions."""
    turn = np.eye(4)
    turn[:3, 1], turn[:3, 2] = fingers, -grip
    turn[:3, 0] = np.cross(turn[:3, 1], turn[:3, 2])
    return turn


def _grip(part: Part, hand: Mesh, towards: float) -> Floats:
    """Return the pose (4,4) of a hand that touches a part, in part coordinates."""
    turn = _hand_towards(part.grip, (towards, 0.0, 0.0) if part.fingers is None else part.fingers)
    reach = 0.5 * part.mesh.size + HAND_SIZE
    pose = translation(part.aim - turn[:3, :3] @ PALM) @ turn
    return translation(part.grip * distance_to_contact(hand, pose, part.grip, part.mesh, before=reach)) @ pose


def _carried(part: Part, begin: Floats, end: Floats, frames: int) -> list[Floats]:
    """Return a part's poses to its place: up, in an arc, and straight in."""
    up, before = translation((0.0, 0.0, RAISED)) @ begin, translation(-BACK * part.goes) @ end
    lift, straight = max(1, frames // 6), max(2, frames // 4)
    middle = part.mesh.bounds.mean(axis=0)
    lifted = _between(begin, up, lift, middle)
    across = _between(up, before, frames - lift - straight, middle, part.rise)
    return lifted + across + _between(before, end, straight, middle)


def _reaching(begin: Floats, end: Floats, frames: int) -> list[Floats]:
    """Return a hand's poses from one part to the next, palm first."""
    back, before = (pose @ translation((0.0, 0.0, BACK)) for pose in (begin, end))
    leave = max(1, frames // 4)
    across = _between(back, before, frames - 2 * leave, PALM, 0.3)
    return _between(begin, back, leave, PALM) + across + _between(before, end, leave, PALM)


def _between(begin: Floats, end: Floats, frames: int, middle: Floats, rise: float = 0.0) -> list[Floats]:
    """Return `frames` poses to the last: straight or in an arc, slow at the ends."""
    first, last = (pose[:3, :3] @ middle + pose[:3, 3] for pose in (begin, end))
    turned, to = (pose @ translation(-pose[:3, :3].T @ pose[:3, 3]) for pose in (begin, end))
    poses = []
    for share in np.arange(1, frames) / frames:
        eased = float(share * share * (3.0 - 2.0 * share))
        pose = pose_at(turned, to, eased)
        at = first + eased * (last - first) + (0.0, 0.0, 4.0 * rise * eased * (1.0 - eased))
        pose[:3, 3] = at - pose[:3, :3] @ middle
        poses.append(pose)
    return [*poses, end]


def _placed(mesh: Mesh, pose: Floats) -> Floats:
    return mesh.vertices @ pose[:3, :3].T + pose[:3, 3]

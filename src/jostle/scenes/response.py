"""Responses of touching bodies: exchange velocities, or change them along contact normals.

"exchange" (Kitamura et al. 1998, §5.3): two bodies that touch swap velocities; ours is that they must approach each other.
"normals" (§4.3): the new velocities follow from the old ones and from the normals where faces touch. The paper prints no more;
ours is: the direction in which two bodies push each other apart is the sum over their touching face pairs of one outward normal
less the other. Two free bodies that approach along it exchange the parts of their velocities along it, as equal masses do. A hand
that pushes gives its own motion to the body, and what sends it off. Whatever else does not yield (a static body, the other hand, a
body that is held) throws a body back. Neither makes a body faster than the faster of the two was. A grasping hand holds a body
that it touches from the second to the third quarter of its cycle, in which its fingers are bent, and then lets it go with its own
motion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats

if TYPE_CHECKING:
    from jostle.report.report import Contacts
    from jostle.scenes.bodies import MovingBody
    from jostle.world.world import World


RESPONSES = ("none", "exchange", "normals", "stop")
HOLDING = (0.25, 0.75)  # the part of its cycle in which a hand holds what it touches
LITTLE = 1e-12


def exchange(touching: Sequence[tuple[int, int]], centre: Floats, velocity: Floats, free: NDArray[np.bool_]) -> None:
    """Exchange the velocities (n,3) of free bodies that touch and approach, pair by pair."""
    for a, b in touching:
        approaching = float(np.dot(velocity[a] - velocity[b], centre[b] - centre[a])) > 0.0
        if approaching and free[a] and free[b]:
            velocity[[a, b]] = velocity[[b, a]]


def push_directions(contacts: Contacts, world: World) -> dict[tuple[int, int], Floats]:
    """Return per touching pair (a, b) the unit vector that pushes b out of a, if its normals give one."""
    first = _unit_normals(world, contacts.body_a, contacts.face_a)
    second = _unit_normals(world, contacts.body_b, contacts.face_b)
    total: dict[tuple[int, int], Floats] = {}
    for a, b, push in zip(contacts.body_a.tolist(), contacts.body_b.tolist(), first - second, strict=True):
        total[a, b] = total.get((a, b), 0.0) + push
    lengths = {pair: float(np.sqrt((push**2).sum())) for pair, push in total.items()}
    return {pair: total[pair] / length for pair, length in lengths.items() if length > LITTLE}


def _unit_normals(world: World, bodies: NDArray[np.integer], faces: NDArray[np.integer]) -> Floats:
    """(k, 3) outward normals in the world; 0 for a face without area."""
    normals = np.zeros((len(bodies), 3))
    for number in np.unique(bodies).tolist():
        rows = np.flatnonzero(bodies == number)
        body = world[number]
        corners = body.vertices[body.mesh.faces[faces[rows]]]
        normals[rows] = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        x, y, z = (normals[rows, k, None] for k in range(3))
        turn = body.pose[:3, :3]
        normals[rows] = turn[:, 0] * x + turn[:, 1] * y + turn[:, 2] * z
    length = np.sqrt((normals**2).sum(axis=1, keepdims=True))
    unit: Floats = np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)
    return unit


class Grip:
    """Which bodies are held by which hand, from frame to frame."""

    def __init__(self, bodies: Sequence[MovingBody]) -> None:
        self._bodies = bodies
        self.hand_of: dict[int, int] = {}  # body held -> hand
        self._lost: set[int] = set()  # hands out of which something slipped: they take nothing before they have opened

    def grasp_and_release(self, touching: Sequence[tuple[int, int]], frame: int) -> None:
        """Release bodies from opened hands; let empty closing hands take the first body they touch."""
        self.hand_of = {body: hand for body, hand in self.hand_of.items() if self._closed(hand, frame)}
        self._lost = {hand for hand in self._lost if self._closed(hand, frame)}
        for pair in touching:
            for hand, body in (pair, pair[::-1]):
                free = body not in self.hand_of and self._bodies[body].loop is None and not self._bodies[body].static
                busy = hand in self._lost or hand in self.hand_of.values()
                if free and not busy and self._closed(hand, frame):
                    self.hand_of[body] = hand

    def slip(self, body: int) -> None:
        """Release one body; its hand takes nothing until it has opened."""
        if body in self.hand_of:
            self._lost.add(self.hand_of.pop(body))

    def _closed(self, hand: int, frame: int) -> bool:
        body = self._bodies[hand]
        return body.hand == "grasps" and body.cycle is not None and HOLDING[0] <= body.cycle.share(frame) < HOLDING[1]


def bounce(bodies: Sequence[MovingBody], directions: dict[tuple[int, int], Floats], velocity: Floats, yields: list[bool]) -> None:
    """Change the velocities (n,3) of touching bodies that approach along normals, pair by pair.

    Only bodies that yield change.

    Parameters
    ----------
    directions : mapping from (a, b) to (3,)
        As of `push_directions`.
    velocity : (n, 3)
        Of all bodies, those on a loop too; changed in place.
    yields : list of bool
        Whether a body's motion can be changed: it is neither static, nor led, nor held.
    """
    for (a, b), push in directions.items():
        closing = float(((velocity[a] - velocity[b]) * push).sum())
        if closing <= 0.0:
            continue
        if yields[a] and yields[b]:
            velocity[a] -= closing * push
            velocity[b] += closing * push
        elif yields[a]:
            velocity[a] = _thrown_back(velocity[a], -closing * push, bodies[b], velocity[b])
        elif yields[b]:
            velocity[b] = _thrown_back(velocity[b], closing * push, bodies[a], velocity[a])


def _thrown_back(own: Floats, change: Floats, other: MovingBody, others: Floats) -> Floats:
    """Return a body's velocity after hitting one that does not yield.

    `change` would let them move alike along the push.
    """
    after = others + change if other.hand == "pushes" else own + 2.0 * change
    limit, length = max(_length(own), _length(others)), _length(after)
    # Hands that only ever add speed would make bodies faster and faster.
    return after * (limit / length) if length > limit else after


def _length(vector: Floats) -> float:
    return float(np.sqrt((vector**2).sum()))

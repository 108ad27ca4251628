"""Responses of touching bodies: exchange velocities, or change them by normals.

"exchange" (Kitamura et al. 1998, §5.3): touching bodies swap velocities; that they must approach is ours.

"normals" (§4.3): the new velocities follow from the old ones and from the normals of touching faces. The paper prints no more.
Ours: two bodies push each other apart along the sum, over their touching face pairs, of one outward normal minus the other. Two
free bodies that approach along it exchange the components of their velocities along it, as equal masses do. A pushing hand adds its
own velocity. Any other immovable body (static, the other hand, a held body) reflects a body. Neither makes a body faster than the
faster of the two was. A grasping hand holds a touching body from the second to the third quarter of its cycle, while its fingers
are bent, and then releases it with its own velocity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.report.report import Contacts
from jostle.scenes.bodies import MovingBody
from jostle.world.world import World

RESPONSES = ("none", "exchange", "normals", "stop")
HOLDING = (0.25, 0.75)  # part of its cycle in which a hand holds a touching body
LITTLE = 1e-12


def exchange(touching: Sequence[tuple[int, int]], centre: Floats, velocity: Floats, free: NDArray[np.bool_]) -> None:
    """Exchange the velocities (n,3) of free bodies that touch and approach."""
    for a, b in touching:
        approaching = float(np.dot(velocity[a] - velocity[b], centre[b] - centre[a])) > 0.0
        if approaching and free[a] and free[b]:
            velocity[[a, b]] = velocity[[b, a]]


def push_directions(contacts: Contacts, world: World) -> dict[tuple[int, int], Floats]:
    """Return the unit vector that pushes b out of a, per touching pair (a, b).

    Pairs whose normals cancel have none.
    """
    first = _unit_normals(world, contacts.body_a, contacts.face_a)
    second = _unit_normals(world, contacts.body_b, contacts.face_b)
    total: dict[tuple[int, int], Floats] = {}
    for a, b, push in zip(contacts.body_a.tolist(), contacts.body_b.tolist(), first - second, strict=True):
        total[a, b] = total.get((a, b), 0.0) + push
    lengths = {pair: float(np.sqrt((push**2).sum())) for pair, push in total.items()}
    return {pair: total[pair] / length for pair, length in lengths.items() if length > LITTLE}


def _unit_normals(world: World, bodies: NDArray[np.integer], faces: NDArray[np.integer]) -> Floats:
    """Return (k, 3) outward normals in the world; 0 for faces without area."""
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
    return np.divide(normals, length, out=np.zeros_like(normals), where=length > 0.0)


class Grip:
    """The bodies that hands hold, from frame to frame."""

    def __init__(self, bodies: Sequence[MovingBody]) -> None:
        self._bodies = bodies
        self.hand_of: dict[int, int] = {}  # body held -> hand
        self._lost: set[int] = set()  # hands that lost a body: they take none before they open

    def grasp_and_release(self, touching: Sequence[tuple[int, int]], frame: int) -> None:
        """Release bodies from open hands; empty closing hands take what they touch."""
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
    """Change velocities (n,3) of touching bodies that approach along normals.

    Only bodies that yield change.

    Parameters
    ----------
    directions : mapping from (a, b) to (3,)
        From `push_directions`.
    velocity : (n, 3)
        Of all bodies, kinematic ones too; changed in place.
    yields : list of bool
        Whether a body is neither static, nor kinematic, nor held.
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
    """Return a body's velocity after it hits an immovable one.

    `change` would equal their velocities along the push.
    """
    after = others + change if other.hand == "pushes" else own + 2.0 * change
    limit, length = max(_length(own), _length(others)), _length(after)
    # Without a limit, hands would add speed without end.
    return after * (limit / length) if length > limit else after


def _length(vector: Floats) -> float:
    return float(np.sqrt((vector**2).sum()))

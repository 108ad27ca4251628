"""Where bodies stand: crowds, and pairs at a near miss, apart and in contact.

Every pose comes from a fixed seed. A pair is brought together along a random line until its distance is a thousandth of the size;
the distance only says how far a body may go, and the exact reference decides what the case holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle._types import Floats
from jostle.bench.kinds.meshes.compounds import turned_at_random
from jostle.geometry.pose import translation
from jostle.shapes.mesh import Mesh
from jostle.world.world import World

NEAR_MISS = 0.001  # gaps and depths are shares of the size of the first mesh
APART = 0.05
CLEARANCE = 0.02
DEPTH = 0.02
MOST_STEPS = 60  # of an approach; most need 10 to 20
CLOSE_ENOUGH = 1.1  # times the gap that is asked for


def crowd(mesh: Mesh, count: int, spacing: float, seed: int = 7) -> Floats:
    """Return poses (1, count, 4, 4) of bodies turned at random in a cube.

    The cube has one body per `spacing` sizes along each edge.
    """
    rng = np.random.default_rng(seed)
    edge = spacing * mesh.size * count ** (1.0 / 3.0)
    poses = np.stack([turned_at_random(rng) for _ in range(count)])
    poses[:, :3, 3] = rng.uniform(0.0, edge, (count, 3))
    return poses[None]


@dataclass(frozen=True)
class Approaches:
    """Turned copies of a body, each brought to a near miss of another along a line."""

    turns: Floats  # (n, 4, 4)
    directions: Floats  # (n, 3) unit vectors, away from the other body
    offsets: Floats  # (n,) of the near misses along them
    size: float

    def poses(self, farther: float | Floats) -> Floats:
        """Return poses (n, 2, 4, 4) of both bodies, `farther` sizes from the near misses."""
        poses = np.tile(np.eye(4), (len(self.offsets), 2, 1, 1))
        offsets = self.offsets + np.asarray(farther) * self.size
        poses[:, 1] = self.turns
        poses[:, 1, :3, 3] = self.directions * offsets[:, None]
        return poses


def approaches(a: Mesh, b: Mesh, count: int, seed: int = 8, upward: bool = False) -> Approaches:
    """Return `count` approaches of b to a; `upward` ones come down on a terrain."""
    rng = np.random.default_rng(seed)
    world = World("wide_tree")
    rest, mover = world.add(a), world.add(b)
    found: list[tuple[Floats, Floats, float]] = []
    while len(found) < count:
        turned, direction = turned_at_random(rng), rng.normal(size=3)
        if upward:
            direction[2] = 3.0 * abs(direction[2])
        direction /= np.linalg.norm(direction)
        offset = 0.5 * (a.size + b.size)
        for _ in range(MOST_STEPS):
            mover.pose = translation(direction * offset) @ turned
            gap = world.distance(rest, mover).distance
            if gap <= CLOSE_ENOUGH * NEAR_MISS * a.size:
                found.append((turned, direction, offset))
                break
            offset -= gap - NEAR_MISS * a.size
    turns, directions, offsets = (np.array(column) for column in zip(*found, strict=True))
    return Approaches(turns, directions, offsets, a.size)

"""Scenes of a user's own bodies: each turns and drifts on a small circle.

The motion is seeded and starts exactly at the poses of the file or world; static bodies stay. To show a real motion instead, record
your own loop (`jostle.motion.record.Recorder`).
"""

from __future__ import annotations

import math
from os import PathLike
from pathlib import Path

import numpy as np

from jostle import cast
from jostle.scenes.bodies import Circle, Cycle, MovingBody
from jostle.scenes.placing import as_turn, direction
from jostle.scenes.scene import Scene
from jostle.world.world import World

TWO_DEGREES = math.radians(2.0)


def scene_of_world(
    world: World,
    *,
    drift: float = 0.25,
    period: int = 60,
    turn: float = TWO_DEGREES,
    frames: int = 120,
    seed: int = 0,
    name: str = "world",
) -> Scene:
    """Return a scene of a world's bodies at their present poses; the world stays.

    Parameters
    ----------
    world : World
        Filters and ignored pairs are kept; a deformable body keeps its present shape.
    drift : float
        Radius of each body's circle, as a share of the diagonal of its box.
    period : int
        Frames for once around.
    turn : float
        Radians per frame, about a random axis per body.
    """
    drift, turn = cast.as_length(drift, "drift"), as_turn(turn)
    angle = 2.0 * np.pi / cast.as_count(period, "period", lowest=1)
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    bodies = []
    for body in world:
        to_middle = direction(rng)
        circle = Circle(drift * body.mesh.size * to_middle, np.cross(to_middle, direction(rng)), angle)
        bodies.append(
            MovingBody(
                name=body.name,
                mesh=body.mesh,
                pose=np.array(body.pose),
                axis=direction(rng),
                spin=turn,
                cycle=Cycle(body.vertices[None]) if body.deformable else None,
                circle=circle,
                static=body.static,
                group=body.group,
                category=body.category,
                mask=body.mask,
            )
        )
    row_of_id = {body.id: row for row, body in enumerate(world)}
    return Scene(
        name=name,
        title=f"{name}: {len(bodies)} bodies, each on a circle about its place",
        bodies=tuple(bodies),
        frames=cast.as_count(frames, "frames", lowest=1),
        ignored=tuple(sorted((row_of_id[low], row_of_id[high]) for low, high in world._ignored)),
        parameters={"drift": drift, "period": period, "turn": turn, "frames": frames, "seed": seed},
    )


def scene_of_file(
    path: str | PathLike[str],
    *,
    drift: float = 0.25,
    period: int = 60,
    turn: float = TWO_DEGREES,
    frames: int = 120,
    seed: int = 0,
) -> Scene:
    """Return a scene of a file: one body per node of GLB or glTF, else one body.

    See `scene_of_world`.
    """
    world = World.from_scene(path)
    return scene_of_world(world, drift=drift, period=period, turn=turn, frames=frames, seed=seed, name=Path(path).stem)

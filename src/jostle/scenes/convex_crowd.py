"""Convex bodies in random motion, no response (Baciu, Wong, Sun 1998, §5.1, §5.2).

100 flat ellipsoids, truncated cones with spherical caps, or cones, of 36 to 11,520 faces each. Paths are the same for every face
count, to rounding: bodies are placed by a pattern of a fixed face count that is a little larger than all of them. The paper wants
collisions without response and little penetration, so it stops after 100 to 500 frames; it prints neither speed nor density. Ours:
at the start surfaces are apart but boxes overlap (115 to 140 pairs per frame for 100 cones), and in 100 frames a body moves by half
its radius, so that bodies graze rather than pass through each other: half of the touching bodies penetrate by less than 6 % of
their size.
"""

from __future__ import annotations

import math
from dataclasses import replace

from jostle import cast
from jostle.errors import InputError
from jostle.geometry.pose import translation
from jostle.scenes.bodies import MovingBody
from jostle.scenes.cubes import Crowd, in_a_cube
from jostle.scenes.placing import ball_volume
from jostle.scenes.scene import Scene
from jostle.shapes import build
from jostle.shapes.mesh import Mesh

FILL = 0.5
SPEED = 0.005
TURN = math.radians(1.0)
LARGER = 1.02  # pattern over body: bodies of any face count lie inside it


def cones(
    *,
    count: int = 100,
    faces: int = 360,
    fill: float = FILL,
    cube: float | None = None,
    speed: float = SPEED,
    turn: float = TURN,
    response: str = "none",
    frames: int = 100,
    seed: int = 0,
) -> Scene:
    """Return cones in random motion that pass through each other.

    After Baciu, Wong, Sun 1998, §5.1, §5.2, fig. 5.

    From the paper: 100 cones, 3,600 to 1,152,000 faces in all (36 to 11,520 each), no response, 100 to 500 frames. Ours: 360
    faces each, a cube half filled by bounding balls, speed (radii per frame) and turn (radians per frame).
    """
    crowd = Crowd(count, fill, cube, speed, turn, response, frames, seed)
    return _following("cones", build.cone(face_count=faces), build.cone(face_count=576), crowd)


def ellipsoids(
    *,
    count: int = 100,
    faces: int = 360,
    fill: float = FILL,
    cube: float | None = None,
    speed: float = SPEED,
    turn: float = TURN,
    response: str = "none",
    frames: int = 100,
    seed: int = 0,
) -> Scene:
    """Return flat ellipsoids in random motion that pass through each other.

    After Baciu, Wong, Sun 1998, §5.1, fig. 5, fig. 9.

    From the paper: 100 of them, 3,600 to 1,152,000 faces in all, no response, 100 to 500 frames. Ours: radii of 1, 0.7 and 0.3,
    360 faces each, a cube half filled by bounding balls, speed and turn.
    """
    crowd = Crowd(count, fill, cube, speed, turn, response, frames, seed)
    return _following("ellipsoids", build.ellipsoid(faces), build.ellipsoid(576), crowd)


def truncated_cones(
    *,
    count: int = 100,
    faces: int = 576,
    fill: float = FILL,
    cube: float | None = None,
    speed: float = SPEED,
    turn: float = TURN,
    response: str = "none",
    frames: int = 100,
    seed: int = 0,
) -> Scene:
    """Return truncated cones with spherical caps that pass through each other.

    After Baciu, Wong, Sun 1998, §5.1, fig. 5, fig. 9.

    From the paper: 100 of them, 3,600 to 1,152,000 faces in all, no response, 100 to 500 frames. Ours: balls of radius 0.25 and
    0.125 with 1 from end to end, 576 faces each (a multiple of 4), a cube half filled by bounding balls, speed and turn.
    """
    crowd = Crowd(count, fill, cube, speed, turn, response, frames, seed)
    return _following("truncated_cones", capped_cone(faces), capped_cone(576), crowd)


def capped_cone(faces: int) -> Mesh:
    """Return a truncated cone with caps and exactly `faces` faces."""
    faces = cast.as_count(faces, "faces", lowest=12)
    if faces % 4:
        raise InputError(f"faces is {faces}; a truncated cone with caps has a multiple of 4")
    cells = faces // 4
    rings = min((r for r in range(1, cells // 3 + 1) if cells % r == 0), key=lambda r: abs(math.log(cells / (4.0 * r * r))))
    return build.truncated_cone(cells // rings, 0.25, 0.125, 1.0, rings)


def _following(name: str, mesh: Mesh, pattern: Mesh, crowd: Crowd) -> Scene:
    """Return the scene of a mesh on the paths of a pattern."""
    middle = pattern.bounds.mean(axis=0)
    larger = Mesh(middle + LARGER * (pattern.vertices - middle), pattern.faces, name=mesh.name)
    radius = MovingBody("", larger).radius
    scene = in_a_cube(name, larger, ball_volume(radius), crowd, close=True)
    centred = translation(middle - MovingBody("", mesh).centre)
    bodies = tuple(replace(body, mesh=mesh, pose=body.pose @ centred) for body in scene.bodies)
    assert scene.cube is not None
    # Walls reflect a body's ball: they leave it the room of the pattern, so that paths are the same.
    room = scene.cube + 2.0 * (bodies[0].radius - radius)
    title = f"{len(bodies):,} {name.replace('_', ' ')} of {len(mesh.faces):,} faces in a cube"
    return replace(scene, title=title, bodies=bodies, cube=room)

"""The stepper: the simple motions of the papers' experiments, frame by frame.

Bodies keep their velocity and their spin (Kitamura et al. 1998, §5.3: both constant) and are reflected at the walls of a cube
about the origin. A wall reflects the ball about the centre of a body's box, so a body that turns at a wall stays in the cube.
Spins never change; orientations are computed from the frame's angle, not accumulated, so poses stay rigid. A body on a loop or a
track is kinematic: contacts do not change its path.

Responses to a collision:
- "none": bodies pass through each other (Baciu, Wong, Sun 1998, §5, over 100 to 500 frames).
- "exchange": two bodies that touch and approach exchange their velocities (Kitamura et al. §5.3; the condition that they approach
  is ours: without it, bodies that overlap for several frames would exchange repeatedly and stick together). Pairs follow the order
  of body numbers. No speed is lost.
- "normals": velocities change along the normals of the touching faces; hands push and grasp (§4.3; `response.py`).
- "stop": the motion ends with the first frame in which bodies touch (Kitamura et al. §4.1; Baciu et al. for controlled runs).

The default engine finds the contacts, independent of the method under test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.report.report import Report
from jostle.scenes.bodies import MovingBody
from jostle.scenes.response import RESPONSES, Grip, bounce, exchange, push_directions
from jostle.world.world import World


class Stepper:
    """Moves the bodies of a scene; frame 0 is where they start.

    Parameters
    ----------
    bodies : sequence of MovingBody
    cube : float, optional
        Edge of the cube about the origin whose walls reflect; None for no walls.
    response : {"none", "exchange", "normals", "stop"}
    ignored : sequence of (int, int)
        Pairs of body numbers that never collide.
    """

    def __init__(
        self,
        bodies: Sequence[MovingBody],
        cube: float | None = None,
        response: str = "none",
        ignored: Sequence[tuple[int, int]] = (),
    ) -> None:
        self.bodies = tuple(bodies)
        self.response = cast.as_choice(response, RESPONSES, "response")
        self.frame = 0
        self._ignored = tuple(ignored)
        count = len(self.bodies)
        self._moves = np.array([not body.static for body in self.bodies], bool)
        self._start = np.stack([body.pose for body in self.bodies]) if count else np.empty((0, 4, 4))
        self._middle = np.array([body.centre for body in self.bodies]).reshape(-1, 3)
        self._axis = _unit([body.axis for body in self.bodies])
        self._spin = np.where(self._moves, [body.spin for body in self.bodies], 0.0)
        self._first_centre = _turned(self._start[:, :3, :3], self._middle) + self._start[:, :3, 3]
        self._moved = np.zeros((count, 3))  # displacement of the centres from their first places
        self._velocity = np.array([body.velocity for body in self.bodies], float).reshape(-1, 3)
        self._circles = [(k, body.circle) for k, body in enumerate(self.bodies) if body.circle is not None and not body.static]
        self._loops = [(k, body.loop) for k, body in enumerate(self.bodies) if body.loop is not None and not body.static]
        self._cycles = [(k, body.cycle) for k, body in enumerate(self.bodies) if body.cycle is not None]
        self._turned = np.zeros(count)  # frames that each body has turned: not while a hand holds it
        self._grip = Grip(self.bodies)
        self._tracks = [(k, body.track) for k, body in enumerate(self.bodies) if body.track is not None and not body.static]
        self._kinematic = [k for k, _ in self._loops + self._tracks]
        self._free = self._moves.copy()
        self._free[self._kinematic] = False
        self._velocity[~self._free] = 0.0
        self._room = None if cube is None else self._checked_room(cube)
        self._world: World | None = None

    @property
    def centres(self) -> Floats:
        """(n, 3) present centres of the bodies."""
        centres: Floats = self._first_centre + self._moved + self._drift()
        for k, track in self._tracks:
            pose = track[min(self.frame, len(track) - 1)]
            centres[k] = _turned(pose[None, :3, :3], self._middle[k : k + 1])[0] + pose[:3, 3]
        return centres

    @property
    def velocities(self) -> Floats:
        """(n, 3) displacement of the centres to the next frame, without circles."""
        velocities: Floats = self._velocity.copy()
        for k, loop in self._loops:
            velocities[k] = loop.at(self.frame + 1) - loop.at(self.frame)
        return velocities

    @property
    def held(self) -> dict[int, int]:
        """The hand that holds each held body."""
        return dict(self._grip.hand_of)

    @property
    def poses(self) -> Floats:
        """(n, 4, 4) poses of all bodies now; frame 0 has the bodies' poses bit for bit."""
        first, turn = self._start[:, :3, :3], rotations_about(self._axis, self._spin * self._turned)
        # Summed in a fixed order, so that rounding does not depend on the linear-algebra library.
        rotation = turn[:, :, 0, None] * first[:, None, 0] + turn[:, :, 1, None] * first[:, None, 1]
        rotation += turn[:, :, 2, None] * first[:, None, 2]
        poses: Floats = self._start.copy()
        poses[:, :3, :3] = rotation
        poses[:, :3, 3] += (self._moved + self._drift()) + _turned(first - rotation, self._middle)
        for k, track in self._tracks:
            poses[k] = track[min(self.frame, len(track) - 1)]
        return poses

    def touching(self) -> list[tuple[int, int]]:
        """Return the pairs of bodies that touch now, by the default engine, in order."""
        return _pairs_of(self._detect("pairs"))

    def advance(self) -> bool:
        """Respond to contacts and advance one frame; False if the response stops here."""
        if self.response in ("exchange", "stop"):
            touching = self.touching()
            if touching and self.response == "stop":
                return False
            exchange(touching, self.centres, self._velocity, self._free)
        elif self.response == "normals":
            self._respond_to_normals()
        self._moved += self._velocity
        self._turned += 1.0
        self._turned[list(self._grip.hand_of)] -= 1.0
        self.frame += 1
        if self._room is not None:
            self._reflect(self._room)
        return True

    def steps(self, frames: int) -> Iterator[int]:
        """Yield the frame numbers below `frames`, advancing until the response stops."""
        yield self.frame
        while self.frame < frames - 1 and self.advance():
            yield self.frame

    def _detect(self, rows: str) -> Report:
        if self._world is None:
            self._world = self._new_world()
        self._world.set_poses(self.poses)
        for k, cycle in self._cycles:
            self._world[k].vertices = cycle.at(self.frame)
        return self._world.detect(rows=rows)

    def _respond_to_normals(self) -> None:
        report = self._detect("faces")
        assert self._world is not None
        self._grip.grasp_and_release(_pairs_of(report), self.frame)
        held = self._grip.hand_of
        velocity = self.velocities
        for body, hand in held.items():
            velocity[body] = velocity[hand]
        yields = [bool(free) and k not in held for k, free in enumerate(self._free)]
        bounce(self.bodies, push_directions(report.contacts, self._world), velocity, yields)
        velocity[self._kinematic] = 0.0
        self._velocity = velocity

    def _reflect(self, room: Floats) -> None:
        """Reflect centres that left their room, and turn their velocities back into it."""
        centre = self._first_centre + self._moved
        above, below = centre > room, centre < -room
        mirrored = np.where(above, 2.0 * room - centre, np.where(below, -2.0 * room - centre, centre))
        # A step longer than the room ends at the opposite wall.
        inside = np.clip(mirrored, -room, room)
        self._moved = np.where(above | below, inside - self._first_centre, self._moved)
        for body in np.flatnonzero((above | below).any(axis=1)).tolist():
            self._grip.slip(body)
        speed = np.abs(self._velocity)
        self._velocity = np.where(above, -speed, np.where(below, speed, self._velocity))

    def _drift(self) -> Floats:
        drift = np.zeros((len(self.bodies), 3))
        for k, circle in self._circles:
            turn = rotations_about(_unit([circle.axis]), np.array([circle.angle * self.frame]))
            drift[k] = circle.to_middle - _turned(turn, circle.to_middle[None])[0]
        for k, loop in self._loops:
            drift[k] += loop.at(self.frame) - loop.at(0)
        return drift

    def _checked_room(self, cube: float) -> Floats:
        """Return (n, 1) how far from the origin along each axis a centre may be."""
        edge = cast.as_length(cube, "cube")
        room = edge / 2.0 - np.array([body.radius for body in self.bodies]).reshape(-1, 1)
        for k, body in enumerate(self.bodies):
            if body.circle is not None or body.track is not None:
                on = "drifts on a circle" if body.circle is not None else "follows a track"
                raise InputError(f"body {body.name!r} {on}; walls reflect only bodies on straight paths")
            farthest = np.abs(self._first_centre[k])
            if body.loop is not None:
                farthest = np.abs(self._first_centre[k] - body.loop.at(0)) + np.abs(body.loop.reach)
            if not body.static and not (farthest <= room[k]).all():
                loop = "(or elsewhere on its loop) " if body.loop is not None else ""
                raise InputError(
                    f"body {body.name!r}: a ball of radius {body.radius:.4g} about its start {self._first_centre[k].tolist()} "
                    f"{loop}is not inside the cube of edge {edge:.4g} about the origin; make the cube larger"
                )
        return np.where(self._moves[:, None], room, np.inf)

    def _new_world(self) -> World:
        world = World()
        for body in self.bodies:
            world.add(
                body.mesh,
                body.pose,
                body.name,
                deformable=body.cycle is not None,
                static=body.static,
                group=body.group,
                category=body.category,
                mask=body.mask,
            )
        for a, b in self._ignored:
            world.ignore(a, b)
        return world


def _pairs_of(report: Report) -> list[tuple[int, int]]:
    return list(zip(report.pairs.body_a.tolist(), report.pairs.body_b.tolist(), strict=True))


def rotations_about(axis: Floats, angle: Floats) -> Floats:
    """Return (n, 3, 3) rotations by angles (n,) about unit axes (n, 3)."""
    x, y, z = axis.T
    zero = np.zeros_like(x)
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=1).reshape(-1, 3, 3)
    outer = axis[:, :, None] * axis[:, None, :]
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return s * cross + c * np.eye(3) + (1.0 - c) * outer


def _turned(rotation: Floats, points: Floats) -> Floats:
    """Return (n, 3) points (n, 3), each after its rotation (n, 3, 3)."""
    x, y, z = (points[:, k, None] for k in range(3))
    return (rotation[:, :, 0] * x + rotation[:, :, 1] * y) + rotation[:, :, 2] * z


def _unit(vectors: Sequence[Floats]) -> Floats:
    array = np.array(vectors, float).reshape(-1, 3)
    length = np.linalg.norm(array, axis=1, keepdims=True)
    if not (length > 0.0).all():
        raise InputError("an axis is 0 0 0; a body turns about a direction")
    return array / length

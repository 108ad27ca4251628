"""Moving surfaces of the bodies of a frame, and faces at given times.

A rigid body moves along the shortest screw between its two poses, a deforming one along straight lines of its world vertices.
World vertices are kept between frames: the end of one step is the start of the next, and a body at rest stays where it is.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jostle._types import Floats, Ints
from jostle.cast import SMALLEST_COORDINATE
from jostle.continuous.interpolate import STRAIGHT, pose_at, turn_between
from jostle.continuous.moving_surface import MovingSurface
from jostle.continuous.start_contacts import place_rows
from jostle.geometry.rigid import transform_points
from jostle.interface.frame import Frame
from jostle.kernels.arrays import read_only_view


class MovingBodies:
    """The moving surfaces of a world's bodies, made once per step.

    A detector holds one of these.
    """

    def __init__(self) -> None:
        self._frame: Frame | None = None
        self._surfaces: dict[int, MovingSurface] = {}
        self._placed: dict[int, list[tuple[bytes, Floats, Floats]]] = {}  # of each body: pose, vertices, world vertices

    def of(self, frame: Frame, body: int) -> MovingSurface:
        """Return a body of this frame, by number.

        Raises `InputError` if it rotates by half a turn.
        """
        if frame is not self._frame:
            self._frame, self._surfaces = frame, {}
        found = self._surfaces.get(body)
        if found is None:
            found = self._surfaces[body] = self._made(frame, body)
        return found

    def _made(self, frame: Frame, body: int) -> MovingSurface:
        bodies = frame.bodies
        start, end = frame.poses_t0[body], frame.poses[body]
        faces = bodies.meshes[body].faces
        turns = not bodies.deformable[body] and (frame.poses_t0 is not frame.poses)
        turn = turn_between(start, end, f"body {bodies.names[body]!r}") if turns else STRAIGHT
        kept = self._placed.get(body, [])
        ends = []
        for pose, vertices in ((start, frame.vertices_t0[body]), (end, frame.vertices[body])):
            key = pose.tobytes()
            world = next((place for known, shape, place in kept if shape is vertices and known == key), None)
            if world is None:
                world = transform_points(pose, vertices)
                world.flags.writeable = False
                kept = [(key, vertices, world), *kept[:1]]
            ends.append(world)
        self._placed[body] = kept
        return MovingSurface(ends[0], ends[1], faces, turn)

    def forget(self) -> None:
        """Drop all kept data, because bodies have other numbers."""
        self._frame, self._surfaces, self._placed = None, {}, {}


def triangles_at(surfaces: Mapping[int, MovingSurface], body: Ints, face: Ints, time: Floats) -> Floats:
    """Return (n,3,3) world corners of the faces of rows, each at its own time."""
    start, end, turn = np.empty((len(face), 3, 3)), np.empty((len(face), 3, 3)), np.empty((len(face), 4))
    for number in np.unique(body).tolist():
        rows = body == number
        surface = surfaces[number]
        corners = surface.faces[face[rows]]
        start[rows], end[rows], turn[rows] = surface.vertices_t0[corners], surface.vertices_t1[corners], surface.turn
    placed = np.empty_like(start)
    place_rows(start, end, turn, read_only_view(time), placed)
    return placed


def moving_bodies_of(frame: Frame) -> list[int]:
    """Return the bodies whose pose or vertices change within the step."""
    moved = (frame.poses_t0 != frame.poses).any(axis=(1, 2))
    for body in frame.bodies.deforming:
        moved[body] |= frame.vertices_t0[body] is not frame.vertices[body]
    found: list[int] = np.flatnonzero(moved).tolist()
    return found


def body_at(frame: Frame, body: int, time: float) -> tuple[Floats, Floats | None]:
    """Return a body's pose (4,4) at a time in 0 … 1, and its vertices if it deforms.

    Vertices are in its own coordinates.
    """
    start, end = frame.poses_t0[body], frame.poses[body]
    if not frame.bodies.deformable[body]:
        if 0.0 < time < 1.0:
            turn_between(start, end, f"body {frame.bodies.names[body]!r}")  # raises with the body's name for half a turn
        return pose_at(start, end, time), None
    first, last = frame.vertices_t0[body], frame.vertices[body]
    if time == 0.0 or time == 1.0:
        return (start, first) if time == 0.0 else (end, last)
    if not np.array_equal(start, end):
        # Straight lines in the world, in coordinates of the last pose.
        from_world = np.linalg.inv(end[:3, :3])
        first = (transform_points(start, first) - end[:3, 3]) @ from_world.T
        last = (transform_points(end, last) - end[:3, 3]) @ from_world.T
    vertices = first + time * (last - first)
    vertices[np.abs(vertices) < SMALLEST_COORDINATE] = 0.0
    vertices.flags.writeable = False
    return end, vertices

"""Scene: bodies, the walls around them and their response. Recordings always start at frame 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle import cast
from jostle.fitting.path import RecordedPath
from jostle.motion.record import Motion
from jostle.scenes.bodies import MovingBody
from jostle.scenes.response import RESPONSES
from jostle.scenes.stepper import Stepper

if TYPE_CHECKING:
    from jostle.interface.method import Method
    from jostle.world.world import World


@dataclass(frozen=True, eq=False)
class Scene:
    """Bodies and how they move; equal scenes give byte-equal motions.

    Parameters
    ----------
    name : str
        As in `SCENES`, or of the file.
    title : str
        For people: what it shows, with its numbers.
    bodies : tuple of MovingBody
    cube : float, optional
        Edge of the cube about the origin whose walls reflect the bodies; None for no walls.
    response : {"none", "exchange", "normals", "stop"}
        What two bodies do that touch, see `stepper.py`.
    frames : int
        How many `record` makes by default.
    ignored : tuple of (int, int)
        Pairs of body numbers that are never tested.
    parameters : mapping
        What the scene was made with.
    paths : mapping from str to RecordedPath
        Paths of single bodies by name, for fitting (`jostle fit`).
    """

    name: str
    title: str
    bodies: tuple[MovingBody, ...]
    cube: float | None = None
    response: str = "none"
    frames: int = 100
    ignored: tuple[tuple[int, int], ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    paths: Mapping[str, RecordedPath] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cast.as_choice(self.response, RESPONSES, "response")

    def __repr__(self) -> str:
        faces = sum(len(body.mesh.faces) for body in self.bodies)
        return f"<Scene {self.name!r}: {len(self.bodies)} bodies, {faces} faces, {self.frames} frames>"

    def world(self, method: str | Method | None = None) -> World:
        """Return a new world with all bodies where they start."""
        return self.record(1).world(method)

    def stepper(self) -> Stepper:
        """Return a stepper that moves the bodies frame by frame, for loops that draw or measure."""
        return Stepper(self.bodies, self.cube, self.response, self.ignored)

    def record(self, frames: int | None = None) -> Motion:
        """Return the motion over a number of frames, starting at frame 0; by default all of the scene's.

        A shorter recording is the beginning of a longer one, bit by bit. With the response "stop" it ends at the first frame
        in which bodies touch, if that comes earlier.
        """
        wanted = cast.as_count(self.frames if frames is None else frames, "frames", lowest=1)
        stepper = self.stepper()
        poses = [stepper.poses]
        while len(poses) < wanted and stepper.advance():
            poses.append(stepper.poses)
        return Motion(
            names=tuple(body.name for body in self.bodies),
            meshes=tuple(body.mesh for body in self.bodies),
            poses=np.stack(poses),
            vertices={k: body.cycle.frames(len(poses)) for k, body in enumerate(self.bodies) if body.cycle is not None},
            static=tuple(body.static for body in self.bodies),
            group=tuple(body.group for body in self.bodies),
            title=self.title,
            category=tuple(body.category for body in self.bodies),
            mask=tuple(body.mask for body in self.bodies),
            ignored=self.ignored,
        )

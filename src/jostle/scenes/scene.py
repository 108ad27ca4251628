"""Scene: bodies, the walls around them and their response."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jostle import cast
from jostle.fitting.path import RecordedPath
from jostle.interface.method import Method
from jostle.motion.record import Motion
from jostle.scenes.bodies import MovingBody
from jostle.scenes.response import RESPONSES
from jostle.scenes.stepper import Stepper
from jostle.world.world import World


@dataclass(frozen=True, eq=False)
class Scene:
    """Bodies and how they move; equal scenes give byte-equal motions.

    Parameters
    ----------
    name : str
        The name in `SCENES`, or that of the file.
    title : str
        A description for people.
    bodies : tuple of MovingBody
    cube : float, optional
        Edge of the cube about the origin whose walls reflect the bodies; None for no walls.
    response : {"none", "exchange", "normals", "stop"}
        What touching bodies do, see `stepper.py`.
    frames : int
        The default number of `record`.
    ignored : tuple of (int, int)
        Pairs of body numbers that are never tested.
    parameters : mapping
        The arguments of the scene.
    paths : mapping from str to RecordedPath
        Named paths of single bodies, for `jostle fit`.
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
        """Return a stepper for loops that draw or measure frame by frame."""
        return Stepper(self.bodies, self.cube, self.response, self.ignored)

    def record(self, frames: int | None = None) -> Motion:
        """Return the motion from frame 0 on; by default all frames of the scene.

        A shorter recording is a bit-equal prefix of a longer one. With the response "stop" it ends at the first frame in which
        bodies touch.
        """
        wanted = cast.as_count(self.frames if frames is None else frames, "frames", lowest=1)
        stepper = self.stepper()
        poses = np.stack([stepper.poses for _ in stepper.steps(wanted)])
        return Motion(
            names=tuple(body.name for body in self.bodies),
            meshes=tuple(body.mesh for body in self.bodies),
            poses=poses,
            vertices={k: body.cycle.frames(len(poses)) for k, body in enumerate(self.bodies) if body.cycle is not None},
            static=tuple(body.static for body in self.bodies),
            group=tuple(body.group for body in self.bodies),
            title=self.title,
            category=tuple(body.category for body in self.bodies),
            mask=tuple(body.mask for body in self.bodies),
            ignored=self.ignored,
        )

"""The squeeze: two soft bodies between two rigid plates that close and open.

    squeeze = Squeeze(faces=5000)
    for _ in range(squeeze.frames):
        report = squeeze.step()
    motion = Squeeze(faces=980).record()      # a Motion for methods to be compared on, with the shapes of every frame

There is no gravity: the plates press, and stored energy parts the bodies. The plates open wider than at the start, so that the
bodies fly apart and touch nothing at the end. It is not among the scenes, whose motion is known without a simulation.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jostle import cast
from jostle.geometry.pose import translation
from jostle.interface.method import Method
from jostle.motion.record import Motion, Recorder
from jostle.report.report import Report
from jostle.shapes import build
from jostle.sim.deform import SoftMaterial
from jostle.sim.soft import SoftSimulation
from jostle.world.world import World

CLOSE, WAIT, OPEN, REST = 0.8, 0.9, 0.8, 0.9  # seconds of the four parts of the motion
AJAR = 2.5  # final opening beyond the start, as a share of the closing


class Squeeze:
    """Two soft bodies of about unit radius, one above the other between two plates.

    Parameters
    ----------
    faces : int
        Of each soft body.
    roughness : float
        0 for balls; up to 0.5 for blobs with bumps and hollows.
    press : float
        How far the plates close, as a share of the height of the two bodies.
    lower, upper : SoftMaterial, optional
        Materials of the two.
    method : str or Method, optional
    dt : float
        Seconds of a frame.
    seed : int
        Of the shapes of blobs.
    workers : int, optional
        Threads for detection.
    **settings
        Of `SoftSimulation`: friction, sticky, substeps, old_after, …
    """

    def __init__(
        self,
        faces: int = 5000,
        *,
        roughness: float = 0.0,
        press: float = 0.35,
        lower: SoftMaterial | None = None,
        upper: SoftMaterial | None = None,
        method: str | Method | None = None,
        dt: float = 1.0 / 60.0,
        seed: int = 0,
        workers: int | None = 1,
        **settings: Any,
    ) -> None:
        self.press = cast.as_number_between(press, "press", 0.0, 0.6, "of the height")
        self.world = World(method, workers=workers)
        meshes = [build.blob(faces, seed=seed + k, roughness=roughness) for k in range(2)]
        low, high = (mesh.bounds for mesh in meshes)
        gap = 0.02
        self.world.add(meshes[0], translation((0.0, 0.0, -gap - low[1, 2])), "lower", deformable=True)
        self.world.add(meshes[1], translation((0.0, 0.0, gap - high[0, 2])), "upper", deformable=True)
        self._bottom, self._top = -2.0 * gap - (low[1, 2] - low[0, 2]), 2.0 * gap + (high[1, 2] - high[0, 2])
        thick = 0.2
        plate = build.box((4.0, 4.0, thick))
        self._plates = [self.world.add(plate, name=name) for name in ("floor", "press")]
        self._half = 0.5 * thick
        self._seconds = 0.0
        self._place_plates()
        self.simulation = SoftSimulation(
            self.world,
            {"lower": lower or SoftMaterial(), "upper": upper or SoftMaterial()},
            kinematic=("floor", "press"),
            dt=dt,
            **settings,
        )
        self.frames = math.ceil((CLOSE + WAIT + OPEN + REST) / self.simulation.dt)

    def step(self) -> Report:
        """Move the plates, and advance by one frame."""
        self._seconds = (self.simulation.frames + 1) * self.simulation.dt
        self._place_plates()
        return self.simulation.step()

    def record(self, frames: int | None = None) -> Motion:
        """Return the motion from the present frame on; by default all of it."""
        wanted = cast.as_count(self.frames + 1 if frames is None else frames, "frames", lowest=1)
        recorder = Recorder(self.world)
        recorder.capture()
        while len(recorder) < wanted:
            self.step()
            recorder.capture()
        return recorder.motion("two soft bodies between two plates")

    def closed(self, seconds: float) -> float:
        """Return how far the plates have closed: 0 at the start, 1 closed, < 0 wider."""
        into, out = (min(max(part, 0.0), 1.0) for part in (seconds / CLOSE, (seconds - CLOSE - WAIT) / OPEN))
        return (0.5 - 0.5 * math.cos(math.pi * into)) - (1.0 + AJAR) * (0.5 - 0.5 * math.cos(math.pi * out))

    @property
    def energy(self) -> float:
        """Kinetic and elastic."""
        return self.simulation.energy

    @property
    def detect_seconds(self) -> float:
        """Of the detection of the last step."""
        return self.simulation.seconds["detect"]

    def _place_plates(self) -> None:
        closed = 0.5 * self.press * (self._top - self._bottom) * self.closed(self._seconds)
        heights = self._bottom + closed - self._half, self._top - closed + self._half
        poses = np.stack([translation((0.0, 0.0, height)) for height in heights])
        self.world.set_poses(poses, self._plates)

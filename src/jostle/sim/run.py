"""Runs of many steps, and scenes as simulations.

Bodies of a scene start with their velocity and spin, in lengths and radians per frame: a frame is one step of `dt` seconds. Bodies
on a loop or a track are kinematic and follow the scene's own stepper, and shapes follow their cycle. A body on a circle (scenes of
a user's file) starts with its velocity on the circle, and then moves freely.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.interface.method import Method
from jostle.motion.record import Recorder
from jostle.report.report import Report
from jostle.scenes.bodies import MovingBody
from jostle.scenes.scene import Scene
from jostle.scenes.stepper import Stepper
from jostle.sim.world_step import Simulation

SAME_AS_SCENE = -1.0


class Steps(Protocol):
    """A simulation that `run` can step."""

    @property
    def energy(self) -> float:
        """Kinetic and potential."""
        ...

    @property
    def detect_seconds(self) -> float:
        """Of the last step."""
        ...

    def step(self) -> Report:
        """Advance by one frame."""
        ...


class SceneSimulation:
    """The bodies of a scene in a simulation, from where they start.

    Parameters
    ----------
    scene : Scene
        Its response and the free motion of its stepper are not used.
    method : str or Method, optional
    workers : int, optional
        Threads for detection.
    cube : float, optional
        Edge of the cube about the origin; by default the scene's, None for no walls.
    dt : float
        Seconds of a frame.
    **settings
        Of `Simulation`: gravity, response, restitution, …
    """

    def __init__(
        self,
        scene: Scene,
        method: str | Method | None = None,
        *,
        workers: int | None = 1,
        cube: float | None = SAME_AS_SCENE,
        dt: float = 1.0,
        **settings: Any,
    ) -> None:
        self.scene = scene
        self.world = scene.record(1).world(method, workers)
        kinematic = [body for body in scene.bodies if not body.static and (body.loop is not None or body.track is not None)]
        moving = [not body.static and body not in kinematic for body in scene.bodies]
        seconds = cast.as_number(dt, "dt")
        scale = np.where(moving, 1.0 / seconds if seconds else 1.0, 0.0)[:, None]
        self.simulation = Simulation(
            self.world,
            velocity=np.array([_velocity(body) for body in scene.bodies]).reshape(-1, 3) * scale,
            spin=np.array([body.spin * _unit(body.axis) for body in scene.bodies]).reshape(-1, 3) * scale,
            cube=scene.cube if cube is SAME_AS_SCENE else cube,
            dt=dt,
            kinematic=[body.name for body in kinematic],
            **settings,
        )
        self._stepper = Stepper(kinematic)
        self._kinematic = [self.world[body.name] for body in kinematic]
        self._cycles = [(self.world[body.name], body.cycle) for body in scene.bodies if body.cycle is not None]

    @property
    def energy(self) -> float:
        """Of the simulation."""
        return self.simulation.energy

    @property
    def detect_seconds(self) -> float:
        """Of the last step."""
        return self.simulation.detect_seconds

    def step(self) -> Report:
        """Move kinematic bodies to their next pose and shape, and advance by one step."""
        if self._kinematic:
            self._stepper.advance()
            self.world.set_poses(self._stepper.poses, self._kinematic)
        for body, cycle in self._cycles:
            body.vertices = cycle.at(self.simulation.frames + 1)
        return self.simulation.step()


@dataclass
class Run:
    """The result of a run; `complete` is False if Ctrl-C ended it."""

    frames: int = 0
    contacts: int = 0  # rows of all frames, 0 if the response needs pairs only
    pairs: int = 0  # touching pairs of all frames
    energy_at_start: float = 0.0
    energy_at_end: float = 0.0
    step_seconds: list[float] = field(default_factory=list)
    detect_seconds: list[float] = field(default_factory=list)
    complete: bool = True


def run(
    steps: Steps, frames: int, *, recorder: Recorder | None = None, progress: Callable[[int, Report], None] | None = None
) -> Run:
    """Run a number of frames; Ctrl-C ends the run and returns the frames so far.

    Parameters
    ----------
    recorder : Recorder, optional
        Captures the start and every frame.
    progress : callable, optional
        Called after each frame with its number, from 1 on, and its report.
    """
    wanted = cast.as_count(frames, "frames", lowest=1)
    done = Run(energy_at_start=steps.energy)
    done.energy_at_end = done.energy_at_start
    try:
        if recorder is not None:
            recorder.capture()
        for frame in range(wanted):
            begin = time.perf_counter()
            report = steps.step()
            done.step_seconds.append(time.perf_counter() - begin)
            done.detect_seconds.append(steps.detect_seconds)
            if recorder is not None:
                recorder.capture()
            done.frames, done.pairs, done.contacts = frame + 1, done.pairs + len(report.pairs), done.contacts + len(report.contacts)
            if progress is not None:
                progress(frame + 1, report)
    except KeyboardInterrupt:
        done.complete = False
    done.energy_at_end = steps.energy
    return done


def _velocity(body: MovingBody) -> Floats:
    """Return the initial velocity (3,), lengths per frame."""
    if body.circle is None:
        return np.asarray(body.velocity, float)
    circle = body.circle
    around: Floats = -circle.angle * np.cross(_unit(circle.axis), circle.to_middle)
    return body.velocity + around


def _unit(vector: Floats) -> Floats:
    size = float(np.linalg.norm(vector))
    return np.asarray(vector, float) / (size if size > 0.0 else 1.0)

"""Bodies that are pushed away or bounce when touched, by `jostle.sim`.

Held bodies are kinematic: they push, and nothing pushes them. Pushed bodies come to rest, as on a table; bouncing ones keep their
speed. (Kitamura et al. 1998, §4.3: a hand that pushes changes the motion of what it touches.)
"""

from __future__ import annotations

import copy

import numpy as np

from jostle.report.report import Report
from jostle.sim import Simulation
from jostle.world.all_or_nothing import all_or_nothing
from jostle.world.world import World

DRAG = 0.85  # velocity of a pushed body after a step, as a fraction of that before
FASTEST = 3.0  # scene sizes per second: a hand that jumps must not shoot bodies away


class Responder:
    """Moves the bodies of a world that nobody holds.

    Parameters
    ----------
    world : World
        Its method must report points and normals.
    bounces : bool
        Whether bodies bounce; otherwise they are pushed and come to rest.
    cube : float, optional
        Edge of the cube whose walls reflect.
    dt : float
        Seconds per step.
    """

    def __init__(self, world: World, bounces: bool, cube: float | None, dt: float) -> None:
        self._world, self._bounces, self._cube, self._dt = world, bounces, cube, dt
        corners = np.vstack([body.world_vertices for body in world])
        self._fastest = FASTEST * float(np.linalg.norm(np.ptp(corners, axis=0)))
        self._kinematic: frozenset[int] = frozenset()
        self._simulation = self._begin(frozenset(), None)

    def step(self, kinematic: frozenset[int]) -> Report:
        """Move the free bodies by one step; return the report."""
        twin = copy.copy(self)
        twin._simulation = copy.copy(self._simulation)
        return all_or_nothing(self._world, self, twin, lambda: twin._step(kinematic))

    def _step(self, kinematic: frozenset[int]) -> Report:
        if kinematic != self._kinematic:
            self._simulation = self._begin(kinematic, self._simulation)
            self._kinematic = kinematic
        simulation = self._simulation
        report = simulation.step()
        drag = 1.0 if self._bounces else DRAG
        speed = np.linalg.norm(simulation.velocity, axis=1, keepdims=True)
        slower = drag * np.minimum(1.0, self._fastest / np.maximum(speed, 1e-300))
        free = simulation.free[:, None]
        simulation.velocity = np.where(free, slower * simulation.velocity, 0.0)
        simulation.spin = np.where(free, drag * simulation.spin, 0.0)
        return report

    @property
    def moves(self) -> bool:
        """Whether any body moves by itself; if not, nothing happens until a hand comes."""
        return bool((np.linalg.norm(self._simulation.velocity, axis=1) > 1e-5 * self._fastest).any())

    def _begin(self, kinematic: frozenset[int], before: Simulation | None) -> Simulation:
        """Return a simulation with these kinematic bodies, continuing the motion."""
        free = ~np.array([body.static or body.id in kinematic for body in self._world])[:, None]
        velocity, spin = (np.zeros((len(self._world), 3)),) * 2 if before is None else (before.velocity, before.spin)
        return Simulation(
            self._world,
            velocity=np.where(free, velocity, 0.0),
            spin=np.where(free, spin, 0.0),
            cube=self._cube,
            response="impulse",
            restitution=0.9 if self._bounces else 0.0,
            friction=0.3,
            dt=self._dt,
            kinematic=sorted(kinematic),
        )

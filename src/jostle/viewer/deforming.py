"""Bodies that deform under pressure and return to their shape afterwards.

The mechanics are those of `jostle.sim.SoftSimulation`. A held body is kinematic and rigid, in the shape that it had when it was
taken; hands and static bodies are always rigid; all others are soft. A simulation's soft bodies are fixed, so taking or releasing
a body starts a new simulation from the nodes of the last. A simulation moves a soft body's vertices, never its pose; a gizmo needs
a pose, so each step fits one.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from jostle._types import Floats
from jostle.continuous.interpolate import pose_at
from jostle.errors import Unsupported
from jostle.interface.method import Method
from jostle.motion.record import Motion
from jostle.sim import SoftMaterial, SoftSimulation
from jostle.viewer.snapshot import Found, found_in, with_pressed
from jostle.world.all_or_nothing import all_or_nothing

STIFFNESS = 2.0  # wave speed in body sizes per second: soft enough to see, stiff enough to recover, in any units
DRAG = 8.0  # per second: pushed bodies come to rest, as on a table
FRICTION = 0.3
CELLS = 1500  # in the lattices of all bodies, about: what a step has time for
LONGEST_STEP = 0.08  # of the median soft body's size that a hand moves in a step: a larger jump would pass through
STILL = 2e-5  # of its size: a body that changes less in a step is at rest


class Deformer:
    """A simulation of deforming bodies.

    Parameters
    ----------
    start : Motion
        One frame of all bodies, with filters; it has the shapes that they return to.
    method : Method
        It must report faces and support clearance and deforming bodies.
    hands : collection of int
        Bodies that are always rigid.
    dt : float
        Seconds per step.
    """

    def __init__(self, start: Motion, method: Method, hands: Collection[int], dt: float) -> None:
        self._method, self._dt = method, dt
        shapes = {body: vertices[0] for body, vertices in start.vertices.items()}
        self._rest = [mesh.with_vertices(shapes[body]) if body in shapes else mesh for body, mesh in enumerate(start.meshes)]
        self._start = replace(start, vertices={})
        self._can = [body for body, fixed in enumerate(start.static) if not fixed and body not in hands]
        if not self._can:
            raise Unsupported("all bodies are static or hands, so nothing can deform; choose another response")
        self._sizes = np.array([mesh.size for mesh in self._rest])
        cells = int(np.clip(round((CELLS / len(self._can)) ** (1.0 / 3.0)), 3, 8))
        self._materials = {
            body: SoftMaterial(young=max((STIFFNESS * self._sizes[body]) ** 2, 1e-300), density=1.0, cells=cells)
            for body in self._can
        }
        self._hands = frozenset(hands)
        self.poses: Floats = start.poses[0].copy()
        self.vertices: dict[int, Floats] = {body: self._rest[body].vertices for body in {*self._can, *shapes}}
        self._nodes: dict[int, tuple[Floats, Floats]] = {}  # of bodies that were soft: places in body coordinates, velocities
        self.moves = False
        self._kinematic: frozenset[int] = frozenset()
        self._simulation: SoftSimulation | None = None
        self._begin(self._kinematic)

    def step(self, goals: Mapping[int, Floats], held: Collection[int], with_points: bool) -> tuple[Found, dict[int, Floats]]:
        """Advance by a step towards goals; return what touches, and the goals not reached."""
        twin = copy.copy(self)
        twin.poses, twin.vertices, twin._nodes = self.poses.copy(), self.vertices.copy(), self._nodes.copy()
        twin._simulation = copy.copy(self._simulation)
        return all_or_nothing(self.world, self, twin, lambda: twin._step(goals, held, with_points))

    def _step(self, goals: Mapping[int, Floats], held: Collection[int], with_points: bool) -> tuple[Found, dict[int, Floats]]:
        kinematic = frozenset(held) | frozenset(goals)
        if kinematic != self._kinematic:
            self._keep_nodes()
            self._begin(kinematic)
        unreached = self._move_held(goals)
        if self._simulation is None:  # every body that could deform is held
            self.moves = False
            return found_in(self.world.detect(), with_points), unreached
        report = self._simulation.step()
        self._update_shapes()
        # The report has the simulation's clearance; pressing faces are a hair apart.
        return with_pressed(found_in(report, with_points), *self._simulation.pressed()), unreached

    def _begin(self, kinematic: frozenset[int]) -> None:
        """Start a simulation with these kinematic bodies from the previous nodes."""
        soft = [body for body in self._can if body not in kinematic]
        meshes = [
            mesh if body in soft or body not in self.vertices else mesh.with_vertices(self.vertices[body])
            for body, mesh in enumerate(self._rest)
        ]
        shapes = {body: meshes[body].vertices[None] for body in soft}
        world = replace(self._start, meshes=tuple(meshes), poses=self.poses[None], vertices=shapes).world(self._method)
        simulation = None
        if soft:
            materials = {body: self._materials[body] for body in soft}
            all_kinematic = sorted(kinematic | self._hands)
            simulation = SoftSimulation(world, materials, friction=FRICTION, drag=DRAG, dt=self._dt, kinematic=all_kinematic)
            for body in soft:
                if body in self._nodes:
                    place, velocity = self._nodes[body]
                    simulation.set_nodes(body, place @ self.poses[body, :3, :3].T + self.poses[body, :3, 3], velocity)
        self.world, self._simulation, self._kinematic = world, simulation, kinematic

    def _keep_nodes(self) -> None:
        """Store positions and velocities of soft bodies' nodes; held bodies are at rest."""
        for body in self._can:
            if body not in self._kinematic and self._simulation is not None:
                place, velocity = self._simulation.nodes_of(body)
                self._nodes[body] = (place - self.poses[body, :3, 3]) @ self.poses[body, :3, :3], velocity
            elif body in self._nodes:
                place, velocity = self._nodes[body]
                self._nodes[body] = place, np.zeros_like(velocity)

    def _move_held(self, goals: Mapping[int, Floats]) -> dict[int, Floats]:
        """Move dragged bodies towards their goals; return missed goals.

        All by one fraction, so that held parts stay in hands.
        """
        if not goals:
            return {}
        most = LONGEST_STEP * float(np.median(self._sizes[self._can]))
        lengths = []
        for body, goal in goals.items():
            corners = self._rest[body].vertices
            turned = corners @ (goal[:3, :3] - self.poses[body, :3, :3]).T + (goal[:3, 3] - self.poses[body, :3, 3])
            lengths.append(float(np.sqrt((turned**2).sum(axis=1).max(initial=0.0))))
        share = min(1.0, most / max(max(lengths), 1e-300))
        for body, goal in goals.items():
            self.poses[body] = self.world[body].pose = pose_at(self.poses[body], goal, share)
        return {} if share == 1.0 else dict(goals)

    def _update_shapes(self) -> None:
        """Update changed shapes; bodies at rest keep their arrays, and nothing is sent."""
        self.moves = False
        for body in self._can:
            if body in self._kinematic:
                continue
            shown = self.world[body].world_vertices
            before = self.vertices[body] @ self.poses[body, :3, :3].T + self.poses[body, :3, 3]
            if np.abs(shown - before).max(initial=0.0) <= STILL * self._sizes[body]:
                continue
            self.moves = True
            self.poses[body] = pose = fitted_pose(self._rest[body].vertices, shown)
            self.vertices[body] = (shown - pose[:3, 3]) @ pose[:3, :3]


def fitted_pose(rest: Floats, shown: Floats) -> Floats:
    """Return the least-squares pose (4,4) from body points (n,3) to world points."""
    middle, at = rest.mean(axis=0), shown.mean(axis=0)
    u, _, v = np.linalg.svd((shown - at).T @ (rest - middle))
    mirror = np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ v)) or 1.0])
    pose = np.eye(4)
    pose[:3, :3] = u @ mirror @ v
    pose[:3, 3] = at - pose[:3, :3] @ middle
    return pose

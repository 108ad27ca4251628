"""Simulation: rigid bodies of a world in a cube (Lock and Wills 2000, §7).

A step: velocities (semi-implicit Euler), positions and orientations, walls, detection by the world's method, response. The default
is the paper's environment: a cube of 100 units, no gravity, equal masses, exchange of velocities and inverted rotation. Ours:
masses and inertia, impulses with restitution and friction at the points of contact, gravity, kinematic bodies.

Without gravity and kinematic bodies, kinetic energy never grows but for rounding (semi-implicit; `integrate.py`, `respond.py`), and
no body leaves the cube (`walls.py`). Equal inputs give equal bits for any number of threads. A step that raises or is interrupted
changes nothing, in the world or in the simulation.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.interface.body_pairs import pair_key
from jostle.kernels.arrays import read_only_view
from jostle.report.report import Report
from jostle.report.row_kernels import count_runs
from jostle.sim.advance import advance_bodies, write_poses
from jostle.sim.checks import (
    NO_GRAVITY,
    check_equal_masses,
    check_same_bodies,
    checked_gravity,
    checked_surface,
    checked_world,
    kinematic_rows,
    query_for,
    rows_of,
)
from jostle.sim.driven_bodies import kinematic_motion
from jostle.sim.face_normals import FaceNormals
from jostle.sim.integrate import EXPLICIT, SEMI_IMPLICIT
from jostle.sim.manifold import MOST_POINTS, gather_manifolds
from jostle.sim.respond import apply_impulses, exchange_velocities
from jostle.sim.state import State, as_vectors, masses_of, matter_of, radius_of, rotations_of, solids_of
from jostle.world.all_or_nothing import all_or_nothing
from jostle.world.body import Body
from jostle.world.world import World

INTEGRATORS = ("semi_implicit", "explicit")
RESPONSES = ("exchange", "impulse")
PAPER_CUBE = 100.0

_Manifolds = tuple[NDArray[np.int32], NDArray[np.int32], Floats, Floats, NDArray[np.int32]]


class Simulation:
    """Rigid bodies that move, meet walls and each other.

    Parameters
    ----------
    world : World
        Its bodies start at their present poses. The simulation moves bodies that are neither static nor kinematic; the world's
        method finds contacts. Deformable bodies may get other vertices between steps; they keep the mass and inertia of their first
        shape.
    velocity : (n, 3) or (3,), optional
        Initial velocities of the centres of mass, length per second; 0 by default.
    spin : (n, 3) or (3,), optional
        Initial angular velocities in world axes, radians per second.
    mass, density : float or (n,), optional
        One of them; by default every mass is 1 with the response "exchange", and the density is 1 with "impulse". A mesh that is
        open or without volume has the inertia of its box.
    cube : float or None
        Edge of the cube about the origin with reflecting walls; None for no walls.
    gravity : (3,)
        Length per second squared. With gravity, energy may grow.
    integrator : {"semi_implicit", "explicit"}
        "explicit" is the paper's; energy may grow with gravity and when bodies tumble.
    response : {"exchange", "impulse"}
        "exchange": touching bodies that approach exchange velocities and invert their rotation; equal masses only. "impulse":
        impulses at the points of contact, for methods that report points and normals.
    restitution : float
        0 … 1, of walls and bodies; "impulse" only.
    friction : float
        Coefficient >= 0, between bodies; "impulse" only.
    dt : float, optional
        Seconds per step; by default `world.dt`, which is set to it.
    kinematic : sequence of bodies, names or ids
        The caller sets their poses before each step. They push others, and nothing pushes them. (`led` is the older name.)
    """

    def __init__(
        self,
        world: World,
        *,
        velocity: ArrayLike | None = None,
        spin: ArrayLike | None = None,
        mass: ArrayLike | None = None,
        density: ArrayLike | None = None,
        cube: float | None = PAPER_CUBE,
        gravity: ArrayLike = NO_GRAVITY,
        integrator: str = "semi_implicit",
        response: str = "exchange",
        restitution: float = 1.0,
        friction: float = 0.0,
        dt: float | None = None,
        kinematic: Sequence[Body | int | str] = (),
        led: Sequence[Body | int | str] | None = None,
    ) -> None:
        self.world = checked_world(world)
        self.response = cast.as_choice(response, RESPONSES, "response")
        self.integrator = cast.as_choice(integrator, INTEGRATORS, "integrator")
        self.cube = None if cube is None else cast.as_positive_length(cube, "cube")
        self.restitution, self.friction = checked_surface(restitution, friction, response)
        self.dt = cast.as_seconds(world.dt if dt is None else dt, "dt")
        self.frames = 0  # steps so far
        self.detect_seconds = 0.0  # of the last step, points and normals included
        self._query = query_for(world, response)

        frame = world._frame()
        self._bodies, names = frame.bodies, frame.bodies.names
        self._gravity = checked_gravity(gravity)
        self._kinematic = kinematic_rows(world, kinematic, led)
        free = ~frame.static
        free[self._kinematic] = False
        solids = solids_of(frame)
        masses = masses_of(mass, density, solids, free, names, equal=response == "exchange")
        if response == "exchange":
            check_equal_masses(masses, free, names)
        self._matter, self._state = matter_of(frame, solids, free, masses)
        self._state = self._state._replace(
            velocity=as_vectors(velocity, free, names, "velocity"), spin=as_vectors(spin, free, names, "spin")
        )
        self._deforming = [(row, world[int(frame.bodies.ids[row])]) for row in frame.bodies.deforming]
        self._shapes = {row: body.vertices for row, body in self._deforming}
        self._normals = FaceNormals(frame) if response == "impulse" else None
        self._kinematic_poses = np.array(frame.poses[self._kinematic])
        self._manifolds: _Manifolds | None = None  # present contacts
        self._room = self._rooms()
        self._check_places(self._state.centre)
        world.dt = self.dt

    def __repr__(self) -> str:
        free = int(self._matter.free.sum())
        return f"<Simulation: {free} of {len(self._bodies)} bodies free, {self.response}, {self.integrator}, {self.frames} frames>"

    # ------------------------------------------------------------------ state

    @property
    def centre(self) -> Floats:
        """(n,3) centres of mass in the world; a read-only view, set it as a whole."""
        return read_only_view(self._state.centre)

    @centre.setter
    def centre(self, value: ArrayLike) -> None:
        free, names = self._matter.free, self._bodies.names
        centre = as_vectors(value, np.ones(len(free), bool), names, "centre")
        moved = ~free & (centre != self._state.centre).any(axis=1)
        if moved.any():
            raise InputError(f"body {names[int(np.argmax(moved))]!r} is static or kinematic; the simulation does not move it")
        check_same_bodies(self.world, self._bodies, "Simulation")
        self._check_places(centre)
        poses = np.array(self.world.poses)
        write_poses(free, centre, self._state.attitude, self._matter.fitted, self._matter.middle, poses)
        twin = copy.copy(self)
        twin._state, twin._manifolds = self._state._replace(centre=centre), None
        all_or_nothing(self.world, self, twin, lambda: self.world.set_poses(poses))

    @property
    def velocity(self) -> Floats:
        """(n,3) velocities of the centres of mass; a read-only view, set it as a whole."""
        return read_only_view(self._state.velocity)

    @velocity.setter
    def velocity(self, value: ArrayLike) -> None:
        self._state = self._state._replace(velocity=as_vectors(value, self._matter.free, self._bodies.names, "velocity"))

    @property
    def spin(self) -> Floats:
        """(n,3) angular velocities, world axes; a read-only view, set it as a whole."""
        return read_only_view(self._state.spin)

    @spin.setter
    def spin(self, value: ArrayLike) -> None:
        self._state = self._state._replace(spin=as_vectors(value, self._matter.free, self._bodies.names, "spin"))

    @property
    def mass(self) -> Floats:
        """(n,) masses; inf for static and kinematic bodies."""
        return read_only_view(self._matter.mass)

    @property
    def free(self) -> NDArray[np.bool_]:
        """(n,) whether the simulation moves the body: it is neither static nor kinematic."""
        return read_only_view(self._matter.free)

    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy of the free bodies, mass · length² / second²."""
        free, matter, state = self._matter.free, self._matter, self._state
        turning = matter.moments[free] * self._spin_in_body(free) ** 2
        return float(0.5 * ((matter.mass[free] * (state.velocity[free] ** 2).sum(axis=1)).sum() + turning.sum()))

    @property
    def energy(self) -> float:
        """Kinetic energy, and potential energy relative to the origin."""
        free = self._matter.free
        height = (self._state.centre[free] * self._gravity).sum(axis=1)
        return self.kinetic_energy - float((self._matter.mass[free] * height).sum())

    @property
    def momentum(self) -> Floats:
        """(3,) momentum of the free bodies."""
        free = self._matter.free
        return (self._matter.mass[free, None] * self._state.velocity[free]).sum(axis=0)

    @property
    def angular_momentum(self) -> Floats:
        """(3,) angular momentum of the free bodies about the origin."""
        free, state = self._matter.free, self._state
        own = self._matter.moments[free] * self._spin_in_body(free)
        turned = (rotations_of(state.attitude[free]) * own[:, None, :]).sum(axis=2)
        return (turned + np.cross(state.centre[free], self._matter.mass[free, None] * state.velocity[free])).sum(axis=0)

    def _spin_in_body(self, free: NDArray[np.bool_]) -> Floats:
        """Return (k,3) spins of the free bodies along their principal axes."""
        return (rotations_of(self._state.attitude[free]) * self._state.spin[free][:, :, None]).sum(axis=1)

    # ------------------------------------------------------------------ the step

    def step(self) -> Report:
        """Move all bodies by one step, respond, and return the report of contacts."""
        twin = copy.copy(self)
        return all_or_nothing(self.world, self, twin, twin._step)

    def _step(self) -> Report:
        check_same_bodies(self.world, self._bodies, "Simulation")
        world, before = self.world, self.world.poses
        self._update_shapes()
        state = self._with_kinematic(before)
        later = self._gravity
        if self.integrator == "semi_implicit":
            later = np.zeros(3)
            state = self._pulled(state)
        moved, poses = self._moved(state, later, before)
        world.set_poses(poses)
        begin = time.perf_counter()
        report = world.detect(self._query)
        if self.response == "impulse":
            _ = report.contacts.details  # part of the detection, but computed on first use
        self.detect_seconds = time.perf_counter() - begin
        self._state, self._manifolds = moved, self._respond(report, moved, poses)
        self._kinematic_poses = np.array(before[self._kinematic])
        self.frames += 1
        return report

    def _pulled(self, state: State) -> State:
        """Return velocities after gravity.

        A body that rests on another is held at the points of the last step, so that it does not sink.
        """
        if not self._gravity.any():
            return state
        velocity, spin = state.velocity.copy(), state.spin.copy()
        np.add(velocity, self.dt * self._gravity, out=velocity, where=self._matter.free[:, None])
        state = state._replace(velocity=velocity, spin=spin)
        if self._manifolds is not None:
            self._push_apart(self._manifolds, state)
        return state

    def _moved(self, state: State, gravity: Floats, before: Floats) -> tuple[State, Floats]:
        """Return state and poses after the step, before the response."""
        moved, poses, matter = State(*(np.empty_like(array) for array in state)), np.array(before), self._matter
        how = SEMI_IMPLICIT if self.integrator == "semi_implicit" else EXPLICIT
        lost = advance_bodies(
            *(matter.free, self._room, matter.quotients, matter.fitted, matter.middle, gravity, self.dt, how, self.restitution),
            *(*state, *moved, poses),
        )
        if lost >= 0:
            spin = "; the explicit integrator makes tumbling bodies ever faster: take semi_implicit" if how == EXPLICIT else ""
            raise InputError(f"body {self._bodies.names[lost]!r} has become too fast for a number; shorten dt{spin}")
        return moved, poses

    def _respond(self, report: Report, state: State, poses: Floats) -> _Manifolds | None:
        """Change velocities and spins of touching bodies in place; return the contacts."""
        if self.response == "exchange":
            pairs = report.pairs
            a, b = rows_of(self._bodies, pairs.body_a), rows_of(self._bodies, pairs.body_b)
            began = np.ones(len(a), bool)
            if len(a) and not self._matter.free.all():
                began = np.isin(pair_key(pairs.body_a, pairs.body_b), pair_key(report.began.body_a, report.began.body_b))
            exchange_velocities(a, b, began, self._matter.free, state.centre, state.velocity, state.spin)
            return None
        contacts, normals = report.contacts, self._normals
        if len(contacts) == 0 or normals is None:
            return None
        a, b = rows_of(self._bodies, contacts.body_a), rows_of(self._bodies, contacts.body_b)
        pairs_found, details = count_runs(a, b), contacts.details
        manifolds = (
            np.empty(pairs_found, np.int32),
            np.empty(pairs_found, np.int32),
            np.empty((pairs_found, 3)),
            np.empty((pairs_found, MOST_POINTS, 3)),
            np.empty(pairs_found, np.int32),
        )
        gather_manifolds(
            *(a, b, read_only_view(contacts.face_a), read_only_view(contacts.face_b)),
            *(read_only_view(details.segment), read_only_view(details.normal)),
            *(normals.normals, normals.first_face, poses, state.centre, *manifolds),
        )
        self._push_apart(manifolds, state)
        return manifolds

    def _push_apart(self, manifolds: _Manifolds, state: State) -> None:
        matter = self._matter
        # Speeds from two steps of gravity do not bounce, or bodies would never rest.
        slowest = 2.0 * self.dt * float(np.sqrt((self._gravity**2).sum()))
        apply_impulses(
            *(*manifolds, matter.inverse_mass, matter.inverse_moments, state.centre, state.attitude, state.velocity, state.spin),
            *(self.restitution, slowest, self.friction),
        )

    def _with_kinematic(self, poses: Floats) -> State:
        """Return the state with kinematic bodies at the poses the caller set."""
        if len(self._kinematic) == 0:
            return self._state
        state = State(*(array.copy() for array in self._state))
        rows = self._kinematic
        state.centre[rows], state.velocity[rows], state.spin[rows] = kinematic_motion(
            self._kinematic_poses, poses[rows], self._matter.middle[rows], self.dt
        )
        return state

    def _update_shapes(self) -> None:
        """Update radius and normals of bodies with new vertices."""
        changed = [(row, body) for row, body in self._deforming if body.vertices is not self._shapes[row]]
        for row, body in changed:
            radius = radius_of(body.mesh, body.vertices, self._matter.middle[row])
            if self.cube is not None and self._matter.free[row] and radius > 0.5 * self.cube:
                raise InputError(
                    f"body {body.name!r} has grown: with a radius of {radius:.4g} about its centre of mass it no longer fits into "
                    f"the cube of edge {self.cube:g}"
                )
            # In place, even if the step fails: shapes missing in `_shapes` are updated again.
            self._matter.radius[row] = radius
            if self._normals is not None:
                self._normals.renew(row, body.mesh, body.vertices)
        if changed:
            self._room = self._rooms()
            self._shapes = self._shapes | {row: body.vertices for row, body in changed}

    # ------------------------------------------------------------------ checks

    def _rooms(self) -> Floats:
        """Return (n,) how far from the origin along each axis a centre may be."""
        if self.cube is None:
            return np.full(len(self._bodies), np.inf)
        return np.maximum(0.5 * self.cube * (1.0 - 1e-14) - self._matter.radius, 0.0)

    def _check_places(self, centre: Floats) -> None:
        """Refuse free bodies that do not fit into the cube, or reach out of it."""
        if self.cube is None:
            return
        frame = self.world._frame()
        shift = centre - self._state.centre
        half = 0.5 * self.cube
        for row in np.flatnonzero(self._matter.free & (np.abs(centre).max(axis=1, initial=0.0) > self._room)).tolist():
            radius, name = float(self._matter.radius[row]), self._bodies.names[row]
            reach = float(np.abs(frame.world_vertices(row) + shift[row]).max())
            if radius > half or reach > half:
                raise InputError(
                    f"body {name!r}, at {np.round(centre[row], 6).tolist()} with a radius of {radius:.4g} about its centre of "
                    f"mass, is not inside of the cube of edge {self.cube:g} about the origin; make the cube larger, or cube=None"
                )

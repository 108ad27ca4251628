"""SoftSimulation: soft and rigid bodies in contact (Guy and Debunne 2004, §5).

A step: lattices of soft bodies, frames of rigid ones and the response advance together in substeps (`soft_step.py`); the world gets
the new surfaces, and its method finds touching and near faces; the pairs of the next step are chosen, pairs at rest are simplified,
and lattices are refined where a collision is probable, if the material allows it (`multiresolution.py`). Any method works that
reports faces and supports a clearance and deforming bodies: an exact one, or one within a time budget, which may miss a pair for a
frame.

Facets that are near before they meet keep surfaces apart, so the clearance covers the motion of one step. Other overlaps (initial
ones, or of bodies that are too fast) are removed slowly. At rest, overlaps are no deeper than the deviation of a frozen vertex
(`tests/sim/test_squeeze.py`). Equal inputs give equal bits. A step that raises or is interrupted changes nothing, in the world or
in the simulation.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.interface.query import Budget, Query
from jostle.kernels.arrays import read_only_view
from jostle.report.report import Contacts, Report
from jostle.sim.advance import write_poses
from jostle.sim.ageing import FrozenVertices, grow_older, simplify, update_speeds
from jostle.sim.approach import WHEN_MET, clearance_for
from jostle.sim.back_projection import FacetPairs, planes_for
from jostle.sim.checks import NO_GRAVITY, check_same_bodies, checked_gravity, checked_world, kinematic_rows, rows_of
from jostle.sim.deform import SoftMaterial, elastic_energy
from jostle.sim.driven_bodies import kinematic_motion
from jostle.sim.facet_pairs import Rows, chosen_pairs, no_pairs, with_remembered
from jostle.sim.multiresolution import Multiresolution
from jostle.sim.soft_bodies import frames_of, soft_bodies_of
from jostle.sim.soft_checks import Materials, check_answers, checked_materials
from jostle.sim.soft_step import advance_soft
from jostle.sim.state import as_vectors, masses_of, matter_of, quaternions_of, rotations_of, solids_of
from jostle.sim.surfaces import write_own, write_points
from jostle.world.all_or_nothing import all_or_nothing
from jostle.world.body import Body
from jostle.world.world import World

Arrays = TypeVar("Arrays", bound=tuple[NDArray[Any], ...])

LARGEST_CLEARANCE = 0.1  # of the largest soft body's size; bodies faster than this per step may interpenetrate


class SoftSimulation:
    """Soft bodies that squeeze, bulge and part again, among rigid ones.

    Parameters
    ----------
    world : World
        Its bodies, at their present poses. Soft ones are deformable and in the shape of their mesh.
    soft : mapping from Body, name or id to SoftMaterial
        The materials of the soft bodies. All others are rigid, and free to move unless they are static or kinematic.
    velocity, spin : (n, 3) or (3,), optional
        Initial values of all moving bodies, in length and radians per second.
    mass, density : float or (n,), optional
        One of them, for the moving rigid bodies; by default their density is 1000.
    gravity : (3,)
        Length per second squared.
    friction : float
        Coefficient >= 0, between all bodies.
    drag : float
        Drag of the surrounding medium, per second: velocities shrink by the factor exp(-drag · dt) per step.
    sticky : float
        Bodies in contact stick until they part faster than this, length per second; 0 for none.
    clearance : float, optional
        Distance within which facets are considered, beyond one step's motion; by default a twentieth of the typical radius of a
        soft facet, at most 1 % of the size.
    dt : float, optional
        Seconds per step; by default `world.dt`, which is set to it.
    substeps : int
        Per step; more of them make stiff bodies stiffer.
    kinematic : sequence of bodies, names or ids
        Rigid bodies whose poses the caller sets before each step. They push others, and nothing pushes them. (`led` is the older
        name.)
    old_after : float or None
        Seconds after which a facet pair at rest is old: simplified, and frozen on display. None: never.
    still : float, optional
        Speed below which facets count as at rest; by default 1 % of the size of the smallest soft body per second.
    tolerance : float, optional
        How far a frozen vertex may deviate from the model; by default 0.2 % of that size.
    merge_after : float
        Seconds without a probable collision after which cells of a finer lattice (`SoftMaterial.finer`) may be merged.
    budget : Budget, optional
        For each detection, if the method supports one.
    """

    def __init__(
        self,
        world: World,
        soft: Materials,
        *,
        velocity: ArrayLike | None = None,
        spin: ArrayLike | None = None,
        mass: ArrayLike | None = None,
        density: ArrayLike | None = None,
        gravity: ArrayLike = NO_GRAVITY,
        friction: float = 0.0,
        drag: float = 0.0,
        sticky: float = 0.0,
        clearance: float | None = None,
        dt: float | None = None,
        substeps: int = 10,
        kinematic: Sequence[Body | int | str] = (),
        old_after: float | None = 0.5,
        still: float | None = None,
        tolerance: float | None = None,
        merge_after: float = 0.5,
        budget: Budget | None = None,
        led: Sequence[Body | int | str] | None = None,
    ) -> None:
        self.world = checked_world(world)
        self.dt = cast.as_seconds(world.dt if dt is None else dt, "dt")
        self.substeps = cast.as_count(substeps, "substeps", lowest=1, highest=1000)
        self.friction, self.sticky = cast.as_length(friction, "friction"), cast.as_length(sticky, "sticky")
        self.drag = cast.as_length(drag, "drag")
        self.old_after = np.inf if old_after is None else cast.as_length(old_after, "old_after")
        self.frames = 0  # steps so far
        self.seconds = {"move": 0.0, "show": 0.0, "detect": 0.0, "choose": 0.0}  # of the last step
        self.projected = 0  # back projections in the last step
        self._gravity = checked_gravity(gravity)
        self._budget = budget

        frame = world._frame()
        self._bodies, names = frame.bodies, frame.bodies.names
        self._materials = checked_materials(world, soft)
        self._kinematic = kinematic_rows(world, kinematic, led)
        self._soft = sorted(self._materials)
        for row in set(self._kinematic.tolist()) & set(self._soft):
            raise InputError(
                f"body {names[row]!r} is kinematic and soft; make a rigid body kinematic, and let it push the soft one"
            )
        free = ~frame.static
        free[self._kinematic] = False
        moves = free.copy()
        free[self._soft] = False
        solids = solids_of(frame)
        masses = masses_of(mass, 1000.0 if mass is None and density is None else density, solids, free, names, equal=False)
        self._matter, state = matter_of(frame, solids, free, masses)
        self._lattices = Multiresolution(frame, self._materials, cast.as_length(merge_after, "merge_after"))
        self._arrays = soft_bodies_of(frame, self._materials, self._lattices.lattices, self._matter, free)
        self._frames = frames_of(self._matter, state)
        motion = as_vectors(velocity, moves, names, "velocity"), as_vectors(spin, moves, names, "spin")
        self._set_motion(*motion)
        self._moves = moves
        self._points = np.zeros((len(self._arrays.surfaces.own), 3))
        self._place_surfaces()
        arms = self._points - np.repeat(self._frames.centre, np.diff(self._arrays.surfaces.first_vertex), axis=0)
        moving = (np.repeat(column, np.diff(self._arrays.surfaces.first_vertex), axis=0) for column in motion)
        self._velocities = next(moving) + np.cross(next(moving), arms)  # (v,3) of all vertices, over the last step

        sizes = [frame.bodies.meshes[row].size for row in self._soft]
        self.clearance = self._usual_clearance(0.01 * min(sizes)) if clearance is None else cast.as_length(clearance, "clearance")
        self._largest_clearance = max(self.clearance, LARGEST_CLEARANCE * max(sizes))
        self.still = 0.01 * min(sizes) if still is None else cast.as_length(still, "still")
        self.tolerance = 0.002 * min(sizes) if tolerance is None else cast.as_length(tolerance, "tolerance")
        self._pairs = no_pairs()
        check_answers(world.method, self._next_query())
        self._frozen = FrozenVertices(len(self._points))
        self._poses = np.array(frame.poses)  # as the last step left them
        world.dt = self.dt

    def __repr__(self) -> str:
        pairs = len(self._pairs.age)
        return f"<SoftSimulation: {len(self._soft)} of {len(self._bodies)} bodies soft, {pairs} pairs, {self.frames} frames>"

    # ------------------------------------------------------------------ state

    @property
    def pairs(self) -> FacetPairs:
        """The facet pairs of the next step, with gaps, speeds and ages (seconds)."""
        return self._pairs

    @property
    def worked_on(self) -> int:
        """The number of active pairs; each old pair is represented by an active one."""
        return int(self._pairs.work.sum())

    @property
    def frozen(self) -> NDArray[np.bool_]:
        """(v,) which vertices of all bodies, in order, are frozen on display."""
        return read_only_view(self._frozen.frozen)

    def positions(self, body: Body | int | str) -> Floats:
        """Return (n,3) the model's world vertices of a body, not the displayed ones."""
        row, first = self.world[body]._row, self._arrays.surfaces.first_vertex
        return read_only_view(self._points[first[row] : first[row + 1]])

    def material(self, body: Body | int | str) -> SoftMaterial:
        """Return the material of a soft body."""
        row = self.world[body]._row
        if row not in self._materials:
            raise InputError(f"body {self._bodies.names[row]!r} is rigid and has no SoftMaterial; name a soft body")
        return self._materials[row]

    def split_cells(self, body: Body | int | str) -> NDArray[np.bool_]:
        """Return (c,) which lattice cells of a soft body are split.

        Empty if its material has `finer=0`.
        """
        cells = self._lattices.cells.get(self.world[body]._row)
        return read_only_view(np.zeros(0, bool) if cells is None else cells.split)

    def volume(self, body: Body | int | str) -> float:
        """Return the model's present volume of a closed body."""
        mesh = self.world[body].mesh
        a, b, c = (self.positions(body)[mesh.faces[:, k]] - self.positions(body)[0] for k in range(3))
        return float((a * np.cross(b, c)).sum()) / 6.0

    def nodes_of(self, body: Body | int | str) -> tuple[Floats, Floats]:
        """Return world positions and velocities (k,3) of a soft body's nodes."""
        own = self._nodes_of(body)
        return self._arrays.nodes.place[own].copy(), self._arrays.nodes.velocity[own].copy()

    def set_nodes(self, body: Body | int | str, place: ArrayLike, velocity: ArrayLike) -> None:
        """Set a soft body's nodes from `nodes_of` for the same mesh and cells."""
        own, nodes, name = self._nodes_of(body), self._arrays.nodes, self.world[body].name
        given = {"place": np.asarray(place, np.float64), "velocity": np.asarray(velocity, np.float64)}
        for field, points in given.items():
            if points.shape != nodes.place[own].shape:
                raise InputError(f"body {name!r}: {field} has shape {points.shape}, its lattice {nodes.place[own].shape}")
            if not np.isfinite(points).all():
                raise InputError(f"body {name!r}: {field} has numbers that are not finite; pass what nodes_of returned")
        twin = self._twin()
        nodes = twin._arrays.nodes
        nodes.place[own], nodes.velocity[own] = given["place"], given["velocity"]
        nodes.before[own] = nodes.place[own]
        twin._place_surfaces()
        self.__dict__ = twin.__dict__

    def _nodes_of(self, body: Body | int | str) -> slice:
        row, first = self.world[body]._row, self._arrays.first_node
        if row not in self._materials:
            raise InputError(f"body {self.world[body].name!r} is rigid here; only soft bodies have nodes")
        return slice(int(first[row]), int(first[row + 1]))

    def pressed(self) -> Rows:
        """Return body ids and faces that met and have not parted since."""
        pairs, first = self._pairs, self._arrays.surfaces.first_face
        a, b = pairs.body_a[pairs.held], pairs.body_b[pairs.held]
        ids = self._bodies.ids
        return ids[a], ids[b], pairs.face_a[pairs.held] - first[a], pairs.face_b[pairs.held] - first[b]

    @property
    def kinetic_energy(self) -> float:
        """Kinetic energy of all moving bodies, mass · length² / second²."""
        free, frames, matter = self._matter.free, self._frames, self._matter
        own = (rotations_of(frames.attitude[free]) * frames.spin[free][:, :, None]).sum(axis=1)
        of_rigid = (matter.mass[free] * (frames.velocity[free] ** 2).sum(axis=1)).sum() + (matter.moments[free] * own**2).sum()
        of_soft = (self._arrays.mass * (self._arrays.nodes.velocity**2).sum(axis=1)).sum()
        return 0.5 * float(of_rigid + of_soft)

    @property
    def elastic_energy(self) -> float:
        """Elastic energy of the soft bodies."""
        return elastic_energy(self._arrays.nodes.place, self._arrays.springs, self._arrays.cells)

    @property
    def energy(self) -> float:
        """Kinetic and elastic energy, and potential energy relative to the origin."""
        free = self._matter.free
        lifted = (self._matter.mass[free, None] * self._frames.centre[free]).sum(axis=0)
        lifted = lifted + (self._arrays.mass[:, None] * self._arrays.nodes.place).sum(axis=0)
        return self.kinetic_energy + self.elastic_energy - float((lifted * self._gravity).sum())

    @property
    def momentum(self) -> Floats:
        """(3,) momentum of all moving bodies."""
        free = self._matter.free
        of_rigid = (self._matter.mass[free, None] * self._frames.velocity[free]).sum(axis=0)
        return of_rigid + (self._arrays.mass[:, None] * self._arrays.nodes.velocity).sum(axis=0)

    @property
    def angular_momentum(self) -> Floats:
        """(3,) angular momentum of all moving bodies about the origin."""
        free, frames, nodes = self._matter.free, self._frames, self._arrays.nodes
        turn = rotations_of(frames.attitude[free])
        own = self._matter.moments[free] * (turn * frames.spin[free][:, :, None]).sum(axis=1)
        of_rigid = (turn * own[:, None, :]).sum(axis=2)
        of_rigid = of_rigid + np.cross(frames.centre[free], self._matter.mass[free, None] * frames.velocity[free])
        of_soft = np.cross(nodes.place, self._arrays.mass[:, None] * nodes.velocity)
        return of_rigid.sum(axis=0) + of_soft.sum(axis=0)

    # ------------------------------------------------------------------ the step

    def step(self) -> Report:
        """Advance by one step; return the report of touching and near faces."""
        twin = self._twin()
        return all_or_nothing(self.world, self, twin, twin._step)

    def _twin(self) -> SoftSimulation:
        """Return a copy with its own arrays for all that a step writes in place."""
        twin = copy.copy(self)
        twin._arrays = self._arrays._replace(nodes=_copies(self._arrays.nodes))
        twin._frames, twin._pairs = _copies(self._frames), _copies(self._pairs)
        twin._lattices, twin._frozen = copy.copy(self._lattices), copy.copy(self._frozen)
        twin._frozen.held = self._frozen.held.copy()
        twin._points = self._points.copy()
        return twin

    def _step(self) -> Report:
        self._check_bodies()
        world, poses = self.world, np.array(self.world.poses)
        begin = time.perf_counter()
        self._set_kinematic_velocities(poses)
        if self.frames == 0:
            self._detect_at_start()
        self._slow_down()
        self._move()
        moved = time.perf_counter()
        shown = self._show(poses)
        world._set_all(None, {world[int(self._bodies.ids[row])]: shown[row] for row in self._soft})
        shown_at = time.perf_counter()
        question = self._next_query()
        report = world.detect(question)
        detected = time.perf_counter()
        self._choose(self._numbered(report.contacts), report.complete, question)
        self._refine(self.dt)
        self._poses = np.array(world.poses)
        self.frames += 1
        self.seconds = {
            "move": moved - begin,
            "show": shown_at - moved,
            "detect": detected - shown_at,
            "choose": time.perf_counter() - detected,
        }
        return report

    def _set_kinematic_velocities(self, poses: Floats) -> None:
        """Set the velocities of kinematic bodies from their last and present poses."""
        rows = self._kinematic
        if len(rows):
            middle = self._matter.middle[rows]
            _, velocity, spin = kinematic_motion(self._poses[rows], poses[rows], middle, self.dt)
            self._frames.velocity[rows], self._frames.spin[rows] = velocity, spin

    def _slow_down(self) -> None:
        if self.drag > 0.0:
            kept = np.exp(-self.drag * self.dt)
            self._arrays.nodes.velocity[:] *= kept
            self._frames.velocity[self._matter.free] *= kept
            self._frames.spin[self._matter.free] *= kept

    def _move(self) -> None:
        arrays = self._arrays
        self.projected = advance_soft(
            *(arrays.surfaces, arrays.nodes, arrays.springs, arrays.cells, arrays.ties),
            *(self._frames, self._pairs, planes_for(self._pairs)),
            *(self._gravity, self.dt / self.substeps, self.substeps, self.friction, self.sticky),
        )
        for row in self._soft:
            first, last = arrays.first_node[row], arrays.first_node[row + 1]
            if not np.isfinite(arrays.nodes.velocity[first:last].sum()):
                raise InputError(
                    f"body {self._bodies.names[row]!r} has become too fast for a number; shorten dt, or take more substeps"
                )

    def _show(self, poses: Floats) -> dict[int, Floats]:
        """Set poses of rigid bodies; return displayed vertices of soft ones."""
        frames, matter = self._frames, self._matter
        if len(self._kinematic):
            rows = self._kinematic
            turn = (poses[rows, :3, :3, None] * matter.fitted[rows].transpose(0, 2, 1)[:, None]).sum(axis=2)
            frames.attitude[rows] = quaternions_of(turn)
            frames.rotation[rows] = rotations_of(frames.attitude[rows]).reshape(-1, 9)
            middle = matter.middle[rows]
            frames.centre[rows] = (poses[rows, :3, :3] * middle[:, None, :]).sum(axis=2) + poses[rows, :3, 3]
        if matter.free.any():
            placed = poses.copy()
            write_poses(matter.free, frames.centre, frames.attitude, matter.fitted, matter.middle, placed)
            self.world.set_poses(placed)
        before = self._points.copy()
        self._place_surfaces()
        self._update_speeds(before)
        grow_older(self._pairs, self.dt, self.still, self.old_after)
        surfaces = self._arrays.surfaces
        shown = self._frozen.display(self._points, self._pairs, surfaces, self.old_after, self.still, self.tolerance)
        found = {}
        for row in self._soft:
            first, last = surfaces.first_vertex[row], surfaces.first_vertex[row + 1]
            found[row] = np.empty((last - first, 3))
            write_own(shown, first, np.linalg.inv(poses[row, :3, :3]), poses[row, :3, 3], cast.SMALLEST_COORDINATE, found[row])
        return found

    def _next_query(self) -> Query:
        """Return the query for faces that touch or may meet within a step."""
        met = np.zeros((len(self._bodies), len(self._bodies)), bool)
        met[self._pairs.body_a[self._pairs.held], self._pairs.body_b[self._pairs.held]] = True
        clearance = clearance_for(
            *(self._arrays.surfaces, self._points, self._velocities, self._moves, met),
            *(self.clearance, self._largest_clearance, self.dt, np.empty((len(self._bodies), 6))),
        )
        return Query(clearance=float(clearance), budget=self._budget)

    def _update_speeds(self, before: Floats) -> None:
        """Update speeds of pairs and bodies from their previous vertices (v,3)."""
        displacements = self._points - before
        update_speeds(self._arrays.surfaces, displacements, self._pairs, 1.0 / self.dt)
        self._velocities = displacements * (1.0 / self.dt)

    def _detect_at_start(self) -> None:
        """Find near faces before the first step, without a step of the world."""
        question = self._next_query()
        found: Report = self.world._answer("detect", question)
        rows = found.contacts
        self._choose((rows.body_a, rows.body_b, rows.face_a, rows.face_b), found.complete, question)
        self._refine(0.0)

    def _numbered(self, contacts: Contacts) -> Rows:
        """Return the rows of a report with body numbers instead of ids."""
        return rows_of(self._bodies, contacts.body_a), rows_of(self._bodies, contacts.body_b), contacts.face_a, contacts.face_b

    def _choose(self, rows: Rows, complete: bool, question: Query) -> None:
        """Choose the pairs of the next step."""
        surfaces, points = self._arrays.surfaces, self._points
        if self._lattices.may_refine:
            # Lighter nodes of finer cells may return in the next step, beyond a clearance that covers a part of the approach.
            # (Two balls overlapped by 0.018 at rest, in every other frame.)
            rows = with_remembered(rows, self._pairs, surfaces, points, question.clearance / WHEN_MET)
        elif not complete:
            rows = with_remembered(rows, self._pairs, surfaces, points, question.clearance)
        self._pairs = chosen_pairs(rows, surfaces, points, self._pairs)
        simplify(self._pairs, surfaces, self.old_after)

    def _refine(self, seconds: float) -> None:
        """Split and merge cells; this moves the surface but gives no velocity."""
        if self._lattices.may_refine:
            arrays = self._lattices.follow(self._arrays, self.world._ready_detector(), self._pairs, seconds, self.old_after)
            if arrays is not self._arrays:
                self._arrays = arrays
                self._place_surfaces()

    def _place_surfaces(self) -> None:
        arrays = self._arrays
        for body in range(len(self._bodies)):
            write_points(arrays.surfaces, arrays.nodes, self._frames, body, self._points)

    # ------------------------------------------------------------------ at the start

    def _set_motion(self, velocity: Floats, spin: Floats) -> None:
        """Set velocities of frames, and of soft bodies' nodes about their centres of mass."""
        self._frames.velocity[:], self._frames.spin[:] = velocity, spin
        nodes, mass = self._arrays.nodes, self._arrays.mass[:, None]
        for row in self._soft:
            own = slice(self._arrays.first_node[row], self._arrays.first_node[row + 1])
            centre = (mass[own] * nodes.place[own]).sum(axis=0) / mass[own].sum()
            nodes.velocity[own] = velocity[row] + np.cross(spin[row], nodes.place[own] - centre)
            self._frames.velocity[row], self._frames.spin[row] = 0.0, 0.0

    def _usual_clearance(self, most: float) -> float:
        """Return a twentieth of the median radius of soft facets, at most `most`.

        A tenth gives half as many rows again, and more oblique pairs, which push bodies that do not touch (two balls of 300 faces
        lost 18 % of their volume in a squeeze, and 10 % with a twentieth; analysis gives up to 15 %).
        """
        first = self._arrays.surfaces.first_face
        faces = np.concatenate([self._arrays.surfaces.face[first[row] : first[row + 1]] for row in self._soft])
        corners = self._points[faces]
        radius = np.sqrt(((corners - corners.mean(axis=1, keepdims=True)) ** 2).sum(axis=2).max(axis=1))
        return min(0.05 * float(np.median(radius)), most)

    def _check_bodies(self) -> None:
        check_same_bodies(self.world, self._bodies, "SoftSimulation")
        poses = self.world.poses
        moved = (poses != self._poses).any(axis=(1, 2))
        moved[self._kinematic] = False
        if moved.any():
            name = self._bodies.names[int(np.argmax(moved))]
            raise InputError(
                f"body {name!r} was given another pose between steps; name it in kinematic, or make another SoftSimulation"
            )


def _copies(arrays: Arrays) -> Arrays:
    """Return a NamedTuple with copies of its arrays."""
    return type(arrays)(*(array.copy() for array in arrays))

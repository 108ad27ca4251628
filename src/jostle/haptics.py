"""Haptic forces: force and torque of contacts, and the coupling to a device.

    wrench = jostle.haptics.force(report, probe, stiffness=0.5)

Penalty forces after McNeely, Puterbaugh and Troy 1999: each contact pushes along its normal, in proportion to its depth. The paper
adds up points and divides by their number beyond ten. Here the pressure is stiffness · depth, that of an elastic layer, over the
area that each contact represents, seen along its normal (`Details.area`): against a flat side the force is stiffness · overlap
volume at any resolution, and walls parallel to the push add nothing. Damping is Hunt and Crossley's (1975): it grows with depth
from 0, so that the force does not jump when a point enters. A point of area A that moves by x changes the force by at most
stiffness · A · x, plus stiffness · A · h per radian that its normal turns at depth h. Newton's third law holds to the bit: forces
on the two bodies of a pair, and torques about one point, are exact opposites.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError, Unsupported
from jostle.geometry.contact_kind import CROSSING, TOUCHING
from jostle.geometry.pose import rotation_about
from jostle.geometry.rigid import all_rigid
from jostle.geometry.vector import (
    Vec3,
    cross,
    dot,
    minus,
    negative,
    plus,
    point_at,
    point_from,
    times,
    write_point_from,
)
from jostle.kernels.arrays import read_only_view
from jostle.kernels.cached_property import cached_property
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Record, Run, float64, record_viewer
from jostle.report.report import HasId, Report

__all__ = ["Coupling", "Wrench", "force"]


class Sums(Record):
    """The sums that the kernel accumulates."""

    force: Run[float64, Literal[3]]
    torque: Run[float64, Literal[3]]
    matrix: Run[float64, Literal[36]]  # the upper triangle of the stiffness, in full rows
    contacts: float64
    deepest: float64
    without_depth: float64
    without_normal: float64


class Law(NamedTuple):
    """The force law of contacts."""

    stiffness: float
    damping: float


view_sums = record_viewer(Sums)
SUMS = Sums.dtype.itemsize // 8


@dataclass(frozen=True, eq=False)
class Wrench:
    """The force and torque of contacts on one body."""

    force: Floats  # (3,)
    torque: Floats  # (3,) about the requested point
    contacts: int  # rows with a depth above 0
    deepest: float  # largest depth
    _sums: Callable[[bool], Floats] | None = field(default=None, repr=False)

    @cached_property
    def stiffness(self) -> Floats:
        """(6,6) decrease of force and torque per motion and rotation.

        At fixed depths and normals, for all contacts, without limit and damping. Symmetric and positive semi-definite. Computed on
        first access.
        """
        if self._sums is None:
            return np.zeros((6, 6))
        upper = np.asarray(view_sums(self._sums(True)).matrix).reshape(6, 6)
        matrix: Floats = upper + upper.T
        matrix.flat[::7] *= 0.5
        return matrix

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "stiffness": self.stiffness, "_sums": None}


def force(
    report: Report,
    body: HasId | int | str,
    *,
    stiffness: float,
    area: ArrayLike | None = None,
    damping: float = 0.0,
    velocity: ArrayLike | None = None,
    spin: ArrayLike | None = None,
    about: ArrayLike | None = None,
    limit: float | None = None,
) -> Wrench:
    """Return the force and torque on a body from all of its contacts in a report.

    Parameters
    ----------
    report : Report
        From a method that answers normals and depths, such as `Voxmap(accuracy=…)`.
    body : Body, int or str
        The body, its id or its name.
    stiffness : float
        Pressure per depth; without areas, force per contact and depth.
    area : float or (rows,), optional
        The surface area that each contact represents, seen along its normal; by default the method's (Voxmap), else 1.
    damping : float
        Seconds per length (Hunt and Crossley): pressure is stiffness · depth · (1 + damping · speed of approach), never below 0.
    velocity, spin : (3,), optional
        Of the body at `about`, in length and radians per second, relative to the other bodies; at rest by default.
    about : (3,), optional
        The world point that torque is about; by default the world's origin.
    limit : float, optional
        Largest force: beyond it force and torque are scaled by one factor, which keeps the line of action.

    Returns
    -------
    Wrench
        Rows of kind A_IN_B or B_IN_A without a depth exert no force.

    Raises
    ------
    Unsupported
        The method does not answer depth or normal.
    """
    if not isinstance(report, Report):
        raise InputError(f"report is {cast.shown(report)}; pass what World.detect returned")
    number = report._id(body)
    law = Law(_at_least_zero(stiffness, "stiffness"), _at_least_zero(damping, "damping"))
    most = math.inf if limit is None else _at_least_zero(limit, "limit")
    motion = np.zeros((3, 3))
    for row, (value, name) in enumerate(((about, "about"), (velocity, "velocity"), (spin, "spin"))):
        if value is not None:
            motion[row] = cast.as_vector(value, name)
    contacts = report.contacts
    if len(contacts) == 0:
        return Wrench(np.zeros(3), np.zeros(3), 0, 0.0)
    details = contacts.details
    # A method may know a contact's area and where the force acts; by default it acts at the middle of the segment.
    areas = read_only_view(details.area if area is None and details.area is not None else _areas(area, len(contacts)))
    at = read_only_view(details.segment if details.place is None else details.place[:, None])
    a, b, kind = read_only_view(contacts.body_a), read_only_view(contacts.body_b), read_only_view(contacts.kind)
    depth, normal = read_only_view(contacts.depth), read_only_view(details.normal)

    def sums_with(matrix: bool) -> Floats:
        sums = np.zeros(SUMS)
        add_up_contacts(a, b, kind, depth, at, normal, areas, number, law, motion, matrix, sums)
        return sums

    sums = view_sums(sums_with(False))
    for count, name in ((sums.without_depth, "depth"), (sums.without_normal, "normal")):
        if count > 0:
            raise Unsupported(
                f"{int(count)} contacts of body {report.names.get(number, number)!r} have no {name} (trait answers: no {name}); "
                "forces need a method that answers both, such as Voxmap with depth=True"
            )
    push, twist = np.array(sums.force), np.array(sums.torque)
    size = math.sqrt(push[0] * push[0] + push[1] * push[1] + push[2] * push[2])
    if size > most:
        push *= most / size
        twist *= most / size
    return Wrench(push, twist, int(sums.contacts), float(sums.deepest), sums_with)


def _at_least_zero(value: float, field: str) -> float:
    number = cast.as_number(value, field)
    if not 0.0 <= number < math.inf:
        raise InputError(f"{field} is {number}; it must be a finite number >= 0")
    return number


def _areas(area: ArrayLike | None, rows: int) -> Floats:
    """Return the areas (rows,), or (1,) if all are equal."""
    areas: Floats = np.ones(1) if area is None else np.atleast_1d(cast.as_array(area, "", "area").astype(np.float64))
    if areas.shape not in ((1,), (rows,)):
        raise InputError(f"area has shape {areas.shape}; it must be one number or ({rows},), one for each row of the contacts")
    if not 0.0 <= areas.min() <= areas.max() < math.inf:  # false with a NaN
        raise InputError("area has entries that are negative or not finite; each must be a number >= 0")
    return areas


@kernel
def add_up_contacts(
    body_a: Any, body_b: Any, kind: Any, depth: Any, at: Any, normal: Any, area: Any, body: int, law: Law, motion: Floats,
    matrix: bool, numbers: Floats,
) -> None:  # fmt: skip
    """Add force and torque, or the stiffness, of one body's rows (n,) to `Sums`.

    Forces act at the midpoints of at (n,1,3) or (n,2,3). The rows of motion are the point that torque is about, the velocity there,
    and the spin. `numbers` is the array behind `Sums`.
    """
    sums, last = view_sums(numbers), at.shape[1] - 1
    about, velocity, spin = point_at(motion, 0), point_at(motion, 1), point_at(motion, 2)
    force, torque, count, deepest = Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 0.0), 0, 0.0
    for row in range(body_a.shape[0]):
        if body_a[row] != body and body_b[row] != body:
            continue
        h = depth[row]
        if math.isnan(h):
            if kind[row] == CROSSING or kind[row] == TOUCHING:
                sums.without_depth += 1.0
            continue
        if h <= 0.0:
            continue
        n = point_at(normal, row)
        if math.isnan(n.x):
            sums.without_normal += 1.0
            continue
        if body_a[row] == body:  # normals point from a into b, and bodies are pushed apart
            n = negative(n)
        arm = minus(times(0.5, plus(point_at(at[row], 0), point_at(at[row], last))), about)
        turn = cross(arm, n)
        spring = law.stiffness * (area[row] if area.shape[0] > 1 else area[0])
        if matrix:
            add_stiffness(sums.matrix, spring, n, turn)
            continue
        # Speed of approach: −(v + w × r) · n, with (w × r) · n = w · (r × n).
        approach = -(dot(velocity, n) + spin.x * turn.x + spin.y * turn.y + spin.z * turn.z)
        push = spring * h * max(0.0, 1.0 + law.damping * approach)
        force, torque = plus(force, times(push, n)), plus(torque, times(push, turn))
        count += 1
        deepest = max(deepest, h)
    write_point_from(sums.force, 0, force)
    write_point_from(sums.torque, 0, torque)
    sums.contacts, sums.deepest = count, deepest


@kernel
def add_stiffness(matrix: Any, spring: float, n: Vec3, t: Vec3) -> None:
    """Add the upper triangle of spring · (n, t)(n, t)ᵀ to a matrix (36,)."""
    zero = Vec3(0.0, 0.0, 0.0)
    add_scaled(matrix, 0, spring * n.x, n, t)
    add_scaled(matrix, 1, spring * n.y, Vec3(0.0, n.y, n.z), t)
    add_scaled(matrix, 2, spring * n.z, Vec3(0.0, 0.0, n.z), t)
    add_scaled(matrix, 3, spring * t.x, zero, t)
    add_scaled(matrix, 4, spring * t.y, zero, Vec3(0.0, t.y, t.z))
    add_scaled(matrix, 5, spring * t.z, zero, Vec3(0.0, 0.0, t.z))


@kernel(forceinline=True)
def add_scaled(matrix: Any, row: int, by: float, a: Vec3, b: Vec3) -> None:
    """Add (a, b) times a factor to a row of a matrix (36,)."""
    start = 6 * row
    write_point_from(matrix, start, plus(point_from(matrix, start), times(by, a)))
    write_point_from(matrix, start + 3, plus(point_from(matrix, start + 3), times(by, b)))


@dataclass(frozen=True)
class Coupling:
    """A spring between a device and its body, which stays outside of others.

    McNeely et al. 1999 (§5) couple by a spring and a damper and integrate the body's motion; here the body has no mass, and each
    step moves it to where spring and contacts balance, to first order (quasi-static, after Barbič and James 2008): one system of
    six equations. With the contacts of the wrench the step reaches the balance. It is stable while new contacts on the way at most
    double the stiffness; otherwise `reach` bounds the step.

    Parameters
    ----------
    stiffness : float
        Force per length between device and body.
    turning : float
        Torque per radian.
    reach : float
        Largest motion in one step; half a voxel keeps contacts in the band of known depths.
    reach_angle : float
        Largest rotation in one step, radians.
    """

    stiffness: float
    turning: float
    reach: float = math.inf
    reach_angle: float = 0.1

    def __post_init__(self) -> None:
        for name in ("stiffness", "turning", "reach", "reach_angle"):
            number = cast.as_number(getattr(self, name), name, "Coupling")
            if not number > 0.0 or (math.isinf(number) and not name.startswith("reach")):
                raise InputError(f"Coupling: {name} is {number}; it must be above 0, and finite but for reach and reach_angle")
            object.__setattr__(self, name, number)

    def pull(self, device: ArrayLike, body: ArrayLike) -> tuple[Floats, Floats]:
        """Return force and torque on the body from the device, given their poses (4,4).

        Torque is about the body's origin. The device feels the opposites.
        """
        target, placed = _pose(device, "device"), _pose(body, "body")
        return self.stiffness * (target[:3, 3] - placed[:3, 3]), self.turning * rotation_vector(target[:3, :3] @ placed[:3, :3].T)

    def step(self, device: ArrayLike, body: ArrayLike, wrench: Wrench) -> Floats:
        """Return the next pose (4,4) of the body.

        Parameters
        ----------
        device, body : (4, 4)
            Poses of the device now, and of the body when the wrench was computed.
        wrench : Wrench
            Of the body's contacts, without a limit, about its origin: ``force(…, about=body.pose[:3, 3])``.
        """
        if not isinstance(wrench, Wrench):
            raise InputError(f"wrench is {cast.shown(wrench)}; pass what jostle.haptics.force returned")
        placed = _pose(body, "body")
        pull, twist = self.pull(device, placed)
        matrix = wrench.stiffness + np.diag([self.stiffness] * 3 + [self.turning] * 3)
        change = np.linalg.solve(matrix, np.concatenate([pull + wrench.force, twist + wrench.torque]))
        move, turn = change[:3], change[3:]
        length, angle = float(np.linalg.norm(move)), float(np.linalg.norm(turn))
        share = min(1.0, self.reach / length if length > 0.0 else 1.0, self.reach_angle / angle if angle > 0.0 else 1.0)
        pose = placed.copy()
        pose[:3, 3] += share * move
        if angle > 0.0:
            turned = rotation_about(turn, share * angle)[:3, :3] @ placed[:3, :3]
            # Orthonormal again, as rounding would add up over thousands of steps a second.
            first = turned[:, 0] / np.linalg.norm(turned[:, 0])
            second = turned[:, 1] - (first @ turned[:, 1]) * first
            second /= np.linalg.norm(second)
            pose[:3, :3] = np.stack([first, second, np.cross(first, second)], axis=1)
        return pose


def _pose(value: ArrayLike, field: str) -> Floats:
    """Return a checked rigid pose; a valid array is returned unchanged, in 2 µs."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == (4, 4):
        placed = np.ascontiguousarray(value)
        if all_rigid(read_only_view(placed[None]), cast.RIGID_TOLERANCE, cast.LARGEST_COORDINATE):
            return placed
    return cast.as_pose(value, "", field)


def rotation_vector(rotation: Floats) -> Floats:
    """Return axis · angle (3,) of a rotation (3,3), right-handed, up to π."""
    sine = 0.5 * np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    size, cosine = float(np.linalg.norm(sine)), 0.5 * (float(np.trace(rotation)) - 1.0)
    if size < 1e-12:
        if cosine > 0.0:
            return sine
        # Half a turn: the axis is the longest column of R + 1.
        columns = rotation + np.eye(3)
        axis = columns[:, int(np.argmax(np.linalg.norm(columns, axis=0)))]
        half: Floats = axis * (math.pi / float(np.linalg.norm(axis)))
        return half
    vector: Floats = sine * (math.atan2(size, cosine) / size)
    return vector

"""Force and torque of contacts on one body, for devices with six degrees of freedom, and a coupling that a device is attached by.

    wrench = jostle.haptics.force(report, probe, stiffness=0.5)

Penalty forces after McNeely, Puterbaugh and Troy 1999: each contact pushes along its normal, as hard as it is deep. They add up
points as they come, and divide by their number beyond ten. Here the pressure is stiffness · depth, that of an elastic layer, over
the surface that each contact stands for as seen along its normal (`Details.area`): against a flat side the force is stiffness ·
volume of the overlap, whatever the resolution, and walls along the push add nothing.
Damping is Hunt and Crossley's (1975): it grows with depth from 0, so that nothing jumps when a point enters. A point of area A
that moves by x changes the force by at most stiffness · A · x; where its normal turns by an angle at depth h, by stiffness · A · h
times that angle more. Newton's third law holds to the bit: the force on one body of a pair is that on the other with the sign
changed, and so are the torques about one point.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle import cast
from jostle.errors import InputError, Unsupported
from jostle.geometry.contact_kind import CROSSING, TOUCHING
from jostle.geometry.rigid import all_rigid
from jostle.kernels.arrays import read_only_view
from jostle.kernels.cached_property import cached_property
from jostle.kernels.jit import kernel
from jostle.motion.pose import rotation_about
from jostle.report import HasId, Report

__all__ = ["Coupling", "Wrench", "force"]

Floats = NDArray[np.float64]

# What the kernel sums up: force, torque, the upper triangle of the stiffness matrix in the rows of all of it, then counts.
FORCE, TORQUE, MATRIX, CONTACTS, DEEPEST, WITHOUT_DEPTH, WITHOUT_NORMAL, SUMS = 0, 3, 6, 42, 43, 44, 45, 46


@dataclass(frozen=True, eq=False)
class Wrench:
    """What contacts do to one body."""

    force: Floats  # (3,)
    torque: Floats  # (3,) about the point that was asked for
    contacts: int  # rows with a depth above 0
    deepest: float  # largest depth
    _sums: Callable[[bool], Floats] | None = field(default=None, repr=False)

    @cached_property
    def stiffness(self) -> Floats:
        """(6,6) how force and torque fall when the body moves and turns, at its depth and normals; symmetric, never negative.

        Of all contacts, whatever the limit; damping left out. Computed when it is first asked for.
        """
        if self._sums is None:
            return np.zeros((6, 6))
        upper = self._sums(True)[MATRIX : MATRIX + 36].reshape(6, 6)
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
        Of any method that answers normals and depths, for instance `Voxmap(accuracy=…)`.
    body : Body, int or str
        The body, its id or its name.
    stiffness : float
        Pressure per depth; where there are no areas force per contact and depth.
    area : float or (rows,), optional
        What surface each contact stands for, as seen along its normal; by default what the method says (Voxmap does), else 1.
    damping : float
        Seconds per length (Hunt and Crossley): pressure is stiffness · depth · (1 + damping · speed of approach), never below 0.
    velocity, spin : (3,), optional
        Of the body at `about`, lengths and radians per second, relative to what it touches; at rest by default.
    about : (3,), optional
        The point of the world about which torque is; the origin of the world by default.
    limit : float, optional
        Largest force: beyond it force and torque are made smaller by the same factor, so that the line of the force stays.

    Returns
    -------
    Wrench
        Rows of kind A_IN_B or B_IN_A without a depth push nowhere and are left out.

    Raises
    ------
    Unsupported
        Where contacts have no depth or no normal: the method does not answer them.
    """
    if not isinstance(report, Report):
        raise InputError(f"report is {cast.shown(report)}; pass what World.detect returned")
    number = report._id(body)
    strength = _at_least_zero(stiffness, "stiffness")
    damp = _at_least_zero(damping, "damping")
    most = math.inf if limit is None else _at_least_zero(limit, "limit")
    middle, speed, turning = _vector(about, "about"), _vector(velocity, "velocity"), _vector(spin, "spin")
    contacts = report.contacts
    if len(contacts) == 0:
        return Wrench(np.zeros(3), np.zeros(3), 0, 0.0)
    details = contacts.details
    # A method may know what surface a contact stands for, and where on it a force acts: else in the middle of the segment.
    areas = read_only_view(details.area if area is None and details.area is not None else _areas(area, len(contacts)))
    at = read_only_view(details.segment if details.place is None else details.place[:, None])
    a, b, kind = read_only_view(contacts.body_a), read_only_view(contacts.body_b), read_only_view(contacts.kind)
    depth, normal = read_only_view(contacts.depth), read_only_view(details.normal)

    def sums_with(matrix: bool) -> Floats:
        sums = np.zeros(SUMS)
        add_up_contacts(a, b, kind, depth, at, normal, areas, number, strength, damp, middle, speed, turning, matrix, sums)
        return sums

    sums = sums_with(False)
    for count, name in ((sums[WITHOUT_DEPTH], "depth"), (sums[WITHOUT_NORMAL], "normal")):
        if count > 0:
            raise Unsupported(
                f"{int(count)} contacts of body {report.names.get(number, number)!r} have no {name} (trait answers: no {name}); "
                "forces need a method that answers both, such as Voxmap with depth=True"
            )
    push, twist = sums[FORCE : FORCE + 3].copy(), sums[TORQUE : TORQUE + 3].copy()
    size = math.sqrt(push[0] * push[0] + push[1] * push[1] + push[2] * push[2])
    if size > most:
        push *= most / size
        twist *= most / size
    return Wrench(push, twist, int(sums[CONTACTS]), float(sums[DEEPEST]), sums_with)


def _at_least_zero(value: float, field: str) -> float:
    number = cast.as_number(value, field)
    if not 0.0 <= number < math.inf:
        raise InputError(f"{field} is {number}; it must be a finite number >= 0")
    return number


def _vector(value: ArrayLike | None, field: str) -> Floats:
    if value is None:
        return np.zeros(3)
    vector = np.array(cast.as_array(value, "", field), dtype=np.float64)
    if vector.shape != (3,) or not all(map(math.isfinite, vector.tolist())):
        raise InputError(f"{field} is {cast.shown(value)}; it must be three finite numbers")
    return vector


def _areas(area: ArrayLike | None, rows: int) -> Floats:
    """(rows,) or (1,) areas, one for all."""
    areas: Floats = np.ones(1) if area is None else np.atleast_1d(cast.as_array(area, "", "area").astype(np.float64))
    if areas.shape not in ((1,), (rows,)):
        raise InputError(f"area has shape {areas.shape}; it must be one number or ({rows},), one for each row of the contacts")
    if not 0.0 <= areas.min() <= areas.max() < math.inf:  # a NaN is the least and the largest
        raise InputError("area has entries that are negative or not finite; each must be a number >= 0")
    return areas


@kernel
def add_up_contacts(
    body_a: Any, body_b: Any, kind: Any, depth: Any, at: Any, normal: Any, area: Any,
    body: int, stiffness: float, damping: float, about: Any, velocity: Any, spin: Any, matrix: bool, sums: Any,
) -> None:  # fmt: skip
    """Add force and torque, or the stiffness, of the rows (n,) of one body to `sums` (SUMS,); at (n,1,3) or (n,2,3), middles."""
    last = at.shape[1] - 1
    fx = fy = fz = mx = my = mz = 0.0
    ox, oy, oz = about[0], about[1], about[2]
    vx, vy, vz, wx, wy, wz = velocity[0], velocity[1], velocity[2], spin[0], spin[1], spin[2]
    count, deepest = 0, 0.0
    for row in range(body_a.shape[0]):
        if body_a[row] != body and body_b[row] != body:
            continue
        h = depth[row]
        if math.isnan(h):
            if kind[row] == CROSSING or kind[row] == TOUCHING:
                sums[WITHOUT_DEPTH] += 1.0
            continue
        if h <= 0.0:
            continue
        nx, ny, nz = normal[row, 0], normal[row, 1], normal[row, 2]
        if math.isnan(nx):
            sums[WITHOUT_NORMAL] += 1.0
            continue
        if body_a[row] == body:  # normals point from a into b, and bodies are pushed apart
            nx, ny, nz = -nx, -ny, -nz
        rx = 0.5 * (at[row, 0, 0] + at[row, last, 0]) - ox
        ry = 0.5 * (at[row, 0, 1] + at[row, last, 1]) - oy
        rz = 0.5 * (at[row, 0, 2] + at[row, last, 2]) - oz
        tx, ty, tz = ry * nz - rz * ny, rz * nx - rx * nz, rx * ny - ry * nx
        spring = stiffness * (area[row] if area.shape[0] > 1 else area[0])
        if matrix:
            add_scaled(sums, MATRIX, spring * nx, nx, ny, nz, tx, ty, tz)
            add_scaled(sums, MATRIX + 6, spring * ny, 0.0, ny, nz, tx, ty, tz)
            add_scaled(sums, MATRIX + 12, spring * nz, 0.0, 0.0, nz, tx, ty, tz)
            add_scaled(sums, MATRIX + 18, spring * tx, 0.0, 0.0, 0.0, tx, ty, tz)
            add_scaled(sums, MATRIX + 24, spring * ty, 0.0, 0.0, 0.0, 0.0, ty, tz)
            add_scaled(sums, MATRIX + 30, spring * tz, 0.0, 0.0, 0.0, 0.0, 0.0, tz)
            continue
        # The speed at which the point comes nearer: of (v + w × r) · n the part along −n, and (w × r) · n = w · (r × n).
        approach = -(vx * nx + vy * ny + vz * nz + wx * tx + wy * ty + wz * tz)
        push = spring * h * max(0.0, 1.0 + damping * approach)
        fx, fy, fz = fx + push * nx, fy + push * ny, fz + push * nz
        mx, my, mz = mx + push * tx, my + push * ty, mz + push * tz
        count += 1
        deepest = max(deepest, h)
    add_scaled(sums, FORCE, 1.0, fx, fy, fz, mx, my, mz)
    sums[CONTACTS], sums[DEEPEST] = count, deepest


@kernel(forceinline=True)
def add_scaled(sums: Any, at: int, by: float, a: float, b: float, c: float, d: float, e: float, f: float) -> None:
    """Add six numbers, multiplied, to sums[at : at + 6]."""
    sums[at] += by * a
    sums[at + 1] += by * b
    sums[at + 2] += by * c
    sums[at + 3] += by * d
    sums[at + 4] += by * e
    sums[at + 5] += by * f


@dataclass(frozen=True)
class Coupling:
    """A spring between the pose of a device and the pose of the body it leads, so that the body stays out where the device goes in.

    McNeely et al. 1999 (§5) couple by a spring and a damper and step the body's motion; here the body has no mass and goes in each
    step to where spring and contacts balance, to first order (quasi-static, after Barbič and James 2008): one solution of six
    equations. With the contacts that were counted the step lands on the balance. It stays stable while those that come on the way
    no more than double their stiffness; `reach` bounds how far it goes otherwise.

    Parameters
    ----------
    stiffness : float
        Force per length between device and body.
    turning : float
        Torque per radian.
    reach : float
        The farthest that a body moves in one step; half a voxel keeps contacts in the band in which depths are known.
    reach_angle : float
        The farthest that it turns in one step, radians.
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
        """Return force and torque on the body from the device, both by their poses (4,4); torque is about the body's origin.

        The device feels their opposites.
        """
        target, placed = _pose(device, "device"), _pose(body, "body")
        return self.stiffness * (target[:3, 3] - placed[:3, 3]), self.turning * rotation_vector(target[:3, :3] @ placed[:3, :3].T)

    def step(self, device: ArrayLike, body: ArrayLike, wrench: Wrench) -> Floats:
        """Return the next pose (4,4) of the body.

        Parameters
        ----------
        device, body : (4, 4)
            Where the device is, and where the body was when the wrench was computed.
        wrench : Wrench
            Of its contacts, without a limit, about the origin of the body's frame: ``force(…, about=body.pose[:3, 3])``.
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
            # Thousands of steps a second: made orthonormal again, or rounding adds up.
            first = turned[:, 0] / np.linalg.norm(turned[:, 0])
            second = turned[:, 1] - (first @ turned[:, 1]) * first
            second /= np.linalg.norm(second)
            pose[:3, :3] = np.stack([first, second, np.cross(first, second)], axis=1)
        return pose


def _pose(value: ArrayLike, field: str) -> Floats:
    """Return a rigid pose; one that is right is taken as it is, in 2 µs."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == (4, 4):
        placed = np.ascontiguousarray(value)
        if all_rigid(read_only_view(placed[None]), cast.RIGID_TOLERANCE, cast.LARGEST_COORDINATE):
            return placed
    return cast.as_pose(value, "", field)


def rotation_vector(rotation: Floats) -> Floats:
    """(3,) axis times angle of a rotation (3,3), right-handed, up to π."""
    sine = 0.5 * np.array([rotation[2, 1] - rotation[1, 2], rotation[0, 2] - rotation[2, 0], rotation[1, 0] - rotation[0, 1]])
    size, cosine = float(np.linalg.norm(sine)), 0.5 * (float(np.trace(rotation)) - 1.0)
    if size < 1e-12:
        if cosine > 0.0:
            return sine
        # Half a turn: the axis is the column of R + 1 that is longest.
        columns = rotation + np.eye(3)
        axis = columns[:, int(np.argmax(np.linalg.norm(columns, axis=0)))]
        half: Floats = axis * (math.pi / float(np.linalg.norm(axis)))
        return half
    vector: Floats = sine * (math.atan2(size, cosine) / size)
    return vector

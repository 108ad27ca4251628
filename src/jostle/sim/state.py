"""Bodies of a simulation as arrays: constant `Matter` and changing `State`.

Masses are given or follow from a density; inertia is that of the closed mesh, filled evenly (`shapes/mass.py`), or of the box of a
mesh that is open or holds no volume. Immovable bodies (static and kinematic ones) have no finite mass: 1/mass and 1/inertia are 0.
The attitude of a body maps its principal axes to the world, so that Euler's equations need no matrix; `fitted` is the rest of its
rotation (poses need not be quite orthonormal).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jostle import cast
from jostle._types import Bools, Floats
from jostle.errors import InputError
from jostle.geometry.quaternion import rotation_of_quaternion
from jostle.interface.frame import Frame
from jostle.shapes.mass import mass_of_box, mass_properties, principal_axes
from jostle.shapes.mesh import Mesh

# Least moment as a share of the largest: a needle would have no inertia about its axis.
LEAST_MOMENT = 1e-6


@dataclass(eq=False)
class Matter:
    """The constants of n bodies."""

    free: Bools  # (n,) of finite mass: moved by the simulation
    mass: Floats  # (n,) inf where not free
    inverse_mass: Floats  # (n,)
    moments: Floats  # (n,3) principal moments of inertia; inf where not free
    inverse_moments: Floats  # (n,3)
    quotients: Floats  # (n,3) (I1 - I2) / I0 and so on round, 0 where not free
    middle: Floats  # (n,3) centre of mass, body coordinates
    fitted: Floats  # (n,3,3) rotation of the pose = attitude · fitted
    radius: Floats  # (n,) of the ball about the centre of mass that holds the body


class State(NamedTuple):
    """The variables of n bodies: world coordinates, seconds, radians."""

    centre: Floats  # (n,3) centres of mass
    velocity: Floats  # (n,3) of the centres
    spin: Floats  # (n,3) angular velocity, world axes
    attitude: Floats  # (n,4) unit quaternions (w, x, y, z), principal axes to world


class Solid(NamedTuple):
    """Properties of one mesh that do not depend on mass and pose."""

    volume: float  # 0 where there is none
    centre: Floats  # (3,)
    gyration: Floats  # (3,) principal moments of a unit of mass
    axes: Floats  # (3,3)
    radius: float


def solid_of(mesh: Mesh) -> Solid:
    """Return the mass properties of a mesh, or of its box if it has no volume."""
    try:
        made = mass_properties(mesh)
        gyration, axes = principal_axes(made.inertia / made.volume)
    except InputError:
        made = mass_of_box(mesh)
        x, y, z = (float(edge) for edge in mesh.bounds[1] - mesh.bounds[0])
        gyration, axes = np.array([y * y + z * z, z * z + x * x, x * x + y * y]) / 12.0, np.eye(3)
    radius = radius_of(mesh, mesh.vertices, made.centre)
    return Solid(made.volume, made.centre, np.maximum(gyration, LEAST_MOMENT * gyration.max()), axes, radius)


def solids_of(frame: Frame) -> list[Solid]:
    """Return the solid of each body in its present shape; each mesh is weighed once."""
    known: dict[str, Solid] = {}
    solids = []
    for row, mesh in enumerate(frame.bodies.meshes):
        if frame.bodies.deformable[row]:
            solids.append(solid_of(mesh.with_vertices(frame.vertices[row])))
            continue
        if mesh.digest not in known:
            known[mesh.digest] = solid_of(mesh)
        solids.append(known[mesh.digest])
    return solids


def matter_of(frame: Frame, solids: Sequence[Solid], free: Bools, mass: Floats) -> tuple[Matter, State]:
    """Return matter and resting state of bodies with masses (n,)."""
    count = len(frame)
    gyration = np.array([solid.gyration for solid in solids]).reshape(-1, 3)
    for row in np.flatnonzero(free & ~(gyration.max(axis=1, initial=0.0) > 0.0)).tolist():
        raise InputError(f"body {frame.bodies.names[row]!r} has no extent, so nothing can turn it; make it static, or take it out")
    axes = np.array([solid.axes for solid in solids]).reshape(-1, 3, 3)
    middle = np.array([solid.centre for solid in solids]).reshape(-1, 3)
    rotation = frame.poses[:, :3, :3]
    attitude = quaternions_of(_product(rotation, axes))
    turned = rotations_of(attitude)
    moments = np.where(free[:, None], mass[:, None] * gyration, np.inf)
    x, y, z = gyration.T
    quotients = np.stack([(y - z) / x, (z - x) / y, (x - y) / z], axis=1) if count else np.empty((0, 3))
    matter = Matter(
        free=free,
        mass=np.where(free, mass, np.inf),
        inverse_mass=np.where(free, 1.0 / mass, 0.0),
        moments=moments,
        inverse_moments=1.0 / moments,
        quotients=np.where(free[:, None], quotients, 0.0),
        middle=middle,
        fitted=_product(turned.transpose(0, 2, 1), rotation),
        radius=np.array([solid.radius for solid in solids]),
    )
    still = np.zeros((count, 3))
    return matter, State(centres_of(frame.poses, middle), still, still.copy(), attitude)


def masses_of(
    mass: ArrayLike | None, density: ArrayLike | None, solids: Sequence[Solid], free: Bools, names: Sequence[str], equal: bool
) -> Floats:
    """Return masses (n,) from masses or densities; by default 1, or density 1."""
    if mass is not None and density is not None:
        raise InputError("mass and density are both given; give one of them")
    if mass is not None or (density is None and equal):
        return _positive(1.0 if mass is None else mass, free, names, "mass")
    densities = _positive(1.0 if density is None else density, free, names, "density")
    volume = np.array([solid.volume for solid in solids])
    for row in np.flatnonzero(free & ~(volume > 0.0)).tolist():
        raise InputError(f"body {names[row]!r} holds no volume, so a density gives it no mass; pass mass=…")
    return np.where(free, densities * np.where(volume > 0.0, volume, 1.0), 1.0)


def _positive(value: ArrayLike, free: Bools, names: Sequence[str], field: str) -> Floats:
    numbers = cast.as_array(value, "", field).astype(np.float64)
    if numbers.shape not in ((), (len(free),)):
        raise InputError(f"{field} has shape {numbers.shape}; it must be one number, or one for each of the {len(free)} bodies")
    each = np.where(free, numbers, 1.0)
    good = (each >= cast.SMALLEST_COORDINATE) & (each <= cast.LARGEST_COORDINATE)  # so that their inverses are finite
    if not good.all():
        row = int(np.argmin(good))
        raise InputError(f"body {names[row]!r}: {field} is {each[row]}; it must be a number from 1e-30 to 1e30")
    return each


def as_vectors(value: ArrayLike | None, free: Bools, names: Sequence[str], field: str) -> Floats:
    """Return vectors (n,3) from one (3,) for all free bodies, or one per body."""
    count = len(free)
    if value is None:
        return np.zeros((count, 3))
    vectors = cast.as_array(value, "", field).astype(np.float64)
    if vectors.shape == (3,):
        vectors = np.where(free[:, None], vectors, 0.0)
    if vectors.shape != (count, 3):
        raise InputError(f"{field} has shape {vectors.shape}; pass (3,) for all bodies or ({count}, 3), one row for each")
    good = (np.abs(vectors) <= cast.LARGEST_COORDINATE).all(axis=1)
    if not good.all():
        row = int(np.argmin(good))
        raise InputError(f"body {names[row]!r}: {field}[{row}] is {vectors[row].tolist()}; it must be finite, at most 1e30")
    stuck = ~free & vectors.any(axis=1)
    if stuck.any():
        row = int(np.argmax(stuck))
        raise InputError(
            f"body {names[row]!r}: {field}[{row}] is {vectors[row].tolist()}, but it is static or kinematic; leave it 0"
        )
    return np.ascontiguousarray(vectors)


def radius_of(mesh: Mesh, points: Floats, centre: Floats) -> float:
    """Return the radius of a mesh on vertices (n,3) about a centre (3,)."""
    used = points if mesh.uses_every_vertex else points[np.unique(mesh.faces)]
    # A billionth more, so that no rounding of a pose reaches beyond a wall.
    return float(np.sqrt(((used - centre) ** 2).sum(axis=1).max())) * (1.0 + 1e-9)


def centres_of(poses: Floats, middle: Floats) -> Floats:
    """Return the points `middle` (n,3) of bodies in the world."""
    x, y, z = (middle[:, k, None] for k in range(3))
    return ((poses[:, :3, 0] * x + poses[:, :3, 1] * y) + poses[:, :3, 2] * z) + poses[:, :3, 3]


def rotations_of(attitude: Floats) -> Floats:
    """Return (n,3,3) rotations of unit quaternions (n,4)."""
    return rotation_of_quaternion(*attitude.T)


def quaternions_of(rotation: Floats) -> Floats:
    """Return (n,4) unit quaternions of rotations (n,3,3)."""
    r = rotation
    xx, yy, zz = r[:, 0, 0], r[:, 1, 1], r[:, 2, 2]
    a, b, c = r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]
    d, e, f = r[:, 1, 0] + r[:, 0, 1], r[:, 2, 0] + r[:, 0, 2], r[:, 2, 1] + r[:, 1, 2]
    candidates = np.stack(
        [
            np.stack([1.0 + (xx + yy + zz), a, b, c], axis=1),
            np.stack([a, 1.0 + (xx - yy - zz), d, e], axis=1),
            np.stack([b, d, 1.0 + (yy - xx - zz), f], axis=1),
            np.stack([c, e, f, 1.0 + (zz - xx - yy)], axis=1),
        ],
        axis=1,
    )
    best = np.argmax(candidates[:, range(4), range(4)], axis=1) if len(r) else np.empty(0, int)
    chosen = candidates[np.arange(len(r)), best]
    return chosen / np.sqrt((chosen * chosen).sum(axis=1, keepdims=True))


def _product(a: Floats, b: Floats) -> Floats:
    """Return (n,3,3) products, summed in a fixed order."""
    total = a[:, :, 0, None] * b[:, None, 0] + a[:, :, 1, None] * b[:, None, 1]
    return total + a[:, :, 2, None] * b[:, None, 2]

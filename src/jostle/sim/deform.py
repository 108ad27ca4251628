"""XPBD of soft lattices, stretch and volume (Macklin, Müller, Chentanez 2016).

Materials are given in physical units: Young's modulus E, Poisson's ratio 0.25 <= ν < 0.5, density, and a damping time η (Kelvin and
Voigt: stress E (ε + η dε/dt)). Springs of stiffness μ·edge along all cell edges and face diagonals make an isotropic solid with
both Lamé constants μ = E / (2 (1 + ν)); each cell's volume adds λ - μ to the one against compression. So small deformations have
the given E and ν (tested), and nothing is stored at rest.

A substep of h seconds: nodes move by their velocities, every spring and every volume is projected once, in alternating order, with
its compliance over h² and its damping, and velocities become displacements over h. Momentum is conserved to rounding, angular
momentum to first order in h; energy is lost, not gained. Where waves pass several cells per substep, or damping is strong, the body
is too soft, never unstable: more substeps make it stiffer. Measured: a block of E = 1e5 and height 1 on a plate sags 4 %, 14 % and
30 % too much with damping 0.02, 0.05 and 0.1 s in substeps of 1/600 s; in half substeps 1, 6 and 15 %.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jostle import cast
from jostle._types import Floats, Ints
from jostle.errors import InputError
from jostle.kernels.jit import kernel
from jostle.sim.lattice import Lattice


@dataclass(frozen=True)
class SoftMaterial:
    """The material of a soft body.

    Parameters
    ----------
    young : float
        Young's modulus, force per area: mass / (length · second²). 1e4 is like jelly, 1e6 like rubber, in metres and kilograms.
    poisson : float
        Poisson's ratio, 0.25 … 0.49: how much it bulges under compression.
    density : float
        Mass per volume.
    damping : float
        Decay time of internal vibrations, seconds; 0 leaves only the integrator's loss. Strong damping needs more substeps, or the
        body is softer than `young`.
    cells : int
        Of the lattice, along the longest edge of the body's box.
    finer : int
        1 to split cells into 2 × 2 × 2 where a collision is probable, and merge them some time after; else 0.
    """

    young: float = 5e4
    poisson: float = 0.4
    density: float = 1000.0
    damping: float = 0.05
    cells: int = 8
    finer: int = 0

    def __post_init__(self) -> None:
        """Check every field."""
        for field in ("young", "density"):
            value = cast.as_number(getattr(self, field), field, "SoftMaterial")
            if not cast.SMALLEST_COORDINATE <= value <= cast.LARGEST_COORDINATE:
                raise InputError(f"SoftMaterial: {field} is {value}; it must be a number from 1e-30 to 1e30")
        if not 0.25 <= cast.as_number(self.poisson, "poisson", "SoftMaterial") <= 0.49:
            raise InputError(f"SoftMaterial: poisson is {self.poisson}; it must be between 0.25 (springs alone) and 0.49")
        if not 0.0 <= cast.as_number(self.damping, "damping", "SoftMaterial") <= cast.LARGEST_COORDINATE:
            raise InputError(f"SoftMaterial: damping is {self.damping}; it must be a time >= 0 in seconds")
        cast.as_count(self.cells, "cells", lowest=1, highest=64, owner="SoftMaterial")
        cast.as_count(self.finer, "finer", lowest=0, highest=1, owner="SoftMaterial")

    @property
    def shear(self) -> float:
        """The shear modulus μ."""
        return self.young / (2.0 * (1.0 + self.poisson))

    @property
    def bulk_of_volumes(self) -> float:
        """The volume term of the first Lamé constant: λ - μ."""
        return self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson)) - self.shear


class Nodes(NamedTuple):
    """The nodes of all soft bodies, in world coordinates."""

    place: Floats  # (n,3)
    before: Floats  # (n,3) at the start of the substep
    velocity: Floats  # (n,3)
    inverse_mass: Floats  # (n,)


class Springs(NamedTuple):
    """The springs of all soft bodies."""

    node: Ints  # (s,2)
    rest: Floats  # (s,) lengths
    compliance: Floats  # (s,) length per force
    damping: Floats  # (s,) seconds


class Cells(NamedTuple):
    """The cells of all soft bodies."""

    node: Ints  # (c,8)
    volume: Floats  # (c,) at rest
    compliance: Floats  # (c,) of the relative change of volume, per energy
    damping: Floats  # (c,) seconds


def springs_of(lattice: Lattice, material: SoftMaterial) -> Springs:
    """Return the springs of one body."""
    stiffness = material.shear * lattice.edge * lattice.weight
    return Springs(lattice.spring, lattice.rest, 1.0 / stiffness, np.full(len(stiffness), material.damping))


def cells_of(lattice: Lattice, material: SoftMaterial) -> Cells:
    """Return the volume constraints of one body; a material with ν = 0.25 needs none."""
    volume = lattice.volume
    stiffness = material.bulk_of_volumes * lattice.share * volume
    compliance = np.full(len(volume), np.inf)
    np.divide(1.0, stiffness, out=compliance, where=stiffness > 1e-9 * material.shear * volume)
    return Cells(lattice.cell, volume, compliance, np.full(len(volume), material.damping))


def elastic_energy(place: Floats, springs: Springs, cells: Cells) -> float:
    """Return the energy of springs and volumes with nodes at places (n,3)."""
    ends = place[springs.node]
    stretch = np.sqrt(((ends[:, 1] - ends[:, 0]) ** 2).sum(axis=1)) - springs.rest
    corner = place[cells.node]
    along = [corner[:, [k for k in range(8) if k & bit]].sum(axis=1) - corner[:, [k for k in range(8) if not k & bit]].sum(axis=1)
             for bit in (1, 2, 4)]  # fmt: skip
    volume = (along[0] * np.cross(along[1], along[2])).sum(axis=1) / 64.0
    return 0.5 * float((stretch**2 / springs.compliance).sum() + ((volume / cells.volume - 1.0) ** 2 / cells.compliance).sum())


@kernel
def advance_nodes(nodes, gravity, h):  # type: ignore[no-untyped-def]
    """Move all nodes by their velocities, after gravity (3,)."""
    for n in range(nodes.place.shape[0]):
        for k in range(3):
            nodes.before[n, k] = nodes.place[n, k]
            nodes.velocity[n, k] += h * gravity[k]
            nodes.place[n, k] += h * nodes.velocity[n, k]


@kernel
def update_velocities(nodes, h):  # type: ignore[no-untyped-def]
    """Set each node's velocity to its displacement over the time of the substep."""
    for n in range(nodes.place.shape[0]):
        for k in range(3):
            nodes.velocity[n, k] = (nodes.place[n, k] - nodes.before[n, k]) / h


@kernel
def project_springs(nodes, springs, h, backwards):  # type: ignore[no-untyped-def]
    """Project every spring towards its length once, in order."""
    place, before, inverse_mass = nodes.place, nodes.before, nodes.inverse_mass
    count = springs.node.shape[0]
    for q in range(count):
        s = count - 1 - q if backwards else q
        a, b = springs.node[s, 0], springs.node[s, 1]
        x, y, z = place[b, 0] - place[a, 0], place[b, 1] - place[a, 1], place[b, 2] - place[a, 2]
        size = math.sqrt((x * x + y * y) + z * z)
        if size == 0.0:
            continue
        x, y, z = x / size, y / size, z / size
        # Growth of the spring in this substep, for the damping.
        grown = (
            x * ((place[b, 0] - before[b, 0]) - (place[a, 0] - before[a, 0]))
            + y * ((place[b, 1] - before[b, 1]) - (place[a, 1] - before[a, 1]))
            + z * ((place[b, 2] - before[b, 2]) - (place[a, 2] - before[a, 2]))
        )
        gamma = springs.damping[s] / h
        mass_a, mass_b = inverse_mass[a], inverse_mass[b]
        push = -((size - springs.rest[s]) + gamma * grown) / ((1.0 + gamma) * (mass_a + mass_b) + springs.compliance[s] / (h * h))
        place[a, 0] -= push * mass_a * x
        place[a, 1] -= push * mass_a * y
        place[a, 2] -= push * mass_a * z
        place[b, 0] += push * mass_b * x
        place[b, 1] += push * mass_b * y
        place[b, 2] += push * mass_b * z


@kernel
def project_cells(nodes, cells, h, backwards):  # type: ignore[no-untyped-def]
    """Project every cell towards its volume once.

    The volume is that of the box of its mean edges, which resists no affine map.
    """
    place, before, inverse_mass = nodes.place, nodes.before, nodes.inverse_mass
    count = cells.node.shape[0]
    for q in range(count):
        c = count - 1 - q if backwards else q
        if not cells.compliance[c] < np.inf:
            continue
        ax, ay, az, bx, by, bz, cx, cy, cz = mean_edges(place, cells.node, c)
        over = 1.0 / cells.volume[c]
        ux, uy, uz = (by * cz - bz * cy) * over, (bz * cx - bx * cz) * over, (bx * cy - by * cx) * over
        vx, vy, vz = (cy * az - cz * ay) * over, (cz * ax - cx * az) * over, (cx * ay - cy * ax) * over
        wx, wy, wz = (ay * bz - az * by) * over, (az * bx - ax * bz) * over, (ax * by - ay * bx) * over
        excess = ((ax * ux + ay * uy) + az * uz) - 1.0
        yields, grown = 0.0, 0.0
        for k in range(8):
            n = cells.node[c, k]
            i, j, m = 0.5 * (k & 1) - 0.25, 0.5 * ((k >> 1) & 1) - 0.25, 0.5 * (k >> 2) - 0.25
            x, y, z = (i * ux + j * vx) + m * wx, (i * uy + j * vy) + m * wy, (i * uz + j * vz) + m * wz
            yields += inverse_mass[n] * ((x * x + y * y) + z * z)
            grown += x * (place[n, 0] - before[n, 0]) + y * (place[n, 1] - before[n, 1]) + z * (place[n, 2] - before[n, 2])
        gamma = cells.damping[c] / h
        push = -(excess + gamma * grown) / ((1.0 + gamma) * yields + cells.compliance[c] / (h * h))
        for k in range(8):
            n = cells.node[c, k]
            i, j, m = 0.5 * (k & 1) - 0.25, 0.5 * ((k >> 1) & 1) - 0.25, 0.5 * (k >> 2) - 0.25
            share = push * inverse_mass[n]
            place[n, 0] += share * ((i * ux + j * vx) + m * wx)
            place[n, 1] += share * ((i * uy + j * vy) + m * wy)
            place[n, 2] += share * ((i * uz + j * vz) + m * wz)


@kernel
def mean_edges(place, node, c):  # type: ignore[no-untyped-def]
    """Return the mean of a cell's four edges in each direction, nine numbers."""
    ax, ay, az, bx, by, bz, cx, cy, cz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(8):
        n = node[c, k]
        i, j, m = 0.5 * (k & 1) - 0.25, 0.5 * ((k >> 1) & 1) - 0.25, 0.5 * (k >> 2) - 0.25
        x, y, z = place[n, 0], place[n, 1], place[n, 2]
        ax, ay, az = ax + i * x, ay + i * y, az + i * z
        bx, by, bz = bx + j * x, by + j * y, bz + j * z
        cx, cy, cz = cx + m * x, cy + m * y, cz + m * z
    return ax, ay, az, bx, by, bz, cx, cy, cz

"""Splitting and merging cells of a soft body, and the state of its nodes (Guy and Debunne 2004, §5.2, §5.5).

A cell is split at once where a collision is probable, before it comes about: then the model is fine when the surfaces meet. It is
merged again when no collision has been probable there for some time (or only old ones, between bodies at rest), and when its
surface would not be seen to move: when every node of its parts is where the merged cell would have it, within a small share of an
edge. Both together keep cells from being split and merged in turns. One that would be seen to move is looked at again after half
the time.

New nodes have the place and the velocity that the cell had there (trilinear), so that a split moves no point of the surface, and a
merge moves none farther than nodes were off. Mass is dealt out anew, its sum stays; what that does to momentum and angular momentum
is made up for by a velocity that is the same for the whole body, and by a spin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Bools, Floats
from jostle.shapes.mass import cross
from jostle.sim.lattice import Lattice
from jostle.sim.resolutions import BEYOND, IN_CELL, Resolutions, keys_of, number_of_keys, with_split

MERGED_WITHIN = 0.02  # of the edge of a cell: how far its nodes may be off at most when its parts are merged
MERGED_TOGETHER = 0.1  # of the split cells at least: one by one they would have the lattice put together anew in every step


class Cells(NamedTuple):
    """The cells of a body now."""

    split: Bools  # (c,)
    quiet: Floats  # (c,) seconds for which no collision has been probable
    lattice: Lattice


def whole_cells(resolutions: Resolutions) -> Cells:
    """Return the cells of a body, none of them split."""
    count = len(resolutions.coarse.cell)
    return Cells(np.zeros(count, bool), np.zeros(count), resolutions.coarse)


def cells_with_faces(resolutions: Resolutions, faces: Bools) -> Bools:
    """(c,) the cells that one of these faces (f,) passes."""
    found = np.zeros(len(resolutions.coarse.cell), bool)
    found[resolutions.passed_cell[faces[resolutions.passing_face]]] = True
    return found


def next_cells(resolutions: Resolutions, now: Cells, probable: Bools, place: Floats, seconds: float, merge_after: float) -> Cells:
    """Return the cells after a step of some seconds.

    Parameters
    ----------
    probable : (c,)
        Where a collision is probable.
    place : (n,3)
        Where the nodes are.
    merge_after : float
        Seconds without a probable collision after which a cell may be merged.
    """
    quiet = np.where(probable, 0.0, now.quiet + seconds)
    split = now.split | probable
    ready = now.split & (quiet >= merge_after)
    if ready.any() and ready.sum() >= MERGED_TOGETHER * now.split.sum():
        split[ready] = _off(resolutions, now, place, ready) > MERGED_WITHIN * now.lattice.edge
        quiet[ready] *= 0.5  # those that would be seen to move are not looked at again in every step
    same = bool((split == now.split).all())
    return Cells(split, quiet, now.lattice if same else with_split(resolutions, split))


def carried_over(resolutions: Resolutions, old: Cells, new: Cells, place: Floats, velocity: Floats) -> tuple[Floats, Floats]:
    """Return positions and velocities of the new lattice's nodes, from those (n,3) of the old one."""
    values, known = _continued(resolutions, old, np.concatenate([place, velocity], axis=1))
    began = new.split & ~old.split
    keys = resolutions.place_key[began].ravel()
    inside = np.einsum("pk,ckv->cpv", IN_CELL, values[resolutions.cell_key[began]]).reshape(-1, 6)
    fresh = ~known[keys]
    values[keys[fresh]] = inside[fresh]
    found = values[keys_of(new.lattice, resolutions.grid)]
    tied = new.lattice.tied
    found[tied] = (new.lattice.tied_by[:, :, None] * found[new.lattice.tied_to]).sum(axis=1)
    place, velocity = found[:, :3].copy(), found[:, 3:].copy()
    return place, velocity


def with_momentum_of(before: tuple[Floats, Floats, Floats], place: Floats, velocity: Floats, mass: Floats) -> Floats:
    """Return velocities that keep momentum and angular momentum of the nodes before: (mass, place, velocity)."""
    total = mass.sum()
    middle = (mass[:, None] * place).sum(axis=0) / total
    momentum, turning = _momenta(*before, middle)
    own, own_turning = _momenta(mass, place, velocity, middle)
    arm = place - middle
    square = (mass[:, None] * arm**2).sum(axis=0)
    x, y, z = arm.T
    xy, yz, zx = -(mass * x * y).sum(), -(mass * y * z).sum(), -(mass * z * x).sum()
    inertia = np.array([[square[1] + square[2], xy, zx], [xy, square[2] + square[0], yz], [zx, yz, square[0] + square[1]]])
    # The change of velocity that is the same for all has no angular momentum about the middle, and the spin no momentum.
    spin = np.linalg.solve(inertia, turning - own_turning)
    found: Floats = velocity + ((momentum - own) / total + cross(spin, arm))
    return found


def _momenta(mass: Floats, place: Floats, velocity: Floats, middle: Floats) -> tuple[Floats, Floats]:
    """Momentum, and angular momentum about a point."""
    momentum = mass[:, None] * velocity
    return momentum.sum(axis=0), cross(place - middle, momentum).sum(axis=0)


def _continued(resolutions: Resolutions, now: Cells, values: Floats) -> tuple[Floats, Bools]:
    """Return values (n,k) of nodes by key, with corners of split cells that are no nodes now, and which keys have one."""
    keys = keys_of(now.lattice, resolutions.grid)
    found = np.zeros((number_of_keys(resolutions.grid), values.shape[1]))
    known = np.zeros(len(found), bool)
    found[keys], known[keys] = values, True
    cell, corner = np.nonzero(now.split[:, None] & ~known[resolutions.cell_key])
    if len(cell):
        near = resolutions.nearest_part[cell, corner]
        nodes = resolutions.part_key[resolutions.part[cell, near]]
        missing = resolutions.cell_key[cell, corner]
        found[missing] = (BEYOND[corner, near][:, :, None] * found[nodes]).sum(axis=1)
        known[missing] = True
    return found, known


def _off(resolutions: Resolutions, now: Cells, place: Floats, cells: Bools) -> Floats:
    """Return how far the nodes of these split cells (c,) are at most from their positions when merged."""
    places, known = _continued(resolutions, now, place)
    keys = resolutions.place_key[cells]
    merged = np.einsum("pk,ckv->cpv", IN_CELL, places[resolutions.cell_key[cells]])
    away = np.sqrt(((places[keys] - merged) ** 2).sum(axis=2))
    worst: Floats = np.where(known[keys], away, 0.0).max(axis=1)
    return worst

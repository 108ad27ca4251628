"""Splitting and merging cells of a soft body (Guy and Debunne 2004, §5.2, §5.5).

A cell is split as soon as a collision is probable, so that the model is fine when the surfaces meet. It is merged when no collision
has been probable for some time (or only old ones, between bodies at rest), and when its surface would not visibly move: every node
of its parts is at its place in the merged cell, within a small share of an edge. Both together keep cells from splitting and
merging repeatedly. A cell that would visibly move is tested again after half the time.

New nodes get the cell's position and velocity (trilinear), so that a split moves no point of the surface, and a merge moves none
farther than its nodes were off. Mass is redistributed, its sum stays; a common velocity and a spin of the whole body restore
momentum and angular momentum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Bools, Floats
from jostle.shapes.mass import cross
from jostle.sim.lattice import Lattice
from jostle.sim.resolutions import BEYOND, IN_CELL, Resolutions, keys_of, number_of_keys, with_split

MERGED_WITHIN = 0.02  # of a cell's edge: largest deviation of its nodes when its parts are merged
MERGED_TOGETHER = 0.1  # least share of the split cells to merge: one by one would rebuild the lattice in every step


class Cells(NamedTuple):
    """The present cells of a body."""

    split: Bools  # (c,)
    quiet: Floats  # (c,) seconds for which no collision has been probable
    lattice: Lattice


def whole_cells(resolutions: Resolutions) -> Cells:
    """Return the cells of a body, none of them split."""
    count = len(resolutions.coarse.cell)
    return Cells(np.zeros(count, bool), np.zeros(count), resolutions.coarse)


def cells_with_faces(resolutions: Resolutions, faces: Bools) -> Bools:
    """Return which cells (c,) one of these faces (f,) passes."""
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
        split[ready] = _merge_error(resolutions, now, place, ready) > MERGED_WITHIN * now.lattice.edge
        quiet[ready] *= 0.5  # cells that would visibly move are not tested in every step
    same = bool((split == now.split).all())
    return Cells(split, quiet, now.lattice if same else with_split(resolutions, split))


def carried_over(resolutions: Resolutions, old: Cells, new: Cells, place: Floats, velocity: Floats) -> tuple[Floats, Floats]:
    """Return positions and velocities of the new lattice's nodes."""
    values, known = _values_by_key(resolutions, old, np.concatenate([place, velocity], axis=1))
    began = new.split & ~old.split
    keys = resolutions.place_key[began].ravel()
    inside = np.einsum("pk,ckv->cpv", IN_CELL, values[resolutions.cell_key[began]]).reshape(-1, 6)
    fresh = ~known[keys]
    values[keys[fresh]] = inside[fresh]
    found = values[keys_of(new.lattice, resolutions.grid)]
    tied = new.lattice.tied
    found[tied] = (new.lattice.tied_by[:, :, None] * found[new.lattice.tied_to]).sum(axis=1)
    return found[:, :3].copy(), found[:, 3:].copy()


def with_momentum_of(before: tuple[Floats, Floats, Floats], place: Floats, velocity: Floats, mass: Floats) -> Floats:
    """Return velocities that keep the momenta of the nodes before.

    `before` is (mass, place, velocity).
    """
    total = mass.sum()
    middle = (mass[:, None] * place).sum(axis=0) / total
    momentum, turning = _momenta(*before, middle)
    own, own_turning = _momenta(mass, place, velocity, middle)
    arm = place - middle
    square = (mass[:, None] * arm**2).sum(axis=0)
    x, y, z = arm.T
    xy, yz, zx = -(mass * x * y).sum(), -(mass * y * z).sum(), -(mass * z * x).sum()
    inertia = np.array([[square[1] + square[2], xy, zx], [xy, square[2] + square[0], yz], [zx, yz, square[0] + square[1]]])
    # The common velocity has no angular momentum about the middle, and the spin no momentum.
    spin = np.linalg.solve(inertia, turning - own_turning)
    return velocity + ((momentum - own) / total + cross(spin, arm))


def _momenta(mass: Floats, place: Floats, velocity: Floats, middle: Floats) -> tuple[Floats, Floats]:
    """Return momentum, and angular momentum about a point."""
    momentum = mass[:, None] * velocity
    return momentum.sum(axis=0), cross(place - middle, momentum).sum(axis=0)


def _values_by_key(resolutions: Resolutions, now: Cells, values: Floats) -> tuple[Floats, Bools]:
    """Return values (n,k) of nodes by key, and which keys have one.

    Corners of split cells that are no nodes now get values too.
    """
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


def _merge_error(resolutions: Resolutions, now: Cells, place: Floats, cells: Bools) -> Floats:
    """Return how far the nodes of split cells (c,) are from their merged positions."""
    places, known = _values_by_key(resolutions, now, place)
    keys = resolutions.place_key[cells]
    merged = np.einsum("pk,ckv->cpv", IN_CELL, places[resolutions.cell_key[cells]])
    away = np.sqrt(((places[keys] - merged) ** 2).sum(axis=2))
    return np.where(known[keys], away, 0.0).max(axis=1)

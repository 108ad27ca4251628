"""Rays against an analytic surface (§5, end of "The Voxmap").

The surface is a formula, or any object that returns where a ray crosses it. The rays are those of `ray_casting.py`, so
the same kernel fills the map: crossings alternate between in and out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jostle._types import Floats
from jostle.errors import InputError
from jostle.methods.voxmap.map import Lattice
from jostle.methods.voxmap.progress import Share
from jostle.methods.voxmap.ray_casting import Crossings, no_crossings, other_axes
from jostle.shapes.analytic import ManyRays, RaySurface

RAYS_AT_ONCE = 1 << 16


def crossings_of_surface(surface: RaySurface, lattice: Lattice, axis: int, progress: Share | None = None) -> Crossings:
    """Return the crossings of all rays along an axis, sorted within each ray."""
    starts = no_crossings(lattice, axis)
    count = len(starts) - 2
    all_positions, all_signs = [], []
    for begin in range(0, count, RAYS_AT_ONCE):
        rays = np.arange(begin, min(begin + RAYS_AT_ONCE, count))
        rows = _crossings_of_rays(surface, lattice, axis, rays)
        found = ~np.isnan(rows)
        numbers = found.sum(axis=1)
        if (numbers % 2).any():
            first = int(np.argmax(numbers % 2))
            raise InputError(
                f"{surface!r} gave {numbers[first]} crossings for a ray along axis {axis}; a solid is left as often as entered"
            )
        starts[begin + 1 : begin + 1 + len(rays)] = numbers
        all_positions.append(rows[found])
        all_signs.append(np.where(np.arange(rows.shape[1]) % 2 == 0, 1, -1)[None].repeat(len(rows), axis=0)[found])
        if progress is not None:
            progress((begin + len(rays)) / count)
    np.cumsum(starts, out=starts)
    along = (np.concatenate(all_positions) - lattice.origin[axis]) / lattice.voxel
    positions = np.clip(along, 0.0, float(lattice.cells[axis]))
    return Crossings(starts, positions, np.concatenate(all_signs).astype(np.int8))


def _crossings_of_rays(surface: RaySurface, lattice: Lattice, axis: int, rays: NDArray[np.int64]) -> Floats:
    """Return (n, 2 k) crossings; NaN pads rows and rays beyond the lattice."""
    u, v = other_axes(axis)
    tile_v, tile_u = np.divmod(rays >> 4, lattice.blocks[u])
    i, j = 4 * tile_u + (rays & 3), 4 * tile_v + ((rays >> 2) & 3)
    within = (i < lattice.cells[u]) & (j < lattice.cells[v])
    at_u = lattice.origin[u] + lattice.voxel * (i[within] + 0.5)
    at_v = lattice.origin[v] + lattice.voxel * (j[within] + 0.5)
    if isinstance(surface, ManyRays):
        found = _as_numbers(surface.crossings_of_rays(axis, at_u, at_v), surface, (len(at_u), None))
    else:
        lists = [
            _as_numbers(surface.crossings(axis, *at), surface, (None,)) for at in zip(at_u.tolist(), at_v.tolist(), strict=True)
        ]
        found = np.full((len(lists), max((len(each) for each in lists), default=0)), np.nan)
        for row, each in zip(found, lists, strict=True):
            row[: len(each)] = each
    rows = np.full((len(rays), found.shape[1]), np.nan)
    rows[within] = found
    return rows


def _as_numbers(given: ArrayLike, surface: RaySurface | ManyRays, shape: tuple[int | None, ...]) -> Floats:
    """Return a surface's answer as an array of this shape, None for any length."""
    try:
        numbers = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(())
    if numbers.ndim != len(shape) or any(want not in (None, have) for want, have in zip(shape, numbers.shape, strict=True)):
        wanted = "a list of numbers" if len(shape) == 1 else f"an array ({shape[0]}, 2 k), a row for each ray"
        what = f"an array of shape {given.shape}" if isinstance(given, np.ndarray) else repr(given)
        raise InputError(f"{surface!r} gave {what} as the crossings of rays; it must be {wanted}")
    return numbers

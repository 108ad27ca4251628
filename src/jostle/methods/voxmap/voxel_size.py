"""From the accuracy to the edge of a voxel.

A shell point lies within s/2 of its body (s = v/√2 is the edge of a voxel of the shell map, and the ray through the centre
meets the body inside the voxel); a point of a filled voxel lies within √1.5·v of the body. So a hit of two bodies with voxels
of at most v is never farther than (√1.5 + √(1/8))·v = 1.578 v apart, and nothing is missed that overlaps by more than √2.5·v =
1.581 v (README): `REACH` covers both. With `surface_only` a shell point is within √(3/8)·v of a face and a filled voxel was
grown by as much on each side: a hit is at most √3·(1 + √(3/8))·v + √(3/8)·v = 3.405 v away, and faces that share a point are
never missed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError

if TYPE_CHECKING:
    from jostle.methods.voxmap.method import Voxmap
    from jostle.shapes.mesh import Mesh

REACH = math.sqrt(2.5)
"""Solids: the accuracy in map voxels."""
SURFACE_GROWTH = math.sqrt(3.0 / 8.0)
"""Surfaces: growth of a map voxel on each side before faces are tested: half a shell voxel's diagonal."""
SURFACE_REACH = math.sqrt(3.0) * (1.0 + SURFACE_GROWTH) + SURFACE_GROWTH
"""Surfaces: the accuracy in map voxels."""
SHELL_SHARE = math.sqrt(0.5)
"""Edge of a voxel of the shell map, in map voxels."""


def reach_of(settings: Voxmap) -> float:
    """Return the accuracy in map voxels."""
    return SURFACE_REACH if settings.surface_only else REACH


def solid_bounds(mesh: Mesh) -> Floats:
    """Return the (2, 3) box of the analytic surface, or of the mesh if it has none."""
    if mesh.analytic is None:
        return mesh.bounds
    given = mesh.analytic.bounds
    try:
        bounds = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        bounds = np.empty(0)
    if bounds.shape != (2, 3) or not (np.abs(bounds) <= cast.LARGEST_COORDINATE).all() or not (bounds[0] <= bounds[1]).all():
        raise InputError(
            f"mesh {mesh.name!r}: the bounds of its analytic surface are {given!r}; "
            "pass (2, 3) finite numbers, the lowest corner first"
        )
    return bounds


def voxel_edge(mesh: Mesh, settings: Voxmap) -> float:
    """Return the edge of a map voxel in body units, from `accuracy` or from `across`."""
    if settings.accuracy is not None:
        return settings.accuracy / reach_of(settings)
    lower, upper = solid_bounds(mesh)
    longest = float((upper - lower).max())
    if longest == 0.0:
        raise InputError(f"mesh {mesh.name!r}: all vertices are one point; there is nothing to divide into voxels; pass accuracy=…")
    return longest / settings.across


def ray_axis(mesh: Mesh, settings: Voxmap) -> int:
    """Return the axis of the rays, by default the shortest edge of the box.

    No plate hides between such rays. The longest edge would take fewer rays, but their number hardly matters (70,000 faces at
    256³: a map in 12 ms).
    """
    if settings.axis is not None:
        return settings.axis
    lower, upper = solid_bounds(mesh)
    return int(np.argmin(upper - lower))

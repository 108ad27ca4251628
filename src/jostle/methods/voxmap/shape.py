"""The prepared shape: the voxmap, the point shell, its normals, the deep points and the distance band of one mesh.

`prepare` is §5 of Lock and Wills in order: cast rays for the voxmap (`ray_casting.py`, `map.py`), cast them again for a map
that is finer by √2, take its surface voxels (`surface.py`) and their centres (`shell.py`). Beyond the paper: one deep point for
each part of the inside (`deep_points.py`), so that a body wholly inside another is found; feet and normals (`normals.py`) and
signed distances near the surface (`distance_band.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.interface.method import Progress
from jostle.methods.voxmap.analytic_rays import crossings_of_surface
from jostle.methods.voxmap.deep_points import deep_points
from jostle.methods.voxmap.distance_band import distance_band, near_words
from jostle.methods.voxmap.face_voxels import voxels_of_faces
from jostle.methods.voxmap.leaks import check_closed, refuse_empty
from jostle.methods.voxmap.map import Lattice, Words, lattice_of
from jostle.methods.voxmap.memory import check_memory
from jostle.methods.voxmap.normals import feet_and_normals
from jostle.methods.voxmap.ray_casting import crossings_of_faces, filled_between
from jostle.methods.voxmap.shell import Shell, shell_of
from jostle.methods.voxmap.surface import surface_words
from jostle.methods.voxmap.voxel_size import (
    SHELL_SHARE,
    SURFACE_GROWTH,
    VoxelSettings,
    ray_axis,
    solid_bounds,
    voxel_edge,
)
from jostle.shapes.mesh import Mesh

EMPTY = 1e-9  # voxels: a way inside the solid that is no longer is rounding


class VoxelShape(NamedTuple):
    """What is kept of a mesh. All arrays are C-contiguous; lengths in the mesh's units.

    The word of voxel (x, y, z) is ``((z >> 2) * by + (y >> 2)) * bx + (x >> 2)`` with bx = (cells[0] + 3) >> 2 and so on, its bit
    ``((z & 3) << 4) | ((y & 3) << 2) | (x & 3)``; bits beyond `cells` are 0.
    """

    voxel: float  # edge of a map voxel
    origin: Floats  # (3,) lower corner of the map
    cells: NDArray[np.int64]  # (3,) voxels along x, y, z
    words: NDArray[np.uint64]  # (bz * by * bx,) one bit for each voxel, 4 x 4 x 4 to the word
    middle: Floats  # (3,) middle of the box of the shell points
    points: NDArray[np.float32]  # (n, 3) shell points relative to `middle`, in Morton order
    feet: NDArray[np.float32]  # (n, 3) the nearest points of the surface to them, relative to `middle`
    normals: NDArray[np.float32]  # (n, 3) unit outward normals at the feet
    deep: Floats  # (k, 3) a point deep inside each part of the inside
    radius: float  # of the ball about `middle` that holds every shell point, filled voxel and vertex
    band_first: NDArray[np.int32]  # see distance_band.py; empty without depth
    band_values: NDArray[np.int16]
    band_step: float  # length that one unit of band_values stands for
    near: NDArray[np.uint64]  # bits of the voxels, on the band's lattice, where a point may lie whose foot is inside; or empty


def prepare(mesh: Mesh, settings: VoxelSettings, progress: Progress | None = None) -> VoxelShape:
    """Return the prepared shape of a mesh.

    Parameters
    ----------
    mesh : Mesh
        Closed, unless it has an analytic surface or the settings say `surface_only`.
    settings : VoxelSettings
        Accuracy or voxels across, axis of the rays, memory, depth.
    progress : callable, optional
        Called with the share done and the stage.

    Raises
    ------
    InputError
        For an open mesh, one without an inside that a ray meets, or a map that does not fit in the memory allowed.
    """
    voxel = voxel_edge(mesh, settings)
    if not settings.surface_only and mesh.analytic is None:
        check_closed(mesh)
    check_memory(mesh, settings)
    if settings.surface_only:
        lattice, words, shell = _of_faces(mesh, voxel, progress)
        deep = np.zeros((0, 3))
    else:
        lattice, words, shell = _of_solid(mesh, voxel, settings, progress)
        deep = deep_points(words, lattice, _stage(progress, 0.25, 0.3, "deep points"))
    feet, normals = feet_and_normals(mesh, shell.points, shell.middle, voxel * SHELL_SHARE, _rescaled(progress, 0.3, 0.6))
    if settings.depth and not settings.surface_only:
        band = distance_band(mesh, voxel, lattice.origin, lattice.cells, words, _rescaled(progress, 0.6, 1.0))
        # The faces of an analytic shape are not its surface: what hits is decided by its voxels alone.
        near = near_words(band[0], band[1], lattice.cells) if mesh.analytic is None else np.zeros(0, np.uint64)
    else:
        band, near = (np.zeros(0, np.int32), np.zeros((0, 512), np.int16), 0.0), np.zeros(0, np.uint64)
    if progress is not None:
        progress(1.0, "prepared")
    radius = radius_of(mesh, shell.middle, voxel, settings)
    return VoxelShape(
        voxel, lattice.origin, lattice.cells, words, shell.middle, shell.points, feet, normals, deep, radius, *band, near
    )


def _of_solid(mesh: Mesh, voxel: float, settings: VoxelSettings, progress: Progress | None) -> tuple[Lattice, Words, Shell]:
    """Cast rays for the map and for the shell's map, and take the surface voxels of the latter."""
    bounds, axis = solid_bounds(mesh), ray_axis(mesh, settings)
    lattice, words = _cast(mesh, lattice_of(bounds, voxel), axis, settings, _stage(progress, 0.0, 0.08, "rays of the map"))
    fine, fine_words = _cast(
        mesh, lattice_of(bounds, voxel * SHELL_SHARE), axis, settings, _stage(progress, 0.08, 0.18, "rays of the shell")
    )
    shell = shell_of(*surface_words(fine_words, fine, _stage(progress, 0.18, 0.25, "surface voxels")), fine)
    return lattice, words, shell


def _cast(
    mesh: Mesh, lattice: Lattice, axis: int, settings: VoxelSettings, progress: Callable[[float], None] | None
) -> tuple[Lattice, Words]:
    if mesh.analytic is None:
        crossings = crossings_of_faces(mesh.vertices, mesh.faces, lattice, axis, progress)
    else:
        crossings = crossings_of_surface(mesh.analytic, lattice, axis, progress)
    words, longest_inside = filled_between(crossings, lattice, axis)
    if longest_inside <= EMPTY:
        refuse_empty(mesh, lattice.voxel, axis, settings)
    return lattice, words


def _of_faces(mesh: Mesh, voxel: float, progress: Progress | None) -> tuple[Lattice, Words, Shell]:
    """Fill the voxels near faces; the shell is the centres of all voxels of the finer map that faces meet."""
    lattice = lattice_of(mesh.bounds, voxel, margin=1)
    step = _stage(progress, 0.0, 0.1, "faces of the map")
    words = voxels_of_faces(mesh.vertices, mesh.faces, lattice, SURFACE_GROWTH, step)
    fine = lattice_of(mesh.bounds, voxel * SHELL_SHARE)
    fine_words = voxels_of_faces(mesh.vertices, mesh.faces, fine, 0.0, _stage(progress, 0.1, 0.25, "faces of the shell"))
    places = np.flatnonzero(fine_words)
    return lattice, words, shell_of(places, fine_words[places], fine)


def radius_of(mesh: Mesh, middle: Floats, voxel: float, settings: VoxelSettings) -> float:
    """Return the radius about the shell's middle of all vertices, of the analytic surface, and of any filled voxel about them."""
    beyond = math.sqrt(3.0) * (1.0 + SURFACE_GROWTH) if settings.surface_only else math.sqrt(1.5)
    farthest = float(np.sqrt(((mesh.vertices[mesh.faces.ravel()] - middle) ** 2).sum(axis=1).max()))
    if mesh.analytic is not None and hasattr(mesh.analytic, "farthest_from"):
        farthest = max(farthest, float(mesh.analytic.farthest_from(middle)))
    elif mesh.analytic is not None:
        lower, upper = solid_bounds(mesh)
        farthest = max(farthest, float(np.linalg.norm(np.maximum(np.abs(lower - middle), np.abs(upper - middle)))))
    return (farthest + beyond * voxel) * (1.0 + 1e-6)


def _stage(progress: Progress | None, begin: float, end: float, what: str) -> Callable[[float], None] | None:
    """Return a callable that turns the share of a stage into that of the whole."""
    if progress is None:
        return None
    return lambda share: progress(begin + share * (end - begin), what)


def _rescaled(progress: Progress | None, begin: float, end: float) -> Progress | None:
    """Return a progress of which 0 … 1 is begin … end of the whole."""
    if progress is None:
        return None
    return lambda share, what: progress(begin + share * (end - begin), what)

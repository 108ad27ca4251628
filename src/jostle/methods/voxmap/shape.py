"""The prepared shape: voxmap, point shell, normals, deep points and distance band.

`prepare` follows Lock and Wills §5: cast rays for the voxmap (`ray_casting.py`, `map.py`), cast them again for a map
that is finer by √2, take its surface voxels (`surface.py`) and their centres (`shell.py`). Beyond the paper: one deep point for
each part of the inside (`deep_points.py`), so that a body wholly inside another is found; feet and normals (`normals.py`) and
signed distances near the surface (`distance_band.py`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.interface.method import Progress
from jostle.methods.voxmap.analytic_rays import crossings_of_surface
from jostle.methods.voxmap.deep_points import deep_points
from jostle.methods.voxmap.distance_band import UNITS, distance_band, near_words
from jostle.methods.voxmap.face_voxels import voxels_of_faces
from jostle.methods.voxmap.leaks import check_closed, refuse_empty
from jostle.methods.voxmap.map import Lattice, Words, lattice_of
from jostle.methods.voxmap.memory import check_memory, check_size
from jostle.methods.voxmap.normals import feet_and_normals
from jostle.methods.voxmap.progress import Share, stage_of
from jostle.methods.voxmap.ray_casting import crossings_of_faces, filled_between
from jostle.methods.voxmap.shell import Shell, shell_of
from jostle.methods.voxmap.surface import surface_words
from jostle.methods.voxmap.voxel_size import SHELL_SHARE, SURFACE_GROWTH, ray_axis, solid_bounds, voxel_edge
from jostle.shapes.mesh import Mesh

if TYPE_CHECKING:
    from jostle.methods.voxmap.method import Voxmap

EMPTY = 1e-9  # voxels: a shorter path inside the solid is rounding


class VoxelShape(NamedTuple):
    """The data kept of a mesh; lengths are in the mesh's units.

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
    radius: float  # of a ball about `middle` that holds all shell points, filled voxels and vertices
    band_first: NDArray[np.int32]  # see distance_band.py; empty without depth
    band_values: NDArray[np.int16]
    band_step: float  # length that one unit of band_values stands for
    near: NDArray[np.uint64]  # bits of voxels, on the band's lattice, with points whose foot may be inside; or empty


def prepare(mesh: Mesh, settings: Voxmap, progress: Progress | None = None) -> VoxelShape:
    """Return the prepared shape of a mesh.

    Parameters
    ----------
    mesh : Mesh
        Closed, unless it has an analytic surface or the settings say `surface_only`.
    settings : Voxmap
    progress : callable, optional
        Called with the share done and the stage.

    Raises
    ------
    InputError
        For an open mesh, one without an inside that a ray meets, or a map that does not fit in the memory allowed.
    """
    check_mesh(mesh, settings)
    lattice = map_lattice(mesh, settings)
    if settings.surface_only:
        words, shell = _voxelise_faces(mesh, lattice, progress)
        deep = np.zeros((0, 3))
    else:
        words, shell = _voxelise_solid(mesh, lattice, settings, progress)
        deep = deep_points(words, lattice, stage_of(progress, 0.25, 0.3, "deep points"))
    stage = stage_of(progress, 0.3, 0.6, f"normals of {mesh.name}")
    feet, normals = feet_and_normals(mesh, shell.points, shell.middle, lattice.voxel * SHELL_SHARE, stage)
    band = np.zeros(0, np.int32), np.zeros((0, 512), np.int16)
    if settings.depth and not settings.surface_only:
        band = distance_band(mesh, lattice, words, stage_of(progress, 0.6, 1.0, f"distances to {mesh.name}"))
    if progress is not None:
        progress(1.0, "prepared")
    return assembled_shape(mesh, settings, lattice, words, shell, feet, normals, deep, *band)


def check_mesh(mesh: Mesh, settings: Voxmap) -> None:
    """Raise for a mesh too large for the settings, or open where a solid is needed."""
    check_memory(mesh, settings)  # first: its message has the bytes of a map that is far too large
    check_size(mesh, settings)
    if not settings.surface_only and mesh.analytic is None:
        check_closed(mesh)


def map_lattice(mesh: Mesh, settings: Voxmap) -> Lattice:
    """Return the lattice of the map of a mesh."""
    voxel = voxel_edge(mesh, settings)
    return lattice_of(mesh.bounds, voxel, margin=1) if settings.surface_only else lattice_of(solid_bounds(mesh), voxel)


def assembled_shape(
    mesh: Mesh, settings: Voxmap, lattice: Lattice, words: Words, shell: Shell, feet: NDArray[np.float32],
    normals: NDArray[np.float32], deep: Floats, band_first: NDArray[np.int32], band_values: NDArray[np.int16],
) -> VoxelShape:  # fmt: skip
    """Return a shape from its map, shell, deep points and band."""
    banded = len(band_first) > 0
    # The faces of an analytic shape are not its surface: its voxels alone decide what hits.
    near = near_words(band_first, band_values, lattice.cells) if banded and mesh.analytic is None else np.zeros(0, np.uint64)
    radius = radius_of(mesh, shell.middle, lattice.voxel, settings)
    return VoxelShape(
        lattice.voxel, lattice.origin, lattice.cells, words, shell.middle, shell.points, feet, normals, deep, radius,
        band_first, band_values, lattice.voxel / UNITS if banded else 0.0, near,
    )  # fmt: skip


def _voxelise_solid(mesh: Mesh, lattice: Lattice, settings: Voxmap, progress: Progress | None) -> tuple[Words, Shell]:
    """Cast rays for the map and for a finer one; the latter's surface is the shell."""
    axis, fine = ray_axis(mesh, settings), lattice_of(solid_bounds(mesh), lattice.voxel * SHELL_SHARE)
    words = _cast(mesh, lattice, axis, settings, stage_of(progress, 0.0, 0.08, "rays of the map"))
    fine_words = _cast(mesh, fine, axis, settings, stage_of(progress, 0.08, 0.18, "rays of the shell"))
    return words, shell_of(*surface_words(fine_words, fine, stage_of(progress, 0.18, 0.25, "surface voxels")), fine)


def _cast(mesh: Mesh, lattice: Lattice, axis: int, settings: Voxmap, progress: Share | None) -> Words:
    if mesh.analytic is None:
        crossings = crossings_of_faces(mesh.vertices, mesh.faces, lattice, axis, progress)
    else:
        crossings = crossings_of_surface(mesh.analytic, lattice, axis, progress)
    words, longest_inside = filled_between(crossings, lattice, axis)
    if longest_inside <= EMPTY:
        refuse_empty(mesh, lattice.voxel, axis, settings)
    return words


def _voxelise_faces(mesh: Mesh, lattice: Lattice, progress: Progress | None) -> tuple[Words, Shell]:
    """Fill the voxels near faces; the shell is a finer map of the faces."""
    stage = stage_of(progress, 0.0, 0.1, "faces of the map")
    words = voxels_of_faces(mesh.vertices, mesh.faces, lattice, SURFACE_GROWTH, stage)
    fine = lattice_of(mesh.bounds, lattice.voxel * SHELL_SHARE)
    fine_words = voxels_of_faces(mesh.vertices, mesh.faces, fine, 0.0, stage_of(progress, 0.1, 0.25, "faces of the shell"))
    places = np.flatnonzero(fine_words)
    return words, shell_of(places, fine_words[places], fine)


def radius_of(mesh: Mesh, middle: Floats, voxel: float, settings: Voxmap) -> float:
    """Return the radius of a ball about the shell's middle that holds the body.

    It holds all vertices, the analytic surface, and every filled voxel about them.
    """
    beyond = math.sqrt(3.0) * (1.0 + SURFACE_GROWTH) if settings.surface_only else math.sqrt(1.5)
    farthest = float(np.sqrt(((mesh.vertices[mesh.faces.ravel()] - middle) ** 2).sum(axis=1).max()))
    if mesh.analytic is not None and hasattr(mesh.analytic, "farthest_from"):
        farthest = max(farthest, float(mesh.analytic.farthest_from(middle)))
    elif mesh.analytic is not None:
        lower, upper = solid_bounds(mesh)
        farthest = max(farthest, float(np.linalg.norm(np.maximum(np.abs(lower - middle), np.abs(upper - middle)))))
    return (farthest + beyond * voxel) * (1.0 + 1e-6)

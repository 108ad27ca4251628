"""The memory for preparing a shape, checked before anything is allocated.

Counted are the map, the map of the shell (√8 times as large, dropped afterwards), rays and crossings, shell points with
normals, the scratch of the deep points, and the distance band. Parts that grow with the surface are estimated from the area of
the faces. Not counted is what grows with the number of faces, the same at every accuracy: about 800 bytes each while normals are
made (measured: 63 MB for 82,000 faces).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from jostle._types import Floats
from jostle.errors import InputError
from jostle.methods.voxmap.look_up import MOST_ACROSS
from jostle.methods.voxmap.voxel_size import SHELL_SHARE, reach_of, solid_bounds, voxel_edge

if TYPE_CHECKING:
    from jostle.methods.voxmap.method import Voxmap
    from jostle.shapes.mesh import Mesh

RAY_BYTES = 8 + 4 * 9  # where its crossings start, and four crossings
POINT_BYTES = 36 + 8  # point, foot and normal, and its share of the list of words
POINTS_PER_SQUARE = 1.6  # shell points for each square of the shell voxel's edge (measured: 1.5 on spheres)
DEEP_BYTES = 16  # for each word: interior voxels, nodes, parents
BAND_BYTES_PER_SQUARE = 75  # for each square of the voxel's edge, scratch included
BAND_BYTES_PER_BLOCK = 4 + 64  # its number, and the bits of voxels near the surface
LARGEST_MAP = 2**31 - 2  # words: the search for components numbers them in 32 bits


def needed_bytes(extent: Floats, area: float, voxel: float, depth: bool, surface_only: bool) -> tuple[float, float]:
    """Return the bytes of the map alone, and the peak of its preparation.

    extent (3,) is the size of the box.
    """
    margin = 2.0 if surface_only else 0.0
    words = _words(extent / voxel + margin)
    shell_words = _words(extent / (voxel * SHELL_SHARE))
    cells = np.sort(extent / voxel + margin + 4.0)
    rays = float(cells[1] * cells[2]) * RAY_BYTES
    squares = area / voxel / voxel  # the square of a tiny voxel is 0
    points = POINTS_PER_SQUARE * (3.0 if surface_only else 1.0) * squares / SHELL_SHARE**2 * POINT_BYTES
    band = 0.0
    if depth and not surface_only:
        band = BAND_BYTES_PER_SQUARE * squares + BAND_BYTES_PER_BLOCK * float(np.prod(extent / voxel / 8.0 + 3.0))
    casting = 8.0 * (words + shell_words) + rays / SHELL_SHARE**2
    return 8.0 * words, max(casting + points, 8.0 * words + points + max(DEEP_BYTES * words, band))


def _words(cells: Floats) -> float:
    return float(np.prod(np.ceil(np.maximum(np.ceil(cells), 1.0) / 4.0)))


def surface_area(mesh: Mesh) -> float:
    """Return the area of all faces."""
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    return float(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum())


def check_memory(mesh: Mesh, settings: Voxmap) -> None:
    """Raise for a mesh that needs more memory than allowed, with what would fit."""
    lower, upper = solid_bounds(mesh)
    extent, area = upper - lower, surface_area(mesh)
    voxel = voxel_edge(mesh, settings)

    def needed(voxel: float) -> tuple[float, float]:
        with np.errstate(over="ignore"):
            return needed_bytes(extent, area, voxel, settings.depth, settings.surface_only)

    def fits(voxel: float) -> bool:
        map_bytes, all_bytes = needed(voxel)
        return all_bytes <= settings.memory and map_bytes <= 8.0 * LARGEST_MAP

    if fits(voxel):
        return
    map_bytes, all_bytes = needed(voxel)
    coarsest = float(extent.max())
    owner = f"mesh {mesh.name!r}: at this accuracy the map has voxels of {voxel:.4g} and takes {_readable(map_bytes)}"
    problem = f"{owner}, its preparation {_readable(all_bytes)} in all; memory is {_readable(settings.memory)}"
    if not fits(coarsest):
        raise InputError(f"{problem}, which is too little for any map; pass a larger memory")
    low, high = max(voxel, coarsest / MOST_ACROSS), coarsest
    if fits(low):
        high = low
    while high > 1.001 * low:
        between = math.sqrt(low * high)
        low, high = (low, between) if fits(between) else (between, high)
    accuracy, across = rounded_up(high * reach_of(settings)), math.floor(coarsest / high)
    raise InputError(f"{problem}. accuracy={accuracy:g} (or across={across}) fits; or pass a larger memory")


def check_size(mesh: Mesh, settings: Voxmap) -> None:
    """Raise for a map too long for float32 to separate its voxels."""
    lower, upper = solid_bounds(mesh)
    longest, voxel = float((upper - lower).max()), voxel_edge(mesh, settings)
    if longest > MOST_ACROSS * voxel:
        fits = rounded_up(longest / MOST_ACROSS * reach_of(settings))
        raise InputError(
            f"mesh {mesh.name!r}: with accuracy {settings.accuracy:g} its map would be {longest / voxel:.0f} voxels long; "
            f"at most {MOST_ACROSS} can be told apart: pass accuracy={fits:g} or coarser, or cut the mesh into pieces"
        )


def rounded_up(value: float) -> float:
    """Return a value rounded up to three digits."""
    scale = 10.0 ** (math.floor(math.log10(value)) - 2)
    return math.ceil(value / scale) * scale


def _readable(count: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count:.0f} bytes ({count / size:.3g} {unit})" if count < 1e15 else f"{count:.3g} bytes"
    return f"{count:.0f} bytes"

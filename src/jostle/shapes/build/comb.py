"""The comb of Baciu, Wong, Sun 1998 (§5.3): a row of equal cones on a bar.

`comb` is one closed surface, a bar with cones on top; `comb_cones` returns the same cones as separate convex meshes. The tips are
the highest points, so two facing combs first touch in exactly one point per cone.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from jostle import cast
from jostle.errors import InputError
from jostle.shapes.build.primitives import cone
from jostle.shapes.build.rings import circle, fan, strip
from jostle.shapes.build.spheres import positive
from jostle.shapes.mesh import Mesh


def comb(
    cones: int = 5,
    segments: int = 24,
    rings: int = 1,
    radius: float = 0.1,
    height: float = 0.5,
    pitch: float = 0.25,
    bar: float = 0.1,
) -> Mesh:
    """Return a comb along x: cones on a bar, tips up (+z), centred in x and y.

    The top of the bar is at z = 0.

    The mesh has cones * (2 * segments * rings + 10) + 4 faces.

    Parameters
    ----------
    cones : int
        Number of cones.
    segments : int
        Points around each cone, a multiple of 4.
    rings : int
        Rings of points on the side of each cone; more rings give more faces on the same shape.
    radius, height : float
        Of each cone.
    pitch : float
        Distance between the axes of neighbouring cones and width of the bar; more than 2 * radius.
    bar : float
        Height of the bar.
    """
    cones, segments, rings = _checked(cones, segments, rings, radius, height, pitch)
    bar = positive(bar, "bar")
    x = pitch * (np.arange(cones + 1) - cones / 2.0)
    half = pitch / 2.0
    # Rails: the four long edges of the bar, cut at the borders between cones.
    rails = [np.stack([x, np.full_like(x, y), np.full_like(x, z)], axis=1) for z in (0.0, -bar) for y in (-half, half)]
    front, back, front_below, back_below = np.arange(4 * (cones + 1)).reshape(4, -1)
    vertices, faces = list(rails), []
    count = 4 * (cones + 1)
    for k in range(cones):
        corners = (back[k + 1], back[k], front[k], front[k + 1])  # at 45°, 135°, 225°, 315° about the axis
        centre = np.array([(x[k] + x[k + 1]) / 2.0, 0.0, 0.0])
        levels = [circle(segments, radius * (1.0 - r / rings), height * r / rings) + centre for r in range(rings)]
        tip = count + rings * segments
        indices = np.arange(count, tip).reshape(rings, segments)
        vertices += [*levels, centre[None] + np.array([0.0, 0.0, height])]
        count = tip + 1
        faces += [strip(lower, upper) for lower, upper in pairwise(indices)]
        faces += [fan(tip, indices[-1]), _square_around(indices[0], corners)]
        faces.append(_quad(front_below[k], front_below[k + 1], front[k + 1], front[k]))
        faces.append(_quad(back[k], back[k + 1], back_below[k + 1], back_below[k]))
        faces.append(_quad(back_below[k], back_below[k + 1], front_below[k + 1], front_below[k]))
    faces.append(_quad(back[0], back_below[0], front_below[0], front[0]))
    faces.append(_quad(front[-1], front_below[-1], back_below[-1], back[-1]))
    return Mesh(np.vstack(vertices), np.vstack(faces), name=f"comb of {cones} cones")


def comb_cones(cones: int = 5, segments: int = 24, radius: float = 0.1, height: float = 0.5, pitch: float = 0.25) -> list[Mesh]:
    """Return the cones of `comb` as closed convex meshes, in place.

    Each has 2 * segments faces.
    """
    cones, segments, _ = _checked(cones, segments, 1, radius, height, pitch)
    single = cone(segments, radius, height)
    places = pitch * (np.arange(cones) - (cones - 1) / 2.0)
    return [Mesh(single.vertices + np.array([x, 0.0, 0.0]), single.faces, name=f"cone {k} of a comb") for k, x in enumerate(places)]


def _checked(cones: int, segments: int, rings: int, radius: float, height: float, pitch: float) -> tuple[int, int, int]:
    if cast.as_count(segments, "segments", lowest=4) % 4:
        raise InputError(f"segments is {segments}; it must be a multiple of 4, so that cones fit the corners of the bar")
    positive(height, "height")
    if positive(pitch, "pitch") <= 2.0 * positive(radius, "radius"):
        raise InputError(f"pitch is {pitch}; it must exceed 2 * radius ({2.0 * radius}), or the cones would overlap")
    return cast.as_count(cones, "cones", lowest=1), segments, cast.as_count(rings, "rings", lowest=1)


def _quad(a: int, b: int, c: int, d: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.array([(a, b, c), (a, c, d)])


def _square_around(
    ring: np.ndarray[tuple[int], np.dtype[np.int64]], corners: tuple[int, ...]
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return triangles between a cone's foot and the square around it."""
    quarter = len(ring) // 4
    faces = []
    for q, corner in enumerate(corners):
        arc = np.append(ring, ring[0])[q * quarter : (q + 1) * quarter + 1]
        faces += [(corner, later, earlier) for earlier, later in pairwise(arc)]
        faces.append((corner, corners[(q + 1) % 4], arc[-1]))
    return np.array(faces)

"""Simple solids and sheets: box, plate, cloth, cones, capsule, torus, star.

Cones and truncated cones with caps are the convex shapes of Baciu, Wong, Sun 1998 (fig. 5); the stellated dodecahedron
is the concave one of Lock, Wills 2000 (fig. 2). Solids are closed and face outward; plate and cloth are open sheets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle import cast
from jostle.errors import InputError
from jostle.shapes.build.convex import with_bulging_diagonals
from jostle.shapes.build.rings import circle, lathe
from jostle.shapes.build.spheres import icosahedron, positive
from jostle.shapes.mesh import Mesh


def box(size: Sequence[float] = (1.0, 1.0, 1.0), centre: Sequence[float] = (0.0, 0.0, 0.0)) -> Mesh:
    """Return an axis-aligned box: 8 vertices, 12 faces."""
    half = np.array([positive(length, f"size[{k}]") for k, length in enumerate(size)]) / 2.0
    signs = np.array([[x, y, z] for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)], dtype=float)
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    faces = [triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]
    return Mesh(signs * half + np.asarray(centre, dtype=float), faces, name="box")


def plate(nx: int = 10, ny: int = 10, size: Sequence[float] = (1.0, 1.0)) -> Mesh:
    """Return a flat open grid of nx by ny cells in z = 0: 2 nx ny faces up."""
    nx, ny = cast.as_count(nx, "nx", lowest=1), cast.as_count(ny, "ny", lowest=1)
    width, depth = (positive(length, f"size[{k}]") for k, length in enumerate(size))
    # Dividing last keeps the grid symmetric and its end points exact.
    x = width * (np.arange(nx + 1) - nx / 2.0) / nx
    y = depth * (np.arange(ny + 1) - ny / 2.0) / ny
    vertices = np.stack([np.tile(x, ny + 1), np.repeat(y, nx + 1), np.zeros((nx + 1) * (ny + 1))], axis=1)
    corner = (np.arange(ny)[:, None] * (nx + 1) + np.arange(nx)).ravel()
    a, b, c, d = corner, corner + 1, corner + nx + 2, corner + nx + 1
    faces = np.stack([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)], axis=1).reshape(-1, 3)
    return Mesh(vertices, faces, name=f"plate of {nx} by {ny}")


def cloth(nx: int = 32, ny: int = 32, size: Sequence[float] = (1.0, 1.0), waviness: float = 0.05, seed: int = 0) -> Mesh:
    """Return a `plate` with smooth random waves in z, `waviness` widths high.

    It is a height field, so it never folds.
    """
    sheet = plate(nx, ny, size)
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    height = cast.as_number(waviness, "waviness") * size[0]
    x, y = sheet.vertices[:, 0] / size[0], sheet.vertices[:, 1] / size[1]
    z = np.zeros(len(x))
    for _ in range(6):
        kx, ky = rng.uniform(-2.0, 2.0, 2)
        z += np.cos(2.0 * np.pi * (kx * x + ky * y) + rng.uniform(0.0, 2.0 * np.pi))
    # Waves below the accepted range of coordinates are flat.
    z = np.where(np.abs(height * z) < cast.SMALLEST_COORDINATE, 0.0, height * z / np.sqrt(3.0))
    vertices = np.stack([sheet.vertices[:, 0], sheet.vertices[:, 1], z], axis=1)
    return Mesh(vertices, sheet.faces, name=f"cloth of {nx} by {ny}")


def cone(segments: int = 32, radius: float = 0.5, height: float = 1.0, face_count: int | None = None) -> Mesh:
    """Return a convex cone on z = 0, its tip on the z axis: 2 * segments faces.

    `face_count=300` asks for segments = 150. The base is a fan about its centre.
    """
    if face_count is not None:
        if cast.as_count(face_count, "face_count", lowest=6) % 2:
            raise InputError(f"face_count is {face_count}; a closed cone has an even number of faces")
        segments = face_count // 2
    segments = cast.as_count(segments, "segments", lowest=3)
    radius, height = positive(radius, "radius"), positive(height, "height")
    return lathe([(radius, 0.0)], segments, 0.0, height, f"cone of {2 * segments} faces")


def truncated_cone(
    segments: int = 24, lower_radius: float = 0.4, upper_radius: float = 0.2, height: float = 1.0, cap_rings: int = 6
) -> Mesh:
    """Return a truncated cone with spherical caps, the hull of two balls.

    It is convex and has 4 * segments * cap_rings faces.

    Parameters
    ----------
    segments, cap_rings : int
        Points around, and rings per cap (the last ring of each cap is where it meets the cone).
    lower_radius, upper_radius : float
        Of the balls.
    height : float
        From end to end along z, caps included; the lowest point is at z = 0.
    """
    segments, cap_rings = cast.as_count(segments, "segments", lowest=3), cast.as_count(cap_rings, "cap_rings", lowest=1)
    lower, upper = positive(lower_radius, "lower_radius"), positive(upper_radius, "upper_radius")
    height = positive(height, "height")
    between = height - lower - upper
    if between <= abs(lower - upper):
        raise InputError(
            f"height is {height}; it must exceed {lower + upper + abs(lower - upper)}, or one ball would hold the other"
        )
    # The cone touches both balls at the same latitude.
    lean = np.arcsin((lower - upper) / between)
    below = np.linspace(-np.pi / 2.0, lean, cap_rings + 1)[1:]
    above = np.linspace(lean, np.pi / 2.0, cap_rings + 1)[:-1]
    profile = [(lower * np.cos(a), lower + lower * np.sin(a)) for a in below]
    profile += [(upper * np.cos(a), height - upper + upper * np.sin(a)) for a in above]
    name = f"truncated cone of {4 * segments * cap_rings} faces"
    return with_bulging_diagonals(lathe(profile, segments, 0.0, height, name))


def capsule(segments: int = 24, radius: float = 0.25, height: float = 1.0, cap_rings: int = 6) -> Mesh:
    """Return a capsule along z, its lowest point at z = 0.

    It is convex and has 4 * segments * cap_rings faces.
    """
    mesh = truncated_cone(segments, radius, radius, height, cap_rings)
    return Mesh(mesh.vertices, mesh.faces, name=f"capsule of {len(mesh.faces)} faces")


def torus(major: float = 0.7, minor: float = 0.3, segments: int = 48, sides: int = 24) -> Mesh:
    """Return a torus about z with 2 * segments * sides faces.

    50 by 23 gives the 2,300 of Guy, Debunne 2004, table 1.
    """
    segments, sides = cast.as_count(segments, "segments", lowest=3), cast.as_count(sides, "sides", lowest=3)
    major, minor = positive(major, "major"), positive(minor, "minor")
    if minor >= major:
        raise InputError(f"minor is {minor}; it must be less than major ({major}), or the ring would cross itself")
    around, across = circle(segments), circle(sides)
    distance = major + minor * across[:, 0]
    x, y = ((around[:, axis, None] * distance).ravel() for axis in (0, 1))
    vertices = np.stack([x, y, np.tile(minor * across[:, 1], segments)], axis=1)
    i, j = (index.ravel() for index in np.divmod(np.arange(segments * sides), sides))
    a, b = i * sides + j, (i + 1) % segments * sides + j
    c, d = (i + 1) % segments * sides + (j + 1) % sides, i * sides + (j + 1) % sides
    faces = np.stack([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)], axis=1).reshape(-1, 3)
    return Mesh(vertices, faces, name=f"torus of {len(faces)} faces")


def stellated_dodecahedron(radius: float = 1.0) -> Mesh:
    """Return the small stellated dodecahedron as a solid: 60 faces, 12 tips.

    The tips are the vertices of an icosahedron. Its faces pairwise meet in star planes; what is seen of them from outside
    is a five-sided spike per tip, standing on the dodecahedron whose 20 corners are the valleys.
    """
    seed = icosahedron(1.0)
    tips, triangles = seed.vertices, seed.faces.tolist()
    left_of = {(a, b): f for f, (i, j, k) in enumerate(triangles) for a, b in ((i, j), (j, k), (k, i))}
    # The star plane under a tip holds the tip's five neighbours, at height 1/sqrt(5); the valleys around the tip lie in it too.
    middles = tips[seed.faces].sum(axis=1)
    height = np.einsum("ij,ij->i", middles, tips[seed.faces[:, 0]])
    valleys = middles * (5.0**-0.5 / height)[:, None]
    faces = [(tip, 12 + left_of[following, tip], 12 + f) for (tip, following), f in left_of.items()]
    return Mesh(np.vstack([tips, valleys]) * positive(radius, "radius"), faces, name="stellated dodecahedron")

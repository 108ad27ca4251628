"""The irregular convex polytope with 36 faces of Lock, Wills 2000 (fig. 10).

Twenty points on an ellipsoid are all corners of their convex hull; in general position the hull has 2 * 20 - 4 = 36 triangles. The
hull is found by trying all triples; a draw with four nearly coplanar points is rejected, so that convexity holds by a margin and
not by rounding. (`shapes/hull.py` sees only the faces of the hull: 87 of 4,000 seeds would keep a draw in which a corner is near
another plane.)
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle.shapes.build.spheres import positive
from jostle.shapes.mesh import Mesh

CORNERS = 20
SMALLEST_MARGIN = 1e-3  # distance of any fourth corner from the plane of three, over the size of the polytope
SMALLEST_GAP = 0.35  # between corners on the unit sphere, so that no face is a sliver


def polytope36(seed: int = 0, size: float = 1.0) -> Mesh:
    """Return an irregular convex polytope with 36 faces, about `size` across."""
    rng = np.random.default_rng(cast.as_count(seed, "seed"))
    size = positive(size, "size")
    while True:
        corners = _spread_directions(rng) * rng.uniform(0.34, 0.5, 3)
        faces = _hull(corners)
        if faces is not None:
            return Mesh(corners * size, faces, name="polytope of 36 faces")


def _spread_directions(rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw unit vectors, rejecting those too close to an earlier one."""
    chosen = np.empty((0, 3))
    while len(chosen) < CORNERS:
        direction = rng.normal(size=3)
        direction /= np.linalg.norm(direction)
        if len(chosen) == 0 or np.linalg.norm(chosen - direction, axis=1).min() > SMALLEST_GAP:
            chosen = np.vstack([chosen, direction])
    return chosen


def _hull(corners: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """Return the outward faces of the hull; None if four corners are near coplanar."""
    triples = np.array(list(combinations(range(len(corners)), 3)))
    a, b, c = (corners[triples[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    height = normal @ corners.T - np.einsum("ij,ij->i", normal, a)[:, None]
    np.put_along_axis(height, triples, 0.0, axis=1)
    below = (height < SMALLEST_MARGIN).all(axis=1)
    above = (height > -SMALLEST_MARGIN).all(axis=1)
    on_hull = below | above
    if ((np.abs(height[on_hull]) < SMALLEST_MARGIN).sum(axis=1) > 3).any():
        return None
    faces = np.where(above[:, None], triples[:, ::-1], triples)[on_hull]
    return faces if len(faces) == 2 * CORNERS - 4 else None

"""Whether two solids still meet when each is eroded by r: a ball fits into both.

A cheap test comes first: an overlap below the diameter in some direction proves that no ball fits. Then cells of the common box
are searched. Depth in a solid is 1-Lipschitz, so a cell whose centre is shallower than r by more than its half diagonal holds no
centre of such a ball; other cells are split, deepest first. The search ends with a centre, with no cell left, or undecided after
`MOST_WORK`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.geometry.rigid import transform_points
from jostle.geometry.winding import winding_number
from jostle.shapes.mesh import Mesh

PlacedMesh = tuple[Mesh, Floats]

MOST_WORK = 1e8  # points times faces: a few seconds
MOST_DIRECTIONS = 600
FEW_FACES = 2000  # below this all are kept
AT_ONCE = 64  # cells
_HALVES = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def ball_in_both(a: PlacedMesh, b: PlacedMesh, radius: float) -> bool | None:
    """Return whether a ball fits into both closed meshes; None if undecided."""
    solids = [_Solid(transform_points(pose, mesh.vertices), mesh.faces) for mesh, pose in (a, b)]
    lower = np.max([solid.vertices.min(axis=0) for solid in solids], axis=0) + radius
    upper = np.min([solid.vertices.max(axis=0) for solid in solids], axis=0) - radius
    if (lower > upper).any() or _least_overlap(solids, lower - radius, upper + radius) < 2.0 * radius:
        return False
    for solid in solids:
        if len(solid.faces) > FEW_FACES:
            solid.keep_near(lower, upper, radius)
    return _search(solids, lower, upper, radius)


def _search(solids: list[_Solid], lower: Floats, upper: Floats, radius: float) -> bool | None:
    """Search for the centre of a ball between two corners, deepest cells first."""
    edges = upper - lower
    edge = max(float(edges.max()) / 4.0, 1e-12 * float(np.abs([lower, upper]).max()))
    counts = np.maximum(np.ceil(edges / edge), 1).astype(int)
    centres = lower + (np.indices(counts.tolist()).reshape(3, -1).T + 0.5) * (edges / counts)
    halves = np.full(len(centres), 0.5 * float((edges / counts).max()))
    bounds = np.full(len(centres), np.inf)
    while len(centres):
        if sum(solid.work for solid in solids) > MOST_WORK:
            return None
        order = np.argsort(-bounds, kind="stable")
        now, later = order[:AT_ONCE], order[AT_ONCE:]
        reach = np.sqrt(3.0) * halves[now]
        depths = np.full(len(now), np.inf)
        for solid in solids:
            possible = depths + reach >= radius
            depths[possible] = np.minimum(depths[possible], solid.depths(centres[now[possible]], radius - reach[possible]))
        if (depths >= radius).any():
            return True
        possible = depths + reach >= radius
        kept, bound = now[possible], (depths + reach)[possible]
        parts = (centres[kept, None] + halves[kept, None, None] * _HALVES).reshape(-1, 3)
        centres = np.concatenate([centres[later], parts])
        halves = np.concatenate([halves[later], np.repeat(0.5 * halves[kept], 8)])
        bounds = np.concatenate([bounds[later], np.repeat(bound, 8)])
    return False


def _least_overlap(solids: list[_Solid], lower: Floats, upper: Floats) -> float:
    """Return the least overlap along face normals and the centre line."""
    normals = [solid.normals_in(lower, upper) for solid in solids]
    between = solids[1].vertices.mean(axis=0) - solids[0].vertices.mean(axis=0)
    directions = np.concatenate([*normals, between[None], np.eye(3)])
    lengths = np.linalg.norm(directions, axis=1)
    directions = directions[lengths > 0.0] / lengths[lengths > 0.0, None]
    first, second = (solid.vertices @ directions.T for solid in solids)
    overlaps = np.minimum(first.max(axis=0), second.max(axis=0)) - np.maximum(first.min(axis=0), second.min(axis=0))
    return float(overlaps.min())


class _Solid:
    """A closed mesh in world coordinates."""

    def __init__(self, vertices: Floats, faces: NDArray[np.int32]) -> None:
        self.vertices, self.faces = vertices, faces
        self._near, self._farther = vertices[faces], np.inf
        self.work = 0.0  # points times faces

    def normals_in(self, lower: Floats, upper: Floats) -> Floats:
        """Return (k, 3) normals of faces, or a sample of them, whose boxes meet a box."""
        corners = self.vertices[self.faces]
        inside = ((corners.min(axis=1) <= upper) & (corners.max(axis=1) >= lower)).all(axis=1)
        chosen = corners[inside]
        chosen = chosen[:: max(1, len(chosen) // MOST_DIRECTIONS)]
        normals: Floats = np.cross(chosen[:, 1] - chosen[:, 0], chosen[:, 2] - chosen[:, 0])
        return normals

    def keep_near(self, lower: Floats, upper: Floats, radius: float) -> None:
        """Drop faces farther than a radius from a box."""
        corners = self.vertices[self.faces]
        near = ((corners.min(axis=1) <= upper + radius) & (corners.max(axis=1) >= lower - radius)).all(axis=1)
        self._near, self._farther = corners[near], radius

    def depths(self, points: Floats, wanted: Floats) -> Floats:
        """Return (n,) depths, negative outside; unsigned if less than `wanted`."""
        gaps = np.minimum(distances_to(self._near, points), self._farther)
        far = np.flatnonzero(gaps >= wanted)
        winding = winding_number(np.ascontiguousarray(points[far]), self.vertices, self.faces)
        self.work += len(points) * len(self._near) + len(far) * len(self.faces)
        outside = far[np.abs(winding) < 0.5]
        gaps[outside] *= -1.0
        return gaps


def distances_to(triangles: Floats, points: Floats) -> Floats:
    """Return (n,) the distance of each point to the nearest triangle (m, 3, 3)."""
    nearest = np.full(len(points), np.inf)
    if len(triangles) == 0:
        return nearest
    middles = triangles.mean(axis=1)
    radii = np.linalg.norm(triangles - middles[:, None], axis=2).max(axis=1)
    step = max(1, 500_000 // len(triangles))
    for first in range(0, len(points), step):
        some = points[first : first + step]
        away = np.sqrt(sum((some[:, k, None] - middles[None, :, k]) ** 2 for k in range(3)))
        # A face whose bounding ball is farther than the nearest face centre cannot be the nearest.
        which, face = np.nonzero(away - radii <= 1.000001 * away.min(axis=1)[:, None])
        np.minimum.at(nearest, first + which, _distances(triangles[face], some[which]))
    return nearest


def _distances(triangles: Floats, points: Floats) -> Floats:
    """Return (n,) the distance of each point to its own triangle (n, 3, 3)."""
    a, b, c = (triangles[:, k] - points for k in range(3))
    u, v = b - a, c - a
    normal = np.cross(u, v)
    square = np.maximum((normal**2).sum(axis=1), 1e-300)
    s, t = -(np.cross(a, v) * normal).sum(axis=1) / square, -(np.cross(u, a) * normal).sum(axis=1) / square
    over = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
    gap: Floats = np.where(over, np.abs((a * normal).sum(axis=1)) / np.sqrt(square), np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        along = q - p
        share = np.clip(-(p * along).sum(axis=1) / np.maximum((along**2).sum(axis=1), 1e-300), 0.0, 1.0)
        gap = np.minimum(gap, np.linalg.norm(p + share[:, None] * along, axis=1))
    return gap

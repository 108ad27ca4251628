"""Where an open mesh leaks, in words: what a method that needs closed meshes tells of one that is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from jostle.shapes.mesh import Mesh


def leak_of(mesh: Mesh) -> str:
    """Return where an open mesh leaks: the first edge that is not run along as often in both directions, and how many there are.

    Empty for a mesh without such edges, of which no face has an area.
    """
    sides = mesh.welded_faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64)
    sides = sides[sides[:, 0] != sides[:, 1]]
    direction = np.where(sides[:, 0] < sides[:, 1], 1.0, -1.0)
    keys, inverse = np.unique(sides.min(axis=1) * len(mesh.vertices) + sides.max(axis=1), return_inverse=True)
    open_edges = keys[np.bincount(inverse.ravel(), weights=direction, minlength=len(keys)) != 0.0]
    if len(open_edges) == 0:
        return ""
    low, high = divmod(int(open_edges[0]), len(mesh.vertices))
    ends = " to ".join(f"vertex {k} at ({x:g}, {y:g}, {z:g})" for k in (low, high) for x, y, z in [mesh.vertices[k].tolist()])
    others = f" and {len(open_edges) - 1} other edges" if len(open_edges) > 1 else ""
    return f"it leaks at the edge from {ends}{others}"

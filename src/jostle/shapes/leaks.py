"""Messages of methods that need closed meshes: where an open mesh leaks."""

from __future__ import annotations

from jostle.shapes.mesh import Mesh


def leak_of(mesh: Mesh) -> str:
    """Return where an open mesh leaks: its first open edge, and their number.

    Empty for a mesh without open edges.
    """
    if len(mesh.open_edges) == 0:
        return ""
    low, high = mesh.open_edges[0].tolist()
    ends = " to ".join(f"vertex {k} at ({x:g}, {y:g}, {z:g})" for k in (low, high) for x, y, z in [mesh.vertices[k].tolist()])
    others = f" and {len(mesh.open_edges) - 1} other edges" if len(mesh.open_edges) > 1 else ""
    return f"it leaks at the edge from {ends}{others}"

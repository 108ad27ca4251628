"""Which overlays each method has, in the words of its README; "" is what it shows by default.

Methods say what they accept by refusing the rest; this list is what a panel offers, and a test asks every method for each.
"""

from __future__ import annotations

from jostle.viewer.settings import NOTHING

OVERLAYS: dict[str, dict[str, str]] = {
    "wide_tree": {f"boxes of level {level}": str(level) for level in range(6)},
    "face_octree": {"cells visited": "cells", "overlap regions": "regions", "faces on the checklist": "faces"},
    "octree_update": {"nodes and cells": "", "black nodes": "nodes", "subdivided cells": "cells"},
    "bounding_tree": {
        **{f"volumes of level {level}": f"level {level}" for level in range(6)},
        "nodes visited": "visited",
        "swept volumes": "swept 0",
        "contacts": "contacts",
    },
    "image_space": {"region and images": "", "region": "region", "depth images": "depth", "stencil images": "stencil"},
    "voxmap": {"shell points and hits": "", "voxels": "voxels", "shell points": "shell", "hits": "hits"},
    "monte_carlo": {
        "shells, pairs and planes": "",
        "shells in use": "shells",
        **{f"shells of level {level}": f"level {level}" for level in range(5)},
        "sample pairs": "pairs",
        "average planes": "planes",
    },
    "separating_plane": {"separating planes": ""},
    "closest_features": {"closest features": ""},
    "edge_face": {"edges": "edges"},
    "brute_force": {"boxes of faces": ""},
}


def names_for(method: str) -> list[str]:
    """Return the overlays that a panel offers for a method, "nothing" first."""
    return [NOTHING, *OVERLAYS.get(method, {"its overlay": ""})]


def what_of(method: str, name: str) -> str:
    """Return what the method itself calls an overlay."""
    return OVERLAYS.get(method, {}).get(name, "")

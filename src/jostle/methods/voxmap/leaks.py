"""Errors for meshes without a solid inside: open ones, and ones no ray meets.

Each error says where, and what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jostle.errors import InputError
from jostle.methods.voxmap.memory import surface_area
from jostle.methods.voxmap.voxel_size import reach_of
from jostle.shapes.leaks import leak_of

if TYPE_CHECKING:
    from jostle.methods.voxmap.method import Voxmap
    from jostle.shapes.mesh import Mesh


def check_closed(mesh: Mesh) -> None:
    """Raise for an open mesh, naming its first open edge and their number."""
    if mesh.is_closed:
        return
    leak, cure = leak_of(mesh), "close it, or take its surface alone with surface_only=True"
    if not leak:
        raise InputError(f"mesh {mesh.name!r}: no face has an area, so there is no solid to fill; {cure}")
    raise InputError(f"mesh {mesh.name!r} is open and has no inside: {leak}; {cure}")


def refuse_empty(mesh: Mesh, voxel: float, axis: int, settings: Voxmap) -> None:
    """Raise for a closed mesh whose inside no ray meets."""
    thickness = 2.0 * abs(mesh.volume) / max(surface_area(mesh), np.finfo(float).tiny)
    name = f"mesh {mesh.name!r}"
    if thickness <= 1e-9 * voxel:
        raise InputError(
            f"{name} has no inside: its volume is {mesh.volume:.3g} and its mean thickness {thickness:.3g}; "
            "give it a thickness, or take its surface alone with surface_only=True"
        )
    finer = 0.5 * thickness * reach_of(settings)
    raise InputError(
        f"{name} is thinner than a voxel: its mean thickness is {thickness:.4g}, a voxel is {voxel:.4g}, and no ray along axis "
        f"{axis} meets its inside; pass a finer accuracy (such as {finer:.3g}), another axis, or surface_only=True"
    )

"""The short way: one call for two meshes. Each makes a world of its own; hold a `World` for anything that moves."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from jostle.protocol import Method
from jostle.report import Closest, Report
from jostle.shapes.coerce import MeshLike
from jostle.world import World


def collide(
    a: MeshLike,
    b: MeshLike,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str | Method | None = None,
    **wishes: Any,
) -> Report:
    """Return which faces of two meshes touch.

    Parameters
    ----------
    a, b : jostle.Mesh, trimesh.Trimesh, (vertices, faces) or a path
    pose_a, pose_b : (4,4), optional
        Body to world.
    method : str or Method, optional
    **wishes
        Those of `jostle.Query`: clearance, solid, rows, …

    The bodies are called "a" and "b" and have the ids 0 and 1.
    """
    world = World(method)
    world.add(a, pose_a, "a")
    world.add(b, pose_b, "b")
    return world.detect(**wishes)


def distance(
    a: MeshLike,
    b: MeshLike,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str | Method | None = None,
) -> Closest:
    """Return the distance of the surfaces of two meshes, with closest points (world) and faces; 0.0 when they touch."""
    world = World(method)
    return world.distance(world.add(a, pose_a, "a"), world.add(b, pose_b, "b"))


def self_collide(mesh: MeshLike, *, adjacent: bool = False, method: str | Method | None = None, **wishes: Any) -> Report:
    """Return which faces of one mesh touch each other; `adjacent=True` also looks at faces that share a vertex."""
    world = World(method)
    world.add(mesh, name="mesh")
    return world.detect(itself=True, adjacent=adjacent, **wishes)

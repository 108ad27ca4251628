"""One-call functions for two meshes, without a World."""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from numpy.typing import ArrayLike

from jostle import cast
from jostle.errors import InputError
from jostle.interface.method import Method
from jostle.interface.query import Budget, Query
from jostle.report.report import Closest, Report
from jostle.shapes.coerce import MeshLike
from jostle.world.checks import refuse_options
from jostle.world.world import World

if TYPE_CHECKING:
    from jostle.continuous.first_contact import FirstContact

MOTION_METHOD = "bounding_tree"  # the default of first_contact


def collide(
    a: MeshLike,
    b: MeshLike,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str | Method | None = None,
    rows: str = "faces",
    clearance: float = 0.0,
    solid: bool = False,
    self_collision: bool | None = None,
    itself: bool | None = None,
    adjacent: bool = False,
    motion: bool = False,
    all_contacts: bool = False,
    separation: float = 0.0,
    budget: Budget | None = None,
    **unknown: Never,
) -> Report:
    """Find which faces of two meshes touch.

    Each call prepares both meshes anew, also `jostle.Mesh` objects. For a second question about the same meshes keep a
    `World`, or a `Pair` for yes or no and distances: they prepare once.

    The bodies are called "a" and "b" and have the ids 0 and 1.

    Parameters
    ----------
    a, b : jostle.Mesh, trimesh.Trimesh, (vertices, faces) or a path
    pose_a, pose_b : (4,4), optional
        Body to world.
    method : str or Method, optional
    rows, clearance, solid, self_collision, itself, adjacent, motion, all_contacts, separation, budget
        As in `World.detect`.

    Examples
    --------
    >>> report = jostle.collide("ball.stl", "wall.obj", pose_a=jostle.translation((0, 0, 0.9)))
    >>> report.pairs.names
    [('a', 'b')]
    >>> report.pairs.kinds
    [Kind.CROSSING]
    """
    refuse_options(collide, unknown)
    query = Query(
        rows, clearance, solid, itself, adjacent, motion, all_contacts, separation, budget, self_collision=self_collision
    )  # fmt: skip
    world = World(method)
    world.add(a, pose_a, "a")
    world.add(b, pose_b, "b")
    return world.detect(query)


def distance(
    a: MeshLike,
    b: MeshLike,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    *,
    method: str | Method | None = None,
) -> Closest:
    """Return the distance between two surfaces; 0.0 if they touch.

    The answer has the closest points, in world coordinates, and their faces. A mesh inside another is at a positive
    distance from its surface; `collide(a, b, solid=True)` tells inside from outside. Each call prepares both meshes anew,
    also `jostle.Mesh` objects; `World.distance` and `Pair.distance` keep what they prepared.

    Examples
    --------
    >>> closest = jostle.distance("ball.stl", "wall.obj", pose_a=jostle.translation((0, 0, 1.5)))
    >>> round(closest.distance, 3)
    0.5
    >>> closest.point_b.round(3) + 0.0
    array([0., 0., 0.])
    """
    world = World(method)
    return world.distance(world.add(a, pose_a, "a"), world.add(b, pose_b, "b"))


def self_collide(
    mesh: MeshLike,
    *,
    adjacent: bool = False,
    method: str | Method | None = None,
    rows: str = "faces",
    clearance: float = 0.0,
    solid: bool = False,
    budget: Budget | None = None,
    **unknown: Never,
) -> Report:
    """Find which faces of one mesh touch each other.

    Each call prepares the mesh anew; `World.detect(self_collision=True)` prepares it once.

    The body is called "mesh" and has the id 0.

    Parameters
    ----------
    mesh : jostle.Mesh, trimesh.Trimesh, (vertices, faces) or a path
    adjacent : bool
        Also report faces that share a welded vertex, if they touch beyond what they share.
    method : str or Method, optional
    rows, clearance, solid, budget
        As in `World.detect`.

    Examples
    --------
    >>> from jostle.shapes import build
    >>> len(jostle.self_collide(build.torus()).contacts)  # a closed ring that does not cross itself
    0
    """
    refuse_options(self_collide, unknown)
    query = Query(rows, clearance, solid, True, adjacent, budget=budget)
    world = World(method)
    world.add(mesh, name="mesh")
    return world.detect(query)


def first_contact(
    a: MeshLike,
    b: MeshLike,
    to_a: ArrayLike | None = None,
    to_b: ArrayLike | None = None,
    separation: float = 0.0,
    *,
    pose_a: ArrayLike | None = None,
    pose_b: ArrayLike | None = None,
    method: str | Method | None = None,
) -> FirstContact:
    """Return when and where two moving meshes first touch.

    The time is a fraction 0 … 1 of the motion, inf if they never touch. Each call prepares both meshes anew, also
    `jostle.Mesh` objects; a kept `World("bounding_tree")` with `detect(motion=True)` prepares them once.

    Parameters
    ----------
    a, b : jostle.Mesh, trimesh.Trimesh, (vertices, faces) or a path
    to_a, to_b : (4,4) or (n,3), optional
        The end of the motion: a pose, reached along the shortest screw, or the vertices of a deforming mesh (body coordinates),
        reached along straight lines. A mesh without one is at rest.
    separation : float
        The distance at which faces count as in contact. Bodies that start within it are free as long as they come no closer.
    pose_a, pose_b : (4,4), optional
        Body to world at the start of the motion, the identity by default. A deforming mesh keeps its pose.
    method : str or Method, optional
        A method that supports motion; bounding_tree by default.

    Examples
    --------
    >>> above, below = jostle.translation((0, 0, 9)), jostle.translation((0, 0, -9))
    >>> first = jostle.first_contact("ball.stl", "wall.obj", to_a=below, pose_a=above)
    >>> if first:
    ...     print(round(first.time, 3), first.feature_b[0])  # of the way down, and what it meets
    0.444 face
    """
    from jostle.continuous.first_contact import FirstContact

    world = World(MOTION_METHOD if method is None else method)
    for mesh, pose, to, name in ((a, pose_a, to_a, "a"), (b, pose_b, to_b, "b")):
        shape = (4, 4) if to is None else _shape_of(to, f"to_{name}")
        body = world.add(mesh, pose, name, deformable=shape != (4, 4))
        if to is not None and shape == (4, 4):
            body.pose = to
        elif to is not None:
            body.vertices = to
    return FirstContact.of(world.detect(motion=True, separation=separation).contacts)


def _shape_of(to: ArrayLike, field: str) -> tuple[int, ...]:
    """Return the array shape of the end of a motion: a pose or vertices."""
    try:
        shape = cast.as_array(to, "", field).shape
    except InputError:
        shape = ()
    if shape != (4, 4) and (len(shape) != 2 or shape[1] != 3):
        has = f"has shape {shape}" if shape else "is not an array of numbers"
        raise InputError(f"{field} {has}; pass a pose (4, 4), or the vertices (n, 3) at the end of the motion")
    return shape

"""Part: a mesh of a kind and what is asked about it. Sizes: how large the parts are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from jostle.geometry.pose import rotation
from jostle.shapes.mesh import Mesh

TILT = rotation((1.0, 0.7, -0.4), 0.83)


class Asked(StrEnum):
    """The questions, by their names in tables."""

    ALL = "all rows"
    PAIRS = "which bodies touch"
    FIRST = "first hit"
    MISS = "near miss"
    DISTANCE = "distance"
    NEAREST = "nearest within a clearance"
    WITHIN = "any within a clearance"
    DEFORM = "deforming: all rows"
    SELF = "deforming: against itself"


@dataclass(frozen=True)
class Part:
    """A mesh, and what is asked about it.

    Parameters
    ----------
    name : str
        Within its kind.
    asked : tuple of Asked
    make : callable
        Returns the mesh.
    make_other : callable, optional
        Returns the mesh that is moved against it; by default it is another of the same.
    bodies : int
        Of the crowd in which ALL and PAIRS are asked; 0 asks ALL of two bodies at many poses.
    spacing : float
        Of the crowd (`placing.crowd`).
    poses : int
        Of two bodies.
    upward : bool
        Whether the other body comes from above.
    """

    name: str
    asked: tuple[Asked, ...]
    make: Callable[[], Mesh]
    make_other: Callable[[], Mesh] | None = None
    bodies: int = 0
    spacing: float = 0.5
    poses: int = 16
    upward: bool = False


@dataclass(frozen=True)
class Sizes:
    """How many bodies, poses and faces."""

    bodies: int = 200
    few_bodies: int = 40  # of large parts
    poses: int = 16
    few_poses: int = 4  # of large parts
    model: int = 124_000  # faces
    organic: tuple[int, int, int, int] = (2_600, 20_000, 100_000, 500_000)  # faces
    terrain: tuple[int, int] = (500, 498)  # cells
    holes: tuple[tuple[int, int], tuple[int, int]] = ((16, 12), (83, 83))  # cells of perforated sheets
    cloth: tuple[int, int] = (200, 110)  # cells
    ball: int = 4  # subdivisions: 5,120 faces
    frames: int = 6  # of deforming bodies


FULL = Sizes()
QUICK = Sizes(30, 10, 4, 2, 6_000, (1_000, 2_600, 6_000, 12_000), (60, 50), ((8, 6), (16, 12)), (80, 44), 2, 2)


def both_ways(
    name: str, make: Callable[[], Mesh], straight: tuple[Asked, ...], tilted: tuple[Asked, ...], bodies: int, poses: int = 16
) -> list[Part]:
    """Return a CAD part as it is built, and tilted in its own frame."""
    return [
        Part(name, straight, make, bodies=bodies, poses=poses),
        Part(f"{name}, tilted", tilted, lambda: make().moved(TILT), bodies=bodies, poses=poses),
    ]

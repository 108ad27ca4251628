"""Parts of a scene: bodies with velocity and spin, paths, and cycles of shapes.

All are plain values: scenes can be pickled and reproduce bit for bit. Lengths and angles are per frame, as the papers give them per
cycle.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.errors import InputError
from jostle.kernels.cached_property import cached_property
from jostle.shapes.mesh import Mesh

ALL_BITS = 0xFFFFFFFF


@dataclass(frozen=True, eq=False)
class Circle:
    """A circle through a body's first place, which its centre follows.

    Parameters
    ----------
    to_middle : (3,)
        From the body's first place to the middle of the circle.
    axis : (3,)
        Axis of the motion, right-handed; perpendicular to `to_middle` for a true circle.
    angle : float
        Radians per frame.
    """

    to_middle: Floats
    axis: Floats
    angle: float


@dataclass(frozen=True, eq=False)
class Loop:
    """A closed kinematic path: the centre oscillates along each axis.

    Parameters
    ----------
    reach : (3,)
        Amplitude.
    swings : (3,)
        Oscillations per period, whole numbers.
    phase : (3,)
        Radians at frame 0.
    period : int
        Frames of the closed path.
    """

    reach: Floats
    swings: Floats
    phase: Floats
    period: int

    def at(self, frame: int) -> Floats:
        """Return (3,) the offset of the centre from the middle of the path."""
        return self.reach * np.sin(2.0 * np.pi * ((self.swings * frame) % self.period) / self.period + self.phase)


@dataclass(frozen=True, eq=False)
class Cycle:
    """A cycle of shapes of a deforming body: frame k shows shape first + k.

    Parameters
    ----------
    shapes : (period, n, 3)
        Vertices in body coordinates; bodies may share them.
    first : int
        The shape of frame 0.
    """

    shapes: Floats
    first: int = 0

    def __post_init__(self) -> None:
        if np.ndim(self.shapes) != 3 or np.shape(self.shapes)[2] != 3 or len(self.shapes) == 0:
            raise InputError(f"shapes has shape {np.shape(self.shapes)}; it must be (period, n, 3) with at least one shape")
        points = cast.as_points(self.shapes.reshape(-1, 3), "cycle", "shapes")
        object.__setattr__(self, "shapes", points.reshape(self.shapes.shape))

    def at(self, frame: int) -> Floats:
        """Return the vertices (n, 3) of one frame."""
        return self.shapes[(self.first + frame) % len(self.shapes)]

    def share(self, frame: int) -> float:
        """Return the phase of the cycle, 0 … 1."""
        return (self.first + frame) % len(self.shapes) / len(self.shapes)

    def frames(self, count: int) -> Floats:
        """Return the vertices (count, n, 3) of the first frames."""
        return self.shapes[(self.first + np.arange(count)) % len(self.shapes)]


@dataclass(frozen=True, eq=False)
class MovingBody:
    """A body of a scene and its free motion.

    Parameters
    ----------
    name : str
    mesh : Mesh
    pose : (4, 4)
        At frame 0, body to world.
    velocity : (3,)
        Of its centre, lengths per frame.
    axis : (3,)
        World direction of its axis of rotation, through its centre.
    spin : float
        Radians per frame.
    cycle : Cycle, optional
        Its shapes, if it deforms.
    circle : Circle, optional
        Added to the motion of its centre; for bodies without walls.
    loop : Loop, optional
        The body follows this path from its first position on, instead of moving at `velocity`.
    track : (n, 4, 4), optional
        The body follows these poses instead, one per frame, and stays at the last; for bodies without walls.
    hand : {None, "pushes", "grasps"}
        What a body on a loop does to touching bodies with the response "normals", see `response.py`.
    static, group, category, mask
        Filters, see `Body`. A static body never moves.
    """

    name: str
    mesh: Mesh
    pose: Floats = field(default_factory=lambda: np.eye(4))
    velocity: Floats = field(default_factory=lambda: np.zeros(3))
    axis: Floats = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    spin: float = 0.0
    cycle: Cycle | None = None
    circle: Circle | None = None
    loop: Loop | None = None
    track: Floats | None = None
    hand: str | None = None
    static: bool = False
    group: int | None = None
    category: int = 1
    mask: int = ALL_BITS

    @cached_property
    def centre(self) -> Floats:
        """(3,) centre of the mesh's box in body coordinates; the body turns about it.

        It is not the centre of volume, so that open meshes have one too; for the spheres of the papers both are the same.
        """
        return self.mesh.bounds.mean(axis=0)

    @cached_property
    def radius(self) -> float:
        """Radius of the ball about `centre` that holds the body however it turns.

        A billionth larger than necessary.
        """
        points = self.mesh.vertices if self.cycle is None else np.vstack([self.mesh.vertices, self.cycle.shapes.reshape(-1, 3)])
        return float(np.linalg.norm(points - self.centre, axis=1).max()) * (1.0 + 1e-9)

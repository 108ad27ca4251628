"""Scenes of many bodies in a cube: spheres, shuttles, a crowd, deforming spheres.

Convex ones: `convex_crowd.py`.

Defaults are the papers' numbers, cited in each docstring with what the papers leave open. `speed` is in radii of a body per frame
and `turn` in radians per frame, as Kitamura et al. 1998 (§5.3) give them: 5 % of the radius and 10 degrees. The cube follows from
`fill`, the share of it that bodies take, unless `cube` gives its edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle.scenes.bodies import Cycle, MovingBody
from jostle.scenes.placing import ball_volume, cube_of_fill, random_bodies
from jostle.scenes.scene import Scene
from jostle.shapes import build
from jostle.shapes.mesh import Mesh

TEN_DEGREES = math.radians(10.0)


@dataclass(frozen=True)
class Crowd:
    """The parameters that all scenes of bodies in a cube share."""

    count: int
    fill: float
    cube: float | None
    speed: float
    turn: float
    response: str
    frames: int
    seed: int


def spheres(
    *,
    count: int = 15,
    faces: int = 960,
    fill: float = 0.05,
    cube: float | None = None,
    speed: float = 0.05,
    turn: float = TEN_DEGREES,
    response: str = "exchange",
    frames: int = 1000,
    seed: int = 0,
) -> Scene:
    """Return spheres that collide in a cube and exchange their velocities.

    After Kitamura et al. 1998, §5.3, fig. 16–18.

    From the paper: 15 spheres, 48 to 960 faces each (figures for 168 and 960), 5 % of the volume, 5 % of the radius and 10
    degrees per frame, 1,000 frames, swapped velocities, walls that reflect. §5.1 (fig. 13) has 10 to 40 spheres of
    528 faces. Ours: random places, directions and axes.
    """
    mesh = build.sphere(faces)
    return in_a_cube("spheres", mesh, mesh.volume, Crowd(count, fill, cube, speed, turn, response, frames, seed))


def shuttles(
    *,
    count: int = 15,
    fill: float = 0.3,
    cube: float | None = None,
    speed: float = 0.05,
    turn: float = TEN_DEGREES,
    response: str = "exchange",
    frames: int = 300,
    seed: int = 0,
) -> Scene:
    """Return concave space shuttles in a cube (Kitamura et al. 1998, §4.2, fig. 8).

    From the paper: 15 of them, 528 faces, translation and rotation, many overlapping boxes in every frame. Ours: the rest. Speed
    and turn are those of §5.3. `fill` is the share of the cube that the shuttles' bounding *balls* would take; at the start only
    surfaces are apart, so that boxes overlap in every frame. Velocities are exchanged (the paper's run ends at the first
    collision: `response="stop"`).
    """
    mesh = build.shuttle()
    crowd = Crowd(count, fill, cube, speed, turn, response, frames, seed)
    return in_a_cube("shuttles", mesh, ball_volume(MovingBody("", mesh).radius), crowd, close=True)


def crowd(
    *,
    count: int = 1000,
    subdivisions: int = 1,
    fill: float = 0.025,
    cube: float | None = None,
    speed: float = 0.05,
    turn: float = TEN_DEGREES,
    response: str = "none",
    frames: int = 100,
    seed: int = 0,
) -> Scene:
    """Return many small icospheres that pass through each other.

    No paper: all numbers are ours.
    """
    mesh = build.icosphere(subdivisions)
    return in_a_cube("crowd", mesh, mesh.volume, Crowd(count, fill, cube, speed, turn, response, frames, seed))


def deforming_spheres(
    *,
    count: int = 8,
    faces: int = 528,
    swell: float = 0.25,
    period: int = 40,
    fill: float = 0.1,
    cube: float | None = None,
    speed: float = 0.05,
    turn: float = TEN_DEGREES,
    response: str = "exchange",
    frames: int = 200,
    seed: int = 0,
) -> Scene:
    """Return spheres whose radius varies over the surface and with time.

    Kitamura et al. 1998, §4.3, has a deforming sphere.

    Three waves run over each sphere, once in `period` frames; the radius stays within 1 ± `swell` (0 … 0.9), so the surface
    is star-shaped and never crosses itself. The paper only says that a sphere deforms: the numbers are ours, speed and turn those
    of §5.3.
    """
    swell = as_swell(swell)
    mesh = build.sphere(faces)
    count, period = cast.as_count(count, "count", lowest=1), cast.as_count(period, "period", lowest=1)
    shapes = swelling(mesh.vertices, swell, period)
    # Bodies share one table of shapes, each with its own phase.
    cycles = [Cycle(shapes, k * period // count) for k in range(count)]
    crowd = Crowd(count, fill, cube, speed, turn, response, frames, seed)
    return in_a_cube("deforming_spheres", mesh, ball_volume(1.0 + swell), crowd, cycles)


def as_swell(swell: float) -> float:
    """Return the amplitude of waves on a sphere, as a share of its radius."""
    return cast.as_number_between(swell, "swell", 0.0, 0.9, "of the radius")


def swelling(vertices: NDArray[np.float64], swell: float, period: int) -> NDArray[np.float64]:
    """Return (period, n, 3) vertices of a unit sphere with travelling radial waves."""
    phase = 2.0 * np.pi * np.arange(period)[:, None] / period
    wave = np.zeros((period, len(vertices)))
    for axis in range(3):
        wave += np.sin((2.0 + axis) * vertices[:, axis] + phase * (1 if axis < 2 else -1)) / 3.0
    return vertices * (1.0 + swell * wave)[:, :, None]


def in_a_cube(name: str, mesh: Mesh, volume: float, crowd: Crowd, cycles: list[Cycle] | None = None, close: bool = False) -> Scene:
    """Return copies of a mesh in a cube; each takes `volume` of the share `fill`."""
    count = cast.as_count(crowd.count, "count", lowest=1)
    edge = cube_of_fill(count * volume, crowd.fill) if crowd.cube is None else cast.as_length(crowd.cube, "cube")
    rng = np.random.default_rng(cast.as_count(crowd.seed, "seed"))
    plural = "icospheres" if name == "crowd" else name.replace("_", " ")
    return Scene(
        name=name,
        title=f"{count:,} {plural} of {len(mesh.faces):,} faces in a cube",
        bodies=random_bodies(rng, mesh, count, edge, crowd.speed, crowd.turn, plural.removesuffix("s"), cycles, close),
        cube=edge,
        response=crowd.response,
        frames=cast.as_count(crowd.frames, "frames", lowest=1),
    )

"""VolumeTable: the central table of bounding spheres, one per body.

Paper: Lock, Wills 2000, §6, "Bounding volumes" and "Centralised bounding volume table": the centre of a body's volume is the
midpoint of its two most distant vertices. Deviation: the paper's radius, half of their distance, does not bound (of 200 random
polytopes 193 stick out); here it is the distance to the farthest vertex. Boxes are centre ± radius, as in the paper: rotating a
body does not change them.
Guarantee: every world vertex lies in the closed sphere, under every accepted pose, rounding included. The two most distant
vertices are exact unless a mesh is so large and so round that finding them takes more than 2²⁶ comparisons; then nearly so.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.aabb import box_of_points
from jostle.geometry.rigid import SMALLEST_WORLD_COORDINATE
from jostle.geometry.vector import Vec3, dot, minus, point_at, write_point
from jostle.interface.shape_numbers import number_shapes
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64

# An accepted pose may lengthen a vector by 1.5e-5 of its length.
STRETCH = 1.6e-5
# Of the largest coordinates: roundings of world vertices, of the centre, and of distances.
ROUNDING = 2.0**-48
_MOST_COMPARISONS = 1 << 26


class VolumeTable:
    """Bounding spheres of bodies, in their own frames and in the world.

    Parameters
    ----------
    vertices : sequence of (v, 3) float64
        Vertices of each body, in its own frame. Bodies that share an array share the work.
    """

    def __init__(self, vertices: Sequence[Floats]) -> None:
        first, sphere_of_body = number_shapes(vertices)
        spheres = [sphere_of(vertices[body]) for body in first]
        self.centre = np.array([centre for centre, _ in spheres]).reshape(-1, 3)[sphere_of_body]
        self.radius = np.array([radius for _, radius in spheres], dtype=np.float64)[sphere_of_body]

    def __len__(self) -> int:
        return len(self.radius)

    def deform(self, body: int, vertices: Floats) -> None:
        """Set a body's vertices (v, 3); its sphere is then about the middle of their box."""
        lower, upper = np.empty((2, 3))
        box_of_points(read_only_view(vertices), lower, upper)
        self.centre[body] = 0.5 * lower + 0.5 * upper
        self.radius[body] = farthest_from(read_only_view(vertices), Vec3(*self.centre[body].tolist()))[1]

    def update(self, poses: Floats) -> tuple[Floats, Floats]:
        """Return (n, 3) world centres and (n,) radii under poses (n, 4, 4)."""
        centre, radius = np.empty((len(self), 3)), np.empty(len(self))
        move_spheres(read_only_view(poses), read_only_view(self.centre), read_only_view(self.radius), centre, radius)
        return centre, radius

    def boxes(self, poses: Floats) -> tuple[Floats, Floats]:
        """Return the paper's boxes (n, 3) in world axes, centre ± radius."""
        centre, radius = self.update(poses)
        return np.nextafter(centre - radius[:, None], -np.inf), np.nextafter(centre + radius[:, None], np.inf)


def sphere_of(points: Floats) -> tuple[Floats, float]:
    """Return the midpoint (3,) of the two most distant points (v, 3), and a radius."""
    points = read_only_view(points)
    lower, upper = np.empty((2, 3))
    box_of_points(points, lower, upper)
    middle = 0.5 * lower + 0.5 * upper
    reach = np.sqrt(np.square(points - middle).sum(axis=1))
    a, b = farthest_pair(points, read_only_view(np.argsort(-reach, kind="stable")), read_only_view(reach), _MOST_COMPARISONS)
    centre = 0.5 * points[a] + 0.5 * points[b]
    return centre, float(farthest_from(points, Vec3(*centre.tolist()))[1])


@kernel
def farthest_from(points: Floats, at: Vec3) -> tuple[int, float]:
    """Return the index and distance of the point of (v,3) farthest from `at`."""
    farthest = 0
    largest = -1.0
    for i in range(points.shape[0]):
        apart = minus(point_at(points, i), at)
        square = dot(apart, apart)
        if square > largest:
            largest = square
            farthest = i
    return farthest, np.sqrt(largest) * (1.0 + ROUNDING)


@kernel
def farthest_pair(points: Floats, order: NDArray[np.int64], reach: Floats, most: int) -> tuple[int, int]:
    """Return the two most distant points of (v,3).

    `reach` is each point's distance from the middle, `order` sorts by it, farthest first.
    """
    # The farthest point and the one farthest from it are a good start; no two are farther apart than their reaches together.
    a = order[0]
    b, distance = farthest_from(points, point_at(points, a))
    best = distance * distance
    compared = 0
    for p in range(1, points.shape[0]):
        i = order[p]
        if reach[i] + reach[order[0]] <= distance or compared > most:
            break
        for q in range(p):
            j = order[q]
            if reach[i] + reach[j] <= distance:
                break
            compared += 1
            apart = minus(point_at(points, i), point_at(points, j))
            square = dot(apart, apart)
            if square > best:
                best = square
                distance = np.sqrt(square)
                a, b = i, j
    return a, b


@kernel(forceinline=True)
def world_sphere(poses: Floats, i: int, centres: Floats, radii: Floats) -> tuple[Vec3, float]:
    """Return the world centre and radius of local sphere i, allowing for rounding."""
    x, y, z = centres[i, 0], centres[i, 1], centres[i, 2]
    u = ((poses[i, 0, 0] * x + poses[i, 0, 1] * y) + poses[i, 0, 2] * z) + poses[i, 0, 3]
    v = ((poses[i, 1, 0] * x + poses[i, 1, 1] * y) + poses[i, 1, 2] * z) + poses[i, 1, 3]
    w = ((poses[i, 2, 0] * x + poses[i, 2, 1] * y) + poses[i, 2, 2] * z) + poses[i, 2, 3]
    farthest = max(abs(x), abs(y), abs(z), abs(u), abs(v), abs(w)) + radii[i]
    return Vec3(u, v, w), radii[i] * (1.0 + STRETCH) + (ROUNDING * farthest + 2.0 * SMALLEST_WORLD_COORDINATE)


@kernel
def move_spheres(poses: Floats, centres: Floats, radii: Floats, world_centres: Floats, world_radii: Floats) -> None:
    """Write the world spheres of local spheres (n,3), (n,) under poses (n,4,4)."""
    for i in range(radii.shape[0]):
        centre, world_radii[i] = world_sphere(poses, i, centres, radii)
        write_point(world_centres, i, centre)


@kernel
def trim_boxes(poses: Floats, centres: Floats, radii: Floats, lower: Floats, upper: Floats) -> None:
    """Trim world boxes (n,3) to those of spheres (n,3), (n,) under poses (n,4,4).

    Infinite spheres trim nothing.
    """
    for i in range(radii.shape[0]):
        (u, v, w), radius = world_sphere(poses, i, centres, radii)
        # Rounding of the six differences is a thousandth of the radius's allowance for rounding.
        lower[i, 0], upper[i, 0] = max(lower[i, 0], u - radius), min(upper[i, 0], u + radius)
        lower[i, 1], upper[i, 1] = max(lower[i, 1], v - radius), min(upper[i, 1], v + radius)
        lower[i, 2], upper[i, 2] = max(lower[i, 2], w - radius), min(upper[i, 2], w + radius)


@kernel
def trim_to_rotated_boxes(
    poses: Floats, centres: Floats, radii: Floats, axes: Floats, bodies: Ints, lower: Floats, upper: Floats
) -> None:
    """Trim the world boxes (n,3) of some bodies to those of rotated boxes.

    A rotated box is a centre ± axes (n,3,3), the rows of which are half its edges. Its body is in the sphere about the centre, too.
    """
    for n in range(len(bodies)):
        i = as_int64(bodies[n])
        at, radius = world_sphere(poses, i, centres, radii)
        slack = radius - radii[i]  # covers directions that are orthonormal to 2^-40 only, and all rounding
        for k in range(3):
            row, reach = Vec3(poses[i, k, 0], poses[i, k, 1], poses[i, k, 2]), slack
            for j in range(3):
                reach += abs(dot(row, Vec3(axes[i, j, 0], axes[i, j, 1], axes[i, j, 2])))
            lower[i, k], upper[i, k] = max(lower[i, k], at[k] - reach), min(upper[i, k], at[k] + reach)

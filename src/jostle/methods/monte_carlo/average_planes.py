"""How far two facets are apart at least (Guy and Debunne §4.2): average planes, and further directions for what they do not part.

A facet is a cylinder: a disc of radius r with normal n, and what lies behind it down to the thickness; here by its middle q, its
axis n, r and half of the thickness e. Along a unit direction m it reaches r·sin θ + e·|cos θ| from q, cos θ = n·m. The average
plane of the paper has m = (n_a - n_b)/|n_a - n_b|, and Δ_a + Δ_b is the gap along it. Deviation: also m along n_a + n_b, n_a, n_b
and the line of the middles, for surfaces that meet from behind or sideways; each of them bounds the distance of all that the
cylinders hold.

All of it is scaled so that one root serves four directions: |n_a ∓ n_b| sin θ = |n_a × n_b| for both. It is the length of the cross
product, not √(1 - c²), whose rounding is 1e-8 where normals are parallel. A gap is never too large: `slack` holds the
rounding of places and the clearance, `eta` that of directions and what poses lack in orthonormality, both relative to the sizes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle.geometry.vector import Vec3, cross, dot, length, minus, point_from
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.work import Facet, FacetPair, PoseRow, Relative, Work


class FacetCylinder(NamedTuple):
    """The cylinder of a facet: middle, axis, radius, half of the thickness."""

    middle: Vec3
    axis: Vec3
    radius: float
    half: float


@kernel(forceinline=True)
def cylinder_of(facet: Facet) -> FacetCylinder:
    """Return the cylinder of a facet in the frame of its body."""
    return FacetCylinder(point_from(facet.middle, 0), point_from(facet.axis, 0), facet.radius, facet.half)


@kernel(forceinline=True)
def turned_coordinate(row: PoseRow, a: Vec3) -> float:
    """Return one coordinate of a direction in another frame."""
    return (row.x * a.x + row.y * a.y) + row.z * a.z


@kernel(forceinline=True)
def placed_coordinate(row: PoseRow, a: Vec3) -> float:
    """Return one coordinate of a point in another frame."""
    return ((row.x * a.x + row.y * a.y) + row.z * a.z) + row.shift


@kernel(forceinline=True)
def turned_by(pose: Relative, a: Vec3) -> Vec3:
    """Return a direction of the second body in the frame of the first."""
    return Vec3(turned_coordinate(pose.x, a), turned_coordinate(pose.y, a), turned_coordinate(pose.z, a))


@kernel(forceinline=True)
def placed_by(pose: Relative, a: Vec3) -> Vec3:
    """Return a point of the second body in the frame of the first."""
    return Vec3(placed_coordinate(pose.x, a), placed_coordinate(pose.y, a), placed_coordinate(pose.z, a))


@kernel(forceinline=True)
def in_first_frame(pose: Relative, b: FacetCylinder) -> FacetCylinder:
    """Return a cylinder of the second body in the frame of the first."""
    return FacetCylinder(placed_by(pose, b.middle), turned_by(pose, b.axis), b.radius, b.half)


@kernel(forceinline=True)
def gap_of_cylinders(a: FacetCylinder, b: FacetCylinder, relative: Relative) -> float:
    """Return a lower bound of the distance of two cylinders in one frame, less the slack; not positive where none parts them."""
    total = (a.radius + a.half) + (b.radius + b.half)
    least = relative.slack + relative.eta * total
    far = total + least
    d = minus(b.middle, a.middle)
    dd = dot(d, d)
    if dd > far * far:
        return math.sqrt(dd) - far
    x, y, c = dot(a.axis, d), dot(b.axis, d), dot(a.axis, b.axis)
    s = length(cross(a.axis, b.axis))
    across = (a.radius + b.radius) * s
    thick = a.half + b.half
    # |n_a - n_b| and |n_a + n_b| are at most 2.
    gap = max(abs(x - y) - (across + thick * (1.0 - c)), abs(x + y) - (across + thick * (1.0 + c)))
    gap = max(0.5 * gap, abs(x) - (a.half + b.radius * s + b.half * abs(c)), abs(y) - (b.half + a.radius * s + a.half * abs(c)))
    if gap > least:
        return gap - least
    # Times |d|; a root of a difference needs its own slack.
    uneven = 4.0 * relative.eta * dd
    aside_a, aside_b = math.sqrt(max(dd - x * x, 0.0) + uneven), math.sqrt(max(dd - y * y, 0.0) + uneven)
    line = dd - ((a.radius * aside_a + a.half * abs(x)) + (b.radius * aside_b + b.half * abs(y)))
    if line > 0.0:
        gap = max(gap, line / math.sqrt(dd))
    return gap - least


@kernel
def gap_of_facets(work: Work, pair: FacetPair) -> float:
    """Return `gap_of_cylinders` of two facets."""
    relative = work.relative[pair.couple]
    b = in_first_frame(relative, cylinder_of(work.facets[pair.b]))
    return gap_of_cylinders(cylinder_of(work.facets[pair.a]), b, relative)


@kernel(forceinline=True)
def squared_distance(work: Work, pair: FacetPair) -> float:
    """Return that of the middles of two facets."""
    b = placed_by(work.relative[pair.couple], point_from(work.facets[pair.b].middle, 0))
    d = minus(b, point_from(work.facets[pair.a].middle, 0))
    return dot(d, d)


@kernel(forceinline=True)
def farthest_middles(work: Work, pair: FacetPair) -> float:
    """Return how far the middles of two facets may be from each other while no direction parts these, rounding allowed for."""
    a, b, relative = work.facets[pair.a], work.facets[pair.b], work.relative[pair.couple]
    total = (a.radius + a.half) + (b.radius + b.half)
    return total + (relative.slack + relative.eta * total)


@kernel(forceinline=True)
def spread_of(work: Work, pair: FacetPair) -> float:
    """Return a bound of the distance of any two points below two facets that no direction parts.

    Both are within r + e of their middles, and so are the middles of each other, but for the rounding that parting allows for.
    """
    return 2.0 * farthest_middles(work, pair)

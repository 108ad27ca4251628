"""Lower bounds of the distance of two facets (§4.2): average planes and more.

A facet is a cylinder: a disc of radius r with normal n, and everything behind it down to the thickness; here given by its middle q,
its axis n, r and half of the thickness e. Along a unit direction m it reaches r·sin θ + e·|cos θ| from q, cos θ = n·m. The average
plane of the paper has m = (n_a - n_b)/|n_a - n_b|, and Δ_a + Δ_b is the gap along it. Deviation: m along n_a + n_b, n_a, n_b and
the line of the middles as well, for surfaces that meet from behind or sideways; each bounds the distance of all that the cylinders
hold.

Everything is scaled so that one root serves four directions: |n_a ∓ n_b| sin θ = |n_a × n_b| for both. It is the length of the
cross product, not √(1 - c²), whose rounding is 1e-8 where normals are parallel. A gap is never too large: `slack` covers the
rounding of positions and the clearance, `eta` that of directions and poses that are not quite orthonormal, both relative to the
sizes.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from jostle.geometry.rigid import moved_point, turned_vector
from jostle.geometry.vector import Vec3, cross, dot, length, minus, point_from
from jostle.kernels.jit import kernel
from jostle.methods.monte_carlo.work import Facet, FacetPair, Relative, Work, rigid_pose


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
def in_first_frame(relative: Relative, b: FacetCylinder) -> FacetCylinder:
    """Return a cylinder of the second body in the frame of the first."""
    pose = rigid_pose(relative)
    return FacetCylinder(moved_point(pose, b.middle), turned_vector(pose, b.axis), b.radius, b.half)


@kernel(forceinline=True)
def between_middles(work: Work, pair: FacetPair) -> Vec3:
    """Return the vector between the middles of two facets, in the first body's frame."""
    b = moved_point(rigid_pose(work.relative[pair.body_pair]), point_from(work.facets[pair.b].middle, 0))
    return minus(b, point_from(work.facets[pair.a].middle, 0))


@kernel(forceinline=True)
def gap_of_cylinders(a: FacetCylinder, b: FacetCylinder, relative: Relative) -> float:
    """Return a lower bound of the distance of two cylinders, less the slack.

    Not positive where no direction separates them.
    """
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
    relative = work.relative[pair.body_pair]
    b = in_first_frame(relative, cylinder_of(work.facets[pair.b]))
    return gap_of_cylinders(cylinder_of(work.facets[pair.a]), b, relative)


@kernel(forceinline=True)
def squared_distance(work: Work, pair: FacetPair) -> float:
    """Return the squared distance of the middles of two facets."""
    d = between_middles(work, pair)
    return dot(d, d)


@kernel(forceinline=True)
def farthest_middles(work: Work, pair: FacetPair) -> float:
    """Return the largest distance of the middles of two facets that are not separated.

    Rounding is allowed for.
    """
    a, b, relative = work.facets[pair.a], work.facets[pair.b], work.relative[pair.body_pair]
    total = (a.radius + a.half) + (b.radius + b.half)
    return total + (relative.slack + relative.eta * total)


@kernel(forceinline=True)
def spread_of(work: Work, pair: FacetPair) -> float:
    """Bound the distance of any two points below two facets that are not separated.

    Each is within r + e of its middle, and the middles are within the sum of these of each other, up to rounding.
    """
    return 2.0 * farthest_middles(work, pair)

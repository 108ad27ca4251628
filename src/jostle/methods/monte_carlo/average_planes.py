"""How far two facets are apart at least (Guy and Debunne §4.2): average planes, and further directions for what they do not part.

A facet is a cylinder: a disc of radius r with normal n, and what lies behind it down to the thickness; here by its middle q, its
axis n, r and half of the thickness e. Along a unit direction m it reaches r·sin θ + e·|cos θ| from q, cos θ = n·m. The average
plane of the paper has m = (n_a - n_b)/|n_a - n_b|, and Δ_a + Δ_b is the gap along it. Deviation: also m along n_a + n_b, n_a, n_b
and the line of the middles, for surfaces that meet from behind or sideways; each of them bounds the distance of all that the
cylinders hold.

All of it is scaled so that one root serves four directions: |n_a ∓ n_b| sin θ = |n_a × n_b| for both. It is the length of the cross
product, not √(1 - c²), whose rounding is 1e-8 where normals are parallel. A gap that is told is never too large: `slack` holds the
rounding of places and the clearance, `eta` that of directions and what poses lack in orthonormality, both relative to the sizes.
"""

import math

from jostle.kernels.jit import kernel

ROW = 8  # float64 numbers of a facet: middle (3), axis (3), radius, half of the thickness


@kernel(forceinline=True)
def in_frame(data, f, relative, at):  # type: ignore[no-untyped-def]
    """Middle and axis of facet f in the frame of the other body; relative: flat rows of twelve numbers, that at `at` is used."""
    i = ROW * f
    x, y, z, u, v, w = data[i], data[i + 1], data[i + 2], data[i + 3], data[i + 4], data[i + 5]
    r00, r01, r02 = relative[at], relative[at + 1], relative[at + 2]
    r10, r11, r12 = relative[at + 4], relative[at + 5], relative[at + 6]
    r20, r21, r22 = relative[at + 8], relative[at + 9], relative[at + 10]
    return (
        ((r00 * x + r01 * y) + r02 * z) + relative[at + 3],
        ((r10 * x + r11 * y) + r12 * z) + relative[at + 7],
        ((r20 * x + r21 * y) + r22 * z) + relative[at + 11],
        (r00 * u + r01 * v) + r02 * w,
        (r10 * u + r11 * v) + r12 * w,
        (r20 * u + r21 * v) + r22 * w,
    )


@kernel(forceinline=True)
def gap_of_cylinders(dx, dy, dz, ax, ay, az, ra, ea, bx, by, bz, rb, eb, eta, slack):  # type: ignore[no-untyped-def]
    """A lower bound of the distance of two cylinders, less the slack; not positive where no direction parts them.

    d from the middle of a to that of b; axes a and b; radii and half thicknesses.
    """
    total = (ra + ea) + (rb + eb)
    least = slack + eta * total
    far = total + least
    dd = (dx * dx + dy * dy) + dz * dz
    if dd > far * far:
        return math.sqrt(dd) - far
    x = (ax * dx + ay * dy) + az * dz
    y = (bx * dx + by * dy) + bz * dz
    c = (ax * bx + ay * by) + az * bz
    px, py, pz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    s = math.sqrt((px * px + py * py) + pz * pz)
    across = (ra + rb) * s
    thick = ea + eb
    # |n_a - n_b| and |n_a + n_b| are at most 2.
    gap = max(abs(x - y) - (across + thick * (1.0 - c)), abs(x + y) - (across + thick * (1.0 + c)))
    gap = max(0.5 * gap, abs(x) - (ea + rb * s + eb * abs(c)), abs(y) - (eb + ra * s + ea * abs(c)))
    if gap > least:
        return gap - least
    # Times |d|; a root of a difference needs its own slack.
    la, lb = math.sqrt(max(dd - x * x, 0.0) + 4.0 * eta * dd), math.sqrt(max(dd - y * y, 0.0) + 4.0 * eta * dd)
    line = dd - ((ra * la + ea * abs(x)) + (rb * lb + eb * abs(y)))
    if line > 0.0:
        gap = max(gap, line / math.sqrt(dd))
    return gap - least


@kernel
def gap_of_facets(data, fa, fb, relative, at):  # type: ignore[no-untyped-def]
    """`gap_of_cylinders` of two facets; relative[at:] holds the pose of b in a's frame (12), eta and the slack."""
    i, j = ROW * fa, ROW * fb
    x, y, z, u, v, w = in_frame(data, fb, relative, at)
    return gap_of_cylinders(
        x - data[i], y - data[i + 1], z - data[i + 2], data[i + 3], data[i + 4], data[i + 5], data[i + 6], data[i + 7],
        u, v, w, data[j + 6], data[j + 7], relative[at + 12], relative[at + 13],
    )  # fmt: skip


@kernel(forceinline=True)
def squared_distance(data, fa, fb, relative, at):  # type: ignore[no-untyped-def]
    """Of the middles of two facets."""
    i, j = ROW * fa, ROW * fb
    x, y, z = data[j], data[j + 1], data[j + 2]
    dx = ((relative[at] * x + relative[at + 1] * y) + relative[at + 2] * z) + relative[at + 3] - data[i]
    dy = ((relative[at + 4] * x + relative[at + 5] * y) + relative[at + 6] * z) + relative[at + 7] - data[i + 1]
    dz = ((relative[at + 8] * x + relative[at + 9] * y) + relative[at + 10] * z) + relative[at + 11] - data[i + 2]
    return (dx * dx + dy * dy) + dz * dz


@kernel(forceinline=True)
def spread_of(data, fa, fb, relative, at):  # type: ignore[no-untyped-def]
    """A bound of the distance of any two points below two facets that no direction parts.

    Both are within r + e of their middles, and so are the middles of each other, but for the rounding that parting allows for.
    """
    i, j = ROW * fa, ROW * fb
    total = (data[i + 6] + data[i + 7]) + (data[j + 6] + data[j + 7])
    return 2.0 * (total + (relative[at + 13] + relative[at + 12] * total))

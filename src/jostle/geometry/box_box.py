"""Whether an oriented box meets an axis-aligned box, by 15 separating axes: never wrongly no.

The oriented box is a centre and three half axes u, v, w. They need not be quite orthogonal (poses are rigid to 1e-5 only): any
axis that separates the two is a proof, whatever it was made of. What does not depend on the place of either box is set
up once (`set_up_oriented_box`), since a body has thousands of boxes of one size and orientation.

Guarantee: "no" only when the exact boxes, the axis-aligned one grown by the padding, share no point. Rounding: in units of
2^-53, a projection of the distance d of the centres on an axis a is off by at most 4 ‖a‖₁ ‖d‖∞, the sum of the half axes'
projections by 12 ‖a‖₁ ‖u, v, w‖∞ and that of the box by 4 ‖a‖₁ ‖h‖∞, while growing the half extents h by s grows it by ‖a‖₁ s; so
16 times the sum of the three lengths is enough. "Yes" is said too often only within the padding and that.
"""

from jostle.kernels.jit import kernel

# A row of a table of oriented boxes: half axes u, v, w (9), padding, radii along x, y, z, along u, v, w, and along u × x, u × y,
# u × z, v × x, …, w × z.
WIDTH = 25
PADDING, WORLD_RADII, OWN_RADII, EDGE_RADII = 9, 10, 13, 16
ROUNDING = 2.0**-49


@kernel
def set_up_oriented_box(table, row, ux, uy, uz, vx, vy, vz, wx, wy, wz, padding):
    """Write all that the test needs of half axes u, v, w into a row of `table` (n, WIDTH)."""
    table[row, 0], table[row, 1], table[row, 2] = ux, uy, uz
    table[row, 3], table[row, 4], table[row, 5] = vx, vy, vz
    table[row, 6], table[row, 7], table[row, 8] = wx, wy, wz
    largest = 0.0
    for k in range(9):
        largest = max(largest, abs(table[row, k]))
    table[row, PADDING] = padding + ROUNDING * largest
    for k in range(3):
        table[row, WORLD_RADII + k] = abs(table[row, k]) + abs(table[row, k + 3]) + abs(table[row, k + 6])
        x, y, z = table[row, 3 * k], table[row, 3 * k + 1], table[row, 3 * k + 2]
        own, yz, zx, xy = 0.0, 0.0, 0.0, 0.0
        for m in range(3):
            p, q, r = table[row, 3 * m], table[row, 3 * m + 1], table[row, 3 * m + 2]
            own += abs((x * p + y * q) + z * r)
            yz += abs(z * q - y * r)
            zx += abs(x * r - z * p)
            xy += abs(y * p - x * q)
        table[row, OWN_RADII + k] = own
        table[row, EDGE_RADII + 3 * k], table[row, EDGE_RADII + 3 * k + 1], table[row, EDGE_RADII + 3 * k + 2] = yz, zx, xy


@kernel(forceinline=True)
def oriented_box_meets_box(table, row, dx, dy, dz, hx, hy, hz):
    """Whether the oriented box of a row, its centre at d, meets the box of half extents h about the origin; never wrongly no."""
    ax, ay, az = abs(dx), abs(dy), abs(dz)
    grown = table[row, PADDING] + ROUNDING * (max(ax, ay, az) + max(hx, hy, hz))
    hx, hy, hz = hx + grown, hy + grown, hz + grown
    if ax > hx + table[row, WORLD_RADII] or ay > hy + table[row, WORLD_RADII + 1] or az > hz + table[row, WORLD_RADII + 2]:
        return False
    if ax <= hx and ay <= hy and az <= hz:
        return True  # the centre is inside
    for k in range(3):
        x, y, z = table[row, 3 * k], table[row, 3 * k + 1], table[row, 3 * k + 2]
        if abs((x * dx + y * dy) + z * dz) > ((abs(x) * hx + abs(y) * hy) + abs(z) * hz) + table[row, OWN_RADII + k]:
            return False
    for k in range(3):
        x, y, z = table[row, 3 * k], table[row, 3 * k + 1], table[row, 3 * k + 2]
        edge = EDGE_RADII + 3 * k
        if (
            abs(z * dy - y * dz) > (abs(z) * hy + abs(y) * hz) + table[row, edge]
            or abs(x * dz - z * dx) > (abs(x) * hz + abs(z) * hx) + table[row, edge + 1]
            or abs(y * dx - x * dy) > (abs(y) * hx + abs(x) * hy) + table[row, edge + 2]
        ):
            return False
    return True

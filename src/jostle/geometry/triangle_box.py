"""Whether a closed triangle meets a closed axis-aligned box: by clipping, and by separating axes.

`triangle_meets_box_clip` is §3.7 of Kitamura et al. 1998: bounding boxes first, then vertices inside the box, then
clipping against the face planes of two dimensions, leaving early when a cut lies inside its face, and a range check
for the third. `triangle_meets_box_sat` looks for a separating axis among the normals and edge products of the two.

Guarantee of both: never "no" when the exact triangle and the exact box share a point. The deviation from the paper
is the padding that this takes: coordinates are taken about the box's centre, where D is the largest of the vertices
and of the half extents, and the box is grown by D times the rounding below. "Yes" is said too often only for gaps
of that size (SAT: larger for triangles so flat that their plane is lost in rounding). Degenerate triangles are fine.

Measured on one core (ns per test; triangle 0.1, 1 and 4 times the box, bounding boxes meeting): clip 25, 93, 134;
SAT 15, 65, 80. So `triangle_meets_box` is the SAT, with the paper's two quick tests in front (without the vertex
test it takes 49 ns for small triangles).
"""

from jostle.geometry.scalar_vector import cross
from jostle.kernels.jit import kernel

# In units of h = 2⁻⁵³, per D. Clipping: moving to the centre costs 1; a cut a + t(b − a) has 3 roundings in t, one in
# b − a, one in the product, on a length of at most 2D, and one in the sum: 11. If the exact triangle has the point q in
# the box, every clip of the grown box keeps a point of the polygon within 11 of the last such point, so that after four
# clips a point within 45 of q is left, inside the grown box in the third dimension too. 64 leaves room.
CLIP_ROUNDING = 2.0**-47
# Axis e × x̂: projections e_z·d_y − e_y·d_z and the box's radius have 4 roundings each, relative to their terms: 8.
EDGE_ROUNDING = 2.0**-49
# Normal axis: the components of e × f have 4 roundings relative to the sum m of their two terms, projecting adds 4, for
# the vertex and for the box: 16 · m. It grows the radius by m, not by |e × f|: flat triangles have |e × f| ≪ m.
PLANE_ROUNDING = 2.0**-48

# A polygon of 3 corners clipped four times has at most 7; rounding that breaks convexity could make it 13.
CLIP_WORKSPACE_SHAPE = (2, 16, 3)


@kernel
def bounding_boxes_part(ax, ay, az, bx, by, bz, cx, cy, cz, lx, ly, lz, ux, uy, uz):
    """Whether the triangle's bounding box and the box share no point; exact."""
    return (
        (ax < lx and bx < lx and cx < lx)
        or (ax > ux and bx > ux and cx > ux)
        or (ay < ly and by < ly and cy < ly)
        or (ay > uy and by > uy and cy > uy)
        or (az < lz and bz < lz and cz < lz)
        or (az > uz and bz > uz and cz > uz)
    )


@kernel
def a_vertex_is_inside(ax, ay, az, bx, by, bz, cx, cy, cz, lx, ly, lz, ux, uy, uz):
    """Whether the closed box contains a corner of the triangle; exact."""
    return (
        (lx <= ax <= ux and ly <= ay <= uy and lz <= az <= uz)
        or (lx <= bx <= ux and ly <= by <= uy and lz <= bz <= uz)
        or (lx <= cx <= ux and ly <= cy <= uy and lz <= cz <= uz)
    )


@kernel
def centre_and_half(low, high):
    """A floating-point centre of [low, high] and the farther end's distance from it (one rounding)."""
    centre = 0.5 * (low + high)
    return centre, max(high - centre, centre - low)


@kernel
def clip_against(polygon, source, count, axis, sign, bound, other, half_other, third, half_third):
    """Clip polygon[source, :count] by sign·x[axis] <= bound into polygon[1 - source]; its count, or -1: a cut lies in the face."""
    target = 1 - source
    kept = 0
    for i in range(count):
        j = i + 1 if i + 1 < count else 0
        here, there = sign * polygon[source, i, axis], sign * polygon[source, j, axis]
        if here <= bound:
            for k in range(3):
                polygon[target, kept, k] = polygon[source, i, k]
            kept += 1
        if (here <= bound) != (there <= bound):
            t = (bound - here) / (there - here)
            p = polygon[source, i, other] + t * (polygon[source, j, other] - polygon[source, i, other])
            q = polygon[source, i, third] + t * (polygon[source, j, third] - polygon[source, i, third])
            if abs(p) <= half_other and abs(q) <= half_third:
                return -1
            polygon[target, kept, axis] = sign * bound
            polygon[target, kept, other] = p
            polygon[target, kept, third] = q
            kept += 1
    return kept


@kernel
def triangle_meets_box_clip(ax, ay, az, bx, by, bz, cx, cy, cz, lx, ly, lz, ux, uy, uz, polygon):
    """Whether triangle abc meets the box [l, u]; never wrongly no. `polygon`: scratch of CLIP_WORKSPACE_SHAPE, float64."""
    if bounding_boxes_part(ax, ay, az, bx, by, bz, cx, cy, cz, lx, ly, lz, ux, uy, uz):
        return False
    if a_vertex_is_inside(ax, ay, az, bx, by, bz, cx, cy, cz, lx, ly, lz, ux, uy, uz):
        return True
    ox, hx = centre_and_half(lx, ux)
    oy, hy = centre_and_half(ly, uy)
    oz, hz = centre_and_half(lz, uz)
    polygon[0, 0, 0], polygon[0, 0, 1], polygon[0, 0, 2] = ax - ox, ay - oy, az - oz
    polygon[0, 1, 0], polygon[0, 1, 1], polygon[0, 1, 2] = bx - ox, by - oy, bz - oz
    polygon[0, 2, 0], polygon[0, 2, 1], polygon[0, 2, 2] = cx - ox, cy - oy, cz - oz
    largest = max(hx, hy, hz)
    for i in range(3):
        for k in range(3):
            largest = max(largest, abs(polygon[0, i, k]))
    padding = CLIP_ROUNDING * largest
    hx, hy, hz = hx + padding, hy + padding, hz + padding

    count = clip_against(polygon, 0, 3, 0, 1.0, hx, 1, hy, 2, hz)
    if count > 0:
        count = clip_against(polygon, 1, count, 0, -1.0, hx, 1, hy, 2, hz)
    if count > 0:
        count = clip_against(polygon, 0, count, 1, 1.0, hy, 2, hz, 0, hx)
    if count > 0:
        count = clip_against(polygon, 1, count, 1, -1.0, hy, 2, hz, 0, hx)
    if count <= 0:
        return count < 0
    all_above, all_below = True, True
    for i in range(count):
        all_above = all_above and polygon[0, i, 2] > hz
        all_below = all_below and polygon[0, i, 2] < -hz
    return not (all_above or all_below)


@kernel
def edge_axes_separate(ex, ey, ez, ax, ay, az, cx, cy, cz, hx, hy, hz):
    """Whether an axis e × x̂, e × ŷ or e × ẑ separates the box of half extents h from a triangle with edge e.

    a is an end of the edge, c the corner opposite (both ends of the edge project to the same value).
    """
    p, q, r = ez * ay - ey * az, ez * cy - ey * cz, abs(ez) * hy + abs(ey) * hz
    if min(p, q) > r or max(p, q) < -r:
        return True
    p, q, r = ex * az - ez * ax, ex * cz - ez * cx, abs(ex) * hz + abs(ez) * hx
    if min(p, q) > r or max(p, q) < -r:
        return True
    p, q, r = ey * ax - ex * ay, ey * cx - ex * cy, abs(ey) * hx + abs(ex) * hy
    return min(p, q) > r or max(p, q) < -r


@kernel
def plane_separates(ex, ey, ez, fx, fy, fz, ax, ay, az, hx, hy, hz, rounding):
    """Whether the plane through a along e and f leaves the box of half extents h on one side, by more than the rounding."""
    nx, ny, nz = cross(ex, ey, ez, fx, fy, fz)
    terms = abs(ey * fz) + abs(ez * fy) + abs(ez * fx) + abs(ex * fz) + abs(ex * fy) + abs(ey * fx)
    radius = (abs(nx) * hx + abs(ny) * hy) + abs(nz) * hz
    return abs((nx * ax + ny * ay) + nz * az) > radius + rounding * terms


@kernel
def triangle_meets_box_sat(ax, ay, az, bx, by, bz, cx, cy, cz, lx, ly, lz, ux, uy, uz):
    """Whether triangle abc meets the box [l, u], by 13 separating axes; never wrongly no."""
    if bounding_boxes_part(ax, ay, az, bx, by, bz, cx, cy, cz, lx, ly, lz, ux, uy, uz):
        return False
    if a_vertex_is_inside(ax, ay, az, bx, by, bz, cx, cy, cz, lx, ly, lz, ux, uy, uz):
        return True
    # Edges before the shift: a difference of input coordinates has one rounding, relative to itself.
    ex, ey, ez = bx - ax, by - ay, bz - az
    fx, fy, fz = cx - bx, cy - by, cz - bz
    gx, gy, gz = ax - cx, ay - cy, az - cz
    ox, hx = centre_and_half(lx, ux)
    oy, hy = centre_and_half(ly, uy)
    oz, hz = centre_and_half(lz, uz)
    ax, ay, az = ax - ox, ay - oy, az - oz
    bx, by, bz = bx - ox, by - oy, bz - oz
    cx, cy, cz = cx - ox, cy - oy, cz - oz
    largest = max(abs(ax), abs(ay), abs(az), abs(bx), abs(by), abs(bz))
    largest = max(largest, abs(cx), abs(cy), abs(cz), hx, hy, hz)
    if plane_separates(ex, ey, ez, fx, fy, fz, ax, ay, az, hx, hy, hz, PLANE_ROUNDING * largest):
        return False
    padding = EDGE_ROUNDING * largest
    hx, hy, hz = hx + padding, hy + padding, hz + padding
    return not (
        edge_axes_separate(ex, ey, ez, ax, ay, az, cx, cy, cz, hx, hy, hz)
        or edge_axes_separate(fx, fy, fz, bx, by, bz, ax, ay, az, hx, hy, hz)
        or edge_axes_separate(gx, gy, gz, cx, cy, cz, bx, by, bz, hx, hy, hz)
    )


triangle_meets_box = triangle_meets_box_sat

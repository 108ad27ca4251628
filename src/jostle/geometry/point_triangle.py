"""The closest point of a closed triangle to a point, right for triangles of any shape, down to segments and points.

A triangle gets a frame: its longest edge as first axis, the perpendicular height towards the third corner as second.
The height is made perpendicular twice (Gram–Schmidt "twice is enough"), which leaves an error that amounts to moving
a corner by a few roundings of the triangle's size. The usual region tests on products of inner products lose half
of the digits on needles; here the plane problem is solved in two coordinates with the same small backward error.

Accuracy: with S the largest |coordinate difference| among the point and the corners, the distance is off by less
than 64 · 2⁻⁵³ · S (measured: 7). An offset of all coordinates costs nothing, since only differences enter; sizes of 1e-46 … 1e60
neither underflow nor overflow, since only squares are formed. The point returned is rounded to its coordinates.
"""

from jostle.geometry.vector import cross, dot, length
from jostle.kernels.jit import kernel

# A height below this share of the base is rounding noise without a direction: the triangle is taken as its base.
FLAT = 2.0**-51


@kernel
def triangle_frame(ax, ay, az, bx, by, bz, cx, cy, cz):
    """The frame of a triangle: (origin o, unit u, unit v, base, foot, height), 12 floats.

    Its corners are o, o + base·u and o + foot·u + height·v, with 0 <= foot <= base. A segment has v = 0 and height
    0, a point has u = v = 0 and base 0.
    """
    ab = dot(bx - ax, by - ay, bz - az, bx - ax, by - ay, bz - az)
    bc = dot(cx - bx, cy - by, cz - bz, cx - bx, cy - by, cz - bz)
    ca = dot(ax - cx, ay - cy, az - cz, ax - cx, ay - cy, az - cz)
    if bc > ab and bc >= ca:
        ax, ay, az, bx, by, bz, cx, cy, cz = bx, by, bz, cx, cy, cz, ax, ay, az
    elif ca > ab:
        ax, ay, az, bx, by, bz, cx, cy, cz = cx, cy, cz, ax, ay, az, bx, by, bz
    ux, uy, uz = bx - ax, by - ay, bz - az
    base = length(ux, uy, uz)
    if base == 0.0:
        return ax, ay, az, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    shrink = 1.0 / base
    ux, uy, uz = shrink * ux, shrink * uy, shrink * uz
    vx, vy, vz = cx - ax, cy - ay, cz - az
    foot = dot(vx, vy, vz, ux, uy, uz)
    vx, vy, vz = vx - foot * ux, vy - foot * uy, vz - foot * uz
    rest = dot(vx, vy, vz, ux, uy, uz)
    vx, vy, vz = vx - rest * ux, vy - rest * uy, vz - rest * uz
    height = length(vx, vy, vz)
    if height <= FLAT * base:
        return ax, ay, az, ux, uy, uz, 0.0, 0.0, 0.0, base, 0.0, 0.0
    shrink = 1.0 / height
    return ax, ay, az, ux, uy, uz, shrink * vx, shrink * vy, shrink * vz, base, foot + rest, height


@kernel
def in_frame(frame, px, py, pz):
    """Coordinates (x, y, z) of a point in a triangle's frame; z is the signed height over its plane (0 for a segment)."""
    ox, oy, oz, ux, uy, uz, vx, vy, vz, _, _, _ = frame
    px, py, pz = px - ox, py - oy, pz - oz
    nx, ny, nz = cross(ux, uy, uz, vx, vy, vz)
    return dot(px, py, pz, ux, uy, uz), dot(px, py, pz, vx, vy, vz), dot(px, py, pz, nx, ny, nz)


@kernel
def out_of_frame(frame, x, y):
    """The point with coordinates (x, y) in a triangle's plane."""
    ox, oy, oz, ux, uy, uz, vx, vy, vz, _, _, _ = frame
    return ox + (x * ux + y * vx), oy + (x * uy + y * vy), oz + (x * uz + y * vz)


@kernel
def over_triangle(frame, x, y):
    """Whether (x, y) lies in the triangle, in its own frame; never for one without area."""
    base, foot, height = frame[9], frame[10], frame[11]
    return height > 0.0 and y >= 0.0 and height * x >= foot * y and height * (base - x) >= (base - foot) * y


@kernel
def closest_on_side(x, y, ax, ay, bx, by):
    """The point of the plane segment ab closest to (x, y), and its squared distance; a and b differ."""
    ex, ey = bx - ax, by - ay
    t = ((x - ax) * ex + (y - ay) * ey) / (ex * ex + ey * ey)
    t = min(max(t, 0.0), 1.0)
    qx, qy = ax + t * ex, ay + t * ey
    return qx, qy, (x - qx) * (x - qx) + (y - qy) * (y - qy)


@kernel
def closest_point_on_triangle(px, py, pz, ax, ay, az, bx, by, bz, cx, cy, cz):
    """The point (x, y, z) of the closed triangle abc closest to p, and the squared distance: four floats."""
    frame = triangle_frame(ax, ay, az, bx, by, bz, cx, cy, cz)
    ox, oy, oz, ux, uy, uz, vx, vy, vz, base, foot, height = frame
    x, y, _ = in_frame(frame, px, py, pz)
    # What is left off the plane; for a segment it holds everything across the axis, for a point all of p − o.
    rx, ry, rz = (px - ox) - (x * ux + y * vx), (py - oy) - (x * uy + y * vy), (pz - oz) - (x * uz + y * vz)
    off_plane = dot(rx, ry, rz, rx, ry, rz)
    if over_triangle(frame, x, y):
        qx, qy, in_plane = x, y, 0.0
    else:
        qx, qy = min(max(x, 0.0), base), 0.0
        in_plane = (x - qx) * (x - qx) + y * y
        if height > 0.0:
            sx, sy, squared = closest_on_side(x, y, 0.0, 0.0, foot, height)
            if squared < in_plane:
                qx, qy, in_plane = sx, sy, squared
            sx, sy, squared = closest_on_side(x, y, base, 0.0, foot, height)
            if squared < in_plane:
                qx, qy, in_plane = sx, sy, squared
    wx, wy, wz = out_of_frame(frame, qx, qy)
    return wx, wy, wz, off_plane + in_plane

"""The smallest enclosing sphere of a set of points (§3), and the sphere that grows to hold one more (§3.2).

The smallest sphere is fixed by two to four points on it, its *support*. As in Gärtner, "Fast and robust smallest enclosing balls"
(1999), the point farthest from the centre joins the support, whose smallest sphere is found among the circumscribed ones of
its subsets; the radius grows with each exchange, until no point lies outside. Each exchange is one pass over the points.

Guarantee: where rounding leaves no subset whose sphere holds the support (points that coincide or nearly lie on a line), the best
centre so far is kept, with the radius to its farthest point: always a bounding sphere, and the smallest up to rounding.
"""

import math

import numpy as np

from jostle.kernels.jit import kernel

SUPPORT = 12
MOST_EXCHANGES = 200  # a bound, in case rounding lets the radius creep
INSIDE = 1.0 + 1e-12  # of a squared radius: a point on the sphere counts as inside, whatever its rounding


@kernel
def farthest_point(points, n, cx, cy, cz):
    """The number of the point farthest from c among the first n of points (.,3), and its squared distance."""
    far, best = -1.0, 0
    for i in range(n):
        x, y, z = points[i, 0] - cx, points[i, 1] - cy, points[i, 2] - cz
        squared = (x * x + y * y) + z * z
        if squared > far:
            far, best = squared, i
    return best, far


@kernel
def circumscribed(points, support, size):
    """Centre (x, y, z) and squared radius of the smallest sphere through support[:size], 1 … 4 points; inf where there is none."""
    p = support[0]
    px, py, pz = points[p, 0], points[p, 1], points[p, 2]
    if size == 1:
        return px, py, pz, 0.0
    q = support[1]
    ax, ay, az = points[q, 0] - px, points[q, 1] - py, points[q, 2] - pz
    aa = (ax * ax + ay * ay) + az * az
    if size == 2:
        return px + 0.5 * ax, py + 0.5 * ay, pz + 0.5 * az, 0.25 * aa
    r = support[2]
    bx, by, bz = points[r, 0] - px, points[r, 1] - py, points[r, 2] - pz
    bb = (bx * bx + by * by) + bz * bz
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    if size == 3:
        below = 2.0 * ((nx * nx + ny * ny) + nz * nz)
        ox = aa * (by * nz - bz * ny) + bb * (ny * az - nz * ay)
        oy = aa * (bz * nx - bx * nz) + bb * (nz * ax - nx * az)
        oz = aa * (bx * ny - by * nx) + bb * (nx * ay - ny * ax)
    else:
        s = support[3]
        cx, cy, cz = points[s, 0] - px, points[s, 1] - py, points[s, 2] - pz
        cc = (cx * cx + cy * cy) + cz * cz
        below = 2.0 * ((nx * cx + ny * cy) + nz * cz)
        ox = aa * (by * cz - bz * cy) + bb * (cy * az - cz * ay) + cc * nx
        oy = aa * (bz * cx - bx * cz) + bb * (cz * ax - cx * az) + cc * ny
        oz = aa * (bx * cy - by * cx) + bb * (cx * ay - cy * ax) + cc * nz
    if below == 0.0:
        return px, py, pz, math.inf
    ox, oy, oz = ox / below, oy / below, oz / below
    squared = (ox * ox + oy * oy) + oz * oz
    if not squared < math.inf:
        return px, py, pz, math.inf
    return px + ox, py + oy, pz + oz, squared


@kernel
def _exchange(points, support, size, entering):
    """Make support[:4] that of the smallest sphere of support[:size] and one point more; returns its size, 0 if none is found.

    support (12,): the support, the old one, and the points on trial.
    """
    best_size, best = 0, math.inf
    old, trial = support[4:8], support[8:12]
    for k in range(size):
        old[k] = support[k]
    for chosen in range(1 << size):
        members = 1
        trial[0] = entering
        for k in range(size):
            if chosen >> k & 1:
                if members < 4:
                    trial[members] = old[k]
                members += 1
        if members > 4:
            continue
        x, y, z, squared = circumscribed(points, trial, members)
        if not squared < best:
            continue
        holds = True
        for k in range(size):
            p = old[k]
            dx, dy, dz = points[p, 0] - x, points[p, 1] - y, points[p, 2] - z
            if not chosen >> k & 1 and (dx * dx + dy * dy) + dz * dz > squared * INSIDE:
                holds = False
        if holds:
            best, best_size = squared, members
            for k in range(members):
                support[k] = trial[k]
    return best_size


@kernel
def smallest_sphere(points, n, support):
    """Centre (x, y, z) of the smallest sphere of the first n >= 1 of points (.,3); support (12,) is scratch."""
    first, _ = farthest_point(points, n, points[0, 0], points[0, 1], points[0, 2])
    second, _ = farthest_point(points, n, points[first, 0], points[first, 1], points[first, 2])
    support[0], support[1] = first, second
    size = np.int64(2)
    best_x, best_y, best_z, best = points[0, 0], points[0, 1], points[0, 2], math.inf
    radius = -1.0
    for _ in range(MOST_EXCHANGES):
        x, y, z, squared = circumscribed(points, support, size)
        outside, far = farthest_point(points, n, x, y, z)
        if far < best:
            best_x, best_y, best_z, best = x, y, z, far
        if far <= squared or squared <= radius:  # none outside, or no progress but rounding
            break
        radius = squared
        size = _exchange(points, support, size, outside)
        if size == 0:
            break
    return best_x, best_y, best_z


@kernel(forceinline=True)
def grown_sphere(cx, cy, cz, radius, x, y, z):
    """Centre and radius of the smallest sphere that holds a sphere and a point."""
    dx, dy, dz = x - cx, y - cy, z - cz
    away = math.sqrt((dx * dx + dy * dy) + dz * dz)
    if away <= radius:
        return cx, cy, cz, radius
    shift = 0.5 * (away - radius) / away
    return cx + shift * dx, cy + shift * dy, cz + shift * dz, 0.5 * (away + radius)

"""Contact manifolds: one normal and up to five points per body pair.

A row is a pair of faces, and its own normal leans to the side where a face is hit near its edge. So the normal of a body pair is
that of the curve in which their surfaces cross: half the sum of p × q over its segments from p to q, each oriented along n_a × n_b
of the outward normals of its faces, so that the curve circles from a into b. For a corner in a face it is exactly the normal of the
face, for two crossing edges the direction across both. If rows have no faces (methods that report points), if faces only touch, or
if the sum vanishes, it is the sum of the rows' normals, weighted by segment length; then their plain sum, and finally the direction
from one centre of mass to the other.

The points: first the weighted middle of all rows, so that a flat impact adds no spin; then up to four rows that lie far apart (the
farthest from the middle, the farthest from that one, and the farthest to either side of the line between them). Ties go to the
first row, so the choice depends only on the report.
"""

import math

from jostle.kernels.jit import kernel

MOST_POINTS = 5
NOTHING_LEFT = 1e-6  # a vanishing sum of normals over its weights, or area over its squared perimeter


@kernel
def gather_manifolds(  # type: ignore[no-untyped-def]
    body_a, body_b, face_a, face_b, segment, normal, face_normals, first_face, poses, centre,
    pair_a, pair_b, pair_normal, points, count,
):  # fmt: skip
    """Write bodies, normal and points of each pair of sorted rows; return the count.

    Written are bodies (p,) int32, normals (p,3), points (p,5,3) and point counts (p,) int32. Read are body_a, body_b, face_a,
    face_b (n,) int32; segment (n,2,3), normal (n,3) of the rows; outward face_normals (f,3) of all meshes in body coordinates,
    those of a body from first_face (bodies,) on; poses (bodies,4,4); centre (bodies,3).
    """
    pairs = 0
    first = 0
    rows = body_a.shape[0]
    while first < rows:
        last = first + 1
        while last < rows and body_a[last] == body_a[first] and body_b[last] == body_b[first]:
            last += 1
        pair_a[pairs] = body_a[first]
        pair_b[pairs] = body_b[first]
        a, b = body_a[first], body_b[first]
        _write_normal(a, b, face_a, segment, normal, centre, first, last, pair_normal, points, pairs)
        _write_area_normal(a, b, face_a, face_b, segment, face_normals, first_face, poses, first, last, pair_normal, points, pairs)
        count[pairs] = _write_points(segment, first, last, pair_normal, points, pairs)
        pairs += 1
        first = last
    return pairs


@kernel
def _middle(segment, row):  # type: ignore[no-untyped-def]
    return (
        0.5 * (segment[row, 0, 0] + segment[row, 1, 0]),
        0.5 * (segment[row, 0, 1] + segment[row, 1, 1]),
        0.5 * (segment[row, 0, 2] + segment[row, 1, 2]),
    )


@kernel
def _weight(face_a, segment, row):  # type: ignore[no-untyped-def]
    if face_a[row] < 0:
        return 1.0
    x, y, z = (
        segment[row, 1, 0] - segment[row, 0, 0],
        segment[row, 1, 1] - segment[row, 0, 1],
        segment[row, 1, 2] - segment[row, 0, 2],
    )
    return math.sqrt((x * x + y * y) + z * z)


@kernel
def _write_normal(a, b, face_a, segment, normal, centre, first, last, pair_normal, points, pair):  # type: ignore[no-untyped-def]
    """Write a pair's normal, and the weighted centre of its rows as first point."""
    total = 0.0
    for row in range(first, last):
        total += _weight(face_a, segment, row)
    alike = not total > 0.0  # nothing but points
    sx, sy, sz, weights = 0.0, 0.0, 0.0, 0.0
    px, py, pz = 0.0, 0.0, 0.0
    ux, uy, uz = 0.0, 0.0, 0.0
    for row in range(first, last):
        weight = 1.0 if alike else _weight(face_a, segment, row)
        x, y, z = _middle(segment, row)
        weights += weight
        px, py, pz = px + weight * x, py + weight * y, pz + weight * z
        sx, sy, sz = sx + weight * normal[row, 0], sy + weight * normal[row, 1], sz + weight * normal[row, 2]
        ux, uy, uz = ux + normal[row, 0], uy + normal[row, 1], uz + normal[row, 2]
    points[pair, 0, 0], points[pair, 0, 1], points[pair, 0, 2] = px / weights, py / weights, pz / weights
    size = math.sqrt((sx * sx + sy * sy) + sz * sz)
    if not size > NOTHING_LEFT * weights:
        sx, sy, sz = ux, uy, uz
        size = math.sqrt((sx * sx + sy * sy) + sz * sz)
        if not size > NOTHING_LEFT * (last - first):
            sx, sy, sz = centre[b, 0] - centre[a, 0], centre[b, 1] - centre[a, 1], centre[b, 2] - centre[a, 2]
            size = math.sqrt((sx * sx + sy * sy) + sz * sz)
            if not size > 0.0:
                sx, sy, sz, size = 0.0, 0.0, 1.0, 1.0
    pair_normal[pair, 0], pair_normal[pair, 1], pair_normal[pair, 2] = sx / size, sy / size, sz / size


@kernel
def _write_area_normal(  # type: ignore[no-untyped-def]
    a, b, face_a, face_b, segment, face_normals, first_face, poses, first, last, pair_normal, points, pair
):  # fmt: skip
    """Write the direction of the area within the curve of rows, if it has one."""
    cx, cy, cz = points[pair, 0, 0], points[pair, 0, 1], points[pair, 0, 2]
    sx, sy, sz, around = 0.0, 0.0, 0.0, 0.0
    for row in range(first, last):
        if face_a[row] < 0 or face_b[row] < 0:
            continue
        ax, ay, az = _turned(poses, a, face_normals, first_face[a] + face_a[row])
        bx, by, bz = _turned(poses, b, face_normals, first_face[b] + face_b[row])
        px, py, pz = segment[row, 0, 0] - cx, segment[row, 0, 1] - cy, segment[row, 0, 2] - cz
        qx, qy, qz = segment[row, 1, 0] - cx, segment[row, 1, 1] - cy, segment[row, 1, 2] - cz
        dx, dy, dz = qx - px, qy - py, qz - pz
        along = ((ay * bz - az * by) * dx + (az * bx - ax * bz) * dy) + (ax * by - ay * bx) * dz
        if along != 0.0:
            sign = 1.0 if along > 0.0 else -1.0
            sx, sy, sz = sx + sign * (py * qz - pz * qy), sy + sign * (pz * qx - px * qz), sz + sign * (px * qy - py * qx)
            around += math.sqrt((dx * dx + dy * dy) + dz * dz)
    size = math.sqrt((sx * sx + sy * sy) + sz * sz)
    if size > NOTHING_LEFT * (around * around):
        pair_normal[pair, 0], pair_normal[pair, 1], pair_normal[pair, 2] = sx / size, sy / size, sz / size


@kernel
def _turned(poses, body, vectors, k):  # type: ignore[no-untyped-def]
    """Return a body's vector in world axes."""
    x, y, z = vectors[k, 0], vectors[k, 1], vectors[k, 2]
    return (
        (poses[body, 0, 0] * x + poses[body, 0, 1] * y) + poses[body, 0, 2] * z,
        (poses[body, 1, 0] * x + poses[body, 1, 1] * y) + poses[body, 1, 2] * z,
        (poses[body, 2, 0] * x + poses[body, 2, 1] * y) + poses[body, 2, 2] * z,
    )


@kernel
def _write_points(segment, first, last, pair_normal, points, pair):  # type: ignore[no-untyped-def]
    """Write rows that lie far apart after the pair's centre; return the count."""
    count = 1
    one = _farthest(segment, first, last, points[pair, 0, 0], points[pair, 0, 1], points[pair, 0, 2])
    if one < 0:
        return count
    count = _add_point(segment, one, points, pair, count)
    ax, ay, az = _middle(segment, one)
    two = _farthest(segment, first, last, ax, ay, az)
    if two < 0:
        return count
    count = _add_point(segment, two, points, pair, count)
    bx, by, bz = _middle(segment, two)
    nx, ny, nz = pair_normal[pair, 0], pair_normal[pair, 1], pair_normal[pair, 2]
    # Across the line between the two, in the plane of contact.
    ex, ey, ez = bx - ax, by - ay, bz - az
    sx, sy, sz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
    reach = 1e-6 * ((ex * ex + ey * ey) + ez * ez)
    highest, lowest, above, below = reach, -reach, -1, -1
    for row in range(first, last):
        x, y, z = _middle(segment, row)
        side = (sx * (x - ax) + sy * (y - ay)) + sz * (z - az)
        if side > highest:
            highest, above = side, row
        if side < lowest:
            lowest, below = side, row
    if above >= 0:
        count = _add_point(segment, above, points, pair, count)
    if below >= 0:
        count = _add_point(segment, below, points, pair, count)
    return count


@kernel
def _farthest(segment, first, last, x, y, z):  # type: ignore[no-untyped-def]
    """Return the row whose middle is farthest from a point, -1 if all coincide."""
    farthest, found = 0.0, -1
    for row in range(first, last):
        mx, my, mz = _middle(segment, row)
        distance = ((mx - x) * (mx - x) + (my - y) * (my - y)) + (mz - z) * (mz - z)
        if distance > farthest:
            farthest, found = distance, row
    return found


@kernel
def _add_point(segment, row, points, pair, count):  # type: ignore[no-untyped-def]
    x, y, z = _middle(segment, row)
    points[pair, count, 0], points[pair, count, 1], points[pair, count, 2] = x, y, z
    return count + 1

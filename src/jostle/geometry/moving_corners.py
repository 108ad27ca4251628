"""The corners of two moving faces within a step, in the frame in which the search for their first contact works.

A face is a set of one to three corners: a vertex, an edge or a triangle. Its corners go from their places at t = 0 to those at
t = 1 on straight lines or on the arcs of a screw (`moving_point.py`). Here they are taken relative to the first corner of a at
t = 0. Where both faces have the same turn, they are taken relative to that corner all the way and turned back with it: what
moves together then stands still, and of straight motions only the difference is left. Distances are the same in this frame.

With S the largest |coordinate| in this frame, all that is rounded here and in the steps of `moving_directions.py` amounts to less
than 2⁻⁴⁴ S for straight motions and 2⁻⁴¹ S for turning ones; `rounding_of` has the proof. S is at most √3 times the largest
difference of coordinates among all corners at both ends: where in the world they are does not matter.
"""

import math

import numpy as np

from jostle.geometry.moving_point import arc_factors
from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.scalar_vector import cross, dot, length
from jostle.geometry.segment_segment import closest_points_of_segments
from jostle.geometry.triangle import Segment, triangle_of_points
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.vector import minus, point_at
from jostle.kernels.jit import kernel

# Rows of `path` and `now`: 0 … 2 are the corners of a, from here on those of b.
OF_B = 3
# Columns of `path` (6,12): place at t = 0 (0 … 2), way D (3 … 5), its part m across the axis (6 … 8), k × m (9 … 11).
# Columns of `now` (6,9): place (0 … 2), velocity (3 … 5) and half the acceleration (6 … 8) at the current time.
# Places in `bounds` (5,): the size S, the largest acceleration among the corners of a and of b, the most that a corner of a
# and one of b approach per unit of time, and the rounding.
SIZE, ACCELERATION_A, ACCELERATION_B, SPEED, ROUNDING = 0, 1, 2, 3, 4

STRAIGHT_ROUNDING = 2.0**-44
TURNING_ROUNDING = 2.0**-41
# Turns whose vectors k · angle differ by less are taken for one: bodies that move together get theirs from different poses.
SAME_TURN = 2.0**-46


def common_frame(turn_a, turn_b):
    """Return (together, back (3,3), turns (2,4)): whether both turn alike, what undoes that turn, and the turns in the frame."""
    turn_a, turn_b = np.asarray(turn_a, dtype=np.float64), np.asarray(turn_b, dtype=np.float64)
    if np.abs(turn_a[:3] * turn_a[3] - turn_b[:3] * turn_b[3]).max() > SAME_TURN:
        return False, np.eye(3), np.array([turn_a, turn_b])
    angle = min(turn_a[3], turn_b[3])
    if angle <= SAME_TURN:  # the arc leaves the chord by less than that part of its length
        return True, np.eye(3), np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    x, y, z = turn_a[:3]
    across = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    back = np.eye(3) - math.sin(turn_a[3]) * across + 2.0 * math.sin(0.5 * turn_a[3]) ** 2 * (across @ across)
    turn = np.array([-x, -y, -z, turn_a[3]])
    return True, back, np.array([turn, turn])


@kernel
def rounding_of(size, turning):
    """The most that all roundings in a bound along a direction, or in a distance, amount to; `size` is S.

    Proof, with u = 2⁻⁵³ and |n| = 1, to first order. Straight: moving the origin costs uS in each coordinate of each end, a way
    2uS, a place 5uS, so a corner is off by (1.8 + 8.7)uS; a product n·x with |x| ≤ 1.8S adds 5.2uS; the difference of two of
    them and of a threshold below 3.5S, with |n| off by 4u, comes to 53uS for c0. A speed is at most 3.5S, off by 14uS in the
    product, 35uS for two. A direction that turns serves only while |r|h ≤ 1 and |q|h² ≤ 1, and adds at most 31uS for r·z, 35uS for
    r·z', 16uS for q·z/2, and 14uS because r is across n only up to 4u. At a root |c0| ≤ 3.5S, |c1|h ≤ 10.5S and so |c2|h² ≤ 14S: a
    discriminant amounts to coefficients off by 3u each, 74uS, the rest of the formula to a time off by 4u of itself,
    4u(10.5 + 2 · 14)S, and adding that to the current time to a quarter of this. The sum is below 470uS < 2⁻⁴⁴S.

    Turning, by less than π: the factors of `arc_factors` are at most 0.11 and 0.51 and off by 4u, m is at most 3.5S and off by
    28uS, so a corner is off by 100uS; speeds are at most 5.5S and off by 110uS, half accelerations at most 8.6S and off by
    170uS; the same sums give 2,100uS. Turning ends back costs 60uS, and one turn for two that differ by SAME_TURN = 128u at
    most 2 · 128u · 3.5S. The sum is below 3,100uS < 2⁻⁴¹S. Distances are off by 128u of differences of at most 7.8S, and less
    than 200uS for the corners. K and the speed are inflated by more than their rounding. Measured on 3,000 hits: below 2uS.
    """
    if turning:
        return TURNING_ROUNDING * size
    return STRAIGHT_ROUNDING * size


@kernel
def read_pair(a_t0, a_t1, b_t0, b_t1, row, together, back, turns, path, bounds):
    """Write the paths of the corners of both faces of a query into path (6,12), and what bounds them into bounds (5,).

    The faces are (n,p,3) and (n,q,3); together, back (3,3) and turns (2,4) come from `common_frame`.
    """
    turning = turns[0, 3] != 0.0 or turns[1, 3] != 0.0
    x0, y0, z0 = a_t0[row, 0, 0], a_t0[row, 0, 1], a_t0[row, 0, 2]
    x1, y1, z1 = x0, y0, z0
    if together:
        x1, y1, z1 = a_t1[row, 0, 0], a_t1[row, 0, 1], a_t1[row, 0, 2]
    size, speed = 0.0, 0.0
    for body in range(2):
        face_t0, face_t1 = (a_t0, a_t1) if body == 0 else (b_t0, b_t1)
        kx, ky, kz, angle = turns[body, 0], turns[body, 1], turns[body, 2], turns[body, 3]
        per_across = angle / (2.0 * math.sin(0.5 * angle)) if angle != 0.0 else 1.0
        squared_speed, squared_around = 0.0, 0.0
        for i in range(face_t0.shape[1]):
            px, py, pz = face_t0[row, i, 0] - x0, face_t0[row, i, 1] - y0, face_t0[row, i, 2] - z0
            qx, qy, qz = face_t1[row, i, 0] - x1, face_t1[row, i, 1] - y1, face_t1[row, i, 2] - z1
            if together and turning:
                qx, qy, qz = (
                    dot(back[0, 0], back[0, 1], back[0, 2], qx, qy, qz),
                    dot(back[1, 0], back[1, 1], back[1, 2], qx, qy, qz),
                    dot(back[2, 0], back[2, 1], back[2, 2], qx, qy, qz),
                )
            size = max(size, abs(px), abs(py), abs(pz), abs(qx), abs(qy), abs(qz))
            dx, dy, dz = qx - px, qy - py, qz - pz
            mx, my, mz, axial = dx, dy, dz, 0.0
            if angle != 0.0:
                axial = dot(kx, ky, kz, dx, dy, dz)
                mx, my, mz = dx - axial * kx, dy - axial * ky, dz - axial * kz
            cx, cy, cz = cross(kx, ky, kz, mx, my, mz)
            around = per_across * per_across * dot(mx, my, mz, mx, my, mz)
            squared_speed, squared_around = max(squared_speed, axial * axial + around), max(squared_around, around)
            r = body * OF_B + i
            path[r, 0], path[r, 1], path[r, 2], path[r, 3], path[r, 4], path[r, 5] = px, py, pz, dx, dy, dz
            path[r, 6], path[r, 7], path[r, 8], path[r, 9], path[r, 10], path[r, 11] = mx, my, mz, cx, cy, cz
        # Inflated by far more than they are rounded: both serve as bounds.
        speed += math.sqrt(squared_speed) * (1.0 + 1e-12)
        bounds[ACCELERATION_A + body] = angle * math.sqrt(squared_around) * (1.0 + 1e-12)
    bounds[SIZE] = size
    bounds[SPEED] = speed
    bounds[ROUNDING] = rounding_of(size, turning)


@kernel
def place_corners(path, turns, p, q, t, now):
    """Write places, velocities and half accelerations at time t into now (6,9)."""
    for body in range(2):
        angle = turns[body, 3]
        first, last = (0, p) if body == 0 else (OF_B, OF_B + q)
        if angle == 0.0:
            for r in range(first, last):
                for k in range(3):
                    now[r, k] = path[r, k] + t * path[r, 3 + k]
                    now[r, 3 + k] = path[r, 3 + k]
                    now[r, 6 + k] = 0.0
            continue
        along, aside = arc_factors(angle, t)
        scale = angle / (2.0 * math.sin(0.5 * angle))
        phase = angle * (t - 0.5)
        sine, cosine = scale * math.sin(phase), scale * math.cos(phase)
        for r in range(first, last):
            for k in range(3):
                m, c = path[r, 6 + k], path[r, 9 + k]
                now[r, k] = (path[r, k] + t * path[r, 3 + k]) + (along * m - aside * c)
                now[r, 3 + k] = (path[r, 3 + k] - m) + (cosine * m + sine * c)
                now[r, 6 + k] = 0.5 * angle * (cosine * c - sine * m)


@kernel
def closest_direction(now, p, q):
    """Distance of the faces with p and q corners at the current time, and the unit direction from a to b: four floats.

    The direction is that between closest points, and 0 where they coincide.
    """
    if p == 1 and q == 3:
        on_a = point_at(now, 0)
        on_b, squared = closest_point_on_triangle(on_a, triangle_of_points(now, 3, 4, 5))
        distance = math.sqrt(squared)
    elif p == 2 and q == 2:
        edge_a, edge_b = Segment(point_at(now, 0), point_at(now, 1)), Segment(point_at(now, 3), point_at(now, 4))
        squared, on_a, on_b = closest_points_of_segments(edge_a, edge_b)
        distance = math.sqrt(squared)
    else:
        # Faces with fewer corners are triangles without area.
        face_a = triangle_of_points(now, 0, min(1, p - 1), min(2, p - 1))
        face_b = triangle_of_points(now, OF_B, OF_B + min(1, q - 1), OF_B + min(2, q - 1))
        distance, on_a, on_b = closest_points_of_triangles(face_a, face_b)
    x, y, z = minus(on_b, on_a)
    norm = length(x, y, z)
    if norm > 0.0:
        x, y, z = x / norm, y / norm, z / norm
    return distance, x, y, z

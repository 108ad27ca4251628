"""The distance of two faces as it is reported: 0.0 exactly where they share a point.

`triangles_distance` rounds: for triangles that are apart by less than it can see it may give 0. These get the smallest
positive normal number instead, so that a distance of 0.0 means contact, as decided by the exact test, and nothing else does.
"""

from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.triangles_distance import triangles_distance
from jostle.kernels.jit import kernel

SMALLEST_DISTANCE = 2.0**-1022


@kernel
def faces_distance(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz):
    """The distance of the closed triangles abc and pqr."""
    if triangles_touch(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz) != 0:
        return 0.0
    return max(SMALLEST_DISTANCE, triangles_distance(ax, ay, az, bx, by, bz, cx, cy, cz, px, py, pz, qx, qy, qz, rx, ry, rz))

"""Which features of two triangles are closest: a corner of one and the other face, or an edge of each.

The code of a pair of features: 0 … 2 corner i of a on face b, 3 … 5 corner j of b on face a, 6 … 14 edge i of a and edge j of b, as
6 + 3i + j, where edge k goes from corner k to the next. The lowest code that attains the least of the 15 distances, up to
rounding, is taken: corners before edges, so that flat contacts, and contacts at corners, have one answer.
"""

import math

from jostle.geometry.moving_corners import OF_B
from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.segment_segment import closest_points_of_segments
from jostle.geometry.triangle import Segment, triangle_of_points
from jostle.geometry.vector import point_at
from jostle.kernels.jit import kernel

NO_FEATURE, FIRST_CORNER_OF_B, FIRST_EDGES = -1, 3, 6


@kernel
def feature_distance(now, code):
    """Distance of the pair of features with this code, of two triangles with the places of now (6,9)."""
    if code < FIRST_EDGES:
        first = OF_B if code < FIRST_CORNER_OF_B else 0
        corner = code  # corners of b have the rows 3 … 5
        face = triangle_of_points(now, first, first + 1, first + 2)
        squared = closest_point_on_triangle(point_at(now, corner), face).squared
    else:
        i0, j0 = (code - FIRST_EDGES) // 3, (code - FIRST_EDGES) % 3
        i1, j1, j0 = (i0 + 1) % 3, OF_B + (j0 + 1) % 3, OF_B + j0
        edge_a, edge_b = Segment(point_at(now, i0), point_at(now, i1)), Segment(point_at(now, j0), point_at(now, j1))
        squared = closest_points_of_segments(edge_a, edge_b).squared
    return math.sqrt(squared)


@kernel
def closest_features(now, p, q, rounding, distances):
    """The code of the closest features of faces with p and q corners and the places of now (6,9); distances (15,) is scratch."""
    if p != 3 or q != 3:
        return FIRST_EDGES if p == 2 and q == 2 else (0 if p == 1 else FIRST_CORNER_OF_B)
    least = math.inf
    for code in range(15):
        distances[code] = feature_distance(now, code)
        least = min(least, distances[code])
    for code in range(15):
        if distances[code] <= least + rounding:
            return code
    return NO_FEATURE

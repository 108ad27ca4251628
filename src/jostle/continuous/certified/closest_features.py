"""The closest features of two triangles: a corner and a face, or two edges.

The code of a pair of features: 0 … 2 corner i of a on face b, 3 … 5 corner j of b on face a, 6 … 14 edge i of a and edge j of b, as
6 + 3i + j, where edge k goes from corner k to the next. The result is the lowest code with the least of the 15 distances, up to
rounding: corners come before edges, so flat contacts, and contacts at corners, have one answer.
"""

from __future__ import annotations

import math

from jostle.continuous.certified.corners import FEATURES, OF_B, FacePairWork, edge_now, place_of, triangle_now
from jostle.geometry.point_triangle import closest_point_on_triangle
from jostle.geometry.segment_segment import closest_points_of_segments
from jostle.kernels.jit import kernel

NO_FEATURE, FIRST_CORNER_OF_B, FIRST_EDGES = -1, 3, 6


@kernel
def feature_distance(work: FacePairWork, code: int) -> float:
    """Return the distance of the pair of features with this code, of two triangles."""
    if code < FIRST_EDGES:
        first = OF_B if code < FIRST_CORNER_OF_B else 0
        # The corners of b have the codes of their numbers.
        squared = closest_point_on_triangle(place_of(work, code), triangle_now(work, first, first + 1, first + 2)).squared
    else:
        i, j = (code - FIRST_EDGES) // 3, (code - FIRST_EDGES) % 3
        edge_a, edge_b = edge_now(work, i, (i + 1) % 3), edge_now(work, OF_B + j, OF_B + (j + 1) % 3)
        squared = closest_points_of_segments(edge_a, edge_b).squared
    return math.sqrt(squared)


@kernel
def closest_features(work: FacePairWork) -> int:
    """Return the code of the closest features of the faces at the current time."""
    p, q = work.faces[0].corners, work.faces[1].corners
    if p != 3 or q != 3:
        return FIRST_EDGES if p == 2 and q == 2 else (0 if p == 1 else FIRST_CORNER_OF_B)
    least = math.inf
    for code in range(FEATURES):
        work.distances[code] = feature_distance(work, code)
        least = min(least, work.distances[code])
    for code in range(FEATURES):
        if work.distances[code] <= least + work.limits.rounding:
            return code
    return NO_FEATURE

"""Figure 1: the smallest enclosing box of a set of faces, partitioned into regions, and the faces nearest to their centres.

Degree 2 halves the longest axis, 3 splits it twice, 4 halves the longest and the second longest, 5 adds a centre in the middle
of the box, 6 splits the longest twice and halves the second. Both §3.2 and §3.3 begin here.
"""

import math

from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.tree import AXES, CENTRE, HALF


@kernel
def longest_axes(box):
    """The numbers of the axes of box (16,), longest first; of equal ones the lower number first."""
    first = 0
    for k in range(1, 3):
        if box[HALF + k] > box[HALF + first]:
            first = k
    second = 1 if first == 0 else 0
    third = 3 - first - second
    if box[HALF + third] > box[HALF + second]:
        second, third = third, second
    return first, second, third


@kernel
def _place(region, degree):
    """Where the centre of a region is, in half extents along the longest and the second longest axis."""
    if degree == 2:
        return 0.5 if region == 1 else -0.5, 0.0
    if degree == 3:
        return (region - 1) * (2.0 / 3.0), 0.0
    if degree == 6:
        return (region // 2 - 1) * (2.0 / 3.0), 0.5 if region % 2 == 1 else -0.5
    if region == 4:  # of degree 5
        return 0.0, 0.0
    return 0.5 if region >= 2 else -0.5, 0.5 if region % 2 == 1 else -0.5


@kernel
def region_centres(box, degree, regions):
    """Write the centres of the regions of box (16,) to regions (6,3)."""
    first, second, _ = longest_axes(box)
    for region in range(degree):
        along, across = _place(region, degree)
        along, across = along * box[HALF + first], across * box[HALF + second]
        for k in range(3):
            regions[region, k] = box[CENTRE + k] + (along * box[AXES + 3 * first + k] + across * box[AXES + 3 * second + k])


@kernel
def squared_distance_to(centres, f, points, p):
    """Squared distance of the centre of face f to points[p]."""
    x, y, z = centres[f, 0] - points[p, 0], centres[f, 1] - points[p, 1], centres[f, 2] - points[p, 2]
    return (x * x + y * y) + z * z


@kernel
def nearest_of(centres, f, points, n):
    """Which of the first n points is nearest to the centre of face f; of equal ones the first."""
    best, least = 0, math.inf
    for p in range(n):
        squared = squared_distance_to(centres, f, points, p)
        if squared < least:
            best, least = p, squared
    return best


@kernel
def first_faces(centres, order, begin, end, regions, degree, seeds):
    """Write to seeds (6,) the entries of order[begin:end] whose faces are nearest to the centres of the regions.

    A face nearest to two regions is that of the first; the other region takes its next nearest. degree <= end - begin.
    """
    for region in range(degree):
        best, least = -1, math.inf
        for entry in range(begin, end):
            taken = False
            for other in range(region):
                taken = taken or seeds[other] == entry
            squared = squared_distance_to(centres, order[entry], regions, region)
            if not taken and (best < 0 or squared < least):
                best, least = entry, squared
        seeds[region] = best

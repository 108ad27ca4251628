"""§3.3: the modified Gottschalk method, and the binary one it modifies.

Modified: each face belongs to the region of figure 1 whose centre is closest to its own. Binary (Gottschalk, Lin and Manocha
1996, §4): the set is cut across the longest axis of its box at the mean of the faces' centres; if all lie on one side of it,
across the second longest, then the shortest.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats, Longs
from jostle.geometry.vector import Vec3, dot, minus
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses
from jostle.methods.bounding_tree.axes import axes_of
from jostle.methods.bounding_tree.face_sets import LARGEST_DEGREE, SetWork, centre_of_entry, open_sets, view_volume
from jostle.methods.bounding_tree.splitting.box_regions import axis_of, longest_axes, nearest_of, region_centres
from jostle.methods.bounding_tree.tree import Volume


@kernel
def sets_to_closest_regions(addresses: Addresses, begins: Longs, ends: Longs, degrees: Longs, boxes: Floats) -> None:
    """Label each face of sets with the closest region of its box (s,16)."""
    work, regions = open_sets(addresses), np.empty((LARGEST_DEGREE, 3))
    for s in range(begins.shape[0]):
        region_centres(view_volume(boxes[s]), degrees[s], regions)
        for entry in range(begins[s], ends[s]):
            work.label[entry] = nearest_of(centre_of_entry(work, entry), regions, degrees[s])


@kernel
def cut_sets_at_mean(addresses: Addresses, begins: Longs, ends: Longs, boxes: Floats) -> None:
    """Label each face of sets by its side of the mean along an axis of its box (s,16)."""
    work = open_sets(addresses)
    for s in range(begins.shape[0]):
        cut_at_mean(work, begins[s], ends[s], view_volume(boxes[s]))


@kernel
def cut_at_mean(work: SetWork, begin: int, end: int, box: Volume) -> None:
    """Label the faces of a set: 1 beyond the mean of centres on an axis of the box."""
    axes = axes_of(box)
    for k in longest_axes(box):
        beyond = cut_along(work, begin, end, axis_of(axes, k))
        if 0 < beyond < end - begin:
            return


@kernel
def cut_along(work: SetWork, begin: int, end: int, axis: Vec3) -> int:
    """Label the faces of a set by one axis; return how many are beyond the mean."""
    origin, total = centre_of_entry(work, begin), 0.0
    for entry in range(begin, end):
        total += dot(axis, minus(centre_of_entry(work, entry), origin))
    mean, beyond = total / (end - begin), 0
    for entry in range(begin, end):
        side = 1 if dot(axis, minus(centre_of_entry(work, entry), origin)) > mean else 0
        work.label[entry] = side
        beyond += side
    return beyond

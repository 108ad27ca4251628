"""§3.1: subsets form around centres, which move to the means of their faces.

One step adds one subset: it begins at the face farthest from the centre of its subset ("which maximizes the distance from one
of the current centers": the one that the face belongs to; the farthest from any centre would often be in a corner that already
has one), then faces and centres are rearranged in turn until nothing changes. So the splitting of degree k continues that of
degree k - 1.

Deviation: it stops after `MOST_ROUNDS` rounds. Rounded means might repeat for ever.
"""

from __future__ import annotations

import math

import numpy as np

from jostle._types import Floats, Longs
from jostle.geometry.vector import Vec3, divided, minus, plus, point_at, write_point
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses
from jostle.methods.bounding_tree.face_sets import LARGEST_DEGREE, SetWork, centre_of_entry, open_sets
from jostle.methods.bounding_tree.splitting.box_regions import nearest_of, squared_distance_to

MOST_ROUNDS = 100


@kernel
def add_subset_to_sets(addresses: Addresses, begins: Longs, ends: Longs, degrees: Longs, means: Floats) -> None:
    """Label sets of degree - 1 subsets, now with `degree`; write the means (s,6,3).

    A set whose first mean is NaN is still whole, and gets all its subsets, one after the other.
    """
    work, counts = open_sets(addresses), np.empty(LARGEST_DEGREE, np.int64)
    for s in range(begins.shape[0]):
        begin, end, first = begins[s], ends[s], degrees[s]
        if math.isnan(means[s, 0, 0]):
            first = 1
            for entry in range(begin, end):
                work.label[entry] = 0
        for degree in range(first, degrees[s] + 1):
            if degree == 1:
                _move_means(work, begin, end, degree, means[s], counts)
            else:
                add_subset(work, begin, end, degree, means[s], counts)


@kernel
def _move_means(work: SetWork, begin: int, end: int, degree: int, means: Floats, counts: Longs) -> None:
    """Write the mean of the centres of each subset's faces; empty ones keep theirs.

    Sums are about the first face.
    """
    origin = centre_of_entry(work, begin)
    for j in range(degree):
        counts[j] = 0
    for entry in range(begin, end):
        counts[work.label[entry]] += 1
    for j in range(degree):
        if counts[j] > 0:
            write_point(means, j, Vec3(0.0, 0.0, 0.0))
    for entry in range(begin, end):
        j = as_int64(work.label[entry])
        write_point(means, j, plus(point_at(means, j), minus(centre_of_entry(work, entry), origin)))
    for j in range(degree):
        if counts[j] > 0:
            write_point(means, j, plus(origin, divided(point_at(means, j), counts[j])))


@kernel
def add_subset(work: SetWork, begin: int, end: int, degree: int, means: Floats, counts: Longs) -> int:
    """Go from degree - 1 subsets to `degree`; return the number of rounds."""
    farthest, far = begin, -math.inf
    for entry in range(begin, end):
        squared = squared_distance_to(centre_of_entry(work, entry), means, as_int64(work.label[entry]))
        if squared > far:
            farthest, far = entry, squared
    write_point(means, degree - 1, centre_of_entry(work, farthest))
    for rounds in range(1, MOST_ROUNDS + 1):
        changed = False
        for entry in range(begin, end):
            nearest = nearest_of(centre_of_entry(work, entry), means, degree)
            if nearest != work.label[entry]:
                work.label[entry] = nearest
                changed = True
        if not changed:
            return rounds
        _move_means(work, begin, end, degree, means, counts)
    return MOST_ROUNDS

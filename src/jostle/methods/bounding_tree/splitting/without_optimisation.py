"""§3.1: the heuristic without optimisation: subsets form around centres, which move to the means of their faces.

One step adds one subset: it begins at the face farthest from the centre of its subset ("which maximizes the distance from one
of the current centers": the one that the face belongs to; the farthest from any centre would often be in a corner that already
has one), then faces and centres are rearranged in turn until nothing changes. So the splitting of degree k continues that of
degree k - 1.

Deviation: after `MOST_ROUNDS` rounds it goes on with what there is. Rounded means might repeat for ever.
"""

import math

import numpy as np

from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.splitting.box_regions import nearest_of, squared_distance_to

MOST_ROUNDS = 100


@kernel
def add_subset_to_sets(centres, order, begins, ends, label, degrees, means):
    """Write label for sets order[begins:ends] of degree - 1 subsets, now split into degree, and the means (s,6,3) of the subsets.

    A set of which the first row of means is NaN is still whole, and gets all its subsets, one after the other.
    """
    sizes = np.empty(6, np.int64)
    for s in range(begins.shape[0]):
        begin, end, first = begins[s], ends[s], degrees[s]
        if math.isnan(means[s, 0, 0]):
            first = 1
            for entry in range(begin, end):
                label[entry] = 0
        for degree in range(first, degrees[s] + 1):
            if degree == 1:
                _move_means(centres, order, begin, end, label, degree, means[s], sizes)
            else:
                add_subset(centres, order, begin, end, label, degree, means[s], sizes)


@kernel
def _move_means(centres, order, begin, end, label, degree, means, sizes):
    """Write the mean of the centres of the faces of each subset; an empty subset keeps its own. Sums are about the first face."""
    ox, oy, oz = centres[order[begin], 0], centres[order[begin], 1], centres[order[begin], 2]
    for j in range(degree):
        sizes[j] = 0
    for entry in range(begin, end):
        sizes[label[entry]] += 1
    for j in range(degree):
        if sizes[j] > 0:
            means[j, 0], means[j, 1], means[j, 2] = 0.0, 0.0, 0.0
    for entry in range(begin, end):
        j, f = label[entry], order[entry]
        means[j, 0] += centres[f, 0] - ox
        means[j, 1] += centres[f, 1] - oy
        means[j, 2] += centres[f, 2] - oz
    for j in range(degree):
        if sizes[j] > 0:
            means[j, 0], means[j, 1], means[j, 2] = (
                ox + means[j, 0] / sizes[j],
                oy + means[j, 1] / sizes[j],
                oz + means[j, 2] / sizes[j],
            )


@kernel
def add_subset(centres, order, begin, end, label, degree, means, sizes):
    """Go from a splitting into degree - 1 subsets to one into `degree`; returns how often faces were rearranged."""
    farthest, far = begin, -math.inf
    for entry in range(begin, end):
        squared = squared_distance_to(centres, order[entry], means, label[entry])
        if squared > far:
            farthest, far = entry, squared
    for k in range(3):
        means[degree - 1, k] = centres[order[farthest], k]
    for rounds in range(1, MOST_ROUNDS + 1):
        changed = False
        for entry in range(begin, end):
            nearest = nearest_of(centres, order[entry], means, degree)
            if nearest != label[entry]:
                label[entry] = nearest
                changed = True
        if not changed:
            return rounds
        _move_means(centres, order, begin, end, label, degree, means, sizes)
    return MOST_ROUNDS

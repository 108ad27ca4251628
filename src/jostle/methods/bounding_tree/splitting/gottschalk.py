"""§3.3: the modified Gottschalk method, and the binary one it modifies.

Modified: each face belongs to the region of figure 1 whose centre is closest to its own. Binary (Gottschalk, Lin and Manocha
1996, §4): the set is cut across the longest axis of its box at the mean of the faces' centres; where all are on one side of it,
across the second longest, then the shortest.
"""

import numpy as np

from jostle.kernels.jit import kernel
from jostle.methods.bounding_tree.splitting.box_regions import longest_axes, nearest_of, region_centres
from jostle.methods.bounding_tree.tree import AXES


@kernel
def sets_to_closest_regions(centres, order, begins, ends, label, degrees, boxes):
    """Write to label which region of its box (s,16) is closest to the centre of each face of sets order[begins:ends]."""
    regions = np.empty((6, 3))
    for s in range(begins.shape[0]):
        region_centres(boxes[s], degrees[s], regions)
        for entry in range(begins[s], ends[s]):
            label[entry] = nearest_of(centres, order[entry], regions, degrees[s])


@kernel
def cut_sets_at_mean(centres, order, begins, ends, label, boxes):
    """Write to label on which side of the mean each face of sets order[begins:ends] is, along an axis of its box (s,16)."""
    for s in range(begins.shape[0]):
        cut_at_mean(centres, order, begins[s], ends[s], label, boxes[s])


@kernel
def cut_at_mean(centres, order, begin, end, label, box):
    """Write label[begin:end]: 1 for the faces beyond the mean of the centres along an axis of box (16,), else 0."""
    for axis in longest_axes(box):
        ax, ay, az = box[AXES + 3 * axis], box[AXES + 3 * axis + 1], box[AXES + 3 * axis + 2]
        o = order[begin]
        ox, oy, oz = centres[o, 0], centres[o, 1], centres[o, 2]
        total = 0.0
        for entry in range(begin, end):
            f = order[entry]
            total += (ax * (centres[f, 0] - ox) + ay * (centres[f, 1] - oy)) + az * (centres[f, 2] - oz)
        mean = total / (end - begin)
        beyond = 0
        for entry in range(begin, end):
            f = order[entry]
            side = 1 if (ax * (centres[f, 0] - ox) + ay * (centres[f, 1] - oy)) + az * (centres[f, 2] - oz) > mean else 0
            label[entry] = side
            beyond += side
        if 0 < beyond < end - begin:
            return

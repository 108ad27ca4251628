"""§3.2: the heuristic. Faces are inserted, in a random order, where the worst bounding object stays smallest.

The subsets begin with the faces nearest to the regions of figure 1. A face is tried in every subset: the bounding object is
modified to hold it, and the face goes where the worst measure of all subsets is least. Most often several subsets leave the
worst one as it is: then the one whose own measure grows least takes the face, and of equal ones that of fewest faces, so that
many equal faces do not make a chain. The order is drawn from a fixed seed.

How objects are modified: axis-aligned boxes are exact; a sphere grows to the smallest one that holds itself and the face's corners;
an oriented box grows along the axes of the box of the whole set. For the Hausdorff measure a growing object is measured by its
diameter, which bounds that distance. These objects only guide the splitting: the subsets get theirs afresh.
"""

import math

import numpy as np

from jostle.kernels.jit import kernel
from jostle.kernels.random import below
from jostle.methods.bounding_tree.splitting.box_regions import first_faces, region_centres
from jostle.methods.bounding_tree.tree import AXES, OBB, SPHERE
from jostle.methods.bounding_tree.volumes.quality import box_size, sphere_size
from jostle.methods.bounding_tree.volumes.sphere import grown_sphere

FACE = 6  # row of the object of the face at work
SIZE, COUNT = 6, 7  # columns of sizes, and of how many faces a subset has
NOBODY = 255


@kernel
def insert_into_sets(kind, quality, vertices, faces, centres, order, begins, ends, label, degrees, boxes, random, queue):
    """Write to label the subset of each face of sets order[begins:ends]; boxes (s,16) of the sets; random (4,), queue (m,)."""
    regions, seeds, grown = np.empty((6, 3)), np.empty(6, np.int64), np.empty((7, 8))
    for s in range(begins.shape[0]):
        begin, end, degree = begins[s], ends[s], degrees[s]
        region_centres(boxes[s], degree, regions)
        first_faces(centres, order, begin, end, regions, degree, seeds)
        insert_faces(kind, quality, vertices, faces, order, begin, end, label, seeds, degree, boxes[s], random, queue, grown)


@kernel
def insert_faces(kind, quality, vertices, faces, order, begin, end, label, seeds, degree, box, random, queue, grown):
    """Write to label[begin:end] the subset of each face order[begin:end]; seeds (6,) are the first entries of the subsets.

    box (16,): of the whole set. random (4,), queue (m,); grown (7,8): objects, and that of the face at work, sizes, counts.
    """
    count = 0
    for entry in range(begin, end):
        label[entry] = NOBODY
    for j in range(degree):
        label[seeds[j]], grown[j, COUNT] = j, 1.0
        _object_of_face(kind, quality, vertices, faces, order[seeds[j]], box, grown, j)
    for entry in range(begin, end):
        if label[entry] == NOBODY:
            queue[count] = entry
            count += 1
    for left in range(count, 0, -1):
        drawn = below(random, left)
        entry = queue[drawn]
        queue[drawn] = queue[left - 1]
        label[entry] = _best_subset(kind, quality, vertices, faces, order[entry], degree, box, grown)


@kernel
def _best_subset(kind, quality, vertices, faces, f, degree, box, grown):
    """Put a face into the subset where the worst size stays least, and return that; its object and size are grown."""
    if kind != SPHERE:
        _object_of_face(kind, quality, vertices, faces, f, box, grown, np.int64(FACE))
    largest = 0.0
    for j in range(degree):
        largest = max(largest, grown[j, SIZE])
    best, least_worst, least_growth, best_size = 0, math.inf, math.inf, 0.0
    for j in range(degree):
        size = _size_with_face(kind, quality, vertices, faces, f, grown, j)
        worst = max(size, largest)  # objects only grow
        growth = size - grown[j, SIZE]
        if worst < least_worst or (
            worst == least_worst and (growth < least_growth or (growth == least_growth and grown[j, COUNT] < grown[best, COUNT]))
        ):
            best, least_worst, least_growth, best_size = j, worst, growth, size
    if kind == SPHERE:
        x, y, z, radius = _sphere_with_face(vertices, faces, f, grown, best)
        grown[best, 0], grown[best, 1], grown[best, 2], grown[best, 3] = x, y, z, radius
    else:
        for k in range(3):
            grown[best, k] = min(grown[best, k], grown[FACE, k])
            grown[best, k + 3] = max(grown[best, k + 3], grown[FACE, k + 3])
    grown[best, SIZE] = best_size
    grown[best, COUNT] += 1.0
    return best


@kernel
def _object_of_face(kind, quality, vertices, faces, f, box, grown, into):
    """Write to grown[into] the box of a face, or the sphere about two of its corners, grown to hold the third."""
    a = faces[f, 0]
    if kind == SPHERE:
        grown[into, 0], grown[into, 1], grown[into, 2], grown[into, 3] = vertices[a, 0], vertices[a, 1], vertices[a, 2], 0.0
        x, y, z, radius = _sphere_with_face(vertices, faces, f, grown, into)
        grown[into, 0], grown[into, 1], grown[into, 2], grown[into, 3] = x, y, z, radius
        grown[into, SIZE] = sphere_size(radius, quality)
        return
    for k in range(3):
        low, high = math.inf, -math.inf
        for corner in range(3):
            v = faces[f, corner]
            along = vertices[v, k]
            if kind == OBB:
                ax, ay, az = box[AXES + 3 * k], box[AXES + 3 * k + 1], box[AXES + 3 * k + 2]
                along = (ax * vertices[v, 0] + ay * vertices[v, 1]) + az * vertices[v, 2]
            low, high = min(low, along), max(high, along)
        grown[into, k], grown[into, k + 3] = low, high
    x, y, z = grown[into, 3] - grown[into, 0], grown[into, 4] - grown[into, 1], grown[into, 5] - grown[into, 2]
    grown[into, SIZE] = box_size(x, y, z, quality)


@kernel
def _sphere_with_face(vertices, faces, f, grown, j):
    """Centre and radius of the sphere of a subset, grown to hold the corners of a face."""
    x, y, z, radius = grown[j, 0], grown[j, 1], grown[j, 2], grown[j, 3]
    for corner in range(3):
        v = faces[f, corner]
        x, y, z, radius = grown_sphere(x, y, z, radius, vertices[v, 0], vertices[v, 1], vertices[v, 2])
    return x, y, z, radius


@kernel
def _size_with_face(kind, quality, vertices, faces, f, grown, j):
    """Size of the object of a subset with one more face, whose own object is grown[FACE]."""
    if kind == SPHERE:
        _, _, _, radius = _sphere_with_face(vertices, faces, f, grown, j)
        return sphere_size(radius, quality)
    x = max(grown[j, 3], grown[FACE, 3]) - min(grown[j, 0], grown[FACE, 0])
    y = max(grown[j, 4], grown[FACE, 4]) - min(grown[j, 1], grown[FACE, 1])
    z = max(grown[j, 5], grown[FACE, 5]) - min(grown[j, 2], grown[FACE, 2])
    return box_size(x, y, z, quality)

"""§3.2: faces are inserted in random order where the worst object stays smallest.

The subsets begin with the faces nearest to the regions of figure 1. A face is tried in every subset: the bounding object grows to
hold it, and the face goes where the worst measure of all subsets is least. Often several subsets leave the worst one as it is:
then the one whose own measure grows least takes the face; ties go to the subset with the fewest faces, so that many equal faces
do not make a chain. The order is drawn from a fixed seed.

How objects grow: axis-aligned boxes exactly; a sphere to the smallest one that holds itself and the face's corners; an oriented
box along the axes of the box of the whole set. For the Hausdorff measure a growing object is measured by its diameter, which
bounds that distance. These objects only guide the splitting: the subsets are bounded afresh.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jostle._types import Floats, Longs
from jostle.geometry.triangle import Bounds, Triangle, triangle_bounds, union_of_bounds
from jostle.geometry.vector import minus, point_from, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.random import below
from jostle.kernels.structs import Addresses
from jostle.methods.bounding_tree.axes import along, axes_of
from jostle.methods.bounding_tree.face_sets import LARGEST_DEGREE, SetWork, Subset, open_sets, view_volume
from jostle.methods.bounding_tree.splitting.box_regions import first_faces, region_centres
from jostle.methods.bounding_tree.tree import OBB, SPHERE, Volume
from jostle.methods.bounding_tree.volumes.quality import box_size, corners_of, sphere_size
from jostle.methods.bounding_tree.volumes.sphere import Ball, grown_sphere

FACE = LARGEST_DEGREE  # the number of the subset that holds the face at work alone
NOBODY = 255


@kernel
def insert_into_sets(
    kind: int, quality: int, addresses: Addresses, begins: Longs, ends: Longs, degrees: Longs, boxes: Floats
) -> None:
    """Label each face of sets with boxes (s,16) by its subset."""
    work, regions, seeds = open_sets(addresses), np.empty((LARGEST_DEGREE, 3)), np.empty(LARGEST_DEGREE, np.int64)
    for s in range(begins.shape[0]):
        box = view_volume(boxes[s])
        region_centres(box, degrees[s], regions)
        first_faces(work, begins[s], ends[s], regions, degrees[s], seeds)
        begin_subsets(kind, quality, work, begins[s], ends[s], seeds[: degrees[s]], box)
        insert_faces(kind, quality, work, begins[s], ends[s], degrees[s], box)


@kernel
def begin_subsets(kind: int, quality: int, work: SetWork, begin: int, end: int, seeds: Longs, box: Volume) -> None:
    """Label the first face of each subset, writing its object; the others as in none."""
    for entry in range(begin, end):
        work.label[entry] = NOBODY
    for j in range(seeds.shape[0]):
        work.label[seeds[j]], work.subsets[j].count = j, 1
        _write_object_of_face(kind, quality, work, as_int64(work.order[seeds[j]]), box, work.subsets[j])


@kernel
def insert_faces(kind: int, quality: int, work: SetWork, begin: int, end: int, degree: int, box: Volume) -> None:
    """Label the remaining faces in random order; box: that of the whole set."""
    queue, count = work.aside, 0
    words: Any = work.random  # an array, in kernels and in Python
    for entry in range(begin, end):
        if work.label[entry] == NOBODY:
            queue[count] = entry
            count += 1
    for left in range(count, 0, -1):
        drawn = as_int64(below(words, left))
        entry = queue[drawn]
        queue[drawn] = queue[left - 1]
        work.label[entry] = _best_subset(kind, quality, work, as_int64(work.order[entry]), degree, box)


@kernel
def _best_subset(kind: int, quality: int, work: SetWork, f: int, degree: int, box: Volume) -> int:
    """Put a face where the worst size stays least; return that subset, grown."""
    subsets, face = work.subsets, corners_of(work, f)
    if kind != SPHERE:
        _write_object_of_face(kind, quality, work, f, box, subsets[FACE])
    largest = 0.0
    for j in range(degree):
        largest = max(largest, subsets[j].size)
    best, least_worst, least_growth, best_size = 0, math.inf, math.inf, 0.0
    for j in range(degree):
        size = _size_with_face(kind, quality, subsets[j], subsets[FACE], face)
        worst = max(size, largest)  # objects only grow
        growth = size - subsets[j].size
        fewer = subsets[j].count < subsets[best].count
        if worst < least_worst or (worst == least_worst and (growth < least_growth or (growth == least_growth and fewer))):
            best, least_worst, least_growth, best_size = j, worst, growth, size
    chosen = subsets[best]
    if kind == SPHERE:
        _write_ball(chosen, _ball_with_face(_ball_of(chosen), face))
    else:
        _write_box(chosen, union_of_bounds(_box_of(chosen), _box_of(subsets[FACE])))
    chosen.size = best_size
    chosen.count += 1
    return best


@kernel
def _write_object_of_face(kind: int, quality: int, work: SetWork, f: int, box: Volume, out: Subset) -> None:
    """Write the box or a sphere of a face, and its size."""
    face = corners_of(work, f)
    if kind == SPHERE:
        ball = _ball_with_face(Ball(face.p, 0.0), face)
        _write_ball(out, ball)
        out.size = sphere_size(ball.radius, quality)
        return
    if kind == OBB:
        axes = axes_of(box)
        face = Triangle(along(axes, face.p), along(axes, face.q), along(axes, face.r))
    bounds = triangle_bounds(face)
    _write_box(out, bounds)
    out.size = box_size(minus(bounds.upper, bounds.lower), quality)


@kernel
def _size_with_face(kind: int, quality: int, subset: Subset, alone: Subset, face: Triangle) -> float:
    """Return the size of a subset's object with one more face, whose box is `alone`."""
    if kind == SPHERE:
        return sphere_size(_ball_with_face(_ball_of(subset), face).radius, quality)
    bounds = union_of_bounds(_box_of(subset), _box_of(alone))
    return box_size(minus(bounds.upper, bounds.lower), quality)


@kernel
def _ball_with_face(ball: Ball, face: Triangle) -> Ball:
    """Return a sphere, grown to hold the corners of a face."""
    return grown_sphere(grown_sphere(grown_sphere(ball, face.p), face.q), face.r)


@kernel(forceinline=True)
def _ball_of(subset: Subset) -> Ball:
    return Ball(point_from(subset.centre, 0), subset.radius)


@kernel(forceinline=True)
def _box_of(subset: Subset) -> Bounds:
    return Bounds(point_from(subset.lower, 0), point_from(subset.upper, 0))


@kernel(forceinline=True)
def _write_ball(subset: Subset, ball: Ball) -> None:
    write_point_from(subset.centre, 0, ball.centre)
    subset.radius = ball.radius


@kernel(forceinline=True)
def _write_box(subset: Subset, bounds: Bounds) -> None:
    write_point_from(subset.lower, 0, bounds.lower)
    write_point_from(subset.upper, 0, bounds.upper)

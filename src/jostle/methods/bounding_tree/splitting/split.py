"""Split sets of faces: the second of the two parts of the top-down computation (§3).

Each splitting method writes for every face of a set the number of its subset; then the faces are dealt to the subsets. A set
that stays whole in its last trial, the centres of its faces being equal, is cut into equal shares of its list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.jit import kernel
from jostle.kernels.random import random_state
from jostle.methods.bounding_tree.fit import Soup
from jostle.methods.bounding_tree.splitting.gottschalk import cut_sets_at_mean, sets_to_closest_regions
from jostle.methods.bounding_tree.splitting.insertion import insert_into_sets
from jostle.methods.bounding_tree.splitting.without_optimisation import add_subset_to_sets

WITHOUT_OPTIMISATION, INSERTION, GOTTSCHALK, BINARY_GOTTSCHALK = range(4)
SPLITTINGS = {
    "without_optimisation": WITHOUT_OPTIMISATION,
    "insertion": INSERTION,
    "gottschalk": GOTTSCHALK,
    "binary_gottschalk": BINARY_GOTTSCHALK,
}
LEAST_DEGREE, LARGEST_DEGREE = 2, 6
SEED = 1999  # of the order of insertion


class Lists(NamedTuple):
    """The list of faces, those of a node one after the other, and what splitting keeps of it."""

    order: NDArray[np.int32]  # (m,)
    label: NDArray[np.uint8]  # (m,) subset of each entry
    aside: NDArray[np.int32]  # (m,) scratch
    random: NDArray[np.uint64]  # (4,)


def one_list(face_count: int) -> Lists:
    """Return the list of all faces in their order."""
    order = np.arange(face_count, dtype=np.int32)
    return Lists(order, np.zeros(face_count, np.uint8), np.empty(face_count, np.int32), random_state(SEED))


def split_sets(splitting, kind, quality, soup: Soup, lists: Lists, begins, ends, degrees, boxes, means, last, starts, parts):
    """Split sets lists.order[begins:ends] into at most `degrees` subsets each.

    degrees (s,) int64; boxes (s,16): the smallest enclosing boxes; means (s,6,3) of the subsets for §3.1, on entry those of
    degree - 1, NaN in the beginning; last (s,) bool: sets that are not tried again. Written are parts (s,) int64, the number of
    subsets that are not empty, and starts (s,7) int64, where these begin and the last one ends.
    """
    order, label, aside, random = lists
    sets = order, begins, ends
    if splitting == WITHOUT_OPTIMISATION:
        add_subset_to_sets(soup.centres, *sets, label, degrees, means)
    elif splitting == GOTTSCHALK:
        sets_to_closest_regions(soup.centres, *sets, label, degrees, boxes)
    elif splitting == INSERTION:
        insert_into_sets(kind, quality, *soup, *sets, label, degrees, boxes, random, aside)
    else:
        cut_sets_at_mean(soup.centres, *sets, label, boxes)
    deal_sets(*sets, label, degrees, last, aside, starts, parts)


@kernel
def deal_sets(order, begins, ends, label, degrees, last, aside, starts, parts):  # type: ignore[no-untyped-def]
    """Bring the faces of each subset together, and their labels; write starts (s,7) and parts (s,) as `split_sets` returns them."""
    sizes = np.empty(LARGEST_DEGREE, np.int64)
    for s in range(begins.shape[0]):
        begin, end, degree = begins[s], ends[s], degrees[s]
        for _ in range(2):
            count = _count_subsets(label, begin, end, degree, sizes, starts[s])
            if count > 1 or not last[s]:
                break
            for entry in range(begin, end):
                label[entry] = (entry - begin) * degree // (end - begin)
        parts[s] = count
        for entry in range(begin, end):
            j = label[entry]
            aside[sizes[j]] = order[entry]
            sizes[j] += 1
        entry = begin
        for j in range(degree):
            while entry < sizes[j]:
                order[entry] = aside[entry]
                label[entry] = j
                entry += 1


@kernel
def _count_subsets(label, begin, end, degree, sizes, starts):  # type: ignore[no-untyped-def]
    """Write where each subset goes to sizes (6,), and to starts (7,) where those begin that are not empty; returns their number."""
    for j in range(degree):
        sizes[j] = 0
    for entry in range(begin, end):
        sizes[label[entry]] += 1
    count, place = 0, begin
    for j in range(degree):
        starts[count] = place
        place += sizes[j]
        if sizes[j] > 0:
            count += 1
        sizes[j] = place - sizes[j]
    starts[count] = place
    return count

"""Split sets of faces: the second half of the top-down build (§3).

Each splitting method labels every face of a set with its subset; then the faces are dealt to the subsets. A set that stays whole in
its last trial, because the centres of its faces are equal, is cut into equal shares of its list.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Bools, Floats, Longs
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses
from jostle.methods.bounding_tree.face_sets import LARGEST_DEGREE, FaceSets, SetWork, open_sets
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


class ToSplit(NamedTuple):
    """Sets to split, and the results."""

    begins: Longs  # (s,) of entries of the list
    ends: Longs  # (s,)
    degrees: Longs  # (s,) largest number of subsets
    boxes: Floats  # (s,16) the smallest enclosing boxes
    means: Floats  # (s,6,3) of the subsets for §3.1; on entry of degree - 1, NaN at first
    last: Bools  # (s,) sets that are not tried again
    starts: Longs  # (s,7) written: where the subsets that are not empty begin, and the last one ends
    parts: Longs  # (s,) written: how many of these there are


def split_sets(splitting: int, kind: int, quality: int, sets: FaceSets, these: ToSplit) -> None:
    """Split sets."""
    ranges = sets.addresses, these.begins, these.ends
    if splitting == WITHOUT_OPTIMISATION:
        add_subset_to_sets(*ranges, these.degrees, these.means)
    elif splitting == GOTTSCHALK:
        sets_to_closest_regions(*ranges, these.degrees, these.boxes)
    elif splitting == INSERTION:
        insert_into_sets(kind, quality, *ranges, these.degrees, these.boxes)
    else:
        cut_sets_at_mean(*ranges, these.boxes)
    deal_sets(*ranges, these.degrees, these.last, these.starts, these.parts)


@kernel
def deal_sets(addresses: Addresses, begins: Longs, ends: Longs, degrees: Longs, last: Bools, starts: Longs, parts: Longs) -> None:
    """Bring the faces of each subset together, with their labels.

    Writes starts (s,7) and parts (s,) as in `ToSplit`.
    """
    work, places = open_sets(addresses), np.empty(LARGEST_DEGREE, np.int64)
    for s in range(begins.shape[0]):
        begin, end, degree = begins[s], ends[s], degrees[s]
        for _ in range(2):
            parts[s] = _count_subsets(work, begin, end, degree, places, starts[s])
            if parts[s] > 1 or not last[s]:
                break
            for entry in range(begin, end):
                work.label[entry] = (entry - begin) * degree // (end - begin)
        _deal(work, begin, end, degree, places)


@kernel
def _count_subsets(work: SetWork, begin: int, end: int, degree: int, places: Longs, starts: Longs) -> int:
    """Return the number of subsets that are not empty.

    Writes the destination of each subset to places (6,), and the beginnings of the non-empty ones to starts (7,).
    """
    for j in range(degree):
        places[j] = 0
    for entry in range(begin, end):
        places[work.label[entry]] += 1
    count, place = 0, begin
    for j in range(degree):
        starts[count] = place
        place += places[j]
        if places[j] > 0:
            count += 1
        places[j] = place - places[j]
    starts[count] = place
    return count


@kernel
def _deal(work: SetWork, begin: int, end: int, degree: int, places: Longs) -> None:
    """Move the faces of each subset to places (6,), which then are the subsets' ends."""
    for entry in range(begin, end):
        j = work.label[entry]
        work.aside[places[j]] = work.order[entry]
        places[j] += 1
    entry = begin
    for j in range(degree):
        while entry < places[j]:
            work.order[entry] = work.aside[entry]
            work.label[entry] = j
            entry += 1

"""All contacts of two bodies along their motion, or the first (§4).

The traversal yields candidates, the earliest first; `jostle/continuous/face_pairs.py` finds their first times; the least of these
limits the rest of the traversal. A face pair may come several times, once for each interval of time in which it may meet. Its first
time is that of the whole step, so only its first occurrence counts.

A time is early by at most the tolerance, so candidates are processed until they start later than the best time by more than that;
ties go to the lowest faces. The result does not depend on the order of the traversal, except where many faces meet at one time
along arcs or with a separation (`face_pairs.first_times`): then later ones that are no earlier are skipped.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Floats, Ints, Longs
from jostle.continuous.assemble import MovingRows
from jostle.continuous.certified.triangles import early, new_lead
from jostle.continuous.face_pairs import WITHIN, first_times, kept_separation, shift_earlier, start_distance
from jostle.continuous.moving_surface import MovingSurface
from jostle.kernels.handles import AddressTable
from jostle.kernels.work_arrays import WorkArrays, made_arrays
from jostle.methods.bounding_tree import sweep_search
from jostle.methods.bounding_tree.leaves import AXES_OF_FACE
from jostle.methods.bounding_tree.motions import INSTANTS, MOST_HALVINGS, MovingTree
from jostle.methods.bounding_tree.swept_body import SweepScratch
from jostle.report.report import Counters

FIRST_BATCH = 64  # candidates before their times are computed; doubled each time
LARGEST_BATCH = 1 << 14
OPERATIONS = 1 << 18  # node or face pairs until Python handles Ctrl-C: about 50 ms
# Of the largest coordinate: by how much faces that meet may be farther apart than the separation.
NOT_EXACT = 2.0**-36
FIRST_QUEUE, FIRST_CANDIDATES = 1024, 1024


class SweepSettings(NamedTuple):
    """Settings of a method and a query for motions."""

    kind: int
    relative: bool
    most_halvings: int
    roots: str
    tolerance: float
    separation: float


class Mover(NamedTuple):
    """A body within a step, for the traversal and for the basic tests."""

    tree: MovingTree
    surface: MovingSurface
    rigid: bool  # whether its volumes are in body coordinates, and do not change
    largest_leaf: int  # faces


class DynamicSearch:
    """The dynamic kernel and its arrays, kept between frames; one for each detector."""

    def __init__(self) -> None:
        queue = {"entries": FIRST_QUEUE, "starts": FIRST_QUEUE}
        candidates = {"candidates": FIRST_CANDIDATES, "earliest": FIRST_CANDIDATES}
        self._work = WorkArrays(sweep_search.SweepWork, heads=sweep_search.BUCKETS, **queue, **candidates)
        self._state = self._work.arrays["state"]
        self._leaf_faces = 0
        self._scratch = _scratch(0)

    def find(
        self,
        number: int,
        a: Mover,
        b: Mover,
        how: SweepSettings,
        all_contacts: bool,
        welded: Ints | None = None,
        before: float = np.inf,
    ) -> tuple[MovingRows, Counters]:
        """Return the rows of pair `number`: all contacts, or the first before a time.

        With `welded` faces, the pair is one body against itself.
        """
        straight = a.surface.is_straight and b.surface.is_straight
        size = float(a.tree.motion["largest"][0] + b.tree.motion["largest"][0])
        # More than `face_pairs.slack`, which reads all vertices.
        apart = 0.0 if straight and how.separation == 0.0 else max(4e-6 * how.tolerance, NOT_EXACT) * size
        self._make_room(max(a.largest_leaf, b.largest_leaf))
        distance, tests_before = how.separation * (1.0 + 1e-12) + apart, 0
        if how.separation > 0.0:
            # Most pairs never come within the separation: only for the others is computed what they can keep.
            self._state["bucket"] = sweep_search.START
            self._resume(a.tree, b.tree, how, distance, min(1.0, before + how.tolerance), 1, welded)
            tests_before = self._tests()
            if self._state["candidates"][0] == 0:
                return NO_ROWS, Counters(body_pairs=1, box_tests=tests_before)
            how = how._replace(separation=self._kept_separation(a, b, how, WITHIN * how.separation + apart, welded))
            distance = how.separation * (1.0 + 1e-12) + apart
            tests_before += self._tests()
        self._state["bucket"] = sweep_search.START
        seen: Longs = np.empty(0, np.int64)
        found: list[MovingRows] = []
        best, enough, queries = before, LARGEST_BATCH if all_contacts else FIRST_BATCH, 0
        lead, done = None if all_contacts else new_lead(), False
        while not done:
            done = self._resume(a.tree, b.tree, how, distance, min(1.0, best + how.tolerance), enough, welded)
            keys, earliest = self._taken(seen)
            if len(keys):
                face_a, face_b = _faces_of(keys)
                times = first_times(
                    a.surface, b.surface, face_a, face_b, how.separation, how.roots, how.tolerance, earliest, not all_contacts,
                    lead,
                )  # fmt: skip
                queries += len(keys)
                rows = MovingRows(np.full(len(keys), number, np.int32), face_a, face_b, times.time, times.features)
                rows = rows.select(np.isfinite(times.time))
                if len(rows.pair):
                    found.append(rows)
                    if not all_contacts:
                        best = min(best, float(rows.time.min()))
                # Later ones may not have been examined.
                seen = np.concatenate([seen, keys[earliest <= best + how.tolerance]])
            enough = min(2 * enough, LARGEST_BATCH)
        counters = Counters(body_pairs=1, box_tests=tests_before + self._tests(), distance_tests=queries)
        if not found:
            return NO_ROWS, counters
        rows = MovingRows.joined(found)
        if lead is not None:
            rows = _first(rows)
            shift_earlier(rows.time, early(lead, how.tolerance))
        return rows, counters

    def _tests(self) -> int:
        return int(self._state["node_tests"][0] + self._state["face_tests"][0])

    def _kept_separation(self, a: Mover, b: Mover, how: SweepSettings, distance: float, welded: Ints | None) -> float:
        """Return the separation to keep, by the faces that may be within it at the start."""
        self._state["bucket"] = sweep_search.START
        least, done = np.inf, False
        while not done:
            done = self._resume(a.tree, b.tree, how, distance, 0.0, LARGEST_BATCH, welded)
            keys, _ = self._taken(NO_KEYS)
            least = start_distance(a.surface, b.surface, *_faces_of(keys), least)
        return kept_separation(how.separation, least)

    def _make_room(self, faces: int) -> None:
        if self._leaf_faces < faces:
            self._scratch, self._leaf_faces = _scratch(faces), faces
        while len(self._work.arrays["earliest"]) < 2 * self._leaf_faces**2:
            self._work.double("candidates", "earliest")

    def _resume(
        self, a: MovingTree, b: MovingTree, how: SweepSettings, distance: float, limit: float, enough: int, welded: Ints | None
    ) -> bool:
        """Run the kernel until it has enough candidates; return whether it is done."""
        faces = NO_WELDED if welded is None else welded
        while True:
            status = sweep_search.sweep(
                a.table.table[0], b.table.table[0], self._scratch.table, self._work.addresses,
                how.kind, how.relative, how.most_halvings, faces, distance, limit, enough, OPERATIONS,
            )  # fmt: skip
            if status == sweep_search.FULL_QUEUE:
                self._work.double("entries", "starts")
            elif status == sweep_search.FULL_CANDIDATES:
                self._work.double("candidates", "earliest")
            elif status != sweep_search.OUT_OF_OPERATIONS:
                return bool(status == sweep_search.DONE)

    def _taken(self, seen: Longs) -> tuple[Longs, Floats]:
        """Take the new candidates, each once, and their earliest times."""
        count = int(self._state["candidates"][0])
        self._state["candidates"] = 0
        candidates = self._work.arrays["candidates"][:count]
        keys = (candidates["face_a"].astype(np.int64) << 32) | candidates["face_b"]
        earliest = self._work.arrays["earliest"][:count].copy()
        if self._state["halved"][0] > 0:
            order = np.lexsort((earliest, keys))
            keys, earliest = keys[order], earliest[order]
            new = np.ones(count, bool)
            new[1:] = keys[1:] != keys[:-1]
            new &= ~np.isin(keys, seen)
            keys, earliest = keys[new], earliest[new]
        return keys, earliest


NO_ROWS = MovingRows.joined([])
NO_KEYS: Longs = np.empty(0, np.int64)
NO_WELDED = np.empty((0, 3), np.int32)
NO_WELDED.flags.writeable = False


def _scratch(faces_of_leaf: int) -> AddressTable:
    """Return a table of the scratch of two bodies."""
    lengths = {"instants": INSTANTS, "pads": MOST_HALVINGS + 1, "faces": faces_of_leaf, "axes": AXES_OF_FACE * faces_of_leaf}
    return SweepScratch.tables([made_arrays(SweepScratch, **lengths) for _ in range(2)])


def _faces_of(keys: Longs) -> tuple[Ints, Ints]:
    return (keys >> 32).astype(np.int32), keys.astype(np.int32)


def _first(rows: MovingRows) -> MovingRows:
    """Return the earliest row; ties go to the lowest (face_a, face_b)."""
    return rows.select(np.lexsort((rows.face_b, rows.face_a, rows.time))[:1])

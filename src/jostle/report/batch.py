"""Batch: the results of `World.detect_many`, as flat arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.contact_kind import NEAR, OVERLAPPING
from jostle.interface.body_pairs import CandidatePairs
from jostle.report.report import Counters
from jostle.tables import MOST_HTML_ROWS, counted, html_table

if TYPE_CHECKING:
    from jostle.report.assemble import Rows


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """The results for n sets of poses; set k has offsets[k] … offsets[k+1]-1.

    Rows are sorted by (set, body_a, body_b, face_a, face_b). Columns that were not requested are empty.

    Examples
    --------
    >>> world = jostle.World("wide_tree")
    >>> ball, wall = world.add("ball.stl", name="ball"), world.add("wall.obj", static=True, name="wall")
    >>> heights = np.array([jostle.translation((0, 0, z)) for z in (0.5, 1.5, 2.5)])
    >>> batch = world.detect_many(heights, bodies="ball")
    >>> batch.touching.tolist()
    [True, False, False]
    """

    touching: NDArray[np.bool_]  # (n,) whether any two bodies touch, cross or contain each other
    pair_offsets: NDArray[np.int64]  # (n+1,)
    body_a: Ints  # of touching pairs, and of those within the clearance
    body_b: Ints
    kind: NDArray[np.uint8]
    row_offsets: NDArray[np.int64]  # (n+1,)
    row_body_a: Ints
    row_body_b: Ints
    face_a: Ints
    face_b: Ints
    row_kind: NDArray[np.uint8]
    counters: Counters
    near: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))  # (n,) within the clearance, or touching
    distance: Floats = field(default_factory=lambda: np.empty(0))  # (n,) least of all pairs: 0 if any touch, inf without pairs

    @staticmethod
    def of(
        sets: int,
        pairs: CandidatePairs,
        found: Rows,
        rows: str,
        counters: Counters,
        *,
        overlapping: Ints | None = None,
        touching: NDArray[np.bool_] | None = None,
        near: NDArray[np.bool_] | None = None,
        distance: Floats | None = None,
    ) -> Batch:
        """Make a batch from sorted rows: row pair k is pair k % n of set k // n.

        Parameters
        ----------
        sets : int
        pairs : CandidatePairs
            The n pairs of each set.
        found : Rows
        rows : {"any", "pairs", "faces"}
            What to list.
        counters : Counters
        overlapping : (m,) int32, optional
            Pairs whose kind is OVERLAPPING, numbered as in the rows.
        touching, near : (sets,) bool, optional
            By default those that the rows tell.
        distance : (sets,) float64, optional
            Empty by default.
        """
        if len(found.pair) == 0 and touching is not None and near is not None:  # a dozen calls of NumPy less
            starts, body, kind = np.zeros(sets + 1, np.int64), found.pair, found.kind
            return Batch(
                touching, starts, body, body, kind, starts, body, body, found.face_a, found.face_b, kind, counters,
                near, _or_none(distance),
            )  # fmt: skip
        number, pair = np.divmod(found.pair, max(1, len(pairs.body_a)))
        if touching is None:
            touching = np.zeros(sets, bool)
            touching[number[found.kind > NEAR]] = True
        if near is None:
            near = touching.copy()
            near[number] = True
        kept = slice(0 if rows == "any" else None)
        number, body_a, body_b, kind = number[kept], pairs.body_a[pair[kept]], pairs.body_b[pair[kept]], found.kind[kept]
        start = np.flatnonzero(np.diff(found.pair[kept], prepend=-1))
        worst = np.maximum.reduceat(kind, start) if len(start) else kind[:0]
        if overlapping is not None and len(start):
            worst[np.isin(found.pair[kept][start], overlapping)] = OVERLAPPING
        kept = slice(None if rows == "faces" else 0)
        return Batch(
            touching,
            _offsets(number[start], sets),
            body_a[start],
            body_b[start],
            worst,
            row_offsets=_offsets(number[kept], sets),
            row_body_a=body_a[kept],
            row_body_b=body_b[kept],
            face_a=found.face_a[kept],
            face_b=found.face_b[kept],
            row_kind=kind[kept],
            counters=counters,
            near=near,
            distance=_or_none(distance),
        )

    @staticmethod
    def joined(parts: Sequence[Batch], counters: Counters | None = None) -> Batch:
        """Return one batch of all sets, one part after the other; add counters."""
        if len(parts) == 1 and counters is None:
            return parts[0]
        joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
        for name in ("pair_offsets", "row_offsets"):
            counts = [np.diff(getattr(part, name)) for part in parts]
            joined[name] = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
        return Batch(**joined, counters=sum((part.counters for part in parts), counters or Counters()))

    def __len__(self) -> int:
        return len(self.touching)

    def __repr__(self) -> str:
        found = f"{counted(len(self.body_a), 'pair')}, {counted(len(self.face_a), 'row')}"
        touching, near = int(self.touching.sum()), int(self.near.sum())
        nearer = f", {near} within the clearance" if near > touching else ""
        return f"<Batch: {counted(len(self), 'set')}, {touching} touching{nearer}, {found}>"

    def _repr_html_(self) -> str:
        sets = np.flatnonzero(self.touching)
        counts = {"pairs": np.diff(self.pair_offsets), "rows": np.diff(self.row_offsets)}
        rows = [{"set": k} | {name: int(count[k]) for name, count in counts.items()} for k in sets[:MOST_HTML_ROWS].tolist()]
        return html_table(f"{self!r}, touching sets:" if rows else repr(self), rows, len(sets))

    def with_ids(self, ids: Ints) -> Batch:
        """Return the batch with body ids instead of body numbers."""
        names = ("body_a", "body_b", "row_body_a", "row_body_b")
        return dataclasses.replace(self, **{name: ids[getattr(self, name)] for name in names})


_COLUMNS = tuple(each.name for each in dataclasses.fields(Batch) if "offsets" not in each.name and each.name != "counters")


def _or_none(distance: Floats | None) -> Floats:
    return np.empty(0) if distance is None else distance


def _offsets(number: Ints, sets: int) -> NDArray[np.int64]:
    return np.searchsorted(number, np.arange(sets + 1)).astype(np.int64)

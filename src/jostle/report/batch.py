"""Batch: the results of `World.detect_many`, as flat arrays."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jostle._types import Ints
from jostle.interface.body_pairs import CandidatePairs
from jostle.report.report import Counters
from jostle.tables import MOST_HTML_ROWS, counted, html_table

if TYPE_CHECKING:
    from jostle.report.assemble import Rows


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """The results for n sets of poses; set k has offsets[k] … offsets[k+1]-1.

    Rows are sorted by (set, body_a, body_b, face_a, face_b). Columns that were not requested are empty.
    """

    touching: NDArray[np.bool_]  # (n,)
    pair_offsets: NDArray[np.int64]  # (n+1,)
    body_a: Ints  # of touching pairs
    body_b: Ints
    kind: NDArray[np.uint8]
    row_offsets: NDArray[np.int64]  # (n+1,)
    row_body_a: Ints
    row_body_b: Ints
    face_a: Ints
    face_b: Ints
    row_kind: NDArray[np.uint8]
    counters: Counters

    @staticmethod
    def of(sets: int, pairs: CandidatePairs, found: Rows, rows: str, counters: Counters) -> Batch:
        """Make a batch from sorted rows: row pair k is pair k % n of set k // n."""
        number, pair = np.divmod(found.pair, np.int32(max(1, len(pairs.body_a))))
        touching = np.zeros(sets, bool)
        touching[number] = True
        kept = slice(0 if rows == "any" else None)
        number, body_a, body_b, kind = number[kept], pairs.body_a[pair[kept]], pairs.body_b[pair[kept]], found.kind[kept]
        start = np.flatnonzero(np.diff(found.pair[kept], prepend=-1))
        worst = np.maximum.reduceat(kind, start) if len(start) else kind[:0]
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
        )

    def __len__(self) -> int:
        return len(self.touching)

    def __repr__(self) -> str:
        found = f"{counted(len(self.body_a), 'pair')}, {counted(len(self.face_a), 'row')}"
        return f"<Batch: {counted(len(self), 'set')}, {int(self.touching.sum())} touching, {found}>"

    def _repr_html_(self) -> str:
        sets = np.flatnonzero(self.touching)
        counts = {"pairs": np.diff(self.pair_offsets), "rows": np.diff(self.row_offsets)}
        rows = [{"set": k} | {name: int(count[k]) for name, count in counts.items()} for k in sets[:MOST_HTML_ROWS].tolist()]
        return html_table(f"{self!r}, touching sets:" if rows else repr(self), rows, len(sets))

    def with_ids(self, ids: Ints) -> Batch:
        """Return the batch with body ids instead of body numbers."""
        names = ("body_a", "body_b", "row_body_a", "row_body_b")
        return dataclasses.replace(self, **{name: ids[getattr(self, name)] for name in names})


def _offsets(number: Ints, sets: int) -> NDArray[np.int64]:
    return np.searchsorted(number, np.arange(sets + 1)).astype(np.int64)

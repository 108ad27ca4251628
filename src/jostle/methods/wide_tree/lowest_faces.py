"""The lowest face below each node of a tree, for searches whose answer is the lowest of many.

Made when a search first needs them, and kept while the nodes of the tree keep their faces.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle._types import Ints
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.methods.wide_tree.nearest_work import FaceOrder
from jostle.methods.wide_tree.tree import Tree

_NONE = np.zeros(1, np.int32)
NO_LOWEST_FACES = FaceOrder.table(lowest=_NONE)


class LowestFaces:
    """The lowest faces of the trees of a detector, by number."""

    def __init__(self) -> None:
        self._of: list[Ints] = []  # the faces of each tree when its array was made
        self._table = NO_LOWEST_FACES

    def table(self, trees: Sequence[Tree], wanted: Ints) -> AddressTable:
        """Return the table of `FaceOrder` with arrays for the wanted trees."""
        if len(self._of) != len(trees):
            self._of, self._table = [_NONE] * len(trees), FaceOrder.tables([{"lowest": _NONE}] * len(trees))
        missing = [k for k in np.unique(wanted).tolist() if self._of[k] is not trees[k].face_ids]
        if missing:
            self._table = self._table.with_rows({k: [lowest_faces(trees[k])] for k in missing})
            for k in missing:
                self._of[k] = trees[k].face_ids
        return self._table


def lowest_faces(tree: Tree) -> Ints:
    """Return the lowest face below each node."""
    lowest: Ints = np.empty(len(tree.first), np.int32)
    write_lowest_faces(tree.first, tree.count, tree.face_ids, lowest)
    return lowest


@kernel
def write_lowest_faces(first: Ints, count: Ints, faces: Ints, lowest: Ints) -> None:
    """Write the lowest face below each node, from the last node to the first."""
    for node in range(first.shape[0] - 1, -1, -1):
        start = first[node]
        if count[node] < 0:
            least = faces[start]
            for f in range(start + 1, start - count[node]):
                least = min(least, faces[f])
        else:
            least = lowest[start]
            for child in range(start + 1, start + count[node]):
                least = min(least, lowest[child])
        lowest[node] = least

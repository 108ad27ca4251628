"""The tree: two small arrays per node, eight boxes in each node.

A node holds the boxes of up to eight children as 48 float32: six rows (lower x, y, z, upper x, y, z) of eight lanes, so that one
vector instruction works on all eight. The children of a node are consecutive: of an inner node `count` nodes from `first` on, of
a leaf (`count` negative) -count faces from `first` on, in the tree's order of faces. Children have higher numbers than their
parent, so one pass backwards refits the tree. Unused lanes hold an empty box.

Boxes are in the *frame* of the tree: (v - centre) * scale, with scale a power of two such that all coordinates are in -1 … 1. So
float32 keeps 24 bits of the mesh at any position and size. They are rounded outward.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.kernels.handles import AddressTable
from jostle.kernels.structs import Addresses, One, Record, Rows, Run, Struct, float32, float64, int32, record_viewer, row_opener

LANES = 8
ROW = 48  # float32 numbers of a node
LEAF_FACES = 8
EMPTY = 1e30  # lower corner of an empty box, and minus its upper one: it stays empty under every rigid motion

# float32 rounds to nearest: one unit in the last place (2^-23 of the value at most) and the smallest normal number make it outward.
OUTWARD = np.float32(1.2e-7)
TINY = np.float32(1.2e-38)


class Tree(NamedTuple):
    """A tree over the faces of one mesh; see the module."""

    boxes: NDArray[np.float32]  # (48 * nodes,)
    first: Ints  # (nodes,)
    count: Ints  # type: ignore[assignment]  # (nodes,) negative for leaves
    faces: Ints  # (m,3) in the tree's order
    face_ids: Ints  # (m,) the mesh's number of each
    vertices: Floats  # (n,3) body coordinates
    frame: Floats  # (6,) centre x, y, z, scale, largest |coordinate - centre| * scale, largest |coordinate|


class TreeFrame(Record):
    """The frame of a tree, in which its boxes are: u = (v - centre) * scale."""

    centre: Run[float64, Literal[3]]
    scale: float64
    radius: float64  # largest |u|
    farthest: float64  # largest |coordinate| of a vertex


class TreeArrays(Struct):
    """A tree in kernels: the arrays of `Tree`, flat."""

    boxes: Rows[float32]
    first: Rows[int32]
    count: Rows[int32]
    faces: Rows[int32]
    face_ids: Rows[int32]
    vertices: Rows[float64]
    frame: One[TreeFrame]


class PlacedTree(NamedTuple):
    """A tree and the pose (4,4) of its body in the world."""

    arrays: TreeArrays
    pose: Floats


class NodePair(NamedTuple):
    """A node of tree X and one of tree Y."""

    x: int
    y: int


open_tree, frame_in = row_opener(TreeArrays), record_viewer(TreeFrame)


class Forest:
    """The trees of a detector by number, for kernels: a table of `TreeArrays`."""

    def __init__(self, trees: list[Tree]) -> None:
        self._hold(AddressTable([_arrays(tree) for tree in trees]))

    def _hold(self, table: AddressTable) -> None:
        self._table, self.addresses = table, table.table

    def alone(self, number: int) -> Addresses:
        """Return the table of one tree."""
        return self.addresses[number : number + 1]

    def with_trees(self, trees: Mapping[int, Tree]) -> Forest:
        """Return a forest with some trees replaced; this one is unchanged."""
        made = Forest.__new__(Forest)
        made._hold(self._table.with_rows({number: _arrays(tree) for number, tree in trees.items()}))
        return made


def _arrays(tree: Tree) -> list[NDArray[Any]]:
    """Return the arrays in `TreeArrays`' order; its own checks cost 20 µs per frame."""
    return [*tree[:-1], tree.frame.view(TreeFrame.dtype)]


def validate(tree: Tree) -> None:
    """Raise AssertionError unless the tree is whole. For tests."""
    boxes = tree.boxes.reshape(-1, 6, LANES).astype(np.float64)
    centre, scale = tree.frame[:3], tree.frame[3]
    corners = (tree.vertices[tree.faces] - centre) * scale
    assert np.abs(corners).max() <= 1.0, "the frame does not hold the mesh"
    assert sorted(tree.face_ids.tolist()) == list(range(len(tree.faces))), "faces are not a permutation"
    parents, seen_faces = np.zeros(len(tree.first), int), np.zeros(len(tree.faces), int)
    for node in range(len(tree.first)):
        first, count = int(tree.first[node]), int(tree.count[node])
        assert 1 <= abs(count) <= LANES
        for lane in range(LANES):
            lower, upper = boxes[node, :3, lane], boxes[node, 3:, lane]
            if lane >= abs(count):
                assert (lower > upper).all(), "a lane that is not used must be empty"
            elif count < 0:
                inside = corners[first + lane]
                assert (lower <= inside).all(), f"face {first + lane} sticks out of its box"
                assert (inside <= upper).all(), f"face {first + lane} sticks out of its box"
                seen_faces[first + lane] += 1
            else:
                child = first + lane
                assert child > node, "a child must follow its parent"
                parents[child] += 1
                used = slice(0, abs(int(tree.count[child])))
                assert (lower <= boxes[child, :3, used].min(axis=1)).all(), f"node {child} sticks out of its box"
                assert (upper >= boxes[child, 3:, used].max(axis=1)).all(), f"node {child} sticks out of its box"
    assert parents[0] == 0
    assert (parents[1:] == 1).all(), "every node but the root has one parent"
    assert (seen_faces == 1).all(), "every face is in one leaf"

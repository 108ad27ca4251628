"""The tree: two small arrays per node, eight boxes in each node.

A node holds the boxes of up to eight children as 48 float32: six rows (lower x, y, z, upper x, y, z) of eight lanes, so that one
vector instruction works on all eight. The children of a node are consecutive: of an inner node `count` nodes from `first` on, of
a leaf (`count` negative) -count faces from `first` on, in the tree's order of faces. Children have higher numbers than their
parent, so one pass backwards refits the tree. Unused lanes hold an empty box.

Boxes are in the *frame* of the tree: u = (v - centre) * scale, with scale a power of two such that all coordinates are in -1 … 1.
So float32 keeps 24 bits of the mesh at any position and size. They are rounded outward.

In an *oriented* tree the eight boxes of a node share a rotation, and are around Q u, with Q the float32 matrix of its rows taken
exactly. An orientation is CROSSED * (number of the rotation) + 1 + (the axis along which the boxes are long), or + 0 if there is
none. Rotation 0 is the identity. Trees without slivers have neither orientations nor rotations (`orient.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, One, Record, Rows, Run, Struct, float32, float64, int32, record_viewer, row_opener

LANES = 8
ROW = 48  # float32 numbers of a node
LEAF_FACES = 8
EMPTY = 1e30  # lower corner of an empty box, and minus its upper one: it stays empty under every rigid motion

# float32 rounds to nearest: one unit in the last place (2^-23 of the value at most) and the smallest normal number make it outward.
OUTWARD = np.float32(1.2e-7)
TINY = np.float32(1.2e-38)

CROSSED = 4  # orientations of a rotation: without a long axis, and with each
ORTHOGONAL = 2.0**-22  # largest entry of Q Qᵀ off the identity
NO_ORIENTATION: Ints = np.empty(0, np.int32)
NO_ROTATIONS = np.empty(0, np.float32)


class Tree(NamedTuple):
    """A tree over the faces of one mesh; see the module."""

    boxes: NDArray[np.float32]  # (48 * nodes,)
    first: Ints  # (nodes,)
    count: Ints  # type: ignore[assignment]  # (nodes,) negative for leaves
    faces: Ints  # (m,3) in the tree's order
    face_ids: Ints  # (m,) the mesh's number of each
    vertices: Floats  # (n,3) body coordinates
    frame: Floats  # (6,) centre x, y, z, scale, largest |coordinate - centre| * scale, largest |coordinate|
    orientation: Ints = NO_ORIENTATION  # (nodes,), or empty
    rotations: NDArray[np.float32] = NO_ROTATIONS  # (9 * k,)


class TreeFrame(Record):
    """The frame of a tree, in which its boxes are: u = (v - centre) * scale."""

    centre: Run[float64, Literal[3]]
    scale: float64
    radius: float64  # largest |u|
    farthest: float64  # largest |coordinate| of a vertex


class Rotation(Record):
    """A rotation of boxes: the rows of its matrix, orthogonal to `ORTHOGONAL`."""

    rows: Run[float32, Literal[9]]


class TreeArrays(Struct):
    """A tree in kernels: the arrays of `Tree`, flat."""

    boxes: Rows[float32]
    first: Rows[int32]
    count: Rows[int32]
    faces: Rows[int32]
    face_ids: Rows[int32]
    vertices: Rows[float64]
    frame: One[TreeFrame]
    orientation: Rows[int32]
    rotations: Rows[Rotation]


class PlacedTree(NamedTuple):
    """A tree and the pose (4,4) of its body in the world."""

    arrays: TreeArrays
    pose: Floats


class NodePair(NamedTuple):
    """A node of tree X and one of tree Y."""

    x: int
    y: int


open_tree, frame_in = row_opener(TreeArrays), record_viewer(TreeFrame)


@kernel(forceinline=True)
def is_oriented(tree: TreeArrays) -> bool:
    """Return whether nodes have orientations."""
    return len(tree.orientation) > 0


@kernel(forceinline=True)
def orientation_of(tree: TreeArrays, node: int) -> int:
    """Return the orientation of a node, 0 where trees have none."""
    return as_int64(tree.orientation[node]) if is_oriented(tree) else 0


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
    return [*tree[:6], tree.frame.view(TreeFrame.dtype), tree.orientation, tree.rotations.view(Rotation.dtype)]


def validate(tree: Tree) -> None:
    """Raise AssertionError unless the tree is whole. For tests."""
    boxes = tree.boxes.reshape(-1, 6, LANES).astype(np.float64)
    centre, scale = tree.frame[:3], tree.frame[3]
    corners = (tree.vertices[tree.faces] - centre) * scale
    assert np.abs(corners).max() <= 1.0, "the frame does not hold the mesh"
    assert sorted(tree.face_ids.tolist()) == list(range(len(tree.faces))), "faces are not a permutation"
    rotations = _validated_rotations(tree)
    below = _validated_faces(tree)
    for node in range(len(tree.first)):
        first, count = int(tree.first[node]), int(tree.count[node])
        assert 1 <= abs(count) <= LANES
        rotation = int(tree.orientation[node]) // CROSSED if len(tree.orientation) else 0
        # The products of a rotation round, to 2^-50 of numbers below 2.
        slack = 2.0**-49 if rotation else 0.0
        for lane in range(LANES):
            lower, upper = boxes[node, :3, lane], boxes[node, 3:, lane]
            if lane >= abs(count):
                assert (lower > upper).all(), "a lane that is not used must be empty"
                continue
            faces = [first + lane] if count < 0 else below[first + lane]
            inside = corners[faces] @ rotations[rotation].T
            assert (lower - slack <= inside).all(), f"faces {faces} stick out of lane {lane} of node {node}"
            assert (inside <= upper + slack).all(), f"faces {faces} stick out of lane {lane} of node {node}"


def _validated_rotations(tree: Tree) -> Floats:
    """Return the rotations (k,3,3), at least the identity."""
    nodes, rotations = len(tree.first), tree.rotations.reshape(-1, 3, 3).astype(np.float64)
    if len(tree.orientation) == 0:
        assert len(rotations) == 0
        return np.eye(3)[None]
    assert len(tree.orientation) == nodes
    assert (rotations[0] == np.eye(3)).all()
    assert (tree.orientation >= 0).all()
    assert (tree.orientation < CROSSED * len(rotations)).all()
    assert (np.abs(rotations @ rotations.transpose(0, 2, 1) - np.eye(3)) <= ORTHOGONAL).all(), "a rotation is not orthogonal"
    return rotations


def _validated_faces(tree: Tree) -> list[list[int]]:
    """Return the faces below each node, in the tree's order."""
    below: list[list[int]] = [[] for _ in tree.first]
    parents = np.zeros(len(tree.first), int)
    for node in range(len(tree.first) - 1, -1, -1):
        first, count = int(tree.first[node]), int(tree.count[node])
        if count < 0:
            below[node] = list(range(first, first - count))
            continue
        assert first > node, "a child must follow its parent"
        parents[first : first + count] += 1
        below[node] = [face for child in range(first, first + count) for face in below[child]]
    assert parents[0] == 0
    assert (parents[1:] == 1).all(), "every node but the root has one parent"
    assert sorted(below[0]) == list(range(len(tree.faces))), "every face is in one leaf"
    return below

"""The arrays of a walk of a tree against itself, by address: `SelfWork`; and how it begins.

A row is one int64, packed as in `pair_work.py`; its distance is in an array beside it.
"""

from __future__ import annotations

from typing import NamedTuple

from jostle._types import Floats, Ints
from jostle.geometry.rigid import cull_padding, transform_into
from jostle.kernels.jit import kernel
from jostle.kernels.structs import Addresses, One, Record, Rows, Struct, float32, float64, int32, int64, opener
from jostle.methods.wide_tree.cross_axis import CrossIntervals
from jostle.methods.wide_tree.pair_work import MovedBoxes
from jostle.methods.wide_tree.relative_frame import (
    REACH,
    TURNED_PADDING,
    FrameTransform,
    FrameTransforms,
    TurnedTransforms,
    forget_turned,
)
from jostle.methods.wide_tree.tree import LANES, ROW, is_oriented, open_tree

EXACT_IN_FLOAT32 = 1 << 24
LARGEST_PADDING = 4.0  # all boxes are in -1 … 1; more would only make empty lanes meet


class SelfProgress(Record):
    """Progress of a walk, its counts, and what `set_up_self` found."""

    height: int64  # of the stack
    rows: int64
    node_tests: int64
    box_tests: int64
    triangle_tests: int64
    distance_tests: int64
    distance_kernel: int64  # address of `distance_if_nearer`, if there is a clearance
    is_exact: int64  # whether the lanes hold all welded numbers exactly
    padding: float32  # of boxes, in units of the frame


class TwoNodes(Record):
    """A node pair on the stack."""

    node: int32
    other: int32


class TwoFaces(Record):
    """A pair of faces by their positions in the tree."""

    face: int32
    other: int32


class SelfWork(Struct):
    """The arrays of a walk."""

    progress: One[SelfProgress]
    transforms: One[FrameTransforms]  # the identity
    turned: One[TurnedTransforms]
    crossed: One[CrossIntervals]
    moved: One[MovedBoxes]
    lanes: Rows[float32]  # three columns of welded numbers in the tree's order, each of m + 8 or more
    slots: Rows[int32]  # of each node's box within its parent's boxes
    stack: Rows[TwoNodes]
    face_pairs: Rows[TwoFaces]  # scratch
    keys: Rows[int64]
    distances: Rows[float64]


class WorldFaces(NamedTuple):
    """World vertices (n,3), faces (m,3) and welded faces (m,3), in the tree's order."""

    vertices: Floats
    faces: Ints
    welded: Ints


class SelfQuery(NamedTuple):
    """The query: adjacent faces too, a clearance, all rows or one."""

    adjacent: bool
    clearance: float
    row_mode: int


open_self_work = opener(SelfWork)


@kernel
def set_up_numbers(trees: Addresses, welded_faces: Ints, welded: Ints, addresses: Addresses) -> None:
    """Write what depends on the order of the tree only: lanes, slots and the `welded` faces (m,3)."""
    tree, work = open_tree(trees, 0), open_self_work(addresses)
    ids, lanes, count = tree.face_ids, work.lanes, len(tree.face_ids)
    pitch, is_exact = len(lanes) // 3, True
    for f in range(count):
        for k in range(3):
            number = welded_faces[ids[f], k]
            is_exact = is_exact and number < EXACT_IN_FLOAT32
            welded[f, k] = number
            lanes[k * pitch + f] = number
    for k in range(3):
        for f in range(count, count + LANES):
            lanes[k * pitch + f] = -1.0
    for node in range(len(tree.first)):
        for lane in range(tree.count[node]):  # none for leaves: their count is negative
            work.slots[tree.first[node] + lane] = node * ROW + lane
    work.progress.is_exact = int(is_exact)


@kernel
def set_up_self(
    trees: Addresses, vertices: Floats, pose: Floats, clearance: float, world: Floats, addresses: Addresses
) -> None:  # fmt: skip
    """Begin a walk; write the `world` vertices (n,3)."""
    tree, work = open_tree(trees, 0), open_self_work(addresses)
    _start(work)
    transform_into(pose, vertices, world)
    largest = max(abs(pose[0, 3]), abs(pose[1, 3]), abs(pose[2, 3])) + 1.7321 * REACH * tree.frame.farthest
    # `cull_padding` is for two poses, here equal; doubled for the roundings about the centre.
    apart = 2.0 * cull_padding(largest, largest, tree.frame.farthest) * tree.frame.scale
    reach = clearance * REACH * tree.frame.scale
    padding = min((apart + reach) * (1.0 + 1e-6), LARGEST_PADDING)  # the factor covers rounding to float32
    if is_oriented(tree):
        padding = min(1.7321 * apart + reach, LARGEST_PADDING) + TURNED_PADDING * (1.0 + padding)
        _set_up_identity(work.transforms.into_x, padding)
        _set_up_identity(work.transforms.into_y, padding)
    work.progress.padding = padding


@kernel
def _set_up_identity(transform: FrameTransform, padding: float) -> None:
    """Write the transform of a frame into itself."""
    for k in range(9):
        transform.matrix[k] = 1.0 if k % 4 == 0 else 0.0
    for k in range(3):
        transform.shift[k] = 0.0
    transform.turned_padding = padding


@kernel(forceinline=True)
def _start(work: SelfWork) -> None:
    """Put the root with itself on the stack, and reset the counts."""
    progress = work.progress
    forget_turned(work.turned)  # they are those of another tree
    root = work.stack[0]
    root.node, root.other, progress.height = 0, 0, 1
    progress.rows, progress.node_tests, progress.box_tests, progress.triangle_tests, progress.distance_tests = 0, 0, 0, 0, 0

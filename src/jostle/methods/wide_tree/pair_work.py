"""The arrays of a search for touching faces, by address: `PairWork`.

A row is one int64: face a, face b and kind, in sorting order; its body pair and its distance are in arrays beside it.
"""

from __future__ import annotations

from typing import Literal

from jostle.kernels.structs import One, Record, Rows, Run, Struct, float32, float64, int32, int64, opener
from jostle.methods.wide_tree.cross_axis import CrossIntervals
from jostle.methods.wide_tree.leaf_cache import WorldLeaf
from jostle.methods.wide_tree.relative_frame import FrameTransforms, TurnedTransforms

START = -1  # as `next_pair`: a new search
MOST_NEW = 64  # rows, or stack entries, that a node pair can add
EXACT_TEST = 100  # node pairs that an exact test costs if every decision needs exact arithmetic


class Progress(Record):
    """Progress of a search, and its counts."""

    next_pair: int64  # the current or next body pair; START: none yet
    height: int64  # of the stack; 0 before the walk of a pair, and after it
    rows: int64
    rows_of_pair: int64  # of the current body pair
    query: int64  # number of the walk, over all searches: leaf caches are tagged with it
    node_tests: int64
    triangle_tests: int64
    distance_tests: int64
    distance_kernel: int64  # address of `distance_if_nearer`, if there is a clearance


class WaitingNodes(Record):
    """A node pair on the stack."""

    x: int32
    y: int32


class MovedBoxes(Record):
    """Scratch for a node pair: the boxes of each in the frame of the other tree.

    `separations`: of the boxes of X from one of Y.
    """

    y: Run[float32, Literal[48]]
    x: Run[float32, Literal[48]]
    separations: Run[float32, Literal[8]]


class PairWork(Struct):
    """The arrays of a search."""

    progress: One[Progress]
    transforms: One[FrameTransforms]
    turned: One[TurnedTransforms]
    crossed: One[CrossIntervals]
    moved: One[MovedBoxes]
    relative: Rows[float64]  # sixteen, scratch
    stack: Rows[WaitingNodes]
    leaves_x: Rows[WorldLeaf]
    leaves_y: Rows[WorldLeaf]
    keys: Rows[int64]
    pair_of_key: Rows[int32]
    distance_of_key: Rows[float64]


open_work = opener(PairWork)

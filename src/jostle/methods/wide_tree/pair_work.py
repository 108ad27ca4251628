"""What a search for touching faces works on: its progress, its stack, its caches, and its rows. By address, as `PairWork`.

A row is one int64: face a, face b and kind, in sorting order; its pair of bodies and its distance stand beside it.
"""

from __future__ import annotations

from typing import Literal

from jostle.kernels.structs import One, Record, Rows, Run, Struct, float32, float64, int32, int64, opener
from jostle.methods.wide_tree.leaf_cache import WorldLeaf
from jostle.methods.wide_tree.relative_frame import Motion

START = -1  # as the next pair: a new search
MOST_NEW = 64  # rows, or stack entries, that one pair of nodes can add
# What an exact test counts for in node pairs: as much as one costs whose every decision needs exact arithmetic.
EXACT_TEST = 100


class Progress(Record):
    """Where a search stands, and how much it has done."""

    next_pair: int64  # the pair of bodies that is walked, or comes next; START: none yet
    height: int64  # of the stack; 0 before the walk of a pair, and after it
    rows: int64
    rows_of_pair: int64  # of the present pair of bodies
    query: int64  # number of the walk, over all searches: leaf caches are tagged with it
    node_tests: int64
    triangle_tests: int64
    distance_tests: int64


class WaitingNodes(Record):
    """A pair of nodes on the stack."""

    x: int32
    y: int32


class MovedBoxes(Record):
    """Scratch for a pair of nodes: the boxes of each in the frame of the other tree; separations of those of X from one of Y."""

    y: Run[float32, Literal[48]]
    x: Run[float32, Literal[48]]
    separations: Run[float32, Literal[8]]


class PairWork(Struct):
    """The arrays of a search."""

    progress: One[Progress]
    motion: One[Motion]
    moved: One[MovedBoxes]
    relative: Rows[float64]  # sixteen, scratch
    stack: Rows[WaitingNodes]
    leaves_x: Rows[WorldLeaf]
    leaves_y: Rows[WorldLeaf]
    keys: Rows[int64]
    pair_of_key: Rows[int32]
    distance_of_key: Rows[float64]


open_work = opener(PairWork)

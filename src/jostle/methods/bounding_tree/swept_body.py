"""A body over an interval: one node, the faces of one leaf, instants of the step."""

from __future__ import annotations

from typing import Literal, NamedTuple

from jostle.kernels.structs import One, Record, Rows, Run, Struct, float64, int64
from jostle.methods.bounding_tree.motions import Instant, MovingShape, Pad


class SweptNode(Record):
    """A node over an interval: centre at the start, shift, axes at the middle."""

    node: int64
    has_axes: int64  # whether axes and half extents are set up
    centre: Run[float64, Literal[3]]
    shift: Run[float64, Literal[3]]
    radius: float64
    blur: float64
    u: Run[float64, Literal[3]]
    v: Run[float64, Literal[3]]
    w: Run[float64, Literal[3]]
    half: Run[float64, Literal[3]]


class CurrentLeaf(Record):
    """The leaf whose faces are set up, and its interval."""

    node: int64
    interval: int64
    has_axes: int64  # whether the axes of its faces are set up


class MovingFace(Record):
    """A face over an interval: corners and boxes at both ends, and the blur between."""

    start: Run[float64, Literal[9]]
    end: Run[float64, Literal[9]]
    lower_t0: Run[float64, Literal[3]]
    upper_t0: Run[float64, Literal[3]]
    lower_t1: Run[float64, Literal[3]]
    upper_t1: Run[float64, Literal[3]]
    blur: float64


class MovingAxis(Record):
    """An axis of a face over an interval, its length, and the face's ranges at both ends."""

    axis: Run[float64, Literal[3]]
    length: float64
    low_t0: float64
    high_t0: float64
    low_t1: float64
    high_t1: float64


class SweepScratch(Struct):
    """The traversal's scratch for one body."""

    instants: Rows[Instant]  # (INSTANTS,)
    pads: Rows[Pad]  # (MOST_HALVINGS + 1,)
    place: One[SweptNode]
    leaf: One[CurrentLeaf]
    faces: Rows[MovingFace]  # of that leaf
    axes: Rows[MovingAxis]  # of that leaf, AXES_OF_FACE for each face: if the leaf is large (`near_moving_faces.py`)


class SweptBody(NamedTuple):
    """One of the two bodies."""

    shape: MovingShape
    scratch: SweepScratch


class Interval(NamedTuple):
    """An interval of the step: its number of halvings and its ends.

    first, middle, last: numbers of its instants.
    """

    halvings: int
    start: float
    end: float
    first: int
    middle: int
    last: int


class Window(NamedTuple):
    """The part of an interval, in 0 … 1, in which two may meet; empty if low > high."""

    low: float
    high: float


WHOLE, EMPTY = Window(0.0, 1.0), Window(2.0, 0.0)

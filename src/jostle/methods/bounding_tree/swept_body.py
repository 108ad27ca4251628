"""A body over an interval of time, as the dynamic traversal keeps it: one node, the faces of one leaf, and instants of the step."""

from __future__ import annotations

from typing import Literal, NamedTuple

from jostle.kernels.structs import One, Record, Rows, Run, Struct, float64, int64
from jostle.methods.bounding_tree.motions import Instant, MovingShape, Pad


class Place(Record):
    """A node over an interval: its centre at the start, its way until the end; axes as they are at the middle."""

    node: int64
    has_axes: int64  # whether axes and half extents are set up
    centre: Run[float64, Literal[3]]
    way: Run[float64, Literal[3]]
    radius: float64
    blur: float64
    u: Run[float64, Literal[3]]
    v: Run[float64, Literal[3]]
    w: Run[float64, Literal[3]]
    half: Run[float64, Literal[3]]


class Leaf(Record):
    """Which leaf has its faces set up, and over which interval."""

    node: int64
    interval: int64


class MovingFace(Record):
    """A face over an interval: corners and boxes at both ends, and how far corners stray from their chords in between."""

    start: Run[float64, Literal[9]]
    end: Run[float64, Literal[9]]
    lower_t0: Run[float64, Literal[3]]
    upper_t0: Run[float64, Literal[3]]
    lower_t1: Run[float64, Literal[3]]
    upper_t1: Run[float64, Literal[3]]
    blur: float64


class SweepScratch(Struct):
    """What the traversal keeps of one body."""

    instants: Rows[Instant]  # (INSTANTS,)
    pads: Rows[Pad]  # (MOST_HALVINGS + 1,)
    place: One[Place]
    leaf: One[Leaf]
    faces: Rows[MovingFace]  # of that leaf


class SweptBody(NamedTuple):
    """One of the two bodies."""

    shape: MovingShape
    scratch: SweepScratch


class Interval(NamedTuple):
    """An interval of the step: how often that was halved for it, its ends, and the numbers of start, middle and end as instants."""

    halvings: int
    start: float
    end: float
    first: int
    middle: int
    last: int


class Window(NamedTuple):
    """The part of an interval, from 0 to 1, in which two may meet; empty where low > high."""

    low: float
    high: float


WHOLE, EMPTY = Window(0.0, 1.0), Window(2.0, 0.0)

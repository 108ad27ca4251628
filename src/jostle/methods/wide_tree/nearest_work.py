"""The arrays of a search for the closest faces, by address: `NearestWork`.

Lengths are in the world unless said to be in X's units. Float32 numbers are for vectors of eight, float64 numbers for decisions.
"""

from __future__ import annotations

from typing import Literal

from jostle.kernels.structs import One, Record, Rows, Run, Struct, float32, float64, int32, int64, opener, row_opener
from jostle.methods.wide_tree.relative_frame import FrameTransforms, TurnedTransforms

SLOTS = 512  # of each cache of leaves
MOST_FACE_PAIRS = 64  # of two leaves
START = -1  # as `next_pair`: a new search
NONE = -1  # as `faces`: none so far, and none are lower; as `places`: none

# What is wanted of each group of pairs: its nearest faces; of the first group that has some; any that are near; of each pair the
# lowest that touch.
NEAREST, FIRST_NEAREST, ANY_NEAR, LOWEST_TOUCHING = range(4)


class FaceCorners(Record):
    """The corners of a face of a and of a face of b."""

    a: Run[float64, Literal[9]]
    b: Run[float64, Literal[9]]


class Asked(Record):
    """What is asked of a list of pairs."""

    mode: int64
    group: int64  # the number of pairs of a group, which share the least distance
    limit: float64  # only what is nearer counts
    clearance: float64  # faces whose boxes are farther apart are not near, as in `distance_if_nearer`; inf: any are
    is_seeded: int64  # begin at the seed, and keep the next one; for one pair without a limit


class Seed(Record):
    """Two faces that were closest the last time, for `nearest_seed.py`."""

    places: int64  # face a and face b in the orders of their trees; NONE: no seed
    distance: float64  # of that time
    is_used: int64  # whether the search has begun there


class Best(Record):
    """The least distance so far, its faces, and the arrow.

    The arrow is the unit vector from the point on x to the one on y.
    """

    distance: float64  # at first the limit
    pair: int64
    faces: int64  # face a and face b, in sorting order
    places: int64  # the same in the orders of their trees; unknown if they touch
    kind: int64  # NEAR, or that of faces that touch; 0: no faces so far
    is_robust_only: int64  # whether the distance is the robust one, and is still to be settled
    seen: float64  # of this body pair the least robust distance of faces so far, beyond the limit or not
    arrow: Run[float64, Literal[3]]
    corners: FaceCorners


class Limits(Record):
    """Limits: a bound beyond its limit is not followed."""

    node_squared: float64  # of boxes, in X's units
    face: float64
    along: float32  # of gaps along the arrow between nodes, in X's units
    squared: float32  # of gaps between nodes in a frame, in X's units
    leaf_squared: float32  # of gaps between faces, in Y's units


class Placement(Record):
    """Two trees under their poses."""

    frames: int64  # in which boxes can be compared; without one only the arrow serves
    between: Run[float64, Literal[3]]  # from the centre of x to that of y
    origin: Run[float64, Literal[3]]  # the centre of y, to which coordinates of leaves are relative
    scale_y: float64
    ratio: float64  # of X's scale to Y's
    extent: float64  # upper bound of the difference of any two coordinates
    band: float64  # what rounding can make of a distance, twice over
    smallest_stretch: float64  # lower bound of the singular values of both poses
    padding: float64  # of gaps along the arrow, in X's units
    along: float64  # `between` along the arrow, in X's units
    arrow_x: Run[float32, Literal[3]]  # the arrow in the frames of the trees, in X's units
    arrow_y: Run[float32, Literal[3]]


class NodeBounds(Record):
    """Scratch for two nodes: moved boxes, and bounds of X's children from one of Y."""

    moved_x: Run[float32, Literal[48]]
    moved_y: Run[float32, Literal[48]]
    arrow_x: Run[float32, Literal[3]]  # the arrow under the rotations of the nodes
    arrow_y: Run[float32, Literal[3]]
    near_y: Run[float32, Literal[8]]  # near ends of the children of Y along the arrow
    apart: Run[float32, Literal[8]]  # gaps along the arrow
    squared: Run[float32, Literal[8]]  # squared gaps in a frame
    centres: Run[float32, Literal[8]]  # squared distances of centres
    least: Run[float64, Literal[8]]
    least_rank: Run[float64, Literal[8]]


class LeafBounds(Record):
    """Scratch for two leaves: reaches of faces along an arrow, those of Y against it."""

    last_arrow: Run[float64, Literal[3]]
    reach_x: Run[float64, Literal[8]]
    reach_y: Run[float64, Literal[8]]
    squared: Run[float32, Literal[8]]


class Counts(Record):
    """Progress of a search, and its counts."""

    next_pair: int64  # the current or next body pair; START: none yet
    is_open: int64  # whether the walk of the current pair has begun
    rows: int64
    exact_test: int64  # address of `triangles_touch`; 0 until one is needed
    height: int64  # of the stack
    query: int64  # number of the walk, over all searches: the caches are tagged with it
    version: int64  # of the arrow
    ties: int64
    suspects: int64
    swapped: int64  # whether x is b
    node_tests: int64
    face_tests: int64
    distance_tests: int64
    triangle_tests: int64
    operations: int64  # a node pair is one


class NearLeaf(Record):
    """A slot of a cache: a leaf in the world, in rows of eight lanes."""

    query: int64
    node: int64
    version: int64  # of the arrow that its end belongs to
    end: float64  # how far it reaches along the arrow (x) or against it (y)
    corners: Run[float64, Literal[72]]
    boxes: Run[float32, Literal[48]]  # relative to the origin, in Y's units


class Candidate(Record):
    """Lanes of two faces that may be closest, and the squared distance of their boxes."""

    i: int32
    j: int32
    squared: float32


class Suspect(Record):
    """Two faces that may touch."""

    faces: int64
    corners: FaceCorners


class WaitingPair(Record):
    """A node pair on the stack; the least rank comes next."""

    x: int32
    y: int32
    bound: float64
    rank: float64


class NearestWork(Struct):
    """The arrays of a search."""

    asked: One[Asked]
    seed: One[Seed]
    best: One[Best]
    other: One[FaceCorners]  # faces that are compared with the best
    limits: One[Limits]
    placement: One[Placement]
    transforms: One[FrameTransforms]
    turned: One[TurnedTransforms]
    nodes: One[NodeBounds]
    leaves: One[LeafBounds]
    counts: One[Counts]
    leaves_x: Rows[NearLeaf]
    leaves_y: Rows[NearLeaf]
    candidates: Rows[Candidate]
    suspects: Rows[Suspect]
    stack: Rows[WaitingPair]
    relative: Rows[float64]  # sixteen, scratch
    keys: Rows[int64]  # rows, as in `report/packing.py`
    pair_of_key: Rows[int32]
    distance_of_key: Rows[float64]


class FaceOrder(Struct):
    """The lowest face below each node of a tree."""

    lowest: Rows[int32]


open_nearest, open_order = opener(NearestWork), row_opener(FaceOrder)

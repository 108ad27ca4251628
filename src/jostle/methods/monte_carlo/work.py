"""The data of the search: records, and the one argument of its kernels, `Work`.

Facets are numbered across all bodies (`packed.py`). No direction separates pairs on the stack and pending pairs; a found row is a
pair of faces that touch. The arrays belong to `workspace.Workspace`, which enlarges those that a kernel reports as full.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from jostle.geometry import rigid
from jostle.kernels.hash_set import KeyRow
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import One, Record, Rows, Run, Struct, float64, int32, int64, opener

RING_LENGTH = 256  # seeds whose results are remembered
LED_NOWHERE, NOT_DRAWN = -1, -2  # in the ring, instead of a key
SLOTS = 2048  # cached world triangles of each side
# The goal of an item (`SearchState.goal`): all rows; one, postponing the rest; rows outside of known contact sites.
ALL_ROWS, ONE_ROW, NEW_SITES = range(3)
DONE, OUT_OF_OPERATIONS, FULL_STACK, FULL_PENDING, FULL_TABLE, FULL_ROWS, FULL_TRACKERS = range(7)  # why a search stops

PAIR_KEY, CELL_KEY, ROOT_KEY, TRACKER_KEY = range(4)  # kinds of keys in the hash table
SEEN, QUEUED, HAS_ROWS = 1, 2, 4  # flags in the payload of a root pair; queued: it is, or was, pending


class Facet(Record):
    """The cylinder of a facet, by its middle (`average_planes.py`)."""

    middle: Run[float64, Literal[3]]
    axis: Run[float64, Literal[3]]
    radius: float64
    half: float64  # of the thickness


class Link(Record):
    """The links of a facet. Children and neighbours end where the next facet's begin."""

    parent: int32  # -1 at the coarsest level
    children: int32  # where they begin in `child`
    around: int32  # where its neighbours begin in `neighbour`
    level: int32
    root: int32  # its ancestor of the coarsest level
    cell: int32  # its ancestor of a level in between: a pair of cells with rows below it is a contact site
    edge_row: int32  # of its further planes (`sharp_edges.py`), -1 for none
    spare: int32  # rows of 32 bytes


class EdgePlane(Record):
    """A further plane of a facet: unit normal, and height above its cylinder's middle."""

    normal: Run[float64, Literal[3]]
    height: float64


class ArrayPlace(Record):
    """The address and length of an array."""

    address: int64
    length: int64


class PackedBody(Record):
    """A body: its facets, its size, and the arrays of its shape."""

    first: int64  # facet
    coarsest: int64  # first facet of the coarsest level
    coarsest_end: int64
    seeds: int64  # where its seeds begin in `seed_order`
    epoch: int64  # how often its vertices changed
    moving: int64  # whether it deforms
    size: float64  # diagonal of its box
    farthest: float64  # largest coordinate
    middle: Run[float64, Literal[3]]  # of its box
    vertices: ArrayPlace
    corner: ArrayPlace
    welded: ArrayPlace
    anchor: ArrayPlace
    in_frame: ArrayPlace
    radius: ArrayPlace
    thickness: ArrayPlace
    centre: ArrayPlace


class PoseRow(Record):
    """A row of a pose: that of one coordinate."""

    x: float64
    y: float64
    z: float64
    shift: float64


class BodyPose(Record):
    """The pose of a body in the world."""

    x: PoseRow
    y: PoseRow
    z: PoseRow
    last: PoseRow  # 0 0 0 1


class BodyPair(Record):
    """Two bodies that may meet, or one that may meet itself (§3.1)."""

    body: Run[int32, Literal[2]]
    decided: int32  # whether no further row of it is wanted
    cursor: Run[int32, Literal[2]]  # the next seed of each body
    drawn: int32  # seeds so far
    moving: int32  # whether either body deforms


class Aim(Record):
    """Where a body's first seeds face: x - share * middle for a facet (share 0 or 1)."""

    x: float64
    y: float64
    z: float64
    share: float64


class Relative(Record):
    """Of a body pair: the pose of b in a's frame, rounding slack, and tracking limits."""

    x: PoseRow
    y: PoseRow
    z: PoseRow
    eta: float64
    slack: float64
    epsilon: float64
    nearest: float64  # the least gap in this frame, 0 where it touches
    aim_a: Aim
    aim_b: Aim


class Entry(Record):
    """A pair of facets of a body pair."""

    body_pair: int32
    a: int32
    b: int32


class FoundRow(Record):
    """Two faces that touch or are near, or two facets that one row represents."""

    pair: Entry
    kind: int32
    sample: int32  # of the list that led to it, -1 for none
    distance: float64


class Cell(Record):
    """A contact site: a pair of cells, and the first row below them."""

    pair: Entry
    row: int32


class Tracker(Record):
    """Two separated facets, and a lower bound of their distance."""

    pair: Entry
    gap: float64


class ListedPair(Record):
    """A sample pair (§3.4), kept from frame to frame."""

    body_a: int32
    body_b: int32
    facet_a: int32
    facet_b: int32
    kind: int32  # of its row; 0 where nothing touches
    region: int32
    gap: float64
    distance: float64  # of the middles
    age: float64  # seconds
    between: Run[float64, Literal[3]]  # from a's middle to b's, in a's frame


class PlacedFace(Record):
    """The corners of a face in the world."""

    corners: Run[float64, Literal[9]]


class SearchState(Record):
    """Progress of a frame's search, all zeros at first."""

    phase: int64  # `next_item.py`
    position: int64  # the phase's next place in the list, the lost ones, the seeds or the turns
    height: int64  # of the stack
    head: int64  # of the pending pairs
    tail: int64
    rows: int64  # the number of each
    cells: int64
    trackers: int64
    lost: int64
    keys: int64
    item_kind: int64  # of the current item, or NO_ITEM
    item_listed: int64  # its number in the list, or NOT_LISTED
    item_body_pair: int64
    goal: int64  # what it searches for
    item_hit: int64  # whether it led to a row
    item_row: int64  # the row it led to
    closest_a: int64  # of the separated pairs it met, the one with the least gap; -1 for none
    closest_b: int64
    closest_gap: float64
    seed_stage: int64  # of the current seed (`sampling.py`)
    seed_body_pair: int64
    seed_side: int64
    seed_facet: int64
    seed_distance: float64  # squared, to the closest facet so far
    seed_closest: int64  # that facet; -1 for none
    pass_next: int64  # the facets that the seed's pass has yet to visit
    pass_end: int64
    sweep_body_pair: int64  # whose seeds are swept
    sweep_seed: int64  # how many of them were
    turns: int64  # round robin: entries that get a turn
    hot_place: int64  # the next entry with rows
    cold_first: int64  # the first entry without rows
    balance: int64  # > 0: entries with rows had more than their share of the work
    work_mark: int64  # the work done at the last turn
    below_rows: int64  # whether the last turn was for an entry with rows
    complete: int64  # whether nothing was left out


class Task(Record):
    """The parameters of a frame and of its bodies."""

    body_pairs: int64
    known_body_pairs: int64  # of the last frame
    row_mode: int64  # as in `report/packing.py`
    seeds_each: int64
    thorough: int64
    order: int64  # of seeds: 0, BY_MOTION or BY_CAMERA
    most_children: int64
    most_neighbours: int64
    clearance: float64
    error: float64
    deformation: float64
    follow: float64  # k of §3.4
    epsilon: float64
    still: float64  # speed below which pairs age
    camera: Run[float64, Literal[3]]


class ListEnds(Record):
    """Ends of the list's parts: representatives, tracked pairs, other touching pairs."""

    representatives: int64
    tracked: int64
    all: int64
    written: int64  # pairs of the next list so far


class Carried(Record):
    """What is carried over from frame to frame."""

    stamp: int64  # of the frame
    ring_place: int64  # the next in the ring of seeds
    hot: Entry  # the last pair with rows that had its turn: where the last frame was cut
    cold: Entry  # the last pair without


class SearchCounts(Record):
    """The counters of a frame."""

    facet_tests: int64
    exact_tests: int64
    distance_tests: int64
    samples: int64
    looked: int64
    regions: int64
    operations: int64
    last_body_pair: int64  # looked up last


class Work(Struct):
    """All data of the search."""

    facets: Rows[Facet]
    links: Rows[Link]
    child: Rows[int32]
    neighbour: Rows[int32]
    stamps: Rows[int32]  # of facets: the epoch of their last update
    planes: Rows[EdgePlane]
    seed_order: Rows[int32]
    bodies: Rows[PackedBody]
    poses: Rows[BodyPose]
    body_pairs: Rows[BodyPair]
    known: Rows[BodyPair]  # those of the last frame
    relative: Rows[Relative]
    keys: Rows[KeyRow]  # stamp of the frame << 32 | body pair << 2 | what, then facet a << 32 | facet b
    payload: Rows[int32]  # of keys
    stack: Rows[Entry]
    pending: Rows[Entry]
    rows: Rows[FoundRow]
    cells: Rows[Cell]
    region: Rows[int32]  # of each cell
    trackers: Rows[Tracker]
    listed: Rows[ListedPair]
    next_listed: Rows[ListedPair]
    looked_at: Rows[int32]  # of each listed pair
    lost: Rows[int32]  # representatives whose pair and cells led to no row
    ring: Rows[int64]  # where the last seeds led
    tags: Rows[int64]  # of placed faces: body << 32 | face
    placed: Rows[PlacedFace]
    state: One[SearchState]
    task: One[Task]
    ends: One[ListEnds]
    carried: One[Carried]
    counts: One[SearchCounts]


open_work = opener(Work)


class FacetPair(NamedTuple):
    """Facets a and b of a body pair."""

    body_pair: int
    a: int
    b: int


class Key(NamedTuple):
    """A key of the hash table: a pair, and what the table stores of it."""

    kind: int  # PAIR_KEY …
    pair: FacetPair


@kernel(forceinline=True)
def pair_of(entry: Entry) -> FacetPair:
    """Return the pair of an entry."""
    return FacetPair(as_int64(entry.body_pair), as_int64(entry.a), as_int64(entry.b))


@kernel(forceinline=True)
def rigid_pose(pose: BodyPose | Relative) -> rigid.RigidPose:
    """Return a pose as a value."""
    x, y, z = pose.x, pose.y, pose.z
    return rigid.RigidPose(
        rigid.PoseRow(x.x, x.y, x.z, x.shift),
        rigid.PoseRow(y.x, y.y, y.z, y.shift),
        rigid.PoseRow(z.x, z.y, z.z, z.shift),
    )


@kernel(forceinline=True)
def write_entry(entry: Entry, pair: FacetPair) -> None:
    """Write a pair to an entry."""
    entry.body_pair, entry.a, entry.b = pair.body_pair, pair.a, pair.b


@kernel(forceinline=True)
def exchange(entries: Rows[Entry], i: int, j: int) -> None:
    """Exchange two entries."""
    one, other = pair_of(entries[i]), pair_of(entries[j])
    write_entry(entries[i], other)
    write_entry(entries[j], one)


@kernel(forceinline=True)
def in_order(pair: FacetPair) -> FacetPair:
    """Return a pair of facets of one body with the lower one first."""
    return FacetPair(pair.body_pair, min(pair.a, pair.b), max(pair.a, pair.b))


@kernel(forceinline=True)
def is_of_one_body(work: Work, pair: FacetPair) -> bool:
    """Return whether both facets are of one body."""
    body_pair = work.body_pairs[pair.body_pair]
    return body_pair.body[0] == body_pair.body[1]


@kernel(forceinline=True)
def are_faces(work: Work, pair: FacetPair) -> bool:
    """Return whether both facets are of the finest level."""
    return work.links[pair.a].level == 0 and work.links[pair.b].level == 0


@kernel(forceinline=True)
def are_coarsest(work: Work, pair: FacetPair) -> bool:
    """Return whether both facets are of their coarsest levels."""
    return work.links[pair.a].parent < 0 and work.links[pair.b].parent < 0


@kernel(forceinline=True)
def cells_of(work: Work, pair: FacetPair) -> FacetPair:
    """Return the pair of cells above a pair: the contact site of its rows."""
    return FacetPair(pair.body_pair, as_int64(work.links[pair.a].cell), as_int64(work.links[pair.b].cell))


@kernel(forceinline=True)
def roots_of(work: Work, pair: FacetPair) -> FacetPair:
    """Return the pair of coarsest facets above a pair."""
    roots = FacetPair(pair.body_pair, as_int64(work.links[pair.a].root), as_int64(work.links[pair.b].root))
    return in_order(roots) if is_of_one_body(work, pair) else roots


@kernel(forceinline=True)
def with_neighbour(work: Work, pair: FacetPair, side: int, place: int) -> FacetPair:
    """Return a pair with the facet of one side replaced by the neighbour at a place."""
    neighbour = as_int64(work.neighbour[place])
    return FacetPair(pair.body_pair, neighbour, pair.b) if side == 0 else FacetPair(pair.body_pair, pair.a, neighbour)

"""What the search works on: the rows of its arrays, and all of them as one argument of its kernels, `work: Work`.

Facets of all bodies are numbered through (`packed.py`). Pairs on the stack and pending pairs are not separated in any
direction; a found row is a pair of faces that touch. Arrays belong to `workspace.Workspace`, which makes them longer where a
kernel says that one is full.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from jostle.kernels.hash_set import KeyRow
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import One, Record, Rows, Run, Struct, float64, int32, int64, opener

RING_LENGTH = 256  # seeds whose ends are remembered
LED_NOWHERE, NOT_DRAWN = -1, -2  # in the ring, instead of a key
SLOTS = 2048  # world triangles that are kept, of each side
# What an item is to find (`SearchState.goal`): all rows; one, the rest being postponed; rows outside of known contact sites.
ALL_ROWS, ONE_ROW, NEW_SITES = range(3)
DONE, OUT_OF_OPERATIONS, FULL_STACK, FULL_PENDING, FULL_TABLE, FULL_ROWS, FULL_TRACKERS = range(7)  # why a search stops

OF_PAIR, OF_CELL, OF_ROOT, OF_TRACKER = range(4)  # what a key in the hash table is of
SEEN, QUEUED, HAS_ROWS = 1, 2, 4  # flags in the payload of a root pair; queued: it is, or was, pending


class Facet(Record):
    """The cylinder of a facet, by its middle (`average_planes.py`)."""

    middle: Run[float64, Literal[3]]
    axis: Run[float64, Literal[3]]
    radius: float64
    half: float64  # of the thickness


class Link(Record):
    """What a facet hangs together with. Its children and neighbours end where those of the next facet begin."""

    parent: int32  # -1 at the coarsest level
    children: int32  # where they begin in `child`
    around: int32  # where its neighbours begin in `neighbour`
    level: int32
    root: int32  # its ancestor of the coarsest level
    cell: int32  # its ancestor of a level between: a pair of cells with rows below it is a contact site
    edge_row: int32  # of its further planes (`sharp_edges.py`), -1 for none
    spare: int32  # rows of 32 bytes


class EdgePlane(Record):
    """One of the two further planes of a facet: a unit normal, and a height above the middle of its cylinder."""

    normal: Run[float64, Literal[3]]
    height: float64


class ArrayPlace(Record):
    """Where an array is."""

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


class Couple(Record):
    """Two bodies that may meet, or one that may meet itself (§3.1)."""

    body: Run[int32, Literal[2]]
    rows: int32
    decided: int32  # whether no further row of it is asked for
    cursor: Run[int32, Literal[2]]  # the next seed of each body
    drawn: int32  # seeds so far
    moving: int32  # whether either body deforms


class Aim(Record):
    """Where seeds of a body come from first: x - share * middle is the direction for a facet (share 0 or 1)."""

    x: float64
    y: float64
    z: float64
    share: float64


class Relative(Record):
    """Of a couple: the pose of b in the frame of a, what rounding takes, which gaps are followed."""

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
    """A pair of facets of a couple."""

    couple: int32
    a: int32
    b: int32


class FoundRow(Record):
    """Two faces that touch or are near, or two facets below which one row is enough."""

    pair: Entry
    kind: int32
    sample: int32  # of the list, that led to it; -1 for none
    distance: float64


class Cell(Record):
    """A contact site: a pair of cells, and the first row below them."""

    pair: Entry
    row: int32


class Tracker(Record):
    """Two facets that are separated, and by how much at least."""

    pair: Entry
    gap: float64


class ListedPair(Record):
    """A sample pair (§3.4), kept from frame to frame."""

    body_a: int32
    body_b: int32
    facet_a: int32
    facet_b: int32
    kind: int32  # of the row that it stands for; 0 where nothing touches
    region: int32
    gap: float64
    distance: float64  # of the middles
    age: float64  # seconds
    between: Run[float64, Literal[3]]  # from a's middle to b's, in a's frame


class PlacedFace(Record):
    """The corners of a face in the world."""

    corners: Run[float64, Literal[9]]


class SearchState(Record):
    """Where the search of a frame stands. A frame begins with zeros."""

    phase: int64  # `next_item.py`
    position: int64  # of what comes next in the phase: in the list, the lost ones, the seeds, the turns
    height: int64  # of the stack
    head: int64  # of the pending pairs
    tail: int64
    rows: int64  # how many there are of each
    cells: int64
    trackers: int64
    lost: int64
    keys: int64
    item_kind: int64  # the current item: NO_ITEM where none is …
    item_listed: int64  # … its number in the list, or NOT_LISTED …
    item_couple: int64
    goal: int64  # … what it is to find …
    item_hit: int64  # … whether it led to a row …
    item_row: int64  # … which is this one …
    closest_a: int64  # … and of the separated pairs that it met the one with the least gap; -1 for none
    closest_b: int64
    closest_gap: float64
    seed_stage: int64  # the current seed (`sampling.py`): on which way it is …
    seed_couple: int64
    seed_side: int64
    seed_facet: int64
    seed_distance: float64  # … the squared distance of the closest facet so far …
    seed_closest: int64  # … which is this one; -1 for none
    pass_next: int64  # facets that its pass has yet to come to
    pass_end: int64
    sweep_couple: int64  # whose seeds are swept …
    sweep_seed: int64  # … and how many of them were
    turns: int64  # taking turns: entries that have one …
    hot_place: int64  # … the next entry among those with rows, the first among the others …
    cold_first: int64
    balance: int64  # … which of them are behind with the work …
    work_mark: int64  # … how much had been done at the last turn …
    below_rows: int64  # … and whose turn that was
    complete: int64  # whether nothing was left out


class Task(Record):
    """What a frame is to do, and what is true of all bodies."""

    couples: int64
    known_couples: int64  # of the last frame
    row_mode: int64  # as in `packed_rows`
    seeds_each: int64
    thorough: int64
    order: int64  # of seeds: 0, or by what they are ordered
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
    """Where the parts of the list of sample pairs end: representatives, then tracked pairs, then the other ones that touched."""

    representatives: int64
    tracked: int64
    all: int64
    written: int64  # pairs of the next list so far


class Carried(Record):
    """What goes on from frame to frame."""

    stamp: int64  # of the frame
    ring_place: int64  # the next in the ring of seeds
    hot: Entry  # the last pair with rows that had its turn: where the last frame was cut
    cold: Entry  # … and the last without


class SearchCounts(Record):
    """What was counted in a frame."""

    facet_tests: int64
    exact_tests: int64
    distance_tests: int64
    samples: int64
    looked: int64
    regions: int64
    operations: int64
    last_couple: int64  # the one that was looked up last


class Work(Struct):
    """All that the search works on."""

    facets: Rows[Facet]
    links: Rows[Link]
    child: Rows[int32]
    neighbour: Rows[int32]
    stamps: Rows[int32]  # of facets: the epoch that they are up to date for
    planes: Rows[EdgePlane]
    seed_order: Rows[int32]
    bodies: Rows[PackedBody]
    poses: Rows[BodyPose]
    couples: Rows[Couple]
    known: Rows[Couple]  # those of the last frame
    relative: Rows[Relative]
    keys: Rows[KeyRow]  # stamp of the frame << 32 | couple << 2 | what, then facet a << 32 | facet b
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
    lost: Rows[int32]  # representatives that were not found where they were
    ring: Rows[int64]  # where the last seeds led to
    tags: Rows[int64]  # of placed faces: body << 32 | face
    placed: Rows[PlacedFace]
    state: One[SearchState]
    task: One[Task]
    ends: One[ListEnds]
    carried: One[Carried]
    counts: One[SearchCounts]


open_work = opener(Work)


class FacetPair(NamedTuple):
    """Facets a and b of a couple of bodies."""

    couple: int
    a: int
    b: int


class Key(NamedTuple):
    """What the hash table knows of a pair."""

    what: int
    pair: FacetPair


@kernel(forceinline=True)
def pair_of(entry: Entry) -> FacetPair:
    """Return the pair of an entry."""
    return FacetPair(as_int64(entry.couple), as_int64(entry.a), as_int64(entry.b))


@kernel(forceinline=True)
def write_entry(entry: Entry, pair: FacetPair) -> None:
    """Write a pair to an entry."""
    entry.couple, entry.a, entry.b = pair.couple, pair.a, pair.b


@kernel(forceinline=True)
def in_order(pair: FacetPair) -> FacetPair:
    """Return a pair of facets of one body with the lower one first."""
    return FacetPair(pair.couple, min(pair.a, pair.b), max(pair.a, pair.b))


@kernel(forceinline=True)
def is_of_one_body(work: Work, pair: FacetPair) -> bool:
    """Return whether the couple of a pair is a body and itself."""
    couple = work.couples[pair.couple]
    return couple.body[0] == couple.body[1]


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
    """Return the pair of cells above a pair: the contact site that it belongs to, if it touches."""
    return FacetPair(pair.couple, as_int64(work.links[pair.a].cell), as_int64(work.links[pair.b].cell))


@kernel(forceinline=True)
def roots_of(work: Work, pair: FacetPair) -> FacetPair:
    """Return the pair of coarsest facets above a pair."""
    roots = FacetPair(pair.couple, as_int64(work.links[pair.a].root), as_int64(work.links[pair.b].root))
    return in_order(roots) if is_of_one_body(work, pair) else roots


@kernel(forceinline=True)
def with_neighbour(work: Work, pair: FacetPair, side: int, place: int) -> FacetPair:
    """Return a pair with the facet of one side replaced by the neighbour at a place."""
    neighbour = as_int64(work.neighbour[place])
    return FacetPair(pair.couple, neighbour, pair.b) if side == 0 else FacetPair(pair.couple, pair.a, neighbour)

"""Running the kernel of self-collision: workspaces, slices, and one large body on several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.reported_distance import distance_if_nearer
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import KEPT_BYTES
from jostle.kernels.late import address_of
from jostle.kernels.pool import cancelled, share_out, threads_for
from jostle.kernels.scratch import Workspaces
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Addresses
from jostle.kernels.work_arrays import WorkArrays
from jostle.methods.wide_tree.pair_work import MOST_NEW
from jostle.methods.wide_tree.pairs import DONE, FULL_ROWS, FULL_STACK
from jostle.methods.wide_tree.self_collision import self_touching_faces
from jostle.methods.wide_tree.self_work import SelfProgress, SelfQuery, SelfWork, WorldFaces, set_up_numbers, set_up_self
from jostle.methods.wide_tree.tree import LANES, Tree
from jostle.report.packing import ALL
from jostle.report.report import Counters

FIRST_SLICE = 1 << 17  # operations: 5 ms of node pairs, or 0.25 s of the slowest exact tests
FIRST_ROOM = 1 << 12  # rows, and stack entries
LARGE = 8_192  # faces of a body that is worth several threads: 0.7 ms
SEEDS = 64  # node pairs that are enough for all threads
HANDS = 32  # parts of these
COUNTED = ("node_tests", "box_tests", "triangle_tests", "distance_tests")


class SelfWorkspace(WorkArrays):
    """The arrays of a walk, kept between calls: a table takes a tenth of a small walk.

    So is what depends on the order of a tree only, for the next frame of a body that deforms.
    """

    def __init__(self) -> None:
        rows = {"keys": FIRST_ROOM, "distances": FIRST_ROOM}
        super().__init__(SelfWork, lanes=0, slots=0, stack=FIRST_ROOM, face_pairs=MOST_NEW, **rows)
        self.progress = SelfProgress(self.arrays["progress"][0])
        self.used = self.arrays["progress"][["node_tests", "triangle_tests"]]  # a view: attributes of a record take 0.5 µs each
        self.welded: Ints = np.empty((0, 3), np.int32)
        self._numbered: tuple[ReferenceType[Any], ...] = ()  # the arrays whose numbers it holds

    def number(self, tree: Tree, trees: Addresses, welded_faces: Ints) -> None:
        """Hold the numbers of a tree, for whose arrays it makes room."""
        of = tree.face_ids, tree.first, welded_faces
        if self._numbered and all(known() is array for known, array in zip(self._numbered, of, strict=True)):
            return
        self._numbered = ()  # an interrupt leaves half of them
        lanes, slots = 3 * (len(tree.faces) + LANES), len(tree.first)
        if lanes > len(self.arrays["lanes"]) or slots > len(self.arrays["slots"]):
            self.replace(lanes=np.empty(lanes, np.float32), slots=np.empty(slots, np.int32))
        welded = np.empty_like(welded_faces)
        set_up_numbers(trees, read_only_view(welded_faces), welded, self.addresses)
        self.welded = read_only_view(welded)
        self._numbered = tuple(map(ref, of))

    def share(self, other: SelfWorkspace) -> None:
        """Use the numbers and frames of another walk, and count from zero."""
        self._numbered = ()
        self.replace(lanes=other.arrays["lanes"], slots=other.arrays["slots"])
        for name in ("progress", "transforms", "turned"):
            self.arrays[name][:] = other.arrays[name]
        counts = self.arrays["progress"]
        for name in ("height", "rows", *COUNTED):
            counts[name] = 0

    def give_back(self) -> None:
        """Keep it for the next walk, unless it is very large."""
        if not self._numbered:  # its numbers are those of another workspace, which may change them
            self.replace(lanes=np.empty(0, np.float32), slots=np.empty(0, np.int32))
        if sum(array.nbytes for array in self.arrays.values()) <= KEPT_BYTES:
            WORKSPACES.give_back(self)


WORKSPACES = Workspaces(SelfWorkspace)


class Walk:
    """A walk of a workspace, which can be resumed.

    It keeps the tree alive: a helper may be in the kernel when an interrupt has taken the caller, and its forest, away.
    """

    def __init__(self, work: SelfWorkspace, tree: Tree, trees: Addresses, world: WorldFaces, query: SelfQuery) -> None:
        self.work, self._tree, self._trees, self._world, self._query = work, tree, trees, world, query

    @staticmethod
    def begun(work: SelfWorkspace, tree: Tree, trees: Addresses, welded_faces: Ints, pose: Floats, query: SelfQuery) -> Walk:
        """Return the walk of a tree, set up."""
        work.number(tree, trees, welded_faces)
        world = np.empty_like(tree.vertices)
        if query.clearance > 0.0:
            work.progress.distance_kernel = address_of(distance_if_nearer)
        set_up_self(trees, read_only_view(tree.vertices), read_only_view(pose), query.clearance, world, work.addresses)
        return Walk(work, tree, trees, WorldFaces(read_only_view(world), read_only_view(tree.faces), work.welded), query)

    def beside(self) -> Walk:
        """Return another walk of the same body, with nothing to do yet."""
        work = WORKSPACES.take()
        work.share(self.work)
        return Walk(work, self._tree, self._trees, self._world, self._query)

    def resume(self, operations: int) -> tuple[bool, int]:
        """Do about so many operations; return whether it is done, and how many were used."""
        before = self._used()
        while True:
            left = operations - (self._used() - before)
            why = self_touching_faces(self._trees, *self._world, *self._query, left, self.work.addresses)
            if why == FULL_ROWS:
                self.work.double("keys", "distances")
            elif why == FULL_STACK:
                self.work.double("stack")
            else:
                return why == DONE, self._used() - before

    def waiting(self) -> NDArray[Any]:
        """Return the node pairs on the stack, as a view."""
        waiting: NDArray[Any] = self.work.arrays["stack"][: self.work.progress.height]
        return waiting

    def put(self, nodes: NDArray[Any]) -> None:
        """Replace the stack by some node pairs."""
        while len(self.work.arrays["stack"]) < nodes.size:
            self.work.double("stack")
        self.work.arrays["stack"][: nodes.size] = nodes
        self.work.progress.height = nodes.size

    def _used(self) -> int:
        node_tests, triangle_tests = self.work.used.item()
        return int(node_tests + triangle_tests)

    def found(self) -> tuple[NDArray[np.int64], Floats]:
        """Return the rows and distances so far, as views."""
        count = int(self.work.progress.rows)
        return self.work.arrays["keys"][:count], self.work.arrays["distances"][:count]

    def counters(self) -> Counters:
        """Return the tests so far."""
        progress = self.work.progress
        return Counters(
            box_tests=int(progress.box_tests),
            triangle_tests=int(progress.triangle_tests),
            distance_tests=int(progress.distance_tests),
        )


def find_self_rows(
    tree: Tree,
    trees: Addresses,
    welded_faces: Ints,
    pose: Floats,
    adjacent: bool,
    clearance: float,
    row_mode: int = ALL,
    workers: int | None = 1,
) -> tuple[NDArray[np.int64], Floats, Counters]:
    """Return the face pairs of one body that touch or are within a clearance.

    Parameters
    ----------
    tree : Tree
        Of the current vertices.
    trees : (1, …) int64
        Its addresses, in a `Forest` that the caller holds.
    welded_faces : (m, 3) int32
        Faces with welded vertex numbers, in the mesh's order. Faces that share one are adjacent.
    pose : (4, 4) float64
        Body to world.
    adjacent : bool
        Also report adjacent faces that touch beyond what they share; clearance does not apply to them.
    clearance : float
        Length in the user's units; 0 for touching pairs only.
    row_mode : int
        `ALL` rows, or any one (`FIRST` or `ANY` of `report/packing.py`).
    workers : int, optional
        Threads for all rows of a large body; the answer does not depend on it.

    Returns
    -------
    rows : (n,) int64
        Sorted; face a, face b > a and kind, packed as in `pairs.py`.
    distances : (n,) float64
        0 for faces that touch.
    counters : Counters
    """
    walk = Walk.begun(WORKSPACES.take(), tree, trees, welded_faces, pose, SelfQuery(adjacent, clearance, row_mode))
    walks = [walk]
    if row_mode == ALL and len(tree.faces) >= LARGE and threads_for(workers) > 1:
        walks += _walk_on_threads(walk, workers)
    else:
        run_in_slices(Walk.resume, walk, FIRST_SLICE, cancel=cancelled)
    rows, distances = (np.concatenate(column) for column in zip(*(each.found() for each in walks), strict=True))
    order = np.argsort(rows)
    counters = sum((each.counters() for each in walks), Counters())
    for each in reversed(walks):  # the next walk of this tree takes the first one
        each.work.give_back()
    return rows[order], distances[order], counters


def _walk_on_threads(walk: Walk, workers: int | None) -> list[Walk]:
    """Run a walk to its end; return the other walks that took part.

    Nodes are compared with themselves level by level until there are enough node pairs to deal out. Each is compared in one walk,
    whichever it is, so neither rows nor counters depend on the threads.
    """
    nodes = walk.waiting().copy()
    while len(nodes) < SEEDS and (are_one := nodes["node"] == nodes["other"]).any():
        found = [nodes[~are_one]]
        for pair in nodes[are_one]:
            walk.put(pair)
            walk.resume(1)
            found.append(walk.waiting().copy())
        nodes = np.concatenate(found)
    others: list[Walk] = []
    first = [walk]

    def make_share() -> Callable[[int], None]:
        if first:
            own = first.pop()  # the calling thread comes first
        else:
            own = walk.beside()
            others.append(own)

        def play(hand: int) -> None:
            own.put(parts[hand])
            run_in_slices(Walk.resume, own, FIRST_SLICE, cancel=cancelled)

        return play

    # Neighbours stay together: they meet the same leaves.
    parts = np.array_split(nodes, max(1, min(HANDS, len(nodes))))
    share_out(range(len(parts)), make_share, workers)
    return others

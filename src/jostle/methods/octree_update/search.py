"""Running the two kernels: where bodies and octrees are, the arrays that grow, the slices, and the rows as columns.

The arrays belong to one detector, which belongs to one thread at a time. They stay from frame to frame, since fresh ones would
cost more than many a frame; very long ones are given back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.frame import Floats, Frame, Ints
from jostle.geometry.box_box import WIDTH
from jostle.kernels.buffers import doubled, pieces
from jostle.kernels.handles import AddressTable
from jostle.kernels.slices import run_in_slices
from jostle.methods.octree_update import face_pairs, node_checklist, standard_octree
from jostle.methods.octree_update.black_nodes import FaceOctree
from jostle.methods.octree_update.cubes import GREATEST_LEVEL, cube_about
from jostle.methods.octree_update.overlap_regions import OverlapRegions
from jostle.report import Counters
from jostle.rows import Rows
from jostle.shapes.mesh import Mesh

FIRST_SLICE = 1 << 20  # operations; later slices are sized by the clock
LONGEST_KEPT = 1 << 20  # rows of an array


class Octrees:
    """The octrees of the bodies, one for all bodies with equal meshes, as kernels want them: a table of addresses."""

    def __init__(self, shapes: tuple[FaceOctree, ...], meshes: tuple[Mesh, ...]) -> None:
        number_of: dict[int, int] = {}
        different: list[tuple[FaceOctree, Mesh]] = []
        self.of_body: Ints = np.empty(len(shapes), np.int32)
        for body, (shape, mesh) in enumerate(zip(shapes, meshes, strict=True)):
            if id(shape) not in number_of:
                number_of[id(shape)] = len(different)
                different.append((shape, mesh))
            self.of_body[body] = number_of[id(shape)]
        self._table = AddressTable(
            [[shape.cells, shape.node_start, shape.node_faces, mesh.vertices, mesh.faces] for shape, mesh in different]
        )
        self.addresses = self._table.table
        self.cubes = np.array([shape.cube for shape, _ in different]).reshape(-1, 4)
        self.levels = np.array([int(shape.level) for shape, _ in different], np.int64)
        self.face_counts = np.array([len(mesh.faces) for _, mesh in different], np.int64)


class NodeChecklist(NamedTuple):
    """Black nodes that meet an overlap region of their body; bodies numbered as in `OverlapRegions`."""

    nodes: Ints  # (n,2) body, and number of the node in its octree; in order
    centres: Floats  # (n,3) in the world
    half_axes: Floats  # (bodies, WIDTH) as `geometry/box_box.py` wants them
    tests: int  # of nodes and regions


class Placed(NamedTuple):
    """The bodies of the overlap regions at their poses."""

    octree_of: Ints
    poses: Floats
    cubes: Floats
    levels: NDArray[np.int64]

    @staticmethod
    def of(octrees: Octrees, regions: OverlapRegions, frame: Frame) -> Placed:
        """Collect them from a frame."""
        number = octrees.of_body[regions.bodies]
        return Placed(number, np.ascontiguousarray(frame.poses[regions.bodies]), octrees.cubes[number], octrees.levels[number])


@dataclass
class Room:
    """The arrays that grow: the checklist of nodes, and what the search through the standard octree needs."""

    nodes: Ints
    centres: Floats
    entries: Ints
    stamps: NDArray[np.int64]
    listed: Ints
    corners: Floats
    checklist_pair: Ints
    checklist_faces: NDArray[np.int64]
    rows: Ints
    seen: Ints

    @staticmethod
    def empty(size: int = 1024) -> Room:
        """Return small arrays."""
        checklist_pair, checklist_faces = face_pairs.empty_checklist(size)
        return Room(
            np.empty((size, 2), np.int32),
            np.empty((size, 3)),
            np.empty(size, np.int32),
            np.zeros(0, np.int64),
            np.empty((size, 3), np.int32),
            np.empty((size, 15)),
            checklist_pair,
            checklist_faces,
            np.empty((size, 4), np.int32),
            np.empty((size, 4), np.int32),
        )

    def let_go(self) -> None:
        """Give very long arrays back, except the stamps: what is in them must stay."""
        if max(len(self.nodes), len(self.entries), len(self.listed), len(self.checklist_pair), len(self.rows)) > LONGEST_KEPT:
            self.__dict__.update(Room.empty().__dict__, stamps=self.stamps)


class Search:
    """The stages from overlap regions to rows, with their scratch arrays."""

    def __init__(self, octrees: Octrees, level: int) -> None:
        self._octrees = octrees
        self._level = level
        self._room = Room.empty()
        self._state = np.zeros(standard_octree.STATE, np.int64)
        self._stack = np.empty((GREATEST_LEVEL + 1, standard_octree.STACK_WIDTH), np.int64)

    def follow(self, octrees: Octrees) -> None:
        """Take other bodies."""
        self._octrees = octrees

    def node_checklist(self, regions: OverlapRegions, frame: Frame, operations: int = FIRST_SLICE) -> NodeChecklist:
        """Return the black nodes that meet overlap regions: views of arrays that the next call overwrites."""
        placed = Placed.of(self._octrees, regions, frame)
        half_axes = np.empty((len(placed.poses), WIDTH))
        node_checklist.place_octrees(*placed[1:], half_axes)
        state = np.zeros(node_checklist.STATE, np.int64)
        bodies = (self._octrees.addresses, *placed, half_axes)
        boxes = (regions.region_start, regions.region, regions.lower, regions.upper)

        def step(room: Room, operations: int) -> tuple[bool, int]:
            before = int(state[node_checklist.TESTS])
            why = node_checklist.nodes_meeting_regions(*bodies, *boxes, operations, state, room.nodes, room.centres)
            if why == node_checklist.FULL:
                room.nodes, room.centres = doubled(room.nodes), doubled(room.centres)
            return why == node_checklist.DONE, max(1, int(state[node_checklist.TESTS]) - before)

        run_in_slices(step, self._room, operations)
        count = int(state[node_checklist.LISTED])
        return NodeChecklist(self._room.nodes[:count], self._room.centres[:count], half_axes, int(state[node_checklist.TESTS]))

    def touching_faces(
        self,
        regions: OverlapRegions,
        checklist: NodeChecklist,
        frame: Frame,
        first_only: bool = False,
        record: bool = False,
        operations: int = FIRST_SLICE,
    ) -> tuple[Rows, Counters]:
        """Return the touching faces of the nodes of a checklist, sorted; with `first_only` one of them at most."""
        room, state = self._room, self._state
        placed = Placed.of(self._octrees, regions, frame)
        counts = self._octrees.face_counts[placed.octree_of]
        stamp_start = np.cumsum(counts) - counts
        if counts.sum() > len(room.stamps):
            room.stamps = np.zeros(counts.sum(), np.int64)
        if len(checklist.nodes) > len(room.entries):
            room.entries = np.empty(2 * len(checklist.nodes), np.int32)
        room.checklist_pair.fill(-1)
        standard_octree.start(state, self._stack, room.entries, len(checklist.nodes))
        bodies = (self._octrees.addresses, placed.octree_of, placed.poses, checklist.half_axes, checklist.nodes, checklist.centres)
        pairs = (regions.pair_start, regions.partner)
        settings = (self.world_cube(regions), self._level, first_only, record)

        def step(room: Room, operations: int) -> tuple[bool, int]:
            before = standard_octree.spent(state)
            why = standard_octree.touching_faces(
                *bodies, *pairs, *settings, operations, state, self._stack, room.entries, room.stamps, stamp_start,
                room.listed, room.corners, room.checklist_pair, room.checklist_faces, room.rows, room.seen,
            )  # fmt: skip
            _grow(room, why, int(state[standard_octree.NEEDED]))
            return why == standard_octree.DONE, max(1, standard_octree.spent(state) - before)

        run_in_slices(step, room, operations)
        return _in_order(room.rows[: state[standard_octree.ROWS]]), _counters(state)

    def world_cube(self, regions: OverlapRegions) -> Floats:
        """Return (4,) lower corner and side of the cube that bounds all bodies with overlap regions."""
        return cube_about(regions.box_lower, regions.box_upper)

    def cells_with_two_bodies(self) -> Ints:
        """Return (n,4) level and cell numbers of what the last recorded search subdivided, its voxels included."""
        return self._room.seen[: self._state[standard_octree.SEEN]].copy()

    def let_go(self) -> None:
        """Give very long arrays back."""
        self._room.let_go()


def _grow(room: Room, why: int, needed: int) -> None:
    """Make longer what was full."""
    if why == standard_octree.FULL_ENTRIES:
        room.entries = doubled(room.entries)
    elif why == standard_octree.FULL_FACES:
        # Between voxels nothing in these has to be kept.
        room.listed, room.corners = np.empty((2 * needed, 3), np.int32), np.empty((2 * needed, 15))
    elif why == standard_octree.FULL_CHECKLIST:
        larger = face_pairs.empty_checklist(2 * len(room.checklist_pair))
        for begin, end in pieces(len(room.checklist_pair)):
            face_pairs.copy_checklist(room.checklist_pair, room.checklist_faces, begin, end, *larger)
        room.checklist_pair, room.checklist_faces = larger
    elif why == standard_octree.FULL_ROWS:
        room.rows = doubled(room.rows)
    elif why == standard_octree.FULL_SEEN:
        room.seen = doubled(room.seen)


def _in_order(found: Ints) -> Rows:
    order = np.lexsort((found[:, 2], found[:, 1], found[:, 0]))
    pair, face_a, face_b, kind = np.ascontiguousarray(found[order].T)
    return Rows(pair, face_a, face_b, kind.astype(np.uint8), np.zeros(len(order)))


def _counters(state: NDArray[np.int64]) -> Counters:
    box_tests = int(state[standard_octree.NODE_TESTS] + state[standard_octree.BOX_TESTS])
    return Counters(box_tests=box_tests, triangle_tests=int(state[standard_octree.TRIANGLE_TESTS]))

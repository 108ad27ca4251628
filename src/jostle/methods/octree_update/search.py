"""Runs the two kernels: their inputs, buffers and slices, and the sorted rows.

The buffers belong to one detector, used by one thread at a time. They are kept from frame to frame, since allocating them would
cost more than many a frame; very long ones are released.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.box_box import WIDTH
from jostle.interface.frame import Frame
from jostle.interface.shape_numbers import number_shapes
from jostle.kernels.buffers import doubled, pieces
from jostle.kernels.hash_set import EMPTY
from jostle.kernels.slices import run_in_slices
from jostle.methods.octree_update import face_pairs, node_checklist, standard_octree
from jostle.methods.octree_update.black_nodes import BlackNodes
from jostle.methods.octree_update.cubes import GREATEST_LEVEL, cube_about
from jostle.methods.octree_update.node_checklist import ListedNodes, Listing, Octree, PlacedOctrees
from jostle.methods.octree_update.overlap_regions import OverlapRegions
from jostle.methods.octree_update.work import (
    ListedFace,
    Options,
    PlacedFace,
    SeenCell,
    StackNode,
    State,
    TouchingFaces,
    Work,
)
from jostle.report.assemble import Rows
from jostle.report.report import Counters
from jostle.shapes.mesh import Mesh

FIRST_SLICE = 1 << 20  # operations; later slices are sized by the clock
LONGEST_KEPT = 1 << 20  # rows of an array
PLACES = {field.name: place for place, field in enumerate(Work.layout)}
FULL = {standard_octree.FULL_ENTRIES: "entries", standard_octree.FULL_ROWS: "rows", standard_octree.FULL_SEEN: "seen"}


class Octrees:
    """The octrees of the bodies as a table for kernels; equal meshes share one."""

    def __init__(self, shapes: tuple[BlackNodes, ...], meshes: tuple[Mesh, ...]) -> None:
        first, self.of_body = number_shapes(shapes)
        different = [(shapes[body], meshes[body]) for body in first]
        self._table = Octree.tables([_arrays_of(shape, mesh) for shape, mesh in different])
        self.addresses = self._table.table
        self.cubes = np.array([shape.cube for shape, _ in different]).reshape(-1, 4)
        self.levels = np.array([int(shape.level) for shape, _ in different], np.int64)
        self.face_counts = np.array([len(mesh.faces) for _, mesh in different], np.int64)


def _arrays_of(shape: BlackNodes, mesh: Mesh) -> dict[str, NDArray[Any]]:
    return {
        "cells": shape.cells,
        "node_start": shape.node_start,
        "node_faces": shape.node_faces,
        "vertices": mesh.vertices,
        "faces": mesh.faces,
    }


class NodeChecklist(NamedTuple):
    """Black nodes that meet an overlap region of their body.

    Bodies are numbered as in `OverlapRegions`.
    """

    nodes: Ints  # (n,2) body, and number of the node in its octree; in order
    centres: Floats  # (n,3) in the world
    half_axes: Floats  # (bodies, WIDTH) in the layout of `geometry/box_box.py`
    tests: int  # of nodes and regions


class Room:
    """The buffers: the checklist of nodes, and those of the standard octree.

    Those of the search are in one table: an interrupt cannot separate them.
    """

    def __init__(self, size: int = 1024) -> None:
        self.nodes = ListedNodes(np.empty((size, 2), np.int32), np.empty((size, 3)))
        self.table = Work.table(
            options=np.zeros(1, Options.dtype),
            state=np.zeros(1, State.dtype),
            stack=np.zeros(GREATEST_LEVEL + 1, StackNode.dtype),
            entries=np.empty(size, np.int32),
            stamps=np.zeros(0, np.int64),
            listed=np.empty(size, ListedFace.dtype),
            placed=np.empty(size, PlacedFace.dtype),
            checklist=face_pairs.empty_checklist(size),
            rows=np.empty(size, TouchingFaces.dtype),
            seen=np.empty(size, SeenCell.dtype),
        )

    def array(self, name: str) -> NDArray[Any]:
        """Return an array of the search."""
        return self.table.array(0, PLACES[name])

    def replace(self, **arrays: NDArray[Any]) -> None:
        """Replace some arrays of the search."""
        self.table = self.table.with_arrays(0, Work.places(**arrays))

    def grow(self, why: int) -> None:
        """Enlarge the array that was full."""
        if why == standard_octree.FULL_FACES:
            # These hold nothing between voxels.
            size = 2 * int(self.array("state")["needed"][0])
            self.replace(listed=np.empty(size, ListedFace.dtype), placed=np.empty(size, PlacedFace.dtype))
        elif why == standard_octree.FULL_CHECKLIST:
            places = len(self.array("checklist"))
            larger = self.table.with_arrays(0, Work.places(checklist=face_pairs.empty_checklist(2 * places)))
            for begin, end in pieces(places):
                face_pairs.copy_checklist(self.table.table[0], begin, end, larger.table[0])
            self.table = larger
        elif why in FULL:
            self.replace(**{FULL[why]: doubled(self.array(FULL[why]))})

    def release(self) -> None:
        """Release very long arrays, but keep the stamps and the number of voxels."""
        lengths = [len(self.array(name)) for name in ("entries", "listed", "checklist", "rows")]
        if max(len(self.nodes.nodes), *lengths) > LONGEST_KEPT:
            small, kept = Room(), {name: self.array(name) for name in ("state", "stamps")}
            self.nodes, self.table = small.nodes, small.table.with_arrays(0, Work.places(**kept))


class Search:
    """The stages from overlap regions to rows, with their scratch arrays."""

    def __init__(self, octrees: Octrees, level: int) -> None:
        self.octrees = octrees
        self._level = level
        self._room = Room()

    def node_checklist(self, regions: OverlapRegions, frame: Frame, operations: int = FIRST_SLICE) -> NodeChecklist:
        """Return the black nodes that meet overlap regions.

        They are views of arrays that the next call overwrites.
        """
        placed = self._placed(regions, frame, np.empty((len(regions.bodies), WIDTH)))
        node_checklist.place_octrees(placed.poses, placed.cubes, placed.levels, placed.half_axes)
        numbers = np.zeros(1, Listing.dtype).view(np.int64)
        state = numbers.view(Listing.dtype)[0]
        octrees = self.octrees.addresses

        def step(room: Room, operations: int) -> tuple[bool, int]:
            before = int(state["tests"])
            why = node_checklist.nodes_meeting_regions(octrees, placed, regions.boxes, operations, numbers, room.nodes)
            if why == node_checklist.FULL:
                room.nodes = ListedNodes(doubled(room.nodes.nodes), doubled(room.nodes.centres))
            return why == node_checklist.DONE, max(1, int(state["tests"]) - before)

        run_in_slices(step, self._room, operations)
        found, count = self._room.nodes, int(state["listed"])
        return NodeChecklist(found.nodes[:count], found.centres[:count], placed.half_axes, int(state["tests"]))

    def _placed(self, regions: OverlapRegions, frame: Frame, half_axes: Floats) -> PlacedOctrees:
        """The octrees of the bodies with overlap regions, at their poses."""
        octrees, number = self.octrees, self.octrees.of_body[regions.bodies]
        poses = np.ascontiguousarray(frame.poses[regions.bodies])
        return PlacedOctrees(number, poses, octrees.cubes[number], octrees.levels[number], half_axes)

    def touching_faces(
        self,
        regions: OverlapRegions,
        checklist: NodeChecklist,
        frame: Frame,
        first_only: bool = False,
        record: bool = False,
        operations: int = FIRST_SLICE,
    ) -> tuple[Rows, Counters]:
        """Return the touching faces of a checklist's nodes, sorted; or only one of them."""
        room, placed = self._room, self._placed(regions, frame, checklist.half_axes)
        counts = self.octrees.face_counts[placed.octree_of]
        stamp_start = np.cumsum(counts) - counts
        if counts.sum() > len(room.array("stamps")):
            room.replace(stamps=np.zeros(counts.sum(), np.int64))
        if len(checklist.nodes) > len(room.array("entries")):
            room.replace(entries=np.empty(2 * len(checklist.nodes), np.int32))
        self._begin_at_root(self.world_cube(regions), len(checklist.nodes), first_only, record)
        nodes, octrees = ListedNodes(checklist.nodes, checklist.centres), self.octrees.addresses
        state = room.array("state")[0]

        def step(room: Room, operations: int) -> tuple[bool, int]:
            work = room.table.table[0]
            why = standard_octree.touching_faces(work, octrees, placed, nodes, stamp_start, regions.pairs, operations)
            room.grow(why)
            return why == standard_octree.DONE, max(1, int(state["used"]))

        run_in_slices(step, room, operations)
        box_tests, triangle_tests = int(state["node_tests"] + state["box_tests"]), int(state["triangle_tests"])
        counters = Counters(box_tests=box_tests, triangle_tests=triangle_tests)
        return _in_order(room.array("rows")[: state["rows"]]), counters

    def _begin_at_root(self, cube: Floats, node_count: int, first_only: bool, record: bool) -> None:
        """Set up the search: the root is on the stack, with all nodes of the checklist."""
        room = self._room
        room.array("options")[0] = cube[:3], cube[3], self._level, first_only, record
        voxels = room.array("state")["voxels"][0]
        room.array("state").fill(0)
        room.array("state")["voxels"] = voxels
        room.array("stack")[0] = 0, 0, 0, standard_octree.NOT_VISITED, 0, node_count
        room.array("entries")[:node_count] = np.arange(node_count)
        room.array("checklist").view(np.int64).fill(EMPTY)

    def world_cube(self, regions: OverlapRegions) -> Floats:
        """Return (4,) corner and side of the cube around all bodies with overlap regions."""
        return cube_about(regions.box_lower, regions.box_upper)

    def cells_with_two_bodies(self) -> Ints:
        """Return (n,4) level and cell numbers of the nodes that hold two bodies.

        Of the last recorded search, its voxels included.
        """
        seen = self._room.array("seen")[: self._room.array("state")["seen"][0]]
        return np.stack([seen[name] for name in ("level", "i", "j", "k")], axis=1)

    def release(self) -> None:
        """Release very long arrays."""
        self._room.release()


def _in_order(found: NDArray[np.void]) -> Rows:
    found = found[np.lexsort((found["face_b"], found["face_a"], found["pair"]))]
    pair, face_a, face_b = (np.ascontiguousarray(found[name]) for name in ("pair", "face_a", "face_b"))
    return Rows(pair, face_a, face_b, found["kind"].astype(np.uint8), np.zeros(len(found)))

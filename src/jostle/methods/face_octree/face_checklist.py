"""Runs stages 1 and 2.

Bodies are placed in the world, then their overlap regions and the faces in these are found, in buffers that are kept. Only bodies
whose boxes may meet another's are placed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.triangle_box import CLIP_WORKSPACE
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import doubled
from jostle.methods.face_octree.bounding_boxes import find_overlap_regions, place_bodies
from jostle.methods.face_octree.overlap_faces import (
    DONE,
    FULL,
    MANY_REGIONS,
    NOTHING_CODED,
    Listing,
    Regions,
    WorldBodies,
    list_faces,
)
from jostle.methods.face_octree.work import BodyMesh, Checklist
from jostle.shapes.mesh import Mesh

SLACK = 2.0**-40  # of the extent: more than a computed distance can be too small
OPERATIONS = 5_000_000  # box tests between returns to Python: some 0.1 s
LARGEST_KEPT = 1 << 20  # faces; longer arrays are released


class OverlappingBodies(NamedTuple):
    """Bodies in the world, and where their boxes overlap."""

    bodies: Ints  # (k,) sorted
    boxes: Floats  # (k,6)
    pair_a: Ints  # (p,) places in `bodies`, of the pairs whose boxes meet
    pair_b: Ints
    regions: Floats  # (r,6) overlap regions, by body
    first: NDArray[np.int64]  # (k+1,) where each body's regions begin
    grown: float  # how far apart faces may be, a little more than the clearance


class FaceChecklist:
    """The arrays of the first two stages."""

    def __init__(self, bodies: Bodies) -> None:
        self._parts = [_used_part(mesh) for mesh in bodies.meshes]
        self._seen = [mesh.vertices for mesh in bodies.meshes]
        arrays = zip(self._parts, self._seen, strict=True)
        self._table = BodyMesh.tables([{"vertices": part.of(vertices), "faces": part.faces} for part, vertices in arrays])
        self._vertex_count = np.array([part.size for part in self._parts], np.int64)
        self._offset = np.zeros(1, np.int64)
        self._room = np.empty((0, 3)), np.empty(0, np.uint8)  # vertices in the world, and their outcodes
        self._columns = _room_for(1024)
        self._polygon = np.zeros(CLIP_WORKSPACE)
        self.box_tests = 0

    def follow(self, frame: Frame) -> None:
        """Update the vertices of deforming bodies."""
        changed: dict[int, list[NDArray[Any]]] = {}
        for body in frame.bodies.deforming:
            vertices = frame.vertices[body]
            if vertices is not self._seen[body]:
                part = self._parts[body]
                changed[body] = BodyMesh.arrays(vertices=part.of(vertices), faces=part.faces)
                self._seen[body] = vertices
        if changed:
            self._table = self._table.with_rows(changed)

    def place(self, pairs: CandidatePairs, frame: Frame, clearance: float) -> OverlappingBodies:
        """Place the bodies of some pairs and find their overlap regions."""
        if len(frame) == 2:
            bodies, pair_a, pair_b = np.arange(2, dtype=np.int32), pairs.body_a, pairs.body_b
        else:
            used = np.zeros(len(frame), bool)
            used[pairs.body_a] = True
            used[pairs.body_b] = True
            bodies = np.flatnonzero(used).astype(np.int32)
            place = np.cumsum(used, dtype=np.int32) - np.int32(1)
            pair_a, pair_b = place[pairs.body_a], place[pairs.body_b]
        boxes, grown = self._place(bodies, frame, clearance)
        meets, first = np.empty(len(pair_a), bool), np.empty(len(bodies) + 1, np.int64)
        regions = np.empty((2 * len(pair_a), 6))
        count = find_overlap_regions(pair_a, pair_b, boxes, grown, meets, first, regions)
        if count < 2 * len(pair_a):
            pair_a, pair_b = pair_a[meets], pair_b[meets]
        return OverlappingBodies(bodies, boxes, pair_a, pair_b, _by_x(regions[:count], first), first, grown)

    def place_all(self, frame: Frame, clearance: float) -> OverlappingBodies:
        """Place all bodies, each with its own box for a region; pairs are not compared."""
        bodies = np.arange(len(frame), dtype=np.int32)
        boxes, grown = self._place(bodies, frame, clearance)
        none = np.empty(0, np.int32)
        return OverlappingBodies(bodies, boxes, none, none, boxes, np.arange(len(bodies) + 1), grown)

    def _place(self, bodies: Ints, frame: Frame, clearance: float) -> tuple[Floats, float]:
        """Write world vertices; returns the boxes, and how far apart faces may be."""
        self._offset = np.zeros(len(bodies) + 1, np.int64)
        np.cumsum(self._vertex_count[bodies], out=self._offset[1:])
        vertices = int(self._offset[-1])
        if len(self._room[1]) < vertices:
            self._room = np.empty((vertices, 3)), np.empty(vertices, np.uint8)
        boxes = np.empty((len(bodies), 6))
        place_bodies(bodies, self._table.table, read_only_view(frame.poses), self._offset, self._room[0], boxes)
        if clearance == 0.0 or len(bodies) == 0:
            return boxes, clearance
        extent = float((boxes[:, 3:].max(axis=0) - boxes[:, :3].min(axis=0)).max())
        return boxes, clearance * (1.0 + SLACK) + SLACK * extent + 2.0**-50 * float(np.abs(boxes).max())

    def faces_that_meet_regions(self, placed: OverlappingBodies, how: int, operations: int = OPERATIONS) -> Checklist:
        """Return views of the faces that meet an overlap region of their body.

        The kernel returns to Python after `operations`.
        """
        world, codes = self._room
        bodies, regions = WorldBodies(placed.bodies, self._offset, codes), Regions(placed.first, placed.regions)
        numbers = np.zeros(1, Listing.dtype).view(np.int64)
        state = numbers.view(Listing.dtype)[0]
        state["coded"] = NOTHING_CODED
        while True:
            out = Checklist(world, *self._columns)
            why = list_faces(self._table.table, bodies, regions, how, operations, self._polygon, numbers, out)
            if why == DONE:
                break
            if why == FULL:
                self._columns = tuple(map(doubled, self._columns))
        self.box_tests = int(state["box_tests"])
        return Checklist(world, *(column[: state["faces"]] for column in self._columns))

    def release(self) -> None:
        """Release very long arrays."""
        if len(self._room[1]) + len(self._columns[1]) > LARGEST_KEPT:
            self._room, self._columns = (np.empty((0, 3)), np.empty(0, np.uint8)), _room_for(1024)


class _Part(NamedTuple):
    """The vertices of a mesh that its faces use; others must not enlarge a box."""

    used: Ints | None  # None for all
    faces: Ints
    size: int  # number of used vertices

    def of(self, vertices: Floats) -> Floats:
        """Return the used ones of some vertices."""
        return np.ascontiguousarray(vertices if self.used is None else vertices[self.used])


def _used_part(mesh: Mesh) -> _Part:
    if mesh.uses_every_vertex:
        return _Part(None, mesh.faces, len(mesh.vertices))
    used, faces = np.unique(mesh.faces, return_inverse=True)
    return _Part(used, faces.reshape(-1, 3).astype(np.int32), len(used))


def _by_x(regions: Floats, first: NDArray[np.int64]) -> Floats:
    """Sort each body's regions by their lower x, where some body has many."""
    counts = np.diff(first)
    if len(counts) == 0 or counts.max() <= MANY_REGIONS:
        return regions
    owner = np.repeat(np.arange(len(counts)), counts)
    return regions[np.lexsort((regions[:, 0], owner))]


def _room_for(faces: int) -> tuple[Ints, ...]:
    return np.empty((faces, 3), np.int32), np.empty(faces, np.int32), np.empty(faces, np.int32)

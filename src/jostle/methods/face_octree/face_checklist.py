"""Running stages 1 and 2: bodies placed in the world, their overlap regions, and the faces that meet them, in arrays that stay.

Only bodies whose boxes may meet another's are placed at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.broad_phase.volumes import CandidatePairs
from jostle.frame import Bodies, Floats, Frame, Ints
from jostle.geometry.triangle_box import CLIP_WORKSPACE_SHAPE
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import doubled
from jostle.kernels.handles import AddressTable
from jostle.methods.face_octree.bounding_boxes import find_overlap_regions, place_bodies
from jostle.methods.face_octree.overlap_faces import BOX_TESTS, CODED, FACES, STATE, list_faces
from jostle.methods.face_octree.walk import Checklist

SLACK = 2.0**-40  # of the extent: more than a computed distance can be too small
LARGEST_KEPT = 1 << 20  # faces; longer arrays are given back


class Placed(NamedTuple):
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
        self._table = AddressTable([[mesh.vertices, mesh.faces] for mesh in bodies.meshes])
        self._vertex_count = np.array([len(mesh.vertices) for mesh in bodies.meshes], np.int64)
        self._seen = [mesh.vertices for mesh in bodies.meshes]
        self._faces = [mesh.faces for mesh in bodies.meshes]
        self._world = np.empty((0, 3))
        self._codes = np.empty(0, np.uint8)
        self._polygon = np.zeros(CLIP_WORKSPACE_SHAPE)
        self._columns = _room_for(1024)
        self.box_tests = 0

    def follow(self, frame: Frame) -> None:
        """Take the vertices of deforming bodies."""
        for body in frame.bodies.deforming:
            vertices = frame.vertices[body]
            if vertices is not self._seen[body]:
                self._table.replace(body, [np.ascontiguousarray(vertices), self._faces[body]])
                self._seen[body] = vertices

    def place(self, pairs: CandidatePairs, frame: Frame, clearance: float, all_regions: bool) -> Placed:
        """Place the bodies of some pairs and find their overlap regions; with `all_regions` each body's own box is its region."""
        if len(frame) == 2:
            bodies, pair_a, pair_b = np.arange(2, dtype=np.int32), pairs.body_a, pairs.body_b
        else:
            used = np.zeros(len(frame), bool)
            used[pairs.body_a] = True
            used[pairs.body_b] = True
            bodies = np.flatnonzero(used).astype(np.int32)
            place = np.cumsum(used, dtype=np.int32) - np.int32(1)
            pair_a, pair_b = place[pairs.body_a], place[pairs.body_b]
        self._offset = np.zeros(len(bodies) + 1, np.int64)
        np.cumsum(self._vertex_count[bodies], out=self._offset[1:])
        self._make_room(int(self._offset[-1]))
        boxes = np.empty((len(bodies), 6))
        place_bodies(bodies, self._table.table, read_only_view(frame.poses), self._offset, self._world, boxes)
        grown = 0.0
        if clearance > 0.0:
            extent = float((boxes[:, 3:].max(axis=0) - boxes[:, :3].min(axis=0)).max())
            grown = clearance * (1.0 + SLACK) + SLACK * extent + 2.0**-50 * float(np.abs(boxes).max())
        meets, first = np.empty(len(pair_a), bool), np.empty(len(bodies) + 1, np.int64)
        regions = np.empty((2 * len(pair_a), 6))
        count = find_overlap_regions(pair_a, pair_b, boxes, grown, meets, first, regions)
        if count < 2 * len(pair_a):
            pair_a, pair_b = pair_a[meets], pair_b[meets]
        if all_regions:
            return Placed(bodies, boxes, pair_a, pair_b, boxes, np.arange(len(bodies) + 1), grown)
        return Placed(bodies, boxes, pair_a, pair_b, regions[:count], first, grown)

    def faces_that_meet_regions(self, placed: Placed, how: int) -> Checklist:
        """Return the faces that meet an overlap region of their body: views."""
        state = np.zeros(STATE, np.int64)
        state[CODED] = -1
        while not list_faces(
            placed.bodies, self._table.table, self._offset, self._world, placed.first, placed.regions, how, self._codes,
            self._polygon, state, *self._columns,
        ):  # fmt: skip
            corner, owner, face = self._columns
            self._columns = doubled(corner), doubled(owner), doubled(face)
        self.box_tests = int(state[BOX_TESTS])
        return Checklist(self._world, *(column[: state[FACES]] for column in self._columns))

    def let_go(self) -> None:
        """Give very long arrays back."""
        if len(self._world) + len(self._columns[1]) > LARGEST_KEPT:
            self._world, self._codes, self._columns = np.empty((0, 3)), np.empty(0, np.uint8), _room_for(1024)

    def _make_room(self, vertices: int) -> None:
        if len(self._codes) < vertices:
            self._world, self._codes = np.empty((vertices, 3)), np.empty(vertices, np.uint8)


def _room_for(faces: int) -> tuple[Ints, Ints, Ints]:
    return np.empty((faces, 3), np.int32), np.empty(faces, np.int32), np.empty(faces, np.int32)

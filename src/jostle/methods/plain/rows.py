"""Rows of touching and near faces, from the walk to sorted columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jostle._types import Bytes, Floats, Longs
from jostle.geometry.aabb import ROUND_DOWN
from jostle.geometry.contact_kind import NEAR
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Frame
from jostle.methods.plain.distances import reported_distances
from jostle.methods.plain.face_table import FaceTable, world_points
from jostle.methods.plain.neighbours import neighbours_touch, share_vertices
from jostle.methods.plain.signs import Certain, certain_signs
from jostle.methods.plain.tree import Boxes, Comparison, FacePairs, TreePlan, fit_boxes, sweep_bodies, walk
from jostle.methods.plain.triangles import triangles_touch
from jostle.report.assemble import NO_ROWS, Rows
from jostle.report.report import Counters
from jostle.shapes.mesh import Mesh

TRIANGLES_AT_ONCE = 1 << 13  # their columns stay in the processor's cache
MORE_REACH = 1.0 + 2.0**-40  # beyond the rounding of a squared distance


class PlacedBodies(NamedTuple):
    """The bodies of one frame: points, faces and boxes, as columns."""

    points: Floats  # (3, v) world vertices
    table: FaceTable
    boxes: Boxes
    longest: float  # side of the box of any face

    @staticmethod
    def of(frame: Frame, table: FaceTable, plan: TreePlan) -> PlacedBodies:
        """Place all bodies."""
        points = world_points(frame, table.first_point)
        boxes = fit_boxes(plan, points, table.corners)
        longest = float((boxes.upper[:, plan.leaf] - boxes.lower[:, plan.leaf]).max(initial=0.0))
        return PlacedBodies(points, table, boxes, longest)

    def corners(self, faces: Longs) -> Floats:
        """Return the corners of faces, (coordinate, corner, face)."""
        return self.points[:, self.table.corners[:, faces]]

    def certain(self, clearance: float) -> Certain:
        """Return when signs are certain, for faces whose boxes are within the clearance."""
        return certain_signs(self.points, (2.0 * self.longest + clearance) * MORE_REACH)

    def comparison(self, clearance: float) -> Comparison:
        """Return the comparison of nodes whose boxes meet, or are within the clearance."""
        if clearance == 0.0:
            return self.boxes.meet
        return lambda a, b: np.flatnonzero(squared_gaps(self.boxes, a, b) <= clearance * clearance)


class CountedComparison:
    """A comparison that counts the nodes it has compared."""

    def __init__(self, keep: Comparison) -> None:
        self._keep = keep
        self.tests = 0

    def __call__(self, a: Longs, b: Longs) -> Longs:
        """Compare nodes."""
        self.tests += len(a)
        return self._keep(a, b)


def squared_gaps(boxes: Boxes, a: Longs, b: Longs) -> Floats:
    """Return lower bounds of the squared distances of boxes, as `geometry/aabb.py` rounds them.

    inf for empty nodes.
    """
    squared = np.zeros(len(a))
    for lower, upper in zip(boxes.lower, boxes.upper, strict=True):
        gap = np.maximum(lower[b] - upper[a], lower[a] - upper[b])
        np.maximum(gap, 0.0, out=gap)
        gap *= gap
        squared += gap
    squared *= ROUND_DOWN
    return squared


def body_pairs(placed: PlacedBodies, frame: Frame, clearance: float) -> CandidatePairs:
    """Return the body pairs that the filters allow and whose boxes are near, sorted."""
    root, keep = placed.boxes.plan.root, placed.comparison(clearance)
    found = [np.empty((2, 0), np.int64)]
    for a, b in sweep_bodies(placed.boxes, clearance * MORE_REACH):
        kept = keep(root[a], root[b])
        found.append(np.stack((a[kept], b[kept])))
    a, b = np.concatenate(found, axis=1)
    order = np.lexsort((b, a))
    body_a, body_b = a[order].astype(np.int32), b[order].astype(np.int32)
    if frame.unfiltered:
        return CandidatePairs(body_a, body_b)
    allowed = frame.may_meet(body_a, body_b)
    return CandidatePairs(body_a[allowed], body_b[allowed])


def rows_of_pairs(placed: PlacedBodies, pairs: CandidatePairs, clearance: float) -> tuple[Rows, Counters]:
    """Return the rows of these body pairs, sorted."""
    keep, certain = CountedComparison(placed.comparison(clearance)), placed.certain(clearance)
    found = _Found()
    for part in walk(placed.boxes.plan, pairs.body_a, pairs.body_b, keep):
        found.test(placed, part, clearance, certain)
    first = placed.table.first_face
    return found.rows(first[pairs.body_a], first[pairs.body_b]), found.counters + Counters(box_tests=keep.tests)


def rows_of_bodies(
    placed: PlacedBodies, meshes: tuple[Mesh, ...], clearance: float, adjacent: bool
) -> tuple[Rows, Counters]:  # fmt: skip
    """Return the rows of every body against itself, sorted; the pair is the body's number."""
    keep, certain = CountedComparison(placed.comparison(clearance)), placed.certain(clearance)
    bodies = np.arange(len(meshes), dtype=np.int32)
    welded = np.concatenate([np.empty((3, 0), np.int32), *(mesh.welded_faces.T for mesh in meshes)], axis=1)
    first = placed.table.first_face
    found = _Found()
    for part in walk(placed.boxes.plan, bodies, bodies, keep):
        part = FacePairs(part.pair, np.minimum(part.face_a, part.face_b), np.maximum(part.face_a, part.face_b))
        shared = share_vertices(welded[:, part.face_a], welded[:, part.face_b])
        found.test(placed, FacePairs(*(column[~shared] for column in part)), clearance, certain)
        if adjacent:
            near = FacePairs(*(column[shared] for column in part))
            for body in np.unique(near.pair).tolist():
                chosen = np.flatnonzero(near.pair == body)
                face_a, face_b = near.face_a[chosen], near.face_b[chosen]
                start = placed.table.first_point[body]
                points = placed.points[:, start : start + len(meshes[body].vertices)]
                local = (face_a - first[body], face_b - first[body])
                kind = neighbours_touch(points, meshes[body].faces, meshes[body].welded_faces, *local, certain)
                found.add(FacePairs(near.pair[chosen], face_a, face_b), kind, np.zeros(len(kind)))
    return found.rows(first, first), found.counters + Counters(box_tests=keep.tests)


class _Found:
    """Rows found so far, by faces of the flat table, and the tests that it took."""

    def __init__(self) -> None:
        self.parts: list[tuple[Longs, Longs, Longs, Bytes, Floats]] = []
        self.counters = Counters()

    def test(self, placed: PlacedBodies, part: FacePairs, clearance: float, certain: Certain) -> None:
        """Test face pairs whose boxes are near, and keep those that touch or are near."""
        for begin in range(0, len(part.pair), TRIANGLES_AT_ONCE):
            chosen = FacePairs(*(column[begin : begin + TRIANGLES_AT_ONCE] for column in part))
            a, b = placed.corners(chosen.face_a), placed.corners(chosen.face_b)
            kind = triangles_touch(a.transpose(1, 0, 2), b.transpose(1, 0, 2), certain)
            distance = np.zeros(len(kind))
            self.counters += Counters(triangle_tests=len(kind))
            if clearance > 0.0:
                apart = np.flatnonzero(kind == 0)
                distance[apart] = reported_distances(a[:, :, apart], b[:, :, apart])
                kind[apart[distance[apart] < clearance]] = NEAR
                self.counters += Counters(distance_tests=len(apart))
            self.add(chosen, kind, distance)

    def add(self, pairs: FacePairs, kind: Bytes, distance: Floats) -> None:
        """Keep the face pairs of any kind but 0."""
        hit = np.flatnonzero(kind)
        if len(hit):
            self.parts.append((pairs.pair[hit], pairs.face_a[hit], pairs.face_b[hit], kind[hit], distance[hit]))

    def rows(self, first_a: Longs, first_b: Longs) -> Rows:
        """Return the rows, sorted; the first faces of the bodies of each pair are subtracted."""
        if not self.parts:
            return NO_ROWS
        pair, face_a, face_b, kind, distance = (np.concatenate(column) for column in zip(*self.parts, strict=True))
        face_a -= first_a[pair]
        face_b -= first_b[pair]
        order = _sorted_rows(pair, face_a, face_b)
        number, i, j = (column[order].astype(np.int32) for column in (pair, face_a, face_b))
        return Rows(number, i, j, kind[order], distance[order])


def _sorted_rows(pair: Longs, face_a: Longs, face_b: Longs) -> Longs:
    """Return the order by pair and faces: by one number where 63 bits hold it."""
    many_a, many_b = int(face_a.max()) + 1, int(face_b.max()) + 1
    order: Longs
    if (int(pair.max()) + 1) * many_a * many_b < 1 << 63:
        order = np.argsort((pair * many_a + face_a) * many_b + face_b)
    else:
        order = np.lexsort((face_b, face_a, pair))
    return order

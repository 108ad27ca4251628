"""WideTree: the default engine. Exact rows for rigid, deforming and self-colliding bodies, by trees of boxes with eight
children.

Rigid bodies with equal meshes share one tree. A deforming body has its own, refitted when its vertices change and built
anew when the boxes have become twice as large as they were (`refit.total_area`). Bodies that may meet are found by a broad
phase, their faces by `pairs.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle.broad_phase.brute_force import BruteForce as AllPairs
from jostle.broad_phase.uniform_grid import UniformGrid
from jostle.broad_phase.volumes import CandidatePairs
from jostle.containment import contained_parts
from jostle.details import details_of_rows
from jostle.frame import Bodies, Floats, Frame, Ints
from jostle.kernels.arrays import read_only_view
from jostle.methods.wide_tree.build import build_tree
from jostle.methods.wide_tree.itself import find_rows_of_itself
from jostle.methods.wide_tree.nearest import closest_faces
from jostle.methods.wide_tree.pairs import ALL, ANY, FIRST
from jostle.methods.wide_tree.refit import fit_frame, refit, total_area
from jostle.methods.wide_tree.search import Forest, Placed, Rows, find_rows_on_threads, unpacked
from jostle.methods.wide_tree.tree import LANES, Tree
from jostle.overlay import Overlay
from jostle.pairwise import LocalBoxes, world_volumes
from jostle.protocol import OldToNew, PairFinder, Progress
from jostle.query import Query
from jostle.report import Batch, Closest, Contacts, Counters, Kind, Pairs, Report
from jostle.shapes.mesh import Mesh
from jostle.traits import EXACT, Answer, Semantics, Serve, Traits

DEGRADED = 2.0  # a deforming tree is built anew when its boxes have this many times the area they had when it was built
FEW_BODIES = 64  # up to here comparing all boxes is cheaper than a grid


@dataclass(frozen=True)
class WideTree:
    """Trees of boxes with eight children; exact, for anything that has faces.

    Parameters
    ----------
    build : {"morton", "sah"}
        How faces are put in order: along a space-filling curve, or by the surface-area heuristic (slower to build).
    """

    build: str = "morton"

    def __post_init__(self) -> None:
        """Check the settings."""
        cast.as_choice(self.build, ("morton", "sah"), "WideTree: build")

    @property
    def traits(self) -> Traits:
        """Exact, for any mesh."""
        return Traits(
            semantics=Semantics.BOTH,
            answers={Answer.FACES: EXACT, Answer.POINTS: EXACT, Answer.NORMAL: EXACT, Answer.DISTANCE: EXACT},
            serves=frozenset({Serve.CLEARANCE, Serve.SELF, Serve.ADJACENT, Serve.DEFORM, Serve.SOLID, Serve.BATCH}),
        )

    @property
    def shape_type(self) -> type:
        """Tree."""
        return Tree

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Tree:
        """Build the tree of a mesh."""
        return build_tree(mesh, self.build)

    def start(self, bodies: Bodies, shapes: tuple[Tree, ...]) -> WideTreeDetector:
        """Begin detecting."""
        return WideTreeDetector(self, bodies, shapes)


class WideTreeDetector:
    """Trees at work: one for each distinct rigid mesh and one for each deforming body."""

    def __init__(self, method: WideTree, bodies: Bodies, shapes: tuple[Tree, ...]) -> None:
        self._method = method
        self._deforming: dict[int, DeformingTree] = {}  # by body id
        self._take(bodies, shapes)

    def _take(self, bodies: Bodies, shapes: tuple[Tree, ...]) -> None:
        kept = self._deforming
        self._deforming = {}
        trees: list[Tree] = []
        number_of: dict[int, int] = {}
        self._tree_of_body: Ints = np.empty(len(bodies), np.int32)
        for k, tree in enumerate(shapes):
            if bodies.deformable[k]:
                number = int(bodies.ids[k])
                self._deforming[number] = kept.get(number) or DeformingTree(tree, bodies.meshes[k], self._method)
                self._tree_of_body[k] = len(trees)
                trees.append(self._deforming[number].tree)
            elif id(tree) in number_of:
                self._tree_of_body[k] = number_of[id(tree)]
            else:
                number_of[id(tree)] = self._tree_of_body[k] = len(trees)
                trees.append(tree)
        self._trees = trees
        self._forest = Forest(trees)
        self._boxes = LocalBoxes(bodies)
        broad = AllPairs() if len(bodies) <= FEW_BODIES else UniformGrid()
        self._finder: PairFinder = broad.start(len(bodies))

    def change(self, bodies: Bodies, shapes: tuple[Tree, ...], old_to_new: OldToNew) -> None:
        """Follow bodies that came and went; deforming ones keep their trees."""
        self._take(bodies, shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Find pairs of boxes, then the faces of each pair of bodies."""
        self._deform(frame)
        pairs = self._pairs_that_may_meet(frame, query.clearance)
        # Solids and self-collision add rows to a pair, so that "any" and "first" are taken from all of them at the end.
        how_many = ALL
        if not query.solid and query.clearance == 0.0:
            how_many = {"any": ANY, "first": FIRST}.get(query.rows, ALL)
        shapes = self._tree_of_body
        placed = Placed(shapes[pairs.body_a], shapes[pairs.body_b], pairs.body_a, pairs.body_b, read_only_view(frame.poses))
        rows, counters = find_rows_on_threads(self._forest, placed, query.clearance, how_many, frame.workers)
        contacts = _contacts(pairs.body_a[rows.pair], pairs.body_b[rows.pair], rows, frame)
        if query.solid:
            contacts = self._with_contained(contacts, pairs, frame)
        if query.itself:
            contacts, work = self._with_itself(contacts, frame, query)
            counters += work
        counters += Counters(body_pairs=len(pairs.body_a), box_tests=self._finder.counters.get("box_tests", 0))
        return _as_asked(contacts, counters, query)

    def detect_many(self, frame: Frame, poses: Floats, rows: str) -> Batch:
        """Answer for many sets of poses (n, bodies, 4, 4): bodies and vertices as in the frame, poses as given."""
        self._deform(frame)
        sets, bodies = poses.shape[:2]
        body_a, body_b = (index.astype(np.int32) for index in np.triu_indices(bodies, 1))
        allowed = frame.may_meet(body_a, body_b)
        body_a, body_b = body_a[allowed], body_b[allowed]
        start: Ints = np.repeat(bodies * np.arange(sets), len(body_a)).astype(np.int32)
        all_a: Ints = np.tile(body_a, sets)
        all_b: Ints = np.tile(body_b, sets)
        shapes = self._tree_of_body
        flat = read_only_view(poses.reshape(-1, 4, 4))
        placed = Placed(shapes[all_a], shapes[all_b], start + all_a, start + all_b, flat)
        found, counters = find_rows_on_threads(self._forest, placed, 0.0, FIRST if rows == "any" else ALL, frame.workers)
        number = (found.pair // max(1, len(body_a))).astype(np.int32)
        return Batch.of(sets, number, all_a[found.pair], all_b[found.pair], found.face_a, found.face_b, found.kind, rows, counters)

    def _deform(self, frame: Frame) -> None:
        for body in np.flatnonzero(frame.bodies.deformable):
            deforming = self._deforming[int(frame.bodies.ids[body])]
            if deforming.follow(frame.vertices[body]):
                number = self._tree_of_body[body]
                self._trees[number] = deforming.tree
                self._forest.replace(number, deforming.tree)

    def _pairs_that_may_meet(self, frame: Frame, clearance: float) -> CandidatePairs:
        if len(frame) == 2:  # the kernel's own first test is as good as a broad phase
            pairs = CandidatePairs(np.zeros(1, np.int32), np.ones(1, np.int32))
        else:
            pairs = self._finder.find(world_volumes(self._boxes, frame, clearance))
        allowed = frame.may_meet(pairs.body_a, pairs.body_b)
        return pairs if allowed.all() else CandidatePairs(pairs.body_a[allowed], pairs.body_b[allowed])

    def _with_contained(self, contacts: Contacts, pairs: CandidatePairs, frame: Frame) -> Contacts:
        """Add a row for every part of a body that lies inside the other of its pair."""
        parts = contained_parts(pairs, contacts, frame)
        if not parts:
            return contacts
        a, b, face_a, face_b, kind = (np.array(column) for column in zip(*parts, strict=True))
        added = Rows(
            np.zeros(len(a), np.int32), face_a.astype(np.int32), face_b.astype(np.int32), kind.astype(np.uint8), np.zeros(len(a))
        )
        return _merged(contacts, _contacts(a.astype(np.int32), b.astype(np.int32), added, frame), frame)

    def _with_itself(self, contacts: Contacts, frame: Frame, query: Query) -> tuple[Contacts, Counters]:
        counters = Counters()
        for body, mesh in enumerate(frame.bodies.meshes):
            tree = self._trees[self._tree_of_body[body]]
            keys, distance, work = find_rows_of_itself(tree, mesh.welded_faces, frame.poses[body], query.adjacent, query.clearance)
            counters += work + Counters(body_pairs=1)
            if len(keys):
                itself = np.full(len(keys), body, np.int32)
                rows = Rows(itself, *unpacked(keys), distance)
                contacts = _merged(contacts, _contacts(itself, itself, rows, frame), frame)
        return contacts, counters

    def closest(self, frame: Frame, body_a: int, body_b: int) -> Closest:
        """Return the closest faces of two bodies."""
        self._deform(frame)
        tree_a, tree_b = self._trees[self._tree_of_body[body_a]], self._trees[self._tree_of_body[body_b]]
        return closest_faces(tree_a, tree_b, frame.poses[body_a], frame.poses[body_b])

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show the boxes of one level of all trees, `what` its number ("0" the root's children, the default), as world boxes."""
        self._deform(frame)
        level = int(what or 0)
        found = []
        for body in range(len(frame)):
            tree = self._trees[self._tree_of_body[body]]
            nodes = np.array([0])
            for _ in range(level):
                nodes = np.concatenate(
                    [np.arange(tree.first[n], tree.first[n] + tree.count[n]) if tree.count[n] > 0 else [n] for n in nodes]
                ).astype(int)
            boxes = tree.boxes.reshape(-1, 2, 3, LANES)[nodes].transpose(0, 3, 1, 2).reshape(-1, 2, 3).astype(np.float64)
            boxes = boxes[(boxes[:, 0] <= boxes[:, 1]).all(axis=1)] / tree.frame[3] + tree.frame[:3]
            found.append(_corner_boxes(boxes, frame.poses[body]))
        return Overlay(f"boxes of level {level}", boxes=np.concatenate([np.empty((0, 2, 3)), *found]))


class DeformingTree:
    """The tree of one deforming body: its own boxes, refitted or built anew."""

    def __init__(self, tree: Tree, mesh: Mesh, method: WideTree) -> None:
        self._mesh = mesh
        self._method = method
        self._start(tree._replace(boxes=tree.boxes.copy(), frame=tree.frame.copy()))

    def _start(self, tree: Tree) -> None:
        self.tree = tree
        self._area = total_area(tree.boxes, tree.first, tree.count)

    def follow(self, vertices: Floats) -> bool:
        """Take other vertices; returns whether anything changed."""
        tree = self.tree
        if vertices is tree.vertices:
            return False
        arrays = [read_only_view(array) for array in (tree.first, tree.count, tree.faces, vertices)]
        fit_frame(arrays[3], arrays[2], self._mesh.uses_every_vertex, tree.frame)
        arguments = (tree.boxes, *arrays, tree.frame)
        refit(*arguments)
        self.tree = tree._replace(vertices=vertices)
        if total_area(tree.boxes, tree.first, tree.count) > DEGRADED * self._area:
            self._start(build_tree(self._mesh.with_vertices(vertices), self._method.build))
        return True


def _corner_boxes(boxes: Floats, pose: Floats) -> Floats:
    centre, half = boxes.mean(axis=1), 0.5 * (boxes[:, 1] - boxes[:, 0])
    moved, extent = centre @ pose[:3, :3].T + pose[:3, 3], half @ np.abs(pose[:3, :3]).T
    return np.stack([moved - extent, moved + extent], axis=1)


def _contacts(body_a: Ints, body_b: Ints, rows: Rows, frame: Frame) -> Contacts:
    unknown = np.full(len(rows.kind), np.nan)
    details = details_of_rows(frame, body_a, body_b, rows.face_a, rows.face_b, rows.kind)
    return Contacts(body_a, body_b, rows.face_a, rows.face_b, rows.kind, rows.distance, unknown, unknown, details)


def _merged(one: Contacts, other: Contacts, frame: Frame) -> Contacts:
    """All rows of both, in order."""
    columns = [
        np.concatenate([getattr(one, n), getattr(other, n)]) for n in ("body_a", "body_b", "face_a", "face_b", "kind", "distance")
    ]
    order = np.lexsort(columns[3::-1])
    body_a, body_b, face_a, face_b, kind, distance = (column[order] for column in columns)
    return _contacts(body_a, body_b, Rows(body_a, face_a, face_b, kind, distance), frame)


def _as_asked(contacts: Contacts, counters: Counters, query: Query) -> Report:
    """Keep the rows that the query wants."""
    pairs = Pairs.of(contacts)
    if query.rows == "faces":
        return Report(pairs, contacts, counters)
    if query.rows == "first":
        worst = _first_of_the_worst(contacts, pairs)
        contacts = contacts.select(worst)
        return Report(Pairs.of(contacts), contacts, counters)
    if query.rows == "any":
        pairs = pairs.select(np.arange(min(1, len(pairs))))
    return Report(pairs, counters=counters)


def _first_of_the_worst(contacts: Contacts, pairs: Pairs) -> NDArray[np.int64]:
    """Of each pair the first row of its most severe kind."""
    starts = np.cumsum(pairs.rows) - pairs.rows
    severe = contacts.kind == np.repeat(pairs.kind, pairs.rows)
    # The first True of each run: the lowest index among the severe rows.
    index = np.where(severe, np.arange(len(severe)), len(severe))
    return np.minimum.reduceat(index, starts) if len(starts) else np.empty(0, np.int64)


assert Kind.CROSSING < 1 << 3  # a kind fits into a row

"""WideTreeDetector: trees of rigid and deforming bodies, searched frame by frame.

Rigid bodies with equal meshes share one tree. A deforming body has its own, refitted when its vertices change and rebuilt when the
area of its boxes has doubled (`refit.fit_boxes`). A broad phase finds body pairs, `pairs.py` their faces.
"""

from __future__ import annotations

import numpy as np

from jostle._types import Floats, Ints, Longs
from jostle.broad_phase.candidates import FEW_BOXES, Candidates
from jostle.interface.body_pairs import NO_PAIRS, CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import OldToNew
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.shape_numbers import number_shapes
from jostle.kernels.arrays import read_only_view
from jostle.kernels.pool import share_out
from jostle.methods.wide_tree.build import build_and_measure
from jostle.methods.wide_tree.clearance import Trees, any_near_row, any_rows, first_rows, nearest_rows
from jostle.methods.wide_tree.lowest_faces import LowestFaces
from jostle.methods.wide_tree.method import WideTree
from jostle.methods.wide_tree.nearest_search import NO_SEED, closest_faces
from jostle.methods.wide_tree.parallel import find_rows_parallel
from jostle.methods.wide_tree.pose_sets import Scene, SetOptions, batch_of
from jostle.methods.wide_tree.refit import refit_tree
from jostle.methods.wide_tree.search import TreePairs
from jostle.methods.wide_tree.self_bodies import rows_of_bodies
from jostle.methods.wide_tree.self_search import find_self_rows
from jostle.methods.wide_tree.show import overlay_of
from jostle.methods.wide_tree.tree import Forest, Tree
from jostle.report.assemble import Rows, report_of
from jostle.report.batch import Batch
from jostle.report.packing import ALL, ANY, ROW_MODES, WORST, WORST_OF_ANY, unpacked
from jostle.report.report import Closest, Counters, Kind, Report, replaced
from jostle.shapes.mesh import Mesh

DEGRADED = 2.0  # growth of the area of its boxes after which a deforming tree is rebuilt
MOST_SEEDS = 1 << 14  # pairs of bodies: 4 MB
REFITTED_APART = 20_000  # fewest vertices of several bodies that threads refit: 0.2 ms


class WideTreeDetector:
    """One tree for each distinct rigid mesh, and one for each deforming body."""

    def __init__(self, method: WideTree, bodies: Bodies, shapes: tuple[Tree, ...]) -> None:
        self._method = method
        self._deforming: dict[int, DeformingTree] = {}  # by body id
        # For two bodies the kernel's first test replaces a broad phase, and boxes of large meshes take a while.
        self._candidates = Candidates(bodies, "uniform_grid", few=2, few_boxes=FEW_BOXES)
        self._seeds: dict[tuple[int, int], Longs] = {}  # by body numbers, see `nearest_seed.py`
        self._set_bodies(bodies, shapes)

    def _set_bodies(self, bodies: Bodies, shapes: tuple[Tree, ...]) -> None:
        kept, self._deforming = self._deforming, {}
        placed = list(shapes)
        for body in bodies.deforming:
            number = int(bodies.ids[body])
            self._deforming[number] = kept.get(number) or DeformingTree(shapes[body], bodies.meshes[body], self._method)
            placed[body] = self._deforming[number].tree
        first, self._tree_of_body = number_shapes(placed)
        self._trees = [placed[body] for body in first]
        self._forest = Forest(self._trees)
        self._lowest = LowestFaces()
        self._listed = NO_PAIRS, *NO_PAIRS  # the pairs of the last call, and the trees of these

    def change(self, bodies: Bodies, shapes: tuple[Tree, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed; deforming ones keep their trees."""
        self._candidates.change(bodies, old_to_new)
        new = old_to_new.tolist()
        self._seeds = {(new[a], new[b]): seed for (a, b), seed in self._seeds.items() if new[a] >= 0 and new[b] >= 0}
        self._set_bodies(bodies, shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Find body pairs by a broad phase, then the faces of each."""
        self._deform(frame)
        pairs = self._candidates.pairs(frame, query.clearance)
        rows, work = self._rows(self._tree_pairs(pairs, frame), query, frame.workers)
        counters = replaced(work, body_pairs=len(pairs.body_a), box_tests=work.box_tests + self._candidates.box_tests)
        if not query.itself:
            return report_of(rows, pairs, frame, query, counters)
        itself, work = self._self_rows(frame, query)
        return report_of(rows, pairs, frame, query, counters + work, itself)

    def _tree_pairs(self, pairs: CandidatePairs, frame: Frame) -> TreePairs:
        """Return the trees and poses of body pairs; few bodies have the same pairs each time."""
        listed, shape_a, shape_b = self._listed
        if pairs is not listed:
            shape_a, shape_b = self._tree_of_body.take(pairs.body_a), self._tree_of_body.take(pairs.body_b)
            self._listed = pairs, shape_a, shape_b
        return TreePairs(shape_a, shape_b, pairs.body_a, pairs.body_b, read_only_view(frame.poses))

    def _rows(self, pairs: TreePairs, query: Query, workers: int | None) -> tuple[Rows, Counters]:
        """Return the rows that a query needs."""
        # Solids add rows: then all faces that touch are needed.
        row_mode = ALL if query.solid else ROW_MODES[query.rows]
        if row_mode == WORST_OF_ANY and not query.kinds:
            row_mode = ANY
        if query.clearance == 0.0 or query.rows == "faces":
            return find_rows_parallel(self._forest, pairs, query.clearance, row_mode, workers)
        trees = Trees(self._trees, self._forest, self._lowest)
        if row_mode == ANY:
            return any_near_row(trees, pairs, query.clearance)
        if row_mode == WORST_OF_ANY:
            return any_rows(trees, pairs, query.clearance, workers)
        if row_mode == WORST and query.rows == "first":
            return first_rows(trees, pairs, query.clearance, workers)
        return nearest_rows(trees, pairs, query.clearance, row_mode, workers)

    def detect_many(
        self,
        frame: Frame,
        poses: Floats,
        rows: str,
        *,
        moving: Ints | None = None,
        clearance: float = 0.0,
        solid: bool = False,
        distance: bool = False,
    ) -> Batch:
        """Detect for many sets of poses with the frame's vertices (`pose_sets.py`)."""
        self._deform(frame)
        moved = np.arange(len(frame), dtype=np.int32) if moving is None else moving
        pairs = self._candidates.every(frame)
        scene = Scene(frame, moved, pairs, self._forest, self._tree_of_body, self._candidates.boxes)
        return batch_of(scene, poses, SetOptions(rows, clearance, solid, distance))

    def _deform(self, frame: Frame) -> None:
        if not frame.bodies.deforming:
            return
        deformed = [(self._deforming[int(frame.bodies.ids[body])], frame.vertices[body]) for body in frame.bodies.deforming]
        _follow([(tree, vertices) for tree, vertices in deformed if vertices is not tree.tree.vertices], frame.workers)
        changed: dict[int, Tree] = {}
        for body, (deforming, _) in zip(frame.bodies.deforming, deformed, strict=True):
            number = int(self._tree_of_body[body])
            if self._trees[number] is not deforming.tree:
                self._trees[number] = changed[number] = deforming.tree
        if changed:
            self._forest = self._forest.with_trees(changed)

    def _self_rows(self, frame: Frame, query: Query) -> tuple[Rows, Counters]:
        """Return the rows of every body against itself; the pair is the body's number."""

        def rows_of_body(body: int, workers: int | None) -> tuple[Rows, Counters]:
            number, mesh, pose = int(self._tree_of_body[body]), frame.bodies.meshes[body], frame.poses[body]
            keys, distance, work = find_self_rows(
                self._trees[number],
                self._forest.alone(number),
                mesh.welded_faces,
                pose,
                query.adjacent,
                query.clearance,
                ALL,
                workers,
            )
            return Rows.of_pair(body, *unpacked(keys), distance), work

        faces = [len(mesh.faces) for mesh in frame.bodies.meshes]
        rows, counters = rows_of_bodies(faces, rows_of_body, frame.workers)
        return rows, counters + Counters(body_pairs=len(frame))

    def closest(self, frame: Frame, body_a: int, body_b: int) -> Closest:
        """Return the closest faces of two bodies."""
        self._deform(frame)
        shape_a, shape_b = int(self._tree_of_body[body_a]), int(self._tree_of_body[body_b])
        seed = self._seed_of(body_a, body_b)
        return closest_faces(self._forest, shape_a, shape_b, frame.poses[body_a], frame.poses[body_b], seed)

    def _seed_of(self, body_a: int, body_b: int) -> Longs:
        """Return where the search for the closest faces of two bodies begins, to be updated."""
        seed = self._seeds.get((body_a, body_b))
        if seed is None:
            if len(self._seeds) >= MOST_SEEDS:
                self._seeds = {}
            seed = self._seeds[body_a, body_b] = NO_SEED.copy()
        return seed

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show the boxes of one level of all trees, by default "0": the root's children."""
        self._deform(frame)
        return overlay_of(self._trees, self._tree_of_body, frame, what)


def _follow(deformed: list[tuple[DeformingTree, Floats]], workers: int | None) -> None:
    """Fit trees to new vertices, in several threads if there are many."""
    if len(deformed) > 1 and sum(len(vertices) for _, vertices in deformed) >= REFITTED_APART:
        share_out(sorted(deformed, key=lambda one: -len(one[1])), lambda: lambda one: one[0].follow(one[1]), workers)
    else:
        for tree, vertices in deformed:
            tree.follow(vertices)


class DeformingTree:
    """The tree of one deforming body, refitted or rebuilt."""

    def __init__(self, tree: Tree, mesh: Mesh, method: WideTree) -> None:
        self._mesh = mesh
        self._method = method
        own = tree._replace(boxes=np.empty_like(tree.boxes), frame=np.empty_like(tree.frame))
        self.tree, self._area = refit_tree(own, tree.vertices, mesh.uses_every_vertex)

    def follow(self, vertices: Floats) -> None:
        """Fit the tree to new vertices."""
        mesh = self._mesh
        self.tree, area = refit_tree(self.tree, vertices, mesh.uses_every_vertex)
        if area > DEGRADED * self._area:
            self.tree, self._area = build_and_measure(vertices, mesh.faces, mesh.uses_every_vertex, self._method.build)


assert max(Kind) < 1 << 3  # a kind fits into a row

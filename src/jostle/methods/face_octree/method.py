"""FaceOctree: the algorithm of Kitamura, Smith, Takemura and Kishino (1998).

The stages, in the order of §3.2: bounding boxes and overlap regions; faces that meet an overlap region; the face octree, which
yields the face-pair checklist; the check of each pair. Any number of bodies, concave and deforming ones too; nothing is
precomputed, and only buffers are kept from frame to frame. Exact: rows equal those of the oracle to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from jostle import cast
from jostle._types import Longs
from jostle.broad_phase.candidates import Candidates
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.protocol import BroadPhase
from jostle.broad_phase.volumes import Volumes
from jostle.errors import InputError
from jostle.interface.body_pairs import CandidatePairs, pair_key
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import EXACT, Answer, Semantics, Serve, Traits
from jostle.kernels.pool import map_chunks
from jostle.methods.face_octree.face_checklist import FaceChecklist, OverlappingBodies
from jostle.methods.face_octree.face_pairs import DISTANCE_TESTS, TRIANGLE_TESTS, Checked, check_pairs
from jostle.methods.face_octree.subdivision import AUTO
from jostle.methods.face_octree.walk import Walk, cells_of, find_face_pairs
from jostle.methods.face_octree.work import AXES, BOXES, CLIP, Checklist, Tree
from jostle.methods.face_octree.world_cube import grow_to_hold, write_cube, write_cube_about
from jostle.report.assemble import Rows, report_of
from jostle.report.report import Counters, Report
from jostle.shapes.mesh import Mesh

TRAITS = Traits(
    semantics=Semantics.BOTH,
    answers={Answer.FACES: EXACT, Answer.POINTS: EXACT, Answer.NORMAL: EXACT},
    serves=frozenset({Serve.CLEARANCE, Serve.DEFORM, Serve.SOLID}),
    paper="kitamura1998",
    overlays={"cells visited": "cells", "overlap regions": "regions", "faces on the checklist": "faces"},
)
HOW = {"clip": CLIP, "axes": AXES, "boxes": BOXES}
LARGEST_GIVEN = 10  # level; two faces that fill the cube meet in four million voxels of the next
PORTION = 16_384  # face pairs checked between two polls for Ctrl-C: some 5 ms, 0.1 s at worst
NO_KEYS = np.empty(0, np.int64)


class NoShape(NamedTuple):
    """Nothing is precomputed of a mesh (§2.2.2)."""


@dataclass(frozen=True)
class FaceOctree:
    """The face octree: exact, for deforming and rigid bodies.

    Parameters
    ----------
    level : int or "auto"
        Level of the voxels, 6 in the paper, 10 at most; "auto" stops where few pairs are left or faces are as large as voxels.
    cells : {"octree", "bintree"}
        Whether a node has eight children, or two along one axis after the other.
    face_box : {"boxes", "axes", "clip"}
        How faces are tested against boxes: by their own boxes; exactly, by separating axes; exactly, by the paper's clipping.
    broad : str, BroadPhase or None
        Finds the bodies whose boxes meet ("brute_force" is the paper's); None skips the stage of boxes.
    cube : ((x, y, z), edge), optional
        Centre and edge of the world cube; without it the cube that holds all bodies (level "auto": all that may meet).
    workers : int, optional
        Threads for subtrees; the world's number by default.

    Examples
    --------
    >>> world = jostle.World("face_octree(level=6)")
    >>> same = jostle.World(jostle.FaceOctree(level=6))
    >>> world.method == same.method
    True
    """

    level: int | str = "auto"
    cells: str = "octree"
    face_box: str = "boxes"
    broad: str | BroadPhase | None = "uniform_grid"
    cube: tuple[tuple[float, float, float], float] | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        """Check the settings."""
        if isinstance(self.level, str):
            cast.as_choice(self.level, ("auto",), "FaceOctree: level, if it is a word,")
        else:
            object.__setattr__(self, "level", cast.as_count(self.level, "level", highest=LARGEST_GIVEN, owner="FaceOctree"))
        cast.as_choice(self.cells, ("octree", "bintree"), "FaceOctree: cells")
        cast.as_choice(self.face_box, tuple(HOW), "FaceOctree: face_box")
        if self.broad is not None:
            broad_phase_of(self.broad, "FaceOctree")
        if self.workers is not None:
            cast.as_count(self.workers, "workers", lowest=1, owner="FaceOctree")
        if self.cube is not None:
            self._check_cube()

    def _check_cube(self) -> None:
        try:
            (x, y, z), edge = self.cube  # type: ignore[misc]
            centre, edge = (float(x), float(y), float(z)), float(edge)
        except Exception:  # of the value's own making
            raise InputError(
                f"FaceOctree: cube is {cast.shown(self.cube)}; pass ((x, y, z), edge), its centre and its edge"
            ) from None
        largest = cast.LARGEST_COORDINATE
        if not (all(abs(coordinate) <= largest for coordinate in centre) and 0.0 < edge <= largest):
            raise InputError(f"FaceOctree: cube is {self.cube!r}; its edge must be positive, and all of it at most {largest:g}")
        object.__setattr__(self, "cube", (centre, edge))

    @property
    def traits(self) -> Traits:
        """Exact, for any mesh."""
        return TRAITS

    @property
    def shape_type(self) -> type:
        """NoShape."""
        return NoShape

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> NoShape:
        """Precompute nothing."""
        return NoShape()

    def start(self, bodies: Bodies, shapes: tuple[NoShape, ...]) -> FaceOctreeDetector:
        """Begin detecting."""
        return FaceOctreeDetector(self, bodies)


class FaceOctreeDetector(Detector):
    """Runs the stages; keeps only buffers."""

    def __init__(self, method: FaceOctree, bodies: Bodies) -> None:
        self._method = method
        self._walk = Walk()
        self._checklist = FaceChecklist(bodies)
        self._candidates = Candidates(bodies, method.broad, few=2)

    def change(self, bodies: Bodies, shapes: tuple[NoShape, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed."""
        self._checklist = FaceChecklist(bodies)
        self._candidates.change(bodies, old_to_new)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Run the four stages."""
        placed, volumes, tests = self._placed(frame, query)
        counters = Counters(body_pairs=len(placed.pair_a), box_tests=tests)
        if len(placed.pair_a) == 0 and not self._without_boxes(frame, query):
            return Report(counters=counters)
        faces = self._checklist.faces_that_meet_regions(placed, HOW[self._method.face_box])
        workers = frame.workers if self._method.workers is None else self._method.workers
        keys, tests = find_face_pairs(self._walk, faces, self._tree(placed, volumes, frame.unfiltered), workers)
        rows, met, work = _check(keys, faces, placed, query, workers)
        counters += work + Counters(box_tests=tests + self._checklist.box_tests)
        self._walk.release()
        self._checklist.release()
        return report_of(rows, met, frame, query, counters)

    def _without_boxes(self, frame: Frame, query: Query) -> bool:
        """Whether boxes of bodies are not compared; filters and solids need body pairs."""
        return self._method.broad is None and frame.unfiltered and not query.solid and len(frame) > 1

    def _placed(self, frame: Frame, query: Query) -> tuple[OverlappingBodies, Volumes | None, int]:
        """Stage 1: bodies that may meet, the boxes of all bodies, and the number of tests."""
        self._checklist.follow(frame)
        if self._without_boxes(frame, query):
            return self._checklist.place_all(frame, query.clearance), None, 0
        candidates, volumes = self._candidates, None
        if len(frame) > 2:
            volumes = candidates.volumes(frame, query.clearance)
            pairs, tests = candidates.among(volumes, frame), candidates.box_tests
        else:  # the boxes of two bodies are compared where their overlap region is made
            pairs, tests = candidates.pairs(frame), len(frame) // 2
        return self._checklist.place(pairs, frame, query.clearance), volumes, tests

    def _tree(self, placed: OverlappingBodies, volumes: Volumes | None, unfiltered: bool) -> Tree:
        """The octree over the world cube, for the faces of placed bodies."""
        method, cube, boxes = self._method, np.empty(6), placed.boxes
        level = AUTO if isinstance(method.level, str) else method.level
        if method.cube is not None:
            (x, y, z), edge = method.cube
            write_cube(cube, x, y, z, edge)
        elif volumes is not None and level != AUTO:
            write_cube_about(cube, volumes.lower, volumes.upper)
        else:  # an automatic level does not depend on the size of the world
            write_cube_about(cube, boxes[:, :3], boxes[:, 3:])
        level = grow_to_hold(cube, level, boxes, placed.grown)
        bintree = method.cells == "bintree"
        allowed = NO_KEYS if unfiltered else pair_key(placed.pair_a, placed.pair_b)
        depth = 3 * level if bintree and level != AUTO else level
        return Tree(cube, depth, bintree, HOW[method.face_box], 0.5 * placed.grown, allowed)

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show overlap "regions", visited "cells" (the default) or listed "faces"."""
        what = cast.as_choice(what or "cells", ("regions", "cells", "faces"), "what")
        placed, volumes, _ = self._placed(frame, Query())
        if what == "regions":
            return Overlay("overlap regions", boxes=placed.regions.reshape(-1, 2, 3).copy())
        faces = self._checklist.faces_that_meet_regions(placed, HOW[self._method.face_box])
        if what == "faces":
            body = frame.bodies.ids[placed.bodies[faces.owner]]
            return Overlay("faces on the checklist", faces={int(k): faces.face[body == k] for k in np.unique(body)})
        cells = np.empty((0, 6))
        if len(faces.owner):
            cells = cells_of(self._walk, faces, self._tree(placed, volumes, frame.unfiltered))
        return Overlay("cells of the face octree", boxes=cells.reshape(-1, 2, 3))


def _check(
    keys: Longs, faces: Checklist, placed: OverlappingBodies, query: Query, workers: int | None
) -> tuple[Rows, CandidatePairs, Counters]:
    """Check the pairs of the checklist, in portions.

    Returns sorted rows of those that meet, and the body pairs they refer to.
    """
    kind, distance = np.zeros(len(keys), np.uint8), np.empty(len(keys))
    only_one = query.rows == "any" and not query.solid and query.clearance == 0.0
    if only_one:
        keys = np.sort(keys)  # which one must not depend on the order in which threads found them

    def portion(begin: int, end: int) -> Longs:
        work = np.zeros(2, np.int64)
        check_pairs(keys, begin, end, query.clearance, only_one, faces, Checked(kind, distance, work))
        return work

    work = sum(map_chunks(portion, len(keys), PORTION, workers), start=np.zeros(2, np.int64))
    counters = Counters(triangle_tests=int(work[TRIANGLE_TESTS]), distance_tests=int(work[DISTANCE_TESTS]))
    found = kind.nonzero()[0]
    keys = keys[found]
    f, g = keys >> 32, keys & 0xFFFFFFFF
    face_a, face_b = faces.face[f], faces.face[g]
    pair_a, pair_b = placed.pair_a, placed.pair_b
    if len(pair_a) == 1:
        pair, order = np.zeros(len(keys), np.int32), keys.argsort()
    else:
        owners = pair_key(faces.owner[f], faces.owner[g])
        known = pair_key(pair_a, pair_b) if len(pair_a) else np.unique(owners)
        pair_a, pair_b = known >> 32, known & 0xFFFFFFFF
        pair = known.searchsorted(owners).astype(np.int32)
        order = np.lexsort((face_b, face_a, pair))
    found = found[order]
    rows = Rows(pair[order], face_a[order], face_b[order], kind[found], distance[found])
    return rows, CandidatePairs(placed.bodies[pair_a], placed.bodies[pair_b]), counters

"""OctreeUpdate: precomputed face octrees that move with their bodies. Exact.

§5.2 of Kitamura et al. 1998: the paper's own algorithm with black nodes in place of faces, for bodies that do not deform. The nodes
are compared in the standard octree of the world. In the paper it represents the voxel and octree methods of its time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.broad_phase.candidates import Candidates
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.protocol import BroadPhase
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.traits import EXACT, Answer, Need, Semantics, Serve, Traits
from jostle.methods.octree_update.black_nodes import BlackNodes, complete_face_octree
from jostle.methods.octree_update.cubes import GREATEST_LEVEL, cell_boxes
from jostle.methods.octree_update.overlap_regions import OverlapRegions, find_overlap_regions
from jostle.methods.octree_update.search import NodeChecklist, Octrees, Search
from jostle.report.assemble import report_of
from jostle.report.report import Counters, Report
from jostle.shapes.mesh import Mesh

DEFORMING_ELSEWHERE = "face_octree and wide_tree take deforming bodies"
TRAITS = Traits(
    semantics=Semantics.BOTH,
    answers={Answer.FACES: EXACT, Answer.POINTS: EXACT, Answer.NORMAL: EXACT},
    serves=frozenset({Serve.SOLID}),
    needs=frozenset({Need.RIGID}),
    paper="kitamura1998",
    cures={Need.RIGID: DEFORMING_ELSEWHERE},
    overlays={"nodes and cells": "", "black nodes": "nodes", "subdivided cells": "cells"},
)
OVERLAYS = ("", "nodes", "cells")
EDGES_OF_CUBE = np.array([[a, a | bit] for a in range(8) for bit in (1, 2, 4) if not a & bit])
CORNERS_OF_CUBE = np.array([[(k >> axis & 1) * 2.0 - 1.0 for axis in range(3)] for k in range(8)])


@dataclass(frozen=True)
class OctreeUpdate:
    """Face octrees of rigid bodies, precomputed once and moved with them.

    Parameters
    ----------
    level : int
        Level of the voxels of the standard octree: the world cube has 2**level cells along each axis. The paper uses 6.
    body_level : int
        Level of the finest nodes of the precomputed octrees, in the cubes about the bodies.
    broad : str or BroadPhase
        Finds overlapping boxes of bodies.

    Examples
    --------
    >>> world = jostle.World("octree_update(level=6)")
    >>> same = jostle.World(jostle.OctreeUpdate(level=6))
    >>> world.method == same.method
    True
    """

    level: int = 6
    body_level: int = 5
    broad: str | BroadPhase = "brute_force"

    def __post_init__(self) -> None:
        """Check the settings."""
        cast.as_count(self.level, "level", highest=GREATEST_LEVEL, owner="OctreeUpdate")
        cast.as_count(self.body_level, "body_level", highest=GREATEST_LEVEL, owner="OctreeUpdate")
        broad_phase_of(self.broad, "OctreeUpdate")

    @property
    def traits(self) -> Traits:
        """Exact, for any mesh that does not deform."""
        return TRAITS

    @property
    def shape_type(self) -> type:
        """BlackNodes."""
        return BlackNodes

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> BlackNodes:
        """Build the complete face octree of a mesh."""
        return complete_face_octree(mesh, self.body_level, progress)

    def start(self, bodies: Bodies, shapes: tuple[BlackNodes, ...]) -> OctreeUpdateDetector:
        """Begin detecting."""
        return OctreeUpdateDetector(self, bodies, shapes)


class OctreeUpdateDetector(Detector):
    """Compares moved octrees. From frame to frame it keeps only buffers."""

    def __init__(self, method: OctreeUpdate, bodies: Bodies, shapes: tuple[BlackNodes, ...]) -> None:
        self._candidates = Candidates(bodies, method.broad)
        self._search = Search(Octrees(shapes, bodies.meshes), method.level)

    def change(self, bodies: Bodies, shapes: tuple[BlackNodes, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed."""
        self._candidates.change(bodies, old_to_new)
        self._search.octrees = Octrees(shapes, bodies.meshes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Find overlap regions, the black nodes in them, and the touching faces of these."""
        pairs, regions = self._overlap_regions(frame)
        counters = Counters(body_pairs=len(pairs.body_a), box_tests=self._candidates.box_tests)
        if regions is None:
            return Report(counters=counters)
        try:
            checklist = self._search.node_checklist(regions, frame)
            # Solids add rows to pairs: any of these may be the first.
            first_only = query.rows == "any" and not query.solid
            rows, work = self._search.touching_faces(regions, checklist, frame, first_only)
            return report_of(rows, pairs, frame, query, counters + work + Counters(box_tests=checklist.tests))
        finally:
            self._search.release()

    def _overlap_regions(self, frame: Frame) -> tuple[CandidatePairs, OverlapRegions | None]:
        volumes = self._candidates.volumes(frame)
        pairs = self._candidates.among(volumes, frame)
        return pairs, find_overlap_regions(pairs, volumes) if len(pairs.body_a) else None

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show "nodes" (the node checklist, as edges of cubes), "cells", or both.

        Cells are those that hold nodes of two bodies.
        """
        cast.as_choice(what, OVERLAYS, "what")
        _, regions = self._overlap_regions(frame)
        title = {"": "black nodes and cells", "nodes": "black nodes that meet overlap regions", "cells": "subdivided cells"}[what]
        if regions is None:
            return Overlay(title)
        checklist = self._search.node_checklist(regions, frame)
        segments, boxes = np.empty((0, 2, 3)), np.empty((0, 2, 3))
        if what != "cells":
            segments = _edges_of(checklist)
        if what != "nodes":
            self._search.touching_faces(regions, checklist, frame, record=True)
            cells = self._search.cells_with_two_bodies()
            boxes = cell_boxes(self._search.world_cube(regions), cells[:, 0], cells[:, 1:])
        return Overlay(title, boxes=boxes, segments=segments)


def _edges_of(checklist: NodeChecklist) -> Floats:
    """Return (12 n,2,3) the edges of the oriented cubes."""
    half_axes = checklist.half_axes[checklist.nodes[:, 0], :9].reshape(-1, 3, 3)
    corners = checklist.centres[:, None] + np.einsum("ca,nak->nck", CORNERS_OF_CUBE, half_axes)
    return corners[:, EDGES_OF_CUBE].reshape(-1, 2, 3)

"""ClosestFeatures: the distance-based method of Lin and Canny, as in I-COLLIDE.

The third rival of Kitamura et al. (§5.3).

A broad phase on cubes of fixed size finds pairs; each pair's closest features are tracked from frame to frame. Bodies are rigid
convex solids; a concave one is refused, or replaced by its hull with `concave="hull"`. Guarantee: two bodies are always reported
if they still meet after each has been eroded by `resolution`, and never if they are farther apart than that; every distance is
within it (or within the rounding of world coordinates, if that is more).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle.broad_phase.body_volumes import FrameVolumes
from jostle.broad_phase.candidates import Candidates
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.pair_memory import PairMemory
from jostle.broad_phase.protocol import BroadPhase
from jostle.geometry.contact_kind import CROSSING, NEAR, TOUCHING
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew
from jostle.interface.method import Progress as ProgressReport
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.shape_numbers import number_shapes
from jostle.interface.traits import Answer, Need, Semantics, Serve, Traits, within_resolution
from jostle.kernels.arrays import read_only_view
from jostle.kernels.slices import run_in_slices
from jostle.methods.closest_features.fallback import fallback_distance, feature_at
from jostle.methods.closest_features.pairs import (
    DONE,
    PROGRESS,
    UNPROVEN,
    PolytopePoses,
    Progress,
    SettledPairs,
    cubes_into,
    feature_code,
    rounding_of_pair,
    settle_pairs,
)
from jostle.methods.closest_features.polyhedron import Polyhedron, Polytope, polyhedron_of, polytope_arrays
from jostle.methods.closest_features.show import face_that_holds, named_feature, overlay_of
from jostle.report.assemble import report_of_bodies
from jostle.report.report import Closest, Counters, Report
from jostle.shapes.mesh import Mesh

HULL_INSTEAD = "ClosestFeatures(concave='hull') takes its convex hull instead, and wide_tree takes it as it is"
DEFORMING = "wide_tree and face_octree take deforming bodies"
FIRST_SLICE = 30_000  # steps between features: some 0.02 s


@dataclass(frozen=True)
class ClosestFeatures:
    """Closest features of convex bodies, tracked from frame to frame.

    Parameters
    ----------
    resolution : float
        Largest error of the answer, in the user's units: bodies up to half of it apart are in contact. Rounding sets a floor of
        some 2⁻⁴⁶ of the largest world coordinates of both bodies.
    concave : {"refuse", "hull"}
        What to do with a body that is not convex: refuse it, or use its convex hull.
    broad : str or BroadPhase
        Finds the pairs of cubes that overlap; a name of `jostle.broad_phase.BROAD_PHASES` or an instance.
    warm_start : bool
        Begin at the closest features of the last frame; False begins anew in each frame, for comparison.

    Examples
    --------
    >>> world = jostle.World("closest_features(resolution=0.001)")
    >>> same = jostle.World(jostle.ClosestFeatures(resolution=0.001))
    >>> world.method == same.method
    True
    """

    resolution: float = 1e-6
    concave: str = "refuse"
    broad: str | BroadPhase = "coherent_aabb"
    warm_start: bool = True

    def __post_init__(self) -> None:
        """Check the settings."""
        object.__setattr__(self, "resolution", cast.as_positive_length(self.resolution, "resolution", "ClosestFeatures"))
        cast.as_choice(self.concave, ("refuse", "hull"), "ClosestFeatures: concave")
        broad_phase_of(self.broad, "ClosestFeatures")
        object.__setattr__(self, "warm_start", cast.as_flag(self.warm_start, "warm_start", "ClosestFeatures"))

    @property
    def traits(self) -> Traits:
        """Solids, within the resolution."""
        needs = {Need.RIGID} if self.concave == "hull" else {Need.RIGID, Need.CONVEX, Need.CLOSED}
        return Traits(
            semantics=Semantics.SOLID,
            answers={Answer.DISTANCE: within_resolution(self.resolution)},
            serves=frozenset({Serve.CLEARANCE}),
            needs=frozenset(needs),
            paper="kitamura1998",
            cures={Need.CONVEX: HULL_INSTEAD, Need.CLOSED: HULL_INSTEAD, Need.RIGID: DEFORMING},
            overlays={"closest features": ""},
        )

    @property
    def shape_type(self) -> type:
        """Polyhedron."""
        return Polyhedron

    def prepare_shape(self, mesh: Mesh, progress: ProgressReport | None = None) -> Polyhedron:
        """Find the features of a mesh, or of its hull, and their Voronoi regions."""
        return polyhedron_of(mesh, self.resolution)

    def start(self, bodies: Bodies, shapes: tuple[Polyhedron, ...]) -> ClosestFeaturesDetector:
        """Begin detecting."""
        return ClosestFeaturesDetector(self, bodies, shapes)


class ClosestFeaturesDetector(Detector):
    """Follows the closest pair of features of each pair of bodies."""

    def __init__(self, method: ClosestFeatures, bodies: Bodies, shapes: tuple[Polyhedron, ...]) -> None:
        self._method = method
        self._candidates = Candidates(bodies, method.broad)
        self._memory = PairMemory(2)
        self._set_shapes(shapes)

    def _set_shapes(self, shapes: tuple[Polyhedron, ...]) -> None:
        self._shapes = shapes
        first, self._shape_of_body = number_shapes(shapes)
        self._polytopes = Polytope.tables([polytope_arrays(shapes[body]) for body in first])
        self._spheres = read_only_view(np.array([shape.sphere for shape in shapes]).reshape(-1, 4))

    def change(self, bodies: Bodies, shapes: tuple[Polyhedron, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed; the others keep their state."""
        self._candidates.change(bodies, old_to_new)
        self._memory.renumber(old_to_new)
        self._set_shapes(shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Find the cubes that overlap, then the closest features of each pair."""
        pairs = self._pairs_that_may_meet(frame, query.clearance)
        found, steps, fallbacks = self._settle(pairs, frame, query.clearance, query.rows == "any")
        self._memory.remember(pairs, found.features)
        box_tests = self._candidates.box_tests
        counters = Counters(body_pairs=len(pairs.body_a), box_tests=box_tests, distance_tests=steps, look_ups=fallbacks)
        met = np.flatnonzero(found.kind)[: 1 if query.rows == "any" else None]
        return report_of_bodies(pairs, met, found.kind[met], found.distance[met], counters)

    def _pairs_that_may_meet(self, frame: Frame, clearance: float) -> CandidatePairs:
        lower, upper = np.empty((2, len(frame), 3))
        larger = 0.5 * max(clearance, self._method.resolution)
        cubes_into(read_only_view(frame.poses), self._spheres, larger, lower, upper)
        # A cube is as wide as the sphere it is made from: half of its edge, rounded up, is a radius.
        centre, radius = 0.5 * lower + 0.5 * upper, np.nextafter((0.5 * (upper - lower)).max(axis=1, initial=0.0), np.inf)
        volumes = FrameVolumes(lower, upper, centre, radius, dt=frame.dt, frame=frame)
        return self._candidates.among(volumes, frame)

    def _settle(
        self, pairs: CandidatePairs, frame: Frame, clearance: float, only_one: bool = False
    ) -> tuple[SettledPairs, int, int]:
        """Walk to the closest features of pairs; `only_one` stops at the first to report.

        Returns the pairs, the steps, and how many pairs the fallback settled.
        """
        count = len(pairs.body_a)
        features = self._memory.recall(pairs) if self._method.warm_start else np.full((count, 2), np.nan)
        out = SettledPairs(np.zeros(count, np.uint8), np.full(count, np.nan), np.full((count, 6), np.nan), features)
        asked = CandidatePairs(read_only_view(pairs.body_a), read_only_view(pairs.body_b))
        bodies = PolytopePoses(self._shape_of_body, read_only_view(frame.poses))
        numbers, move = np.zeros(PROGRESS, np.int64), np.empty((2, 4, 4))
        touch, fallbacks = 0.5 * self._method.resolution, 0

        def step(numbers: NDArray[np.int64], operations: int) -> tuple[bool, int]:
            nonlocal fallbacks
            _, _, before = numbers.tolist()
            why = settle_pairs(asked, bodies, self._polytopes.table, touch, clearance, only_one, operations, numbers, move, out)
            pair, _, used = numbers.tolist()
            if why == UNPROVEN:
                self._fall_back(pair, frame, clearance, pairs, out)
                fallbacks += 1
                numbers.view(Progress.dtype)["next_pair"] = count if only_one and out.kind[pair] else pair + 1
            return why == DONE, max(1, used - before)

        run_in_slices(step, numbers, FIRST_SLICE)
        _, steps, _ = numbers.tolist()
        return out, steps, fallbacks

    def _fall_back(self, pair: int, frame: Frame, clearance: float, pairs: CandidatePairs, out: SettledPairs) -> None:
        """Settle a pair by the fallback; the features are those at the closest points."""
        a, b = int(pairs.body_a[pair]), int(pairs.body_b[pair])
        shape_a, shape_b, pose_a, pose_b = self._shapes[a], self._shapes[b], frame.poses[a], frame.poses[b]
        views = [read_only_view(array) for array in (shape_a.sphere, pose_a, shape_b.sphere, pose_b)]
        touch = max(0.5 * self._method.resolution, rounding_of_pair(*views))
        gap, point_a, point_b = fallback_distance(shape_a, shape_b, pose_a, pose_b, 0.5 * touch)
        out.distance[pair], out.points[pair] = gap, [*point_a, *point_b]
        out.kind[pair] = CROSSING if gap == 0.0 else TOUCHING if gap <= touch else NEAR if gap < clearance else 0
        at_a, at_b = feature_at(shape_a, pose_a, point_a), feature_at(shape_b, pose_b, point_b)
        out.features[pair] = feature_code(*at_a), feature_code(*at_b)

    def closest(self, frame: Frame, body_a: int, body_b: int) -> Closest:
        """Return the closest points of two bodies, and the features that hold them.

        The distance is 0.0, and the points are one, where the bodies meet.
        """
        low, high = sorted((body_a, body_b))
        pair = CandidatePairs(np.array([low], np.int32), np.array([high], np.int32))
        found, _, _ = self._settle(pair, frame, 0.0)
        ends, points = {}, found.points.reshape(2, 3)
        if found.distance[0] == 0.0:  # within rounding: one point for both
            points[0] = points[1] = points[0] + 0.5 * (points[1] - points[0])
        for body, point, code in zip((low, high), points, found.features[0].tolist(), strict=True):
            face = face_that_holds(frame.bodies.meshes[body], frame.poses[body], point)
            ends[body] = point, face, named_feature(self._shapes[body], int(code))
        (point_a, face_a, feature_a), (point_b, face_b, feature_b) = ends[body_a], ends[body_b]
        return Closest(float(found.distance[0]), point_a, point_b, face_a, face_b, feature_a, feature_b)

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show the closest features and points of all pairs whose cubes overlap."""
        cast.as_choice(what, ("",), "what")
        pairs = self._pairs_that_may_meet(frame, 0.0)
        found, _, _ = self._settle(pairs, frame, 0.0)
        numbers = list(zip(pairs.body_a.tolist(), pairs.body_b.tolist(), strict=True))
        return overlay_of(frame, self._shapes, numbers, found.features, found.points)

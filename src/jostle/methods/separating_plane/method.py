"""SeparatingPlane: convex bodies are free while a plane separates them.

The plane of each pair is kept from frame to frame. After Kitamura, Smith, Takemura and Kishino 1998, §5.1, which compares with it
(Gilbert, Johnson and Keerthi 1988; Baraff 1990). It answers for solids: which body pairs meet and how far apart bodies are, but not
where they meet, because it has no faces. A pair is reported when its distance is at most half of the resolution, whatever was
cached: so it is never missed if the bodies, each shrunk by the resolution, still meet, and never reported if they are farther apart
than that. If the search finds neither a plane nor two points that near (needles, with extents that differ by 1e6), all pairs of
triangles decide.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jostle import cast
from jostle._types import Floats
from jostle.broad_phase.candidates import Candidates
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.pair_memory import PairMemory
from jostle.broad_phase.protocol import BroadPhase
from jostle.geometry.contact_kind import TOUCHING
from jostle.geometry.gjk import ROUNDING, closest_points, empty_search
from jostle.geometry.support import Hull
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew, Progress
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.interface.shape_numbers import number_shapes
from jostle.interface.traits import Answer, Need, Semantics, Traits, within_resolution
from jostle.kernels.arrays import read_only_view
from jostle.kernels.slices import run_in_slices
from jostle.methods.separating_plane.fallback import Triangles
from jostle.methods.separating_plane.planes import (
    FLOOR,
    PLACE,
    REACH,
    RECORD,
    MeetingPair,
    State,
    place_bodies,
    separate_pairs,
)
from jostle.methods.separating_plane.show import discs_of_planes
from jostle.methods.separating_plane.vertices import Vertices, vertices_of
from jostle.report.assemble import report_of_bodies
from jostle.report.report import Closest, Counters, Report
from jostle.shapes.mesh import Mesh

FIRST_SLICE = 200_000  # operations: pairs, and vertices that support searches visit
WIDE = 0.5  # a new plane has a gap of at least this share of the distance: see the README for what others cost
HULL_INSTEAD = "SeparatingPlane(concave='hull') takes its convex hull instead, and wide_tree takes it as it is"
DEFORMING = "wide_tree and face_octree take deforming bodies"


@dataclass(frozen=True)
class SeparatingPlane:
    """Cached separating planes of convex bodies: which solids meet, and how far apart.

    Parameters
    ----------
    concave : {"refuse", "hull"}
        What to do with a body that is not convex: refuse it, or use its convex hull.
    resolution : float
        Length in world units. Bodies farther apart than this are never reported, bodies that still meet when each is shrunk by
        it always are. Rounding sets a floor of 2⁻⁴⁶ of the largest world coordinates of both bodies.
    broad : str or BroadPhase, optional
        A broad phase that chooses the pairs; None tests all pairs, as the paper does.
    cache : bool
        Whether planes are kept from frame to frame. False seeks each one anew, for comparison.

    Examples
    --------
    >>> world = jostle.World("separating_plane(concave=hull)")
    >>> same = jostle.World(jostle.SeparatingPlane(concave="hull"))
    >>> world.method == same.method
    True
    """

    concave: str = "refuse"
    resolution: float = 1e-6
    broad: str | BroadPhase | None = None
    cache: bool = True

    def __post_init__(self) -> None:
        """Check the settings."""
        cast.as_choice(self.concave, ("refuse", "hull"), "SeparatingPlane: concave")
        object.__setattr__(self, "resolution", cast.as_positive_length(self.resolution, "resolution", "SeparatingPlane"))
        if self.broad is not None:
            broad_phase_of(self.broad, "SeparatingPlane")
        object.__setattr__(self, "cache", cast.as_flag(self.cache, "cache", "SeparatingPlane"))

    @property
    def traits(self) -> Traits:
        """Solids within the resolution; rigid, and convex unless hulls are used."""
        return Traits(
            semantics=Semantics.SOLID,
            answers={Answer.DISTANCE: within_resolution(self.resolution)},
            needs=frozenset({Need.RIGID, Need.CONVEX} if self.concave == "refuse" else {Need.RIGID}),
            paper="kitamura1998",
            cures={Need.CONVEX: HULL_INSTEAD, Need.RIGID: DEFORMING},
            overlays={"separating planes": ""},
        )

    @property
    def shape_type(self) -> type:
        """Vertices."""
        return Vertices

    def prepare_shape(self, mesh: Mesh, progress: Progress | None = None) -> Vertices:
        """Collect vertices and their neighbours."""
        return vertices_of(mesh)

    def start(self, bodies: Bodies, shapes: tuple[Vertices, ...]) -> SeparatingPlaneDetector:
        """Begin detecting."""
        return SeparatingPlaneDetector(self, bodies, shapes)


class SeparatingPlaneDetector(Detector):
    """Tests pairs by their cached planes."""

    def __init__(self, method: SeparatingPlane, bodies: Bodies, shapes: tuple[Vertices, ...]) -> None:
        self._method = method
        self._memory = PairMemory(RECORD)
        self._candidates = Candidates(bodies, method.broad)
        self._search = empty_search()
        self._search_row = self._search.table[0]
        self._set_shapes(shapes)

    def _set_shapes(self, shapes: tuple[Vertices, ...]) -> None:
        self._shapes = shapes
        first, self._shape_of_body = number_shapes(shapes)
        distinct = [shapes[body] for body in first]
        hulls = Hull.tables([{"points": shape.points, "first": shape.first, "near": shape.near} for shape in distinct])
        self._hulls, self._hull_of_body = hulls, hulls.table[self._shape_of_body]
        self._spheres = read_only_view(np.array([shape.sphere for shape in distinct]).reshape(-1, 4))
        self._triangles = Triangles()

    def change(self, bodies: Bodies, shapes: tuple[Vertices, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed; pairs that stay keep their planes."""
        self._candidates.change(bodies, old_to_new)
        self._memory.renumber(old_to_new)
        self._set_shapes(shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Try the plane of every pair, and seek another where it fails."""
        pairs = self._pairs_to_test(frame)
        report, records = self._separate(pairs, frame, self._recalled(pairs), most=1 if query.rows == "any" else None)
        if self._method.cache:
            self._memory.remember(pairs, records)
        return report

    def _recalled(self, pairs: CandidatePairs) -> Floats:
        return self._memory.recall(pairs) if self._method.cache else np.full((len(pairs.body_a), RECORD), np.nan)

    def _pairs_to_test(self, frame: Frame) -> CandidatePairs:
        if self._candidates.takes_all:
            return self._candidates.pairs(frame)
        # Each box grows by half of the kernel's resolution, so that every pair it would report is found.
        beyond = np.maximum(0.5 * self._method.resolution, FLOOR * self._places(frame)[:, REACH])
        return self._candidates.pairs(frame, beyond=beyond)

    def _places(self, frame: Frame) -> Floats:
        """(n, PLACE) the world sphere and the largest world coordinate of every body."""
        places = np.empty((len(frame), PLACE))
        place_bodies(self._spheres, self._shape_of_body, read_only_view(frame.poses), places)
        return places

    def _separate(
        self, pairs: CandidatePairs, frame: Frame, records: Floats, most: int | None = None, share: float = WIDE
    ) -> tuple[Report, Floats]:
        """Run the kernel over the pairs.

        Returns the report of those that meet, and the records, updated in place.
        """
        count = len(pairs.body_a)
        body_a, body_b, poses = read_only_view(pairs.body_a), read_only_view(pairs.body_b), read_only_view(frame.poses)
        hulls, places, search, resolution = self._hull_of_body, self._places(frame), self._search_row, self._method.resolution
        meeting = np.empty(count if most is None else most, MeetingPair.dtype)
        numbers = np.zeros(1, State.dtype).view(np.int64)

        def step(numbers: NDArray[np.int64], operations: int) -> tuple[bool, int]:
            used = separate_pairs(
                body_a, body_b, records, hulls, places, poses, search, resolution, share, operations, numbers, meeting
            )
            next_pair, met, _, _, gave_up = numbers.tolist()  # a microsecond faster than one field at a time
            if gave_up:
                self._decide_by_triangles(pairs, records, frame, places, numbers, meeting)
                next_pair, met, *_ = numbers.tolist()
            return next_pair == count or met >= len(meeting), max(1, int(used))

        run_in_slices(step, numbers, FIRST_SLICE)
        _, rows, held, searched, _ = numbers.tolist()
        met, boxes = meeting[:rows], self._candidates.box_tests
        work = Counters(body_pairs=count, box_tests=boxes, look_ups=held, distance_tests=searched)
        return report_of_bodies(pairs, met["pair"], met["kind"].copy(), met["distance"].copy(), work), records

    def _decide_by_triangles(
        self,
        pairs: CandidatePairs,
        records: Floats,
        frame: Frame,
        places: Floats,
        numbers: NDArray[np.int64],
        meeting: NDArray[np.void],
    ) -> None:
        """Decide the pair that the kernel stopped at, keeping its plane, and skip it."""
        state = numbers.view(State.dtype)[0]
        pair, row = int(state["next_pair"]), int(state["meeting"])
        a, b = int(pairs.body_a[pair]), int(pairs.body_b[pair])
        wanted, rounding = self._wanted_and_rounding(places, a, b)
        gap, point_a, point_b = self._triangles.distance(self._shapes[a], self._shapes[b], frame.poses[a], frame.poses[b])
        if gap > rounding:
            meeting["kind"][row] = TOUCHING
            records[pair, :3] = (point_b - point_a) / gap
        meeting["distance"][row] = gap if gap > rounding else 0.0
        state["gave_up"] = 0
        state["meeting"] += gap <= wanted
        state["next_pair"] += 1

    def _wanted_and_rounding(self, places: Floats, a: int, b: int) -> tuple[float, float]:
        """The distance up to which a pair is reported, and the rounding of a distance."""
        reach = float(places[a, REACH] + places[b, REACH])
        return 0.5 * max(self._method.resolution, FLOOR * reach), ROUNDING * reach

    def closest(self, frame: Frame, body_a: int, body_b: int) -> Closest:
        """Return the distance of two solids and their closest points; faces are -1.

        Where they meet, the distance is 0.0 and the points are one.
        """
        a, b = sorted((body_a, body_b))
        pair = CandidatePairs(np.array([a], np.int32), np.array([b], np.int32))
        self._separate(pair, frame, np.full((1, RECORD), np.nan), share=1.0)
        wanted, rounding = self._wanted_and_rounding(self._places(frame), a, b)
        distance, point_a, point_b, error = closest_points(self._search, rounding)
        if error > wanted:
            shapes, poses = self._shapes, frame.poses
            distance, point_a, point_b = self._triangles.distance(shapes[a], shapes[b], poses[a], poses[b])
        if a != body_a:
            point_a, point_b = point_b, point_a
        return Closest(distance, point_a, point_b, -1, -1)

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show the separating planes as discs between bodies; nothing is remembered."""
        cast.as_choice(what, ("",), "what")
        pairs = self._pairs_to_test(frame)
        report, records = self._separate(pairs, frame, self._recalled(pairs))
        return discs_of_planes(pairs, report.pairs, records[:, :3], self._shapes, frame)

"""The detector: body pairs, a search that may stop anywhere, a report.

Guy and Debunne §3: one list of sample pairs for all bodies, kept from frame to frame (`search.py`). A frame asks the broad phase
for near body pairs, searches until done or the budget is spent (`budget.py`), and reports the faces that touch and how far the
search came. A frame that ends otherwise, as by Ctrl-C, leaves no half-updated list: the next frame starts from seeds again.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jostle.broad_phase.candidates import FEW_BOXES, Candidates, allowed_pairs, with_self_pairs
from jostle.geometry.contact_kind import NEAR
from jostle.interface.body_pairs import FIRST_AND_SECOND, NO_PAIRS, CandidatePairs
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew
from jostle.interface.overlay import Overlay
from jostle.interface.query import Budget, Query
from jostle.methods.monte_carlo.budget import Cost, Pace, search_operations, search_seconds
from jostle.methods.monte_carlo.pair_list import SamplePairs
from jostle.methods.monte_carlo.rehearsal import rehearse
from jostle.methods.monte_carlo.search import Search
from jostle.methods.monte_carlo.shape import ShellShape
from jostle.methods.monte_carlo.show import overlay_of
from jostle.report.assemble import filter_for_query, labelled
from jostle.report.contact_geometry import details_of_rows
from jostle.report.packing import ALL, ANY, FIRST, WORST
from jostle.report.report import Contacts, Counters, Reached, Report, replaced

if TYPE_CHECKING:
    from jostle.methods.monte_carlo.method import MonteCarlo

ROW_MODES = {"any": ANY, "first": FIRST, "pairs": WORST, "faces": ALL}
BROAD = "uniform_grid"
LARGEST_RESERVE = 0.8  # of the seconds of a budget: the most reserved for the report
OUTSIDE = 4e-5  # seconds that `World.detect` takes before and after the detector's own
AUTO = "auto"
LEAST_ERROR, MOST_ERROR = 0.01, 0.32  # of the size of the largest body: limits of `error="auto"`


class MonteCarloDetector(Detector):
    """Follows sample pairs on shells, within budgets."""

    def __init__(self, method: MonteCarlo, bodies: Bodies, shapes: tuple[ShellShape, ...]) -> None:
        self._method = method
        self._search: Search | None = None  # None: made when next needed
        self._candidates = Candidates(bodies, method.broad, few_boxes=FEW_BOXES if method.broad == BROAD else 0)
        self._pace = Pace()
        self._after = Cost(1e-4, 1e-7)  # the end of a frame and the report, by rows and pairs
        self._followed = 0  # pairs in the list
        self._box_tests = 0  # of the broad phase in this frame
        self._time: float | None = None  # of the last frame
        self._error = 0.0  # tolerated in this frame
        self._set_bodies(bodies, shapes)
        self._ready_search()  # now, and not within the first budget
        rehearse(replace(method, broad=BROAD).start)  # with a broad phase that accepts any motion

    def _set_bodies(self, bodies: Bodies, shapes: tuple[ShellShape, ...]) -> None:
        self._bodies, self._shapes = bodies, shapes
        self._boxes = self._candidates.boxes  # made now, and not within a budget
        self._size = max((float(shape.size) for shape in shapes), default=0.0)

    def change(self, bodies: Bodies, shapes: tuple[ShellShape, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed; pairs of the others are kept."""
        search, self._search = self._search, None
        self._candidates.change(bodies, old_to_new)
        self._set_bodies(bodies, shapes)
        if search is not None:
            search.change(bodies, shapes, old_to_new)
            self._search = search

    def detect(self, frame: Frame, query: Query) -> Report:
        """Search as long as the budget allows, and report touching faces."""
        seconds = None if query.budget is None else query.budget.seconds
        began = 0.0 if seconds is None else perf_counter()
        search = self._ready_search()
        self._search = None  # until all is done: see the module's docstring
        body_pairs = self._body_pairs(frame, query, search.near)
        # With a clearance, a near row must not end the search for a nearer one.
        row_mode = ALL if query.clearance > 0.0 and query.rows != "any" else ROW_MODES[query.rows]
        error = 0.0 if query.clearance > 0.0 else self._tolerated(query.budget)
        search.begin_frame(body_pairs, frame, self._boxes.of(frame), query.clearance, row_mode, error)
        complete = self._run(search, query.budget, began) and search.complete()
        searched, worked = (0.0, 0.0) if seconds is None else (perf_counter(), thread_time())
        if query.budget is not None:
            self._tune(search, query.budget, searched - began)
        report = self._report(search, body_pairs, frame, query, complete, error)
        self._search = search
        if seconds is not None:
            self._after.learn(self._items(search), thread_time() - worked)
        return report

    def _ready_search(self) -> Search:
        if self._search is None:
            self._search = Search(self._bodies, self._shapes, self._method)
            self._followed, self._time = 0, None
        return self._search

    def _body_pairs(self, frame: Frame, query: Query, near: float) -> CandidatePairs:
        """The body pairs that are near or touch, and each body with itself if wanted."""
        reach = max(query.clearance, 2.0 * near)
        if len(frame) == 2 and self._method.broad == BROAD:
            found, self._box_tests = self._both_or_none(frame, reach), 1
        else:
            found = self._candidates.pairs(frame, reach)
            self._box_tests = self._candidates.box_tests
        return with_self_pairs(found, range(len(frame))) if query.itself else found

    def _both_or_none(self, frame: Frame, reach: float) -> CandidatePairs:
        """The one pair of two bodies, if their boxes are not farther apart than `reach`.

        A broad phase takes 14 µs longer.
        """
        lower, upper = self._boxes.in_the_world(frame)
        (a, b), (c, d) = lower.tolist(), upper.tolist()
        # The difference is rounded by less than one unit in the last place.
        apart = max(max(p - s, q - r) for p, q, r, s in zip(a, b, c, d, strict=True)) > reach * (1.0 + 1e-12)
        return NO_PAIRS if apart else allowed_pairs(FIRST_AND_SECOND, frame)

    def _run(self, search: Search, budget: Budget | None, began: float) -> bool:
        """Search within the budget; return whether the search ended."""
        if budget is None:
            return search_operations(search.advance)
        if budget.operations is not None:
            return search_operations(search.advance, budget.operations)
        assert budget.seconds is not None
        end, most = began + budget.seconds - OUTSIDE, LARGEST_RESERVE * budget.seconds

        def deadline() -> float:
            return end - min(self._after.expected(self._items(search)), most)

        return search_seconds(search.advance, deadline, self._pace, work=thread_time)

    def _tolerated(self, budget: Budget | None) -> float:
        """The error of this frame: from the settings, or tuned by the last budgets."""
        if self._method.error != AUTO:
            return float(self._method.error)
        return 0.0 if budget is None else self._error

    def _tune(self, search: Search, budget: Budget, took: float) -> None:
        """Double the error after a frame that was cut short; halve it after an easy one.

        Easy: it needed less than half of its budget (§4.1).
        """
        size = self._size
        if not search.examined_all_known():
            self._error = min(max(2.0 * self._error, LEAST_ERROR * size), MOST_ERROR * size)
        else:
            spent = took / budget.seconds if budget.seconds is not None else search.operations() / (budget.operations or 1)
            if spent < 0.5:
                self._error = 0.5 * self._error if self._error > LEAST_ERROR * size else 0.0

    def _items(self, search: Search) -> int:
        """The number of items that the time after the search grows with."""
        return search.row_count() + self._followed

    def _report(
        self, search: Search, body_pairs: CandidatePairs, frame: Frame, query: Query, complete: bool, error: float
    ) -> Report:
        rows = search.rows()
        # Where one row is enough, few pairs are examined: the time passed counts for the next frame.
        if query.rows == "any":
            search.end_frame(0.0)
        else:
            search.end_frame(0.0 if self._time is None else max(0.0, frame.time - self._time))
            self._time = frame.time
        reached = Reached(*search.reached(), error)
        self._followed = reached.pairs
        counters = search.counters() + Counters(
            body_pairs=len(body_pairs.body_a), box_tests=self._box_tests, samples=reached.samples
        )
        contacts, pairs = labelled(rows, body_pairs, frame)
        if error > 0.0:
            contacts = _with_closest_points(contacts, frame)
        return replaced(
            filter_for_query(contacts, pairs, counters, query), complete=complete and reached.broken == 0, reached=reached
        )

    def sample_pairs(self) -> SamplePairs:
        """Return the pairs being followed, as the last frame left them; bodies by number."""
        return self._ready_search().sample_pairs()

    def faces_of_samples(self, body: int, radius: float, gap: float, age: float) -> NDArray[np.bool_]:
        """Return which faces (f,) of a body are below samples of close pairs (§5.2).

        Samples of no larger radius, of pairs with no larger gap.

        Pairs aged `age` seconds or more do not count (§5.5).
        """
        shape, pairs = self._shapes[body], self.sample_pairs()
        taken = (pairs.gap <= gap) & (pairs.age < age)
        found = np.zeros(len(shape.radius), bool)
        found[pairs.facet_a[taken & (pairs.body_a == body)]] = True
        found[pairs.facet_b[taken & (pairs.body_b == body)]] = True
        found &= shape.radius <= radius
        first = shape.level_first
        for level in range(len(first) - 3, -1, -1):
            facets = slice(first[level], first[level + 1])
            found[facets] |= found[shape.parent[facets]]
        return found[: first[1]]

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show the pairs that the last `detect` follows.

        "shells", "pairs", "planes" or "level 0" …; all of the first three by default.

        Before the first `detect`, a second detector finds the pairs, so that showing changes nothing.
        """
        pairs = self.sample_pairs()
        if self._time is None and not len(pairs.gap):
            other = MonteCarloDetector(self._method, self._bodies, self._shapes)
            other.detect(frame, Query())
            pairs = other.sample_pairs()
        return overlay_of(what, pairs, frame, self._shapes)


def _with_closest_points(contacts: Contacts, frame: Frame) -> Contacts:
    """Rows whose faces are apart get their closest points as a segment.

    Such faces represent others, within the error.
    """
    kind = np.where(contacts.distance > 0.0, np.uint8(NEAR), contacts.kind)
    details = details_of_rows(frame, contacts.body_a, contacts.body_b, contacts.face_a, contacts.face_b, kind)
    return replaced(contacts, _details=details)

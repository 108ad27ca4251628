"""The detector: from the poses of a frame to a report (Baciu et al. Fig. 3 and 4).

Candidate pairs by aligned, then oriented boxes (`candidates.py`); for each the view direction and the minimal overlapping
region (`view_direction.py`, `regions.py`); both bodies drawn over it and compared (`renderers.py`); colliding pixels as
rows, sorted by pair and pixel (`contact_region.py`). The chosen renderer decides which pixels collide; rows are always
computed in float64 by the software renderer.

With `share_depth` each body is drawn once for all of its pairs (`shared_depth.py`, Fig. 4 lines 9 and 10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jostle import cast
from jostle._types import Floats
from jostle.broad_phase.pair_memory import PairMemory
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import Detector, OldToNew
from jostle.interface.overlay import Overlay
from jostle.interface.query import Query
from jostle.methods.image_space.candidates import BoxCandidates
from jostle.methods.image_space.contact_region import describe_pixels, longest_of_each_view
from jostle.methods.image_space.regions import Views, views_of
from jostle.methods.image_space.renderers import Decisions, gpu_renderer
from jostle.methods.image_space.shape import ImageShape, follow, own_copy
from jostle.methods.image_space.shape_table import ShapesOfBodies
from jostle.methods.image_space.shared_depth import decide_on_shared_maps
from jostle.methods.image_space.show import OVERLAYS, shown
from jostle.methods.image_space.software import TESTS_BY_NAME, Pixels, SoftwareRenderer, merged
from jostle.methods.image_space.view_direction import DIRECTION, remember_separations
from jostle.methods.image_space.workspace import ALL, CONSERVATIVE, INTERVAL, ONE, ONE_PER_PAIR
from jostle.report.assemble import filter_for_query
from jostle.report.report import Contacts, Counters, Details, Kind, Pairs, Report, unknown_column

if TYPE_CHECKING:
    from jostle.methods.image_space.method import ImageSpace

ROW_MODES = {"faces": ALL, "first": ALL, "pairs": ONE_PER_PAIR, "any": ONE}


class ImageSpaceDetector(Detector):
    """Draws and compares pairs, frame by frame."""

    def __init__(self, method: ImageSpace, bodies: Bodies, shapes: tuple[ImageShape, ...]) -> None:
        self._method = method
        self._memory = PairMemory(DIRECTION)
        self._own: dict[int, tuple[ImageShape, Floats | None]] = {}  # of deforming bodies, by id, with their vertices
        self._renderer = gpu_renderer(method)
        self._set_bodies(bodies, shapes)
        self._candidates = BoxCandidates(method, bodies, self._shapes)
        self._software = SoftwareRenderer(self._shapes)

    def _set_bodies(self, bodies: Bodies, shapes: tuple[ImageShape, ...]) -> None:
        kept, self._own = self._own, {}
        placed = list(shapes)
        for body in bodies.deforming:
            number = int(bodies.ids[body])
            self._own[number] = kept.get(number) or (own_copy(shapes[body]), None)
            placed[body] = self._own[number][0]
        self._shapes = ShapesOfBodies(placed)
        if self._renderer is not None:
            self._renderer.change(tuple(placed))

    def change(self, bodies: Bodies, shapes: tuple[ImageShape, ...], old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed.

        Deforming bodies keep their shapes, pairs the direction that separated them.
        """
        self._memory.renumber(old_to_new)
        self._set_bodies(bodies, shapes)
        self._candidates.change(bodies, self._shapes, old_to_new)
        self._software.change(self._shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Draw the pairs whose boxes overlap, and compare them."""
        views, pixels, counters = self._collisions(frame, ROW_MODES[query.rows], self._memory)
        if len(pixels.view) == 0:
            return Report(counters=counters)
        if query.rows == "first":
            pixels = pixels.select(longest_of_each_view(pixels))
        contacts = self._contacts(frame, views, pixels, query.rows in ("faces", "first"))
        return filter_for_query(contacts, Pairs.of(contacts), counters, query)

    def _collisions(self, frame: Frame, row_mode: int, memory: PairMemory | None) -> tuple[Views, Pixels, Counters]:
        """Return the views of this frame and their colliding pixels.

        Directions that separate pairs go into the memory.
        """
        self._deform(frame)
        pairs = self._candidates.find(frame)
        if self._method.share_depth:
            views, pixels = decide_on_shared_maps(pairs, frame, self._shapes, self._method, row_mode, self._software)
        else:
            views = views_of(pairs, frame, self._shapes, self._method, memory)
            pixels = self._drawn(views, row_mode, frame.workers)
            if self._method.view == "separating" and memory is not None and row_mode != ONE:
                missed = np.ones(len(views.pair), bool)
                missed[pixels.view] = False
                remember_separations(views, missed, frame, self._shapes, memory)
        counters = Counters(body_pairs=len(pairs.body_a), box_tests=self._candidates.box_tests, pixels=pixels.drawn)
        return views, pixels, counters

    def _drawn(self, views: Views, row_mode: int, workers: int | None) -> Pixels:
        """Draw and compare: pairs by the chosen test, all of their pixels by intervals."""
        method = self._method
        if method.conservative:
            return self._software.colliding_pixels(views, CONSERVATIVE, row_mode, workers)
        if self._renderer is None and (method.test == "interval" or row_mode != ALL):
            return self._software.colliding_pixels(views, TESTS_BY_NAME[method.test], row_mode, workers, quick=True)
        decisions = (self._renderer or self._software).decide(views, method.test, workers)
        return self._with_regions(views, decisions, row_mode, workers)

    def _with_regions(self, views: Views, decisions: Decisions, row_mode: int, workers: int | None) -> Pixels:
        """Return the pixels of decided views: the first of each, or its contact region."""
        colliding = np.flatnonzero(decisions.pixels > 0)
        colliding = colliding[np.unique(views.pair[colliding], return_index=True)[1]]
        if row_mode == ONE:
            colliding = colliding[:1]
        firsts = Pixels(
            colliding.astype(np.int32),
            decisions.first[colliding],
            decisions.near[colliding],
            decisions.far[colliding],
            decisions.drawn,
        )
        if row_mode != ALL or len(colliding) == 0:
            return firsts
        region = self._software.colliding_pixels(views.select(colliding), INTERVAL, ALL, workers)
        region = region._replace(view=firsts.view[region.view], drawn=region.drawn + firsts.drawn)
        # A device may report a pixel that float64 does not confirm: then only its own result exists.
        missing = firsts.select(~np.isin(firsts.view, region.view))
        return region if len(missing.view) == 0 else merged(region, missing)

    def _contacts(self, frame: Frame, views: Views, pixels: Pixels, with_details: bool) -> Contacts:
        """Return pixels as contacts; their details are computed on demand."""
        count = len(pixels.view)
        exact = not self._method.conservative and (with_details or self._method.test == "interval")
        kind = np.full(count, Kind.CROSSING, np.uint8)
        if exact:
            kind[pixels.low == pixels.high] = Kind.TOUCHING
        shapes, conservative = self._shapes, self._method.conservative

        def details() -> Details:
            return describe_pixels(views, pixels, frame, shapes, conservative)

        # Shapes of deforming bodies change in place, so their details cannot wait.
        made = details() if with_details and frame.bodies.deforming else details
        faces, body_a, body_b = np.full(count, -1, np.int32), views.body_a[pixels.view], views.body_b[pixels.view]
        distance = unknown_column(count)
        return Contacts(
            body_a=body_a, body_b=body_b, face_a=faces, face_b=faces, kind=kind, distance=distance, _details=made
        )  # fmt: skip

    def _deform(self, frame: Frame) -> None:
        """Move the shapes of deforming bodies to their current vertices."""
        for body in frame.bodies.deforming:
            number, vertices = int(frame.bodies.ids[body]), frame.vertices[body]
            shape, seen = self._own[number]
            if vertices is not seen:
                # Unset until all is done: after an interrupt it is done again.
                self._own[number] = shape, None
                follow(shape, vertices)
                if self._renderer is not None:
                    self._renderer.deform(body, shape)
                self._own[number] = shape, vertices

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show colliding regions and their images, or "region", "depth", "stencil" alone."""
        cast.as_choice(what, OVERLAYS, "what")
        views, pixels, _ = self._collisions(frame, ALL, None)
        return shown(what, views, pixels, frame, self._shapes)

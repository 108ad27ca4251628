"""The detector: from the poses of a frame to a report, in the order of Fig. 3 and 4 of Baciu, Wong and Sun.

Candidate pairs by aligned, then oriented boxes (`candidates.py`); for each the direction of view and the minimal overlapping region
(`view_direction.py`, `regions.py`); both bodies drawn over it and compared (`renderers.py`); what collides as rows, one for each
colliding pixel, sorted by pair and pixel (`contact_region.py`). Which pixels collide is found by the renderer that was asked for;
rows are always made in float64 by the software renderer.

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
from jostle.methods.image_space.software import Pixels, SoftwareRenderer
from jostle.methods.image_space.view_direction import DIRECTION, remember_separations
from jostle.methods.image_space.workspace import ALL, CONSERVATIVE, INTERVAL, ONE, ONE_PER_PAIR, STENCIL
from jostle.report.assemble import filter_for_query
from jostle.report.report import Contacts, Counters, Details, Kind, Pairs, Report, unknown_column

if TYPE_CHECKING:
    from jostle.methods.image_space.method import ImageSpace

WANTED = {"faces": ALL, "first": ALL, "pairs": ONE_PER_PAIR, "any": ONE}


class ImageSpaceDetector(Detector):
    """Rendered collision detection at work."""

    def __init__(self, method: ImageSpace, bodies: Bodies, shapes: tuple[ImageShape, ...]) -> None:
        self._method = method
        self._memory = PairMemory(DIRECTION)
        self._own: dict[int, tuple[ImageShape, Floats | None]] = {}  # of deforming bodies, by id, and the vertices they have
        self._renderer = gpu_renderer(method)
        self._take(bodies, shapes)
        self._candidates = BoxCandidates(method, bodies, self._shapes)
        self._software = SoftwareRenderer(self._shapes)

    def _take(self, bodies: Bodies, shapes: tuple[ImageShape, ...]) -> None:
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
        """Follow bodies that came and went; deforming ones keep their shapes, pairs what separated them."""
        self._memory.renumber(old_to_new)
        self._take(bodies, shapes)
        self._candidates.change(bodies, self._shapes, old_to_new)
        self._software.take(self._shapes)

    def detect(self, frame: Frame, query: Query) -> Report:
        """Draw the pairs whose boxes overlap, and compare them."""
        views, pixels, counters = self._collisions(frame, WANTED[query.rows], self._memory)
        if len(pixels.view) == 0:
            return Report(counters=counters)
        if query.rows == "first":
            pixels = pixels.select(longest_of_each_view(pixels))
        contacts = self._contacts(frame, views, pixels, query.rows in ("faces", "first"))
        return filter_for_query(contacts, Pairs.of(contacts), counters, query)

    def _collisions(self, frame: Frame, wanted: int, memory: PairMemory | None) -> tuple[Views, Pixels, Counters]:
        """Return the views of this frame, and the pixels of them that collide; what separates pairs goes into the memory."""
        self._deform(frame)
        pairs = self._candidates.find(frame)
        if self._method.share_depth:
            views, pixels = decide_on_shared_maps(pairs, frame, self._shapes, self._method, wanted, self._software)
        else:
            views = views_of(pairs, frame, self._shapes, self._method, memory)
            pixels = self._drawn(views, wanted, frame.workers)
            if self._method.view == "separating" and memory is not None and wanted != ONE:
                missed = np.ones(len(views.pair), bool)
                missed[pixels.view] = False
                remember_separations(views, missed, frame, self._shapes, memory)
        counters = Counters(body_pairs=len(pairs.body_a), box_tests=self._candidates.box_tests, pixels=pixels.drawn)
        return views, pixels, counters

    def _drawn(self, views: Views, wanted: int, workers: int | None) -> Pixels:
        """Draw and compare: which pairs collide by the test that was asked for, all of their pixels by intervals."""
        method = self._method
        if method.conservative:
            return self._software.look(views, CONSERVATIVE, wanted, workers)
        if self._renderer is None and method.test == "interval":
            return self._software.look(views, INTERVAL, wanted, workers, quick=True)
        if self._renderer is None and wanted != ALL:
            return self._software.look(views, STENCIL, wanted, workers, quick=True)
        renderer = self._software if self._renderer is None else self._renderer
        return self._with_regions(views, renderer.decide(views, method.test, workers), wanted, workers)

    def _with_regions(self, views: Views, decisions: Decisions, wanted: int, workers: int | None) -> Pixels:
        """Return the pixels of decided views: the first of each, or the whole contact region of each."""
        colliding = np.flatnonzero(decisions.pixels > 0)
        colliding = colliding[np.unique(views.pair[colliding], return_index=True)[1]]
        if wanted == ONE:
            colliding = colliding[:1]
        firsts = Pixels(
            colliding.astype(np.int32),
            decisions.first[colliding],
            decisions.near[colliding],
            decisions.far[colliding],
            decisions.drawn,
        )
        if wanted != ALL or len(colliding) == 0:
            return firsts
        region = self._software.look(views.select(colliding), INTERVAL, ALL, workers)
        region = region._replace(view=firsts.view[region.view], drawn=region.drawn + firsts.drawn)
        # A device may have seen a pixel that float64 does not: its own word is all there is then.
        missing = firsts.select(~np.isin(firsts.view, region.view))
        return region if len(missing.view) == 0 else merged(region, missing)

    def _contacts(self, frame: Frame, views: Views, pixels: Pixels, with_details: bool) -> Contacts:
        """Return pixels as contacts; where they are is computed when it is asked for."""
        count = len(pixels.view)
        exact = not self._method.conservative and (with_details or self._method.test == "interval")
        kind = np.full(count, Kind.CROSSING, np.uint8)
        if exact:
            kind[pixels.low == pixels.high] = Kind.TOUCHING
        shapes, conservative = self._shapes, self._method.conservative

        def details() -> Details:
            return describe_pixels(views, pixels, frame, shapes, conservative)

        # Shapes of deforming bodies change in place; all others stay as they are.
        made = details() if with_details and frame.bodies.deforming else details
        faces, body_a, body_b = np.full(count, -1, np.int32), views.body_a[pixels.view], views.body_b[pixels.view]
        distance = unknown_column(count)
        return Contacts(
            body_a=body_a, body_b=body_b, face_a=faces, face_b=faces, kind=kind, distance=distance, _details=made
        )  # fmt: skip

    def _deform(self, frame: Frame) -> None:
        """Let the shapes of deforming bodies follow their vertices."""
        for body in frame.bodies.deforming:
            number, vertices = int(frame.bodies.ids[body]), frame.vertices[body]
            shape, seen = self._own[number]
            if vertices is not seen:
                # Not known until all is done: an interrupt in between is followed by doing it again.
                self._own[number] = shape, None
                follow(shape, vertices)
                if self._renderer is not None:
                    self._renderer.deform(body, shape)
                self._own[number] = shape, vertices

    def overlay(self, frame: Frame, what: str) -> Overlay:
        """Show the regions of colliding pairs and their pictures (the default), or "region", "depth" or "stencil" alone."""
        cast.as_choice(what, OVERLAYS, "what")
        views, pixels, _ = self._collisions(frame, ALL, None)
        return shown(what, views, pixels, frame, self._shapes)


def merged(region: Pixels, others: Pixels) -> Pixels:
    """Return the pixels of both, sorted by view and number."""
    view, pixel = np.concatenate([region.view, others.view]), np.concatenate([region.pixel, others.pixel])
    low, high = np.concatenate([region.low, others.low]), np.concatenate([region.high, others.high])
    return Pixels(view, pixel, low, high, region.drawn).select(np.lexsort((pixel, view)))

"""The software renderer: one kernel draws and compares the views of a frame.

Fig. 3 of Baciu et al. for each view: over the region, by intervals or stencil counts for convex bodies, by layers where
one is not (`interval.py`, `stencil.py`, `layers.py`). Bodies are always drawn whole over the region; only the comparing
stops at the first colliding pixel. Where one pixel is enough, and rows rather than faces dominate the cost, a first pass
over every fifth row and column finds most colliding pairs; its pixel is decided again in the whole tile, so that touching
bodies are decided alike in every row mode. Of several views of one pair the first that shows a collision is enough; of
conservative ones all must show it.

Maps and lists are kept from frame to frame, one set per thread. Work is cut at pairs: any number of workers gives the
same bytes.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.pool import map_chunks
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Addresses, borrowed
from jostle.methods.image_space.interval import common_depths
from jostle.methods.image_space.layers import common_intervals, pixel_collides
from jostle.methods.image_space.regions import Views
from jostle.methods.image_space.renderers import Decisions, no_decisions
from jostle.methods.image_space.shape_table import Shapes, ShapesOfBodies, mesh_of_body, open_shapes
from jostle.methods.image_space.stencil import stencil_depths
from jostle.methods.image_space.workspace import (
    ALL,
    CONSERVATIVE,
    HIGH,
    INTERVAL,
    LOW,
    ONE,
    ONE_PER_PAIR,
    STENCIL,
    DrawnPair,
    Work,
    Workspace,
    depth_map,
    open_work,
)
from jostle.render.clipping import Slack
from jostle.render.drawn_body import DrawnBody, PatchedMesh, TileView, ViewRow, view_from

TESTS_BY_NAME = {"interval": INTERVAL, "stencil": STENCIL}
FIRST_SLICE = 2_000_000  # faces and pixels: about 10 ms
MOST_CHUNKS = 64
STRIDE = 5  # odd: the centre of five pixels is that of one. Half the pairs of 100 cones need no second pass: 11 ms, not 17
FEW_FACES = 0.25  # per pixel: with more of them a small picture takes nearly as long as a large one
PIXELS_APART = 100_000  # less than this is not worth a second thread
KEPT_NUMBERS = 2**23  # the most that a thread keeps for the next frame


class Pixels(NamedTuple):
    """Colliding pixels, sorted by view, then by number."""

    view: Ints  # (k,)
    pixel: Ints  # (k,) y * size + x
    low: Floats  # (k,) tile depth at which the common depths begin
    high: Floats  # (k,) and end
    drawn: int  # pixels compared

    def select(self, chosen: NDArray[np.generic]) -> Pixels:
        """Return some of the pixels."""
        return Pixels(self.view[chosen], self.pixel[chosen], self.low[chosen], self.high[chosen], self.drawn)


def merged(one: Pixels, other: Pixels) -> Pixels:
    """Return the pixels of both, sorted; `drawn` is that of the first."""
    view, pixel = np.concatenate([one.view, other.view]), np.concatenate([one.pixel, other.pixel])
    low, high = np.concatenate([one.low, other.low]), np.concatenate([one.high, other.high])
    return Pixels(view, pixel, low, high, one.drawn).select(np.lexsort((pixel, view)))


class SoftwareRenderer:
    """Draws by Numba kernels; works everywhere."""

    def __init__(self, shapes: ShapesOfBodies) -> None:
        self._shapes = shapes
        self._kept = threading.local()

    def change(self, shapes: ShapesOfBodies) -> None:
        """Take the shapes of all bodies."""
        self._shapes = shapes

    def decide(self, views: Views, test: str, workers: int | None) -> Decisions:
        """Decide each view and find its first colliding pixel.

        Further views of a pair that is decided have none.
        """
        found = self.colliding_pixels(views, TESTS_BY_NAME[test], ONE_PER_PAIR, workers)
        decisions = no_decisions(len(views.pair))._replace(drawn=found.drawn)
        decisions.pixels[found.view] = 1
        decisions.first[found.view] = found.pixel
        decisions.near[found.view], decisions.far[found.view] = found.low, found.high
        return decisions

    def colliding_pixels(self, views: Views, test: int, row_mode: int, workers: int | None, quick: bool = False) -> Pixels:
        """Return all colliding pixels, the first of each pair, or the first of all.

        With `quick` any pixel of a pair may stand for its first.
        """
        count, quick = len(views.pair), quick and row_mode != ALL and test != CONSERVATIVE
        if workers == 1 or row_mode == ONE or int((views.size.astype(np.int64) ** 2).sum()) < 2 * PIXELS_APART:
            return self._compare_views(views, 0, count, test, row_mode, quick)
        starts = np.append(np.flatnonzero(np.diff(views.pair, prepend=-1)), count)

        def part(start: int, stop: int) -> Pixels:
            return self._compare_views(views, int(starts[start]), int(starts[stop]), test, row_mode, quick)

        pairs = len(starts) - 1
        parts = map_chunks(part, pairs, -(-pairs // MOST_CHUNKS), workers)
        view, pixel, low, high = (np.concatenate(column) for column in zip(*(each[:4] for each in parts), strict=True))
        return Pixels(view, pixel, low, high, sum(each.drawn for each in parts))

    def _compare_views(self, views: Views, first: int, last: int, test: int, row_mode: int, quick: bool) -> Pixels:
        """Return the colliding pixels of views first … last-1."""
        work, rows, shapes = self._workspace(int(views.size[first:last].max(initial=1))), view_rows(views), self._shapes
        work.begin(test, row_mode, quick, first, last)

        def step(work: Workspace, operations: int) -> tuple[bool, int]:
            used = compare_views(*rows, shapes.addresses, work.addresses, operations)
            return work.grow().next_view == last, max(1, int(used))

        run_in_slices(step, work, FIRST_SLICE)
        search = work.standing()
        view, pixel, low, high = work.rows(search.rows)
        if work.numbers > KEPT_NUMBERS:
            del self._kept.work
        return Pixels(view, pixel, low, high, search.drawn)

    def _workspace(self, size: int) -> Workspace:
        """Return the maps and lists of this thread, for tiles of size × size pixels."""
        work: Workspace | None = self._kept.__dict__.get("work")
        if work is None:
            work = self._kept.work = Workspace()
        work.fit(size)
        return work


class ViewRows(NamedTuple):
    """The columns of `Views` that kernels read."""

    pair: Ints
    body_a: Ints
    body_b: Ints
    to_tile: Floats
    size: Ints
    slack: Floats


def view_rows(views: Views) -> ViewRows:
    """Return views for kernels: read-only."""
    columns = (views.pair, views.body_a, views.body_b, views.to_tile, views.size, views.slack)
    return ViewRows(*(read_only_view(column) for column in columns))


class ViewResult(NamedTuple):
    """The result of comparing one view."""

    found: int  # colliding pixels
    stride: int  # rows and columns per sampled pixel
    sampled: int  # pixels
    used: int  # operations
    needed: int  # room in lists


@kernel
def compare_views(
    pair: Ints, body_a: Ints, body_b: Ints, to_tile: Floats, size: Ints, slack: Floats, shapes: Addresses, addresses: Addresses,
    operations: int,
) -> int:  # fmt: skip
    """Compare views from where the search stands, until out of operations or room.

    The columns are those of `ViewRows`, which would take longer to hand over. Colliding pixels are written into the rows of
    the workspace. Returns the operations used: faces drawn and pixels compared.
    """
    table, work = open_shapes(shapes), open_work(addresses)
    views = ViewRows(borrowed(pair), borrowed(body_a), borrowed(body_b), borrowed(to_tile), borrowed(size), borrowed(slack))
    search, used = work.search, 0
    while search.next_view < search.last_view and used < operations:
        view = as_int64(search.next_view)
        result = compare_view(work, views, table, view)
        used += result.used
        if result.needed > work.depths.shape[0]:
            search.lists_needed = result.needed
            return used
        if not keep_rows(work, views, view, result):
            return used
        search.drawn += result.sampled
        search.next_view = view_after(work, views, view, result.found > 0)
    return used


@kernel
def compare_view(work: Work, views: ViewRows, shapes: Shapes, view: int) -> ViewResult:
    """Compare the bodies of a view, first at every fifth row and column."""
    size, stride, sampled, used = as_int64(views.size[view]), 1, 0, 0
    mesh_a, mesh_b = mesh_of_body(shapes, as_int64(views.body_a[view])), mesh_of_body(shapes, as_int64(views.body_b[view]))
    if work.search.quick and size > STRIDE and face_count(mesh_a) + face_count(mesh_b) <= FEW_FACES * size * size:
        stride = STRIDE
    while True:
        found, did, needed = compare_bodies(work, pair_in_view(views, shapes, view, stride))
        used += did
        sampled += pixels_across(size, stride) * pixels_across(size, stride)
        if found > 0 and stride > 1:
            # The small picture rounds differently: its pixel counts only if the whole tile agrees.
            found *= pixel_collides(work, pair_in_view(views, shapes, view, 1), first_pixel(work, size, stride))
        if found > 0 or stride == 1 or needed > work.depths.shape[0]:
            return ViewResult(found, stride, sampled, used, needed)
        stride = 1


@kernel
def keep_rows(work: Work, views: ViewRows, view: int, result: ViewResult) -> bool:
    """Write the rows of a view, or remove those of its pair; return whether they fit."""
    search, size = work.search, as_int64(views.size[view])
    conservative = search.test == CONSERVATIVE
    first_of_pair = view == 0 or views.pair[view] != views.pair[view - 1]
    if first_of_pair:
        search.pair_rows = search.rows
    if result.found > 0 and (first_of_pair or not conservative):
        if search.rows + result.found > work.row_view.shape[0]:
            search.rows_needed = search.rows + result.found
            return False
        search.rows = write_rows(work, size, result.stride, view, as_int64(search.rows))
    if result.found == 0 and conservative:
        search.rows = search.pair_rows
    return True


@kernel
def view_after(work: Work, views: ViewRows, view: int, hit: bool) -> int:
    """Return the next view to compare.

    One sampled view that collides decides a pair, or one conservative view that does not.
    """
    last, following = as_int64(work.search.last_view), view + 1
    while following < last and hit != (work.search.test == CONSERVATIVE) and views.pair[following] == views.pair[view]:
        following += 1
    whole_pair = following == last or views.pair[following] != views.pair[view]
    return last if work.search.row_mode == ONE and hit and whole_pair else following


@kernel
def compare_bodies(work: Work, pair: DrawnPair) -> tuple[int, int, int]:
    """Draw two bodies and write the depths LOW <= HIGH at which they collide.

    LOW > HIGH elsewhere. Returns the number of colliding pixels, the operations used, and the room that lists need: with
    less, nothing is known.
    """
    test, row_mode, pixels = work.search.test, work.search.row_mode, pair.a.size * pair.a.size
    if test == STENCIL:
        found, drawn = stencil_depths(work, pair, pair.both_convex and row_mode != ALL)
    else:
        found, drawn = common_depths(work, pair)
    if found == 0 or pair.both_convex:
        return found, drawn + pixels, 0
    found, needed = common_intervals(work, pair, row_mode == ALL)
    return found, drawn + pixels + needed, needed


@kernel(forceinline=True)
def face_count(mesh: PatchedMesh) -> int:
    """Return the number of faces of a mesh."""
    return as_int64(mesh.corners.shape[0] // 3)


@kernel(forceinline=True)
def pixels_across(size: int, stride: int) -> int:
    """Return the sampled pixels along a side, one per `stride` rows and columns."""
    return (size - stride // 2 - 1) // stride + 1


@kernel
def pair_in_view(views: ViewRows, shapes: Shapes, view: int, stride: int) -> DrawnPair:
    """Return the bodies of a view, one pixel per `stride` rows and columns."""
    a, b, across = as_int64(views.body_a[view]), as_int64(views.body_b[view]), pixels_across(as_int64(views.size[view]), stride)
    return DrawnPair(
        DrawnBody(mesh_of_body(shapes, a), shrunk(view_from(views.to_tile[view, 0]), stride), across),
        DrawnBody(mesh_of_body(shapes, b), shrunk(view_from(views.to_tile[view, 1]), stride), across),
        Slack(views.slack[view, 0], views.slack[view, 1]),
        bool(shapes.convex[a] and shapes.convex[b]),
    )


@kernel(forceinline=True)
def shrunk(view: TileView, stride: int) -> TileView:
    """Return a view with pixels `stride` times as wide and high."""
    x, y = view.x, view.y
    return TileView(
        ViewRow(x.x / stride, x.y / stride, x.z / stride, x.offset / stride),
        ViewRow(y.x / stride, y.y / stride, y.z / stride, y.offset / stride),
        view.z,
    )


@kernel(forceinline=True)
def pixel_of(row: int, column: int, size: int, stride: int) -> int:
    """Return the number in the whole tile of a sampled pixel."""
    return (stride * row + stride // 2) * size + stride * column + stride // 2


@kernel
def first_pixel(work: Work, size: int, stride: int) -> int:
    """Return the number in the whole tile of the first sampled pixel with LOW <= HIGH."""
    across = pixels_across(size, stride)
    low, high = depth_map(work, LOW, across), depth_map(work, HIGH, across)
    k = 0
    while low[k // across, k % across] > high[k // across, k % across]:
        k += 1
    return pixel_of(k // across, k % across, size, stride)


@kernel
def write_rows(work: Work, size: int, stride: int, view: int, rows: int) -> int:
    """Write the pixels with LOW <= HIGH, or the first; return the new number of rows."""
    across, every = pixels_across(size, stride), work.search.row_mode == ALL
    low, high = depth_map(work, LOW, across), depth_map(work, HIGH, across)
    for j in range(across):
        for i in range(across):
            if low[j, i] <= high[j, i]:
                work.row_view[rows], work.row_pixel[rows] = view, pixel_of(j, i, size, stride)
                work.row_low[rows], work.row_high[rows] = low[j, i], high[j, i]
                rows += 1
                if not every:
                    return rows
    return rows

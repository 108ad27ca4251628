"""The software renderer: one kernel looks at all views of a frame, draws both bodies of each and compares them pixel by pixel.

Fig. 3 of Baciu et al. for each view: over the region, by intervals or stencil counts for convex bodies, by layers where one is not
(`interval.py`, `stencil.py`, `layers.py`), or by whole pixels (`conservative.py`). Bodies are always drawn as a whole where the
region is; what the paper stops at the first colliding pixel is the comparing. Where one pixel is enough, and rows rather than faces
are the cost, a first look at every fifth row and column finds most pairs that collide; its pixel is decided again in the whole
tile, so that bodies that only touch are decided alike however many rows are asked for. Of several views of one pair the first
that shows a collision is enough; of conservative ones all must show it.

Maps and lists are kept from frame to frame, one set for each thread. Work is cut at pairs: several workers give the same bytes.
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
from jostle.methods.image_space.conservative import common_ranges, possible_depths
from jostle.methods.image_space.interval import common_depths
from jostle.methods.image_space.layers import common_layers, pixel_collides
from jostle.methods.image_space.regions import Views
from jostle.methods.image_space.renderers import Decisions, no_decisions
from jostle.methods.image_space.shape import ImageShape
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
STRIDE = 5  # odd: the centre of five pixels is that of one. Half of the pairs of 100 cones need no second look: 11 ms, not 17
FEW_FACES = 0.25  # for each pixel: with more of them a small picture takes nearly as long as a large one
PIXELS_APART = 100_000  # less than this is not worth a second thread
KEPT_NUMBERS = 2**23  # the most that a thread keeps of each kind for the next frame


class Pixels(NamedTuple):
    """Colliding pixels, sorted by view, then by number."""

    view: Ints  # (k,)
    pixel: Ints  # (k,) y * size + x
    low: Floats  # (k,) tile depth at which the common depths begin
    high: Floats  # (k,) and end
    drawn: int  # pixels that were looked at

    def select(self, chosen: NDArray[np.generic]) -> Pixels:
        """Return some of the pixels."""
        return Pixels(self.view[chosen], self.pixel[chosen], self.low[chosen], self.high[chosen], self.drawn)


class SoftwareRenderer:
    """Draws by Numba kernels; works everywhere."""

    name = "software"

    def __init__(self, shapes: ShapesOfBodies) -> None:
        self._shapes = shapes
        self._kept = threading.local()

    def change(self, shapes: tuple[ImageShape, ...]) -> None:
        """Take the shapes of all bodies."""
        self.take(ShapesOfBodies(shapes))

    def take(self, shapes: ShapesOfBodies) -> None:
        """Take shapes that are in a table already."""
        self._shapes = shapes

    def deform(self, body: int, shape: ImageShape) -> None:
        """Nothing to do: shapes change in place."""

    def decide(self, views: Views, test: str, workers: int | None) -> Decisions:
        """Say of each view whether a pixel collides, and which is the first; further views of a pair that is decided say no."""
        found = self.look(views, TESTS_BY_NAME[test], ONE_PER_PAIR, workers)
        decisions = no_decisions(len(views.pair))._replace(drawn=found.drawn)
        decisions.pixels[found.view] = 1
        decisions.first[found.view] = found.pixel
        decisions.near[found.view], decisions.far[found.view] = found.low, found.high
        return decisions

    def look(self, views: Views, test: int, wanted: int, workers: int | None, quick: bool = False) -> Pixels:
        """Return the colliding pixels of all pairs, of each pair its first (with `quick` any one), or the first of all."""
        count, quick = len(views.pair), quick and wanted != ALL and test != CONSERVATIVE
        if workers == 1 or wanted == ONE or int((views.size.astype(np.int64) ** 2).sum()) < 2 * PIXELS_APART:
            return self._looked(views, 0, count, test, wanted, quick)
        starts = np.append(np.flatnonzero(np.diff(views.pair, prepend=-1)), count)

        def part(start: int, stop: int) -> Pixels:
            return self._looked(views, int(starts[start]), int(starts[stop]), test, wanted, quick)

        pairs = len(starts) - 1
        parts = map_chunks(part, pairs, -(-pairs // MOST_CHUNKS), workers)
        view, pixel, low, high = (np.concatenate(column) for column in zip(*(each[:4] for each in parts), strict=True))
        return Pixels(view, pixel, low, high, sum(each.drawn for each in parts))

    def _looked(self, views: Views, first: int, last: int, test: int, wanted: int, quick: bool) -> Pixels:
        """Look at views first … last-1."""
        work, rows, shapes = self._workspace(int(views.size[first:last].max(initial=1))), view_rows(views), self._shapes
        work.begin(test, wanted, quick, first, last)

        def step(work: Workspace, operations: int) -> tuple[bool, int]:
            used = look_at_views(*rows, shapes.addresses, work.addresses, operations)
            return work.grow().next_view == last, max(1, int(used))

        run_in_slices(step, work, FIRST_SLICE)
        search = work.standing()
        view, pixel, low, high = work.rows(search.rows)
        if work.numbers > KEPT_NUMBERS:
            del self._kept.work
        return Pixels(view, pixel, low, high, search.drawn)

    def _workspace(self, size: int) -> Workspace:
        """The maps and lists of this thread, for tiles of up to size × size pixels."""
        work: Workspace | None = self._kept.__dict__.get("work")
        if work is None:
            work = self._kept.work = Workspace()
        work.fit(size)
        return work


class ViewRows(NamedTuple):
    """What kernels read of `Views`."""

    pair: Ints
    body_a: Ints
    body_b: Ints
    to_tile: Floats
    size: Ints
    slack: Floats


def view_rows(views: Views) -> ViewRows:
    """Return views as kernels take them: read-only."""
    columns = (views.pair, views.body_a, views.body_b, views.to_tile, views.size, views.slack)
    return ViewRows(*(read_only_view(column) for column in columns))


class Look(NamedTuple):
    """What a look at one view found."""

    found: int  # colliding pixels
    stride: int  # rows and columns for each pixel looked at
    looked: int  # pixels
    used: int  # operations
    needed: int  # room in lists


@kernel
def look_at_views(
    pair: Ints, body_a: Ints, body_b: Ints, to_tile: Floats, size: Ints, slack: Floats, shapes: Addresses, addresses: Addresses,
    operations: int,
) -> int:  # fmt: skip
    """Look at views from where the search of a workspace stands, for so many operations or until more room is needed.

    The columns are those of `ViewRows`, which would take longer to hand over. Colliding pixels are written into the rows of the
    workspace. Returns the operations used: faces drawn and pixels compared.
    """
    table, work = open_shapes(shapes), open_work(addresses)
    views = ViewRows(borrowed(pair), borrowed(body_a), borrowed(body_b), borrowed(to_tile), borrowed(size), borrowed(slack))
    search, used = work.search, 0
    while search.next_view < search.last_view and used < operations:
        view = as_int64(search.next_view)
        look = look_at_view(work, views, table, view)
        used += look.used
        if look.needed > work.depths.shape[0]:
            search.lists_needed = look.needed
            return used
        if not keep_rows(work, views, view, look):
            return used
        search.drawn += look.looked
        search.next_view = view_after(work, views, view, look.found > 0)
    return used


@kernel
def look_at_view(work: Work, views: ViewRows, shapes: Shapes, view: int) -> Look:
    """Compare the bodies of a view: with every fifth row and column first where this is likely to be enough."""
    size, stride, looked, used = as_int64(views.size[view]), 1, 0, 0
    mesh_a, mesh_b = mesh_of_body(shapes, as_int64(views.body_a[view])), mesh_of_body(shapes, as_int64(views.body_b[view]))
    if work.search.quick and size > STRIDE and face_count(mesh_a) + face_count(mesh_b) <= FEW_FACES * size * size:
        stride = STRIDE
    while True:
        found, did, needed = compare_bodies(work, pair_in_view(views, shapes, view, stride))
        used += did
        looked += pixels_across(size, stride) * pixels_across(size, stride)
        if found > 0 and stride > 1:
            # The small picture is rounded otherwise: its word is taken where the whole tile would say the same.
            found *= pixel_collides(work, pair_in_view(views, shapes, view, 1), first_pixel(work, size, stride))
        if found > 0 or stride == 1 or needed > work.depths.shape[0]:
            return Look(found, stride, looked, used, needed)
        stride = 1


@kernel
def keep_rows(work: Work, views: ViewRows, view: int, look: Look) -> bool:
    """Write the rows of a view, or take back those of its pair; return whether there is room for them."""
    search, size = work.search, as_int64(views.size[view])
    conservative = search.test == CONSERVATIVE
    first_of_pair = view == 0 or views.pair[view] != views.pair[view - 1]
    if first_of_pair:
        search.pair_rows = search.rows
    if look.found > 0 and (first_of_pair or not conservative):
        if search.rows + look.found > work.row_view.shape[0]:
            search.rows_needed = search.rows + look.found
            return False
        search.rows = write_rows(work, size, look.stride, view, as_int64(search.rows))
    if look.found == 0 and conservative:
        search.rows = search.pair_rows
    return True


@kernel
def view_after(work: Work, views: ViewRows, view: int, hit: bool) -> int:
    """Return the view to go on with: one sampled view that collides decides a pair, or one conservative view that does not."""
    last, following = as_int64(work.search.last_view), view + 1
    while following < last and hit != (work.search.test == CONSERVATIVE) and views.pair[following] == views.pair[view]:
        following += 1
    whole_pair = following == last or views.pair[following] != views.pair[view]
    return last if work.search.wanted == ONE and hit and whole_pair else following


@kernel
def compare_bodies(work: Work, pair: DrawnPair) -> tuple[int, int, int]:
    """Draw two bodies and write the depths LOW <= HIGH at which they collide; else LOW > HIGH.

    Returns the number of colliding pixels, the operations used, and the room that lists need: with less, nothing is known.
    """
    test, wanted, pixels = work.search.test, work.search.wanted, pair.a.size * pair.a.size
    if test == CONSERVATIVE:
        found, drawn = possible_depths(work, pair)
    elif test == STENCIL:
        found, drawn = stencil_depths(work, pair, pair.both_convex and wanted != ALL)
    else:
        found, drawn = common_depths(work, pair)
    if found == 0 or pair.both_convex:
        return found, drawn + pixels, 0
    if test == CONSERVATIVE:
        found, needed = common_ranges(work, pair, wanted == ALL)
    else:
        found, needed = common_layers(work, pair, wanted == ALL)
    return found, drawn + pixels + needed, needed


@kernel(forceinline=True)
def face_count(mesh: PatchedMesh) -> int:
    """Return the number of faces of a mesh."""
    return as_int64(mesh.corners.shape[0] // 3)


@kernel(forceinline=True)
def pixels_across(size: int, stride: int) -> int:
    """Return how many pixels along a side are looked at, one for so many rows and columns of a tile, at the centre of those."""
    return (size - stride // 2 - 1) // stride + 1


@kernel
def pair_in_view(views: ViewRows, shapes: Shapes, view: int, stride: int) -> DrawnPair:
    """Return the bodies of a view in a tile with one pixel for so many rows and columns."""
    a, b, across = as_int64(views.body_a[view]), as_int64(views.body_b[view]), pixels_across(as_int64(views.size[view]), stride)
    return DrawnPair(
        DrawnBody(mesh_of_body(shapes, a), shrunk(view_from(views.to_tile[view, 0]), stride), across),
        DrawnBody(mesh_of_body(shapes, b), shrunk(view_from(views.to_tile[view, 1]), stride), across),
        Slack(views.slack[view, 0], views.slack[view, 1]),
        bool(shapes.convex[a] and shapes.convex[b]),
    )


@kernel(forceinline=True)
def shrunk(view: TileView, stride: int) -> TileView:
    """Return a view with pixels that are so many times as wide and high."""
    x, y = view.x, view.y
    return TileView(
        ViewRow(x.x / stride, x.y / stride, x.z / stride, x.offset / stride),
        ViewRow(y.x / stride, y.y / stride, y.z / stride, y.offset / stride),
        view.z,
    )


@kernel(forceinline=True)
def pixel_of(row: int, column: int, size: int, stride: int) -> int:
    """Return the number, in the whole tile, of a pixel that was looked at for so many rows and columns."""
    return (stride * row + stride // 2) * size + stride * column + stride // 2


@kernel
def first_pixel(work: Work, size: int, stride: int) -> int:
    """Return the number of the first pixel with LOW <= HIGH, of a tile in which one was looked at for so many rows and columns."""
    across = pixels_across(size, stride)
    low, high = depth_map(work, LOW, across), depth_map(work, HIGH, across)
    k = 0
    while low[k // across, k % across] > high[k // across, k % across]:
        k += 1
    return pixel_of(k // across, k % across, size, stride)


@kernel
def write_rows(work: Work, size: int, stride: int, view: int, rows: int) -> int:
    """Write the pixels with LOW <= HIGH, or the first one, from row `rows` on; returns the number of rows there are then."""
    across, every = pixels_across(size, stride), work.search.wanted == ALL
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

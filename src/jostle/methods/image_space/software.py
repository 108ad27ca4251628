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

from jostle.frame import Bools, Floats, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.pool import map_chunks
from jostle.kernels.slices import run_in_slices
from jostle.methods.image_space.conservative import common_ranges, possible_depths
from jostle.methods.image_space.interval import as_int64, common_depths
from jostle.methods.image_space.layers import Bytes, Places, common_layers, pixel_collides
from jostle.methods.image_space.regions import ShapesOfBodies, Views
from jostle.methods.image_space.renderers import Decisions, no_decisions
from jostle.methods.image_space.shape import ImageShape
from jostle.methods.image_space.stencil import stencil_depths
from jostle.render.spans import CORNERS, Table, scratch_for_drawing

INTERVAL, STENCIL, CONSERVATIVE = 0, 1, 2
TESTS_BY_NAME = {"interval": INTERVAL, "stencil": STENCIL}
ALL, ONE_PER_PAIR, ONE = 0, 1, 2  # colliding pixels that are wanted
FIRST_SLICE = 2_000_000  # faces and pixels: about 10 ms
MOST_CHUNKS = 64
STRIDE = 5  # odd: the centre of five pixels is that of one. Half of the pairs of 100 cones need no second look: 11 ms, not 17
FEW_FACES = 0.25  # for each pixel: with more of them a small picture takes nearly as long as a large one
PIXELS_APART = 100_000  # less than this is not worth a second thread
KEPT_NUMBERS = 2**23  # the most that a thread keeps of each kind for the next frame

# Entries of the state of a search.
NEXT_VIEW, ROWS, PAIR_ROWS, DRAWN, ROWS_NEEDED, LISTS_NEEDED, STATE = 0, 1, 2, 3, 4, 5, 6


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

    def look(self, views: Views, how: int, wanted: int, workers: int | None, quick: bool = False) -> Pixels:
        """Return the colliding pixels of all pairs, of each pair its first (with `quick` any one), or the first of all."""
        count, quick = len(views.pair), quick and wanted != ALL and how != CONSERVATIVE
        if workers == 1 or wanted == ONE or int((views.size.astype(np.int64) ** 2).sum()) < 2 * PIXELS_APART:
            return self._looked(views, 0, count, how, wanted, quick)
        starts = np.append(np.flatnonzero(np.diff(views.pair, prepend=-1)), count)

        def part(start: int, stop: int) -> Pixels:
            return self._looked(views, int(starts[start]), int(starts[stop]), how, wanted, quick)

        pairs = len(starts) - 1
        parts = map_chunks(part, pairs, -(-pairs // MOST_CHUNKS), workers)
        view, pixel, low, high = (np.concatenate(column) for column in zip(*(each[:4] for each in parts), strict=True))
        return Pixels(view, pixel, low, high, sum(each.drawn for each in parts))

    def _looked(self, views: Views, first: int, last: int, how: int, wanted: int, quick: bool) -> Pixels:
        """Look at views first … last-1."""
        work = self._workspace(int(views.size[first:last].max(initial=1)))
        pair, body_a, body_b = read_only_view(views.pair), read_only_view(views.body_a), read_only_view(views.body_b)
        to_tile, size, slack = read_only_view(views.to_tile), read_only_view(views.size), read_only_view(views.slack)
        shapes = self._shapes

        def step(state: Places, operations: int) -> tuple[bool, int]:
            used = look_at_views(
                pair, body_a, body_b, to_tile, size, slack, last,
                shapes.shape_of_body, shapes.convex, shapes.table.table, how, wanted, quick, operations, state,
                work.matrices, work.maps, work.counts, work.scratch, work.firsts, work.depths, work.ends, work.labels,
                work.row_numbers[0], work.row_numbers[1], work.row_depths[0], work.row_depths[1],
            )  # fmt: skip
            work.grow(int(state[ROWS]), int(state[ROWS_NEEDED]), int(state[LISTS_NEEDED]))
            return bool(state[NEXT_VIEW] == last), max(1, int(used))

        state = np.zeros(STATE, np.int64)
        state[NEXT_VIEW] = first
        run_in_slices(step, state, FIRST_SLICE)
        rows = int(state[ROWS])
        (view, pixel), (low, high) = work.row_numbers[:, :rows].copy(), work.row_depths[:, :rows].copy()
        if work.numbers > KEPT_NUMBERS:
            del self._kept.work
        return Pixels(view, pixel, low, high, int(state[DRAWN]))

    def _workspace(self, size: int) -> Workspace:
        """The maps and lists of this thread, for tiles of up to size × size pixels."""
        work: Workspace | None = self._kept.__dict__.get("work")
        if work is None:
            work = self._kept.work = Workspace()
        work.fit(size)
        return work


class Workspace:
    """Maps, lists and rows of one thread."""

    def __init__(self) -> None:
        self.scratch, self.matrices = scratch_for_drawing(), np.empty((2, 12))
        self.row_numbers, self.row_depths = np.empty((2, 64), np.int32), np.empty((2, 64))
        self.maps, self.counts, self.firsts = np.empty(0), np.empty(0, np.uint8), np.empty(0, np.int64)
        self.depths, self.ends, self.labels = np.empty(1024), np.empty(1024), np.empty(1024, np.int32)
        self.fit(1)

    def fit(self, size: int) -> None:
        """Have room for tiles of size × size pixels."""
        pixels = size * size
        if 4 * pixels > len(self.maps):
            self.maps, self.counts = np.empty(4 * pixels), np.empty(2 * pixels, np.uint8)
            self.firsts = np.empty(2 * pixels + 4, np.int64)

    @property
    def numbers(self) -> int:
        """How many numbers it holds."""
        return self.maps.size + self.row_depths.size + 2 * self.depths.size

    def grow(self, rows: int, rows_needed: int, lists_needed: int) -> None:
        """Have room for as much as a kernel asked for, and keep the first rows."""
        if lists_needed > len(self.depths):
            most = max(lists_needed, 2 * len(self.depths))
            self.depths, self.ends, self.labels = np.empty(most), np.empty(most), np.empty(most, np.int32)
        if rows_needed > self.row_numbers.shape[1]:
            most = max(rows_needed, 2 * self.row_numbers.shape[1])
            for name in ("row_numbers", "row_depths"):
                old = getattr(self, name)
                new = np.empty((2, most), old.dtype)
                new[:, :rows] = old[:, :rows]
                setattr(self, name, new)


@kernel
def look_at_views(
    pair: Ints, body_a: Ints, body_b: Ints, to_tile: Floats, sizes: Ints, slack: Floats, last: int,
    shape_of_body: Ints, convex: Bools, table: Table, how: int, wanted: int, quick: bool, operations: int,
    state: Places, matrices: Floats, maps: Floats, counts: Bytes, scratch: Floats,
    firsts: Places, depths: Floats, ends: Floats, labels: Ints,
    row_view: Ints, row_pixel: Ints, row_low: Floats, row_high: Floats,
) -> int:  # fmt: skip
    """Look at views (see `Views`) from state[NEXT_VIEW] to last, for so many operations or until more room is needed.

    Colliding pixels are written into rows (k,), from state[ROWS] on. Returns the operations used: faces drawn and pixels compared.
    """
    used = 0
    while state[NEXT_VIEW] < last and used < operations:
        view = state[NEXT_VIEW]
        size = as_int64(sizes[view])
        a, b = as_int64(body_a[view]), as_int64(body_b[view])
        shape_a, shape_b = as_int64(shape_of_body[a]), as_int64(shape_of_body[b])
        both_convex, stride, looked, found, did, needed = convex[a] and convex[b], 1, 0, 0, 0, 0
        if quick and size > STRIDE and faces_of(table, shape_a) + faces_of(table, shape_b) <= FEW_FACES * size * size:
            stride = STRIDE
        while True:
            across = (size - stride // 2 - 1) // stride + 1
            place_matrices(to_tile[view], stride, matrices)
            found, did, needed = compare_bodies(
                table, shape_a, shape_b, matrices[0], matrices[1], across, slack[view, 0], slack[view, 1], both_convex, how, wanted,
                maps, counts, scratch, firsts, depths, ends, labels,
            )  # fmt: skip
            used += did
            looked += across * across
            if found > 0 and stride > 1:
                # The small picture is rounded otherwise: its word is taken where the whole tile would say the same.
                place_matrices(to_tile[view], 1, matrices)
                found *= pixel_collides(
                    table, shape_a, shape_b, matrices[0], matrices[1], size, first_pixel(maps, size, stride), both_convex,
                    firsts, depths, labels, scratch,
                )  # fmt: skip
            if found > 0 or stride == 1 or needed > depths.shape[0]:
                break
            stride = 1
        if needed > depths.shape[0]:
            state[LISTS_NEEDED] = needed
            return used
        rows = state[ROWS]
        first_of_pair = view == 0 or pair[view] != pair[view - 1]
        if first_of_pair:
            state[PAIR_ROWS] = rows
        if found > 0 and (first_of_pair or how != CONSERVATIVE):
            if rows + found > row_view.shape[0]:
                state[ROWS_NEEDED] = rows + found
                return used
            rows = write_rows(maps, size, stride, view, wanted, rows, row_view, row_pixel, row_low, row_high)
        if found == 0 and how == CONSERVATIVE:
            rows = state[PAIR_ROWS]
        state[ROWS] = rows
        state[DRAWN] += looked
        # One sampled view that collides decides a pair, or one conservative view that does not.
        following = view + 1
        while following < last and (found > 0) != (how == CONSERVATIVE) and pair[following] == pair[view]:
            following += 1
        whole_pair = following == last or pair[following] != pair[view]
        state[NEXT_VIEW] = last if wanted == ONE and found > 0 and whole_pair else following
    return used


@kernel
def compare_bodies(
    table: Table, shape_a: int, shape_b: int, view_a: Floats, view_b: Floats, size: int, slack_xy: float, slack_z: float,
    both_convex: bool, how: int, wanted: int, maps: Floats, counts: Bytes, scratch: Floats,
    firsts: Places, depths: Floats, ends: Floats, labels: Ints,
) -> tuple[int, int, int]:  # fmt: skip
    """Draw two bodies and write the depths low <= high at which they collide, both (size, size), the first maps; else low > high.

    Returns the number of colliding pixels, the operations used, and the room that lists need: with less, nothing is known.
    """
    pixels = size * size
    low, high = maps[:pixels].reshape((size, size)), maps[pixels : 2 * pixels].reshape((size, size))
    near, far = maps[2 * pixels : 3 * pixels].reshape((size, size)), maps[3 * pixels : 4 * pixels].reshape((size, size))
    mask, other = counts[:pixels].reshape((size, size)), counts[pixels : 2 * pixels].reshape((size, size))
    if how == CONSERVATIVE:
        found, drawn = possible_depths(
            table, shape_a, shape_b, view_a, view_b, size, slack_xy, slack_z, low, high, near, far, scratch
        )
    elif how == STENCIL:
        enough = both_convex and wanted != ALL
        found, drawn = stencil_depths(table, shape_a, shape_b, view_a, view_b, size, enough, low, high, mask, other, scratch)
    else:
        found, drawn = common_depths(table, shape_a, shape_b, view_a, view_b, size, low, high, near, far, scratch)
    if found == 0 or both_convex:
        return found, drawn + pixels, 0
    if how == CONSERVATIVE:
        found, needed = common_ranges(
            table, shape_a, shape_b, view_a, view_b, size, slack_xy, slack_z, wanted == ALL, low, high, mask, firsts, depths, ends,
            labels, scratch,
        )  # fmt: skip
    else:
        found, needed = common_layers(
            table, shape_a, shape_b, view_a, view_b, size, wanted == ALL, low, high, mask, firsts, depths, labels, scratch
        )
    return found, drawn + pixels + needed, needed


@kernel(forceinline=True)
def faces_of(table: Table, shape: int) -> int:
    """The number of faces of a body."""
    return int(table[shape, CORNERS + 1]) // 3


@kernel
def place_matrices(to_tile: Floats, stride: int, matrices: Floats) -> None:
    """Write the matrices (2,12) of a view for a tile with one pixel for so many rows and columns, at the centre of those.

    Also where there is nothing to divide by: views are read-only, and kernels that draw are compiled for matrices that are not.
    """
    for role in range(2):
        for k in range(12):
            matrices[role, k] = to_tile[role, k] / (stride if k < 8 else 1)


@kernel
def first_pixel(maps: Floats, size: int, stride: int) -> int:
    """The number of the first pixel with low <= high, of a tile in which one was looked at for so many rows and columns."""
    across = (size - stride // 2 - 1) // stride + 1
    k = 0
    while maps[k] > maps[across * across + k]:
        k += 1
    return (stride * (k // across) + stride // 2) * size + stride * (k % across) + stride // 2


@kernel
def write_rows(
    maps: Floats, size: int, stride: int, view: int, wanted: int, rows: int,
    row_view: Ints, row_pixel: Ints, row_low: Floats, row_high: Floats,
) -> int:  # fmt: skip
    """Write the pixels with low <= high, or the first one, from row `rows` on; returns the number of rows there are then."""
    across = (size - stride // 2 - 1) // stride + 1
    for j in range(across):
        for i in range(across):
            low, high = maps[j * across + i], maps[across * across + j * across + i]
            if low <= high:
                row_view[rows], row_pixel[rows] = view, (stride * j + stride // 2) * size + stride * i + stride // 2
                row_low[rows], row_high[rows] = low, high
                rows += 1
                if wanted != ALL:
                    return rows
    return rows

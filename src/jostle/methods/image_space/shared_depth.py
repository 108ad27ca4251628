"""Depth maps shared by all pairs of a body: Fig. 4, lines 9 and 10.

The paper draws A's far depths once, and uses them for every pair of A, since all pairs are projected along one axis in
one viewport. So here: one lattice of pixels for the whole frame, its origin at the middle of the bodies, along x, y or z.
Each body is drawn once, near and far, over the part of the lattice that its pairs need; a pair only compares the two maps
where its rectangles overlap. Pixels are squares with half a diagonal of `accuracy`, so the guarantee is that of pictures
of pairs with that accuracy.

Where one of the bodies is concave the maps only show where to look: such pairs are drawn again, in layers, if near and
far depths overlap anywhere. So are pairs of bodies whose maps would be too large; their tiles lie on the same lattice.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Floats, Ints, Longs
from jostle.errors import InputError
from jostle.geometry.vector import Vec3
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Frame
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import KEPT_BYTES
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Addresses, Record, int64, record_viewer
from jostle.methods.image_space.regions import (
    AHEAD,
    HEIGHT,
    MIDDLE,
    MOST_RESOLUTION,
    REGION,
    SLACK,
    WIDTH,
    Views,
    everywhere,
    extents_over,
    lay_out,
    lengths_of,
    refuse_large_pictures,
    refuse_rounding,
    slack_of,
)
from jostle.methods.image_space.shape_table import ShapesOfBodies, box_of_body, mesh_of_body, open_shapes
from jostle.methods.image_space.software import Pixels, SoftwareRenderer, merged
from jostle.methods.image_space.view_direction import MODES, ViewFrame, frame_of_direction, seen_body
from jostle.methods.image_space.workspace import ALL, INTERVAL, ONE
from jostle.render.depth_maps import draw_near_and_far
from jostle.render.drawn_body import DrawnBody, view_from
from jostle.render.spans import scratch_for_drawing

if TYPE_CHECKING:
    from jostle.methods.image_space.method import ImageSpace


MOST_SHARED_PIXELS = 1 << 24  # of all maps of a frame: 256 MB; bodies beyond that are drawn pair by pair
FIRST_SLICE = 2_000_000  # faces and pixels: about 10 ms
INSIDE = 1.0 - 2.0**-40  # of the accuracy: so that rounding leaves no pixel larger
MOST_ACROSS = 2.0**40  # pixels from the middle of the lattice: numbers of pixels stay exact

NO_MAP = -1
UNSURE, NO_ROOM = -1, -2  # in place of a number of pixels
_KEPT = threading.local()
# Columns of extents: lowest and highest x, y and z of a body on the lattice, in world units; then its slack.
EXTENT_X, EXTENT_Y, EXTENT_Z, EXTENT_SLACK, EXTENTS = 0, 2, 4, 6, 7


class Comparison(Record):
    """Where drawing or comparing stands."""

    next: int64  # body or pair
    rows: int64  # written so far
    drawn: int64  # pixels compared
    full: int64  # whether there was no room for more rows


view_comparison = record_viewer(Comparison)


class PixelLattice:
    """The pixels of a frame: view axes, world point in the middle, width of a pixel."""

    def __init__(self, frame: Frame, bodies: Ints, shapes: ShapesOfBodies, view: str, accuracy: float) -> None:
        self.accuracy, self.pixel = accuracy, accuracy * math.sqrt(2.0) * INSIDE
        axis = MODES[view]
        axes = frame_of_direction(Vec3(*(1.0 if k == axis else 0.0 for k in range(3))))
        self.axes = np.array(axes)
        positions = frame.poses[bodies, :3, 3] if len(bodies) else np.zeros((1, 3))
        self.middle, self.extents = 0.5 * positions.min(axis=0) + 0.5 * positions.max(axis=0), np.empty((len(bodies), EXTENTS))
        origin, poses = Vec3(*self.middle.tolist()), read_only_view(frame.poses)
        slack = place_on_lattice(read_only_view(bodies), shapes.addresses, poses, axes, origin, self.extents)
        self.extents[:, EXTENT_SLACK] = slack

    def rectangles(self) -> Longs:
        """(n, 4) first and end pixel along x and along y of each body."""
        across = self.extents[:, :EXTENT_Z].reshape(-1, 2, 2) + self.extents[:, EXTENT_SLACK, None, None] * np.array([-1.0, 1.0])
        farthest = float(np.abs(across).max(initial=0.0))
        if not farthest < MOST_ACROSS * self.pixel:
            raise InputError(
                f"ImageSpace: accuracy is {self.accuracy:g}, too small for one lattice of pixels over bodies that reach "
                f"{farthest:g} from its middle; pass accuracy={farthest / MOST_ACROSS:.3g} or more, or share_depth=False"
            )
        across /= self.pixel
        rectangles: Longs = np.floor(across).astype(np.int64)
        rectangles[:, :, 1] += 1
        flat: Longs = rectangles.reshape(-1, 4)
        return flat

    def regions(self, rectangles: Longs, depth: Floats, slack: Floats) -> tuple[Floats, Longs]:
        """Return regions (k, REGION) and sizes (k,) of tiles over rectangles (k, 4).

        Their middles are at depth (k,).
        """
        size = longer_sides(rectangles)
        regions = np.empty((len(size), REGION))
        regions[:, : AHEAD + 3] = self.axes.reshape(-1)
        places = [(rectangles[:, 2 * k] + 0.5 * size) * self.pixel for k in range(2)]
        for k, place in enumerate((*places, depth)):
            # World axes: only one entry of three is not 0, and nothing else is rounded.
            regions[:, MIDDLE + int(np.argmax(self.axes[k]))] = place
        regions[:, MIDDLE : MIDDLE + 3] += self.middle
        regions[:, WIDTH] = regions[:, HEIGHT] = 0.5 * self.pixel * size
        regions[:, SLACK] = slack
        return regions, size


def longer_sides(rectangles: Longs) -> Longs:
    """(k,) pixels along the longer side of rectangles (k, 4)."""
    sides: Longs = np.maximum(rectangles[:, 1] - rectangles[:, 0], rectangles[:, 3] - rectangles[:, 2])
    return sides


def decide_on_shared_maps(
    pairs: CandidatePairs, frame: Frame, shapes: ShapesOfBodies, settings: ImageSpace, row_mode: int, software: SoftwareRenderer
) -> tuple[Views, Pixels]:
    """Draw each body once and compare the maps of each pair.

    Parameters
    ----------
    pairs : CandidatePairs
        Sorted, as `candidates.py` returns them.
    frame : Frame
    shapes : ShapesOfBodies
    settings : ImageSpace
        With an accuracy, and view "x", "y" or "z".
    row_mode : int
        ALL colliding pixels, ONE_PER_PAIR, or ONE (`workspace.py`).
    software : SoftwareRenderer
        Draws pairs that maps do not decide.

    Returns
    -------
    views : Views
        One for each pair whose rectangles and depths overlap; its tile is a square of the lattice.
    pixels : Pixels
        The colliding pixels of these views.
    """
    assert settings.accuracy is not None
    bodies = np.unique(np.concatenate([pairs.body_a, pairs.body_b])).astype(np.int32)
    lattice = PixelLattice(frame, bodies, shapes, settings.view, settings.accuracy)
    rectangles, extents = lattice.rectangles(), lattice.extents
    a, b = np.searchsorted(bodies, pairs.body_a), np.searchsorted(bodies, pairs.body_b)
    shared = np.empty((len(a), 4), np.int64)
    shared[:, ::2] = np.maximum(rectangles[a, ::2], rectangles[b, ::2])
    shared[:, 1::2] = np.minimum(rectangles[a, 1::2], rectangles[b, 1::2])
    first = np.maximum(extents[a, EXTENT_Z], extents[b, EXTENT_Z])
    last = np.minimum(extents[a, EXTENT_Z + 1], extents[b, EXTENT_Z + 1])
    slack = np.maximum(extents[a, EXTENT_SLACK], extents[b, EXTENT_SLACK])
    drawn: Ints = np.flatnonzero(
        (shared[:, 0] < shared[:, 1]) & (shared[:, 2] < shared[:, 3]) & (first - last <= 2.0 * slack)
    ).astype(np.int32)
    shared, depth = shared[drawn], 0.5 * first[drawn] + 0.5 * last[drawn]
    regions, sizes = lattice.regions(shared, depth, slack[drawn])
    least: Floats = sizes.astype(np.float64) * (settings.accuracy / MOST_RESOLUTION)
    refuse_large_pictures(settings.accuracy, sizes, least, drawn, pairs, frame)
    refuse_rounding(settings.accuracy, slack[drawn], drawn, pairs, frame)
    views = lay_out(pairs, frame, drawn, regions, sizes.astype(np.int32))
    a, b = a[drawn], b[drawn]
    maps = _Maps(lattice, covered_rectangles(len(bodies), a, b, shared), bodies, frame, shapes)
    return views, maps.compare(views, a, b, shared, depth, row_mode, software, frame.workers)


def covered_rectangles(count: int, a: Longs, b: Longs, shared: Longs) -> Longs:
    """(count, 4) the rectangle of each body about those of all its pairs.

    Pair k is (a[k], b[k]) with the rectangle shared (k, 4). Empty for bodies without pairs.
    """
    rectangles = np.zeros((count, 4), np.int64)
    for role in (a, b):
        rectangles[role] = shared  # any one of them, to begin with
    for role in (a, b):
        for k in range(4):
            (np.maximum if k % 2 else np.minimum).at(rectangles[:, k], role, shared[:, k])
    return rectangles


def _room_for(count: int) -> Floats:
    """Return room for `count` numbers, reused: fresh memory costs as much as drawing."""
    room: Floats | None = _KEPT.__dict__.get("room")
    if room is None or len(room) < count:
        room = np.empty(count)
        if room.nbytes <= KEPT_BYTES:
            _KEPT.room = room
    return room[:count]


class _Maps:
    """Near and far depths of bodies, map after map, and the place of each."""

    def __init__(self, lattice: PixelLattice, rectangles: Longs, bodies: Ints, frame: Frame, shapes: ShapesOfBodies) -> None:
        self._shapes, self._rectangles = shapes, rectangles
        side = longer_sides(rectangles)
        self._place, total = np.full(len(bodies), NO_MAP, np.int64), 0
        for row in np.flatnonzero(side).tolist():
            if side[row] <= MOST_RESOLUTION and total + int(side[row]) ** 2 <= MOST_SHARED_PIXELS:
                self._place[row] = total
                total += int(side[row]) ** 2
        rows = np.flatnonzero(self._place != NO_MAP)
        regions, sizes = lattice.regions(rectangles[rows], np.zeros(len(rows)), lattice.extents[rows, EXTENT_SLACK])
        own = bodies[rows]
        views = lay_out(CandidatePairs(own, own), frame, np.arange(len(rows), dtype=np.int32), regions, sizes.astype(np.int32))
        maps = _room_for(2 * total)
        self._near, self._far = maps[:total], maps[total:]
        self._side, self.pixels = side, total
        own, to_tile, pixels, place = (read_only_view(each) for each in (own, views.to_tile, views.size, self._place[rows]))
        scratch = scratch_for_drawing()

        def step(state: Longs, operations: int) -> tuple[bool, int]:
            used = draw_bodies(own, to_tile, pixels, place, shapes.addresses, operations, state, self._near, self._far, scratch)
            return bool(view_comparison(state).next == len(rows)), max(1, int(used))

        run_in_slices(step, np.zeros(4, np.int64), FIRST_SLICE)

    def compare(
        self, views: Views, a: Longs, b: Longs, shared: Longs, depth: Floats, row_mode: int, software: SoftwareRenderer,
        workers: int | None,
    ) -> Pixels:  # fmt: skip
        """Return the colliding pixels of views of bodies in rows a and b (k,).

        shared (k,4) are their rectangles, depth (k,) the depths that results are relative to.
        """
        convex = self._shapes.convex[views.body_a] & self._shapes.convex[views.body_b]
        unsure = np.zeros(len(a), np.uint8)
        pairs = SharedPairs(a, b, shared, depth, convex)
        maps = BodyMaps(self._place, self._side, self._rectangles, self._near, self._far)
        numbers, depths = np.empty((2, 64), np.int32), np.empty((2, 64))

        def step(state: Longs, operations: int) -> tuple[bool, int]:
            nonlocal numbers, depths
            used = compare_maps(pairs, maps, row_mode, operations, state, unsure, numbers, depths)
            comparison = view_comparison(state)
            if comparison.full:
                comparison.full = 0
                numbers = np.concatenate([numbers, np.empty_like(numbers)], axis=1)
                depths = np.concatenate([depths, np.empty_like(depths)], axis=1)
            return bool(comparison.next == len(a)), max(1, int(used))

        state = np.zeros(4, np.int64)
        run_in_slices(step, state, FIRST_SLICE)
        rows, drawn = int(view_comparison(state).rows), self.pixels + int(view_comparison(state).drawn)
        (view, pixel), (low, high) = numbers[:, :rows].copy(), depths[:, :rows].copy()
        found = Pixels(view, pixel, low, high, drawn)
        left = np.flatnonzero(unsure)
        if len(left) and not (row_mode == ONE and rows):
            others = software.colliding_pixels(views.select(left), INTERVAL, row_mode, workers)
            found = merged(found, others._replace(view=left[others.view].astype(np.int32)))
            found = found._replace(drawn=drawn + others.drawn)
        return found


class SharedPairs(NamedTuple):
    """Body pairs on a lattice: rows of their maps, rectangles, depths, convexity."""

    a: Longs
    b: Longs
    shared: Longs  # (n, 4)
    depth: Floats
    convex: Bools


class BodyMaps(NamedTuple):
    """Maps of bodies: first number in near and far, pixels on a side, rectangle."""

    place: Longs
    side: Longs
    rectangles: Longs  # (n, 4)
    near: Floats
    far: Floats


@kernel
def place_on_lattice(bodies: Ints, addresses: Addresses, poses: Floats, axes: ViewFrame, origin: Vec3, extents: Floats) -> float:
    """Write extents (n, EXTENTS) of bodies (n,) about the origin; return the slack."""
    shapes, reach, translation, local = open_shapes(addresses), 0.0, 0.0, 0.0
    for k in range(bodies.shape[0]):
        body = as_int64(bodies[k])
        found = extents_over(seen_body(mesh_of_body(shapes, body), poses[body], axes, origin), everywhere())
        lower, upper = found.lower, found.upper
        extents[k, EXTENT_X], extents[k, EXTENT_X + 1] = lower.x, upper.x
        extents[k, EXTENT_Y], extents[k, EXTENT_Y + 1] = lower.y, upper.y
        extents[k, EXTENT_Z], extents[k, EXTENT_Z + 1] = lower.z, upper.z
        reach = max(reach, abs(lower.x), abs(upper.x), abs(lower.y), abs(upper.y))
        lengths = lengths_of(poses[body], box_of_body(shapes, body))
        translation, local = max(translation, lengths.translation), max(local, lengths.local)
    return slack_of(translation + local, reach)


@kernel
def draw_bodies(
    bodies: Ints, to_tile: Floats, sizes: Ints, place: Longs, addresses: Addresses, operations: int, state: Longs, near: Floats,
    far: Floats, scratch: Floats,
) -> int:  # fmt: skip
    """Draw the maps of bodies (n,) from where `state` stands; return operations used.

    The map of body k begins at place[k] in flat near and far.
    """
    shapes, drawing, used = open_shapes(addresses), view_comparison(state), 0
    while drawing.next < bodies.shape[0] and used < operations:
        k = as_int64(drawing.next)
        size, first = as_int64(sizes[k]), place[k]
        pixels = size * size
        for i in range(first, first + pixels):
            near[i], far[i] = math.inf, -math.inf
        body = DrawnBody(mesh_of_body(shapes, as_int64(bodies[k])), view_from(to_tile[k, 0]), size)
        map_near, map_far = near[first : first + pixels].reshape((size, size)), far[first : first + pixels].reshape((size, size))
        used += pixels + draw_near_and_far(body, map_near, map_far, scratch)
        drawing.next = k + 1
    return used


@kernel
def compare_maps(
    pairs: SharedPairs, maps: BodyMaps, row_mode: int, operations: int, state: Longs, unsure: NDArray[np.uint8], numbers: Ints,
    depths: Floats,
) -> int:  # fmt: skip
    """Compare the maps of pairs from where `state` stands; return the pixels compared.

    Colliding pixels of convex pairs are written into numbers and depths (2,rows); `unsure` (n,) is set to 1 where other pairs
    overlap, or where a body has no map. It returns early without room for more rows (`full`).
    """
    comparison, used, count = view_comparison(state), 0, pairs.a.shape[0]
    place, rectangle = maps.place, pairs.shared
    while comparison.next < count and used < operations:
        k, rows = as_int64(comparison.next), as_int64(comparison.rows)
        if place[pairs.a[k]] == NO_MAP or place[pairs.b[k]] == NO_MAP:
            unsure[k] = 1
            comparison.next = k + 1
            continue
        found = compare_pair(pairs, maps, k, row_mode == ALL, rows, numbers, depths)
        if found == NO_ROOM:
            comparison.full = 1
            return used
        if found == UNSURE:
            unsure[k], found = 1, 0
        pixels = (rectangle[k, 1] - rectangle[k, 0]) * (rectangle[k, 3] - rectangle[k, 2])
        used += pixels
        comparison.drawn += pixels
        comparison.rows = rows + found
        comparison.next = count if row_mode == ONE and found > 0 else k + 1
    return used


@kernel
def compare_pair(pairs: SharedPairs, maps: BodyMaps, k: int, every: bool, rows: int, numbers: Ints, depths: Floats) -> int:
    """Compare the maps of a pair; write and count its colliding pixels.

    Rows are written from `rows` on. UNSURE where depths of a pair that is not convex overlap, NO_ROOM without rows enough.
    """
    near, far, depth, convex = maps.near, maps.far, pairs.depth[k], pairs.convex[k]
    left, right, bottom, top = pairs.shared[k, 0], pairs.shared[k, 1], pairs.shared[k, 2], pairs.shared[k, 3]
    size, first = max(right - left, top - bottom), rows
    for y in range(bottom, top):
        at_a, at_b = row_of_map(maps, pairs.a[k], y), row_of_map(maps, pairs.b[k], y)
        for x in range(left, right):
            low, high = max(near[at_a + x], near[at_b + x]), min(far[at_a + x], far[at_b + x])
            if low > high:
                continue
            if not convex:
                return UNSURE
            if rows == numbers.shape[1]:
                return NO_ROOM
            numbers[0, rows], numbers[1, rows] = k, (y - bottom) * size + (x - left)
            depths[0, rows], depths[1, rows] = low - depth, high - depth
            rows += 1
            if not every:
                return rows - first
    return rows - first


@kernel(forceinline=True)
def row_of_map(maps: BodyMaps, body: int, y: int) -> int:
    """Return where pixel 0 of row y of the lattice would be in the map of a body."""
    return as_int64(maps.place[body] + (y - maps.rectangles[body, 2]) * maps.side[body] - maps.rectangles[body, 0])

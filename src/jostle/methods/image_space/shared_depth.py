"""Depth maps that all pairs of a body share (`share_depth=True`): Fig. 4, lines 9 and 10, of Baciu, Wong and Sun.

The paper draws A's far depths once, and uses them for every pair that A is in, since all pairs are seen along one axis in one
viewport. So here: one lattice of pixels for the whole frame, its origin at the middle of the bodies, along x, y or z. Each body is
drawn once, near and far, over the part of the lattice that its pairs look at; a pair only compares the two maps where its
rectangles overlap.
Pixels are squares with half a diagonal of `accuracy`, so the guarantee is that of pictures of pairs with that accuracy.

Where one of the bodies is concave the maps only tell where to look: such pairs are drawn again, in layers, if near and far
depths overlap anywhere. So are those of bodies whose maps would be too large; their tiles lie on the lattice all the same.
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jostle.broad_phase.volumes import CandidatePairs
from jostle.errors import InputError
from jostle.frame import Floats, Frame, Ints
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import KEPT_BYTES
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.methods.image_space.regions import (
    HEIGHT,
    LOWER,
    MIDDLE,
    MOST_RESOLUTION,
    REGION,
    SLACK,
    UPPER,
    WIDTH,
    ShapesOfBodies,
    Views,
    extents_over,
    lay_out,
    lengths_of,
    refuse_large_pictures,
    refuse_rounding,
    slack_of,
)
from jostle.methods.image_space.software import ALL, INTERVAL, ONE, Pixels, SoftwareRenderer
from jostle.methods.image_space.view_direction import CENTRE, HALF, MODES, array_of, frame_of_direction
from jostle.render.depth_maps import draw_near_and_far
from jostle.render.spans import scratch_for_drawing

if TYPE_CHECKING:
    from jostle.methods.image_space.method import ImageSpace

Longs = NDArray[np.int64]

MOST_SHARED_PIXELS = 1 << 24  # of all maps of a frame: 256 MB; bodies beyond that are drawn pair by pair
FIRST_SLICE = 2_000_000  # faces and pixels: about 10 ms
INSIDE = 1.0 - 2.0**-40  # of the accuracy: so that rounding leaves no pixel larger
MOST_ACROSS = 2.0**40  # pixels from the middle of the lattice: numbers of pixels stay exact

NO_MAP = -1
_KEPT = threading.local()
# Columns of extents: x, y and z of a body on the lattice, in world units; then its slack.
EXTENTS = 7
# Entries of the state of drawing and of comparing.
NEXT, ROWS, DRAWN, FULL, STATE = 0, 1, 2, 3, 4


class Lattice:
    """Pixels for all bodies of a frame: a frame of view, a world point in the middle, and the width of a pixel."""

    def __init__(self, frame: Frame, bodies: Ints, shapes: ShapesOfBodies, view: str, accuracy: float) -> None:
        self.accuracy, self.pixel = accuracy, accuracy * math.sqrt(2.0) * INSIDE
        axis = MODES[view]
        self.axes = np.array(frame_of_direction(*(1.0 if k == axis else 0.0 for k in range(3))))
        self.middle, self.extents = np.empty(3), np.empty((len(bodies), EXTENTS))
        place_on_lattice(
            read_only_view(bodies), shapes.shape_of_body, shapes.table.table, read_only_view(frame.poses), self.axes, self.middle,
            self.extents,
        )  # fmt: skip

    def rectangles(self) -> Longs:
        """(n, 4) first and end pixel along x and along y of each body."""
        across = self.extents[:, :4].reshape(-1, 2, 2) + self.extents[:, 6, None, None] * np.array([-1.0, 1.0])
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
        """Return rows (k, REGION) and sizes (k,) of square tiles over rectangles (k, 4), their middles at a depth (k,)."""
        size = longer_sides(rectangles)
        regions = np.empty((len(size), REGION))
        regions[:, :9] = self.axes
        places = [(rectangles[:, 2 * k] + 0.5 * size) * self.pixel for k in range(2)]
        for k, place in enumerate((*places, depth)):
            # Axes of the world: only one entry of three is not 0, and nothing else is rounded.
            regions[:, MIDDLE + int(np.argmax(self.axes[3 * k : 3 * k + 3]))] = place
        regions[:, MIDDLE : MIDDLE + 3] += self.middle
        regions[:, WIDTH] = regions[:, HEIGHT] = 0.5 * self.pixel * size
        regions[:, SLACK] = slack
        return regions, size


def longer_sides(rectangles: Longs) -> Longs:
    """(k,) pixels along the longer side of rectangles (k, 4)."""
    sides: Longs = np.maximum(rectangles[:, 1] - rectangles[:, 0], rectangles[:, 3] - rectangles[:, 2])
    return sides


def decide_on_shared_maps(
    pairs: CandidatePairs, frame: Frame, shapes: ShapesOfBodies, settings: ImageSpace, wanted: int, software: SoftwareRenderer
) -> tuple[Views, Pixels]:
    """Draw each body once and compare the maps of each pair.

    Parameters
    ----------
    pairs : CandidatePairs
        Sorted, as `candidates.py` gives them.
    frame : Frame
    shapes : ShapesOfBodies
    settings : ImageSpace
        With an accuracy, and view "x", "y" or "z".
    wanted : int
        ALL colliding pixels, ONE_PER_PAIR, or ONE (`software.py`).
    software : SoftwareRenderer
        Draws pairs that maps do not decide.

    Returns
    -------
    views : Views
        One for each pair whose rectangles and depths overlap; its tile is a square of the lattice.
    pixels : Pixels
        Those that collide, in these views.
    """
    assert settings.accuracy is not None
    bodies = np.unique(np.concatenate([pairs.body_a, pairs.body_b])).astype(np.int32)
    lattice = Lattice(frame, bodies, shapes, settings.view, settings.accuracy)
    rectangles, extents = lattice.rectangles(), lattice.extents
    a, b = np.searchsorted(bodies, pairs.body_a), np.searchsorted(bodies, pairs.body_b)
    shared = np.empty((len(a), 4), np.int64)
    shared[:, ::2] = np.maximum(rectangles[a, ::2], rectangles[b, ::2])
    shared[:, 1::2] = np.minimum(rectangles[a, 1::2], rectangles[b, 1::2])
    first, last = np.maximum(extents[a, 4], extents[b, 4]), np.minimum(extents[a, 5], extents[b, 5])
    slack = np.maximum(extents[a, 6], extents[b, 6])
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
    maps = _Maps(lattice, looked_at(len(bodies), a, b, shared), bodies, frame, shapes)
    return views, maps.compare(views, a, b, shared, depth, wanted, software, frame.workers)


def looked_at(count: int, a: Longs, b: Longs, shared: Longs) -> Longs:
    """(count, 4) the rectangle of each body that holds those of all its pairs (a[k], b[k]), shared (k, 4); empty without any."""
    rectangles = np.zeros((count, 4), np.int64)
    for role in (a, b):
        rectangles[role] = shared  # any one of them, to begin with
    for role in (a, b):
        for k in range(4):
            (np.maximum if k % 2 else np.minimum).at(rectangles[:, k], role, shared[:, k])
    return rectangles


def _room_for(count: int) -> Floats:
    """Return room for so many numbers, that of the last frame where it is large enough: fresh memory costs as much as drawing."""
    room: Floats | None = _KEPT.__dict__.get("room")
    if room is None or len(room) < count:
        room = np.empty(count)
        if room.nbytes <= KEPT_BYTES:
            _KEPT.room = room
    return room[:count]


class _Maps:
    """Near and far depths of bodies, one map after another, and where each map is."""

    def __init__(self, lattice: Lattice, rectangles: Longs, bodies: Ints, frame: Frame, shapes: ShapesOfBodies) -> None:
        self._shapes, self._rectangles = shapes, rectangles
        side = longer_sides(rectangles)
        self._place, total = np.full(len(bodies), NO_MAP, np.int64), 0
        for row in np.flatnonzero(side).tolist():
            if side[row] <= MOST_RESOLUTION and total + int(side[row]) ** 2 <= MOST_SHARED_PIXELS:
                self._place[row] = total
                total += int(side[row]) ** 2
        rows = np.flatnonzero(self._place != NO_MAP)
        regions, sizes = lattice.regions(rectangles[rows], np.zeros(len(rows)), lattice.extents[rows, 6])
        own = bodies[rows]
        views = lay_out(CandidatePairs(own, own), frame, np.arange(len(rows), dtype=np.int32), regions, sizes.astype(np.int32))
        maps = _room_for(2 * total)
        self._near, self._far = maps[:total], maps[total:]
        self._side, self.pixels = side, total
        own, to_tile, sizes, place = (read_only_view(each) for each in (own, views.to_tile, views.size, self._place[rows]))
        scratch = scratch_for_drawing()

        def step(state: Longs, operations: int) -> tuple[bool, int]:
            used = draw_bodies(
                own, to_tile, sizes, place, shapes.shape_of_body, shapes.table.table, operations, state, self._near, self._far,
                scratch,
            )  # fmt: skip
            return bool(state[NEXT] == len(rows)), max(1, int(used))

        run_in_slices(step, np.zeros(STATE, np.int64), FIRST_SLICE)

    def compare(
        self, views: Views, a: Longs, b: Longs, shared: Longs, depth: Floats, wanted: int, software: SoftwareRenderer,
        workers: int | None,
    ) -> Pixels:  # fmt: skip
        """Return the colliding pixels of views of bodies in rows a and b (k,), over rectangles (k,4), about depths (k,)."""
        convex = self._shapes.convex[views.body_a] & self._shapes.convex[views.body_b]
        unsure = np.zeros(len(a), np.uint8)
        numbers, depths = np.empty((2, 64), np.int32), np.empty((2, 64))

        def step(state: Longs, operations: int) -> tuple[bool, int]:
            nonlocal numbers, depths
            used = compare_maps(
                a, b, shared, depth, convex, self._place, self._side, self._rectangles, self._near, self._far, wanted, operations,
                state, unsure, numbers, depths,
            )  # fmt: skip
            if state[FULL]:
                state[FULL] = 0
                numbers = np.concatenate([numbers, np.empty_like(numbers)], axis=1)
                depths = np.concatenate([depths, np.empty_like(depths)], axis=1)
            return bool(state[NEXT] == len(a)), max(1, int(used))

        state = np.zeros(STATE, np.int64)
        run_in_slices(step, state, FIRST_SLICE)
        rows = int(state[ROWS])
        columns: list[NDArray[Any]] = [
            numbers[0, :rows].copy(),
            numbers[1, :rows].copy(),
            depths[0, :rows].copy(),
            depths[1, :rows].copy(),
        ]
        drawn = self.pixels + int(state[DRAWN])
        left = np.flatnonzero(unsure)
        if len(left) and not (wanted == ONE and rows):
            others = software.look(views.select(left), INTERVAL, wanted, workers)
            drawn += others.drawn
            added: tuple[NDArray[Any], ...] = (left[others.view].astype(np.int32), others.pixel, others.low, others.high)
            columns = [np.concatenate([one, two]) for one, two in zip(columns, added, strict=True)]
            order = np.lexsort((columns[1], columns[0]))
            columns = [column[order] for column in columns]
        return Pixels(columns[0], columns[1], columns[2], columns[3], drawn)


@kernel
def place_on_lattice(bodies, shape_of_body, addresses, poses, axes, middle, extents):  # type: ignore[no-untyped-def]
    """Write the middle (3,) of the places of bodies (n,), and extents (n, EXTENTS) of each about it along the rows of axes (9,)."""
    lowest, highest = np.full(3, math.inf), np.full(3, -math.inf)
    t, v, reach = 0.0, 0.0, 0.0
    for k in range(bodies.shape[0]):
        body, row = bodies[k], shape_of_body[bodies[k]]
        t_k, v_k = lengths_of(poses[body], array_of(addresses, row, LOWER), array_of(addresses, row, UPPER))
        t, v = max(t, t_k), max(v, v_k)
        for m in range(3):
            lowest[m], highest[m] = min(lowest[m], poses[body, m, 3]), max(highest[m], poses[body, m, 3])
    for m in range(3):
        middle[m] = 0.5 * lowest[m] + 0.5 * highest[m] if bodies.shape[0] > 0 else 0.0
    for k in range(bodies.shape[0]):
        body, row = bodies[k], shape_of_body[bodies[k]]
        found = extents_over(
            array_of(addresses, row, CENTRE), array_of(addresses, row, HALF), poses[body], axes, middle[0], middle[1], middle[2],
            -math.inf, math.inf, -math.inf, math.inf,
        )  # fmt: skip
        for m in range(6):
            extents[k, m] = found[m]
        reach = max(reach, abs(found[0]), abs(found[1]), abs(found[2]), abs(found[3]))
    for k in range(bodies.shape[0]):
        extents[k, 6] = slack_of(t + v, reach)


@kernel
def draw_bodies(  # type: ignore[no-untyped-def]
    bodies, to_tile, sizes, place, shape_of_body, table, operations, state, near, far, scratch
):
    """Draw the maps of bodies (n,) from state[NEXT] on, each from place[k] on in near and far (flat); returns operations used."""
    used = 0
    k = state[NEXT]
    while k < bodies.shape[0] and used < operations:
        size = int(sizes[k])
        first, pixels = place[k], size * size
        for i in range(first, first + pixels):
            near[i], far[i] = math.inf, -math.inf
        used += pixels + draw_near_and_far(
            table, int(shape_of_body[bodies[k]]), to_tile[k, 0], size,
            near[first : first + pixels].reshape((size, size)), far[first : first + pixels].reshape((size, size)), scratch,
        )  # fmt: skip
        k += 1
    state[NEXT] = k
    return used


@kernel
def compare_maps(  # type: ignore[no-untyped-def]
    a, b, shared, depth, convex, place, side, rectangles, near, far, wanted, operations, state, unsure, numbers, depths
):
    """Compare the maps of pairs (a[k], b[k]) over rectangles shared (n,4), from state[NEXT] on; returns the pixels looked at.

    Colliding pixels of convex pairs are written into numbers and depths (2,rows), from state[ROWS] on; `unsure` (n,) is set to 1
    where other pairs overlap, or where a body has no map. It returns early where there is no room for more rows (state[FULL]).
    """
    used = 0
    k = state[NEXT]
    while k < a.shape[0] and used < operations:
        left, right, bottom, top = shared[k, 0], shared[k, 1], shared[k, 2], shared[k, 3]
        i, j = a[k], b[k]
        if place[i] == NO_MAP or place[j] == NO_MAP:
            unsure[k] = 1
        else:
            size, rows, decided = max(right - left, top - bottom), state[ROWS], False
            for y in range(bottom, top):
                at_a = place[i] + (y - rectangles[i, 2]) * side[i] - rectangles[i, 0]
                at_b = place[j] + (y - rectangles[j, 2]) * side[j] - rectangles[j, 0]
                for x in range(left, right):
                    low, high = max(near[at_a + x], near[at_b + x]), min(far[at_a + x], far[at_b + x])
                    if low > high:
                        continue
                    if not convex[k]:
                        unsure[k] = 1
                    elif rows == numbers.shape[1]:
                        state[NEXT], state[FULL] = k, 1
                        return used
                    else:
                        numbers[0, rows], numbers[1, rows] = k, (y - bottom) * size + (x - left)
                        depths[0, rows], depths[1, rows] = low - depth[k], high - depth[k]
                        rows += 1
                    decided = not convex[k] or wanted != ALL
                    if decided:
                        break
                if decided:
                    break
            used += (right - left) * (top - bottom)
            state[DRAWN] += (right - left) * (top - bottom)
            if wanted == ONE and rows > state[ROWS]:
                k = a.shape[0] - 1
            state[ROWS] = rows
        k += 1
    state[NEXT] = k
    return used

"""The minimal overlapping region of a pair and its viewport: MOR(A, B) of Baciu, Wong and Sun, Fig. 3 line 2, Fig. 4 lines 2 to 4.

A *view* projects the region orthographically onto a tile of size × size pixels. The paper takes the region from the aligned boxes
of both bodies; here it is that of the boxes of their patches (`render/patches.py`), which fit more tightly: first the extents of
all patches, then those of patches that lie, in part, over the region that is left. Depths are bounded by the same patches, since
every point of a solid has surface of its own before and behind it in its column; pairs that are apart along any of the three
directions, or whose vertices are along the direction of view, need no picture.

Guarantee: what both solids have in common lies inside of the tile, and `slack` bounds how far the tile coordinates of a vertex,
computed in float64 from `to_tile` in any order of summing, are from the exact image of its world vertex (`geometry/rigid.py`).
`slack_of` has the proof. Poses need not be quite orthonormal, and bodies may be far from the origin: then the slack is large.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle.broad_phase.volumes import CandidatePairs
from jostle.errors import InputError
from jostle.frame import Bools, Floats, Frame, Ints
from jostle.geometry.rigid import rigid_coordinate
from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.slices import run_in_slices
from jostle.methods.image_space.view_direction import (
    APART_ALONG,
    APART_IN_COLUMNS,
    AXES,
    CENTRE,
    CENTRES,
    DIRECTION,
    HALF,
    MEETING,
    MODES,
    SEPARATING,
    X,
    Y,
    Z,
    apart_along,
    array_of,
    extent_of_patch,
    frame_of_direction,
    line_of_centres,
    row_of_view,
    vertices_apart,
)
from jostle.pair_memory import PairMemory

if TYPE_CHECKING:
    from jostle.methods.image_space.method import ImageSpace
    from jostle.methods.image_space.shape import ImageShape

FIRST_SLICE = 1_000_000  # patches that are looked at: about 10 ms
ROUNDING = 2.0**-46
FLOOR = 1e-28  # beyond what snapping to zero moves, and more than nothing for bodies that are nothing but a point
NARROWEST = 2.0**-12  # of the smaller body's extent: a region is at least so wide
MOST_RESOLUTION = 2048  # pixels along a side of a tile
ROUNDINGS = 10.0  # times the slack, of an accuracy: 4√2 across the view, 4 along it
LEAST_OF_BUDGET, MOST_OF_BUDGET = 8, 1024

# Columns of the table of shapes after those that are drawn: an address and a length for each array.
LOWER, UPPER = 12, 14
# A row of regions: the frame (9), the centre in the world (3), half width and half height, slack in world units.
MIDDLE, WIDTH, HEIGHT, SLACK, REGION = 9, 12, 13, 14, 15
# Entries of the state of a search for regions.
NEXT_PAIR, FOUND, STATE = 0, 1, 2


class Views(NamedTuple):
    """Views of pairs of bodies, n of them; pixels and depths as `render/` has them."""

    pair: Ints  # (n,) row of the candidate pairs, ascending; up to three in a row for one pair, the best first
    body_a: Ints  # (n,)
    body_b: Ints  # (n,)
    to_tile: Floats  # (n, 2, 12) rows of the 3×4 matrices from A's and from B's body coordinates to tile x, y, z
    to_world: Floats  # (n, 12) rows of the 3×4 matrix from tile to world
    size: Ints  # (n,) pixels along each side
    pixel: Floats  # (n, 2) width and height of a pixel in world units
    direction: Floats  # (n, 3) unit, world, into the picture
    slack: Floats  # (n, 2) what tile coordinates may be off by, in pixels and in depth

    def select(self, chosen: NDArray[Any]) -> Views:
        """Return some of the views."""
        return Views(*(column[chosen] for column in self))


class ShapesOfBodies:
    """The shapes of all bodies as kernels see them: a table with a row for each distinct shape.

    Its columns are the arrays that `render/` takes (`render.patches.patch_arrays`), then `lower` and `upper`. Shapes that change
    in place are followed without being told of it.
    """

    def __init__(self, shapes: Sequence[ImageShape]) -> None:
        distinct = list({id(shape): shape for shape in shapes}.values())
        number = {id(shape): k for k, shape in enumerate(distinct)}
        self.shapes = tuple(shapes)
        self.shape_of_body: Ints = np.array([number[id(shape)] for shape in shapes], np.int32)
        self.convex: Bools = np.array([bool(shape.convex) for shape in shapes], bool)
        self.table = AddressTable([_arrays_of(shape) for shape in distinct])


def _arrays_of(shape: ImageShape) -> list[NDArray[Any]]:
    drawn = (shape.points, shape.corners, shape.first_point, shape.first_face, shape.centre, shape.half)
    return [*drawn, shape.lower, shape.upper]


def views_of(
    pairs: CandidatePairs, frame: Frame, shapes: ShapesOfBodies, settings: ImageSpace, memory: PairMemory | None = None
) -> Views:
    """Return the views of those pairs that need a picture.

    Parameters
    ----------
    pairs : CandidatePairs
        Sorted, as `candidates.py` gives them.
    frame : Frame
    shapes : ShapesOfBodies
    settings : ImageSpace
        Its view, resolution, accuracy, pixels and conservative.
    memory : PairMemory of width DIRECTION, optional
        For view="separating": the direction that last separated each pair; brought up to date by what is seen apart without a
        picture. `view_direction.remember_separations` does so after the pictures.

    Raises
    ------
    InputError
        An accuracy that needs more than `MOST_RESOLUTION` pixels along a side.
    """
    numbers, regions = regions_of(pairs, frame, shapes, settings.view, memory)
    if settings.accuracy is None:
        sizes = np.full(len(numbers), _resolution(len(numbers), settings), np.int32)
    else:
        # Half of a pixel's diagonal; the whole of it where whole pixels are compared.
        across = np.hypot(regions[:, WIDTH], regions[:, HEIGHT]) * (2.0 if settings.conservative else 1.0)
        sizes = sizes_for_accuracy(settings.accuracy, across * settings.wider, regions[:, SLACK], numbers, pairs, frame)
    return lay_out(pairs, frame, numbers, regions, sizes)


def regions_of(
    pairs: CandidatePairs, frame: Frame, shapes: ShapesOfBodies, view: str, memory: PairMemory | None = None
) -> tuple[Ints, Floats]:
    """Return the numbers (n,) of the pairs that need a picture, up to three times each, and their regions (n, REGION)."""
    mode, count = MODES[view], len(pairs.body_a)
    kept = memory if mode == SEPARATING else None
    directions = np.full((count, DIRECTION), np.nan) if kept is None else kept.recall(pairs)
    most = 3 * count if mode == AXES else count
    numbers, regions = np.empty(most, np.int32), np.empty((most, REGION))
    body_a, body_b, poses = read_only_view(pairs.body_a), read_only_view(pairs.body_b), read_only_view(frame.poses)

    def step(state: NDArray[np.int64], operations: int) -> tuple[bool, int]:
        used = find_regions(
            body_a, body_b, shapes.shape_of_body, shapes.table.table, poses, mode, directions, operations, state, numbers, regions
        )
        return bool(state[NEXT_PAIR] == count), max(1, int(used))

    state = np.zeros(STATE, np.int64)
    run_in_slices(step, state, FIRST_SLICE)
    if kept is not None:
        kept.remember(pairs, directions)
    found = int(state[FOUND])
    return numbers[:found], regions[:found]


def _resolution(count: int, settings: ImageSpace) -> int:
    """Return the pixels along a side of each of so many views: as many as are asked for, or an equal share of a budget."""
    if settings.pixels is None:
        return settings.resolution
    return min(max(math.isqrt(settings.pixels // max(1, count)), LEAST_OF_BUDGET), MOST_OF_BUDGET)


def sizes_for_accuracy(accuracy: float, across: Floats, slack: Floats, numbers: Ints, pairs: CandidatePairs, frame: Frame) -> Ints:
    """Return the pixels (n,) along a side for an accuracy, where one pixel has that of across (n,), both in world units.

    What rounding adds is left out of the pixels: two points in one pixel, whose tile coordinates are off by twice the slack (n,)
    each, are nearer than the diagonal and ROUNDINGS times the slack.

    Raises
    ------
    InputError
        One of the pairs (n,) of a frame would need a picture of more than MOST_RESOLUTION pixels along a side, or its bodies are
        so far from the origin that rounding is more than the pixels would be.
    """
    rounding = ROUNDINGS * slack
    with np.errstate(over="ignore", divide="ignore"):
        sizes = np.maximum(np.ceil(across / np.maximum(accuracy - rounding, 0.5 * accuracy) * (1.0 + 2.0**-40)), 1.0)
    least = np.maximum(across / MOST_RESOLUTION + rounding, 2.0 * rounding)
    refuse_large_pictures(accuracy, sizes, least, numbers, pairs, frame)
    refuse_rounding(accuracy, slack, numbers, pairs, frame)
    return sizes.astype(np.int32)


def refuse_large_pictures(
    accuracy: float, sizes: NDArray[Any], least: Floats, numbers: Ints, pairs: CandidatePairs, frame: Frame
) -> None:
    """Raise where one of the pairs (n,) needs more than MOST_RESOLUTION pixels along a side; accuracies of least (n,) do not."""
    if sizes.max(initial=0) > MOST_RESOLUTION:
        worst = int(least.argmax())
        bodies = names_of(int(numbers[worst]), pairs, frame)
        raise InputError(
            f"ImageSpace: accuracy is {accuracy:g}, for which bodies {bodies} need a picture of {sizes[worst]:.7g} pixels along a "
            f"side, more than {MOST_RESOLUTION}; pass accuracy={1.01 * least[worst]:.3g} or more, or resolution=… instead"
        )


def refuse_rounding(accuracy: float, slack: Floats, numbers: Ints, pairs: CandidatePairs, frame: Frame) -> None:
    """Raise where an accuracy leaves less than half of itself for the pixels of one of the pairs (n,), with its slack (n,)."""
    if 2.0 * ROUNDINGS * slack.max(initial=0.0) > accuracy:
        worst = int(slack.argmax())
        bodies, least = names_of(int(numbers[worst]), pairs, frame), 2.02 * ROUNDINGS * float(slack[worst])
        raise InputError(
            f"ImageSpace: accuracy is {accuracy:g}, and coordinates of bodies {bodies} are so large that rounding may take half of "
            f"it; pass accuracy={least:.3g} or more, or move all bodies nearer to the origin"
        )


def names_of(pair: int, pairs: CandidatePairs, frame: Frame) -> str:
    """Return what to call the bodies of a pair in a message."""
    names = frame.bodies.names
    return f"{names[int(pairs.body_a[pair])]!r} and {names[int(pairs.body_b[pair])]!r}"


def lay_out(pairs: CandidatePairs, frame: Frame, numbers: Ints, regions: Floats, sizes: Ints) -> Views:
    """Return views with their matrices."""
    count = len(numbers)
    body_a, body_b = pairs.body_a[numbers], pairs.body_b[numbers]
    to_tile, to_world, pixel, slack = np.empty((count, 2, 12)), np.empty((count, 12)), np.empty((count, 2)), np.empty((count, 2))
    lay_out_tiles(
        read_only_view(body_a), read_only_view(body_b), read_only_view(frame.poses), read_only_view(sizes), read_only_view(regions),
        to_tile, to_world, pixel, slack,
    )  # fmt: skip
    return Views(numbers, body_a, body_b, to_tile, to_world, sizes, pixel, regions[:, 6:9].copy(), slack)


@kernel
def slack_of(lengths, side):  # type: ignore[no-untyped-def]
    """What rounding may do to a tile coordinate, in world units; `lengths` is T + V, each the larger one of the two bodies.

    T is the largest |entry| of the translation of a pose, V the largest |local coordinate| of a vertex, `side` the longer side of
    the tile. The result is 128 h (T + V + side) + 1e-28, h = 2⁻⁵³.

    Claim: the float64 numbers of a view (rows u, v, d of its frame, its centre c, its scales s and its size n) taken as exact,
    s·u·(w - c) + n/2 for a world vertex w, and what a kernel computes from the body's vertex by `to_tile`, differ by at most s
    times this; along d, where nothing is scaled, by this. Proof, to first order in h, for rows of Euclidean length 1 (those of
    poses and frames are, within 1e-5, for which 128 has room), whose entries sum to √3 at most: the world vertex is off by 3√3 hV +
    h(T + √3 V) per coordinate, along u by (1.8 T + 12.1 V)h. The centre lies within the extents of A's box along u, v and d, so
    within 3V of the box's middle: |c| ≤ T + 4.8 V per coordinate, and |u|·|t - c| ≤ 3.5 T + 8.3 V =: τ for the translation t. An
    entry of u·R is off by 3h, which costs 9 hV; u·(t - c) by 4hτ; scaling costs 1.8 hV + hτ; adding n/2 h(τ + side/2); four terms
    are summed, in any order, within 4h(1.8 V + τ + side/2). In all (37 T + 115 V + 2.5 side)h. Snapping to zero adds 2e-30.
    Extents are computed in as many steps, and the centre is rounded by (1.8 T + 30 V)h: they are off by no more than this, either.
    """
    return ROUNDING * (lengths + side) + FLOOR


@kernel
def middle_in_world(pose, lower, upper):  # type: ignore[no-untyped-def]
    """The world place (x, y, z) of the middle of a local box."""
    x, y, z = 0.5 * lower[0] + 0.5 * upper[0], 0.5 * lower[1] + 0.5 * upper[1], 0.5 * lower[2] + 0.5 * upper[2]
    return (
        rigid_coordinate(pose[0, 0], pose[0, 1], pose[0, 2], pose[0, 3], x, y, z),
        rigid_coordinate(pose[1, 0], pose[1, 1], pose[1, 2], pose[1, 3], x, y, z),
        rigid_coordinate(pose[2, 0], pose[2, 1], pose[2, 2], pose[2, 3], x, y, z),
    )


@kernel
def lengths_of(pose, lower, upper):  # type: ignore[no-untyped-def]
    """The largest |entry| of the translation and the largest |local coordinate| of a body."""
    t, v = 0.0, 0.0
    for k in range(3):
        t = max(t, abs(pose[k, 3]))
        v = max(v, abs(lower[k]), abs(upper[k]))
    return t, v


@kernel
def extents_over(centre, half, pose, f, ox, oy, oz, left, right, bottom, top):  # type: ignore[no-untyped-def]
    """Extents (x, X, y, Y, z, Z) of those patches of a body that lie over a rectangle, x and y cut to it; x > X where none does.

    centre, half (3k,): boxes of the patches; f: the nine numbers of the view's frame; coordinates are about the world point o.
    """
    x0, x1, x2, x3 = row_of_view(pose, f[0], f[1], f[2], ox, oy, oz)
    y0, y1, y2, y3 = row_of_view(pose, f[3], f[4], f[5], ox, oy, oz)
    z0, z1, z2, z3 = row_of_view(pose, f[6], f[7], f[8], ox, oy, oz)
    lx, ux, ly, uy, lz, uz = math.inf, -math.inf, math.inf, -math.inf, math.inf, -math.inf
    for k in range(centre.shape[0] // 3):
        ax, bx = extent_of_patch(centre, half, k, x0, x1, x2, x3)
        ay, by = extent_of_patch(centre, half, k, y0, y1, y2, y3)
        if ax <= right and left <= bx and ay <= top and bottom <= by:
            az, bz = extent_of_patch(centre, half, k, z0, z1, z2, z3)
            lx, ux = min(lx, ax), max(ux, bx)
            ly, uy = min(ly, ay), max(uy, by)
            lz, uz = min(lz, az), max(uz, bz)
    return max(lx, left), min(ux, right), max(ly, bottom), min(uy, top), lz, uz


@kernel
def region_of_pair(centre_a, half_a, pose_a, centre_b, half_b, pose_b, f, ox, oy, oz, lengths, region):  # type: ignore[no-untyped-def]
    """Write the region of a pair into region (REGION,); returns MEETING, or how it is apart (negative where B comes first)."""
    all_ = math.inf
    ax, bx, ay, by, az, bz = extents_over(centre_a, half_a, pose_a, f, ox, oy, oz, -all_, all_, -all_, all_)
    cx, dx, cy, dy, cz, dz = extents_over(centre_b, half_b, pose_b, f, ox, oy, oz, -all_, all_, -all_, all_)
    wide, high = min(bx - ax, dx - cx), min(by - ay, dy - cy)
    pad = slack_of(lengths, max(wide, high))
    gap = 2.0 * pad  # for A and for B
    apart = apart_along(ax, bx, cx, dx, ay, by, cy, dy, az, bz, cz, dz, gap)
    if apart != MEETING:
        return apart
    left, right, bottom, top = max(ax, cx) - gap, min(bx, dx) + gap, max(ay, cy) - gap, min(by, dy) + gap
    if centre_a.shape[0] > 3 or centre_b.shape[0] > 3:
        # Both over the same rectangle, so that it does not matter which one is called A.
        ax, bx, ay, by, az, bz = extents_over(centre_a, half_a, pose_a, f, ox, oy, oz, left, right, bottom, top)
        cx, dx, cy, dy, cz, dz = extents_over(centre_b, half_b, pose_b, f, ox, oy, oz, left, right, bottom, top)
        left, right, bottom, top = max(ax, cx), min(bx, dx), max(ay, cy), min(by, dy)
        if left - right > gap or bottom - top > gap or max(az, cz) - min(bz, dz) > gap:
            return APART_IN_COLUMNS
    x, y, z = 0.5 * (left + right), 0.5 * (bottom + top), 0.5 * (max(az, cz) + min(bz, dz))
    for k in range(9):
        region[k] = f[k]
    region[MIDDLE] = ox + ((x * f[0] + y * f[3]) + z * f[6])
    region[MIDDLE + 1] = oy + ((x * f[1] + y * f[4]) + z * f[7])
    region[MIDDLE + 2] = oz + ((x * f[2] + y * f[5]) + z * f[8])
    # A region of no width (bodies that touch) is one of few roundings: pixels would be smaller than those.
    region[WIDTH] = max(0.5 * (right - left), 0.5 * NARROWEST * wide) + gap
    region[HEIGHT] = max(0.5 * (top - bottom), 0.5 * NARROWEST * high) + gap
    region[SLACK] = pad
    return MEETING


@kernel
def find_regions(  # type: ignore[no-untyped-def]
    body_a, body_b, shape_of_body, addresses, poses, mode, directions, operations, state, numbers, regions
):
    """Find the regions of pairs from state[NEXT_PAIR] on, for so many operations; returns those used.

    Pairs that need a picture are written into numbers (k,) and regions (k, REGION), from state[FOUND] on; what separates others
    along a direction into directions (pairs, DIRECTION), which are recalled from where the mode is SEPARATING.
    """
    used = 0
    pair, found = state[NEXT_PAIR], state[FOUND]
    f = np.empty(9)
    while pair < body_a.shape[0] and used < operations:
        a, b = np.int64(body_a[pair]), np.int64(body_b[pair])
        row_a, row_b = shape_of_body[a], shape_of_body[b]
        pose_a, pose_b = poses[a], poses[b]
        centre_a, half_a = array_of(addresses, row_a, CENTRE), array_of(addresses, row_a, HALF)
        centre_b, half_b = array_of(addresses, row_b, CENTRE), array_of(addresses, row_b, HALF)
        lower_a, upper_a = array_of(addresses, row_a, LOWER), array_of(addresses, row_a, UPPER)
        lower_b, upper_b = array_of(addresses, row_b, LOWER), array_of(addresses, row_b, UPPER)
        ox, oy, oz = middle_in_world(pose_a, lower_a, upper_a)
        t, v = lengths_of(pose_a, lower_a, upper_a)
        t_b, v_b = lengths_of(pose_b, lower_b, upper_b)
        lengths = max(t, t_b) + max(v, v_b)
        first = found
        for view in range(3 if mode == AXES else 1):
            axis = view if mode == AXES else mode
            x, y, z = 1.0 if axis == X else 0.0, 1.0 if axis == Y else 0.0, 1.0 if axis == Z else 0.0
            if mode == SEPARATING and directions[pair, 0] == directions[pair, 0]:
                x, y, z = directions[pair, 0], directions[pair, 1], directions[pair, 2]
            elif mode in (SEPARATING, CENTRES):
                bx, by, bz = middle_in_world(pose_b, lower_b, upper_b)
                x, y, z = line_of_centres(ox, oy, oz, bx, by, bz, lengths)
            f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8] = frame_of_direction(x, y, z)
            used += (centre_a.shape[0] + centre_b.shape[0]) // 3
            apart = region_of_pair(centre_a, half_a, pose_a, centre_b, half_b, pose_b, f, ox, oy, oz, lengths, regions[found])
            if apart == MEETING:
                apart = vertices_apart(addresses, row_a, pose_a, row_b, pose_b, f, ox, oy, oz, regions[found, SLACK])
            if apart != MEETING:
                if abs(apart) != APART_IN_COLUMNS:
                    sign, m = (1.0 if apart > 0 else -1.0), 3 * (abs(apart) - APART_ALONG)
                    directions[pair, 0], directions[pair, 1], directions[pair, 2] = sign * f[m], sign * f[m + 1], sign * f[m + 2]
                found = first  # apart along one axis of three is apart
                break
            numbers[found] = pair
            found += 1
        if mode == AXES and found > first:
            sort_by_area(regions, first, found)
        pair += 1
    state[NEXT_PAIR], state[FOUND] = pair, found
    return used


@kernel
def sort_by_area(regions, first, last):  # type: ignore[no-untyped-def]
    """Sort rows first … last-1 of regions by area, the smallest first; equal ones stay in order."""
    for i in range(first + 1, last):
        k = i
        while k > first and regions[k, WIDTH] * regions[k, HEIGHT] < regions[k - 1, WIDTH] * regions[k - 1, HEIGHT]:
            for m in range(REGION):
                regions[k, m], regions[k - 1, m] = regions[k - 1, m], regions[k, m]
            k -= 1


@kernel
def lay_out_tiles(body_a, body_b, poses, sizes, regions, to_tile, to_world, pixel, slack):  # type: ignore[no-untyped-def]
    """Write the matrices, pixels and slacks (see `Views`) of n regions, each with its own size."""
    for k in range(sizes.shape[0]):
        half = 0.5 * sizes[k]
        cx, cy, cz = regions[k, MIDDLE], regions[k, MIDDLE + 1], regions[k, MIDDLE + 2]
        for axis in range(3):
            scale = half / regions[k, WIDTH + axis] if axis < 2 else 1.0
            middle = half if axis < 2 else 0.0
            x, y, z = regions[k, 3 * axis], regions[k, 3 * axis + 1], regions[k, 3 * axis + 2]
            for role in range(2):
                pose = poses[body_a[k] if role == 0 else body_b[k]]
                r0, r1, r2, r3 = row_of_view(pose, x, y, z, cx, cy, cz)
                to_tile[k, role, 4 * axis], to_tile[k, role, 4 * axis + 1] = r0 * scale, r1 * scale
                to_tile[k, role, 4 * axis + 2], to_tile[k, role, 4 * axis + 3] = r2 * scale, r3 * scale + middle
        wide, high = regions[k, WIDTH] / half, regions[k, HEIGHT] / half
        for m in range(3):
            right, up = regions[k, m] * wide, regions[k, 3 + m] * high
            to_world[k, 4 * m], to_world[k, 4 * m + 1], to_world[k, 4 * m + 2] = right, up, regions[k, 6 + m]
            to_world[k, 4 * m + 3] = regions[k, MIDDLE + m] - half * (right + up)
        pixel[k, 0], pixel[k, 1] = wide, high
        off = regions[k, SLACK] * (1.0 + 2.0**-50)
        slack[k, 0], slack[k, 1] = off / min(wide, high), off

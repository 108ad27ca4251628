"""The minimal overlapping region of a pair and its viewport: MOR(A, B).

Baciu, Wong and Sun, Fig. 3 line 2, Fig. 4 lines 2 to 4. A *view* projects the region orthographically onto a tile of size
× size pixels. The paper takes the region from the aligned boxes of both bodies; here it comes from the boxes of their
patches (`render/patches.py`), which fit more tightly: first the extents of all patches, then those of patches that
overlap the remaining region. Depths are bounded by the same patches, since every point of a solid has surface of its own
before and behind it in its column. Pairs that are apart along any of the three directions, or whose vertices are apart
along the view direction, need no picture.

Guarantee: the intersection of both solids lies inside the tile, and `slack` bounds how far the tile coordinates of a
vertex, computed in float64 from `to_tile` in any order of summing, are from the exact image of its world vertex
(`geometry/rigid.py`). `slack_of` has the proof. Poses need not be quite orthonormal, and bodies may be far from the
origin: then the slack is large.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.broad_phase.pair_memory import PairMemory
from jostle.errors import InputError
from jostle.geometry.rigid import pose_of, world_point
from jostle.geometry.triangle import Bounds
from jostle.geometry.vector import Vec3, minus, plus, point_at, point_from, times, write_point, write_point_from
from jostle.interface.body_pairs import CandidatePairs
from jostle.interface.frame import Frame
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Addresses, Record, Run, float64, int64, record_viewer
from jostle.methods.image_space.shape_table import Shapes, ShapesOfBodies, box_of_body, mesh_of_body, open_shapes
from jostle.methods.image_space.view_direction import (
    APART_ALONG,
    APART_IN_COLUMNS,
    AXES,
    CENTRES,
    DIRECTION,
    MEETING,
    MODES,
    SEPARATING,
    SeenBody,
    ViewFrame,
    X,
    Y,
    Z,
    apart_along,
    axis_of_frame,
    extent_of_patch,
    frame_of_direction,
    line_of_centres,
    row_of_view,
    seen_body,
    vertices_apart,
)
from jostle.render.drawn_body import ViewRow, patch_count

if TYPE_CHECKING:
    from jostle.methods.image_space.method import ImageSpace

FIRST_SLICE = 1_000_000  # patches: about 10 ms
ROUNDING = 2.0**-46
FLOOR = 1e-28  # more than snapping to zero moves, and above 0 for bodies that are a single point
NARROWEST = 2.0**-12  # of the smaller body's extent: a region is at least so wide
MOST_RESOLUTION = 2048  # pixels along a side of a tile
ROUNDINGS = 10.0  # times the slack, of an accuracy: 4√2 across the view, 4 along it
LEAST_OF_BUDGET, MOST_OF_BUDGET = 8, 1024


class Region(Record):
    """The overlapping region of a pair: view axes, centre, half sides, slack."""

    right: Run[float64, Literal[3]]
    up: Run[float64, Literal[3]]
    ahead: Run[float64, Literal[3]]
    middle: Run[float64, Literal[3]]
    width: float64
    height: float64
    slack: float64


class RegionSearch(Record):
    """Where a search for regions stands."""

    next_pair: int64
    found: int64


view_region, view_search = record_viewer(Region), record_viewer(RegionSearch)


def _column(name: str) -> int:
    place: int = Region.dtype.fields[name][1]  # type: ignore[index]  # a record has fields
    return place // 8


# Columns of an array of regions (n, REGION).
AHEAD, MIDDLE, WIDTH, HEIGHT, SLACK = (_column(name) for name in ("ahead", "middle", "width", "height", "slack"))
REGION = Region.dtype.itemsize // 8


class Views(NamedTuple):
    """n views of body pairs; pixels and depths are those of `render/`."""

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


def views_of(
    pairs: CandidatePairs, frame: Frame, shapes: ShapesOfBodies, settings: ImageSpace, memory: PairMemory | None = None
) -> Views:
    """Return the views of the pairs that need a picture.

    Parameters
    ----------
    pairs : CandidatePairs
        Sorted, as `candidates.py` returns them.
    frame : Frame
    shapes : ShapesOfBodies
    settings : ImageSpace
        Its view, resolution, accuracy, pixels and conservative.
    memory : PairMemory of width DIRECTION, optional
        For view="separating": the direction that last separated each pair; updated for pairs that need no picture.
        `view_direction.remember_separations` updates it after the pictures.

    Raises
    ------
    InputError
        An accuracy that needs more than `MOST_RESOLUTION` pixels along a side.
    """
    numbers, regions = regions_of(pairs, frame, shapes, settings.view, memory)
    if settings.accuracy is None:
        sizes = np.full(len(numbers), _resolution(len(numbers), settings), np.int32)
    else:
        # Half of a pixel's diagonal; all of it where whole pixels are compared.
        across = np.hypot(regions[:, WIDTH], regions[:, HEIGHT]) * (2.0 if settings.conservative else 1.0)
        sizes = sizes_for_accuracy(settings.accuracy, across * settings.wider, regions[:, SLACK], numbers, pairs, frame)
    return lay_out(pairs, frame, numbers, regions, sizes)


def regions_of(
    pairs: CandidatePairs, frame: Frame, shapes: ShapesOfBodies, view: str, memory: PairMemory | None = None
) -> tuple[Ints, Floats]:
    """Return the numbers (n,) of pairs that need a picture, and their regions.

    A pair may have up to three.
    """
    mode, count = MODES[view], len(pairs.body_a)
    kept = memory if mode == SEPARATING else None
    directions = np.full((count, DIRECTION), np.nan) if kept is None else kept.recall(pairs)
    most = 3 * count if mode == AXES else count
    numbers, regions = np.empty(most, np.int32), np.empty((most, REGION))
    body_a, body_b, poses = read_only_view(pairs.body_a), read_only_view(pairs.body_b), read_only_view(frame.poses)

    def step(state: NDArray[np.int64], operations: int) -> tuple[bool, int]:
        used = find_regions(body_a, body_b, shapes.addresses, poses, mode, directions, operations, state, numbers, regions)
        next_pair, _ = state.tolist()  # a view by names takes 2 µs from Python
        return next_pair == count, max(1, int(used))

    state = np.zeros(2, np.int64)
    run_in_slices(step, state, FIRST_SLICE)
    if kept is not None:
        kept.remember(pairs, directions)
    _, found = state.tolist()
    return numbers[:found], regions[:found]


def _resolution(count: int, settings: ImageSpace) -> int:
    """Return the pixels along a side of a view: as set, or a share of a budget."""
    if settings.pixels is None:
        return settings.resolution
    return min(max(math.isqrt(settings.pixels // max(1, count)), LEAST_OF_BUDGET), MOST_OF_BUDGET)


def sizes_for_accuracy(accuracy: float, across: Floats, slack: Floats, numbers: Ints, pairs: CandidatePairs, frame: Frame) -> Ints:
    """Return the pixels (n,) along a side for an accuracy.

    One pixel would have the accuracy across (n,), both in world units. Rounding is subtracted from the pixels: two points in
    one pixel, whose tile coordinates are off by twice the slack (n,) each, are nearer than the diagonal and ROUNDINGS times
    the slack.

    Raises
    ------
    InputError
        A pair would need a picture of more than MOST_RESOLUTION pixels along a side, or its bodies are so far from the origin that
        rounding exceeds the pixels.
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
    """Raise where a pair (n,) needs more than MOST_RESOLUTION pixels along a side.

    Accuracies of least (n,) do not.
    """
    if sizes.max(initial=0) > MOST_RESOLUTION:
        worst = int(least.argmax())
        bodies = names_of(int(numbers[worst]), pairs, frame)
        raise InputError(
            f"ImageSpace: accuracy is {accuracy:g}, for which bodies {bodies} need a picture of {sizes[worst]:.7g} pixels along a "
            f"side, more than {MOST_RESOLUTION}; pass accuracy={1.01 * least[worst]:.3g} or more, or resolution=… instead"
        )


def refuse_rounding(accuracy: float, slack: Floats, numbers: Ints, pairs: CandidatePairs, frame: Frame) -> None:
    """Raise where rounding takes more than half of the accuracy of a pair (n,)."""
    if 2.0 * ROUNDINGS * slack.max(initial=0.0) > accuracy:
        worst = int(slack.argmax())
        bodies, least = names_of(int(numbers[worst]), pairs, frame), 2.02 * ROUNDINGS * float(slack[worst])
        raise InputError(
            f"ImageSpace: accuracy is {accuracy:g}, and coordinates of bodies {bodies} are so large that rounding may take half of "
            f"it; pass accuracy={least:.3g} or more, or move all bodies nearer to the origin"
        )


def names_of(pair: int, pairs: CandidatePairs, frame: Frame) -> str:
    """Return the names of the bodies of a pair for a message."""
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
    return Views(numbers, body_a, body_b, to_tile, to_world, sizes, pixel, regions[:, AHEAD : AHEAD + 3].copy(), slack)


@kernel
def slack_of(lengths: float, side: float) -> float:
    """Return the rounding error of a tile coordinate in world units.

    `lengths` is T + V, each the larger one of the two bodies. T is the largest |entry| of the translation of a pose, V the largest
    |local coordinate| of a vertex, `side` the longer side of the tile. The result is 128 h (T + V + side) + 1e-28, h = 2⁻⁵³.

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


class Lengths(NamedTuple):
    """The lengths that rounding grows with: |translation| and |local coordinate|."""

    translation: float
    local: float


class Rectangle(NamedTuple):
    """A part of the picture plane."""

    left: float
    right: float
    bottom: float
    top: float


@kernel(forceinline=True)
def middle_of_box(box: Bounds) -> Vec3:
    """Return the middle of a box."""
    return plus(times(0.5, box.lower), times(0.5, box.upper))


@kernel
def middle_in_world(pose: Floats, box: Bounds) -> Vec3:
    """Return the world position of the middle of a local box."""
    return world_point(pose_of(pose), middle_of_box(box))


@kernel
def lengths_of(pose: Floats, box: Bounds) -> Lengths:
    """Return the lengths of a body with this pose (4,4) and local box."""
    lower, upper = box.lower, box.upper
    return Lengths(
        max(abs(pose[0, 3]), abs(pose[1, 3]), abs(pose[2, 3])),
        max(abs(lower.x), abs(upper.x), abs(lower.y), abs(upper.y), abs(lower.z), abs(upper.z)),
    )


@kernel
def extents_over(body: SeenBody, over: Rectangle) -> Bounds:
    """Return the extents of a body's patches over a rectangle, cut to it in x and y.

    lower > upper if no patch is.
    """
    mesh, view = body.mesh, body.along
    lx, ux, ly, uy, lz, uz = math.inf, -math.inf, math.inf, -math.inf, math.inf, -math.inf
    for k in range(patch_count(mesh)):
        ax, bx = extent_of_patch(mesh, k, view.x)
        ay, by = extent_of_patch(mesh, k, view.y)
        if ax <= over.right and over.left <= bx and ay <= over.top and over.bottom <= by:
            az, bz = extent_of_patch(mesh, k, view.z)
            lx, ux = min(lx, ax), max(ux, bx)
            ly, uy = min(ly, ay), max(uy, by)
            lz, uz = min(lz, az), max(uz, bz)
    return Bounds(
        Vec3(max(lx, over.left), max(ly, over.bottom), lz),
        Vec3(min(ux, over.right), min(uy, over.top), uz),
    )


@kernel(forceinline=True)
def everywhere() -> Rectangle:
    """Return the whole picture plane."""
    return Rectangle(-math.inf, math.inf, -math.inf, math.inf)


@kernel(forceinline=True)
def common_rectangle(a: Bounds, b: Bounds) -> Rectangle:
    """Return where two extents overlap in the picture plane.

    left > right or bottom > top where they do not.
    """
    return Rectangle(max(a.lower.x, b.lower.x), min(a.upper.x, b.upper.x), max(a.lower.y, b.lower.y), min(a.upper.y, b.upper.y))


@kernel(forceinline=True)
def grown(over: Rectangle, by: float) -> Rectangle:
    """Return a rectangle grown by `by` on each side."""
    return Rectangle(over.left - by, over.right + by, over.bottom - by, over.top + by)


@kernel
def region_of_pair(a: SeenBody, b: SeenBody, frame: ViewFrame, origin: Vec3, lengths: float, region: Region) -> int:
    """Write the region of a pair; return MEETING, or how it is apart.

    Negative where B comes first.
    """
    of_a, of_b = extents_over(a, everywhere()), extents_over(b, everywhere())
    wide = min(of_a.upper.x - of_a.lower.x, of_b.upper.x - of_b.lower.x)
    high = min(of_a.upper.y - of_a.lower.y, of_b.upper.y - of_b.lower.y)
    pad = slack_of(lengths, max(wide, high))
    gap = 2.0 * pad  # for A and for B
    apart = apart_along(of_a, of_b, gap)
    if apart != MEETING:
        return apart
    over = grown(common_rectangle(of_a, of_b), gap)
    if patch_count(a.mesh) > 1 or patch_count(b.mesh) > 1:
        # Both over the same rectangle, so that swapping A and B changes nothing.
        of_a, of_b = extents_over(a, over), extents_over(b, over)
        over = common_rectangle(of_a, of_b)
        in_depth = max(of_a.lower.z, of_b.lower.z) - min(of_a.upper.z, of_b.upper.z)
        if over.left - over.right > gap or over.bottom - over.top > gap or in_depth > gap:
            return APART_IN_COLUMNS
    x, y = 0.5 * (over.left + over.right), 0.5 * (over.bottom + over.top)
    z = 0.5 * (max(of_a.lower.z, of_b.lower.z) + min(of_a.upper.z, of_b.upper.z))
    write_point_from(region.right, 0, frame.right)
    write_point_from(region.up, 0, frame.up)
    write_point_from(region.ahead, 0, frame.ahead)
    away = plus(plus(times(x, frame.right), times(y, frame.up)), times(z, frame.ahead))
    write_point_from(region.middle, 0, plus(origin, away))
    # Without a least width, pixels of touching bodies would be smaller than rounding errors.
    region.width = max(0.5 * (over.right - over.left), 0.5 * NARROWEST * wide) + gap
    region.height = max(0.5 * (over.top - over.bottom), 0.5 * NARROWEST * high) + gap
    region.slack = pad
    return MEETING


@kernel
def find_regions(
    body_a: Ints, body_b: Ints, addresses: Addresses, poses: Floats, mode: int, directions: Floats, operations: int,
    state: NDArray[np.int64], numbers: Ints, regions: Floats,
) -> int:  # fmt: skip
    """Find the regions of pairs from where `state` (a `RegionSearch`) stands.

    Returns the operations used. Pairs that need a picture are written into numbers (k,) and regions (k, REGION); directions
    that separate others into directions (pairs, DIRECTION), which hold the remembered ones where the mode is SEPARATING.
    """
    shapes, search, used = open_shapes(addresses), view_search(state), 0
    while search.next_pair < body_a.shape[0] and used < operations:
        pair, first = as_int64(search.next_pair), as_int64(search.found)
        a, b = as_int64(body_a[pair]), as_int64(body_b[pair])
        mesh_a, mesh_b = mesh_of_body(shapes, a), mesh_of_body(shapes, b)
        between = line_of_bodies(shapes, poses, a, b)
        for view in range(3 if mode == AXES else 1):
            frame = frame_of_direction(direction_of_view(view if mode == AXES else mode, point_at(directions, pair), between))
            seen_a = seen_body(mesh_a, poses[a], frame, between.origin)
            seen_b = seen_body(mesh_b, poses[b], frame, between.origin)
            used += patch_count(mesh_a) + patch_count(mesh_b)
            region = view_region(regions[search.found])
            apart = region_of_pair(seen_a, seen_b, frame, between.origin, between.lengths, region)
            if apart == MEETING:
                apart = vertices_apart(seen_a, seen_b, region.slack)
            if apart != MEETING:
                if abs(apart) != APART_IN_COLUMNS:
                    sign = 1.0 if apart > 0 else -1.0
                    write_point(directions, pair, times(sign, axis_of_frame(frame, abs(apart) - APART_ALONG)))
                search.found = first  # apart along one axis of three is apart
                break
            numbers[search.found] = pair
            search.found += 1
        if mode == AXES and search.found > first:
            sort_by_area(regions, first, as_int64(search.found))
        search.next_pair = pair + 1
    return used


class BetweenBodies(NamedTuple):
    """The middle of A's box, about which a pair is seen, that of B's, and T + V.

    T and V are those of `slack_of`.
    """

    origin: Vec3
    other: Vec3
    lengths: float


@kernel
def line_of_bodies(shapes: Shapes, poses: Floats, a: int, b: int) -> BetweenBodies:
    """Return the middles and the lengths of two bodies."""
    box_a, box_b = box_of_body(shapes, a), box_of_body(shapes, b)
    of_a, of_b = lengths_of(poses[a], box_a), lengths_of(poses[b], box_b)
    lengths = max(of_a.translation, of_b.translation) + max(of_a.local, of_b.local)
    return BetweenBodies(middle_in_world(poses[a], box_a), middle_in_world(poses[b], box_b), lengths)


@kernel
def direction_of_view(mode: int, remembered: Vec3, between: BetweenBodies) -> Vec3:
    """Return the view direction of a pair; `remembered` is NaN without a memory."""
    if mode == SEPARATING and remembered.x == remembered.x:
        return remembered
    if mode in (SEPARATING, CENTRES):
        return line_of_centres(between.origin, between.other, between.lengths)
    return Vec3(1.0 if mode == X else 0.0, 1.0 if mode == Y else 0.0, 1.0 if mode == Z else 0.0)


@kernel
def sort_by_area(regions: Floats, first: int, last: int) -> None:
    """Sort rows first … last-1 of regions by area, the smallest first; stable.

    Three at most, of many columns each: swapping neighbours is shorter than keys and an order for `kernels/sort.py`.
    """
    for i in range(first + 1, last):
        k = i
        while k > first and regions[k, WIDTH] * regions[k, HEIGHT] < regions[k - 1, WIDTH] * regions[k - 1, HEIGHT]:
            for m in range(REGION):
                regions[k, m], regions[k - 1, m] = regions[k - 1, m], regions[k, m]
            k -= 1


@kernel
def lay_out_tiles(
    body_a: Ints, body_b: Ints, poses: Floats, sizes: Ints, regions: Floats, to_tile: Floats, to_world: Floats, pixel: Floats,
    slack: Floats,
) -> None:  # fmt: skip
    """Write matrices, pixels and slacks (see `Views`) of n regions with their sizes."""
    for k in range(sizes.shape[0]):
        region, half = view_region(regions[k]), 0.5 * sizes[k]
        right, up, ahead = point_from(region.right, 0), point_from(region.up, 0), point_from(region.ahead, 0)
        middle = point_from(region.middle, 0)
        for role in range(2):
            pose = poses[body_a[k] if role == 0 else body_b[k]]
            matrix = to_tile[k, role]
            write_view_row(matrix, X, scaled_row(row_of_view(pose, right, middle), half / region.width, half))
            write_view_row(matrix, Y, scaled_row(row_of_view(pose, up, middle), half / region.height, half))
            write_view_row(matrix, Z, scaled_row(row_of_view(pose, ahead, middle), 1.0, 0.0))
        wide, high = region.width / half, region.height / half
        across, upward = times(wide, right), times(high, up)
        corner = minus(middle, times(half, plus(across, upward)))
        write_view_row(to_world[k], X, ViewRow(across.x, upward.x, ahead.x, corner.x))
        write_view_row(to_world[k], Y, ViewRow(across.y, upward.y, ahead.y, corner.y))
        write_view_row(to_world[k], Z, ViewRow(across.z, upward.z, ahead.z, corner.z))
        pixel[k, 0], pixel[k, 1] = wide, high
        off = region.slack * (1.0 + 2.0**-50)
        slack[k, 0], slack[k, 1] = off / min(wide, high), off


@kernel(forceinline=True)
def scaled_row(row: ViewRow, scale: float, middle: float) -> ViewRow:
    """Return a coordinate, scaled and shifted."""
    return ViewRow(row.x * scale, row.y * scale, row.z * scale, row.offset * scale + middle)


@kernel(forceinline=True)
def write_view_row(matrix: Floats, axis: int, row: ViewRow) -> None:
    """Write a row of a 3×4 matrix (12,)."""
    start = 4 * axis
    matrix[start], matrix[start + 1], matrix[start + 2], matrix[start + 3] = row.x, row.y, row.z, row.offset

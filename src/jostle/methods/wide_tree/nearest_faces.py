"""The closest faces of two leaves: by boxes, by gaps along an arrow, by distance.

A leaf met for the first time is moved into the world and kept in a slot (leaf n in slot n mod SLOTS): it meets ten others. Most
pairs of leaves end at one comparison of how far each reaches along the arrow. In the others the faces with the nearest boxes are
compared first, and the direction between their closest points is the next arrow: it separates most other faces at once, by
projections of their corners, for a tenth of the cost of a distance.

The distance that counts is that of `exact_zero_distance`. The robust distance of triangles, which is cheaper and gives the points,
decides everything clear beyond the rounding of both (BAND). Only ties within it are settled, and at the end the winner. Faces so
close that they may touch are listed as suspects, for the exact test.

With a clearance, the search begins as if faces at that distance were known, and ties are settled by what decides whether faces are
near (`distance_if_nearer`). Until some within it are found, faces beyond it say where the arrow has to point.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from jostle.geometry.aabb import bounds_squared_distance
from jostle.geometry.contact_kind import NEAR
from jostle.geometry.reported_distance import agreed_distance
from jostle.geometry.triangle import Triangle, triangle_bounds, triangle_from, triangle_in_lane
from jostle.geometry.triangle_triangle import triangles_touch
from jostle.geometry.triangle_triangle_distance import closest_points_of_triangles
from jostle.geometry.vector import Vec3, length, minus, negative, point_from, times, write_point_from
from jostle.kernels.jit import kernel
from jostle.kernels.late import late_call
from jostle.kernels.numbers import as_int64
from jostle.kernels.simd import (
    LANES,
    f32x8_less,
    f32x8_store,
    f64x8_add,
    f64x8_max,
    f64x8_min,
    f64x8_mul,
    f64x8_splat,
    f64x8_store,
    f64x8_sub,
    lowest_bit,
    without_lowest_bit,
)
from jostle.kernels.structs import Rows
from jostle.methods.wide_tree.lanes import POINT_ROWS, box_in_lane, boxes_at, in_every_lane
from jostle.methods.wide_tree.leaf_cache import Lanes64, Points64, gather, move, points64_at, rounded_down, rounded_up
from jostle.methods.wide_tree.nearest_bounds import MOST_TIES, aim, squared_gaps
from jostle.methods.wide_tree.nearest_work import (
    ANY_NEAR,
    LOWEST_TOUCHING,
    SLOTS,
    Candidate,
    FaceCorners,
    NearestWork,
    NearLeaf,
)
from jostle.methods.wide_tree.pair_work import EXACT_TEST
from jostle.methods.wide_tree.relative_frame import NO_FRAME
from jostle.methods.wide_tree.tree import NodePair, PlacedTree, TreeArrays
from jostle.report.packing import FACE_BITS

FACE_PRICE = 8  # operations of a face pair

triangles_touch_at = late_call(triangles_touch)


class WorldFace(NamedTuple):
    """A face: its corners in the world, its number in the mesh and its place in the tree."""

    corners: Triangle
    number: int
    place: int


class FacePair(NamedTuple):
    """A face of a and a face of b; both numbers as one, in sorting order, and both places."""

    a: Triangle
    b: Triangle
    faces: int
    places: int


class Remaining(NamedTuple):
    """The number of candidates left, and the one with the nearest boxes."""

    candidates: int
    nearest: int


@kernel(forceinline=True)
def slot_of_near_leaf(work: NearestWork, leaves: Rows[NearLeaf], tree: PlacedTree, node: int, sign: float) -> int:
    """Return a leaf's slot, with its end along (sign 1) or against (-1) the arrow."""
    slot, counts = node & (SLOTS - 1), work.counts
    leaf = leaves[slot]
    if leaf.query != counts.query or leaf.node != node:
        leaf.query, leaf.node, leaf.version = counts.query, node, counts.version - 1
        _fill_leaf(work, leaf, tree, node)
    if leaf.version != counts.version:
        leaf.version = counts.version
        _write_reach(work, leaf, times(sign, point_from(work.best.arrow, 0)), work.leaves.reach_x)
        leaf.end = _largest(work.leaves.reach_x)
    return slot


@kernel
def _fill_leaf(work: NearestWork, leaf: NearLeaf, tree: PlacedTree, node: int) -> None:
    """Write the corners of a leaf's faces in the world, and their boxes.

    Boxes are relative to the origin, rounded outward, in Y's units.
    """
    gather(leaf.corners, tree.arrays, node)
    move(leaf.corners, tree.pose)
    p, q, r = _corners_of(leaf)
    _write_boxes(work, leaf, 0, p.x, q.x, r.x)
    _write_boxes(work, leaf, 1, p.y, q.y, r.y)
    _write_boxes(work, leaf, 2, p.z, q.z, r.z)


@kernel(forceinline=True)
def _corners_of(leaf: NearLeaf) -> tuple[Points64, Points64, Points64]:
    """Return the corners of eight faces."""
    corners = leaf.corners
    return points64_at(corners, 0), points64_at(corners, POINT_ROWS), points64_at(corners, 2 * POINT_ROWS)


@kernel(forceinline=True)
def _write_boxes(work: NearestWork, leaf: NearLeaf, row: int, p: Lanes64, q: Lanes64, r: Lanes64) -> None:
    """Write one coordinate of the boxes of eight faces."""
    origin, scale = f64x8_splat(work.placement.origin[row]), f64x8_splat(work.placement.scale_y)
    low, high = f64x8_min(f64x8_min(p, q), r), f64x8_max(f64x8_max(p, q), r)
    f32x8_store(leaf.boxes, LANES * row, rounded_down(f64x8_mul(f64x8_sub(low, origin), scale)))
    f32x8_store(leaf.boxes, POINT_ROWS + LANES * row, rounded_up(f64x8_mul(f64x8_sub(high, origin), scale)))


@kernel
def _write_reach(work: NearestWork, leaf: NearLeaf, arrow: Vec3, reach: Any) -> None:
    """Write how far eight faces reach along an arrow, from the origin, to reach (8,)."""
    p, q, r = _corners_of(leaf)
    origin = point_from(work.placement.origin, 0)
    far = f64x8_max(_along(p, arrow, origin), _along(q, arrow, origin))
    f64x8_store(reach, 0, f64x8_max(far, _along(r, arrow, origin)))


@kernel(forceinline=True)
def _along(p: Points64, arrow: Vec3, origin: Vec3) -> Lanes64:
    x = f64x8_mul(f64x8_splat(arrow.x), f64x8_sub(p.x, f64x8_splat(origin.x)))
    y = f64x8_mul(f64x8_splat(arrow.y), f64x8_sub(p.y, f64x8_splat(origin.y)))
    return f64x8_add(f64x8_add(x, y), f64x8_mul(f64x8_splat(arrow.z), f64x8_sub(p.z, f64x8_splat(origin.z))))


@kernel(forceinline=True)
def _largest(eight: Any) -> float:
    """Return the largest of eight numbers."""
    largest = eight[0]
    for k in range(1, LANES):
        largest = eight[k] if eight[k] > largest else largest
    return largest


@kernel(forceinline=True)
def _write_reaches(work: NearestWork, leaf_x: NearLeaf, leaf_y: NearLeaf, arrow: Vec3) -> None:
    """Update the reaches of the faces of two leaves along an arrow."""
    _write_reach(work, leaf_x, arrow, work.leaves.reach_x)
    _write_reach(work, leaf_y, negative(arrow), work.leaves.reach_y)


@kernel(forceinline=True)
def _gap(work: NearestWork, i: int, j: int) -> float:
    """Return the gap between faces i of X and j of Y along the latest arrow."""
    return -work.leaves.reach_y[j] - work.leaves.reach_x[i]


@kernel
def compare_near_leaves(work: NearestWork, x: PlacedTree, y: PlacedTree, nodes: NodePair, slot_x: int, slot_y: int) -> None:
    """Compare the faces of two leaves that may be closest."""
    leaf_x, leaf_y, leaves, counts = work.leaves_x[slot_x], work.leaves_y[slot_y], work.leaves, work.counts
    # The arrow of the last comparison, of neighbours, separates half of the rest.
    _write_reaches(work, leaf_x, leaf_y, point_from(leaves.last_arrow, 0))
    if -_largest(leaves.reach_y) - _largest(leaves.reach_x) > work.limits.face:
        return
    remaining = _find_candidates(work, leaf_x, leaf_y, -as_int64(x.arrays.count[nodes.x]), -as_int64(y.arrays.count[nodes.y]))
    is_lowest = work.asked.mode == LOWEST_TOUCHING
    if remaining.candidates > 0 and not is_lowest:
        _write_reaches(work, leaf_x, leaf_y, point_from(work.best.arrow, 0))
        remaining = _sift_candidates(work, remaining.candidates)
    while remaining.candidates > 0:
        chosen = work.candidates[remaining.nearest]
        face_x, face_y = _face(leaf_x, x.arrays, nodes.x, as_int64(chosen.i)), _face(leaf_y, y.arrays, nodes.y, as_int64(chosen.j))
        a, b, sign = (face_y, face_x, -1.0) if counts.swapped != 0 else (face_x, face_y, 1.0)
        pair = FacePair(a.corners, b.corners, (a.number << FACE_BITS) | b.number, (a.place << FACE_BITS) | b.place)
        rest = remaining.candidates - 1
        if is_lowest:  # the exact test takes less time than a distance
            _add_suspect(work, pair)
            _copy_candidate(chosen, work.candidates[rest])
            remaining = Remaining(rest, 0)
            continue
        counts.face_tests += 1
        counts.operations += FACE_PRICE
        if compare_faces(work, pair, sign):
            if is_enough(work):
                return
            counts.version += 1
            aim(work, x, y)
        _copy_candidate(chosen, work.candidates[rest])
        remaining = Remaining(0, 0)
        if rest > 0:
            _write_reaches(work, leaf_x, leaf_y, point_from(leaves.last_arrow, 0))
            remaining = _sift_candidates(work, rest)


@kernel(forceinline=True)
def _face(leaf: NearLeaf, tree: TreeArrays, node: int, lane: int) -> WorldFace:
    """Return a face of a leaf."""
    place = as_int64(tree.first[node]) + lane
    return WorldFace(triangle_in_lane(leaf.corners, lane), as_int64(tree.face_ids[place]), place)


@kernel
def _find_candidates(work: NearestWork, leaf_x: NearLeaf, leaf_y: NearLeaf, count_x: int, count_y: int) -> Remaining:
    """List the face pairs whose boxes and reaches are near enough."""
    squared_row, candidates, face_limit = work.leaves.squared, work.candidates, work.limits.face
    boxes, limit = boxes_at(leaf_x.boxes, 0), in_every_lane(work.limits.leaf_squared)
    used = np.uint32((1 << count_x) - 1)
    found, chosen, nearest = 0, 0, math.inf
    for j in range(count_y):
        squared = in_every_lane(0.0)
        if work.placement.frames != NO_FRAME:
            squared = squared_gaps(boxes, box_in_lane(leaf_y.boxes, j))
        mask = used & ~f32x8_less(limit, squared)
        f32x8_store(squared_row, 0, squared)
        while mask != 0:
            i = lowest_bit(mask)
            mask = without_lowest_bit(mask)
            if _gap(work, i, j) > face_limit:
                continue
            one = candidates[found]
            one.i, one.j, one.squared = i, j, squared_row[i]
            if one.squared < nearest:
                nearest, chosen = one.squared, found
            found += 1
    return Remaining(found, chosen)


@kernel
def _sift_candidates(work: NearestWork, found: int) -> Remaining:
    """Drop candidates that the latest reaches and limits rule out."""
    candidates, limits = work.candidates, work.limits
    kept, chosen, nearest = 0, 0, math.inf
    for k in range(found):
        one = candidates[k]
        if one.squared > limits.leaf_squared or _gap(work, as_int64(one.i), as_int64(one.j)) > limits.face:
            continue
        if one.squared < nearest:
            nearest, chosen = one.squared, kept
        _copy_candidate(candidates[kept], one)
        kept += 1
    return Remaining(kept, chosen)


@kernel(forceinline=True)
def _copy_candidate(to: Candidate, source: Candidate) -> None:
    to.i, to.j, to.squared = source.i, source.j, source.squared


@kernel
def compare_faces(work: NearestWork, pair: FacePair, sign: float) -> bool:
    """Compare two faces with the closest so far; return whether the limits change.

    sign -1: x is b.
    """
    best, counts, band = work.best, work.counts, work.placement.band
    robust, on_a, on_b = closest_points_of_triangles(pair.a, pair.b)
    arrow = minus(on_b, on_a)
    size = length(arrow)
    if size > 0.0:
        write_point_from(work.leaves.last_arrow, 0, times(sign / size, arrow))
    is_nearer = robust < best.seen
    best.seen = min(best.seen, robust)
    if robust > work.limits.face:
        if is_nearer:
            write_point_from(best.arrow, 0, point_from(work.leaves.last_arrow, 0))
        return is_nearer
    if robust < best.distance - band and robust > band:
        _keep(work, pair, robust)
        write_point_from(best.arrow, 0, point_from(work.leaves.last_arrow, 0))
        best.is_robust_only = 1
        return True
    # Too close to the best so far, or to contact, to decide by the robust distance.
    if best.is_robust_only != 0:
        best.is_robust_only = 0
        best.distance = settled_distance(work, best.corners, best.distance)
    _write_corners(work.other, pair.a, pair.b)
    distance, least = settled_distance(work, work.other, robust), best.distance
    if robust <= band:
        _add_suspect(work, pair)
    if distance < least or (distance == least and pair.faces < best.faces):
        _keep(work, pair, distance)
    if distance < least:  # of a tie the arrow stays: leaves have their ends along it until the limits change
        write_point_from(best.arrow, 0, point_from(work.leaves.last_arrow, 0))
    counts.ties += int(math.isinf(work.asked.clearance))  # with a clearance, the answer is exact
    return distance < least or counts.ties == MOST_TIES + 1


@kernel
def _add_suspect(work: NearestWork, pair: FacePair) -> None:
    """List two faces that may touch."""
    suspect = work.suspects[work.counts.suspects]
    suspect.faces = pair.faces
    _write_corners(suspect.corners, pair.a, pair.b)
    work.counts.suspects += 1


@kernel
def test_suspects(work: NearestWork) -> None:
    """Keep the first suspects that touch by the exact test, or the lowest of all."""
    best, counts = work.best, work.counts
    for k in range(counts.suspects):
        suspect = work.suspects[k]
        if best.distance == 0.0 and suspect.faces >= best.faces:
            continue
        a, b = triangle_from(suspect.corners.a, 0), triangle_from(suspect.corners.b, 0)
        counts.triangle_tests += 1
        counts.operations += EXACT_TEST
        kind = triangles_touch_at(counts.exact_test, (a, b))
        if kind != 0:
            best.distance, best.pair, best.faces, best.kind = 0.0, counts.next_pair, suspect.faces, kind
            best.is_robust_only = 0
            _write_corners(best.corners, a, b)
            if work.asked.mode != LOWEST_TOUCHING:
                break
    counts.suspects = 0


@kernel
def is_enough(work: NearestWork) -> bool:
    """Return whether a group of pairs is decided: by any faces, or as nothing is nearer."""
    mode, best = work.asked.mode, work.best
    return best.kind != 0 and (mode == ANY_NEAR or (mode != LOWEST_TOUCHING and best.distance == 0.0))


@kernel
def _keep(work: NearestWork, pair: FacePair, distance: float) -> None:
    """Make these faces the closest so far."""
    best = work.best
    best.distance, best.pair, best.faces, best.places, best.kind = distance, work.counts.next_pair, pair.faces, pair.places, NEAR
    _write_corners(best.corners, pair.a, pair.b)


@kernel(forceinline=True)
def _write_corners(corners: FaceCorners, a: Triangle, b: Triangle) -> None:
    write_point_from(corners.a, 0, a.p)
    write_point_from(corners.a, 3, a.q)
    write_point_from(corners.a, 6, a.r)
    write_point_from(corners.b, 0, b.p)
    write_point_from(corners.b, 3, b.q)
    write_point_from(corners.b, 6, b.r)


@kernel
def settled_distance(work: NearestWork, corners: FaceCorners, robust: float) -> float:
    """Return `distance_if_nearer` of two faces, given their robust distance."""
    a, b, clearance = triangle_from(corners.a, 0), triangle_from(corners.b, 0), work.asked.clearance
    work.counts.distance_tests += 1
    if bounds_squared_distance(triangle_bounds(a), triangle_bounds(b)) > clearance * clearance:
        return math.inf
    return agreed_distance(a, b, robust)

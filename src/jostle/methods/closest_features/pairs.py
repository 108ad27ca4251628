"""All pairs of a frame in one kernel: start, walk, prove, report.

A pair begins at the features of the last frame, or else at the vertices that lie farthest towards the other body. A walk that gives
up, or whose end is not proven, stops the kernel; `fallback.py` settles that pair, and the kernel resumes with the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.geometry.contact_kind import CROSSING, NEAR
from jostle.geometry.rigid import RigidPose, pose_at, pose_of, solve_relative_pose_into, turned_back, world_point
from jostle.geometry.triangle import Segment
from jostle.geometry.vector import Vec3, largest_coordinate, length, minus, point_at, point_from, write_point_from
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_float64, as_int64
from jostle.kernels.structs import Addresses, Record, borrowed, int64, record_viewer
from jostle.methods.closest_features.certificate import Body, common_point, proven_gap, world_points
from jostle.methods.closest_features.contact import contact_kind, lowest_feature
from jostle.methods.closest_features.polyhedron import EDGE, FACE, VERTEX, Polytope, open_polytope
from jostle.methods.closest_features.regions import NONE, Feature, climb
from jostle.methods.closest_features.walk import APART, INSIDE, Side, walk

DONE, UNPROVEN, PAUSED = 0, 1, 2
FACES_OF_A_STEP = 512  # faces that `highest_face` compares in the time of one step
SLACK = 2.0**-48  # of the sizes of both bodies and of their offset
ROUNDING = 2.0**-48  # of the largest world coordinates of both bodies: what distances may be off by
STEPS_OF_ANY_WALK = 64
STRETCH = 3e-5  # an accepted pose may lengthen a vector by half of 3e-5


class Progress(Record):
    """Progress through the pairs of a frame."""

    next_pair: int64
    steps: int64  # of all walks
    used: int64  # operations


view_progress, PROGRESS = record_viewer(Progress), Progress.dtype.itemsize // 8


class PolytopePoses(NamedTuple):
    """The shape number and the pose of each body."""

    shape: Ints  # (n,)
    poses: Floats  # (n,4,4)


class SettledPairs(NamedTuple):
    """The answers for k pairs."""

    kind: NDArray[np.uint8]  # 0 where nothing is to be reported
    distance: Floats
    points: Floats  # (k,6) closest points on A and on B, in the world
    features: Floats  # (k,2) codes of the features to begin with, then of the closest ones


class SettledPair(NamedTuple):
    """The answer for one pair."""

    kind: int
    distance: float
    at_a: Feature
    at_b: Feature
    closest: Segment
    steps: int
    proven: bool


@kernel
def feature_code(kind: int, index: int) -> int:
    """Return the number by which a feature is remembered."""
    return 4 * index + kind


@kernel(forceinline=True)
def known_feature(shape: Polytope, code: float) -> Feature:
    """Return a remembered feature; its kind is NONE if the code is invalid."""
    if np.isnan(code):
        return Feature(NONE, 0)
    kind, index = int(code) & 3, int(code) >> 2
    most = len(shape.planes)
    if kind == VERTEX:
        most = len(shape.vertices) // 3
    elif kind == EDGE:
        most = len(shape.edges)
    if kind > FACE or index < 0 or index >= most:
        return Feature(NONE, 0)
    return Feature(kind, index)


@kernel(forceinline=True)
def world_centre(sphere: Any, pose: RigidPose) -> Vec3:
    """Return the world centre of a body; sphere (4,)."""
    return world_point(pose, point_from(sphere, 0))


@kernel(forceinline=True)
def rounding_of(sphere_a: Any, pose_a: RigidPose, sphere_b: Any, pose_b: RigidPose) -> float:
    """Return the rounding error of a distance between world vertices."""
    farthest = max(largest_coordinate(world_centre(sphere_a, pose_a)), largest_coordinate(world_centre(sphere_b, pose_b)))
    # Sizes of local coordinates count too: a mesh far from its own origin is rounded there.
    farthest = max(farthest, largest_coordinate(point_from(sphere_a, 0)), largest_coordinate(point_from(sphere_b, 0)))
    return ROUNDING * (2.0 * farthest + as_float64(sphere_a[3] + sphere_b[3]))


@kernel
def rounding_of_pair(sphere_a: Floats, pose_a: Floats, sphere_b: Floats, pose_b: Floats) -> float:
    """Return `rounding_of` for poses (4,4)."""
    return rounding_of(sphere_a, pose_of(pose_a), sphere_b, pose_of(pose_b))


@kernel
def vertex_towards(body: Body, other: Body) -> Feature:
    """Return the vertex of a body that lies farthest towards the centre of another."""
    direction = minus(world_centre(other.shape.sphere, other.pose), world_centre(body.shape.sphere, body.pose))
    return Feature(VERTEX, climb(body.shape, 0, turned_back(body.pose, direction)))


@kernel(forceinline=True)
def is_walkable(at_a: Feature, at_b: Feature) -> bool:
    """Return whether a walk may begin at two features.

    Both must be known, and a face only goes with a vertex.
    """
    if at_a.kind == NONE or at_b.kind == NONE:
        return False
    return (at_a.kind != FACE or at_b.kind == VERTEX) and (at_b.kind != FACE or at_a.kind == VERTEX)


@kernel
def settle_pair(
    a: Body, b: Body, side_a: Side, side_b: Side, at_a: Feature, at_b: Feature, touch: float, wanted: float
) -> SettledPair:
    """Return the distance of one pair, walking from two features.

    Up to `touch` apart the bodies are in contact, below `wanted` they are near.
    """
    if not is_walkable(at_a, at_b):
        at_a, at_b = vertex_towards(a, b), vertex_towards(b, a)
    rounding = rounding_of(a.shape.sphere, a.pose, b.shape.sphere, b.pose)
    touch = max(touch, rounding)
    most = STEPS_OF_ANY_WALK + (len(a.shape.vertices) // 3 + len(b.shape.vertices) // 3) // 2
    end, steps = walk(side_a, side_b, at_a, at_b, rounding * (SLACK / ROUNDING), most)
    at_a, at_b = end.x, end.y
    nowhere = Vec3(np.nan, np.nan, np.nan)
    if end.status == INSIDE:
        point = common_point(a, b, at_a, at_b, end.share)
        closest, distance = Segment(point, point), 0.0
        if end.depth > 2.0 * touch and (at_a.kind == VERTEX or at_b.kind == VERTEX):
            return SettledPair(CROSSING, 0.0, at_a, at_b, closest, steps, True)
    elif end.status != APART and (at_a.kind == FACE or at_b.kind == FACE):
        return SettledPair(0, np.inf, at_a, at_b, Segment(nowhere, nowhere), steps, False)
    else:
        closest = world_points(a, b, side_a, side_b, at_a, at_b)
        distance = length(minus(closest.q, closest.p))
    if distance <= touch:
        kind = contact_kind(a, b, lowest_feature(a, at_a, closest.p, touch), lowest_feature(b, at_b, closest.q, touch), touch)
        return SettledPair(kind, distance if distance > rounding else 0.0, at_a, at_b, closest, steps, True)
    error = max(0.5 * touch, rounding)
    gap = proven_gap(a, b, at_a, at_b, closest, distance, error)
    return SettledPair(NEAR if distance < wanted else 0, distance, at_a, at_b, closest, steps, gap >= distance - error)


@kernel
def settle_pairs(
    pairs: CandidatePairs,
    bodies: PolytopePoses,
    shapes: Addresses,
    touch: float,
    wanted: float,
    only_one: bool,
    operations: int,
    numbers: NDArray[np.int64],
    move: Floats,
    out: SettledPairs,
) -> int:
    """Settle the pairs from the next one on, and write their answers.

    Returns DONE, UNPROVEN for the next pair, or PAUSED after this many operations: steps, each counted as if it compared all
    faces once. With `only_one` the search ends at the first pair with a kind. `shapes` is a table of `Polytope`, `numbers` a
    `Progress`, `move` (2,4,4) is scratch.
    """
    state, used, why = view_progress(numbers), 0, DONE
    poses, features, points, move = borrowed(bodies.poses), borrowed(out.features), borrowed(out.points), borrowed(move)
    while state.next_pair < pairs.body_a.shape[0]:
        if used >= operations:
            why = PAUSED
            break
        pair = state.next_pair
        i, j = as_int64(pairs.body_a[pair]), as_int64(pairs.body_b[pair])
        a = Body(open_polytope(shapes, as_int64(bodies.shape[i])), pose_at(poses, i))
        b = Body(open_polytope(shapes, as_int64(bodies.shape[j])), pose_at(poses, j))
        solve_relative_pose_into(poses[i], poses[j], move[0])
        solve_relative_pose_into(poses[j], poses[i], move[1])
        side_a, side_b = Side(a.shape, pose_at(move, 1)), Side(b.shape, pose_at(move, 0))
        at_a, at_b = known_feature(a.shape, features[pair, 0]), known_feature(b.shape, features[pair, 1])
        settled = settle_pair(a, b, side_a, side_b, at_a, at_b, touch, wanted)
        out.kind[pair], out.distance[pair] = settled.kind, settled.distance
        features[pair, 0] = feature_code(settled.at_a.kind, settled.at_a.number)
        features[pair, 1] = feature_code(settled.at_b.kind, settled.at_b.number)
        write_point_from(points[pair], 0, settled.closest.p)
        write_point_from(points[pair], 3, settled.closest.q)
        state.steps += settled.steps
        used += settled.steps * (1 + (len(a.shape.planes) + len(b.shape.planes)) // FACES_OF_A_STEP)
        if not settled.proven:
            why = UNPROVEN
            break
        state.next_pair += 1
        if only_one and settled.kind != 0:
            state.next_pair = pairs.body_a.shape[0]
    state.used += used
    return why


@kernel
def cubes_into(poses: Floats, spheres: Floats, larger: float, lower: Floats, upper: Floats) -> None:
    """Write cubes (n,3) that hold bodies in every orientation, grown by `larger`.

    Padded for poses that are not quite rigid, for the rounding of the centre and for that of world vertices.
    """
    for body in range(poses.shape[0]):
        local = point_at(spheres, body)
        centre = world_point(pose_at(poses, body), local)
        farthest = max(largest_coordinate(centre), largest_coordinate(local))
        half = (spheres[body, 3] * (1.0 + STRETCH) + larger) + ROUNDING * farthest
        lower[body, 0], lower[body, 1], lower[body, 2] = centre.x - half, centre.y - half, centre.z - half
        upper[body, 0], upper[body, 1], upper[body, 2] = centre.x + half, centre.y + half, centre.z + half

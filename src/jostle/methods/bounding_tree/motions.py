"""Bodies within a step: where volumes are at an instant, and how far they stray.

By `continuous/moving_point.py` the position of a vertex at time t is an affine function of its positions at both ends, which are
affine functions of its local position v. So at every instant a rigid body is an affine image A v + b of its mesh, by exactly the
law that its vertices follow, even if the poses are not quite orthonormal; no screw of poses is involved. A deforming body is
already in the world (A = 1, b = 0), and its volumes at both ends are interpolated linearly.

From s to e a body turns by an angle φ. The centre c of a node then leaves its chord by at most φ² |k × (c(e) - c(s))| /
(16 sin(φ/2)), since it is on an arc of radius |k × (c(e) - c(s))| / (2 sin(φ/2)). An offset o from the centre, |o| <= r, is
turned by at most φ/2 from its direction at the middle, which moves it by 2 r sin(φ/4). Where the poses differ by a matrix E from
a rotation times each other, add (L(t) - L(t')) E, with L(t) the share of the change at t, |dL/dt| <= π/2.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats
from jostle.continuous.moving_point import arc_factors
from jostle.geometry.vector import Vec3, absolute, cross, dot, minus, plus, point_from, times
from jostle.kernels.arrays import read_only_view
from jostle.kernels.handles import AddressTable
from jostle.kernels.jit import kernel
from jostle.kernels.structs import One, Record, Rows, Run, float64, record_viewer
from jostle.methods.bounding_tree.axes import Affine
from jostle.methods.bounding_tree.overlap import orthonormal_error, write_pose
from jostle.methods.bounding_tree.tree import Point, Tree, TreeTopology, Volume, topology_of

MOST_HALVINGS = 7
INSTANTS = (2 << MOST_HALVINGS) + 1  # starts, ends and middles of all intervals
IDENTITY = np.eye(4)
IDENTITY.flags.writeable = False


class BodyMotion(Record):
    """A body within a step."""

    start: Affine
    change: Affine  # of these numbers until the end
    axis: Run[float64, Literal[3]]
    angle: float64
    mismatch: float64  # of the pose at the end and the turned pose at the start
    skew: float64  # how far rotations in between may be from orthonormal
    largest: float64  # |coordinate| of the step, or more
    deforms: float64  # whether the volumes at both ends differ


class Instant(Record):
    """A body at an instant: A and b, and the arc factors of single vertices."""

    place: Affine
    along: float64
    aside: float64


class Pad(Record):
    """Padding for a number of halvings: per radius, and per |k × shift of the centre|."""

    per_radius: float64
    per_shift: float64


class MovingShape(TreeTopology):
    """A tree within a step, by address."""

    volumes_t0: Rows[Volume]  # in body coordinates; in the world for a deforming body
    volumes_t1: Rows[Volume]
    vertices_t0: Rows[Point]  # in the world
    vertices_t1: Rows[Point]
    motion: One[BodyMotion]


FIRST_MOVING = len(TreeTopology.layout)  # place of the first field that a motion changes


class MovingTree(NamedTuple):
    """A tree within a step: what Python reads of it, and all of it by address."""

    volumes_t0: Floats  # (n,16)
    volumes_t1: Floats
    motion: NDArray[Any]  # (1,) of `BodyMotion`
    table: AddressTable  # of `MovingShape`


def resting_template(tree: Tree, vertices: Floats) -> AddressTable:
    """Return the table of a tree at rest, for `moving_tree`.

    Laying out all arrays again takes 40 µs for each body and step.
    """
    return MovingShape.table(
        volumes_t0=tree.volumes,
        volumes_t1=tree.volumes,
        vertices_t0=vertices,
        vertices_t1=vertices,
        motion=np.zeros(1, BodyMotion.dtype),
        **topology_of(tree),
    )


def moving_tree(
    template: AddressTable,
    volumes: tuple[Floats, Floats],
    poses: tuple[Floats, Floats],
    turn: Floats,
    world: tuple[Floats, Floats],
) -> MovingTree:
    """Assemble a tree within a step: volumes, poses and world vertices at both ends.

    The poses of a deforming body are the identity.
    """
    motion = np.zeros(1, BodyMotion.dtype)
    roots = read_only_view(volumes[0][0]), read_only_view(volumes[1][0])
    set_up_motion(read_only_view(poses[0]), read_only_view(poses[1]), read_only_view(turn), *roots, motion.view(np.float64))
    motion["deforms"] = volumes[0] is not volumes[1]
    moved = [volume.view(Volume.dtype) for volume in volumes] + [vertices.view(Point.dtype) for vertices in world] + [motion]
    return MovingTree(*volumes, motion, template.with_arrays(0, dict(enumerate(moved, FIRST_MOVING))))


def instant_of(motion: NDArray[Any], t: float) -> NDArray[Any]:
    """Return the `Instant` (1,) of a body with a motion (1,) at time t."""
    instant = np.zeros(1, Instant.dtype)
    write_instant(motion.view(np.float64), t, instant.view(np.float64))
    return instant


def pads_of(motion: NDArray[Any]) -> NDArray[Any]:
    """Return (MOST_HALVINGS + 1,) of `Pad`."""
    pads = np.zeros(MOST_HALVINGS + 1, Pad.dtype)
    write_pads(motion.view(np.float64), pads.view(np.float64).reshape(-1, 2))
    return pads


view_volume, view_motion = record_viewer(Volume), record_viewer(BodyMotion)
view_instant, view_pad = record_viewer(Instant), record_viewer(Pad)


@kernel
def set_up_motion(pose_t0: Floats, pose_t1: Floats, turn: Floats, root_t0: Floats, root_t1: Floats, numbers: Floats) -> None:
    """Write the `BodyMotion` between two poses (4,4): turn (4,), root volumes (16,)."""
    motion = view_motion(numbers)
    write_pose(pose_t0, motion.start)
    write_pose(pose_t1 - pose_t0, motion.change)
    axis, sine, cosine = point_from(turn, 0), math.sin(turn[3]), math.cos(turn[3])
    mismatch = 0.0
    for j in range(3):
        # The column turned by Rodrigues' formula, against that of the pose at the end.
        before = Vec3(pose_t0[0, j], pose_t0[1, j], pose_t0[2, j])
        after = Vec3(pose_t1[0, j], pose_t1[1, j], pose_t1[2, j])
        axial = (1.0 - cosine) * dot(axis, before)
        turned = plus(plus(times(cosine, before), times(sine, cross(axis, before))), times(axial, axis))
        off = absolute(minus(after, turned))
        mismatch = ((mismatch + off.x) + off.y) + off.z
    motion.axis[0], motion.axis[1], motion.axis[2], motion.angle = turn[0], turn[1], turn[2], turn[3]
    motion.mismatch = mismatch
    motion.skew = orthonormal_error(pose_t0) + 6.0 * mismatch
    # An upper bound of where it may be: on an arc a point is no farther from its chord than half of that is long.
    first, second = view_volume(root_t0), view_volume(root_t1)
    local, world = 0.0, 0.0
    for k in range(3):
        local = max(local, abs(first.centre[k]) + first.radius, abs(second.centre[k]) + second.radius)
        world = max(world, abs(pose_t0[k, 3]), abs(pose_t1[k, 3]))
    motion.largest = 3.0 * (world + 2.0 * local)


@kernel
def set_up_instant(motion: BodyMotion, t: float, instant: Instant) -> None:
    """Write A, b and the arc factors at time t."""
    along, aside = arc_factors(motion.angle, t)
    axis, start, change, place = point_from(motion.axis, 0), motion.start, motion.change, instant.place
    for j in range(3):
        before, by = Vec3(start.u[j], start.v[j], start.w[j]), Vec3(change.u[j], change.v[j], change.w[j])
        place.u[j], place.v[j], place.w[j] = moved_by(before, by, axis, t, along, aside)
    origin = moved_by(point_from(start.origin, 0), point_from(change.origin, 0), axis, t, along, aside)
    place.origin[0], place.origin[1], place.origin[2] = origin
    instant.along, instant.aside = along, aside


@kernel(forceinline=True)
def moved_by(start: Vec3, change: Vec3, axis: Vec3, t: float, along: float, aside: float) -> Vec3:
    """Return the position at time t, by the formula of `continuous/moving_point.py`."""
    across = minus(change, times(dot(axis, change), axis))
    return plus(start, plus(times(t, change), minus(times(along, across), times(aside, cross(axis, across)))))


@kernel
def set_up_pad(motion: BodyMotion, halvings: int, pad: Pad) -> None:
    """Write the padding for a number of halvings."""
    span = 0.5**halvings
    turned = motion.angle * span
    # 1e-4 is for poses that stretch by 1e-5, and for roundings.
    pad.per_radius = (2.0 * math.sin(0.25 * turned) + span * motion.mismatch) * (1.0 + 1e-4)
    pad.per_shift = 0.0 if turned == 0.0 else turned * turned / (16.0 * math.sin(0.5 * turned)) * (1.0 + 1e-4)


@kernel
def write_instant(motion: Floats, t: float, out: Floats) -> None:
    """Write the `Instant` at time t of a `BodyMotion`, both as flat arrays."""
    set_up_instant(view_motion(motion), t, view_instant(out))


@kernel
def write_pads(motion: Floats, out: Floats) -> None:
    """Write the `Pad`s (n,2) of a `BodyMotion`, both as arrays of numbers."""
    for halvings in range(out.shape[0]):
        set_up_pad(view_motion(motion), halvings, view_pad(out[halvings]))

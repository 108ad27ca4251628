"""Candidate pairs: bodies whose aligned, then oriented boxes overlap (§2, §4).

Any broad phase compares aligned world boxes, those of groups first and their members afterwards (`group_tree.py`). The
oriented box of a body is that of its mesh, in its own axes, placed by its pose; two are compared in the frame of one of
them by the 15 axes of the separating axis theorem (`geometry/box_box.py`), which the paper takes from Gottschalk.

Guarantee: no pair is dropped if the hulls of its world vertices (`geometry/rigid.py`) share a point.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from jostle._types import Floats, Ints
from jostle.broad_phase.candidates import Candidates, allowed_pairs
from jostle.broad_phase.choose import broad_phase_of
from jostle.broad_phase.priority_queue import PriorityQueue
from jostle.broad_phase.protocol import PairFinder
from jostle.broad_phase.volumes import Volumes
from jostle.geometry.box_box import WIDTH as BOX_ROW
from jostle.geometry.box_box import oriented_box_meets_box, set_up_oriented_box
from jostle.geometry.rigid import cull_padding, solve_relative_pose_into
from jostle.geometry.triangle import Bounds
from jostle.geometry.vector import Vec3, minus, times
from jostle.interface.body_pairs import CandidatePairs, every_pair
from jostle.interface.frame import Bodies, Frame
from jostle.interface.method import OldToNew
from jostle.kernels.arrays import read_only_view
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses
from jostle.methods.image_space.group_tree import BoxesOfGroups, tree_of_groups
from jostle.methods.image_space.regions import lengths_of, middle_in_world, middle_of_box
from jostle.methods.image_space.shape_table import ShapesOfBodies, box_of_body, open_shapes

if TYPE_CHECKING:
    from jostle.methods.image_space.method import ImageSpace

AT_ONCE = 200_000  # pairs of oriented boxes in one call: about 0.1 s
BOX_CORNER = 1.75  # > √3: the farthest a vertex may be from its pose's origin, in largest local coordinates


class BoxCandidates:
    """Finds candidate pairs by aligned and oriented boxes.

    Attributes
    ----------
    box_tests : int
        Of the last `find`: aligned boxes, of groups too, and oriented ones.
    """

    def __init__(self, method: ImageSpace, bodies: Bodies, shapes: ShapesOfBodies) -> None:
        self._broad = None if method.broad is None else broad_phase_of(method.broad)
        # Two bodies need only their oriented boxes: 1 µs, where aligned boxes and a grid take 70.
        self._bodies = Candidates(bodies, self._broad, few=2 if method.broad == "uniform_grid" else 0)
        # It uses the speed of bodies, which says nothing about the box of several: it gets bodies, not groups.
        self._sees_groups = not isinstance(self._broad, PriorityQueue)
        self._groups: BoxesOfGroups | None = None
        self._finder_of_groups: PairFinder | None = None
        self._group: Ints | None = None  # groups that the trees were built from
        self._shapes = shapes
        self.box_tests = 0

    def change(self, bodies: Bodies, shapes: ShapesOfBodies, old_to_new: OldToNew) -> None:
        """Update after bodies were added or removed; groups restart the broad phase."""
        self._bodies.change(bodies, old_to_new)
        self._group, self._shapes = None, shapes

    def find(self, frame: Frame) -> CandidatePairs:
        """Return the pairs that may meet and that the filters allow, sorted."""
        self._follow_groups(frame)
        pairs = self._by_aligned_boxes(frame)
        return self._by_oriented_boxes(pairs, frame)

    def _follow_groups(self, frame: Frame) -> None:
        """Rebuild the trees of the groups if the groups changed."""
        if self._group is not None and (frame.group is self._group or np.array_equal(frame.group, self._group)):
            return
        self._group = frame.group
        grouped = self._sees_groups and bool((frame.group >= 0).any())
        tree = tree_of_groups(frame.group) if grouped else None
        self._groups = BoxesOfGroups(tree) if tree is not None and tree.has_groups else None
        if self._groups is not None and self._broad is not None:
            self._finder_of_groups = self._broad.start(self._groups.tree.units)

    def _by_aligned_boxes(self, frame: Frame) -> CandidatePairs:
        """Return the pairs whose world boxes overlap; all without broad phase or groups."""
        groups, finder = self._groups, self._finder_of_groups
        if groups is None:
            pairs = self._bodies.pairs(frame)
            self.box_tests = self._bodies.box_tests
            return pairs
        volumes = self._bodies.volumes(frame)
        lower, upper = groups.refit(volumes.lower, volumes.upper)
        units = every_pair(len(lower)) if finder is None else finder.find(Volumes(lower, upper, dt=frame.dt))
        pairs = groups.pairs_below(units)
        self.box_tests = groups.box_tests + (0 if finder is None else finder.counters.get("box_tests", 0))
        return allowed_pairs(pairs, frame)

    def _by_oriented_boxes(self, pairs: CandidatePairs, frame: Frame) -> CandidatePairs:
        """Return the pairs whose oriented boxes meet."""
        count = len(pairs.body_a)
        self.box_tests += count
        kept, total = np.empty((2, count), np.int32), 0
        body_a, body_b, poses = read_only_view(pairs.body_a), read_only_view(pairs.body_b), read_only_view(frame.poses)
        relative, box = np.empty((4, 4)), np.empty((1, BOX_ROW))
        for start in range(0, count, AT_ONCE):
            total = meet_oriented(
                body_a, body_b, start, min(start + AT_ONCE, count), self._shapes.addresses, poses, relative, box, total, kept
            )
        return CandidatePairs(kept[0, :total], kept[1, :total])


@kernel
def meet_oriented(
    body_a: Ints, body_b: Ints, start: int, stop: int, addresses: Addresses, poses: Floats, relative: Floats, row: Floats,
    found: int, kept: Ints,
) -> int:  # fmt: skip
    """Append the pairs start … stop-1 whose oriented boxes meet to kept (2,k).

    Starts at column `found` and returns the new end. relative (4,4) and row (1, WIDTH of box_box) are scratch. The padding is
    that of `cull_padding` and a quarter more, for the rounding of B's middle and half axes in A's frame: 14 of its 128 parts.
    """
    shapes = open_shapes(addresses)
    for pair in range(start, stop):
        a, b = as_int64(body_a[pair]), as_int64(body_b[pair])
        box_a, box_b = box_of_body(shapes, a), box_of_body(shapes, b)
        of_a, of_b = lengths_of(poses[a], box_a), lengths_of(poses[b], box_b)
        padding = 1.25 * cull_padding(
            of_a.translation + BOX_CORNER * of_a.local, of_b.translation + BOX_CORNER * of_b.local, max(of_a.local, of_b.local)
        )
        solve_relative_pose_into(poses[a], poses[b], relative)
        away = minus(middle_in_world(relative, box_b), middle_of_box(box_a))
        p, q = half_sides(box_a), half_sides(box_b)
        set_up_oriented_box(
            row, 0,
            Vec3(relative[0, 0] * q.x, relative[1, 0] * q.x, relative[2, 0] * q.x),
            Vec3(relative[0, 1] * q.y, relative[1, 1] * q.y, relative[2, 1] * q.y),
            Vec3(relative[0, 2] * q.z, relative[1, 2] * q.z, relative[2, 2] * q.z),
            padding,
        )  # fmt: skip
        if oriented_box_meets_box(row, 0, away, p):
            kept[0, found], kept[1, found] = body_a[pair], body_b[pair]
            found += 1
    return found


@kernel(forceinline=True)
def half_sides(box: Bounds) -> Vec3:
    """Return half the side lengths of a box."""
    return times(0.5, minus(box.upper, box.lower))

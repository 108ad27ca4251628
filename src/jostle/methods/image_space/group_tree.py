"""Groups of bodies (a hand of capsules, a comb of cones) in binary trees of boxes.

Baciu, Wong and Sun assume convex blocks, and compose anything else of them in a hierarchy (§2, §4). Bodies of one group
are the blocks of such a structure: halves of their list, in the order of the bodies, are the branches, so that neighbours
in an articulated chain stay together. The boxes are refitted each frame. A broad phase sees one box per group, and its
members are compared only where those overlap.

Guarantee: exactly the body pairs of different groups whose own boxes overlap, since each box of the tree is the exact
hull of those below it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints
from jostle.broad_phase.volumes import overlap, refuse_too_many_pairs, sort_pairs
from jostle.interface.body_pairs import CandidatePairs
from jostle.kernels.arrays import read_only_view
from jostle.kernels.buffers import KEPT_BYTES
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.slices import run_in_slices
from jostle.kernels.structs import Record, int64, record_viewer

LEAF = -1  # as second child: the first child is a body
DEEPEST = 128  # pairs on the stack: two trees of 2³¹ leaves need 62
FIRST_SLICE = 500_000  # pairs of boxes: about 10 ms


class Descent(Record):
    """Where a descent stands."""

    next_units: int64  # the next pair of units
    height: int64  # of the stack
    found: int64
    tests: int64  # of boxes


view_descent = record_viewer(Descent)


class GroupTree(NamedTuple):
    """Trees over all bodies: one unit per group, and per body without a group."""

    child: Ints  # (m, 2) two nodes, or (body, LEAF); the first `units` nodes are the roots, children come after their parents
    units: int
    unit_of_body: Ints  # (n,)

    @property
    def has_groups(self) -> bool:
        """Whether any unit holds more than one body."""
        return self.units < len(self.unit_of_body)


def tree_of_groups(group: Ints) -> GroupTree:
    """Return the trees for bodies in groups (n,), -1 for none.

    Units are in the order of their first bodies.
    """
    unit_of_group: dict[int, int] = {}
    members: list[list[int]] = []
    unit_of_body = np.empty(len(group), np.int32)
    for body, number in enumerate(group.tolist()):
        unit = len(members) if number < 0 else unit_of_group.setdefault(number, len(members))
        if unit == len(members):
            members.append([])
        members[unit].append(body)
        unit_of_body[body] = unit
    child = [[0, 0] for _ in members]
    waiting = list(enumerate(members))
    while waiting:
        node, bodies = waiting.pop()
        if len(bodies) == 1:
            child[node] = [bodies[0], LEAF]
            continue
        child[node] = [len(child), len(child) + 1]
        middle = (len(bodies) + 1) // 2
        waiting += [(len(child), bodies[:middle]), (len(child) + 1, bodies[middle:])]
        child += [[0, 0], [0, 0]]
    return GroupTree(np.array(child, np.int32).reshape(-1, 2), len(members), unit_of_body)


class BoxesOfGroups:
    """The boxes of the trees, from frame to frame."""

    def __init__(self, tree: GroupTree) -> None:
        self.tree = tree
        self.box_tests = 0
        self._lower, self._upper = np.empty((2, len(tree.child), 3))
        self._pairs = self._few_pairs()
        self._count = np.empty((2, len(tree.unit_of_body) + 1), np.int32)
        self._stack = np.empty((DEEPEST, 2), np.int32)

    def refit(self, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
        """Refit to the boxes (n,3) of the bodies; return lower and upper (units, 3)."""
        refit_groups(self.tree.child, read_only_view(lower), read_only_view(upper), self._lower, self._upper)
        return self._lower[: self.tree.units], self._upper[: self.tree.units]

    def pairs_below(self, units: CandidatePairs) -> CandidatePairs:
        """Return the body pairs of these unit pairs whose boxes overlap, sorted.

        Sets `box_tests`.
        """
        unit_a, unit_b = read_only_view(units.body_a), read_only_view(units.body_b)

        def step(state: NDArray[np.int64], operations: int) -> tuple[bool, int]:
            used = descend_groups(
                unit_a, unit_b, self.tree.child, self._lower, self._upper, operations, state, self._stack, self._pairs
            )
            descent = view_descent(state)
            return bool(descent.next_units == len(unit_a) and descent.height == 0), max(1, int(used))

        while True:
            state = np.zeros(4, np.int64)
            run_in_slices(step, state, FIRST_SLICE)
            found, self.box_tests = int(view_descent(state).found), int(view_descent(state).tests)
            if found < self._pairs.shape[1]:
                break
            refuse_too_many_pairs(found)
            self._pairs = np.empty((3, found + found // 4 + 1), np.int32)
        pairs = np.empty((2, found), np.int32)
        kept = sort_pairs(self._pairs, found, self._count, pairs)
        if self._pairs.nbytes > KEPT_BYTES:
            self._pairs = self._few_pairs()
        return CandidatePairs(pairs[0, :kept], pairs[1, :kept])

    def _few_pairs(self) -> Ints:
        """Return room for the usual number of pairs."""
        return np.empty((3, 4 * len(self.tree.unit_of_body) + 64), np.int32)


@kernel
def refit_groups(child: Ints, lower: Floats, upper: Floats, out_lower: Floats, out_upper: Floats) -> None:
    """Write the boxes (m,3) of the nodes over those (n,3) of the bodies, bottom up."""
    for node in range(child.shape[0] - 1, -1, -1):
        first, second = child[node, 0], child[node, 1]
        for k in range(3):
            if second == LEAF:
                out_lower[node, k], out_upper[node, k] = lower[first, k], upper[first, k]
            else:
                out_lower[node, k] = min(out_lower[first, k], out_lower[second, k])
                out_upper[node, k] = max(out_upper[first, k], out_upper[second, k])


@kernel
def longest_edge(lower: Floats, upper: Floats, node: int) -> float:
    """Return the longest edge of the box of a node."""
    return max(upper[node, 0] - lower[node, 0], upper[node, 1] - lower[node, 1], upper[node, 2] - lower[node, 2])


@kernel
def descend_groups(
    unit_a: Ints, unit_b: Ints, child: Ints, lower: Floats, upper: Floats, operations: int, state: NDArray[np.int64], stack: Ints,
    pairs: Ints,
) -> int:  # fmt: skip
    """Resume the descent `state`, a `Descent`; return the operations used.

    An operation compares or opens a box. Body pairs (3,k) are written in no order, while there is room. The last column is
    never a result: overflow goes there.
    """
    used, last, descent = 0, pairs.shape[1] - 1, view_descent(state)
    k, height, found, tests = descent.next_units, descent.height, descent.found, descent.tests
    while used < operations and (height > 0 or k < unit_a.shape[0]):
        used += 1
        if height == 0:
            i, j = as_int64(unit_a[k]), as_int64(unit_b[k])
            tests += 1
            if overlap(lower, upper, i, j):
                stack[0, 0], stack[0, 1] = i, j
                height = 1
            k += 1
            continue
        height -= 1
        i, j = as_int64(stack[height, 0]), as_int64(stack[height, 1])
        leaf_i, leaf_j = child[i, 1] == LEAF, child[j, 1] == LEAF
        if leaf_i and leaf_j:
            place = min(found, last)
            pairs[0, place], pairs[1, place] = min(child[i, 0], child[j, 0]), max(child[i, 0], child[j, 0])
            found += 1
            continue
        # Open the larger one: its parts are more likely to miss the other.
        open_i = leaf_j or (not leaf_i and longest_edge(lower, upper, i) >= longest_edge(lower, upper, j))
        for side in range(2):
            p = as_int64(child[i, side]) if open_i else i
            q = j if open_i else as_int64(child[j, side])
            tests += 1
            if overlap(lower, upper, p, q):
                stack[height, 0], stack[height, 1] = p, q
                height += 1
    descent.next_units, descent.height, descent.found, descent.tests = k, height, found, tests
    return used

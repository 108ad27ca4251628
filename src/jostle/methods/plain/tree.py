"""Trees of boxes over the faces of all bodies, in one flat table, walked level by level.

Faces are sorted along a space-filling curve, once per mesh. Above them stand boxes, two by two. The shape of the trees depends on
the number of faces only (`plan_trees`); the boxes are taken anew for each frame (`fit_boxes`). They are those of the float64 world
vertices and are compared without rounding, so the walk loses nothing and needs no margin.

All body pairs are walked at once, with one NumPy operation per level instead of one per node: `walk` takes a comparison of two
columns of nodes, and yields columns of face pairs.

| node | children | box |
|---|---|---|
| 0 and 1 | none | empty: no comparison keeps them |
| leaf | -1 - face, a number in the flat table of faces | of the face |
| inner | two nodes, `child` and `child + 1` | of both |
| the odd one out of a level | 0 and 1 | empty |
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Floats, Ints, Longs
from jostle.geometry.morton import codes_of_points

AT_ONCE = 1 << 16  # node pairs that are compared together: some 20 MB of columns
EMPTY = 2  # nodes 0 and 1

Comparison = Callable[[Longs, Longs], Longs]
"""Takes two columns of nodes and returns the places (ascending) of the pairs to keep."""


class NodePairs(NamedTuple):
    """Pairs of nodes, and the number of the body pair that each belongs to."""

    pair: Longs
    a: Longs
    b: Longs

    def chosen(self, places: Longs | slice) -> NodePairs:
        """Return some of the pairs."""
        return NodePairs(self.pair[places], self.a[places], self.b[places])


class FacePairs(NamedTuple):
    """Pairs of faces by their numbers in the flat table, and their body pairs."""

    pair: Longs
    face_a: Longs
    face_b: Longs


class TreePlan(NamedTuple):
    """The shape of the trees of some bodies; see the module."""

    child: Longs  # (nodes,)
    levels: list[slice]  # the nodes of each level above the leaves, lowest first
    leaf: Longs  # (m,) nodes of the faces in tree order
    face: Longs  # (m,) their numbers in the flat table
    root: Longs  # (n,) the top node of each body


class Boxes(NamedTuple):
    """The boxes of all nodes, one column per coordinate, and the shape of the trees."""

    lower: Floats  # (3, nodes)
    upper: Floats  # (3, nodes)
    plan: TreePlan

    def meet(self, a: Longs, b: Longs) -> Longs:
        """Return the places where two nodes' boxes share a point; a `Comparison`."""
        kept: Longs = np.flatnonzero((self.lower[0][a] <= self.upper[0][b]) & (self.lower[0][b] <= self.upper[0][a]))
        for axis in (1, 2):
            lower, upper, p, q = self.lower[axis], self.upper[axis], a[kept], b[kept]
            kept = kept[(lower[p] <= upper[q]) & (lower[q] <= upper[p])]
        return kept


def face_order(vertices: Floats, faces: Ints) -> Ints:
    """Return the faces (m,) along a space-filling curve through their centres."""
    centre = np.empty((len(faces), 3))
    for axis, column in enumerate(vertices.T):  # four times as fast as minima along an axis of (m, 3, 3)
        p, q, r = (column[corner] for corner in faces.T)
        centre[:, axis] = 0.5 * np.minimum(np.minimum(p, q), r) + 0.5 * np.maximum(np.maximum(p, q), r)
    return np.argsort(codes_of_points(centre), kind="stable").astype(np.int32)


def plan_trees(orders: Sequence[Ints]) -> TreePlan:
    """Return the shape of the trees over bodies whose faces have these orders."""
    count = np.array([len(order) for order in orders], np.int64)
    first_face = np.cumsum(count) - count
    face = np.concatenate([np.empty(0, np.int64), *(order + start for order, start in zip(orders, first_face, strict=True))])
    width = _padded(count)  # of each body in the current level
    start = EMPTY + np.cumsum(width) - width
    leaf = ranges(start, count)
    child = [np.zeros(EMPTY + int(width.sum()), np.int64)]
    child[0][leaf] = -1 - face
    size = len(child[0])
    levels = []
    root = start.copy()
    active = np.flatnonzero(count > 1)
    start, count = start[active], count[active]
    while len(active):
        below, count = start, (count + 1) // 2
        width = _padded(count)
        start = size + np.cumsum(width) - width
        made = np.zeros(int(width.sum()), np.int64)
        made[ranges(start - size, count)] = ranges(below, count, step=2)
        child.append(made)
        levels.append(slice(size, size + len(made)))
        root[active] = start
        size += len(made)
        grows = count > 1
        active, start, count = active[grows], start[grows], count[grows]
    return TreePlan(np.concatenate(child), levels, leaf, face, root)


def _padded(count: Longs) -> Longs:
    """Return the counts, made even unless they are 1."""
    return np.where(count > 1, count + count % 2, count)


def ranges(start: Longs, count: Longs, step: int = 1) -> Longs:
    """Return start, start + step, … with `count` numbers for each start, in one column."""
    ends = np.cumsum(count)
    total = int(ends[-1]) if len(ends) else 0
    within = np.arange(total) - np.repeat(ends - count, count)
    found: Longs = np.repeat(start, count) + step * within
    return found


def fit_boxes(plan: TreePlan, points: Floats, corners: Longs) -> Boxes:
    """Return the boxes of all nodes for this frame.

    points : (3, v) world vertices of all bodies
    corners : (3, m) the vertices of each face of the flat table
    """
    lower, upper = np.full((3, len(plan.child)), np.inf), np.full((3, len(plan.child)), -np.inf)
    sorted_corners = corners[:, plan.face]
    for axis in range(3):
        p, q, r = (points[axis][corner] for corner in sorted_corners)
        lower[axis][plan.leaf] = np.minimum(np.minimum(p, q), r)
        upper[axis][plan.leaf] = np.maximum(np.maximum(p, q), r)
        for level in plan.levels:
            left = plan.child[level]
            lower[axis][level] = np.minimum(lower[axis][left], lower[axis][left + 1])
            upper[axis][level] = np.maximum(upper[axis][left], upper[axis][left + 1])
    return Boxes(lower, upper, plan)


def walk(plan: TreePlan, body_a: Ints, body_b: Ints, keep: Comparison, at_once: int = AT_ONCE) -> Iterator[FacePairs]:
    """Yield the face pairs of these body pairs that a comparison keeps on all levels.

    Depth first in parts of at most `at_once` node pairs, so memory is bounded, and a comparison that learns from what was yielded
    (a branch and bound) sees face pairs early. Each pair of faces comes once; of a body with itself in either order, never a face
    with itself.
    """
    waiting = [NodePairs(np.arange(len(body_a)), plan.root[body_a], plan.root[body_b])]
    while waiting:
        part = waiting.pop()
        if len(part.pair) > at_once:
            half = len(part.pair) // 2
            waiting += [part.chosen(slice(half, None)), part.chosen(slice(half))]
            continue
        part = part.chosen(keep(part.a, part.b))
        child_a, child_b = plan.child[part.a], plan.child[part.b]
        faces = np.flatnonzero((child_a < 0) & (child_b < 0) & (part.a != part.b))
        if len(faces):
            yield FacePairs(part.pair[faces], -1 - child_a[faces], -1 - child_b[faces])
        below = _pairs_below(part, child_a, child_b)
        if len(below.pair):
            waiting.append(below)


def _pairs_below(part: NodePairs, child_a: Longs, child_b: Longs) -> NodePairs:
    """Return the children of pairs of nodes: both are opened, or the one that is no leaf."""
    inner_a, inner_b, same = child_a >= 0, child_b >= 0, part.a == part.b
    both = np.flatnonzero(inner_a & inner_b)
    crosswise = np.flatnonzero(inner_a & inner_b & ~same)  # of a node with itself, left with right is enough
    only_a, only_b = np.flatnonzero(inner_a & ~inner_b), np.flatnonzero(inner_b & ~inner_a)
    p, q, r, s = child_a[both], child_b[both], child_a[only_a], child_b[only_b]
    whole_a, whole_b, pair = part.a[only_b], part.b[only_a], part.pair[both]
    return NodePairs(
        np.concatenate(
            (pair, pair, pair, part.pair[crosswise], part.pair[only_a], part.pair[only_a], part.pair[only_b], part.pair[only_b])
        ),
        np.concatenate((p, p, p + 1, child_a[crosswise] + 1, r, r + 1, whole_a, whole_a)),
        np.concatenate((q, q + 1, q + 1, child_b[crosswise], whole_b, whole_b, s, s + 1)),
    )


def sweep_bodies(boxes: Boxes, reach: float = 0.0) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield the body pairs (a < b) whose boxes come within reach along one axis.

    Sorted by that axis, where the bodies spread most; in parts, because 10,000 bodies have 50 million pairs.
    """
    lower, upper = boxes.lower[:, boxes.plan.root], boxes.upper[:, boxes.plan.root]
    if lower.shape[1] < 2:
        return
    with np.errstate(over="ignore"):
        axis = int(np.argmax(lower.max(axis=1) - lower.min(axis=1)))
    order = np.argsort(lower[axis], kind="stable")
    # Rounding is monotone: a lower end that is at most the exact sum is at most the rounded one.
    last = np.searchsorted(lower[axis][order], upper[axis][order] + reach, side="right")
    count = np.maximum(last - np.arange(1, len(order) + 1), 0)
    ends = np.cumsum(count)
    begin = 0
    while begin < len(order):
        end = max(begin + 1, int(np.searchsorted(ends, (ends[begin - 1] if begin else 0) + AT_ONCE, side="right")))
        chosen = slice(begin, end)
        one = np.repeat(order[chosen], count[chosen])
        other = order[ranges(np.arange(begin + 1, end + 1), count[chosen])]
        yield np.minimum(one, other), np.maximum(one, other)
        begin = end

"""The walk over all trees at once against all pairs of boxes."""

import numpy as np
import pytest

from jostle.methods.plain.tree import face_order, fit_boxes, plan_trees, sweep_bodies, walk

pytestmark = pytest.mark.small


class Bodies:
    """Random faces of some bodies, in one flat table."""

    def __init__(self, rng, counts):
        self.counts = counts
        self.points, self.corners, self.orders = [], [], []
        for body, count in enumerate(counts):
            vertices = 0.4 * rng.normal(size=(8, 3)) + 0.5 * rng.normal(size=3)
            faces = rng.integers(0, 8, (count, 3)).astype(np.int32)
            self.points.append(vertices.T)
            self.corners.append(faces.T + 8 * body)
            self.orders.append(face_order(vertices, faces))
        self.points, self.corners = np.concatenate(self.points, axis=1), np.concatenate(self.corners, axis=1)
        self.first = np.cumsum(counts) - counts
        corners = self.points[:, self.corners]
        self.lower, self.upper = corners.min(axis=1), corners.max(axis=1)

    def faces(self, body):
        return range(self.first[body], self.first[body] + self.counts[body])

    def meet(self, i, j):
        return bool((self.lower[:, i] <= self.upper[:, j]).all() and (self.lower[:, j] <= self.upper[:, i]).all())


@pytest.mark.parametrize("at_once", [1, 7, 1 << 16])
@pytest.mark.parametrize("seed", range(12))
def test_the_walk_finds_each_pair_of_boxes_that_meet_once(seed, at_once):
    rng = np.random.default_rng(seed)
    bodies = Bodies(rng, rng.integers(1, 40, int(rng.integers(1, 6))))
    plan = plan_trees(bodies.orders)
    boxes = fit_boxes(plan, bodies.points, bodies.corners)
    body_a, body_b = np.triu_indices(len(bodies.counts))
    found = []
    for part in walk(plan, body_a, body_b, boxes.meet, at_once):
        for pair, i, j in zip(*(column.tolist() for column in part), strict=True):
            found.append((pair, min(i, j), max(i, j)))
    expected = [
        (pair, i, j)
        for pair, (a, b) in enumerate(zip(body_a, body_b, strict=True))
        for i in bodies.faces(a)
        for j in bodies.faces(b)
        if (a != b or i < j) and bodies.meet(i, j)
    ]
    assert sorted(found) == expected


@pytest.mark.parametrize("reach", [0.0, 0.5])
def test_the_sweep_leaves_out_no_body_within_reach(reach):
    rng = np.random.default_rng(3)
    bodies = Bodies(rng, rng.integers(1, 6, 40))
    boxes = fit_boxes(plan_trees(bodies.orders), bodies.points, bodies.corners)
    found = [pair for part in sweep_bodies(boxes, reach) for pair in zip(*(column.tolist() for column in part), strict=True)]
    assert len(found) == len(set(found))
    lower, upper = boxes.lower[:, boxes.plan.root], boxes.upper[:, boxes.plan.root]
    for a in range(40):
        for b in range(a + 1, 40):
            gap = np.maximum(lower[:, a] - upper[:, b], lower[:, b] - upper[:, a]).max()
            assert gap > reach or (a, b) in set(found)


def test_memory_is_bounded_by_parts():
    rng = np.random.default_rng(4)
    bodies = Bodies(rng, [300, 400])
    plan = plan_trees(bodies.orders)
    largest = []

    def every_pair(a, b):
        largest.append(len(a))
        return np.flatnonzero((plan.child[a] != 0) & (plan.child[b] != 0))

    faces = sum(len(part.pair) for part in walk(plan, np.array([0]), np.array([1]), every_pair, 1000))
    assert faces == 300 * 400
    assert max(largest) <= 1000

"""The order of seeds: all of them once, and successive ones farther apart than in a random order."""

from __future__ import annotations

import numpy as np
import pytest

from jostle.methods.monte_carlo.seed_order import CELLS, far_apart_order, greedy_order
from tests.methods.monte_carlo.shell_meshes import MESHES, levels_of, mesh_of, shape_of


def steps(points, order):
    return np.linalg.norm(np.diff(points[order], axis=0), axis=1)


@pytest.mark.parametrize("name", MESHES)
def test_every_level_is_permuted(name):
    shape = shape_of(name)
    for level in levels_of(shape):
        begin, end = shape.level_first[level : level + 2]
        assert sorted(shape.seed_order[begin:end].tolist()) == list(range(begin, end))


@pytest.mark.small
@pytest.mark.parametrize("count", [30, CELLS, CELLS + 1, 1500])
@pytest.mark.parametrize("kind", ["sphere", "cube", "line"])
def test_successive_seeds_are_farther_apart_than_in_a_random_order(count, kind):
    rng = np.random.default_rng(count)
    points = rng.normal(size=(count, 3))
    if kind == "sphere":
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    elif kind == "cube":
        points = rng.uniform(size=(count, 3))
    else:
        points = np.outer(rng.uniform(size=count), [1.0, 2.0, -1.0])
    order = far_apart_order(points)
    assert sorted(order.tolist()) == list(range(count))
    random = np.mean([steps(points, rng.permutation(count)).mean() for _ in range(10)])
    assert steps(points, order).mean() > 1.2 * random
    # A run that is cut off is spread, too: its first quarter comes as near to every point as a random choice does.
    early = count // 4
    by_chance = np.mean([farthest_left(points, rng.permutation(count)[:early]) for _ in range(5)])
    assert farthest_left(points, order[:early]) < 1.05 * by_chance


def farthest_left(points, chosen):
    """How far the point that is farthest from all chosen ones is from them."""
    nearest = np.full(len(points), np.inf)
    for at in chosen:
        nearest = np.minimum(nearest, np.linalg.norm(points - points[at], axis=1))
    return nearest.max()


def test_the_coarsest_facets_of_a_blob_are_far_apart():
    mesh, shape = mesh_of("blob"), shape_of("blob")
    begin, end = shape.level_first[-2:]
    centres = shape.centre[shape.seed_order[begin:end]]
    assert np.linalg.norm(np.diff(centres, axis=0), axis=1).mean() > 0.5 * mesh.size


@pytest.mark.small
def test_few_points():
    assert greedy_order(np.zeros((0, 3))).tolist() == []
    assert greedy_order(np.ones((1, 3))).tolist() == [0]
    assert sorted(far_apart_order(np.ones((700, 3))).tolist()) == list(range(700))

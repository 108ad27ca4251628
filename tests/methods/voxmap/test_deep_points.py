"""Deep points against a flood fill of each component of the interior voxels."""

from __future__ import annotations

import numpy as np
import pytest

from jostle.methods.voxmap.deep_points import deep_points
from jostle.methods.voxmap.map import Lattice
from jostle.methods.voxmap.shape import prepare
from jostle.shapes import build
from jostle.shapes.build.rings import joined, placed
from tests.methods.voxmap.settings import Settings
from tests.methods.voxmap.voxel_bits import words_of

STEPS = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]


def interior_of(filled):
    padded = np.pad(filled, 1)
    inside = filled.copy()
    for x, y, z in STEPS:
        inside &= padded[1 + x : 1 + x + filled.shape[0], 1 + y : 1 + y + filled.shape[1], 1 + z : 1 + z + filled.shape[2]]
    return inside


def place_in_map(voxel, cells):
    """(word, bit): the order of the map."""
    x, y, z = voxel
    bx, by = (cells[0] + 3) >> 2, (cells[1] + 3) >> 2
    return ((z >> 2) * by + (y >> 2)) * bx + (x >> 2), ((z & 3) << 4) | ((y & 3) << 2) | (x & 3)


def lowest_of_components(inside):
    """The lowest voxel of each 6-connected component, in the order of the map."""
    left = {tuple(voxel) for voxel in np.argwhere(inside).tolist()}
    lowest = []
    while left:
        waiting = [left.pop()]
        component = [*waiting]
        while waiting:
            x, y, z = waiting.pop()
            for i, j, k in STEPS:
                voxel = (x + i, y + j, z + k)
                if voxel in left:
                    left.remove(voxel)
                    waiting.append(voxel)
                    component.append(voxel)
        lowest.append(min(component, key=lambda voxel: place_in_map(voxel, inside.shape)))
    return sorted(lowest, key=lambda voxel: place_in_map(voxel, inside.shape))


def check(filled):
    lattice = Lattice(np.array([1.0, -2.0, 0.5]), 0.25, np.array(filled.shape))
    found = deep_points(words_of(filled), lattice)
    expected = np.array(lowest_of_components(interior_of(filled)), float).reshape(-1, 3)
    np.testing.assert_array_equal(found, lattice.origin + 0.25 * (expected + 0.5))
    return len(found)


@pytest.mark.parametrize("cells", [(3, 3, 3), (9, 10, 11), (17, 8, 13), (24, 23, 22)])
def test_one_point_for_each_component(cells):
    rng = np.random.default_rng(sum(cells))
    counts = [check(rng.uniform(size=cells) < share) for share in (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)]
    assert counts[0] == 0
    assert counts[-1] == 1
    if cells[0] > 8:
        assert max(counts) > 5


def test_components_that_wind_through_words():
    """Two snakes beside each other, connected by nothing, several times through every word."""
    filled = np.zeros((26, 26, 26), bool)
    for k in range(0, 24, 8):
        filled[1:25, 1 + k : 4 + k, 1:4] = filled[1:25, 5 + k : 8 + k, 5:8] = True
        filled[1:25, 1 + k : 4 + k, 13:16] = True
    filled[1:4, 1:20, 1:4] = True
    assert check(filled) == 7


@pytest.mark.small
def test_a_small_map():
    filled = np.zeros((7, 5, 5), bool)
    filled[:3, :3, :3] = True
    assert check(filled) == 1
    filled[4:7, 1:4, 1:4] = True
    assert check(filled) == 2


def test_every_part_of_a_mesh_has_a_deep_point_inside():
    parts = [placed(build.icosphere(2, 0.5), at) for at in ((0.0, 0.0, 0.0), (2.0, 0.3, 0.1), (-0.4, 1.9, 0.2))]
    shape = prepare(joined(parts, "three"), Settings(across=40))
    assert len(shape.deep) == 3
    centres = np.array([(0.0, 0.0, 0.0), (2.0, 0.3, 0.1), (-0.4, 1.9, 0.2)])
    distance = np.linalg.norm(shape.deep[:, None] - centres, axis=2)
    assert (distance.min(axis=0) < 0.5).all()

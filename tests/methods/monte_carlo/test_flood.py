"""Flooding: from one pair of touching facets to the whole connected area, over the neighbours of either side."""

import pytest

import jostle
from jostle.shapes import build

PLATE = build.plate(12, 12, (12.0, 12.0))
UPRIGHT = jostle.translation((0.3, 0.4, 0.2)) @ jostle.rotation((1, 0, 0), 1.5)


@pytest.mark.parametrize("levels", [1, 2])
def test_one_seed_finds_the_whole_line_in_which_two_plates_cross(levels):
    def rows(method):
        world = jostle.World(method)
        world.add(PLATE)
        world.add(PLATE, UPRIGHT)
        contacts = world.detect().contacts
        return list(zip(contacts.face_a.tolist(), contacts.face_b.tolist(), strict=True))

    expected = rows("brute_force")
    assert len(expected) > 40
    for seed in range(3):
        assert rows(jostle.MonteCarlo(levels=levels, seeds=1, thorough=False, epsilon=0.0, seed=seed)) == expected

"""What is particular to the grid: how it classes sizes, and that hard scenes cost few box tests (counted, not timed)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jostle.broad_phase import AllPairs, UniformGrid, Volumes
from jostle.broad_phase.uniform_grid_cells import slot_of, tick_of
from jostle.errors import InputError
from tests.broad_phase.overlapping_boxes import overlapping


def find(lower, upper, cell=None):
    finder = UniformGrid(cell).start(len(lower))
    return np.stack(finder.find(Volumes(lower, upper))), finder.counters


def spread(n, seed=0, size=1.0, side=2.0):
    random = np.random.default_rng(seed)
    lower = random.random((n, 3)) * n ** (1 / 3) * side * size
    return lower, lower + size


@pytest.mark.small
def test_settings():
    assert repr(UniformGrid()) == "UniformGrid(cell=None)"
    assert UniformGrid(cell=2) == UniformGrid(2.0)
    for wrong in (0.0, -1.0, np.nan, np.inf, "wide"):
        with pytest.raises(InputError, match="cell"):
            UniformGrid(cell=wrong)


@pytest.mark.small
@pytest.mark.parametrize("cell", [1e-6, 0.3, 5.0, 1e6])
def test_the_cell_is_a_matter_of_speed_only(cell):
    random = np.random.default_rng(3)
    lower = random.random((60, 3)) * 4.0
    upper = lower + 10.0 ** random.uniform(-3.0, 0.3, (60, 1))
    found, counters = find(lower, upper, cell)
    np.testing.assert_array_equal(found, overlapping(lower, upper))
    if cell > 2.0:
        assert counters["levels"] == 1


@pytest.mark.small
def test_ticks_never_go_down():
    coordinates = np.sort(np.concatenate([s * 10.0 ** np.linspace(-40, 60, 300) for s in (-1.0, 1.0)]))
    for scale in (64.0, 3.7e-9, 6.4e89):
        ticks = [int(tick_of(x, scale)) for x in coordinates]
        assert ticks == sorted(ticks)
        assert abs(ticks[0]) <= 2**50
        assert abs(ticks[-1]) <= 2**50


@pytest.mark.small
def test_slots_are_in_the_table_and_neighbours_along_z_stand_together():
    random = np.random.default_rng(2)
    for x, y, z in random.integers(-(2**44), 2**44, (200, 3)).tolist():
        z -= z & 255
        first = slot_of(x, y, z, 3, 1000)
        assert 0 <= first < 1000
        assert [slot_of(x, y, z + k, 3, 1000) - first for k in range(256)] == list(range(256))


def test_boxes_of_one_size_are_one_level():
    lower, upper = spread(10_000)
    found, counters = find(lower, upper)
    assert counters["levels"] == 1
    assert counters["huge_boxes"] == 0
    assert counters["box_tests"] < 10 * len(lower)
    np.testing.assert_array_equal(found, np.stack(AllPairs().start(len(lower)).find(Volumes(lower, upper))))


def test_a_few_larger_boxes_do_not_coarsen_the_cells():
    lower, upper = spread(10_000)
    _, alone = find(lower, upper)
    upper[:5] += 30.0
    upper[5] += 0.9
    _, counters = find(lower, upper)
    assert counters["huge_boxes"] == 6
    assert counters["levels"] == 1
    assert counters["box_tests"] < alone["box_tests"] + 6.1 * len(lower)


def test_many_sizes_are_many_levels_and_still_few_tests():
    random = np.random.default_rng(0)
    n = 10_000
    size = 10.0 ** random.uniform(-12.0, 0.0, (n, 1)) * np.ones(3)
    lower = random.random((n, 3)) * 50.0
    found, counters = find(lower, lower + size)
    assert 20 < counters["levels"] <= 41
    assert counters["box_tests"] < 60 * n
    np.testing.assert_array_equal(found, np.stack(AllPairs().start(n).find(Volumes(lower, lower + size))))


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda lower, upper: (lower, upper), id="nothing"),
        pytest.param(lambda lower, upper: (lower + 1e7, upper + 1e7), id="offset"),
        pytest.param(lambda lower, upper: (lower * 1e30, upper * 1e30), id="scaled up"),
        pytest.param(lambda lower, upper: (lower * 1e-30, upper * 1e-30), id="scaled down"),
        pytest.param(lambda lower, upper: (lower, lower), id="points"),
        pytest.param(lambda lower, upper: (lower, lower + 1e-13 * (upper - lower)), id="tiny"),
        pytest.param(lambda lower, upper: (lower * (1, 1, 0), upper * (1, 1, 0)), id="flat world"),
        pytest.param(lambda lower, upper: (lower * (30, 0, 0), lower * (30, 0, 0) + 1.0), id="line"),
        pytest.param(lambda lower, upper: (lower * (0, 0, 30), lower * (0, 0, 30) + 1.0), id="line along z"),
        pytest.param(lambda lower, upper: (lower @ np.full((3, 3), 9.0), lower @ np.full((3, 3), 9.0) + 1.0), id="diagonal"),
        pytest.param(lambda lower, upper: (lower * 4096.0, lower * 4096.0 + 1.0), id="lonely"),
    ],
)
def test_hard_scenes_cost_few_tests(spoil):
    lower, upper = spoil(*spread(5_000))
    # One body has flown off along one axis, which must not ruin the cells of all others.
    for far in (False, True):
        if far:
            lower, upper = np.array(lower), np.array(upper)
            lower[77, 0] = upper[77, 0] = 1e45
        found, counters = find(lower, upper)
        assert counters["box_tests"] < 30 * len(lower) + 3 * found.shape[1]
        np.testing.assert_array_equal(found, np.stack(AllPairs().start(len(lower)).find(Volumes(lower, upper))))


def test_a_huge_box_among_a_million_small_ones():
    # Cubes of a lattice that do not touch, so the pairs are known: the huge box with the cubes below its top.
    k = np.arange(1_000_000)
    lower = np.stack([k % 100, k // 100 % 100, k // 10_000], axis=1).astype(float)
    upper = lower + 0.5
    huge = 123_456
    lower[huge] = (-1e3, -np.inf, -1e3)
    upper[huge] = (1e3, 1e3, 49.0)
    found, counters = find(lower, upper)
    below = np.flatnonzero((k // 10_000 <= 49) & (k != huge))
    expected = np.stack([np.minimum(below, huge), np.maximum(below, huge)])
    np.testing.assert_array_equal(found, expected)
    assert counters["huge_boxes"] == 1
    assert counters["box_tests"] < 30_000_000


@settings(max_examples=200, deadline=None, derandomize=True, database=None)
@given(
    st.lists(st.tuples(*[st.integers(-6, 6)] * 3, *[st.sampled_from([0, 1, 2, 3, 9, 200])] * 3), max_size=40),
    st.sampled_from([1.0, 0.1, 1e-25, 1e20, 2.0**-40]),
    st.sampled_from([0.0, 1 / 3, 1e7, -(2.0**43)]),
)
def test_any_small_lattice_boxes(rows, unit, offset):
    boxes = np.array(rows, dtype=float).reshape(-1, 6)
    # The corners are taken from one list of coordinates, so that boxes that touch do so after rounding as well.
    lower = offset + boxes[:, :3] * unit
    upper = offset + (boxes[:, :3] + boxes[:, 3:]) * unit
    np.testing.assert_array_equal(find(lower, upper)[0], overlapping(lower, upper))

"""Exact continuous queries against rational arithmetic: no contact missed, none invented, no time late."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest

from jostle.continuous import edge_edge, point_triangle
from jostle.continuous.queries import EDGE_EDGE, POINT_TRIANGLE, certified_times
from jostle.continuous.straight.algebraic import first_contact
from tests.continuous.moving_sets import SETS, queries_of
from tests.oracle.moving import judge

BENCHMARK = Path(os.environ.get("JOSTLE_DATA", Path(__file__).parents[2] / "../shared/data")) / "ccd"
NEVER_EARLIER_BY = 1.2e-10

small = pytest.mark.small


def complaints(kind, corners, times, tolerance=NEVER_EARLIER_BY):
    found = [(row, judge(kind, corners[row], times[row], tolerance)) for row in range(len(corners))]
    return [(row, word) for row, word in found if word]


@small
@pytest.mark.parametrize("name", SETS)
def test_a_few_agree_with_rational_arithmetic(name):
    for kind, corners in enumerate(queries_of(name, 12, seed=1)):
        assert complaints(kind, corners, certified_times(kind, corners, 1e-6)) == []


@pytest.mark.parametrize("name", SETS)
def test_they_agree_with_rational_arithmetic(name):
    for kind, corners in enumerate(queries_of(name, 60)):
        assert complaints(kind, corners, certified_times(kind, corners, 1e-6)) == []


def agree_with_whole_numbers(name, n, seed):
    """Compare with the last rung of the ladder, which agrees with the oracle in another test and is ten times faster."""
    for kind, corners in enumerate(queries_of(name, n, seed)):
        times = certified_times(kind, corners, 1e-6)
        truth = np.array([first_contact(kind, row) for row in corners.reshape(-1, 24).tolist()])
        assert (np.isfinite(times) == np.isfinite(truth)).all()
        hit = np.isfinite(times)
        assert (times[hit] <= truth[hit]).all()
        assert (times[hit] >= truth[hit] - NEVER_EARLIER_BY).all()


@pytest.mark.parametrize("name", SETS)
def test_floats_and_digits_agree_with_whole_numbers(name):
    agree_with_whole_numbers(name, 600, seed=2)


@pytest.mark.long
@pytest.mark.parametrize("name", SETS)
def test_many_floats_and_digits_agree_with_whole_numbers(name):
    agree_with_whole_numbers(name, 4000, seed=3)


@pytest.mark.parametrize("tolerance", [1.0, 1e-3, 1e-9, 1e-12, 1e-15])
def test_times_are_as_sharp_as_asked_for(tolerance):
    for name in ("random", "sliding, thirds", "touching after rounding", "in a skew plane", "on a line"):
        for kind, corners in enumerate(queries_of(name, 40, seed=4)):
            assert complaints(kind, corners, certified_times(kind, corners, tolerance), tolerance) == []


@pytest.mark.parametrize("name", SETS)
def test_the_order_of_corners_and_parts_does_not_matter(name):
    points, edges = queries_of(name, 400, seed=5)
    for order in ([0, 2, 3, 1], [0, 1, 3, 2]):
        same_decision(POINT_TRIANGLE, points, points[:, order + [4 + i for i in order]])
    for order in ([1, 0, 2, 3], [0, 1, 3, 2], [2, 3, 0, 1]):
        same_decision(EDGE_EDGE, edges, edges[:, order + [4 + i for i in order]])


@pytest.mark.parametrize("name", SETS)
def test_axes_and_signs_do_not_matter(name):
    for kind, corners in enumerate(queries_of(name, 400, seed=6)):
        same_decision(kind, corners, corners[:, :, [1, 2, 0]])
        same_decision(kind, corners, -corners)
        same_decision(kind, corners, corners * 2.0**-10)


def same_decision(kind, corners, changed):
    first, second = certified_times(kind, corners, 1e-6), certified_times(kind, np.ascontiguousarray(changed), 1e-6)
    assert (np.isfinite(first) == np.isfinite(second)).all()
    hit = np.isfinite(first)
    assert np.abs(first[hit] - second[hit]).max(initial=0.0) <= NEVER_EARLIER_BY


@pytest.mark.parametrize("name", ["random", "whole numbers to 2", "in a plane", "sliding", "touching on a grid"])
def test_backwards_there_is_contact_too(name):
    for kind, corners in enumerate(queries_of(name, 1000, seed=7)):
        back = np.concatenate([corners[:, 4:], corners[:, :4]], axis=1)
        assert (np.isfinite(certified_times(kind, corners, 1e-6)) == np.isfinite(certified_times(kind, back, 1e-6))).all()


def test_a_batch_is_answered_like_its_queries_one_by_one():
    for kind, corners in enumerate(queries_of("degenerate", 200, seed=8)):
        together = certified_times(kind, corners, 1e-6)
        assert [certified_times(kind, corners[row : row + 1], 1e-6)[0] for row in range(len(corners))] == together.tolist()


def test_more_open_queries_than_wait_at_once():
    points, edges = queries_of("sliding, thirds", 3000, seed=9)
    for kind, corners in ((POINT_TRIANGLE, points), (EDGE_EDGE, edges)):
        halves = np.concatenate([certified_times(kind, half, 1e-6) for half in np.array_split(corners, 40)])
        assert certified_times(kind, corners, 1e-6).tolist() == halves.tolist()


@small
def test_times_that_are_no_floats_are_rounded_down():
    """A point and the corner of an edge that slide through each other's edges, so that only exact arithmetic decides."""
    triangle, edge = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]], [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0]]
    for steps in range(2, 40):
        start, end = [1.0, 0.0, 1.0], [1.0, 0.0, 1.0 - steps]
        points = np.array([[start, *triangle, end, *triangle]])
        edges = np.array([[[3.0, 0.0, 1.0], [5.0, 1.0, 1.0], *edge, [3.0, 0.0, 1.0 - steps], [5.0, 1.0, 1.0 - steps], *edge]])
        for kind, corners in ((POINT_TRIANGLE, points), (EDGE_EDGE, edges)):
            assert complaints(kind, corners, certified_times(kind, corners, 1e-6)) == []


@small
def test_coordinates_of_more_digits_than_the_kernels_have():
    corners = np.zeros((1, 8, 3))
    corners[0, 1:4] = corners[0, 5:8] = [[-1e30, -1e30, 0.0], [1e30, -1e30, 0.0], [0.0, 1e30, 0.0]]
    corners[0, 0, 2], corners[0, 4, 2] = 2.0**-150, -(2.0**-151)
    assert certified_times(POINT_TRIANGLE, corners, 1e-6) == pytest.approx(2.0 / 3.0, abs=1e-9)
    corners[0, 4, 2] = 2.0**-200
    assert certified_times(POINT_TRIANGLE, corners, 1e-6).tolist() == [np.inf]


def benchmark_queries():
    """Return the NYU benchmark as (kind, corners (n,8,3), truth (n,)) for each file."""
    for file in sorted(BENCHMARK.glob("*/*/*.csv")):
        with file.open() as text:
            rows = [[int(x) for x in row] for row in csv.reader(text) if row]
        corners = np.array([[row[2 * k] / row[2 * k + 1] for k in range(3)] for row in rows]).reshape(-1, 8, 3)
        truth = np.array([row[6] for row in rows[::8]], dtype=bool)
        yield POINT_TRIANGLE if file.parent.name == "vertex-face" else EDGE_EDGE, corners, truth


@pytest.mark.skipif(not BENCHMARK.is_dir(), reason="JOSTLE_DATA does not lead to a folder with ccd/, the NYU queries")
def test_the_nyu_benchmark(capsys):
    counted = {roots: [0, 0] for roots in ("certified", "linear_interpolation", "regula_falsi")}
    total = 0
    for kind, corners, truth in benchmark_queries():
        total += len(corners)
        parts = [corners[:, 0], corners[:, 1:4], corners[:, 4], corners[:, 5:]]
        if kind == EDGE_EDGE:
            parts = [corners[:, :2], corners[:, 2:4], corners[:, 4:6], corners[:, 6:]]
        for roots, (missed, invented) in counted.items():
            hit = (point_triangle if kind == POINT_TRIANGLE else edge_edge)(*parts, roots=roots).hit
            counted[roots] = [missed + int((truth & ~hit).sum()), invented + int((hit & ~truth).sum())]
    with capsys.disabled():
        print(f"\nNYU, {total} queries, missed and invented: {counted}")  # noqa: T201
    assert total == 1824
    assert counted["certified"] == [0, 0]

"""point_triangle and edge_edge: cases with known answers, root finders, separation, and what is refused."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

import jostle
import jostle.continuous.queries
from jostle.continuous import edge_edge, point_triangle
from jostle.errors import InputError

small = pytest.mark.small
TRIANGLE = [[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]]
X_EDGE, Y_EDGE = [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [[0.0, -1.0, 1.0], [0.0, 1.0, 1.0]]


def down(edge, by):
    return (np.array(edge) - [0.0, 0.0, by]).tolist()


@small
def test_points_that_fall_on_a_triangle():
    start = [[1.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 2.0], [2.0, 2.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 0.0]]
    end = [[1.0, 1.0, -1.0], [1.0, 0.0, -3.0], [0.0, 0.0, 0.0], [2.0, 2.0, -1.0], [1.0, 1.0, 0.5], [1.0, 1.0, 1.0]]
    found = point_triangle(start, [TRIANGLE] * 6, end, [TRIANGLE] * 6)
    assert found.hit.tolist() == [True, True, True, False, False, True]
    assert found.time == pytest.approx([0.5, 0.25, 1.0, np.inf, np.inf, 0.0], abs=1e-9)
    assert found.hit.dtype == bool


@small
def test_an_edge_that_falls_on_an_edge():
    found = edge_edge([X_EDGE] * 3, [Y_EDGE] * 3, [X_EDGE] * 3, [down(Y_EDGE, 2.0), down(Y_EDGE, 0.5), down(Y_EDGE, 1.0)])
    assert found.hit.tolist() == [True, False, True]
    assert found.time == pytest.approx([0.5, np.inf, 1.0], abs=1e-9)


@small
def test_parallel_edges_meet_and_pass():
    above = [[0.0, 0.0, 1.0], [4.0, 0.0, 1.0]]
    beside = [[2.0, 0.0, 1.0], [4.0, 0.0, 1.0]]
    found = edge_edge([X_EDGE] * 2, [above, beside], [X_EDGE] * 2, [down(above, 3.0), down(beside, 3.0)])
    assert found.time == pytest.approx([1.0 / 3.0, np.inf], abs=1e-9)


@small
def test_everything_in_one_point():
    assert point_triangle(np.zeros((1, 3)), np.zeros((1, 3, 3)), np.ones((1, 3)), np.ones((1, 3, 3))).time.tolist() == [0.0]
    assert edge_edge(*[np.full((1, 2, 3), 0.1)] * 4).time.tolist() == [0.0]


@small
@pytest.mark.parametrize("roots", ["certified", "regula_falsi", "linear_interpolation"])
def test_all_root_finders_find_a_plain_contact(roots):
    found = point_triangle([[1.0, 1.0, 1.0]], [TRIANGLE], [[1.0, 1.0, -3.0]], [TRIANGLE], roots=roots)
    assert found.time == pytest.approx([0.25], abs=1e-6)


def test_separation():
    start, end = [[1.0, 1.0, 1.0], [1.0, 1.0, 0.25], [1.0, 1.0, 0.25]], [[1.0, 1.0, -1.0], [1.0, 1.0, 2.0], [1.0, 1.0, 0.0]]
    found = point_triangle(start, [TRIANGLE] * 3, end, [TRIANGLE] * 3, separation=0.5)
    assert found.hit.tolist() == [True, False, True]
    assert found.time[:2] == pytest.approx([0.25, np.inf], abs=1e-6)
    assert found.time[2] < 0.1
    found = edge_edge([X_EDGE], [Y_EDGE], [X_EDGE], [down(Y_EDGE, 2.0)], separation=0.5)
    assert found.time == pytest.approx([0.25], abs=1e-6)


@small
def test_the_example_in_the_documentation():
    assert doctest.testmod(jostle.continuous.queries) == (0, 2)


@small
@pytest.mark.parametrize("separation", [0.0, 0.1])
def test_any_layout_and_kind_of_numbers(separation):
    rng = np.random.default_rng(0)
    whole = rng.integers(-3, 4, size=(40, 8, 3))
    wanted = point_triangle(whole[:, 0], whole[:, 1:4], whole[:, 4], whole[:, 5:], separation=separation).time
    for array in (whole.astype(np.float32), np.asfortranarray(whole), np.repeat(whole, 2, axis=0)[::2], whole[::-1][::-1]):
        array.flags.writeable = False
        found = point_triangle(array[:, 0], array[:, 1:4], array[:, 4], array[:, 5:], separation=separation)
        assert found.time.tolist() == wanted.tolist()
    assert 0 < np.isfinite(wanted).sum() < 40


@small
def test_no_queries():
    found = point_triangle(np.empty((0, 3)), np.empty((0, 3, 3)), np.empty((0, 3)), np.empty((0, 3, 3)))
    assert found.hit.shape == found.time.shape == (0,)
    assert edge_edge([], [], [], []).time.shape == (0,)


@small
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"p_t0": [[0.0, 0.0]]}, r"p_t0 has shape \(1, 2\); it must be \(n, 3\)"),
        ({"tri_t1": TRIANGLE}, r"tri_t1 has shape \(3, 3\); it must be \(n, 3, 3\)"),
        ({"p_t1": np.zeros((2, 3))}, "p_t1 has 2 rows and p_t0 has 1"),
        ({"p_t0": [[0.0, np.nan, 0.0]]}, r"p_t0\[0, 1\] is nan"),
        ({"tri_t1": [[*TRIANGLE[:2], [0.0, 0.0, np.inf]]]}, r"tri_t1\[0, 2, 2\] is inf"),
        ({"p_t0": [[0.0, 1e40, 0.0]]}, r"p_t0\[0, 1\] is 1e\+40"),
        ({"p_t0": [["a", "b", "c"]]}, "p_t0 has dtype"),
        ({"tolerance": 0.0}, "tolerance is 0.0; it must be above 0 and at most 1"),
        ({"tolerance": 2.0}, "tolerance is 2.0"),
        ({"separation": -1.0}, "separation is -1.0"),
        ({"separation": np.nan}, "separation is nan"),
        ({"roots": "newton"}, "roots is 'newton'; choose one of certified, regula_falsi, linear_interpolation"),
        ({"roots": "regula_falsi", "separation": 0.1}, "only roots='certified' knows of a separation"),
    ],
)
def test_what_is_refused(change, words):
    good = {"p_t0": [[1.0, 1.0, 1.0]], "tri_t0": [TRIANGLE], "p_t1": [[1.0, 1.0, -1.0]], "tri_t1": [TRIANGLE]}
    with pytest.raises(InputError, match=words):
        point_triangle(**(good | change))


@small
def test_arrays_of_the_caller_stay_as_they_are():
    points = np.array([[1.0, 1.0, 1.0]])
    point_triangle(points, [TRIANGLE], points, [TRIANGLE])
    assert points.flags.writeable
    assert points.tolist() == [[1.0, 1.0, 1.0]]
    assert set(jostle.continuous.__all__) == {"MovingContacts", "edge_edge", "point_triangle"}

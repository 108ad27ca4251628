"""Every broad phase, on every set of boxes that one generator makes, finds exactly the pairs that NumPy finds one by one."""

from __future__ import annotations

import numpy as np
import pytest

from jostle.broad_phase import BROAD_PHASES, Volumes
from jostle.errors import InputError

SCENES = {}


def scene(make):
    SCENES[make.__name__] = make
    return make


def about(centre, size):
    return centre - 0.5 * size, centre + 0.5 * size


@scene
def sparse(random, n):
    return about(random.random((n, 3)) * n ** (1 / 3) * 3.0, np.ones((n, 3)))


@scene
def dense(random, n):
    return about(random.random((n, 3)) * n ** (1 / 3), random.uniform(0.5, 2.0, (n, 3)))


@scene
def clustered_far_apart(random, n):
    corner = random.choice([-1e4, 0.0, 3.3e5], (n, 3))
    return about(corner + random.normal(size=(n, 3)), random.uniform(0.1, 0.5, (n, 3)))


@scene
def touching_cubes(random, n):
    # Cubes of a lattice share faces, edges or corners with up to 26 neighbours, and nothing else.
    lower = random.integers(-3, 4, (n, 3)).astype(float)
    return lower, lower + 1.0


@scene
def touching_at_rounded_coordinates(random, n):
    lines = np.arange(-8, 9) * 0.1 + 1e3 / 3
    k = random.integers(0, 15, (n, 3))
    return lines[k], lines[k + random.integers(1, 3, (n, 3))]


@scene
def starting_just_below_a_whole_number(random, n):
    # Touching cubes whose lower corners have 0.999… and 2, while all edges round to 1: cells of edge 1 would be 0 and 2.
    k = random.integers(0, 2, (n, 3))
    lower = np.where(k == 0, np.nextafter(1.0, 0.0), 2.0)
    upper = np.where(k == 0, 2.0, 3.0)
    assert (upper - lower == 1.0).all()
    return lower, upper


@scene
def missing_each_other_by_one_bit(random, n):
    lower = random.integers(0, 4, (n, 3)).astype(float)
    upper = lower + 1.0
    return lower, np.where(random.random((n, 3)) < 0.5, upper, np.nextafter(upper, -np.inf))


@scene
def points(random, n):
    lower = random.integers(0, 5, (n, 3)) * 0.1
    return lower, lower.copy()


@scene
def all_in_one_point(random, n):
    lower = np.full((n, 3), 7.3)
    return lower, lower.copy()


@scene
def all_at_the_origin(random, n):
    return np.zeros((n, 3)), np.zeros((n, 3))


@scene
def identical(random, n):
    return np.full((n, 3), -1.5), np.full((n, 3), 2.5)


@scene
def plates_and_needles(random, n):
    size = random.uniform(0.5, 1.0, (n, 3)) * 2.0
    size[np.arange(n), random.integers(0, 3, n)] = 0.0
    size[::3, 1] = 0.0
    return about(random.random((n, 3)) * n ** (1 / 3) * 1.5, size)


@scene
def plates_of_one_axis_among_cubes(random, n):
    size = np.where(random.random((n, 1)) < 0.5, (0.01, 4.0, 4.0), (1.5, 1.5, 1.5))
    return about(random.random((n, 3)) * n ** (1 / 3) * 2.0, size)


@scene
def nested(random, n):
    size = 0.97 ** np.arange(n)[:, None] * np.ones(3)
    return about(np.full((n, 3), 0.25), size)


@scene
def one_huge_among_many(random, n):
    lower, upper = sparse(random, n)
    lower[n // 3], upper[n // 3] = (-1e3, -1e3, 1.0), (1e3, 1e3, 2.0)
    return lower, upper


@scene
def twelve_decades_of_sizes(random, n):
    size = 10.0 ** random.uniform(-12.0, 0.0, (n, 1)) * random.uniform(0.2, 1.0, (n, 3))
    return about(random.random((n, 3)) * 2.0, size)


@scene
def twelve_decades_in_one_place(random, n):
    scale = 10.0 ** random.uniform(-12.0, 0.0, (n, 1))
    return about(random.normal(size=(n, 3)) * scale, scale * random.uniform(0.2, 1.0, (n, 3)))


@scene
def tiny_for_where_they_are(random, n):
    lower = 100.0 + random.integers(0, 5, (n, 3)) * 1e-13
    return lower, lower + random.integers(0, 2, (n, 3)) * 1e-13


@scene
def from_1e_minus_30_to_1e30(random, n):
    lower = random.choice([-1.0, 1.0], (n, 3)) * 10.0 ** random.uniform(-30.0, 30.0, (n, 3))
    return lower, lower + np.abs(lower) * random.choice([0.0, 1e-16, 0.5, 3.0], (n, 3))


@scene
def one_has_flown_off(random, n):
    lower, upper = dense(random, n)
    lower[0, 1] = upper[0, 1] = 1e25
    return lower, upper


@scene
def ground_planes_and_half_spaces(random, n):
    lower, upper = dense(random, n)
    for body in range(0, n, 7):
        axis = body % 3
        lower[body, [axis - 1, axis - 2]] = -np.inf
        upper[body, [axis - 1, axis - 2]] = np.inf
    lower[1, 2] = -np.inf
    upper[3] = np.inf
    return lower, upper


@scene
def nothing_but_infinite(random, n):
    lower, upper = about(random.random((n, 3)) * n, np.ones((n, 3)))
    lower[:, 0], upper[:, 0] = -np.inf, np.inf
    lower[: n // 2, 1], upper[: n // 2, 1] = -np.inf, np.inf
    return lower, upper


def at_offset(offset):
    def make(random, n):
        lower = offset + random.integers(0, 6, (n, 3)) * 0.7
        return lower, lower + random.choice([0.7, 1.4], (n, 3))

    make.__name__ = f"at_offset_{offset:g}"
    return make


for distance in (1e7, -1e10, 1e13, -2e13, 1e15, 1e16):
    scene(at_offset(distance))


def boxes_of(name, n, seed=0):
    random = np.random.default_rng([seed, n, *name.encode()])
    lower, upper = SCENES[name](random, n)
    order = random.permutation(n)
    lower, upper = lower[order], upper[order]
    assert (lower <= upper).all()
    return lower, upper


def pairs_one_by_one(lower, upper):
    overlap = (lower[:, None] <= upper[None]).all(axis=2)
    return np.nonzero(np.triu(overlap & overlap.T, 1))  # row by row: sorted by (a, b)


def assert_right(found, lower, upper):
    a, b = pairs_one_by_one(lower, upper)
    assert found.body_a.dtype == found.body_b.dtype == np.int32
    np.testing.assert_array_equal(np.stack([found.body_a, found.body_b]), np.stack([a, b]))


@pytest.fixture(params=list(BROAD_PHASES))
def broad_phase(request):
    return BROAD_PHASES[request.param]()


@pytest.mark.small
@pytest.mark.parametrize("name", SCENES)
def test_it_finds_exactly_the_overlapping_boxes_of_a_few(broad_phase, name):
    lower, upper = boxes_of(name, 30)
    assert_right(broad_phase.start(30).find(Volumes(lower, upper)), lower, upper)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SCENES)
def test_it_finds_exactly_the_overlapping_boxes_of_many(broad_phase, name, seed):
    lower, upper = boxes_of(name, 700, seed)
    assert_right(broad_phase.start(700).find(Volumes(lower, upper)), lower, upper)


@pytest.mark.small
@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["touching_cubes", "identical", "points", "all_at_the_origin", "nothing_but_infinite"])
def test_it_serves_hardly_any_bodies(broad_phase, name, n):
    lower, upper = boxes_of(name, n)
    assert_right(broad_phase.start(n).find(Volumes(lower, upper)), lower, upper)


@pytest.mark.small
def test_scenes_do_overlap():
    # Otherwise the tests above could pass by finding nothing.
    for name in SCENES:
        a, _ = pairs_one_by_one(*boxes_of(name, 700))
        assert len(a) > 10, name


@pytest.mark.small
def test_it_follows_boxes_that_move_and_bodies_that_come_and_go(broad_phase):
    random = np.random.default_rng(5)
    lower, upper = boxes_of("dense", 60)
    finder = broad_phase.start(60)
    for _ in range(3):
        assert_right(finder.find(Volumes(lower, upper)), lower, upper)
        step = random.normal(size=(60, 3)) * 0.3
        lower, upper = lower + step, upper + step
    kept = np.flatnonzero(random.random(60) < 0.7)
    old_to_new = np.full(60, -1)
    old_to_new[kept] = np.arange(len(kept))
    finder.change(len(kept), old_to_new)
    assert_right(finder.find(Volumes(lower[kept], upper[kept])), lower[kept], upper[kept])
    lower, upper = boxes_of("clustered_far_apart", 200)
    finder.change(200, np.arange(len(kept)))
    assert_right(finder.find(Volumes(lower, upper)), lower, upper)
    finder.change(0, np.full(200, -1))
    assert_right(finder.find(Volumes(lower[:0], upper[:0])), lower[:0], upper[:0])


def test_it_makes_room_for_more_pairs_than_it_expected(broad_phase):
    lower, upper = boxes_of("sparse", 300)
    finder = broad_phase.start(300)
    few = finder.find(Volumes(lower, upper))
    kept = few.body_a.copy(), few.body_b.copy()
    many = np.zeros((300, 3)), np.ones((300, 3))
    assert_right(finder.find(Volumes(*many)), *many)
    assert finder.counters["pairs"] == 300 * 299 // 2
    assert_right(finder.find(Volumes(lower, upper)), lower, upper)
    np.testing.assert_array_equal(few, kept)  # a result is not written to again


@pytest.mark.small
def test_it_leaves_its_input_alone_and_takes_any_layout(broad_phase):
    lower, upper = boxes_of("dense", 40)
    before = lower.copy(), upper.copy()
    found = broad_phase.start(40).find(Volumes(lower, upper))
    np.testing.assert_array_equal((lower, upper), before)
    for array in (lower, upper):
        array.flags.writeable = False
    again = broad_phase.start(40).find(Volumes(lower, upper))
    transposed = broad_phase.start(40).find(Volumes(np.asfortranarray(lower), np.asfortranarray(upper)))
    np.testing.assert_array_equal(found, again)
    np.testing.assert_array_equal(found, transposed)


@pytest.mark.small
def test_it_refuses_boxes_of_another_number_of_bodies(broad_phase):
    lower, upper = boxes_of("dense", 40)
    finder = broad_phase.start(39)
    with pytest.raises(InputError, match="40 bodies"):
        finder.find(Volumes(lower, upper))
    finder.change(40, np.arange(39))
    assert_right(finder.find(Volumes(lower, upper)), lower, upper)


@pytest.mark.small
def test_it_counts_and_its_repr_is_a_row_of_a_table(broad_phase):
    lower, upper = boxes_of("dense", 40)
    finder = broad_phase.start(40)
    found = finder.find(Volumes(lower, upper))
    assert finder.counters["pairs"] == len(found.body_a)
    assert finder.counters["box_tests"] >= len(found.body_a)
    assert all(type(number) is int for number in finder.counters.values())
    assert repr(broad_phase).startswith(type(broad_phase).__name__ + "(")
    assert hash(broad_phase) == hash(type(broad_phase)())

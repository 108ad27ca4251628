"""Every broad phase, on every set of boxes that one generator makes, finds the pairs that NumPy finds one by one.

Those by boxes find exactly the overlapping boxes, those by spheres exactly the overlapping spheres, but for the last bits.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

from jostle.broad_phase import (
    BROAD_PHASES,
    PriorityQueue,
    Volumes,
    bounding_spheres,
    brute_force,
    fast_aabb,
    priority_queue,
    sweep_and_prune,
    uniform_grid,
)
from jostle.broad_phase.volumes import refuse_too_many_pairs
from jostle.errors import InputError

SCENES = {}
BY_SPHERES = ("bounding_spheres", "priority_queue")
SLICED = (bounding_spheres, brute_force, fast_aabb, priority_queue, sweep_and_prune, uniform_grid)
SPEED = 20.0  # what the queue is told, in these tests with one second from frame to frame


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


@functools.lru_cache(maxsize=400)
def boxes_of(name, n, seed=0):
    random = np.random.default_rng([seed, n, *name.encode()])
    lower, upper = SCENES[name](random, n)
    order = random.permutation(n)
    lower, upper = lower[order], upper[order]
    assert (lower <= upper).all()
    for array in (lower, upper):
        array.flags.writeable = False
    return lower, upper


def pairs_one_by_one(lower, upper):
    overlap = (lower[:, None, 0] <= upper[None, :, 0]) & (lower[:, None, 1] <= upper[None, :, 1])
    overlap &= lower[:, None, 2] <= upper[None, :, 2]
    return np.nonzero(np.triu(overlap & overlap.T, 1))  # row by row: sorted by (a, b)


def spheres_one_by_one(volumes):
    """Pairs of spheres that overlap for sure, and those that may as far as rounding goes."""
    centre, radius = volumes.spheres()
    square = sum(np.square(centre[:, None, k] - centre[None, :, k]) for k in range(3))
    reach = np.square(radius[:, None] + radius[None])
    surely, perhaps = square * (1.0 + 1e-14) <= reach, square <= reach * (1.0 + 1e-13) + 1e-290
    return np.triu(surely, 1), np.triu(perhaps, 1)


def matrix_of(found, n):
    matrix = np.zeros((n, n), bool)
    matrix[found.body_a, found.body_b] = True
    return matrix


def assert_right(finder, volumes):
    """Find, and compare with what comes out one by one."""
    found = finder.find(volumes)
    assert found.body_a.dtype == found.body_b.dtype == np.int32
    key = found.body_a.astype(np.int64) << 32 | found.body_b
    assert (found.body_a < found.body_b).all()
    assert (np.diff(key) > 0).all()
    a, b = pairs_one_by_one(volumes.lower, volumes.upper)
    if by_spheres(finder):
        got = matrix_of(found, len(volumes))
        surely, perhaps = spheres_one_by_one(volumes)
        assert not (surely & ~got).any()
        assert not (got & ~perhaps).any()
        if volumes.centre is None:
            assert got[a, b].all()  # spheres of boxes hold them
    else:
        np.testing.assert_array_equal(np.stack([found.body_a, found.body_b]), np.stack([a, b]))
    return found


def by_spheres(finder):
    return type(finder).__name__ in ("BoundingSpheresFinder", "PriorityQueueFinder")


@pytest.fixture(params=list(BROAD_PHASES))
def broad_phase(request):
    return PriorityQueue(speed=SPEED) if request.param == "priority_queue" else BROAD_PHASES[request.param]()


@pytest.mark.small
@pytest.mark.parametrize("name", SCENES)
def test_it_finds_the_overlapping_volumes_of_a_few(broad_phase, name):
    lower, upper = boxes_of(name, 30)
    assert_right(broad_phase.start(30), Volumes(lower, upper))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", SCENES)
def test_it_finds_the_overlapping_volumes_of_many(broad_phase, name, seed):
    lower, upper = boxes_of(name, 400, seed)
    assert_right(broad_phase.start(400), Volumes(lower, upper))


@pytest.mark.small
@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["touching_cubes", "identical", "points", "all_at_the_origin", "nothing_but_infinite"])
def test_it_serves_hardly_any_bodies(broad_phase, name, n):
    lower, upper = boxes_of(name, n)
    assert_right(broad_phase.start(n), Volumes(lower, upper))


@pytest.mark.small
def test_scenes_do_overlap():
    # Otherwise the tests above could pass by finding nothing.
    for name in SCENES:
        a, _ = pairs_one_by_one(*boxes_of(name, 400))
        assert len(a) > 10, name


@pytest.mark.small
def test_it_follows_boxes_that_move_and_bodies_that_come_and_go(broad_phase):
    random = np.random.default_rng(5)
    lower, upper = boxes_of("dense", 60)
    finder = broad_phase.start(60)
    for _ in range(3):
        assert_right(finder, Volumes(lower, upper, dt=1.0))
        step = random.normal(size=(60, 3)) * 0.3
        lower, upper = lower + step, upper + step
    kept = np.flatnonzero(random.random(60) < 0.7)
    old_to_new = np.full(60, -1)
    old_to_new[kept] = np.arange(len(kept))
    finder.change(len(kept), old_to_new)
    assert_right(finder, Volumes(lower[kept], upper[kept], dt=1.0))
    lower, upper = boxes_of("clustered_far_apart", 200)
    finder.change(200, np.arange(len(kept)))
    assert_right(finder, Volumes(lower, upper, dt=1.0, jumps=np.ones(200, bool)))
    finder.change(0, np.full(200, -1))
    assert_right(finder, Volumes(lower[:0], upper[:0], dt=1.0))
    finder.change(3, np.empty(0, int))
    assert_right(finder, Volumes(lower[:3], upper[:3], dt=1.0))


class Crowd:
    """Boxes that drift and breathe in a cube; sometimes one jumps, some come and some go."""

    def __init__(self, random, n, speed):
        self.random, self.speed = random, speed
        self.edge = 2.5 * max(1, n) ** (1 / 3)
        self.centre, self.velocity, self.phase = (np.empty((0, 3)) for _ in range(3))
        self.size = np.empty((0, 3))
        self.grow(n)

    def grow(self, count):
        way = self.random.normal(size=(count, 3))
        way *= self.random.uniform(0.0, self.speed, (count, 1)) / np.linalg.norm(way, axis=1)[:, None].clip(1e-9)
        self.centre = np.vstack([self.centre, self.random.random((count, 3)) * self.edge])
        self.velocity = np.vstack([self.velocity, way])
        self.size = np.vstack([self.size, self.random.uniform(0.3, 0.8, (count, 3))])
        self.phase = np.vstack([self.phase, self.random.uniform(0.0, 6.0, (count, 3))])

    def step(self):
        self.centre = self.centre + self.velocity
        self.velocity = np.where((self.centre < 0.0) | (self.centre > self.edge), -self.velocity, self.velocity)
        self.phase = self.phase + 0.05

    def jump(self, count):
        jumps = np.zeros(len(self.centre), bool)
        jumps[self.random.integers(0, len(self.centre), count)] = True
        self.centre = np.where(jumps[:, None], self.random.random(self.centre.shape) * self.edge, self.centre)
        return jumps

    def keep(self, stay):
        self.centre, self.velocity, self.size, self.phase = (
            each[stay] for each in (self.centre, self.velocity, self.size, self.phase)
        )

    def volumes(self, jumps=None):
        size = self.size * (1.0 + 0.2 * np.sin(self.phase))
        return Volumes(self.centre - size, self.centre + size, dt=1.0, jumps=jumps)


def follow_a_crowd(broad_phase, n, frames, seed, events=True):
    random = np.random.default_rng(seed)
    crowd = Crowd(random, n, 0.05)
    finder = broad_phase.start(n)
    seen, last = set(), set()
    for frame in range(frames):
        comes_and_goes = events and frame % 13 == 7
        jumps = crowd.jump(2) if events and frame % 11 == 5 and not comes_and_goes else None
        if comes_and_goes:
            stay = random.random(len(crowd.centre)) < 0.9
            old_to_new = np.where(stay, np.cumsum(stay) - 1, -1)
            crowd.keep(stay)
            crowd.grow(int(random.integers(0, 2 * n // 10 + 2)))
            finder.change(len(crowd.centre), old_to_new)
        found = assert_right(finder, crowd.volumes(jumps))
        last = set(zip(found.body_a.tolist(), found.body_b.tolist(), strict=True))
        seen |= last
        crowd.step()
    return seen, last, finder


@pytest.fixture
def slow_broad_phase(broad_phase):
    # The queue is told a bound that bodies nearly reach, so that pairs do sleep.
    return PriorityQueue(speed=0.05) if isinstance(broad_phase, PriorityQueue) else broad_phase


@pytest.mark.small
@pytest.mark.parametrize("n", [1, 2, 3, 12])
def test_it_follows_a_few_through_motion_jumps_and_changes(slow_broad_phase, n):
    follow_a_crowd(slow_broad_phase, n, 60, seed=n)


@pytest.mark.parametrize("seed", range(2))
def test_it_follows_a_crowd_over_hundreds_of_frames(slow_broad_phase, seed):
    seen, last, _ = follow_a_crowd(slow_broad_phase, 150, 300, seed, events=False)
    assert len(seen) > 3 * len(last) > 30  # pairs came and went


@pytest.mark.parametrize("seed", range(2))
def test_it_follows_a_crowd_through_motion_jumps_and_changes(slow_broad_phase, seed):
    follow_a_crowd(slow_broad_phase, 150, 150, 100 + seed)


@pytest.mark.small
def test_boxes_without_an_end_move_too(slow_broad_phase):
    random = np.random.default_rng(1)
    crowd = Crowd(random, 15, 0.05)
    finder = slow_broad_phase.start(15)
    for _ in range(12):
        volumes = crowd.volumes()
        lower, upper = volumes.lower.copy(), volumes.upper.copy()
        lower[3, :2], upper[3, :2] = -np.inf, np.inf
        upper[7, 2] = np.inf
        assert_right(finder, Volumes(lower, upper, dt=1.0, jumps=np.arange(15) % 4 == 3))
        crowd.step()


def test_it_makes_room_for_more_pairs_than_it_expected(broad_phase):
    lower, upper = boxes_of("sparse", 300)
    finder = broad_phase.start(300)
    few = finder.find(Volumes(lower, upper))
    kept = few.body_a.copy(), few.body_b.copy()
    many = np.zeros((300, 3)), np.ones((300, 3))
    jumps = np.ones(300, bool)
    assert_right(finder, Volumes(*many, jumps=jumps))
    assert finder.counters["pairs"] == 300 * 299 // 2
    assert_right(finder, Volumes(lower, upper, jumps=jumps))
    np.testing.assert_array_equal(few, kept)  # a result is not written to again


@pytest.mark.small
@pytest.mark.parametrize("name", ["dense", "all_in_one_point", "twelve_decades_of_sizes", "ground_planes_and_half_spaces"])
def test_work_in_slices_comes_to_the_same(broad_phase, name, monkeypatch):
    lower, upper = boxes_of(name, 60)
    whole = broad_phase.start(60)
    found = whole.find(Volumes(lower, upper))
    for module in SLICED:
        for constant in ("_SLICE", "SLICE"):
            if hasattr(module, constant):
                monkeypatch.setattr(module, constant, 7)
    sliced = broad_phase.start(60)
    np.testing.assert_array_equal(assert_right(sliced, Volumes(lower, upper)), found)
    assert sliced.counters == whole.counters


@pytest.mark.small
def test_more_pairs_than_can_be_numbered_are_refused():
    refuse_too_many_pairs(2**31 - 1)
    with pytest.raises(InputError, match="2147483648 pairs"):
        refuse_too_many_pairs(2**31)


@pytest.mark.small
def test_it_leaves_its_input_alone_and_takes_any_layout(broad_phase):
    lower, upper = (array.copy() for array in boxes_of("dense", 40))
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
    assert_right(finder, Volumes(lower, upper))


@pytest.mark.small
def test_it_counts_and_its_repr_is_a_row_of_a_table(broad_phase):
    lower, upper = boxes_of("dense", 40)
    finder = broad_phase.start(40)
    found = finder.find(Volumes(lower, upper))
    assert finder.counters["pairs"] == len(found.body_a)
    assert finder.counters["box_tests"] >= len(found.body_a)
    assert all(type(number) is int for number in finder.counters.values())
    assert repr(broad_phase).startswith(type(broad_phase).__name__ + "(")
    assert hash(broad_phase) == hash(type(broad_phase)(**vars(broad_phase)))

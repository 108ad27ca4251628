"""The queue: pairs sleep, none is missed while the bounds hold, and a bound that does not hold is noticed and named."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from jostle.broad_phase import BoundingSpheres, PriorityQueue, Volumes
from jostle.errors import BoundBroken, InputError


def spheres(centre, radius=0.5, dt=1.0, **others):
    centre = np.asarray(centre, float).reshape(-1, 3)
    radius = np.broadcast_to(np.asarray(radius, float), len(centre)).copy()
    return Volumes(centre - radius[:, None], centre + radius[:, None], centre, radius, dt=dt, **others)


def assert_right(finder, volumes):
    found = finder.find(volumes)
    np.testing.assert_array_equal(found, BoundingSpheres().start(len(volumes)).find(volumes))
    return found


def row(*places):
    return [[x, 0.0, 0.0] for x in places]


@pytest.mark.small
def test_settings():
    assert PriorityQueue(speed=2) == PriorityQueue(2.0)
    for wrong in ({"speed": -1.0}, {"speed": np.nan}, {"acceleration": "fast"}, {"memory": 0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            PriorityQueue(**wrong)
    with pytest.raises(InputError, match=r"PriorityQueue\(speed="):
        PriorityQueue().start(2).find(spheres(row(0, 9)))
    with pytest.raises(InputError, match="bounds"):
        PriorityQueue().start(1).find(spheres(row(0), bounds=np.array([[np.nan, 1.0]])))
    with pytest.raises(InputError, match="dt"):
        PriorityQueue(1.0).start(1).find(spheres(row(0), dt=np.nan))


@pytest.mark.small
def test_a_pair_sleeps_until_it_could_touch():
    finder = PriorityQueue(speed=0.1).start(2)
    assert_right(finder, spheres(row(0.0, 21.0)))
    assert finder.counters["box_tests"] == 1
    assert finder.seconds_of_sleep == pytest.approx(100.0, rel=1e-5)
    assert finder.seconds_of_sleep <= 100.0
    tests = 0
    for frame in range(1, 100):
        found = assert_right(finder, spheres(row(0.1 * frame, 21.0 - 0.1 * frame)))
        tests += finder.counters["box_tests"]
        assert len(found.body_a) == 0
    assert tests <= 2  # in the last frames
    assert len(assert_right(finder, spheres(row(10.0, 11.0))).body_a) == 1
    assert finder.seconds_of_sleep == 0.0


@pytest.mark.small
def test_bounds_on_acceleration_let_parting_bodies_sleep_longer():
    fast = PriorityQueue(speed=1.0).start(2)
    sure = PriorityQueue(speed=1.0, acceleration=0.01).start(2)
    for frame in range(3):
        volumes = spheres(row(-0.5 * frame, 3.0 + 0.5 * frame))
        assert_right(fast, volumes)
        assert_right(sure, volumes)
    # The gap is 4, they part at 1, and turn at 0.02: -t + 0.01 t² = 4 (and half a frame of caution).
    assert fast.seconds_of_sleep == 0.0 or fast.seconds_of_sleep <= 2.0
    assert 100.0 < sure.seconds_of_sleep <= (1.0 + np.sqrt(1.0 + 0.16)) / 0.02


@pytest.mark.small
@pytest.mark.parametrize("gap", np.arange(20.0, 26.0, 0.37))
def test_a_pair_that_accelerates_as_much_as_it_may_does_not_oversleep(gap):
    # Velocities are means over a frame, half a frame old: a wake-up that forgets it comes up to a frame too late.
    finder = PriorityQueue(acceleration=0.1).start(2)
    for frame in range(20):
        way = 0.05 * frame * frame
        found = assert_right(finder, spheres(row(way, 1.0 + gap - way)))
        if frame == 2:
            assert finder.seconds_of_sleep > 6.0
    assert len(found.body_a) == (2.0 * way <= 2.0 + gap)


def worst_motion(seed, n, frames, speed, acceleration, dt):
    """Centres that accelerate as much as they may, towards each other, and never faster than they may."""
    random = np.random.default_rng(seed)
    centre = random.random((n, 3)) * 12.0
    velocity = np.zeros((n, 3))
    for _ in range(frames):
        seconds = dt * random.uniform(0.5, 1.0)
        yield centre.copy(), seconds
        target = centre[random.permutation(n)]
        pull = target - centre
        pull /= np.linalg.norm(pull, axis=1)[:, None].clip(1e-9)
        faster = velocity + pull * acceleration * 0.4 * dt
        size = np.linalg.norm(faster, axis=1)[:, None]
        velocity = faster * np.minimum(1.0, speed / size.clip(1e-9))
        centre = centre + velocity * seconds


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("speed", "acceleration"), [(0.3, None), (None, 0.5), (0.3, 0.5)])
def test_nothing_is_missed_while_bodies_do_what_they_may(seed, speed, acceleration):
    n, frames = 40, 250
    finder = PriorityQueue(speed, acceleration).start(n)
    tests, seen, last = 0, 0, 0.0
    for centre, seconds in worst_motion(seed, n, frames, speed or 9.0, acceleration or 2.0, 0.5):
        found = assert_right(finder, spheres(centre, dt=last))
        tests += finder.counters["box_tests"]
        seen += len(found.body_a)
        last = seconds
    assert seen > 100
    assert tests < 0.9 * frames * n * (n - 1) / 2  # the crowd gathers in the middle


@pytest.mark.small
def test_a_body_that_breaks_its_bound_is_named_and_the_frame_can_be_asked_again():
    finder = PriorityQueue(speed=0.1).start(3)
    assert_right(finder, spheres(row(0.0, 21.0, 50.0)))
    with pytest.raises(BoundBroken, match=r"body 1 moved by 19.5 in 1 s, .* allows 0.1; give a speed of 19.5") as broken:
        finder.find(spheres(row(0.1, 1.5, 50.1)))
    assert broken.value.body == 1
    assert isinstance(broken.value, InputError)
    for _ in range(2):  # no time passes while nothing moves
        assert len(assert_right(finder, spheres(row(0.1, 1.5, 50.1))).body_a) == 0
    found = assert_right(finder, spheres(row(0.2, 1.4, 50.2), radius=0.6))
    assert len(found.body_a) == 1
    with pytest.raises(BoundBroken, match=r"in 0 s.*dt"):
        finder.find(spheres(row(0.25, 1.4, 50.2), dt=0.0))
    finder.find(spheres(row(0.3, 1.4, 50.2)))  # and so can the frame after


@pytest.mark.small
def test_a_sudden_change_of_velocity_is_noticed():
    finder = PriorityQueue(acceleration=0.1).start(2)
    for frame in range(4):
        assert_right(finder, spheres(row(0.05 * frame * frame, 30.0)))
    with pytest.raises(BoundBroken, match=r"body 0 changed its velocity by .*acceleration allows 0.1"):
        finder.find(spheres(row(0.05 * 9.0, 30.0)))
    assert_right(finder, spheres(row(0.05 * 9.0, 30.0)))


@pytest.mark.small
def test_bodies_that_jump_or_grow_are_looked_at_anew():
    finder = PriorityQueue(speed=0.1).start(3)
    assert_right(finder, spheres(row(0.0, 21.0, 50.0)))
    found = assert_right(finder, spheres(row(0.0, 0.5, 50.0), jumps=np.array([False, True, False])))
    assert len(found.body_a) == 1
    found = assert_right(finder, spheres(row(0.0, 0.5, 50.0), radius=[0.5, 0.5, 60.0]))
    assert len(found.body_a) == 3
    # One that says it jumped but is where it was has not.
    assert_right(finder, spheres(row(0.0, 0.5, 50.0), jumps=np.ones(3, bool)))
    assert finder.counters["woken_pairs"] == 0


@pytest.mark.small
def test_each_body_may_have_its_own_bounds_and_they_may_change():
    finder = PriorityQueue(speed=5.0).start(2)
    bounds = np.array([[0.0, np.inf], [0.5, np.inf]])
    assert_right(finder, spheres(row(0.0, 11.0), bounds=bounds))
    assert finder.seconds_of_sleep == pytest.approx(20.0, rel=1e-5)
    with pytest.raises(BoundBroken, match="body 0"):
        finder.find(spheres(row(0.01, 11.0), bounds=bounds))
    assert_right(finder, spheres(row(0.01, 11.0), bounds=bounds))
    assert_right(finder, spheres(row(0.01, 11.0), bounds=bounds * 10.0))  # from now on it may come ten times as fast
    assert finder.seconds_of_sleep < 2.1
    for frame in range(1, 3):
        found = assert_right(finder, spheres(row(0.01, 11.0 - 5.0 * frame), bounds=bounds * 10.0))
    assert len(found.body_a) == 1


@pytest.mark.small
def test_more_bodies_than_fit_in_memory_are_refused_with_the_bytes():
    finder = PriorityQueue(speed=1.0, memory=1000).start(17)
    with pytest.raises(InputError, match=r"17 bodies make 136 pairs, which take 1088 bytes; .*memory"):
        finder.find(spheres(np.zeros((17, 3))))
    finder.change(16, np.r_[np.arange(16), -1])
    assert len(assert_right(finder, spheres(np.zeros((16, 3)))).body_a) == 120
    finder.change(17, np.arange(16))
    with pytest.raises(InputError, match="17 bodies"):
        finder.find(spheres(np.zeros((17, 3))))


@pytest.mark.small
def test_the_clock_is_set_back_and_nobody_oversleeps(monkeypatch):
    from jostle.broad_phase import priority_queue

    monkeypatch.setattr(priority_queue, "_LONGEST_CLOCK", 7.0)
    finder = PriorityQueue(speed=0.1).start(3)
    for frame in range(120):
        assert_right(finder, spheres(row(0.1 * frame, 21.0 - 0.05 * frame, 40.0 - 0.1 * frame)))
        assert finder._clock <= 8.0


@pytest.mark.small
def test_an_interrupted_frame_leaves_nothing_behind(monkeypatch):
    from jostle.broad_phase import priority_queue

    def interrupted(*arguments):
        raise KeyboardInterrupt

    finder = PriorityQueue(speed=0.1).start(2)
    assert_right(finder, spheres(row(0.0, 1.5)))
    with monkeypatch.context() as patched:
        patched.setattr(priority_queue, "run_queue", interrupted)
        with pytest.raises(KeyboardInterrupt):
            finder.find(spheres(row(0.1, 1.4)))
    assert_right(finder, spheres(row(0.3, 9.2)))  # all bodies are new to it
    assert finder.counters["box_tests"] == 1
    assert_right(finder, spheres(row(0.4, 9.1)))
    assert finder.counters["box_tests"] == 0


@pytest.mark.small
def test_a_body_that_creeps_by_less_than_rounding_wakes_its_pairs():
    # At 1e12 a step of 0.005 is forty units in the last place: no bound counts as broken, and no pair is missed.
    still = PriorityQueue(speed=0.0).start(2)
    even = PriorityQueue(acceleration=0.0).start(2)
    x = y = 0.0
    met = [0, 0]
    for frame in range(420):
        x, y = x + 0.005, y + 0.005 * frame
        for k, (finder, place, gap) in enumerate(((still, x, 3.0), (even, y, 300.0))):
            met[k] += len(assert_right(finder, spheres(row(1e12 + place, 1e12 + gap))).body_a)
    assert met[0] > 10
    assert met[1] > 0


def test_a_frame_of_no_seconds_leaves_velocities_as_they_are():
    # A third body jumps while two approach at 40: forgetting that would let them sleep for twice as long as they may.
    for gap in np.arange(8.0, 30.0, 0.73):
        finder = PriorityQueue(acceleration=30.0).start(3)
        x, found = -0.5 * gap - 3.5, None
        for frame in range(12):
            volumes = spheres([[x, 0.0, 0.0], [-x, 0.0, 0.0], [0.0, 500.0, 0.0]], dt=0.1)
            if frame == 2:
                jump = spheres([[x - 2.0, 0.0, 0.0], [2.0 - x, 0.0, 0.0], [0.0, 400.0, 0.0]], dt=0.0, jumps=np.arange(3) == 2)
                assert_right(finder, jump)
            volumes.centre[2, 1] -= 100.0 * (frame >= 2)
            found = assert_right(finder, volumes)
            x += 2.0
        assert found is not None
    with pytest.raises(BoundBroken, match=r"body 0 moved by 1 in 0 s"):
        finder.find(spheres([[x - 1.0, 0.0, 0.0], [2.0 - x, 0.0, 0.0], [0.0, 400.0, 0.0]], dt=0.0))


@pytest.mark.small
def test_asking_twice_for_an_instant_with_other_radii_or_after_a_jump_is_no_sudden_stop():
    finder = PriorityQueue(acceleration=0.01).start(3)
    for frame in range(6):
        for radius in (0.5, 0.7, 0.5):  # as a clearance in the second of three questions
            assert_right(finder, spheres([[frame, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 70.0, 0.0]], radius))
        jumped = spheres([[frame, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 80.0, 0.0]], jumps=np.arange(3) == 2)
        assert_right(finder, jumped)
        assert_right(finder, spheres([[frame, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 70.0, 0.0]], jumps=np.arange(3) == 2))
    assert finder._clock == 5.0


@pytest.mark.small
def test_who_was_large_once_sleeps_again():
    random = np.random.default_rng(3)
    centre = random.random((12, 3)) * 200.0
    finder = PriorityQueue(speed=0.1).start(12)
    assert_right(finder, spheres(centre))
    asleep = finder.seconds_of_sleep
    assert asleep > 10.0
    assert_right(finder, spheres(centre, 500.0))
    assert finder.seconds_of_sleep == 0.0
    for _ in range(3):
        assert_right(finder, spheres(centre))
    assert finder.seconds_of_sleep > 0.5 * asleep


@pytest.mark.small
def test_nobody_is_said_to_sleep_who_has_to_be_looked_at_anew():
    finder = PriorityQueue(speed=1.0).start(2)
    assert finder.seconds_of_sleep == 0.0
    assert_right(finder, spheres(row(0.0, 21.0)))
    assert finder.seconds_of_sleep > 9.0
    with pytest.raises(BoundBroken):
        finder.find(spheres(row(0.0, 5.0)))
    assert finder.seconds_of_sleep == 0.0
    finder.change(1, np.array([0, -1]))
    assert finder.seconds_of_sleep == np.inf


@pytest.mark.small
def test_comparisons_are_counted_once_if_the_pairs_need_more_room():
    random = np.random.default_rng(2)
    centre = random.random((40, 3)) * 2.0
    narrow, wide = (PriorityQueue(speed=0.1).start(40) for _ in range(2))
    wide._pairs = np.empty((3, 2000), np.int32)
    for finder in (narrow, wide):
        assert len(assert_right(finder, spheres(centre, 0.6)).body_a) > 64
    assert narrow.counters == wide.counters
    assert narrow.counters["box_tests"] == 40 * 39 // 2
    # A pair that wakes and stays awake is looked at twice.
    finder = PriorityQueue(speed=1.0).start(2)
    assert_right(finder, spheres(row(0.0, 13.0)))
    for frame in range(1, 6):
        assert_right(finder, spheres(row(1.0 * frame, 13.0 - 1.0 * frame)))
    assert finder.counters == {"box_tests": 0, "woken_pairs": 0, "awake_pairs": 0, "pairs": 0}
    assert_right(finder, spheres(row(6.0, 7.0)))
    assert (finder.counters["box_tests"], finder.counters["woken_pairs"], finder.counters["awake_pairs"]) == (2, 1, 1)


def test_the_queue_takes_the_memory_that_it_says():
    n = 300
    pairs = n * (n - 1) // 2
    centre = np.random.default_rng(1).random((n, 3)) * 90.0
    finder = PriorityQueue(speed=0.1, memory=8 * (n + 1) * n // 2).start(n)
    finder.find(spheres(centre))
    tracemalloc.start()
    try:
        PriorityQueue(speed=0.1).start(n).find(spheres(centre))
        first = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        finder.change(n + 1, np.arange(n))
        more = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert first < 12 * pairs
    assert more < 12 * pairs  # beside the old one
    assert_right(finder, spheres(np.vstack([centre, centre[:1] + 0.1])))


@pytest.mark.small
def test_more_bodies_than_can_be_numbered_are_refused_after_a_change_too():
    finder = PriorityQueue(speed=1.0, memory=1 << 50).start(2)
    finder.find(spheres(row(0.0, 9.0)))
    finder.change(65537, np.arange(2))
    with pytest.raises(InputError, match="65536 at most"):
        finder.find(spheres(np.zeros((65537, 3))))


@pytest.mark.parametrize("acceleration", [None, 0.05])
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e7, 1.0), (1e3, 1e-3)])
def test_a_long_life_of_motion_jumps_growth_and_pauses(offset, scale, acceleration):
    random = np.random.default_rng(7)
    n, speed = 25, 0.08 * scale
    most = None if acceleration is None else acceleration * scale
    finder = PriorityQueue(speed, most).start(n)
    centre = offset + random.random((n, 3)) * 8.0 * scale
    velocity, radius, last = random.normal(size=(n, 3)) * 0.02 * scale, random.uniform(0.1, 0.9, n) * scale, 1.0
    seen = tests = 0
    for _ in range(600):
        dt = random.choice([1.0, 1.0, 0.5, 0.0])
        if dt > 0.0:
            push = random.normal(size=(n, 3))
            push *= (most or speed) * 0.499 * (dt + last) / np.linalg.norm(push, axis=1)[:, None]
            faster = velocity + push
            slow = np.linalg.norm(faster, axis=1) <= speed
            velocity = np.where(slow[:, None], faster, velocity)
            centre, last = centre + velocity * dt, dt
        jumps = random.random(n) < 0.004
        centre = np.where(jumps[:, None], offset + random.random((n, 3)) * 8.0 * scale, centre)
        radius = np.where(random.random(n) < 0.05, radius * random.uniform(0.8, 1.2, n), radius).clip(0.05 * scale, 1.2 * scale)
        seen += len(assert_right(finder, spheres(centre, radius, dt, jumps=jumps)).body_a)
        tests += finder.counters["box_tests"]
    assert seen > 500
    assert tests < 0.8 * 600 * n * (n - 1) / 2

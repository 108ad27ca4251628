"""Random numbers against Python integers, and their uniformity."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jostle.kernels.random import below, next_u64, random_state, uniform

pytestmark = pytest.mark.small

M = 2**64 - 1


class Reference:
    """xoshiro256** and splitmix64 as their authors state them, in unbounded integers."""

    def __init__(self, seed: int) -> None:
        self.s = []
        for k in range(1, 5):
            z = (seed + k * 0x9E3779B97F4A7C15) & M
            z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & M
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) & M
            self.s.append(z ^ z >> 31)

    @staticmethod
    def rotl(x: int, k: int) -> int:
        return ((x << k) | (x >> (64 - k))) & M

    def next(self) -> int:
        s = self.s
        result = (self.rotl((s[1] * 5) & M, 7) * 9) & M
        t = (s[1] << 17) & M
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = self.rotl(s[3], 45)
        return result


def test_published_values():
    # splitmix64 from 0 and from 1234567, as printed in many places; xoshiro256** from the state 1, 2, 3, 4.
    assert int(random_state(0)[0]) == 0xE220A8397B1DCDAF
    assert [int(word) for word in random_state(1234567)] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
    ]
    state = np.array([1, 2, 3, 4], dtype=np.uint64)
    drawn = [int(next_u64(state)) for _ in range(4)]
    assert drawn == [11520, 0, 1509978240, 1215971899390074240]


@pytest.mark.parametrize("seed", [0, 1, 2**63, M])
def test_the_stream_is_that_of_the_reference(seed):
    state, reference = random_state(seed), Reference(seed)
    for _ in range(300):
        assert int(next_u64(state)) == reference.next()
    assert [int(word) for word in state] == reference.s


def test_uniform_is_the_upper_53_bits():
    state, reference = random_state(7), Reference(7)
    for _ in range(300):
        value = uniform(state)
        assert value == (reference.next() >> 11) / 2**53
        assert 0.0 <= value < 1.0


@pytest.mark.parametrize("n", [1, 2, 3, 7, 8, 9, 1000, 2**31, 2**32 + 1, 2**62, 2**63 - 1])
def test_below_draws_again_above_the_bound(n):
    state, reference = random_state(11), Reference(11)
    mask = 2 ** (n - 1).bit_length() - 1
    for _ in range(100):
        expected = reference.next() & mask
        while expected >= n:
            expected = reference.next() & mask
        assert int(below(state, n)) == expected
    assert [int(word) for word in state] == reference.s


def test_below_is_even():
    state, counts = random_state(3), np.zeros(6, dtype=int)
    for _ in range(6000):
        counts[int(below(state, 6))] += 1
    chi_squared = float(((counts - 1000) ** 2 / 1000).sum())
    assert chi_squared < 20.5  # passed by 99.9 % of even sequences; the seed is fixed


def test_streams_differ_from_each_other_and_from_other_seeds():
    states = {tuple(map(int, random_state(seed, stream))) for seed in range(10) for stream in range(10)}
    assert len(states) == 100
    a, b = random_state(5, 1), random_state(5, 2)
    pairs = np.array([(uniform(a), uniform(b)) for _ in range(2000)])
    assert abs(float(np.corrcoef(pairs.T)[0, 1])) < 4 / math.sqrt(2000)


@pytest.mark.parametrize(("seed", "stream"), [(-1, 0), (2**64, 0), (0, -1)])
def test_seeds_outside_of_64_bits_are_refused(seed, stream):
    with pytest.raises(ValueError, match="between 0 and"):
        random_state(seed, stream)

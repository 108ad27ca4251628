"""Random numbers in kernels: an explicit state, no global generator.

xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2018, §4), seeded by splitmix64. The state
is a (4,) uint64 array that the caller holds, saves and restores; the same state gives the same stream on
every machine, compiled or as plain Python. Numbers below a bound are unbiased, by masking and drawing again.

Streams of one seed start from hashed places of a sequence of period 2^256 - 1: give each chunk of work its own stream, and the
result does not depend on the number of threads.
"""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.jit import kernel
from jostle.kernels.twins import twin

Words = NDArray[np.uint64]

_ALL = (1 << 64) - 1
# Typed constants: a uint64 met by a signed integer becomes a float in Numba.
_FIVE, _SEVEN, _NINE, _ELEVEN, _SEVENTEEN, _FORTY_FIVE, _SIXTY_FOUR = (np.uint64(n) for n in (5, 7, 9, 11, 17, 45, 64))
_SPREAD_SHIFTS = (np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(8), np.uint64(16), np.uint64(32))
_UNIT = 2.0**-53


def random_state(seed: int, stream: int = 0) -> Words:
    """Return the (4,) uint64 state of a seed; each `stream` is its own sequence.

    Parameters
    ----------
    seed, stream : int
        0 … 2^64 - 1.
    """
    for name, value in (("seed", seed), ("stream", stream)):
        if not 0 <= operator.index(value) <= _ALL:
            raise ValueError(f"{name} is {value}; it must be between 0 and 2^64 - 1")
    place = int(seed) if stream == 0 else _mixed((int(seed) + _mixed(int(stream))) & _ALL)
    words = []
    for _ in range(4):
        place = (place + 0x9E3779B97F4A7C15) & _ALL
        words.append(_mixed(place))
    return np.array(words, dtype=np.uint64)


def _mixed(word: int) -> int:
    word = ((word ^ (word >> 30)) * 0xBF58476D1CE4E5B9) & _ALL
    word = ((word ^ (word >> 27)) * 0x94D049BB133111EB) & _ALL
    return word ^ (word >> 31)


def _plain_times(word: np.uint64, factor: np.uint64) -> np.uint64:
    # NumPy's scalars warn when a product wraps around; Python's integers do not.
    return np.uint64((int(word) * int(factor)) & _ALL)


@kernel(forceinline=True)
def _wrapping_times(word: np.uint64, factor: np.uint64) -> np.uint64:
    return word * factor


_times = twin(_plain_times, lambda: _wrapping_times)


@kernel(forceinline=True)
def _rotated(word: np.uint64, places: np.uint64) -> np.uint64:
    return (word << places) | (word >> (_SIXTY_FOUR - places))


@kernel
def next_u64(state: Words) -> np.uint64:
    """Return 64 random bits and move the state on; state (4,) uint64."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    drawn = _times(_rotated(_times(s1, _FIVE), _SEVEN), _NINE)
    shifted = s1 << _SEVENTEEN
    s2 ^= s0
    s3 ^= s1
    state[1] = s1 ^ s2
    state[0] = s0 ^ s3
    state[2] = s2 ^ shifted
    state[3] = _rotated(s3, _FORTY_FIVE)
    return drawn


@kernel
def uniform(state: Words) -> np.float64:
    """Return a float64 in [0, 1), a multiple of 2^-53."""
    return np.float64(next_u64(state) >> _ELEVEN) * _UNIT


@kernel
def below(state: Words, n: int) -> np.int64:
    """Return an int64 in 0 … n - 1, each equally likely; n >= 1 (not checked)."""
    largest = np.uint64(n - 1)
    mask = largest
    for shift in _SPREAD_SHIFTS:
        mask |= mask >> shift
    drawn = next_u64(state) & mask
    while drawn > largest:  # fewer than one draw in two is rejected
        drawn = next_u64(state) & mask
    return np.int64(drawn)

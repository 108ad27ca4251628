"""What a frame tells, against NumPy and against counting."""

from collections import Counter

import numpy as np
import pytest

from jostle.methods.monte_carlo.frame_results import order_of_rows, share_of_lone_seeds
from jostle.methods.monte_carlo.work import NOT_DRAWN, RING_LENGTH


@pytest.mark.small
@pytest.mark.parametrize("count", [0, 1, 2, 3, 17, 64, 301])
def test_rows_are_sorted_by_body_pair_and_faces(count: int) -> None:
    rng = np.random.default_rng(count)
    body_pair, face_a, face_b = (rng.integers(0, high, count) for high in (3, 2**31 - 1, 5))
    order = np.empty(count, np.int64)
    order_of_rows(body_pair.astype(np.int32), (face_a << 32) | face_b, order, np.empty(count, np.int64))
    assert order.tolist() == np.lexsort((face_b, face_a, body_pair)).tolist()


@pytest.mark.small
@pytest.mark.parametrize("kinds", [1, 3, 40, 10_000])
def test_lone_seeds_are_those_whose_region_no_other_led_to(kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    regions = rng.integers(0, 2**62, kinds)
    ring = rng.choice(regions, RING_LENGTH)
    ring[rng.random(RING_LENGTH) < 0.3] = -1  # led nowhere: drawn, and of no region
    ring[:20] = NOT_DRAWN
    counts = Counter(ring[ring >= 0].tolist())
    expected = sum(1 for n in counts.values() if n == 1) / (RING_LENGTH - 20)
    assert share_of_lone_seeds(ring) == expected


@pytest.mark.small
def test_without_seeds_everything_is_undiscovered() -> None:
    assert share_of_lone_seeds(np.full(RING_LENGTH, NOT_DRAWN, np.int64)) == 1.0

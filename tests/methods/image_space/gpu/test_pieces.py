"""Pieces cover every pixel of every view once, and lie in their atlas without touching each other."""

from itertools import pairwise

import numpy as np
import pytest

from jostle.methods.image_space.gpu import pieces as packing
from jostle.methods.image_space.gpu.pieces import cut, pack, pieces_of

pytestmark = pytest.mark.small


def pieces(sizes, slots=0, most_slots=1 << 20):
    sizes = np.array(sizes, np.int32)
    return pieces_of(np.arange(len(sizes), dtype=np.int32), sizes, np.full(len(sizes), slots, np.int32), most_slots)


def assert_covers(parts, sizes):
    for view, size in enumerate(sizes):
        seen = np.zeros((size, size), int)
        for row in np.flatnonzero(parts.view == view):
            top, left = parts.top[row], parts.left[row]
            seen[top : top + parts.height[row], left : left + parts.width[row]] += 1
        assert (seen == 1).all()


def assert_packed(parts, packed, most_slots):
    assert packed.first_piece[0] == 0
    assert packed.first_piece[-1] == len(parts.view)
    assert packed.width <= packing.LARGEST_ATLAS
    assert packed.height <= packing.LARGEST_ATLAS
    for begin, end in zip(packed.first_piece[:-1], packed.first_piece[1:], strict=True):
        assert 0 < end - begin <= packing.MOST_PIECES_IN_ROUND
        used = np.zeros((packed.height, packed.width), int)
        slots, words = [], []
        for k in range(begin, end):
            x, y = packed.origin[k]
            assert x + 2 * parts.width[k] <= packed.width
            assert y + parts.height[k] <= packed.height
            used[y : y + parts.height[k], x : x + 2 * parts.width[k]] += 1
            pixels = 2 * int(parts.width[k]) * int(parts.height[k])
            words.append((packed.first_word[k], packed.first_word[k] + pixels))
            slots.append((packed.first_slot[k], packed.first_slot[k] + pixels * parts.slots[k]))
        assert used.max() == 1
        if parts.slots[begin]:
            for spans in (words, slots):
                assert spans[0][0] == 0
                assert all(a[1] == b[0] for a, b in pairwise(spans))
            assert slots[-1][1] <= max(most_slots, slots[0][1])


def test_whole_tiles_of_many_sizes_in_one_atlas():
    sizes = [64, 7, 128, 64, 1, 33, 64, 12]
    parts = pieces(sizes)
    assert_covers(parts, sizes)
    assert len(parts.view) == len(sizes)
    packed = pack(parts, 0)
    assert_packed(parts, packed, 0)
    assert len(packed.first_piece) == 2
    assert packed.width * packed.height < 2.2 * 2 * sum(size * size for size in sizes)


def test_rounds_when_one_atlas_or_the_slots_are_too_small(monkeypatch):
    monkeypatch.setattr(packing, "LARGEST_ATLAS", 128)
    monkeypatch.setattr(packing, "LARGEST_PIECE", 64)
    monkeypatch.setattr(packing, "MOST_PIECES_IN_ROUND", 5)
    rng = np.random.default_rng(7)
    for slots, most in ((0, 1 << 20), (8, 20_000), (3, 1 << 20), (100, 150)):
        sizes = rng.integers(1, 90, 12)
        parts = pieces(sizes, slots, most)
        assert_covers(parts, sizes)
        assert slots == 0 or (2 * parts.width * parts.height * slots).max() <= max(most, 2 * slots)
        assert_packed(parts, pack(parts, most), most)


def test_pieces_are_cut_again_for_more_slots():
    parts = pieces([50, 20], slots=8)
    again = cut(parts._replace(slots=np.full(2, 1000, np.int32)), 60_000)
    assert_covers(again, [50, 20])
    assert (2 * again.width * again.height * 1000).max() <= 60_000
    assert (np.diff(again.height) <= 0).all()


def test_nothing_to_pack():
    packed = pack(pieces([]), 100)
    assert packed.first_piece.tolist() == [0]

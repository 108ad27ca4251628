"""Text on pictures."""

import numpy as np
import pytest

from jostle.render.caption import GLYPH_HEIGHT, text_mask, write_text

pytestmark = pytest.mark.small


def test_every_printable_character_has_its_own_shape():
    shapes = {text_mask(chr(code)).tobytes() for code in range(32, 127)}
    assert len(shapes) == 95
    assert not text_mask(" ").any()


def test_an_a_looks_like_an_a():
    rows = ["".join(" #"[int(bit)] for bit in row) for row in text_mask("A")]
    assert rows == [" ### ", "#   #", "#   #", "#####", "#   #", "#   #", "#   #", "     "]


def test_unknown_characters_become_question_marks_and_nothing_is_drawn_for_no_text():
    assert np.array_equal(text_mask("ü→"), text_mask("??"))
    assert text_mask("").shape == (GLYPH_HEIGHT, 0)


@pytest.mark.parametrize("place", [(0, 0), (-7, -3), (15, 10), (-500, 0), (0, 500)])
def test_text_is_cut_off_at_the_rim(place):
    x, y = place
    pixels = np.zeros((12, 20, 3), dtype=np.uint8)
    write_text(pixels, "HH", x, y, scale=2, colour=(1, 2, 3))
    expected = np.zeros((12, 20), dtype=bool)
    mask = text_mask("HH")
    for row in range(12):
        for column in range(20):
            r, c = (row - y) // 2, (column - x) // 2
            expected[row, column] = 0 <= r < mask.shape[0] and 0 <= c < mask.shape[1] and mask[r, c]
    assert np.array_equal((pixels == (1, 2, 3)).all(axis=2), expected)
    assert not pixels[~expected].any()

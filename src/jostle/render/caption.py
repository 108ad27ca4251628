"""A line of text on a picture, in a built-in bitmap font.

Each glyph is 5 pixels wide and 8 high: capitals and figures stand on row 6, row 7 is for descenders. A glyph is eight
characters, one per row, and a character is a number from 0 to V (base 32) whose bits are the pixels of the row, the
leftmost being 16. So "EHHVHHH0" draws an A. Characters outside printable ASCII are drawn as a question mark. Built in,
since Pillow is an extra and its fonts change with its version.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

GLYPH_WIDTH, GLYPH_HEIGHT = 5, 8
ADVANCE = GLYPH_WIDTH + 1

_GLYPHS = {
    " ": "00000000", "!": "44444040", '"': "AA000000", "#": "AAVAVAA0", "$": "4FKE5U40", "%": "OP248J30", "&": "CIKALID0",
    "'": "44000000", "(": "24888420", ")": "84222480", "*": "04LEL400", "+": "044V4400", ",": "00000448", "-": "000V0000",
    ".": "00000CC0", "/": "01248G00", "0": "EHJLPHE0", "1": "4C4444E0", "2": "EH1248V0", "3": "V2421HE0", "4": "26AIV220",
    "5": "VGU11HE0", "6": "68GUHHE0", "7": "V1248880", "8": "EHHEHHE0", "9": "EHHF12C0", ":": "0CC0CC00", ";": "0CC0C480",
    "<": "248G8420", "=": "00V0V000", ">": "84212480", "?": "EH124040", "@": "EHNLNGE0", "A": "EHHVHHH0", "B": "UHHUHHU0",
    "C": "EHGGGHE0", "D": "SIHHHIS0", "E": "VGGUGGV0", "F": "VGGUGGG0", "G": "EHGNHHF0", "H": "HHHVHHH0", "I": "E44444E0",
    "J": "72222IC0", "K": "HIKOKIH0", "L": "GGGGGGV0", "M": "HRLLHHH0", "N": "HHPLJHH0", "O": "EHHHHHE0", "P": "UHHUGGG0",
    "Q": "EHHHLID0", "R": "UHHUKIH0", "S": "FGGE11U0", "T": "V4444440", "U": "HHHHHHE0", "V": "HHHHHA40", "W": "HHHLLLA0",
    "X": "HHA4AHH0", "Y": "HHHA4440", "Z": "V1248GV0", "[": "E88888E0", "\\": "0G842100", "]": "E22222E0", "^": "4AH00000",
    "_": "0000000V", "`": "84000000", "a": "00E1FHF0", "b": "GGMPHHU0", "c": "00EGGHE0", "d": "11DJHHF0", "e": "00EHVGE0",
    "f": "698S8880", "g": "00FHHF1E", "h": "GGMPHHH0", "i": "40C444E0", "j": "206222IC", "k": "GGIKOKI0", "l": "C44444E0",
    "m": "00QLLHH0", "n": "00MPHHH0", "o": "00EHHHE0", "p": "00UHHUGG", "q": "00FHHF11", "r": "00MPGGG0", "s": "00EGE1U0",
    "t": "88S88960", "u": "00HHHJD0", "v": "00HHHA40", "w": "00HHLLA0", "x": "00HA4AH0", "y": "00HHHF1E", "z": "00V248V0",
    "{": "24484420", "|": "44444440", "}": "84424480", "~": "008L2000",
}  # fmt: skip


def text_mask(text: str) -> NDArray[np.bool_]:
    """Return the pixels of a line of text, (8, 6·len - 1); empty text gives (8, 0)."""
    rows = np.zeros((GLYPH_HEIGHT, max(ADVANCE * len(text) - 1, 0)), dtype=np.bool_)
    bits = 1 << np.arange(GLYPH_WIDTH)[::-1]
    for place, character in enumerate(text):
        glyph = np.array([int(row, 32) for row in _GLYPHS.get(character, _GLYPHS["?"])])
        rows[:, place * ADVANCE : place * ADVANCE + GLYPH_WIDTH] = (glyph[:, None] & bits) != 0
    return rows


def write_text(
    pixels: NDArray[np.uint8], text: str, x: int, y: int, *, scale: int = 2, colour: tuple[int, int, int] = (52, 58, 66)
) -> None:
    """Write one line of text into (h, w, 3) uint8 pixels, in place.

    `x`, `y` is the top left corner of the first glyph; text beyond the picture is cut off. Each pixel of the font becomes
    scale x scale pixels.
    """
    mask = text_mask(text).repeat(scale, axis=0).repeat(scale, axis=1)
    high, wide = mask.shape
    top, left = max(y, 0), max(x, 0)
    bottom, right = min(y + high, pixels.shape[0]), min(x + wide, pixels.shape[1])
    if bottom > top and right > left:
        pixels[top:bottom, left:right][mask[top - y : bottom - y, left - x : right - x]] = colour

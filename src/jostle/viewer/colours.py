"""Colours of the page, the same as in jostle's pictures."""

from __future__ import annotations

from jostle.render.shade import NEAR, PALETTE, TOUCHING

Colour = tuple[int, int, int]

RED: Colour = TOUCHING
AMBER: Colour = NEAR
HELD: Colour = (88, 132, 236)
OVERLAY: Colour = (46, 110, 178)
OVERLAY_POINTS: Colour = (24, 128, 120)
NORMALS: Colour = (120, 20, 60)
BRAND: Colour = (196, 46, 60)

# Names of people, in the order in which they connect.
PEOPLE = ("blue", "green", "violet", "orange", "teal", "pink", "brown", "grey")


def body_colour(number: int) -> Colour:
    """Return the colour of a body by its number."""
    return PALETTE[number % len(PALETTE)]


def mixed(first: Colour, second: Colour, share: float) -> Colour:
    """Return a colour between two, with `share` (0 … 1) of the second."""
    red, green, blue = (round((1.0 - share) * a + share * b) for a, b in zip(first, second, strict=True))
    return red, green, blue

"""How results appear: which figures there are, the look of each method, printable characters.

A method has the same colour, marker and dash everywhere, so that a reader learns it once. Colours are told apart by colour-blind
readers (Okabe and Ito's set, and four of Tol's muted ones); markers and dashes tell methods apart in print without colour.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

PLOTS = {
    "update_rate": "Update rate, one over the mean time of a frame, against {parameter}; values printed in the paper in grey.",
    "time_per_look_up": "Time of all frames over the points looked up in them, against {parameter}.",
    "time_against_parameter": "Time per frame against {parameter}: median over the frames, and a band up to the 95th percentile.",
    "last_frame": "Time of the last frame, in which bodies touch, against {parameter}; values printed in the paper in grey.",
    "slowest_frame": "Time of the slowest frame, and mean over all frames, of each method; a line for each {parameter}.",
    "mean_and_deviation": "Mean and standard deviation of the time per frame against {parameter}; what the paper prints in grey.",
    "averages": "Mean time over all frames, and over those in which bodies touch, against {parameter}.",
    "frames_together": "Time of each frame; at the end of each line stands {parameter}.",
    "time_per_frame": "Time of each frame, and the contacts found in it.",
    "times": "Median, 95th percentile and maximum of the time per frame.",
    "counters": "Work per frame, free of the machine: the mean over the frames.",
}  # in the order in which a reader wants them
PICTURES = {"scene_first": "First frame", "scene_last": "Last frame"}
OWN_PICTURES = "picture_*.png"  # what an experiment draws itself, in the order of their names

# Control characters but for line breaks and tabs, halves of surrogate pairs, and what is no character at all.
_FORBIDDEN = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\ud800-\\udfff\\ufffe\\uffff]")


def showable(text: str) -> str:
    """Return text with unprintable characters replaced, for pages and figures."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


@dataclass(frozen=True)
class Look:
    """Colour, marker and dash of a method."""

    colour: str
    marker: str
    dash: Any = "-"


LOOKS = {
    "wide_tree": Look("#0072b2", "o"), "brute_force": Look("#3b3f45", "s"), "face_octree": Look("#d55e00", "^"),
    "bounding_tree": Look("#009e73", "D"), "image_space": Look("#cc79a7", "v"), "voxmap": Look("#e69f00", "P"),
    "monte_carlo": Look("#56b4e9", "X"), "separating_plane": Look("#332288", "<"), "octree_update": Look("#999933", ">"),
    "closest_features": Look("#882255", "h"), "edge_face": Look("#44aa99", "p"),
}  # fmt: skip
_DASHES: tuple[Any, ...] = ((0, (4, 1.5)), (0, (7, 1.5)), (0, (5, 1.2, 1.2, 1.2)), (0, (2.5, 1, 1, 1, 1, 1)))
_MARKERS = ("d", "*", "8", "H")  # of labels with settings, by their dash
MANY_SETTINGS = 3  # of one method in one list


def looks_of(methods: Sequence[str]) -> dict[str, Look]:
    """Return the look of each label.

    Settings after a name change its dash and shade; an unknown name gets a look by its letters.

    Only where two labels of one list would look the same does a look depend on the others, and where a method has many settings in
    it: then shades of one colour do not tell them apart, and they take the colours of methods that are not in the list. So do names
    that are no methods', where there are as many.
    """
    looks: dict[str, Look] = {}
    with_settings = Counter(label.partition("(")[0] for label in methods if "(" in label)
    present = {label.partition("(")[0].strip() for label in methods}
    others = [look for name, look in LOOKS.items() if name not in present]
    free = [look.colour for look in others]
    strangers = [label for label in methods if label.partition("(")[0].strip() not in LOOKS]
    for label in methods:
        name, _, settings = label.partition("(")
        number = zlib.crc32(label.encode(errors="replace"))  # not hash(), which differs from run to run
        known = name.strip() in LOOKS
        base = LOOKS.get(name.strip()) or list(LOOKS.values())[number % len(LOOKS)]
        if label in strangers and MANY_SETTINGS <= len(strangers) <= len(others):
            k = strangers.index(label)
            looks[label] = replace(others[k], dash=_DASHES[k % len(_DASHES)])
            continue
        if settings and with_settings[name] >= MANY_SETTINGS and free:
            k = sum(other.startswith(f"{name}(") for other in looks)
            looks[label] = Look(free[k % len(free)], _MARKERS[k % len(_MARKERS)], _DASHES[k % len(_DASHES)])
            continue
        for turn in range(len(_DASHES)):
            dash = _DASHES[(number + turn) % len(_DASHES)]
            look = (
                base
                if known and not settings
                else replace(base, colour=_shade(base.colour, dash), marker=_MARKERS[_DASHES.index(dash)], dash=dash)
            )
            if look not in looks.values():
                break
        looks[label] = look
    return looks


def _shade(colour: str, dash: Any) -> str:
    """Mix a colour with black or white, by the number of its dash."""
    towards, share = ((0, 0.25), (255, 0.3), (0, 0.45), (255, 0.15))[_DASHES.index(dash)]
    mixed = [round((1 - share) * int(colour[k : k + 2], 16) + share * towards) for k in (1, 3, 5)]
    return "#{:02x}{:02x}{:02x}".format(*mixed)

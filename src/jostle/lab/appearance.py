"""The appearance of results: captions, line styles of methods, printable text.

A method has the same colour, marker and dash everywhere, so a reader learns it once. The colours suit colour-blind readers
(Okabe and Ito's set, and four of Tol's muted ones); markers and dashes distinguish methods in print without colour.
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
    "time_per_look_up": "Time of all frames over the points looked up, against {parameter}.",
    "time_against_parameter": "Time per frame against {parameter}: median over the frames, with a band to the 95th percentile.",
    "last_frame": "Time of the last frame, where bodies touch, against {parameter}; values printed in the paper in grey.",
    "slowest_frame": "Slowest frame and mean over all frames of each method; a line for each {parameter}.",
    "mean_and_deviation": "Mean and standard deviation of the time per frame against {parameter}; the paper's values in grey.",
    "averages": "Mean time over all frames, and over frames with collisions, against {parameter}.",
    "frames_together": "Time of each frame; each line ends with its {parameter}.",
    "time_per_frame": "Time of each frame and its contacts.",
    "times": "Median, 95th percentile and maximum of the time per frame.",
    "counters": "Work per frame, independent of the machine: mean over the frames.",
}  # in reading order
PICTURES = {"scene_first": "First frame", "scene_last": "Last frame"}
OWN_PICTURES = "picture_*.png"  # drawn by the experiment itself, sorted by name

# Control characters except line breaks and tabs, surrogates, and non-characters.
_FORBIDDEN = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\ud800-\\udfff\\ufffe\\uffff]")


def showable(text: str) -> str:
    """Return text with unprintable characters replaced, for pages and figures."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


@dataclass(frozen=True)
class LineStyle:
    """Colour, marker and dash of a method."""

    colour: str
    marker: str
    dash: Any = "-"

    @property
    def options(self) -> dict[str, Any]:
        """The keywords of matplotlib's `plot`."""
        return {"color": self.colour, "marker": self.marker, "linestyle": self.dash}


LINE_STYLES = {
    name: LineStyle(colour, marker)
    for name, colour, marker in (
        ("wide_tree", "#0072b2", "o"), ("brute_force", "#3b3f45", "s"), ("face_octree", "#d55e00", "^"),
        ("bounding_tree", "#009e73", "D"), ("image_space", "#cc79a7", "v"), ("voxmap", "#e69f00", "P"),
        ("monte_carlo", "#56b4e9", "X"), ("separating_plane", "#332288", "<"), ("octree_update", "#999933", ">"),
        ("closest_features", "#882255", "h"), ("edge_face", "#44aa99", "p"), ("plain", "#aa4499", "d"),
    )
}  # fmt: skip
_DASHES: tuple[Any, ...] = ((0, (4, 1.5)), (0, (7, 1.5)), (0, (5, 1.2, 1.2, 1.2)), (0, (2.5, 1, 1, 1, 1, 1)))
_MARKERS = ("d", "*", "8", "H")  # of labels with settings, by their dash
MANY_SETTINGS = 3  # of one method in one list


def styles_of(methods: Sequence[str]) -> dict[str, LineStyle]:
    """Return the line style of each label.

    Settings after a name change its dash and shade; an unknown name gets a style from its checksum. A style depends on the other
    labels only to avoid a clash, or where one method has many settings in the list, or many names are unknown: those take the
    colours of methods that are not in the list, because shades of one colour would be hard to distinguish.
    """
    styles: dict[str, LineStyle] = {}
    with_settings = Counter(label.partition("(")[0] for label in methods if "(" in label)
    present = {label.partition("(")[0].strip() for label in methods}
    unused = [style for name, style in LINE_STYLES.items() if name not in present]
    unknown = [label for label in methods if label.partition("(")[0].strip() not in LINE_STYLES]
    for label in methods:
        name, _, settings = label.partition("(")
        number = zlib.crc32(label.encode(errors="replace"))  # not hash(), which differs from run to run
        base = LINE_STYLES.get(name.strip()) or list(LINE_STYLES.values())[number % len(LINE_STYLES)]
        if label in unknown and MANY_SETTINGS <= len(unknown) <= len(unused):
            k = unknown.index(label)
            styles[label] = replace(unused[k], dash=_DASHES[k % len(_DASHES)])
            continue
        if settings and with_settings[name] >= MANY_SETTINGS and unused:
            k = sum(other.startswith(f"{name}(") for other in styles)
            styles[label] = LineStyle(unused[k % len(unused)].colour, _MARKERS[k % len(_MARKERS)], _DASHES[k % len(_DASHES)])
            continue
        candidates = [base]
        if settings or label in unknown:
            turns = [(number + turn) % len(_DASHES) for turn in range(len(_DASHES))]
            candidates = [LineStyle(_shade(base.colour, turn), _MARKERS[turn], _DASHES[turn]) for turn in turns]
        styles[label] = next((style for style in candidates if style not in styles.values()), candidates[-1])
    return styles


def _shade(colour: str, number: int) -> str:
    """Mix a colour with black or white, by the number of its dash."""
    towards, share = ((0, 0.25), (255, 0.3), (0, 0.45), (255, 0.15))[number]
    mixed = [round((1 - share) * int(colour[k : k + 2], 16) + share * towards) for k in (1, 3, 5)]
    return "#{:02x}{:02x}{:02x}".format(*mixed)

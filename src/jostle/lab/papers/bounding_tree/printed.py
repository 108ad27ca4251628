"""The paper's values by figure, and the labels of its hierarchies.

All have the settings that the paper prints: flexible degree with α = 0.75 and leaves of 4 faces. It does not state its measure of
quality; here it is the surface. Labels show the settings that are not the defaults of this package.
"""

from __future__ import annotations

from jostle.lab.methods import methods_of
from jostle.lab.papers.printed import values_printed

PAPER = "eckstein1999"
PRINTED = values_printed("jostle.lab.papers.bounding_tree")
FACES, QUICK_FACES = PRINTED["scene"]["faces"], 14_000  # with fewer faces the scene has no clearances
MODERN = "wide_tree"


SETTINGS = {
    "quality": "surface",  # ours
    "degree": None,
    "improvement": PRINTED["degrees"]["best_improvement"],
    "leaf_faces": PRINTED["degrees"]["leaf_faces"],
}


def label_of(**settings: object) -> str:
    """Return the label of a bounding tree with the common settings and these."""
    written = ", ".join(f"{name}={value!r}" for name, value in (SETTINGS | settings).items())
    return methods_of(f"bounding_tree({written})")[0].label


SPLITTINGS = {
    "without optimisation (§3.1)": "without_optimisation",
    "insertion (§3.2)": "insertion",
    "modified Gottschalk (§3.3)": "gottschalk",
}
BINARY = "binary_gottschalk"

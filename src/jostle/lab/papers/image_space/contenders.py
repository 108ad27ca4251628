"""The contenders: image space, stand-ins for the paper's libraries, our engines.

The paper's libraries are no longer available. `closest_features` stands in for I-COLLIDE, which tracks closest features (Lin and
Canny), `separating_plane` for Q-COLLIDE, which keeps a separating vector for each pair (Chung and Wang), and FCL's trees for RAPID,
which has trees of oriented boxes. FCL and Coal by GJK, Coal's trees, `wide_tree` and `bounding_tree` are added. All answer which
body pairs collide and may stop at the first contact of a pair. All but `wide_tree` and `bounding_tree` use the same grid.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from jostle.lab.experiment import Value
from jostle.lab.methods import NamedMethod, methods_of
from jostle.lab.papers.image_space.drawing import Drawing
from jostle.lab.papers.image_space.peers import Peer

DRAWING = "drawing"
INTERVAL, STENCIL, CONSERVATIVE, GPU = "image_space", "image_space(stencil)", "image_space(conservative)", "image_space(wgpu)"
FEATURES, PLANES, MODERN, TREE = "closest_features", "separating_plane", "wide_tree", "bounding_tree"
FCL_TREES, FCL_GJK, COAL_TREES, COAL_GJK = "FCL (trees)", "FCL (GJK)", "Coal (trees)", "Coal (GJK)"
IMAGES = (INTERVAL, STENCIL, CONSERVATIVE)
LIBRARIES = (FCL_TREES, FCL_GJK, COAL_TREES, COAL_GJK)
ALL_METHODS = (*IMAGES, GPU, FEATURES, PLANES, TREE, MODERN, *LIBRARIES)
STAND_INS = {"RECODE": INTERVAL, "I-COLLIDE": FEATURES, "Q-COLLIDE": PLANES, "RAPID": FCL_TREES}
PAIRS = {"rows": "pairs"}  # query options
FORMS = {INTERVAL: "", STENCIL: "test=stencil", CONSERVATIVE: "conservative=True", GPU: "renderer=wgpu"}
PEERS = {FCL_TREES: ("fcl", "trees"), FCL_GJK: ("fcl", "convex"), COAL_TREES: ("coal", "trees"), COAL_GJK: ("coal", "convex")}
BROAD = "broad=uniform_grid"


def contender(label: str, resolution: int = 64, picture: int = 512) -> NamedMethod:
    """Return a contender by its label.

    Parameters
    ----------
    resolution : int
        Pixels along a side of the region of a pair.
    picture : int
        Pixels along a side of the drawing.
    """
    if label == DRAWING:
        return NamedMethod(label, Drawing(picture), PAIRS)
    if label in PEERS:
        return NamedMethod(label, Peer(*PEERS[label]), PAIRS)
    if label in FORMS:
        settings = ", ".join(part for part in (f"resolution={resolution}", FORMS[label]) if part)
        text = f"image_space({settings})"
    else:
        text = f"{label}({BROAD})" if label in (FEATURES, PLANES) else label
    return dataclasses.replace(methods_of(text)[0], label=label, options=PAIRS)


def made(labels: Sequence[str], resolution: int = 64) -> dict[str, Callable[[Value], NamedMethod]]:
    """Return the factories of an experiment's methods."""

    def maker(label: str) -> Callable[[Value], NamedMethod]:
        return lambda _value: contender(label, resolution)

    return {label: maker(label) for label in labels}

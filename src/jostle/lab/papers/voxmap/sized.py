"""The paper's look-up and this package's, with maps and shells of chosen sizes."""

from __future__ import annotations

from jostle.broad_phase.protocol import BroadPhase
from jostle.lab.experiment import Value
from jostle.lab.methods import NamedMethod
from jostle.lab.papers.voxmap.printed import PRINTED
from jostle.lab.papers.voxmap.steady import YARDSTICK
from jostle.lab.sized_voxmap import SizedVoxmap


def paper_look_up(label: str, broad: str | BroadPhase | None = None, **settings: object) -> NamedMethod:
    """Return the paper's look-up, by default for all body pairs."""
    plain = {"broad": broad, "grouped": False, "depth": False, "as_printed": True}
    return NamedMethod(label, SizedVoxmap(**plain | settings))  # type: ignore[arg-type]


def our_look_up(label: str, **settings: object) -> NamedMethod:
    """Return the method of this package, with its defaults where nothing is set."""
    return NamedMethod(label, SizedVoxmap(**settings))  # type: ignore[arg-type]


def yardstick(_value: Value) -> NamedMethod:
    """Return constant work: the largest shell of table 1 in its map."""
    table = PRINTED["fig_12"]
    return paper_look_up(YARDSTICK, shell_points=max(table["points"]), map_voxels=table["map_voxels"])

"""The three pairs of bodies of table 1 as recorded motions, rigid and deforming, at 30 Hz.

The bodies of the paper are not at hand but for their numbers of triangles; its dragon and its bunny are two concave blobs here
(`scenes/shell_pairs.py`). Where the environment variable JOSTLE_DATA leads to a folder with meshes/stanford-bunny.obj, a fourth
pair has the true bunny in it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jostle.lab.experiment import Recordable, Value
from jostle.lab.papers.monte_carlo.printed import RATE_HZ
from jostle.motion.record import Motion
from jostle.scenes import make_scene

SPHERE, HORSESHOE, DRAGON = "sphere and torus", "horseshoe and clover", "dragon and bunny"
PAIRS = (SPHERE, HORSESHOE, DRAGON)
TRUE_BUNNY = "dragon and Stanford bunny"
SCENES = {SPHERE: "sphere_and_torus", HORSESHOE: "horseshoe_and_clover", DRAGON: "dragon_and_bunny", TRUE_BUNNY: "dragon_and_bunny"}
DEFORMING = ", deforming"
STRAIN = 0.05  # the gradient of the displacement; half of the bound that monte_carlo states by default


def bunny_file() -> Path | None:
    """Return the file of the Stanford bunny where the shared data is at hand."""
    folder = os.environ.get("JOSTLE_DATA")
    file = None if not folder else Path(folder) / "meshes" / "stanford-bunny.obj"
    return file if file is not None and file.is_file() else None


def with_bunny(pairs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the pairs, and the one with the true bunny if it is at hand."""
    return pairs if bunny_file() is None else (*pairs, TRUE_BUNNY)


def deforming(pair: str) -> str:
    """Return the name of a pair that deforms."""
    return pair + DEFORMING


def pair_of(value: Value) -> tuple[str, bool]:
    """Return the pair that a value names, and whether it deforms."""
    text = str(value)
    return text.removesuffix(DEFORMING), text.endswith(DEFORMING)


@dataclass(frozen=True)
class Encounter:
    """A pair as something that can be recorded.

    Parameters
    ----------
    value : str
        One of `PAIRS`, or `deforming` of one.
    most : int, optional
        Frames of a pair that deforms at most: their vertices are kept for every frame.
    first : int
        Frames of the scene that are left out.
    """

    value: str
    most: int | None = None
    first: int = 0

    def record(self, frames: int | None = None) -> Motion:
        """Return the motion."""
        pair, deforms = pair_of(self.value)
        settings: dict[str, Any] = {"deform": STRAIN if deforms else 0.0}
        if pair == TRUE_BUNNY:
            settings["bunny"] = str(bunny_file())
        count = 300 if frames is None else frames
        if deforms and self.most is not None:
            count = min(count, self.most)
        motion = make_scene(SCENES[pair], frames=self.first + count, **settings).record()
        kept = {body: vertices[self.first :] for body, vertices in motion.vertices.items()}
        return replace(motion, poses=motion.poses[self.first :], vertices=kept, dt=1.0 / RATE_HZ)


def encounter(value: Value, most: int | None = None, first: int = 0) -> Recordable:
    """Return a pair by its value."""
    return Encounter(str(value), most, first)

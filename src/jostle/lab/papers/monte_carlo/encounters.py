"""The three body pairs of table 1 as motions at 30 Hz, rigid and deforming.

Only the triangle counts of the paper's bodies are known; two concave blobs replace its dragon and bunny (`scenes/shell_pairs.py`).
If the environment variable JOSTLE_DATA names a folder with meshes/stanford-bunny.obj, a fourth pair has the real bunny.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jostle.lab.experiment import Value
from jostle.lab.papers.monte_carlo.printed import RATE_HZ
from jostle.motion.record import Motion
from jostle.scenes import make_scene

SPHERE, HORSESHOE, DRAGON = "sphere and torus", "horseshoe and clover", "dragon and bunny"
PAIRS = (SPHERE, HORSESHOE, DRAGON)
TRUE_BUNNY = "dragon and Stanford bunny"
SCENES = {SPHERE: "sphere_and_torus", HORSESHOE: "horseshoe_and_clover", DRAGON: "dragon_and_bunny", TRUE_BUNNY: "dragon_and_bunny"}
DEFORMING = ", deforming"
STRAIN = 0.05  # gradient of the displacement; half of the default bound of monte_carlo


def bunny_file() -> Path | None:
    """Return the file of the Stanford bunny; None if it is not available."""
    folder = os.environ.get("JOSTLE_DATA")
    file = None if not folder else Path(folder) / "meshes" / "stanford-bunny.obj"
    return file if file is not None and file.is_file() else None


def with_bunny(pairs: tuple[str, ...]) -> tuple[str, ...]:
    """Return the pairs, with the one of the real bunny if it is available."""
    return pairs if bunny_file() is None else (*pairs, TRUE_BUNNY)


def deforming(pair: str) -> str:
    """Return the name of a deforming pair."""
    return pair + DEFORMING


def pair_of(value: Value) -> tuple[str, bool]:
    """Return the pair named by a value, and whether it deforms."""
    text = str(value)
    return text.removesuffix(DEFORMING), text.endswith(DEFORMING)


@dataclass(frozen=True)
class Encounter:
    """A pair, to be recorded.

    Parameters
    ----------
    value : str
        One of `PAIRS`, or `deforming` of one.
    most : int, optional
        Most frames of a deforming pair, whose vertices are stored for every frame.
    first : int
        Frames of the scene to skip.
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

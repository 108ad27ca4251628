"""The pair of fig. 11 to 13: two polytopes that stay near each other.

At the paper's density of 2.5 % two bodies are apart most of the time. The paper looks up every point all the same, and so do we,
but a point outside the map needs no memory access. Here the bodies fill 6 % of the cube: a shell reaches into the other map in
nearly all frames, and hits in one of five.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from jostle.lab.experiment import Recordable, Value
from jostle.lab.papers.voxmap.printed import CUBE, FRAMES
from jostle.motion.record import Motion
from jostle.scenes import make_scene
from jostle.scenes.polytopes import polytope_of_volume
from jostle.shapes.mesh import Mesh

FILL = 0.06


def pair_scene(_value: Value, _quick: bool) -> Recordable:
    """Return the two polytopes, whatever the value."""
    return _Pair()


@dataclass(frozen=True)
class _Pair:
    def record(self, frames: int | None = None) -> Motion:
        return _recorded(FRAMES if frames is None else frames)


@functools.lru_cache(maxsize=1)
def _recorded(frames: int) -> Motion:
    """Return the one motion of all values."""
    return make_scene("polytopes", count=2, fill=FILL, cube=float(CUBE)).record(frames)


def pair_mesh() -> Mesh:
    """Return the mesh of both."""
    return polytope_of_volume(FILL * float(CUBE) ** 3 / 2.0)


def in_hertz(method: str, times: dict[float, float], unit: str) -> str:
    """Return "method: 120 Hz at 8 bodies, …"; "" without times."""
    words = ", ".join(f"{hertz(time)} at {value:,.10g}" for value, time in times.items())
    return f"{method}: {words} {unit}" if words else ""


def hertz(seconds: float) -> str:
    """Return the rate of a frame time with three digits."""
    rate = 1.0 / seconds
    return f"{rate:,.0f} Hz" if rate >= 100.0 else f"{rate:.3g} Hz"

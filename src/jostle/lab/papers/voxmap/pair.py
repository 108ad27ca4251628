"""The pair of fig. 11 to 13: two polytopes that are always near each other, and what the judges of these figures ask.

With the density that the paper prints, 2.5 %, two bodies are apart most of the time. The paper looks up every point all the same,
and so do we; but a point that is outside of the map costs no memory. So the bodies take 6 % of the cube here: a shell reaches
into the other map in nearly all frames, and hits in one of five.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from statistics import fmean

from jostle.lab.experiment import Recordable, Value, served_runs
from jostle.lab.papers.voxmap.printed import CUBE, FRAMES
from jostle.lab.results import ExperimentResult
from jostle.motion.record import Motion
from jostle.scenes import make_scene
from jostle.scenes.polytopes import polytope_of_volume
from jostle.shapes.mesh import Mesh

FILL = 0.06


def pair_scene(_value: Value, _quick: bool) -> Recordable:
    """Return the two polytopes; the value sets the methods."""
    return _Pair()


@dataclass(frozen=True)
class _Pair:
    def record(self, frames: int | None = None) -> Motion:
        return _recorded(FRAMES if frames is None else frames)


@functools.lru_cache(maxsize=1)
def _recorded(frames: int) -> Motion:
    """The one motion of all values of a figure."""
    return make_scene("polytopes", count=2, fill=FILL, cube=float(CUBE)).record(frames)


def pair_mesh() -> Mesh:
    """Return the mesh of both."""
    return polytope_of_volume(FILL * float(CUBE) ** 3 / 2.0)


def mean_times(result: ExperimentResult, method: str) -> dict[float, float]:
    """Return the mean seconds of a frame by the swept value, for the points that a method went through."""
    rows = served_runs(result, method)
    return {float(value): fmean(run.frame_seconds) for value, run in rows if isinstance(value, int | float)}


def in_hertz(method: str, times: dict[float, float], unit: str) -> str:
    """Return "method: 120 Hz at 8 bodies, …", or "" without times."""
    words = ", ".join(f"{hertz(time)} at {value:,.10g}" for value, time in times.items())
    return f"{method}: {words} {unit}" if words else ""


def hertz(seconds: float) -> str:
    """Return the rate of frames that take so long, with three digits."""
    rate = 1.0 / seconds
    return f"{rate:,.0f} Hz" if rate >= 100.0 else f"{rate:.3g} Hz"

"""Half the accuracy (§8): at least two and at most eight times as fast.

Eight is the ratio of voxels. The points of a shell, which are looked up, fall to a fourth, so look-ups gain about four times at
most, and fixed costs of a frame reduce that. Measured with the paper's 64 bodies, for all pairs and behind fast boxes; judged by
medians at the machine's usual pace (`steady.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

from jostle.lab.experiment import Experiment, Recordable, Value, why_not_judged
from jostle.lab.methods import NamedMethod
from jostle.lab.papers.judging import join_parts, mean_times, middle, run_at, unjudged
from jostle.lab.papers.voxmap.fig_14_bodies import Crowd
from jostle.lab.papers.voxmap.pair import in_hertz
from jostle.lab.papers.voxmap.printed import OURS, PAPER, PRINTED, RUNS
from jostle.lab.papers.voxmap.sized import our_look_up, paper_look_up
from jostle.lab.papers.voxmap.steady import YARDSTICK, steady_times
from jostle.lab.results import ExperimentResult, Verdict

FIGURE = PRINTED["half_accuracy"]
BODIES, QUICK_BODIES = PRINTED["fig_14"]["interactive_bodies"], 16
ALL_PAIRS, FAST = "all pairs", "fast boxes"
ACCURACIES = (0.25, 0.5, 1.0, 2.0, 4.0)
PAPERS = PRINTED["fig_14"]["accuracy"]
FRAMES, LIMIT, ENOUGH = 300, 12.0, 10


def _scene(_value: Value, quick: bool) -> Recordable:
    return Crowd(QUICK_BODIES if quick else BODIES)


def _pruned(label: str, broad: str | None) -> Callable[[Value], NamedMethod]:
    return lambda value: paper_look_up(label, broad, accuracy=float(value or 1.0))


def _ours(value: Value) -> NamedMethod:
    return our_look_up(OURS, accuracy=float(value or 1.0))


def _yardstick(_value: Value) -> NamedMethod:
    return paper_look_up(YARDSTICK, "fast_aabb", accuracy=max(ACCURACIES))


def _judge(result: ExperimentResult) -> list[Verdict]:
    times = {method: mean_times(result, method) for method in (ALL_PAIRS, FAST, OURS)}
    gains = {method: gains_of(steady_times(result, method, middle)) for method in times}
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim=f"Half the accuracy makes it at least {FIGURE['at_least']} times as fast, and at most {FIGURE['at_most']} times.",
        why=why_not_judged(result, FAST) or ("" if float(PAPERS) in gains[FAST] else "Accuracies of 1 and 2 units were not run."),
        printed=f"at least {FIGURE['at_least']}, at most {FIGURE['at_most']} times; no measurements",
        ours=join_parts([in_hertz(method, row, "units") for method, row in times.items()]),
    )
    if not verdict.why:
        here = gains[FAST][float(PAPERS)]
        somewhere = max(gain for row in gains.values() for gain in row.values())
        verdict.verdict = "reproduced" if here >= FIGURE["at_least"] else "partly" if somewhere >= FIGURE["at_least"] else "refuted"
        verdict.why = join_parts([in_times(method, row) for method, row in gains.items()])
        fewer = fewer_look_ups(result)
        looked_up = "" if math.isnan(fewer) else f" ({fewer:.2g} times fewer look-ups for all pairs)"
        verdict.why += (
            f". Half the accuracy has an eighth of the voxels but about a fourth of the points{looked_up}, which limits the gain. "
            "Fixed costs of a frame reduce it further where shells are small."
        )
    return [verdict]


def gains_of(times: dict[float, float]) -> dict[float, float]:
    """Return the gain of doubling each accuracy, by the finer one."""
    return {fine: times[fine] / times[coarse] for fine, coarse in pairwise(sorted(times)) if coarse == 2.0 * fine}


def fewer_look_ups(result: ExperimentResult) -> float:
    """Return the ratio of look-ups at the paper's accuracy and at half of it."""
    runs = [run_at(result, factor * float(PAPERS), ALL_PAIRS) for factor in (1.0, 2.0)]
    counts = [run.total("look_ups") / len(run.counters) for run in runs if run is not None and run.counters]
    return counts[0] / counts[1] if len(counts) == 2 and counts[1] else math.nan


def in_times(method: str, gains: dict[float, float]) -> str:
    """Return the gains as text."""
    words = ", ".join(f"{gain:.2f} times from {fine:g} to {2.0 * fine:g}" for fine, gain in gains.items())
    return f"{method}: {words}" if words else ""


EXPERIMENT = Experiment(
    name="voxmap/half_accuracy",
    title="Half the accuracy: how much faster are 64 bodies?",
    about="64 polytopes of 36 faces fill 2.5 % of a cube of 100 units, with an accuracy of 0.25 to 4 units. The paper's look-up "
    "for all pairs and behind fast boxes, voxmap as it is, and a yardstick with the same work at every value, which measures the "
    "machine's pace. Detection alone is timed.",
    paper=PAPER,
    figure="§8",
    caption="The gain of half the accuracy; the paper has no figure of it.",
    parameter="accuracy (world units)",
    values=ACCURACIES,
    quick_values=(1.0, 2.0),
    scene=_scene,
    methods=(ALL_PAIRS, FAST, OURS, YARDSTICK),
    made={ALL_PAIRS: _pruned(ALL_PAIRS, None), FAST: _pruned(FAST, "fast_aabb"), OURS: _ours, YARDSTICK: _yardstick},
    aside=(YARDSTICK,),
    frames=FRAMES,
    rounds=RUNS,
    may_be_inside=False,
    limit=LIMIT,
    enough=ENOUGH,
    draw=("update rate", "log-log"),
    judge=_judge,
)

"""The look-up on two cores (abstract, §9), which the paper does not measure.

A large shell is cut into parts, many pairs into portions, one per thread (`methods/voxmap/detector.py`). A pair with ever larger
shells and all pairs of 64 bodies run with one worker and with two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from jostle.lab.experiment import Experiment, Recordable, Value, served_runs
from jostle.lab.methods import NamedMethod
from jostle.lab.papers.judging import join_parts, ms, unjudged, why_not
from jostle.lab.papers.voxmap.fig_14_bodies import ACCURACY, Crowd
from jostle.lab.papers.voxmap.pair import pair_scene
from jostle.lab.papers.voxmap.printed import PAPER, PRINTED, RUNS
from jostle.lab.papers.voxmap.sized import paper_look_up
from jostle.lab.papers.voxmap.steady import quick
from jostle.lab.results import ExperimentResult, Verdict

FIGURE = PRINTED["two_cores"]
ONE, TWO = "one worker", "two workers"
PAIRS = {"10,000 points": 10_000, "100,000 points": 100_000, "1,000,000 points": 1_000_000}
BODIES = "64 bodies"
MUCH, SOME = 1.6, 1.2  # times as fast on two cores
MOST_LOAD = 1.6  # at the start; a run of figures before this one makes 1
FRAMES, LIMIT, ENOUGH = 200, 15.0, 20


def _scene(value: Value, quick: bool) -> Recordable:
    many = 16 if quick else PRINTED["fig_14"]["interactive_bodies"]
    return Crowd(many) if value == BODIES else pair_scene(value, quick)


def _with(label: str, workers: int) -> Callable[[Value], NamedMethod]:
    def made(value: Value) -> NamedMethod:
        sizes = {"accuracy": ACCURACY} if value == BODIES else {"shell_points": PAIRS[str(value)]}
        return replace(paper_look_up(label, **sizes), workers=workers)

    return made


def _judge(result: ExperimentResult) -> list[Verdict]:
    one, two = ({value: quick(run.frame_seconds) for value, run in served_runs(result, method)} for method in (ONE, TWO))
    gains = {value: one[value] / two[value] for value in one if value in two}
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="The look-up is suitable for parallel processing: more processors make it faster.",
        why=why_not(result, (ONE, TWO)) or _busy(result.machine),
        printed="no measurements",
        ours=join_parts([f"{value}: {ms(one[value])} with one worker, {ms(two[value])} with two" for value in gains]),
    )
    if not verdict.why:
        best = max(gains, key=gains.__getitem__)
        verdict.verdict = "reproduced" if gains[best] >= MUCH else "partly" if gains[best] >= SOME else "refuted"
        verdict.why = ", ".join(f"{gain:.2f} times as fast for {value}" for value, gain in gains.items())
        verdict.why += f". Reproduced means {MUCH:g} times or more on two cores at best; distributing work costs some 0.05 ms."
    return [verdict]


def _busy(machine: Mapping[str, Any]) -> str:
    """Return why this machine cannot tell, or ""."""
    load, cores = machine.get("load_average"), machine.get("usable_cores")
    if cores is not None and cores < 2:
        return "There is only one core."
    if load is not None and load[0] > MOST_LOAD:
        return f"The machine was busy (load {load[0]:.1f}): the second core was not free."
    return ""


EXPERIMENT = Experiment(
    name="voxmap/two_cores",
    title="The look-up on one and on two cores",
    about="Two polytopes near each other with shells of 10,000 to a million points, and all pairs of 64 bodies, every point looked "
    "up, with one worker and with two. The answers are byte-equal.",
    paper=PAPER,
    figure="§9",
    caption="Time per frame with one worker and with two; the paper has no figure of it.",
    parameter="what is looked up",
    values=(*PAIRS, BODIES),
    quick_values=("10,000 points", BODIES),
    scene=_scene,
    methods=(ONE, TWO),
    made={ONE: _with(ONE, 1), TWO: _with(TWO, 2)},
    frames=FRAMES,
    rounds=RUNS,
    may_be_inside=False,
    limit=LIMIT,
    enough=ENOUGH,
    draw=("slowest frame",),
    judge=_judge,
)

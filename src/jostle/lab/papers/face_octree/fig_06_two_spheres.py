"""Fig. 6: two identical spheres of 168 to 3,968 faces, time of each cycle (§4.1).

The text describes the shape: no interference at first, and the most computation in the last cycle, 72, in which faces intersect.
Before boxes overlap the method has no body pair to test.
"""

from __future__ import annotations

import numpy as np

from jostle.lab.experiment import Experiment, Recordable, Value, served_runs, why_not_judged
from jostle.lab.papers.face_octree.printed import AS_PRINTED, AS_PRINTED_WORDS, PAPER, PRINTED
from jostle.lab.papers.judging import first_overlap, in_milliseconds, join_parts, last_times, middle, ms, unjudged
from jostle.lab.results import ExperimentResult, MethodRun, Verdict
from jostle.scenes import make_scene

FIGURE = PRINTED["fig_06"]
TIMES = dict(zip(FIGURE["faces"], FIGURE["last_cycle_ms"], strict=True))
QUICK_CYCLES = 30
FLAT = 1.5  # times the median: the 95th percentile of a flat curve at most
NEAR_MOST = 0.8  # of the slowest cycle: single cycles are noisy


def _scene(value: Value, quick: bool) -> Recordable:
    return make_scene("two_spheres", faces=value, cycles=QUICK_CYCLES if quick else FIGURE["cycles"])


def _judge(result: ExperimentResult) -> list[Verdict]:
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="The time of a cycle is small and constant until boxes overlap, then grows, and is largest in the last cycle, in "
        "which the spheres collide.",
        why=why_not_judged(result, "face_octree"),
        printed="last cycle: " + ", ".join(f"{time:g} ms at {faces:,} faces" for faces, time in TIMES.items()),
    )
    runs = served_runs(result, "face_octree")
    parts = [_curve(value, run) for value, run in runs]
    others = {f"{AS_PRINTED_WORDS}, last cycle": AS_PRINTED, "wide_tree, last cycle": "wide_tree"}
    beside = [in_milliseconds(words, last_times(result, method), "faces") for words, method in others.items()]
    verdict.ours = join_parts(["face_octree: " + "; ".join(parts) if parts else "", *beside])
    if not verdict.why:
        shapes = [_shape(run) for _, run in runs]
        held = [sum(each) for each in zip(*shapes, strict=True)]
        verdict.verdict = "reproduced" if min(held) == len(runs) else "partly" if sum(held) > len(runs) else "refuted"
        words = ("is flat before the overlap", "is higher at the collision", "is highest at the collision")
        verdict.why = "The curve " + ", ".join(f"{what} in {count} of {len(runs)}" for what, count in zip(words, held, strict=True))
        verdict.why += f" curves. Flat: 95th percentile within {FLAT:g} times the median; highest: within {1 - NEAR_MOST:.0%}."
    return [verdict]


def _shape(run: MethodRun) -> tuple[bool, bool, bool]:
    """Return whether a curve is flat before the overlap, rises, and ends highest."""
    before, last = run.frame_seconds[: first_overlap(run)], run.frame_seconds[-1]
    if not before:
        return False, False, False
    level = middle(before)
    flat = float(np.percentile(before, 95.0)) <= FLAT * level
    return flat, last > FLAT * level, last >= NEAR_MOST * max(run.frame_seconds)


def _curve(value: Value, run: MethodRun) -> str:
    overlap = first_overlap(run)
    before = ms(middle(run.frame_seconds[:overlap]))
    where = "never" if overlap is None else f"from cycle {overlap + 1}"
    return f"{value:,} faces {before}, boxes overlap {where}, last cycle {ms(run.frame_seconds[-1])}"


EXPERIMENT = Experiment(
    name="face_octree/fig_06",
    title="Two spheres approach until they collide: time of each cycle",
    about="Two identical spheres approach, turning, until faces intersect in cycle 72, with 168 to 3,968 faces.",
    paper=PAPER,
    figure="fig. 6",
    caption="Computation time of each cycle for two identical spheres of 168, 528, 960 and 3,968 faces.",
    parameter="faces of a sphere",
    values=tuple(TIMES),
    quick_values=(168, 528),
    scene=_scene,
    methods=("face_octree", AS_PRINTED, "wide_tree"),
    frames=FIGURE["cycles"],
    quick_frames=QUICK_CYCLES,
    draw=("frames together", "last frame", "time per frame"),
    printed={"face_octree": TIMES},
    judge=_judge,
)

"""§2.2.4: how time grows with the number of bodies at a constant density.

The paper compares all pairs of boxes, which it calls a bottleneck only for many bodies, and names two cures: another box check, or
none at all. All three run on spheres of 528 faces that fill a fifth of the cube, so that each has neighbours.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment, Recordable, Value, slope, why_not_judged
from jostle.lab.papers.face_octree.printed import PAPER
from jostle.lab.papers.judging import in_milliseconds, join_parts, middle_times, unjudged
from jostle.lab.results import ExperimentResult, Verdict
from jostle.scenes import make_scene

ALL_BOXES, NO_BOXES = "face_octree(broad='brute_force')", "face_octree(broad=None)"
METHODS = ("face_octree", ALL_BOXES, NO_BOXES, "wide_tree")
FILL = 0.2
LINEAR = 1.2  # exponents up to this are nearly linear


def _scene(value: Value, _quick: bool) -> Recordable:
    return make_scene("spheres", count=value, faces=528, fill=FILL, response="none")


def _judge(result: ExperimentResult) -> list[Verdict]:
    times = {method: middle_times(result, method) for method in METHODS}
    powers = {method: slope(list(row), list(row.values())) for method, row in times.items() if len(row) > 1}
    verdict = unjudged(
        PAPER,
        place="§2.2.4",
        claim="With a better box check, or none, time grows far more slowly than quadratically in the number of bodies.",
        why=why_not_judged(result, "face_octree") or why_not_judged(result, NO_BOXES),
        ours=join_parts(
            [in_milliseconds(method, row, "bodies") for method, row in times.items()]
            + [f"exponent of {method} {power:.2f}" for method, power in powers.items()]
        ),
    )
    if len(result.points) < 2:
        verdict.why = "Fewer than two numbers of bodies were run."
    if not verdict.why:
        better, none = powers["face_octree"] <= LINEAR, powers[NO_BOXES] <= LINEAR
        verdict.verdict = "reproduced" if better and none else "partly" if better or none else "refuted"
        verdict.why = f"Exponents up to {LINEAR:g} count as nearly linear: {powers['face_octree']:.2f} with a grid of boxes, "
        verdict.why += f"{powers[NO_BOXES]:.2f} without boxes"
        if ALL_BOXES in powers:
            most = max(times[ALL_BOXES])
            share = times[ALL_BOXES][most] / times["face_octree"][most] - 1.0
            verdict.why += f"; comparing all boxes costs {100 * share:.0f} % more at {most:,g} bodies"
        verdict.why += "."
    return [verdict]


EXPERIMENT = Experiment(
    name="face_octree/bodies",
    title="Up to 2,000 spheres at a constant density",
    about="Spheres of 528 faces pass through each other and fill a fifth of the cube whatever their number: how the time of a "
    "cycle grows with the number of bodies with a grid of boxes, with all pairs of boxes, and without boxes.",
    paper=PAPER,
    parameter="bodies",
    values=(62, 125, 250, 500, 1000, 2000),
    quick_values=(20, 40),
    scene=_scene,
    methods=METHODS,
    frames=6,
    quick_frames=3,
    draw=("time against parameter", "log-log"),
    judge=_judge,
)

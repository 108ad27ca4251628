"""Fig. 13: a map that matches the shell, and one of fixed size (§8).

Both are measured again in turn, on the same motion and with the same shells: only the map differs. The paper concludes that
performance does not depend on the number of voxels.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment, Value
from jostle.lab.methods import NamedMethod
from jostle.lab.papers.judging import join_parts, mean_times, unjudged, why_not
from jostle.lab.papers.voxmap.pair import in_hertz, pair_scene
from jostle.lab.papers.voxmap.printed import FRAMES, PAPER, PRINTED, RUNS
from jostle.lab.papers.voxmap.sized import paper_look_up
from jostle.lab.papers.voxmap.steady import steady_times
from jostle.lab.results import ExperimentResult, Verdict

FIGURE = PRINTED["fig_13"]
FIXED, VARIED = "fixed map", "map as fine as the shell"
POINTS = (25, 92, 219, 606, 1150, 2314, 5321, 9337, 100_000, 1_000_000)
SAME = 1.25  # rates within this ratio are the same
LIMIT, ENOUGH = 20.0, 100


def _fixed(value: Value) -> NamedMethod:
    return paper_look_up(FIXED, shell_points=int(value or 0), map_voxels=PRINTED["fig_12"]["map_voxels"])


def _varied(value: Value) -> NamedMethod:
    return paper_look_up(VARIED, shell_points=int(value or 0))


def _judge(result: ExperimentResult) -> list[Verdict]:
    fixed, varied = mean_times(result, FIXED), mean_times(result, VARIED)
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="The update rate depends on the points of the shell, not on the number of voxels.",
        why=why_not(result, (FIXED, VARIED)),
        printed="curves only, which are similar",
        ours=join_parts([in_hertz(FIXED, fixed, "points"), in_hertz(VARIED, varied, "points")]),
    )
    if not verdict.why:
        # Both take turns in the same rounds, so no yardstick is needed.
        one, other = steady_times(result, FIXED), steady_times(result, VARIED)
        ratios = {points: other[points] / one[points] for points in one}
        same = [points for points, ratio in ratios.items() if 1.0 / SAME <= ratio <= SAME]
        far = max(ratios, key=lambda points: max(ratios[points], 1.0 / ratios[points]))
        verdict.verdict = "reproduced" if len(same) == len(ratios) else "partly" if len(same) >= len(ratios) / 2 else "refuted"
        verdict.why = (
            f"Times are within {SAME - 1:.0%} of each other for {len(same)} of {len(ratios)} shells; farthest apart at {far:,.10g} "
            f"points, where the varied map takes {ratios[far]:.2f} times as long."
        )
    return [verdict]


EXPERIMENT = Experiment(
    name="voxmap/fig_13",
    title="A pair of bodies: a map of fixed size beside one that is as fine as the shell",
    about="Two polytopes of 36 faces move about a cube, near each other, with shells of 25 to a million points. All points are "
    "looked up in every frame, in a map of 12,650 voxels or in one that matches the shell.",
    paper=PAPER,
    figure="fig. 13",
    caption="Update rates of fig. 11 and 12, for a fixed and a varied number of voxels, against the points of the shell.",
    parameter="shell points",
    values=POINTS,
    quick_values=(POINTS[0], POINTS[4]),
    scene=pair_scene,
    methods=(FIXED, VARIED),
    made={FIXED: _fixed, VARIED: _varied},
    frames=FRAMES,
    rounds=RUNS,
    may_be_inside=False,
    limit=LIMIT,
    enough=ENOUGH,
    draw=("update rate", "log-log"),
    judge=_judge,
)

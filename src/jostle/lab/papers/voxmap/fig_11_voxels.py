"""Fig. 11: the update rate of a pair against the number of voxels (§8).

The map keeps its size while its voxels shrink, from 20 to 200,000, with matching shells. The paper calls performance inversely
proportional to accuracy. Twice the accuracy means 8 times the voxels and 4 times the points, and every point is looked up: the time
beyond the fixed cost of a frame must grow with the square of accuracy, which is judged as well. Today fixed costs dominate even the
paper's largest maps, so the sweep continues to 12,800,000 voxels.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from jostle.lab.experiment import Experiment, why_not_judged
from jostle.lab.papers.judging import join_parts, mean_times, middle, unjudged
from jostle.lab.papers.voxmap.pair import in_hertz, pair_mesh, pair_scene
from jostle.lab.papers.voxmap.printed import FRAMES, OURS, PAPER, PRINTED, RUNS
from jostle.lab.papers.voxmap.sized import our_look_up, paper_look_up, yardstick
from jostle.lab.papers.voxmap.steady import YARDSTICK, middle_slope, smoothed, steady_times
from jostle.lab.results import ExperimentResult, Verdict
from jostle.lab.sized_voxmap import voxel_for, voxels_of

FIGURE = PRINTED["fig_11"]
EVERY_POINT = "every point"
_MESH = pair_mesh()
VOXELS = tuple(
    voxels_of(_MESH, voxel_for(_MESH, round(wanted)))
    for wanted in np.geomspace(FIGURE["fewest_voxels"], FIGURE["most_voxels"], FIGURE["samples"])
)
BEYOND = tuple(voxels_of(_MESH, voxel_for(_MESH, factor * FIGURE["most_voxels"])) for factor in (3, 8, 24, 64))
SMALL = 1_000  # voxels: up to here look-ups are negligible
LARGE = 30_000  # voxels: from here on look-ups are measurable
ENOUGH_MAPS = 3  # large ones
STEADY = 1.1  # tolerance of a falling rate from sample to sample
LIMIT, ENOUGH = 8.0, 100
SAME = 0.25  # exponents that differ by no more are the same


def _judge(result: ExperimentResult) -> list[Verdict]:
    times = mean_times(result, EVERY_POINT)
    steady = steady_times(result, EVERY_POINT)
    small, large = [voxels for voxels in steady if voxels <= SMALL], [voxels for voxels in steady if voxels >= LARGE]
    enough = small and len(large) >= ENOUGH_MAPS
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="The update rate is inversely proportional to the accuracy: it falls with every refinement of the voxels.",
        why=why_not_judged(result, EVERY_POINT) or ("" if enough else "Too few small or large maps were run."),
        printed="curve only",
        ours=join_parts(
            [
                in_hertz(EVERY_POINT, times, "voxels"),
                in_hertz(f"{OURS} (groups of points)", mean_times(result, OURS), "voxels"),
            ]
        ),
    )
    if verdict.why:
        return [verdict]
    start = middle([steady[voxels] for voxels in small])
    row = smoothed([steady[voxels] for voxels in large])
    falls = all(later * STEADY >= earlier for earlier, later in pairwise(row)) and row[-1] > STEADY * row[0]
    # Eight times the voxels are twice the accuracy.
    power = 3.0 * middle_slope(large, [steady[voxels] - start for voxels in large])
    verdict.verdict = "reproduced" if falls and abs(power - 1.0) <= SAME else "partly" if falls else "refuted"
    grows = f"grows with exponent {power:.2f} of the accuracy" if power == power else "does not grow with the accuracy"
    verdict.why = (
        f"From {LARGE:,} voxels on the rate {'falls' if falls else 'does not fall'} from sample to sample (running medians of "
        f"three). The time beyond the fixed cost of a frame, {1e6 * start:.3g} µs, {grows}. The points of a shell, all of which "
        "are looked up, grow with its square."
    )
    return [verdict]


EXPERIMENT = Experiment(
    name="voxmap/fig_11",
    title="A pair of bodies with ever smaller voxels",
    about="Two polytopes of 36 faces move about a cube, near each other. Their maps have 20 to 200,000 voxels as in the paper, and "
    "up to 12,800,000, with matching shells. The look-up of the paper, every point in every frame, against that of this package, "
    "which skips groups of points; a yardstick with the same work at every value measures the machine's pace. Times are of "
    "replayed motions: detection with its broad phase. The paper's include motion and response.",
    paper=PAPER,
    figure="fig. 11",
    caption="Update rate of a pair of bodies against the number of voxels of their maps, logarithmic axes.",
    parameter="voxels of a map",
    values=(*VOXELS, *BEYOND),
    quick_values=(VOXELS[0], VOXELS[6]),
    scene=pair_scene,
    methods=(EVERY_POINT, OURS, YARDSTICK),
    made={
        EVERY_POINT: lambda value: paper_look_up(EVERY_POINT, map_voxels=int(value or 0)),
        OURS: lambda value: our_look_up(OURS, map_voxels=int(value or 0)),
        YARDSTICK: yardstick,
    },
    aside=(YARDSTICK,),
    frames=FRAMES,
    rounds=RUNS,
    may_be_inside=False,
    limit=LIMIT,
    enough=ENOUGH,
    draw=("update rate", "log-log"),
    judge=_judge,
)

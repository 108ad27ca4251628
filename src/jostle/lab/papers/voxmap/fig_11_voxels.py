"""Fig. 11: the update rate of a pair against the number of voxels, 20 to 200,000, with shells as dense as belongs to them (§8).

The size of the map stays, its voxels become smaller. The paper says of its graph that performance is inversely proportional to
accuracy. Twice the accuracy is 8 times the voxels and 4 times the points, and every point is looked up: for large shells the time
must grow with the square of accuracy, and that is what is judged, beside the words.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from jostle.lab.experiment import Experiment, Value, slope, why_not_judged
from jostle.lab.methods import NamedMethod
from jostle.lab.papers.judging import middle_times, several
from jostle.lab.papers.voxmap.pair import in_hertz, mean_times, pair_mesh, pair_scene
from jostle.lab.papers.voxmap.printed import FRAMES, OURS, PAPER, PRINTED, RUNS
from jostle.lab.papers.voxmap.sized import as_it_is, as_printed
from jostle.lab.results import ExperimentResult, Verdict
from jostle.lab.sized_voxmap import voxel_for, voxels_of

FIGURE = PRINTED["fig_11"]
EVERY_POINT = "every point"
_MESH = pair_mesh()
VOXELS = tuple(
    voxels_of(_MESH, voxel_for(_MESH, round(wanted)))
    for wanted in np.geomspace(FIGURE["fewest_voxels"], FIGURE["most_voxels"], FIGURE["samples"])
)
LARGE = 10_000  # voxels from which on look-ups, and not the rest of a frame, take the time
STEADY = 1.1  # a rate may rise by this from one sample to the next and still fall
SAME = 0.25  # powers that differ by no more are the same


def _every_point(value: Value) -> NamedMethod:
    return as_printed(EVERY_POINT, map_voxels=int(value or 0))


def _ours(value: Value) -> NamedMethod:
    return as_it_is(OURS, map_voxels=int(value or 0))


def _judge(result: ExperimentResult) -> list[Verdict]:
    times = mean_times(result, EVERY_POINT)
    large = [voxels for voxels in times if voxels >= LARGE]
    verdict = Verdict(
        paper=PAPER,
        place=FIGURE["place"],
        claim="The update rate is inversely proportional to the accuracy: it falls with every refinement of the voxels.",
        verdict="not judged",
        why=why_not_judged(result, EVERY_POINT) or ("" if len(large) > 1 else "Too few large maps were run."),
        printed="curve only",
        ours=several(
            [
                in_hertz(EVERY_POINT, times, "voxels"),
                in_hertz(f"{OURS} (groups of points)", mean_times(result, OURS), "voxels"),
            ]
        ),
    )
    if verdict.why:
        return [verdict]
    middles = middle_times(result, EVERY_POINT)  # all frames do the same work, and a median does not mind who else was at work
    row = [middles[voxels] for voxels in large]
    falls = all(later * STEADY >= earlier for earlier, later in pairwise(row))
    # Eight times the voxels are twice the accuracy.
    power = 3.0 * slope(large, row)
    verdict.verdict = "reproduced" if falls and abs(power - 1.0) <= SAME else "partly" if falls else "refuted"
    verdict.why = (
        f"From {LARGE:,} voxels on the rate {'falls' if falls else 'does not fall'} from sample to sample; "
        f"the time grows with the power {power:.2f} of the accuracy. The points of a shell, each of which is looked up, grow with "
        "its square."
    )
    return [verdict]


EXPERIMENT = Experiment(
    name="voxmap/fig_11",
    title="A pair of bodies with ever smaller voxels",
    about="Two polytopes of 36 faces move about a cube, near each other. Their maps have from 20 to 200,000 voxels, their shells "
    "as many points as belong to them. The look-up of the paper, every point in every frame, beside that of this package, which "
    "passes over groups of points. Times are of replayed motions: "
    "detection with its broad phase, where the paper has motion and response in its times, too.",
    paper=PAPER,
    figure="fig. 11",
    caption="Update rate of a pair of bodies against the number of voxels of their maps, logarithmic axes.",
    parameter="voxels of a map",
    values=VOXELS,
    quick_values=(VOXELS[0], VOXELS[6]),
    scene=pair_scene,
    methods=(EVERY_POINT, OURS),
    made={EVERY_POINT: _every_point, OURS: _ours},
    frames=FRAMES,
    rounds=RUNS,
    may_be_inside=False,
    draw=("update rate", "log-log"),
    judge=_judge,
)

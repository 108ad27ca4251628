"""100 cones in random motion (§5.2): speed and missed collisions.

The paper gives an order without numbers: Q-COLLIDE is fastest, then RECODE, I-COLLIDE and RAPID; and Q-COLLIDE and RAPID fail on
many collisions of pointed bodies. `contenders.py` lists their stand-ins. Missed body pairs are counted against the exact engine;
those that the guarantee of image space allows are counted separately.
"""

from __future__ import annotations

from itertools import pairwise

from jostle.lab.experiment import Experiment, served_runs
from jostle.lab.papers.image_space.contenders import ALL_METHODS, LIBRARIES, STAND_INS, made
from jostle.lab.papers.image_space.fig_09_random_motion import TRIANGLES, crowd
from jostle.lab.papers.image_space.judged import MOST, below, times_in_words, wrong_in_words
from jostle.lab.papers.image_space.printed import FRAMES, PAPER, PRINTED
from jostle.lab.papers.judging import join_parts, mean_times, unjudged, verdict_of, why_not
from jostle.lab.results import ExperimentResult, Verdict

FIGURE = PRINTED["cones"]
ORDER = [STAND_INS[library] for library in FIGURE["order"]]
FAIL = [STAND_INS[library] for library in FIGURE["fail_on_pointed"]]
MANY = 0.01  # of the collisions: a larger share of misses is many
LIMIT, ENOUGH = 60.0, 20


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_order(result), _miss(result)]


def _order(result: ExperimentResult) -> Verdict:
    """Judge the order of speeds."""
    verdict = _new("The separating vector is fastest, then rendering, closest features and trees of oriented boxes.", result)
    verdict.printed = " before ".join(FIGURE["order"]) + ", no times"
    verdict.ours = join_parts(times_in_words(result, label) for label in ALL_METHODS)
    if not verdict.why:
        steps = {f"{a} before {b}": below(mean_times(result, a), mean_times(result, b)) for a, b in pairwise(ORDER)}
        verdict.verdict = verdict_of([each for held in steps.values() for each in held], MOST)
        verdict.why = "; ".join(f"{step} for {sum(held)} of {len(held)} numbers of triangles" for step, held in steps.items()) + "."
    return verdict


def _miss(result: ExperimentResult) -> Verdict:
    """Judge which methods miss collisions."""
    verdict = _new("The separating vector and the trees of boxes fail to find many collisions of pointed bodies.", result)
    verdict.printed = f"{' and '.join(FIGURE['fail_on_pointed'])} fail, no counts"
    runs = {label: [run for _, run in served_runs(result, label)] for label in ALL_METHODS}
    verdict.ours = join_parts(wrong_in_words(label, each) for label, each in runs.items())
    if not verdict.why:
        shares = {
            label: sum(run.missed or 0 for run in runs[label]) / max(1, sum(run.expected or 0 for run in runs[label]))
            for label in (*FAIL, *LIBRARIES)
            if runs[label]
        }
        failing = [label for label in FAIL if shares[label] > MANY]
        some = [label for label, share in shares.items() if share > 0.0]
        verdict.verdict = "reproduced" if len(failing) == len(FAIL) else "partly" if failing else "refuted"
        verdict.why = (
            f"More than {MANY:.0%} of the collisions are missed by {', '.join(failing) or 'neither of the stand-ins'}; "
            f"any at all by {', '.join(some) or 'none of the others'}."
        )
    return verdict


def _new(claim: str, result: ExperimentResult) -> Verdict:
    return unjudged(PAPER, FIGURE["place"], claim, why_not(result, ORDER))


EXPERIMENT = Experiment(
    name="image_space/cones",
    title="100 cones in random motion: image space and the others",
    about="100 cones pass through each other without response, on the same paths for all. The question is which of them collide. "
    "FCL and Coal, closest features and separating planes stand in for RAPID, I-COLLIDE and Q-COLLIDE.",
    paper=PAPER,
    figure="§5.2",
    caption="Which method is fastest for 100 cones; the paper gives an order without a figure.",
    parameter="triangles",
    values=TRIANGLES,
    quick_values=TRIANGLES[:1],
    scene=crowd("cones"),
    methods=ALL_METHODS,
    made=made(ALL_METHODS),
    frames=FRAMES,
    quick_frames=10,
    rounds=3,
    limit=LIMIT,
    enough=ENOUGH,
    may_be_inside=False,
    draw=("mean and deviation",),
    judge=_judge,
)

"""100 cones in random motion, image space against the other algorithms (§5.2): who is fastest, and who finds all collisions.

The paper tells an order without numbers: Q-COLLIDE is fastest, then RECODE, I-COLLIDE and RAPID; and that Q-COLLIDE and RAPID fail
on many collisions of pointed bodies. What stands in for them is in `contenders.py`. Missed are pairs of bodies against the exact
engine; for image space those that its guarantee allows are told apart.
"""

from __future__ import annotations

from itertools import pairwise

from jostle.lab.experiment import Experiment, served_runs, why_not_judged
from jostle.lab.papers.image_space.contenders import EVERYBODY, LIBRARIES, STAND_INS, made
from jostle.lab.papers.image_space.fig_09_random_motion import TRIANGLES, crowd
from jostle.lab.papers.image_space.judged import below, deviations, mean_times, times_in_words, verdict_of, wrong_in_words
from jostle.lab.papers.image_space.printed import FRAMES, PAPER, PRINTED
from jostle.lab.papers.judging import several
from jostle.lab.results import ExperimentResult, Verdict

FIGURE = PRINTED["cones"]
ORDER = [STAND_INS[library] for library in FIGURE["order"]]
FAIL = [STAND_INS[library] for library in FIGURE["fail_on_pointed"]]
MANY = 0.01  # of the collisions: so many missed are many
LIMIT, ENOUGH = 60.0, 20


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_order(result), _miss(result)]


def _order(result: ExperimentResult) -> Verdict:
    """Who is faster than whom."""
    verdict = _new("The separating vector is fastest, rendering next, before closest features and trees of oriented boxes.", result)
    verdict.printed = " before ".join(FIGURE["order"]) + ", no times"
    verdict.ours = several([times_in_words(label, mean_times(result, label), deviations(result, label)) for label in EVERYBODY])
    if not verdict.why:
        steps = {f"{a} before {b}": below(mean_times(result, a), mean_times(result, b)) for a, b in pairwise(ORDER)}
        verdict.verdict = verdict_of([each for held in steps.values() for each in held])
        verdict.why = "; ".join(f"{step} for {sum(held)} of {len(held)} numbers of triangles" for step, held in steps.items()) + "."
    return verdict


def _miss(result: ExperimentResult) -> Verdict:
    """Who does not find all."""
    verdict = _new("The separating vector and the trees of boxes fail to find many collisions of pointed bodies.", result)
    verdict.printed = f"{' and '.join(FIGURE['fail_on_pointed'])} fail, no counts"
    runs = {label: [run for _, run in served_runs(result, label)] for label in EVERYBODY}
    verdict.ours = several([wrong_in_words(label, each) for label, each in runs.items()])
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
    why = next((why for label in ORDER if (why := why_not_judged(result, label))), "")
    return Verdict(PAPER, FIGURE["place"], claim, "not judged", why or ("" if result.points else "Nothing was run."))


EXPERIMENT = Experiment(
    name="image_space/cones",
    title="100 cones in random motion: image space and the others",
    about="100 cones pass through each other without response, on the same ways for all. Asked is which of them collide. FCL and "
    "Coal, closest features and separating planes stand in the place of RAPID, I-COLLIDE and Q-COLLIDE.",
    paper=PAPER,
    figure="§5.2",
    caption="Who is fastest among 100 cones; the paper tells an order without a figure.",
    parameter="triangles",
    values=TRIANGLES,
    quick_values=TRIANGLES[:1],
    scene=crowd("cones"),
    methods=EVERYBODY,
    made=made(EVERYBODY),
    frames=FRAMES,
    quick_frames=10,
    rounds=3,
    limit=LIMIT,
    enough=ENOUGH,
    may_be_inside=False,
    draw=("mean and deviation",),
    judge=_judge,
)

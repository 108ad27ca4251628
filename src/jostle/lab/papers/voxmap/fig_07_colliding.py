"""Fig. 7: stellated dodecahedra and icosahedra collide (§5).

The paper shows pictures of point shells over polygons and of voxmaps. They are drawn here as well (`pictures.py`), and the hits of
each frame are counted. Bodies of radius 1 meet with an accuracy of 0.1 and turn back when they touch.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment, Recordable, Value, served_runs
from jostle.lab.papers.judging import join_parts, unjudged, why_not
from jostle.lab.papers.voxmap.pictures import draw_collisions
from jostle.lab.papers.voxmap.printed import MODERN, OURS, PAPER, PRINTED, RUNS
from jostle.lab.papers.voxmap.sized import our_look_up, paper_look_up
from jostle.lab.results import ExperimentResult, MethodRun, Verdict
from jostle.scenes import make_scene

FIGURE = PRINTED["fig_07"]
EVERY_POINT = "every point"
KINDS = {"stellated dodecahedra": "stellated_dodecahedra", "icosahedra": "icosahedra"}
ACCURACY = 0.1
FRAMES = 30


def _scene(value: Value, _quick: bool) -> Recordable:
    return make_scene("stellated", kind=KINDS[str(value)])


def _judge(result: ExperimentResult) -> list[Verdict]:
    runs = {str(value): run for value, run in served_runs(result, EVERY_POINT)}
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="Collisions of concave and convex bodies are found alike, with all contact points, and none before and after.",
        why=why_not(result, (EVERY_POINT,), KINDS),
        printed="pictures only",
        ours=join_parts([f"{kind}: {hits_in_words(run)}" for kind, run in runs.items()]),
    )
    if not verdict.why:
        found = [max(run.contacts) > 0 and run.contacts[0] == run.contacts[-1] == 0 for run in runs.values()]
        missed, extra = (sum(getattr(run, name) or 0 for run in runs.values()) for name in ("missed", "extra"))
        beyond = sum(run.beyond for run in runs.values())
        verdict.verdict = "reproduced" if all(found) and beyond == 0 else "partly" if any(found) else "refuted"
        verdict.why = (
            f"Against the exact engine a touching pair is missed in {missed} frames, and one that does not touch is reported in "
            f"{extra}. Bodies nearer than the accuracy, {ACCURACY:g} of the radius, may be reported or not; {beyond or 'none'} of "
            f"these {'is' if beyond == 1 else 'are'} farther apart or deeper."
        )
    return [verdict]


def hits_in_words(run: MethodRun) -> str:
    """Return the hits before, during and after the collision."""
    hitting = [frame for frame, hits in enumerate(run.contacts) if hits]
    if not hitting:
        return f"no hits in {len(run.contacts)} frames"
    most = max(run.contacts)
    last = len(run.contacts) - 1
    return (
        f"0 hits in frames 0 to {hitting[0] - 1}, {most} in frame {run.contacts.index(most)} (hits in frames {hitting[0]} to "
        f"{hitting[-1]}), 0 until the last frame, {last}"
    )


EXPERIMENT = Experiment(
    name="voxmap/fig_07",
    title="Stellated dodecahedra and icosahedra collide",
    about="Two stellated dodecahedra, and two icosahedra, of radius 1 approach, collide and part, with an accuracy of 0.1. In the "
    "pictures one body has its point shell, the other its filled surface voxels; shell points that hit are red.",
    paper=PAPER,
    figure="fig. 7",
    caption="Concave and convex bodies before, during and after a collision, with their point shells and voxmaps.",
    parameter="bodies",
    values=tuple(KINDS),
    quick_values=tuple(KINDS),
    scene=_scene,
    methods=(EVERY_POINT, OURS, MODERN),
    made={
        EVERY_POINT: lambda _value: paper_look_up(EVERY_POINT, accuracy=ACCURACY),
        OURS: lambda _value: our_look_up(OURS, accuracy=ACCURACY),
    },
    frames=FRAMES,
    quick_frames=FRAMES,
    rounds=RUNS,
    may_be_inside=False,
    draw=("time per frame",),
    judge=_judge,
    pictures=draw_collisions,
)

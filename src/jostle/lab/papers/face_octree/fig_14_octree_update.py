"""Fig. 14: a head and a shuttle collide, against precomputed octrees (§5.2).

Sphere, shuttle, chair and head as in fig. 15, in the scene `head_and_shuttle`: boxes first overlap in cycle 17, as in the paper,
and from there on the paper's algorithm is ahead.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment, Recordable, Value, why_not_judged
from jostle.lab.papers.face_octree.printed import AS_PRINTED, AS_PRINTED_WORDS, PAPER, PRINTED
from jostle.lab.papers.judging import first_overlap, join_parts, middle, ms, run_at, unjudged
from jostle.lab.results import ExperimentResult, MethodRun, Verdict
from jostle.scenes import make_scene

FIGURE = PRINTED["fig_14"]
PRINTED_RATIO = FIGURE["octree_update_last_cycle_ms"] / FIGURE["face_octree_last_cycle_ms"]
CYCLES = 40  # ours: the text does not say how many
ALL_CYCLES = 0.9  # of the cycles after the first overlap: single ones are noisy
MUCH = 3.0  # times: less than that is not "much better"


def _scene(_value: Value, _quick: bool) -> Recordable:
    return make_scene("head_and_shuttle", cycles=CYCLES)


def _judge(result: ExperimentResult) -> list[Verdict]:
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="In all cycles after boxes first overlap the face octree is much faster than updated precomputed octrees.",
        why=why_not_judged(result, "face_octree", points=1) or why_not_judged(result, "octree_update", points=1),
        printed=f"last cycle: {FIGURE['face_octree_last_cycle_ms']} against {FIGURE['octree_update_last_cycle_ms']} ms "
        f"({PRINTED_RATIO:.1f} times; the paper says roughly 16); boxes overlap from cycle {FIGURE['first_overlap_cycle']} on",
    )
    ours, rival = (run_at(result, None, method) for method in ("face_octree", "octree_update"))
    overlap = None if ours is None else first_overlap(ours)
    shown = {method: method for method in ("face_octree", "octree_update", "wide_tree")} | {AS_PRINTED_WORDS: AS_PRINTED}
    verdict.ours = join_parts([_words(words, run_at(result, None, method), overlap) for words, method in shown.items()])
    if verdict.why or ours is None or rival is None:
        return [verdict]
    if overlap is None:
        verdict.why = "Boxes never overlapped."
        return [verdict]
    after = list(zip(ours.frame_seconds[overlap:], rival.frame_seconds[overlap:], strict=True))
    ahead = sum(own < other for own, other in after) / len(after)
    ratio = rival.frame_seconds[-1] / ours.frame_seconds[-1]
    everywhere = ahead >= ALL_CYCLES
    verdict.verdict = "reproduced" if everywhere and ratio >= MUCH else "partly" if ratio > 1.0 or everywhere else "refuted"
    verdict.why = (
        f"In the last cycle octree_update takes {ratio:.2g} times as long (the paper: {PRINTED_RATIO:.1f}); the face octree is "
        f"ahead in {ahead:.0%} of the {len(after)} cycles from the first overlap in cycle {overlap + 1} on. Much is {MUCH:g} times."
    )
    return [verdict]


def _words(method: str, run: MethodRun | None, overlap: int | None) -> str:
    if run is None:
        return ""
    before = "" if not overlap else f"{ms(middle(run.frame_seconds[:overlap]))} before boxes overlap, "
    return f"{method}: {before}{ms(run.frame_seconds[-1])} in the last cycle"


EXPERIMENT = Experiment(
    name="face_octree/fig_14",
    title="A head and a shuttle approach: the face octree against precomputed octrees",
    about="A head of 1,816 faces and a space shuttle of 528 move towards each other, turning, until they collide in the last "
    "cycle; a chair and a sphere move slightly beside them. The face octree, which prepares nothing, against precomputed octrees.",
    paper=PAPER,
    figure="fig. 14",
    caption="Computation time of each cycle for the face octree and for the octree update algorithm in the environment of fig. 15.",
    scene=_scene,
    methods=("face_octree", "octree_update", AS_PRINTED, "wide_tree"),
    frames=CYCLES,
    quick_frames=CYCLES,
    draw=("time per frame",),
    judge=_judge,
)

"""Fig. 12: the interactive environment, about 800 cycles (§4.3).

Two people moved deforming hands among a head, a shuttle and a deforming sphere; in the scene `room` they follow fixed paths. The
text describes the shape: next to nothing in cycles without a collision, more only with collisions, and 11.5 ms on average.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment, Recordable, Value, why_not_judged
from jostle.lab.papers.face_octree.printed import PAPER, PRINTED, REAL_TIME
from jostle.lab.papers.judging import join_parts, mean, ms, run_at, times_where, unjudged
from jostle.lab.results import ExperimentResult, Verdict
from jostle.scenes import make_scene

FIGURE = PRINTED["fig_12"]
NEGLIGIBLE = FIGURE["without_collision_ms"] / FIGURE["mean_ms"]  # of the mean over all cycles
RARELY = 0.1  # of the cycles without a collision
INCREASED = 1.5  # times the mean of cycles without a collision


def _scene(_value: Value, quick: bool) -> Recordable:
    return make_scene("room", seed=4 if quick else 0)  # with seed 4 bodies touch early


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_real_time(result), _only_with_collisions(result)]


def _real_time(result: ExperimentResult) -> Verdict:
    """Judge exactness and speed with deforming bodies."""
    verdict = unjudged(
        PAPER,
        place=f"{FIGURE['place']}; §2.2.1",
        claim="The face octree, which keeps nothing from cycle to cycle, finds the colliding faces of bodies that move, turn "
        "and deform in real time.",
        why=why_not_judged(result, "face_octree", points=1),
        printed=f"{FIGURE['mean_ms']:g} ms per cycle on average over about {FIGURE['cycles']} cycles",
        ours=join_parts([_times("face_octree", result), _times("wide_tree", result)]),
    )
    run = run_at(result, None, "face_octree")
    if run is not None and not verdict.why:
        exact, quick = bool(run.agrees), (run.maximum or 0.0) < REAL_TIME
        verdict.verdict = "reproduced" if exact and quick else "partly" if exact or quick else "refuted"
        found = "All faces were found, no extra ones" if exact else f"{run.missed:,} faces were missed, {run.extra:,} were extra"
        verdict.why = f"{found}; the slowest of {len(run.frame_seconds)} cycles took {1e3 * (run.maximum or 0.0):.3g} of 100 ms."
    return verdict


def _only_with_collisions(result: ExperimentResult) -> Verdict:
    """Judge whether only collisions cost time."""
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="Cycles without a collision rarely take more than 0.43 of the average cycle; only collisions cost more.",
        why=why_not_judged(result, "face_octree", points=1),
        printed=f"without a collision rarely more than {FIGURE['without_collision_ms']:g} ms, {FIGURE['mean_ms']:g} ms on average",
    )
    run = run_at(result, None, "face_octree")
    if run is None or verdict.why:
        return verdict
    colliding = [pairs > 0 for pairs in run.pairs]
    without, with_them = times_where(run, colliding, False), times_where(run, colliding)
    if not without or not with_them:
        verdict.why = "Cycles with or without collisions are missing."
        return verdict
    average = mean(run.frame_seconds)
    above = sum(time > NEGLIGIBLE * average for time in without) / len(without)
    ratio = mean(with_them) / mean(without)
    verdict.ours = (
        f"face_octree: {ms(mean(without))} in {len(without)} cycles without a collision ({above:.0%} of them above "
        f"{NEGLIGIBLE:.2f} of the average), {ms(mean(with_them))} in {len(with_them)} with one: {ratio:.1f} times"
    )
    verdict.verdict = "reproduced" if above <= RARELY and ratio > INCREASED else "partly" if ratio > INCREASED else "refuted"
    verdict.why = f"Rarely means one in ten, more means {INCREASED:g} times the mean. "
    verdict.why += "Boxes overlap long before faces touch, and a call has a fixed cost." if above > RARELY else "Both hold."
    return verdict


def _times(method: str, result: ExperimentResult) -> str:
    run = run_at(result, None, method)
    return "" if run is None else f"{method}: {ms(mean(run.frame_seconds))} on average, {1e3 * (run.maximum or 0.0):.3g} at most"


EXPERIMENT = Experiment(
    name="face_octree/fig_12",
    title="The interactive environment: two hands among a head, a shuttle and a sphere",
    about="A head of Venus, a space shuttle and a deforming sphere fly about a room and bounce off its walls and each other along "
    "the normals of touching faces. One hand grasps and releases bodies, the other pushes them; both bend their fingers.",
    paper=PAPER,
    figure="fig. 12",
    caption="Computation time of each cycle of collision detection in the interactive environment.",
    scene=_scene,
    methods=("face_octree", "wide_tree"),
    frames=FIGURE["cycles"],
    quick_frames=30,
    draw=("time per frame", "update time"),
    judge=_judge,
)

"""Fig. 16 to 18: fifteen colliding spheres, against closest features (§5.3).

Fig. 16 and 17 show every cycle for spheres of 168 and 960 faces, fig. 18 averages over all cycles and over those with collisions
for 48 to 960 faces; one run serves all three. The rival needs convex rigid bodies and works like I-COLLIDE. Methods that find
faces decide which cycles have collisions, and the rival only if none of them took part.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from jostle.lab.experiment import Experiment, Recordable, Value
from jostle.lab.papers.face_octree.printed import AS_PRINTED, PAPER, PRINTED
from jostle.lab.papers.judging import collisions, join_parts, mean, ms, run_at, times_where, unjudged, why_not
from jostle.lab.results import ExperimentResult, MethodRun, Verdict
from jostle.scenes import make_scene

FIGURE = PRINTED["fig_16_17_18"]
FEW, MANY = FIGURE["faces_in_fig_16"], FIGURE["faces_in_fig_17"]
METHODS = ("face_octree", "closest_features", AS_PRINTED, "wide_tree")
NAMING_COLLISIONS = ("face_octree", "wide_tree", "closest_features")
ALIKE = 2.0  # maxima within this factor are almost the same

Chosen = Callable[[MethodRun, list[bool]], list[float]]


def _scene(value: Value, _quick: bool) -> Recordable:
    return make_scene(
        "spheres",
        count=FIGURE["spheres"],
        faces=value,
        fill=FIGURE["fill"],
        speed=FIGURE["speed_in_radii"],
        turn=math.radians(FIGURE["turn_in_degrees"]),
    )


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_with_collisions(result), _other_cycles(result), _maxima(result)]


def _with_collisions(result: ExperimentResult) -> Verdict:
    """Judge the cycles with collisions."""
    verdict = _new(
        "On cycles in which collisions occur the face octree is faster than the distance-based method.", "fig. 18", result
    )
    ratios = _ratios(result, times_where)
    verdict.ours = join_parts([_means(result, "with collisions", times_where), _means(result, "all cycles", _every)])
    if not verdict.why:
        won = [faces for faces, ratio in ratios.items() if ratio > 1.0]
        verdict.verdict = "reproduced" if len(won) == len(ratios) else "partly" if won else "refuted"
        verdict.why = _words("closest_features takes", ratios, "times the time of face_octree on cycles with collisions.")
        if not won:
            verdict.why += " The paper's conclusion no longer holds; the rival still names no faces and needs convex rigid bodies."
    return verdict


def _other_cycles(result: ExperimentResult) -> Verdict:
    """Judge the cycles without collisions."""
    verdict = _new(
        "The distance-based method takes much time only where collisions occur; in other cycles it is quite fast.",
        "fig. 16 and 17",
        result,
    )
    if verdict.why:
        return verdict
    own: dict[float, float] = {}
    for point in result.points:
        rival = run_at(result, point.value, "closest_features")
        colliding = collisions(result, point.value, NAMING_COLLISIONS)
        if rival is not None and colliding is not None and isinstance(point.value, int | float):
            own[point.value] = mean(times_where(rival, colliding)) / mean(times_where(rival, colliding, False))
    ratios = _ratios(result, lambda run, colliding: times_where(run, colliding, False))
    own = {faces: ratio for faces, ratio in own.items() if not math.isnan(ratio)}
    verdict.ours = join_parts(
        [
            _words("closest_features takes with collisions", own, "times what it takes without"),
            _words("without collisions it takes", ratios, "times the time of face_octree"),
        ]
    )
    more, ahead = [ratio > 1.5 for ratio in own.values()], [ratio < 1.0 for ratio in ratios.values()]
    if not own or not ratios:
        verdict.why = "Cycles with or without collisions are missing."
        return verdict
    verdict.verdict = "reproduced" if all(more) and all(ahead) else "partly" if any(more) or any(ahead) else "refuted"
    verdict.why = (
        f"It takes more than 1.5 times as long with collisions at {sum(more)} of {len(more)} numbers of faces, and is ahead of the "
        f"face octree without them at {sum(ahead)} of {len(ahead)}."
    )
    return verdict


def _maxima(result: ExperimentResult) -> Verdict:
    """Judge the local maxima with few and with many faces."""
    verdict = _new(
        f"Local maxima are almost the same for both with {FEW} faces; with {MANY} those of the face octree are lower.",
        "fig. 16 and 17",
        result,
    )
    ratios = {faces: ratio for faces, ratio in _ratios(result, _highest).items() if faces in (FEW, MANY)}
    verdict.ours = _words("the maxima of closest_features are", ratios, "times those of face_octree")
    if not verdict.why and len(ratios) < 2:
        verdict.why = f"Both {FEW} and {MANY} faces are needed, with collisions."
    if not verdict.why:
        alike, lower = 1.0 / ALIKE <= ratios[FEW] <= ALIKE, ratios[MANY] > 1.0
        verdict.verdict = "reproduced" if alike and lower else "partly" if alike or lower else "refuted"
        verdict.why = (
            f"Maxima are means of the slowest tenth of cycles with collisions; almost the same means within a factor of {ALIKE:g}."
        )
    return verdict


def _new(claim: str, figure: str, result: ExperimentResult) -> Verdict:
    why = why_not(result, ("face_octree", "closest_features"))
    return unjudged(PAPER, f"§5.3, {figure}", claim, why, printed="curves only, no times in the text")


def _every(run: MethodRun, _colliding: list[bool]) -> list[float]:
    return run.frame_seconds


def _highest(run: MethodRun, colliding: list[bool]) -> list[float]:
    """Return the slowest tenth of the cycles with collisions."""
    times = np.sort(times_where(run, colliding))
    return times[-max(1, len(times) // 10) :].tolist() if len(times) else []


def _ratios(result: ExperimentResult, chosen: Chosen) -> dict[float, float]:
    """Return the rival's mean time over the face octree's, by faces."""
    found = {}
    for point in result.points:
        ours, rival = (run_at(result, point.value, method) for method in METHODS[:2])
        colliding = collisions(result, point.value, NAMING_COLLISIONS)
        if ours is None or rival is None or colliding is None or not isinstance(point.value, int | float):
            continue
        times = chosen(ours, colliding), chosen(rival, colliding)
        if times[0] and times[1]:
            found[float(point.value)] = mean(times[1]) / mean(times[0])
    return found


def _means(result: ExperimentResult, what: str, chosen: Chosen) -> str:
    """Return the mean times of all methods at the fewest and the most faces."""
    words = []
    for point in [*result.points[:1], *result.points[1:][-1:]]:
        colliding = collisions(result, point.value, NAMING_COLLISIONS)
        for method in METHODS:
            run = run_at(result, point.value, method)
            if run is not None and colliding is not None and (times := chosen(run, colliding)):
                words.append(f"{method} {ms(mean(times))} at {point.value:,} faces")
    return f"{what}: " + ", ".join(words) if words else ""


def _words(before: str, ratios: dict[float, float], after: str) -> str:
    if not ratios:
        return ""
    return f"{before} {', '.join(f'{ratio:.2g} ({faces:,g} faces)' for faces, ratio in ratios.items())} {after}"


EXPERIMENT = Experiment(
    name="face_octree/fig_16_17_18",
    title="Fifteen spheres collide for 1,000 cycles: the face octree against closest features",
    about="Fifteen identical spheres fill 5 % of a cube, move by 5 % of their radius and turn by 10 degrees per cycle, bounce off "
    "the walls and exchange velocities when they collide. The face octree against tracked closest features.",
    paper=PAPER,
    figure="fig. 16, 17 and 18",
    caption="Computation time of each cycle for 15 spheres of 168 (fig. 16) and 960 faces (fig. 17), and averages over all cycles "
    "and over those with collisions for 48 to 960 faces (fig. 18).",
    parameter="faces of a sphere",
    values=tuple(FIGURE["faces"]),
    quick_values=(48, 168),
    scene=_scene,
    methods=METHODS,
    frames=FIGURE["cycles"],
    quick_frames=100,
    draw=("averages", "time per frame"),
    panels=(FEW, MANY),
    judge=_judge,
)

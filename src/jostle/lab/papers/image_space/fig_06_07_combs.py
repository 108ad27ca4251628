"""Fig. 6 and 7: the comb experiment, by rotation and by translation (§5.3).

Two combs of five cones; from frame `TOUCH` on five pairs collide, in every motion. In aligned translation they share exactly one
point each in that frame. The paper saw Q-COLLIDE find none of the five in translation, so findings are counted frame by frame. A
touching point is below the stated limit of image space at pixel centres; with `conservative=True` it must be found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jostle.lab.experiment import Experiment, Recordable, Value, served_runs
from jostle.lab.papers.image_space.contenders import (
    ALL_METHODS,
    CONSERVATIVE,
    DRAWING,
    IMAGES,
    INTERVAL,
    STAND_INS,
    made,
)
from jostle.lab.papers.image_space.judged import MOST, below, deviations, times_in_words
from jostle.lab.papers.image_space.pictures import draw_combs
from jostle.lab.papers.image_space.printed import PAPER, PRINTED
from jostle.lab.papers.judging import Times, join_parts, mean_times, unjudged, verdict_of, why_not
from jostle.lab.results import ExperimentResult, MethodRun, Verdict
from jostle.motion.record import Motion
from jostle.scenes import make_scene

TRIANGLES = (1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000)
TOUCH, FRAMES = 90, 100
QUICK_FRAMES = 12
METHODS = (DRAWING, *ALL_METHODS)
LIMIT = 20.0

Measure = Callable[[ExperimentResult, str], Times]


@dataclass(frozen=True)
class Combs:
    """The combs, to be recorded.

    Parameters
    ----------
    last : int, optional
        Record only this many frames at the end, in which the cones come to touch.
    """

    motion: str
    place: str
    faces: int
    last: int | None = None

    def record(self, frames: int | None = None) -> Motion:
        """Return the motion."""
        whole = make_scene("combs", motion=self.motion, place=self.place, faces=self.faces, touch=TOUCH, frames=FRAMES).record()
        motion = whole if self.last is None else replace(whole, poses=whole.poses[-self.last :])
        return motion if frames is None else motion.first(frames)


def _scene(motion: str, place: str) -> Callable[[Value, bool], Recordable]:
    def scene(value: Value, quick: bool) -> Recordable:
        return Combs(motion, place, int(value or 0), QUICK_FRAMES if quick else None)

    return scene


def collisions_in_words(runs: list[tuple[Value, MethodRun]], five: int) -> str:
    """Return since which frame a method finds all collisions: "5 from frame 90 on", …."""
    found: dict[str, list[str]] = {}
    for value, run in runs:
        whole, touch = first_complete_frame(run, five), TOUCH + len(run.pairs) - FRAMES
        most = max(run.pairs[touch:], default=0)
        words = f"{five} from frame {whole} on" if whole is not None else f"{most or 'none'} of {five}"
        early = sum(pairs > 0 for pairs in run.pairs[:touch])
        words += f", {early} frames too early" if early else ""
        found.setdefault(words, []).append(f"{value:,}")
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{words} (at {' '.join(values)})" for words, values in found.items())


def first_complete_frame(run: MethodRun, five: int) -> int | None:
    """Return the frame from which on `five` collisions are found; None if never."""
    first = None
    for frame in reversed(range(len(run.pairs))):
        if run.pairs[frame] != five:
            break
        first = frame
    return first


def _judge(figure: dict[str, Any]) -> Callable[[ExperimentResult], list[Verdict]]:
    def judge(result: ExperimentResult) -> list[Verdict]:
        many = f"above {figure['above']:,} triangles"
        order = f"{' before '.join(figure['order'])} {many}, curves only"
        return [
            _found(result, figure),
            _missed(result, figure),
            _least(result, figure, mean_times, f"Detection by rendering takes the least time of all {many}.", order),
            _least(result, figure, deviations, "It also has the least standard deviation as triangles increase.", "curves only"),
        ]

    return judge


def _found(result: ExperimentResult, figure: dict[str, Any]) -> Verdict:
    """Judge whether image space finds all five."""
    five = figure["collisions"]
    verdict = _new(f"Detection by rendering finds all {five} collisions of the cones' tips and flanks.", result, figure)
    verdict.printed = f"exactly {five}, found by RECODE"
    verdict.ours = _counts(result, five, IMAGES)
    if not verdict.why:
        sure = [first_complete_frame(run, five) for _, run in served_runs(result, CONSERVATIVE)]
        never_late = all(first is not None and first <= TOUCH for first in sure)
        at_the_end = [run.pairs[-1] == five for label in IMAGES for _, run in served_runs(result, label)]
        verdict.verdict = (
            "reproduced" if never_late and all(at_the_end) else "partly" if never_late or all(at_the_end) else "refuted"
        )
        verdict.why = (
            f"With conservative=True all {five} are {'' if never_late else 'not '}found from their first frame, {TOUCH}, on. In "
            f"the last frame they are found in {sum(at_the_end)} of {len(at_the_end)} runs."
        )
    return verdict


def _missed(result: ExperimentResult, figure: dict[str, Any]) -> Verdict:
    """Judge which of the others miss collisions."""
    five, fail = figure["collisions"], [STAND_INS[library] for library in figure["fail"]]
    others = [label for label in ALL_METHODS if label not in IMAGES and served_runs(result, label)]
    if fail:
        verdict = _new(f"The separating vector finds none of the {five} collisions.", result, figure, fail)
        verdict.printed = f"{', '.join(figure['fail'])} cannot find any"
    else:
        verdict = _new(f"All of the algorithms find the {five} collisions.", result, figure)
        verdict.printed = "curves of all four"
    verdict.ours = _counts(result, five, others)
    if not verdict.why:
        end = {label: [run.pairs[-1] == five for _, run in served_runs(result, label)] for label in others}
        touching = {label: [run.pairs[TOUCH] == five for _, run in served_runs(result, label)] for label in others}
        lost = [label for label in others if not all(end[label])]
        late = [label for label in others if label not in lost and not all(touching[label])]
        if fail:
            none = [label for label in fail if not any(end[label])]
            verdict.verdict = "reproduced" if len(none) == len(fail) else "partly" if set(fail) & {*lost, *late} else "refuted"
        else:
            verdict.verdict = "refuted" if lost else "partly" if late else "reproduced"
        verdict.why = (
            f"In the last frame, deep inside each other, collisions are missed by {', '.join(lost) or 'no method'}; in their first "
            f"frame by {', '.join([*lost, *late]) or 'no method'}."
        )
    return verdict


def _least(result: ExperimentResult, figure: dict[str, Any], of: Measure, claim: str, printed: str) -> Verdict:
    """Judge whether image space has the least time or deviation for many triangles."""
    verdict = _new(claim, result, figure, _rivals(figure))
    verdict.printed = printed
    verdict.ours = join_parts(times_in_words(result, label) for label in METHODS)
    if not verdict.why:
        large = [value for value in TRIANGLES if value > figure["above"]]
        held = {label: below(of(result, INTERVAL), of(result, label), large) for label in _rivals(figure)}
        verdict.verdict = verdict_of([each for row in held.values() for each in row], MOST)
        verdict.why = "; ".join(f"{INTERVAL} is below {label} at {sum(row)} of {len(row)}" for label, row in held.items()) + "."
    return verdict


def _rivals(figure: dict[str, Any]) -> list[str]:
    return [STAND_INS[library] for library in figure["order"] if library != "RECODE"]


def _counts(result: ExperimentResult, five: int, labels: tuple[str, ...] | list[str]) -> str:
    rows = {label: served_runs(result, label) for label in labels}
    return join_parts([f"{label}: {collisions_in_words(runs, five)}" for label, runs in rows.items() if runs])


def _new(claim: str, result: ExperimentResult, figure: dict[str, Any], others: list[str] | None = None) -> Verdict:
    return unjudged(PAPER, figure["place"], claim, why_not(result, (*IMAGES, *(others or ())), TRIANGLES))


def _experiment(name: str, motion: str, place: str) -> Experiment:
    figure = PRINTED[name]

    def pictures(folder: Path) -> list[Path]:
        return draw_combs(motion, place, folder)

    return Experiment(
        name=f"image_space/{name}_combs" if place == "aligned" else f"image_space/{name}_combs_{place}",
        title=f"The comb experiment: {motion}, {place}",
        about=f"Two combs of five cones, {place}; one of them {'turns' if motion == 'rotation' else 'moves'} with respect to the "
        "other until five pairs of cones collide, and a little farther. The question is which pairs collide.",
        paper=PAPER,
        figure=f"fig. {int(name[-2:])}" + ("" if place == "aligned" else f", {place}"),
        caption=f"Frame and collision time, and their standard deviations, for controlled {motion} of {place} combs.",
        parameter="triangles",
        values=TRIANGLES,
        quick_values=(TRIANGLES[0],),
        scene=_scene(motion, place),
        methods=METHODS,
        made=made(METHODS),
        frames=FRAMES,
        quick_frames=QUICK_FRAMES,
        rounds=3,
        limit=LIMIT,
        may_be_inside=False,
        draw=("mean and deviation",),
        judge=_judge(figure),
        pictures=pictures,
    )


EXPERIMENTS = tuple(
    _experiment(name, str(PRINTED[name]["motion"]), place) for name in ("fig_06", "fig_07") for place in ("aligned", "offset")
)

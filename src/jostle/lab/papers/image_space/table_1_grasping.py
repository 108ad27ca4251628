"""Table 1: two hands close on a ball, 1,860 to 76,032 triangles (§5.4, fig. 8).

Regions have 256 by 256 pixels. The table lists the frames until all fingers touch, and mean and deviation of frame time (drawing
and detection) and collision time. The paper's collision time grows 7.0 times while the triangles grow 40.9 times, because pairs and
pixels have costs of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

from jostle.lab.experiment import Experiment, Recordable, Value
from jostle.lab.papers.image_space.contenders import ALL_METHODS, DRAWING, GPU, IMAGES, INTERVAL, made
from jostle.lab.papers.image_space.judged import MOST, below, deviations, frame_times, times_in_words
from jostle.lab.papers.image_space.pictures import draw_grasp
from jostle.lab.papers.image_space.printed import PAPER, PRINTED
from jostle.lab.papers.judging import by_value, join_parts, mean_times, ms, unjudged, verdict_of, why_not
from jostle.lab.results import ExperimentResult, Verdict
from jostle.motion.record import Motion
from jostle.scenes import make_scene

TABLE = PRINTED["table_1"]
TRIANGLES = tuple(TABLE["triangles"])
RESOLUTION = 256
METHODS = (DRAWING, *ALL_METHODS)
PRINTED_MS = dict(zip(TRIANGLES, TABLE["collision_ms"], strict=True))
PRINTED_GROWTH = TABLE["collision_ms"][-1] / TABLE["collision_ms"][0]
MORE_TRIANGLES = TRIANGLES[-1] / TRIANGLES[0]
MOST_GROWTH = 12.0  # ours
FRAMES = 100  # at most; the scene ends when all fingers touch
LIMIT = 20.0
QUICK_TURN = 0.05  # ten frames


@dataclass(frozen=True)
class Grasp:
    """The grasp, to be recorded until all fingers touch."""

    faces: int
    turn: float | None = None  # radians per frame; that of the scene by default

    def record(self, frames: int | None = None) -> Motion:
        """Return the motion, which ends when all fingers touch."""
        scene = make_scene("grasping", faces=self.faces, **({} if self.turn is None else {"turn": self.turn}))
        return scene.record(scene.frames if frames is None else min(frames, scene.frames))


def _scene(value: Value, quick: bool) -> Recordable:
    return Grasp(int(value or 0), QUICK_TURN if quick else None)


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_growth(result), _below_drawing(result), _steadier(result)]


def _growth(result: ExperimentResult) -> Verdict:
    """Judge the growth of collision time with triangles."""
    verdict = _new(
        f"From {TRIANGLES[0]:,} to {TRIANGLES[-1]:,} triangles, {MORE_TRIANGLES:.1f} times as many, collision time stays bounded.",
        result,
    )
    verdict.printed = f"{TABLE['collision_ms'][0]:g} to {TABLE['collision_ms'][-1]:g} ms, {PRINTED_GROWTH:.1f} times"
    verdict.ours = table_in_words(result)
    if not verdict.why:
        growth = {}
        for label in (*IMAGES, GPU):
            times = mean_times(result, label)
            if TRIANGLES[0] in times and TRIANGLES[-1] in times:
                growth[label] = times[TRIANGLES[-1]] / times[TRIANGLES[0]]
        ours = growth[INTERVAL]
        verdict.verdict = "reproduced" if ours <= MOST_GROWTH else "partly" if ours <= MORE_TRIANGLES else "refuted"
        verdict.why = (
            ", ".join(f"{label} grows {each:.1f} times" for label, each in growth.items())
            + f". Up to {MOST_GROWTH:g} times counts as reproduced, less than the growth of triangles as partly."
        )
    return verdict


def _below_drawing(result: ExperimentResult) -> Verdict:
    """Judge detection time against drawing time."""
    verdict = _new("Collision detection is a fairly low overhead on top of rendering.", result)
    share = [c / (f - c) for c, f in zip(TABLE["collision_ms"], TABLE["frame_ms"], strict=True)]
    verdict.printed = f"{share[0]:.0%} of the rendering time at {TRIANGLES[0]:,} triangles, {share[-1]:.0%} at {TRIANGLES[-1]:,}"
    found, drawn = mean_times(result, INTERVAL), mean_times(result, DRAWING)
    ratios = {value: found[value] / drawn[value] for value in found if value in drawn}
    verdict.ours = ", ".join(f"{ratio:.0%} at {value:,.10g}" for value, ratio in ratios.items())
    if not verdict.why:
        held = below(found, drawn)
        verdict.verdict = verdict_of(held, MOST)
        verdict.why = f"Detection takes less than drawing (512 by 512) at {sum(held)} of {len(held)} numbers of triangles."
    return verdict


def _steadier(result: ExperimentResult) -> Verdict:
    """Judge the deviation of detection against that of the frame."""
    verdict = _new("The deviation of collision time stays below that of the frame time.", result)
    below_it = sum(c < f for c, f in zip(TABLE["collision_deviation_ms"], TABLE["frame_deviation_ms"], strict=True))
    verdict.printed = f"in {below_it} of {len(TRIANGLES)} rows"
    own, (_, whole) = deviations(result, INTERVAL), frame_times(result, DRAWING, INTERVAL)
    verdict.ours = ", ".join(f"{ms(own[value])} and {ms(whole[value])} at {value:,.10g}" for value in own if value in whole)
    if not verdict.why:
        held = below(own, whole)
        verdict.verdict = verdict_of(held, MOST)
        verdict.why = f"It does at {sum(held)} of {len(held)} numbers of triangles."
    return verdict


def table_in_words(result: ExperimentResult) -> str:
    """Return the rows of the table: triangles, frames, frame and collision time."""
    whole, whole_spread = frame_times(result, DRAWING, INTERVAL)
    own, spread = mean_times(result, INTERVAL), deviations(result, INTERVAL)
    frames = by_value(result, INTERVAL, lambda run: len(run.frame_seconds))
    rows = [
        f"{value:,.10g} triangles, {frames[value]:g} frames: frame {ms(whole[value])} ± {ms(whole_spread[value])}, collision "
        f"{ms(own[value])} ± {ms(spread[value])}"
        for value in own
        if value in whole
    ]
    return join_parts([*rows, *(times_in_words(result, label) for label in METHODS if label not in (DRAWING, INTERVAL))])


def _new(claim: str, result: ExperimentResult) -> Verdict:
    return unjudged(PAPER, TABLE["place"], claim, why_not(result, (DRAWING, INTERVAL), (TRIANGLES[0], TRIANGLES[-1])))


EXPERIMENT = Experiment(
    name="image_space/table_1",
    title="Two hands grasp a ball",
    about="Two hands of 19 capsules each close on a ball until all ten fingers touch it. Regions of a pair have 256 by 256 pixels; "
    "frame time is detection plus drawing all bodies at 512 by 512.",
    paper=PAPER,
    figure="table 1",
    caption="Frames, frame time and collision time with their deviations while two hands grasp a ball, against triangles.",
    parameter="triangles",
    values=TRIANGLES,
    quick_values=(TRIANGLES[0],),
    scene=_scene,
    methods=METHODS,
    made=made(METHODS, RESOLUTION),
    frames=FRAMES,
    quick_frames=12,
    printed={"RECODE": {float(value): time for value, time in PRINTED_MS.items()}},
    rounds=3,
    limit=LIMIT,
    may_be_inside=False,
    draw=("mean and deviation",),
    judge=_judge,
    pictures=draw_grasp,
)

"""Table 1: two hands close on a ball, 1,860 to 76,032 triangles, regions of 256 by 256 pixels (§5.4, fig. 8).

Frames until all fingers touch, mean and deviation of frame time (drawing and detection) and of collision time. The paper's
collision time grows 7.0 times while the triangles grow 40.9 times: each pair and each pixel has a cost of its own, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from jostle.lab.experiment import Experiment, Recordable, Value, served_runs, why_not_judged
from jostle.lab.papers.image_space.contenders import DRAWING, EVERYBODY, GPU, IMAGES, INTERVAL, made
from jostle.lab.papers.image_space.judged import below, deviations, frame_times, mean_times, times_in_words, verdict_of
from jostle.lab.papers.image_space.pictures import draw_grasp
from jostle.lab.papers.image_space.printed import PAPER, PRINTED
from jostle.lab.papers.judging import ms, several
from jostle.lab.results import ExperimentResult, Verdict
from jostle.motion.record import Motion
from jostle.scenes import make_scene

TABLE = PRINTED["table_1"]
TRIANGLES = tuple(TABLE["triangles"])
RESOLUTION = 256
METHODS = (DRAWING, *EVERYBODY)
PRINTED_MS = dict(zip(TRIANGLES, TABLE["collision_ms"], strict=True))
PRINTED_GROWTH = TABLE["collision_ms"][-1] / TABLE["collision_ms"][0]
MORE_TRIANGLES = TRIANGLES[-1] / TRIANGLES[0]
MOST_GROWTH = 12.0  # ours
FRAMES = 100  # at most; the scene ends when all fingers touch
LIMIT = 20.0
QUICK_TURN = 0.05  # ten frames


@dataclass(frozen=True)
class Grasp:
    """The scene with as many frames as it has until all fingers touch, as something that can be recorded."""

    faces: int
    turn: float | None = None  # radians per frame; that of the scene by default

    def record(self, frames: int | None = None) -> Motion:
        """Return the motion, and no frames after it."""
        scene = make_scene("grasping", faces=self.faces, **({} if self.turn is None else {"turn": self.turn}))
        return scene.record(scene.frames if frames is None else min(frames, scene.frames))


def _scene(value: Value, quick: bool) -> Recordable:
    return Grasp(int(value or 0), QUICK_TURN if quick else None)


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_growth(result), _below_drawing(result), _steadier(result)]


def _growth(result: ExperimentResult) -> Verdict:
    """How much more a scene of 40.9 times as many triangles costs."""
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
            + f". Up to {MOST_GROWTH:g} times counts as reproduced, less than the triangles as partly."
        )
    return verdict


def _below_drawing(result: ExperimentResult) -> Verdict:
    """Detection costs less than drawing."""
    verdict = _new("Collision time is a fairly low overhead on top of the rendering time.", result)
    share = [c / (f - c) for c, f in zip(TABLE["collision_ms"], TABLE["frame_ms"], strict=True)]
    verdict.printed = f"{share[0]:.0%} of the rendering time at {TRIANGLES[0]:,} triangles, {share[-1]:.0%} at {TRIANGLES[-1]:,}"
    found, drawn = mean_times(result, INTERVAL), mean_times(result, DRAWING)
    ratios = {value: found[value] / drawn[value] for value in found if value in drawn}
    verdict.ours = ", ".join(f"{ratio:.0%} at {value:,.10g}" for value, ratio in ratios.items())
    if not verdict.why:
        held = below(found, drawn)
        verdict.verdict = verdict_of(held)
        verdict.why = f"Detection takes less than drawing (512 by 512) at {sum(held)} of {len(held)} numbers of triangles."
    return verdict


def _steadier(result: ExperimentResult) -> Verdict:
    """Detection varies less than the frame."""
    verdict = _new("The deviation of collision time stays below that of the frame time.", result)
    below_it = sum(c < f for c, f in zip(TABLE["collision_deviation_ms"], TABLE["frame_deviation_ms"], strict=True))
    verdict.printed = f"in {below_it} of {len(TRIANGLES)} rows"
    own, (_, whole) = deviations(result, INTERVAL), frame_times(result, DRAWING, INTERVAL)
    verdict.ours = ", ".join(f"{ms(own[value])} and {ms(whole[value])} at {value:,.10g}" for value in own if value in whole)
    if not verdict.why:
        held = below(own, whole)
        verdict.verdict = verdict_of(held)
        verdict.why = f"It does at {sum(held)} of {len(held)} numbers of triangles."
    return verdict


def table_in_words(result: ExperimentResult) -> str:
    """Return the rows of the table: triangles, frames, frame time and collision time with their deviations."""
    whole, whole_spread = frame_times(result, DRAWING, INTERVAL)
    own, spread = mean_times(result, INTERVAL), deviations(result, INTERVAL)
    frames = {
        float(value): len(run.frame_seconds) for value, run in served_runs(result, INTERVAL) if isinstance(value, int | float)
    }
    rows = [
        f"{value:,.10g} triangles, {frames[value]} frames: frame {ms(whole[value])} ± {ms(whole_spread[value])}, collision "
        f"{ms(own[value])} ± {ms(spread[value])}"
        for value in own
        if value in whole
    ]
    others = [
        times_in_words(label, mean_times(result, label), deviations(result, label))
        for label in METHODS
        if label not in (DRAWING, INTERVAL)
    ]
    return several([*rows, *others])


def _new(claim: str, result: ExperimentResult) -> Verdict:
    why = next((why for label in (DRAWING, INTERVAL) if (why := why_not_judged(result, label))), "")
    missing = [f"{value:,}" for value in (TRIANGLES[0], TRIANGLES[-1]) if all(point.value != value for point in result.points)]
    return Verdict(PAPER, TABLE["place"], claim, "not judged", why or (f"Not run: {', '.join(missing)}." if missing else ""))


def _pictures(folder: Path) -> list[Path]:
    return draw_grasp(folder)


EXPERIMENT = Experiment(
    name="image_space/table_1",
    title="Two hands grasp a ball",
    about="Two hands of 19 capsules each close on a ball until all ten fingers touch it. Regions of a pair have 256 by 256 pixels; "
    "frame time is that of drawing all bodies at 512 by 512 and of detection together.",
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
    pictures=_pictures,
)

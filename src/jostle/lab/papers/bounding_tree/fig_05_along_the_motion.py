"""Fig. 5: static tests against tests along the motion (§4, §5).

Static is one test at the end of each step. Along the motion swept volumes enclose start and end of each bounding object, and the
roots of the distance functions of §4.2 are found as in the paper: by linear interpolation, alone or followed by regula falsi. Added
are the certified test, which misses nothing and against which missed body pairs are counted, and 8 static tests for each step. The
paper does not say which of its hierarchies the figure shows; here it is the default of this package.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment, Recordable, Value, served_runs, why_not_judged
from jostle.lab.papers.bounding_tree.printed import FACES, MODERN, PAPER, PRINTED, QUICK_FACES, label_of
from jostle.lab.papers.bounding_tree.removal import ALL_FRAMES, Removal
from jostle.lab.papers.judging import join_parts, mean, ms, unjudged, verdict_of
from jostle.lab.results import ExperimentResult, MethodRun, Verdict

FIGURE = PRINTED["fig_05"]
SLOWEST = FIGURE["slowest_ms"] / 1e3
PRINTED_RATIO = FIGURE["slowest_ms"] / PRINTED["fig_04"]["slowest_ms"]
STATIC = label_of()
LINEAR = label_of(sweep="enclosing", time_splits=0, roots="linear_interpolation", motion=True)
REGULA_FALSI = label_of(sweep="enclosing", time_splits=0, roots="regula_falsi", motion=True)
CERTIFIED = label_of(motion=True)
INSTANTS = label_of(mode="pseudo_dynamic", motion=True)
WORDS = {
    STATIC: "static",
    LINEAR: "linear interpolation",
    REGULA_FALSI: "with regula falsi",
    CERTIFIED: "certified",
    INSTANTS: "8 static tests a step",
    MODERN: "wide_tree, static",
}
QUICK_EVERY = 8
FEW = 0.01  # of the pairs of bodies that meet


def _scene(_value: Value, quick: bool) -> Recordable:
    return Removal(QUICK_FACES, QUICK_EVERY) if quick else Removal(FACES)


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_costs_more(result), _at_most(result), _roots(result)]


def _costs_more(result: ExperimentResult) -> Verdict:
    """Judge the cost of tests along the motion."""
    verdict = _new("Dynamic collision detection takes more time than pseudo-dynamic collision detection.", "curves only", result)
    runs = _runs(result)
    verdict.ours = join_parts([f"{WORDS[method]}: {ms(mean(run.frame_seconds))} on average" for method, run in runs.items()])
    if not verdict.why:
        static = mean(runs[STATIC].frame_seconds)
        ratios = {method: mean(runs[method].frame_seconds) / static for method in (LINEAR, REGULA_FALSI)}
        verdict.verdict = verdict_of([ratio > 1.0 for ratio in ratios.values()])
        verdict.why = (
            "Over static tests: " + ", ".join(f"{WORDS[method]} {ratio:.2g} times" for method, ratio in ratios.items()) + "."
        )
        if CERTIFIED in runs and INSTANTS in runs:
            certified, instants = (mean(runs[method].frame_seconds) for method in (CERTIFIED, INSTANTS))
            verdict.why += (
                f" The certified test takes {certified / static:.2g} times, 8 static tests a step {instants / static:.2g} times."
            )
    return verdict


def _at_most(result: ExperimentResult) -> Verdict:
    """Judge the slowest frame along the motion against the slowest static one."""
    verdict = _new(
        f"With regula falsi no frame takes more than {PRINTED_RATIO:g} times the slowest static one; rates stay interactive.",
        f"at most {FIGURE['slowest_ms']:g} ms along the motion, {PRINTED['fig_04']['slowest_ms']:g} ms static (fig. 4)",
        result,
    )
    runs = _runs(result)
    verdict.ours = join_parts([f"{WORDS[method]}: {ms(run.maximum or 0.0)} at most" for method, run in runs.items()])
    if not verdict.why:
        ratio = (runs[REGULA_FALSI].maximum or 0.0) / max(runs[STATIC].maximum or 0.0, 1e-9)
        fast = (runs[REGULA_FALSI].maximum or 0.0) <= SLOWEST
        verdict.verdict = "reproduced" if fast and ratio <= PRINTED_RATIO else "partly" if fast else "refuted"
        verdict.why = (
            f"The slowest frame with regula falsi takes {ratio:.2g} times the slowest static one, and "
            f"{'less' if fast else 'more'} than {ms(SLOWEST)}."
        )
    return verdict


def _roots(result: ExperimentResult) -> Verdict:
    """Judge what the root finders find."""
    verdict = _new(
        "Interpolation and regula falsi find the contacts as roots of d(t), where it changes sign.",
        "best experience with both (§4.2), no counts",
        result,
        place="§4.2",
    )
    runs = _runs(result)
    verdict.ours = join_parts([_wrong(method, run) for method, run in runs.items() if run.compared == "body pairs"])
    if not verdict.why:
        wrong = {method: (runs[method].missed or 0) + (runs[method].extra or 0) for method in (LINEAR, REGULA_FALSI)}
        few = wrong[REGULA_FALSI] <= FEW * (runs[REGULA_FALSI].expected or 0)
        verdict.verdict = "reproduced" if not any(wrong.values()) else "partly" if few else "refuted"
        verdict.why = (
            "Body pairs over all steps are compared with the certified test; up to one in a hundred wrong with regula falsi counts "
            "as partly. These root finders cannot find a contact without a change of sign within the step."
        )
    return verdict


def _wrong(method: str, run: MethodRun) -> str:
    return f"{WORDS[method]}: {run.missed or 0:,} missed and {run.extra or 0:,} extra of {run.expected or 0:,}"


def _new(claim: str, printed: str, result: ExperimentResult, place: str = "") -> Verdict:
    why = next((why for method in (STATIC, LINEAR, REGULA_FALSI) if (why := why_not_judged(result, method, points=1))), "")
    return unjudged(PAPER, place or FIGURE["place"], claim, why, printed)


def _runs(result: ExperimentResult) -> dict[str, MethodRun]:
    return {method: run for method in WORDS for _, run in served_runs(result, method)[:1]}


EXPERIMENT = Experiment(
    name="bounding_tree/fig_05",
    title="Removing the covers: static tests against tests along the motion",
    about="A hand removes the two covers of a headlight of 60,000 faces and presses them against collar, battery and pipe now and "
    "then. A static test at the end of each step, or the first contact of each body pair along it.",
    paper=PAPER,
    figure="fig. 5",
    caption="Query time of each frame of the removal for static and for dynamic collision detection, with linear interpolation "
    "and with regula falsi.",
    scene=_scene,
    methods=tuple(WORDS),
    frames=ALL_FRAMES,
    quick_frames=ALL_FRAMES,
    draw=("time per frame",),
    judge=_judge,
)

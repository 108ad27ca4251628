"""Fig. 4: time of every frame, for three methods to build a hierarchy (§5).

All three are used as in the paper: flexible degree, α = 0.75, leaves of 4 faces, a static test in every frame; binary Gottschalk
trees are added. The text compares the slowest frames and calls the 40 ms of the modified Gottschalk method the slowest time
measured; we judge which method is slowest. Each type of bounding object has its own panel.
"""

from __future__ import annotations

from typing import Any

from jostle.lab.experiment import Experiment, Recordable, Value
from jostle.lab.papers.bounding_tree.printed import BINARY, FACES, MODERN, PAPER, PRINTED, QUICK_FACES, SPLITTINGS, label_of
from jostle.lab.papers.bounding_tree.removal import ALL_FRAMES, Removal
from jostle.lab.papers.judging import collisions, join_parts, mean, ms, run_at, times_where, unjudged, verdict_of, why_not
from jostle.lab.results import ExperimentResult, MethodRun, Verdict

FIGURE = PRINTED["fig_04"]
SLOWEST = FIGURE["slowest_ms"] / 1e3
VOLUMES = {"oriented boxes": "obb", "axis-aligned boxes": "aabb", "spheres": "sphere"}
METHODS = {label_of(splitting=splitting): words for words, splitting in SPLITTINGS.items()}
GOTTSCHALK, RIVAL = label_of(splitting="gottschalk"), label_of(splitting=BINARY)
EVERY, QUICK_EVERY = 2, 8
ALIKE = 2.0  # mean times within this ratio are alike
VARIES = 3.0  # times the mean: averages hide a slower frame


def _scene(_value: Value, quick: bool) -> Recordable:
    return Removal(QUICK_FACES, QUICK_EVERY) if quick else Removal(FACES, EVERY)


def _settings(value: Value) -> dict[str, Any]:
    return {"volume": VOLUMES[str(value)]}


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_all_good(result), _slowest(result), _varies(result), _against_binary(result)]


def _all_good(result: ExperimentResult) -> Verdict:
    """Judge whether all three are fast enough and alike."""
    verdict = _new(
        "All three computation methods perform well overall, at interactive rates in every frame.",
        f"no frame above {FIGURE['slowest_ms']:g} ms",
        result,
    )
    verdict.ours = join_parts([_times(result, value) for value in VOLUMES])
    if not verdict.why:
        fast, alike = [], []
        for value in VOLUMES:
            runs = _runs(result, value)
            means = [mean(run.frame_seconds) for run in runs]
            fast.append(all((run.maximum or 0.0) <= SLOWEST for run in runs))
            alike.append(max(means) <= ALIKE * min(means))
        good = [a and b for a, b in zip(fast, alike, strict=True)]
        verdict.verdict = "reproduced" if all(good) else "partly" if any(good) or all(fast) else "refuted"
        verdict.why = (
            f"With {sum(fast)} of {len(fast)} types of bounding object every frame of all three takes at most {ms(SLOWEST)}, the "
            f"paper's slowest; with {sum(alike)} their means are within a factor of {ALIKE:g} of each other."
        )
    return verdict


def _slowest(result: ExperimentResult) -> Verdict:
    """Judge which method has the slowest frame."""
    verdict = _new(
        "Of the three, the modified Gottschalk method has the slowest frame.",
        f"{FIGURE['slowest_ms']:g} ms, the slowest time measured",
        result,
    )
    found = {}
    for value in VOLUMES:
        runs = {run.method: run.maximum or 0.0 for run in _runs(result, value)}
        if runs:
            found[value] = max(runs, key=runs.__getitem__)
    verdict.ours = join_parts([f"{value}: {METHODS[method]}, {_slow(result, value, method)}" for value, method in found.items()])
    if not verdict.why:
        held = [value for value, method in found.items() if method == GOTTSCHALK]
        verdict.verdict = "reproduced" if len(held) == len(found) else "partly" if held else "refuted"
        verdict.why = f"It does with {', '.join(held) or 'none of the bounding objects'}."
    return verdict


def _varies(result: ExperimentResult) -> Verdict:
    """Judge how much the time varies with proximity."""
    verdict = _new(
        "The time varies strongly with the distance of the parts, so the slowest frame says more than the average.",
        "curves only",
        result,
    )
    words, ratios = [], []
    for value in VOLUMES:
        colliding = collisions(result, value, (MODERN, GOTTSCHALK))
        run = run_at(result, value, GOTTSCHALK)
        if run is None or colliding is None:
            continue
        ratios.append((run.maximum or 0.0) / mean(run.frame_seconds))
        near, free = times_where(run, colliding), times_where(run, colliding, False)
        parts = [f"{ms(mean(times))} in {len(times)} {what}" for times, what in ((near, "colliding"), (free, "free")) if times]
        words.append(f"{value}: {' and '.join(parts)} frames, slowest {ratios[-1]:.2g} times the mean")
    verdict.ours = join_parts(["modified Gottschalk, " + words[0], *words[1:]] if words else [])
    if not verdict.why:
        held = [ratio >= VARIES for ratio in ratios]
        verdict.verdict = verdict_of(held)
        verdict.why = (
            f"The slowest frame takes {VARIES:g} times the mean or more with {sum(held)} of {len(held)} types of bounding object."
        )
    return verdict


def _against_binary(result: ExperimentResult) -> Verdict:
    """Judge the modified Gottschalk method against the original."""
    verdict = _new(
        "Flexible degrees improve a known method: modified Gottschalk trees are faster than binary Gottschalk trees.",
        "none in the text",
        result,
        RIVAL,
    )
    words, faster, fewer = [], [], []
    for value in VOLUMES:
        ours, rival = run_at(result, value, GOTTSCHALK), run_at(result, value, RIVAL)
        if ours is None or rival is None:
            continue
        seconds = [sum(run.frame_seconds) for run in (ours, rival)]
        tests = [run.total("box_tests") for run in (ours, rival)]
        faster.append(seconds[0] < seconds[1])
        fewer.append(tests[0] < tests[1])
        words.append(
            f"{value}: {ms(seconds[0])} against {ms(seconds[1])} for the sequence, {tests[0]:,} against {tests[1]:,} tests, "
            f"slowest frame {ms(ours.maximum or 0.0)} against {ms(rival.maximum or 0.0)}"
        )
    verdict.ours = join_parts(words)
    if not verdict.why:
        verdict.verdict = verdict_of(faster)
        verdict.why = (
            f"They are faster over the sequence with {sum(faster)} of {len(faster)} types of bounding object, and make fewer tests "
            f"with {sum(fewer)}."
        )
    return verdict


def _new(claim: str, printed: str, result: ExperimentResult, *others: str) -> Verdict:
    return unjudged(PAPER, FIGURE["place"], claim, why_not(result, (*METHODS, *others), VOLUMES), printed)


def _runs(result: ExperimentResult, value: Value) -> list[MethodRun]:
    return [run for method in METHODS if (run := run_at(result, value, method)) is not None]


def _slow(result: ExperimentResult, value: Value, method: str) -> str:
    run = run_at(result, value, method)
    return "" if run is None else ms(run.maximum or 0.0)


def _times(result: ExperimentResult, value: str) -> str:
    shown = {**METHODS, RIVAL: "binary Gottschalk", MODERN: MODERN}
    runs = {words: run_at(result, value, method) for method, words in shown.items()}
    words = [
        f"{who} {ms(mean(run.frame_seconds))}, {ms(run.maximum or 0.0)} at most" for who, run in runs.items() if run is not None
    ]
    return f"{value}: " + ", ".join(words) if words else ""


EXPERIMENT = Experiment(
    name="bounding_tree/fig_04",
    title="Removing the covers: three ways to build a hierarchy, and binary trees",
    about="A hand removes the two covers of a headlight of 60,000 faces and presses them against collar, battery and pipe now and "
    "then. A static test in every frame, with hierarchies of three types of bounding object.",
    paper=PAPER,
    figure="fig. 4",
    caption="Query time of each frame of the removal for the three computation methods of §3.1 to 3.3.",
    parameter="bounding object",
    values=tuple(VOLUMES),
    quick_values=tuple(VOLUMES),
    scene=_scene,
    settings=_settings,
    methods=(*METHODS, RIVAL, MODERN),
    frames=ALL_FRAMES,
    quick_frames=ALL_FRAMES,
    draw=("time per frame",),
    judge=_judge,
)

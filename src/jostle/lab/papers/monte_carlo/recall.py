"""Recall: which regions of contact are reported within a budget.

The paper has no figure of this; it says that all regions are discovered (§6), a little late at worst and usually before they touch
(§3.2), and shows a video. The thresholds are ours: at 2 ms a frame and 30 Hz at least 99 % of the touching faces belong to regions
with a reported pair, and no region of 8 or more pairs is missed for more than 3 frames. `lab/regions.py` defines regions,
`instrumented.py` observes them. Counts are of the first replay, in which the exact engine runs between frames and clears the
caches.
"""

from __future__ import annotations

from pathlib import Path

from jostle.lab.experiment import Experiment, Recordable, Value
from jostle.lab.papers.judging import join_parts, run_at, unjudged, verdict_of
from jostle.lab.papers.monte_carlo.budgets import UNLIMITED, WITH_MORE, instrumented
from jostle.lab.papers.monte_carlo.contenders import in_brackets
from jostle.lab.papers.monte_carlo.encounters import PAIRS, Encounter, deforming, with_bunny
from jostle.lab.papers.monte_carlo.instrumented import LARGE
from jostle.lab.papers.monte_carlo.judged import percent, share_found, values_run, why_not
from jostle.lab.papers.monte_carlo.printed import PAPER
from jostle.lab.results import ExperimentResult, MethodRun, Verdict

OURS = "§3.2, §6; the threshold is ours"
VALUES = (*with_bunny(PAIRS), *(deforming(pair) for pair in PAIRS))
JUDGED = (*PAIRS, *(deforming(pair) for pair in PAIRS))
METHODS = (*WITH_MORE, UNLIMITED)
AT = "monte_carlo(2 ms)"
ENOUGH_RECALL, ALMOST_ALL = 0.99, 0.999
LONGEST = 3  # frames
FRAMES, DEFORMING_FRAMES = 300, 75
QUICK_FRAMES, QUICK_FIRST = 12, 12


def _scene(value: Value, quick: bool) -> Recordable:
    return Encounter(str(value), DEFORMING_FRAMES, QUICK_FIRST if quick else 0)


def recall_of(run: MethodRun | None) -> float:
    """Return the share of touching faces in reported regions, over all frames."""
    if run is None or not run.counters:
        return float("nan")
    touching = run.total("touching_faces")
    return 1.0 if touching == 0 else run.total("faces_reported") / touching


def longest_miss(run: MethodRun | None) -> int:
    """Return the most consecutive frames in which a large region was missed."""
    return 0 if run is None else max((work.get("missed_for", 0) for work in run.counters), default=0)


def least_budget(result: ExperimentResult, value: Value, recall: float) -> str:
    """Return the least budget from which on a recall is reached; "" if none."""
    least = ""
    for label in reversed(WITH_MORE):
        if not recall_of(run_at(result, value, label)) >= recall:
            break
        least = in_brackets(label)
    return least


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_recall(result), _longest(result), _all_regions(result)]


def _recall(result: ExperimentResult) -> Verdict:
    """Judge the share of touching faces in reported regions."""
    verdict = _new(
        f"At 2 ms a frame at least {ENOUGH_RECALL:.0%} of the touching faces belong to reported regions (our claim).",
        result,
        (AT,),
    )
    verdict.printed = "no number; “all the potential collision regions are discovered”"
    verdict.ours = join_parts([_recalls(result, value) for value in values_run(result, VALUES)])
    if not verdict.why:
        runs = {value: run_at(result, value, AT) for value in JUDGED}
        held = [recall_of(run) >= ENOUGH_RECALL for run in runs.values()]
        extra = sum(run.extra or 0 for point in result.points for run in point.runs)
        verdict.verdict = verdict_of(held) if extra == 0 else "refuted"
        pairs = min(share_found(run) for run in runs.values())
        verdict.why = (
            f"They do in {sum(held)} of {len(held)} motions. Of the touching face pairs themselves {percent(pairs)} are reported "
            f"in the worst motion. Reported rows that do not touch: {extra or 'none'}."
        )
    return verdict


def _longest(result: ExperimentResult) -> Verdict:
    """Judge for how long a large region is missed."""
    verdict = _new(
        f"At 2 ms a frame no region of {LARGE} or more touching pairs is missed for more than {LONGEST} frames (our claim).",
        result,
        (AT,),
    )
    verdict.printed = "no number; “regions may be detected with a little delay”"
    rows = []
    for value in values_run(result, VALUES):
        runs = [(label, run) for label in METHODS if (run := run_at(result, value, label)) is not None]
        words = [f"{longest_miss(run)} {_budget_words(label)}" for label, run in runs]
        rows.append(f"{value}: {', '.join(words)}" if words else "")
    verdict.ours = join_parts([f"most consecutive frames: {rows[0]}", *rows[1:]] if any(rows) else [])
    if not verdict.why:
        held = [longest_miss(run_at(result, value, AT)) <= LONGEST for value in JUDGED]
        verdict.verdict = verdict_of(held)
        verdict.why = f"This holds in {sum(held)} of {len(held)} motions."
    return verdict


def _all_regions(result: ExperimentResult) -> Verdict:
    """Judge whether all regions are found without a budget."""
    verdict = _new("All potential collision regions are discovered, on bodies of any shape.", result, (UNLIMITED,))
    verdict.place, verdict.printed = "§6", "no number"
    runs = {value: run for value in values_run(result, VALUES) if (run := run_at(result, value, UNLIMITED)) is not None}
    verdict.ours = join_parts(
        [
            f"{value}: {run.total('regions_reported'):,} of {run.total('regions'):,} regions in {len(run.counters)} frames, "
            f"at most {max((work.get('regions', 0) for work in run.counters), default=0)} at once"
            for value, run in runs.items()
        ]
    )
    if not verdict.why:
        shares = [runs[value].total("regions_reported") / max(1, runs[value].total("regions")) for value in JUDGED]
        all_of_them = all(runs[value].total("regions_reported") == runs[value].total("regions") for value in JUDGED)
        verdict.verdict = "reproduced" if all_of_them else "partly" if min(shares) >= ENOUGH_RECALL else "refuted"
        verdict.why = "Judged without a budget, region by region and frame by frame."
    return verdict


def _recalls(result: ExperimentResult, value: Value) -> str:
    runs = [(label, run) for label in METHODS if (run := run_at(result, value, label)) is not None]
    words = [f"{percent(recall_of(run))} {_budget_words(label)}" for label, run in runs]
    least = least_budget(result, value, ALMOST_ALL)
    words.append(f"{100 * ALMOST_ALL:g} % need {least or 'a larger budget'}")
    return f"{value}: {', '.join(words)}" if runs else ""


def _budget_words(label: str) -> str:
    return f"at {in_brackets(label)}" if label in WITH_MORE else "without a budget"


def _new(claim: str, result: ExperimentResult, methods: tuple[str, ...]) -> Verdict:
    return unjudged(PAPER, OURS, claim, why_not(result, methods, JUDGED))


def _pictures(folder: Path) -> list[Path]:
    from jostle.lab.papers.monte_carlo.charts import chart_of_recall

    return [chart_of_recall(folder, {f"recall {100 * bar:g} %": bar for bar in (ENOUGH_RECALL, ALMOST_ALL)})]


EXPERIMENT = Experiment(
    name="monte_carlo/recall",
    title="Regions of contact that are reported within a budget",
    about="The motions of table 1 at 30 Hz, with 0.5 to 10 ms for each frame, and without a budget. The exact engine finds "
    "touching faces and their regions. For each frame, counters hold the number of touching faces, of those in regions with a "
    "reported pair, and for how many frames a region of 8 or more pairs has been missed. Both thresholds are ours.",
    paper=PAPER,
    figure="§3.2, §6",
    caption="Recall within a budget; the paper has no figure of it.",
    parameter="bodies",
    values=VALUES,
    quick_values=(PAIRS[0],),
    scene=_scene,
    methods=METHODS,
    made={label: instrumented(label, truth=True) for label in METHODS},
    frames=FRAMES,
    quick_frames=QUICK_FRAMES,
    rounds=1,
    may_be_inside=False,
    draw=("slowest frame",),
    judge=_judge,
    pictures=_pictures,
)

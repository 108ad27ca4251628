"""Table 1: shells of one to four levels against trees of boxes (§6.1).

The paper replays recorded motions of rigid and deforming bodies; here each pair is replayed both ways (`encounters.py`). Times are
means over the frames of a motion: setting poses or vertices, and detection. Methods too slow for all frames are compared over the
first ones. Times include refitting (AABB) or rebuilding (OBB) trees of deforming bodies; for rigid bodies construction is separate,
as in the paper ("42/4.4"). "For non-convex objects, a valid comparison requires that all the potential collision regions are
properly detected": missed touching face pairs are judged along with the times.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

from jostle.lab.experiment import Experiment, Recordable, Value
from jostle.lab.files import RESULT, read_result
from jostle.lab.papers.judging import join_parts, ms, run_at, unjudged, verdict_of
from jostle.lab.papers.monte_carlo.contenders import AABB, LAST, LEVELS, MADE, METHODS, MODERN, OBB, ONE, in_brackets
from jostle.lab.papers.monte_carlo.encounters import DRAGON, PAIRS, Encounter, deforming, pair_of, with_bunny
from jostle.lab.papers.monte_carlo.judged import mean_time, mean_times, percent, share_found, values_run, why_not
from jostle.lab.papers.monte_carlo.pictures import draw_encounters
from jostle.lab.papers.monte_carlo.printed import PAPER, PRINTED, RATE_HZ, TABLE
from jostle.lab.papers.monte_carlo.rebuilt import BUILD, QUERY
from jostle.lab.results import ExperimentResult, Verdict

VALUES = (*with_bunny(PAIRS), *(deforming(pair) for pair in PAIRS))
JUDGED = (*PAIRS, *(deforming(pair) for pair in PAIRS))
LARGE_PAIR = (DRAGON, deforming(DRAGON))
TIMES_FASTER = 10.0  # ours: from one level to the last on the large pair
SOME = 2.0
STEADY = 1.1  # tolerance of falling times from level to level
ENOUGH_FOUND = 0.99  # of the touching pairs of faces
FRAMES, DEFORMING_FRAMES = 300, 75
QUICK_FRAMES, QUICK_DEFORMING, QUICK_FIRST = 12, 4, 14  # includes the first contact
# Building oriented boxes for 120,000 faces, one per leaf, takes seconds: that tree finishes few deforming frames.
LIMIT, ENOUGH = 40.0, 2


def _scene(value: Value, quick: bool) -> Recordable:
    return Encounter(str(value), QUICK_DEFORMING if quick else DEFORMING_FRAMES, QUICK_FIRST if quick else 0)


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_levels(result), _faster(result, AABB), _faster(result, OBB), _rate(result)]


def _levels(result: ExperimentResult) -> Verdict:
    """Judge the gain of more levels."""
    verdict = _new(
        "Times fall as more shell levels are used, on the largest pair by more than an order of magnitude.", result, LEVELS
    )
    verdict.printed = ", ".join(f"{pair}: {'/'.join(f'{time:g}' for time in times)} ms" for pair, times in _printed("shells_ms"))
    verdict.ours = join_parts([row_in_words(result, value) for value in values_run(result, VALUES)])
    if not verdict.why:
        gains = {value: _ratio(result, value, ONE, LAST) for value in JUDGED}
        falls = [value for value in JUDGED if _falls(result, value)]
        large, others = ([gains[value] for value in JUDGED if (value in LARGE_PAIR) is which] for which in (True, False))
        enough, printed = min(large) >= TIMES_FASTER, TABLE["shells_ms"][-1]
        verdict.verdict = "reproduced" if enough and len(falls) == len(JUDGED) else "partly" if min(large) >= SOME else "refuted"
        verdict.why = (
            f"All levels are {' and '.join(f'{gain:.3g}' for gain in large)} times as fast as one on the largest pair, rigid and "
            f"deforming ({TIMES_FASTER:g} are needed, the paper has {printed[0] / printed[-1]:.3g}), {min(others):.3g} to "
            f"{max(others):.3g} times on others; from level to level times fall, or rise by at most {STEADY - 1.0:.0%}, "
            f"for {len(falls)} of {len(JUDGED)} motions. {_found(result, LEVELS)}"
        )
    return verdict


def _faster(result: ExperimentResult, rival: str) -> Verdict:
    """Judge shells against a tree of boxes."""
    words = {
        AABB: "The shells are faster than a refitted tree of axis-aligned boxes.",
        OBB: "The shells are faster than a tree of oriented boxes, even one that is built once.",
    }
    verdict = _new(words[rival], result, (rival, LAST))
    if rival == AABB:
        theirs = [f"{time:g}" for time in TABLE["aabb_ms"]]
    else:
        columns = zip(TABLE["obb_build_ms"], TABLE["obb_query_ms"], strict=True)
        theirs = [*(f"{build:g}/{query:g}" for build, query in columns), "N/A"]
    verdict.printed = ", ".join(
        f"{pair}: {time} ms, shells {times[-1]:g}" for (pair, times), time in zip(_printed("shells_ms"), theirs, strict=True)
    )
    verdict.ours = join_parts([_against(result, value, rival) for value in values_run(result, VALUES)])
    if not verdict.why:
        held = {value: _ratio(result, value, rival, LAST) > 1.0 for value in JUDGED}
        found = min(share_found(run_at(result, value, LAST)) for value in JUDGED)
        verdict.verdict = verdict_of(list(held.values()))
        if verdict.verdict == "reproduced" and found < ENOUGH_FOUND:
            verdict.verdict = "partly"
        slower = [str(value) for value in JUDGED if not held[value]]
        where = f"They are for {sum(held.values())} of {len(held)} motions{', not for ' if slower else ''}{'; '.join(slower)}."
        verdict.why = f"{where} {_found(result, (LAST,))} {_modern(result)}"
    return verdict


def _rate(result: ExperimentResult) -> Verdict:
    """Judge large bodies at the rate of a simulation."""
    faces = PRINTED["environment"]["faces"]
    verdict = _new(f"Collisions between bodies of more than {faces:,} triangles are found at {RATE_HZ} Hz.", result, (LAST,))
    verdict.place, verdict.printed = PRINTED["environment"]["place"], f"{RATE_HZ} Hz"
    runs = {value: run_at(result, value, LAST) for value in values_run(result, VALUES)}
    slowest = {value: run.maximum or 0.0 for value, run in runs.items() if run is not None}
    verdict.ours = join_parts([f"{value}: {ms(time)} in the slowest frame" for value, time in slowest.items()])
    if not verdict.why:
        verdict.verdict = verdict_of([slowest[value] <= 1.0 / RATE_HZ for value in LARGE_PAIR])
        verdict.why = f"A frame may take {ms(1.0 / RATE_HZ)}; the slowest of the largest pair counts, on a modern machine."
    return verdict


def row_in_words(result: ExperimentResult, value: Value) -> str:
    """Return a row of the table: AABB, OBB, shells by levels, and the default engine."""
    shells = [mean_time(result, value, label) for label in LEVELS]
    boxes, ours = mean_time(result, value, AABB), mean_time(result, value, MODERN)
    words = [
        f"AABB {ms(boxes)}" if boxes == boxes else "",
        f"OBB {words}" if (words := _build_and_query(result, value)) else "",
        "shells " + "/".join("–" if time != time else ms(time).removesuffix(" ms") for time in shells) + " ms",
        f"{MODERN} {ms(ours)}" if ours == ours else "",
    ]
    return f"{value}: {', '.join(word for word in words if word)}"


def _build_and_query(result: ExperimentResult, value: Value) -> str:
    """Return mean construction and query time of the OBB tree, as in the paper.

    For deforming bodies both are of the first replay: times of two replays may have a negative difference.
    """
    run = run_at(result, value, OBB)
    if run is None:
        return ""
    count = max(1, len(run.counters))
    if pair_of(value)[1]:
        build, query = (1e-6 * run.total(counter) / count for counter in (BUILD, QUERY))
    else:
        build, query = run.prepare_seconds or 0.0, mean_time(result, value, OBB)
    return f"{ms(build).removesuffix(' ms')}/{ms(query)}{_over(result, value, OBB)}"


def _over(result: ExperimentResult, value: Value, label: str) -> str:
    """Return the frames that a time covers, if not all."""
    run, point = run_at(result, value, label), next(point for point in result.points if point.value == value)
    there = point.frames if run is None else len(run.frame_seconds)
    return f" (first {there:,} of {point.frames:,} frames)" if there < point.frames else ""


def _falls(result: ExperimentResult, value: Value) -> bool:
    return all(later <= STEADY * earlier for earlier, later in pairwise(mean_times(result, value, LEVELS)))


def _ratio(result: ExperimentResult, value: Value, slow: str, fast: str) -> float:
    """Return how many times as long one takes as another, over their common frames."""
    times = mean_times(result, value, (slow, fast))
    return times[0] / times[1]


def _against(result: ExperimentResult, value: Value, rival: str) -> str:
    theirs, ours = mean_times(result, value, (rival, LAST))
    if theirs != theirs or ours != ours:
        return ""
    words = _build_and_query(result, value) if rival == OBB else ms(theirs) + _over(result, value, rival)
    return f"{value}: {words}, shells {ms(ours)}"


def _found(result: ExperimentResult, labels: Iterable[str]) -> str:
    """Return the found share of touching face pairs, in the worst motion."""
    words = [
        f"{percent(min(share_found(run_at(result, value, label)) for value in JUDGED))} with {in_brackets(label)}"
        for label in labels
    ]
    return f"Touching face pairs found in the worst motion: {', '.join(words)}."


def _modern(result: ExperimentResult) -> str:
    """Compare the default engine with the shells."""
    ratios = [ratio for value in JUDGED if (ratio := _ratio(result, value, MODERN, LAST)) == ratio]
    return f"{MODERN}, which is exact, takes {min(ratios):.2g} to {max(ratios):.2g} times as long as the shells." if ratios else ""


def _printed(column: str) -> list[tuple[str, list[float]]]:
    return list(zip(PAIRS, TABLE[column], strict=True))


def _new(claim: str, result: ExperimentResult, methods: Iterable[str]) -> Verdict:
    return unjudged(PAPER, TABLE["place"], claim, why_not(result, methods, JUDGED))


def _pictures(folder: Path) -> list[Path]:
    run = {pair_of(point.value)[0] for point in read_result(folder / RESULT).points}
    return draw_encounters(folder, tuple(pair for pair in with_bunny(PAIRS) if pair in run))


EXPERIMENT = Experiment(
    name="monte_carlo/table_1_shells",
    title="Three pairs of bodies: shells of one to four levels against trees of boxes",
    about="A sphere in a torus, a horseshoe on a clover and two concave bodies of 50,000 and 70,000 faces are pressed together, "
    "slid along each other and parted, four times in 300 frames; rigid, and deforming by up to 5 %. The shells update the list of "
    "pairs and draw 8 seeds a frame. Trees of boxes are as published in 1996 and 1997; the OBB tree is rebuilt where bodies "
    "deform, and the counters build_microseconds and query_microseconds separate its times.",
    paper=PAPER,
    figure="table 1",
    caption="Times of trees of axis-aligned and of oriented boxes (construction/query), and of shells of one to four levels.",
    parameter="bodies",
    values=VALUES,
    quick_values=(PAIRS[0], deforming(PAIRS[0])),
    scene=_scene,
    methods=METHODS,
    made=MADE,
    frames=FRAMES,
    quick_frames=QUICK_FRAMES,
    rounds=3,
    limit=LIMIT,
    enough=ENOUGH,
    may_be_inside=False,
    draw=("slowest frame",),
    judge=_judge,
    pictures=_pictures,
)

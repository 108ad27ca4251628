"""Fig. 12 and table 1: the update rate against the points of a shell (§8).

Shells have exactly the points of table 1, and up to a million; the map has 12,650 voxels, as near to the paper's 12,672 as this
mesh comes. The judge asks whether a look-up costs the same for every shell. The fixed cost of a frame (setting poses, a call, a
report), which the paper saw with 25 and 92 points, weighs more today: it is the intercept of the line through all shells
(`steady.py`). The cost of a point beyond it is compared for shells so large that look-ups dominate.
"""

from __future__ import annotations

import math

from jostle.lab.experiment import Experiment, Value, why_not_judged
from jostle.lab.methods import NamedMethod
from jostle.lab.papers.judging import join_parts, mean_times, unjudged
from jostle.lab.papers.voxmap.pair import hertz, in_hertz, pair_scene
from jostle.lab.papers.voxmap.printed import FRAMES, OURS, PAPER, PRINTED, RUNS
from jostle.lab.papers.voxmap.sized import our_look_up, paper_look_up, yardstick
from jostle.lab.papers.voxmap.steady import YARDSTICK, line_through, smoothed, steady_times
from jostle.lab.results import ExperimentResult, Verdict

FIGURE = PRINTED["fig_12"]
EVERY_POINT = "every point"
POINTS = tuple(FIGURE["points"])
BEYOND = (50_000, 100_000, 200_000, 500_000, 1_000_000)
PRINTED_RATES = dict(zip(POINTS, FIGURE["rate_hz"], strict=True))
KEPT = [ms for points, ms in zip(POINTS, FIGURE["look_up_ms"], strict=True) if points not in FIGURE["excepted"]]
SPREAD = max(KEPT) / min(KEPT)  # "almost constant" in the paper
FROM = 1_000  # points
LARGE = 50_000  # points: from here on look-ups dominate a frame
ENOUGH_SHELLS = 3  # large ones
LIMIT, ENOUGH = 8.0, 100


def _every_point(value: Value) -> NamedMethod:
    return paper_look_up(EVERY_POINT, shell_points=int(value or 0), map_voxels=FIGURE["map_voxels"])


def _ours(value: Value) -> NamedMethod:
    return our_look_up(OURS, shell_points=int(value or 0), map_voxels=FIGURE["map_voxels"])


def each_point(times: dict[float, float]) -> dict[float, float]:
    """Return the seconds per point beyond the fixed cost of a frame, for large shells."""
    start, _ = line_through(times)
    return {points: (time - start) / points for points, time in times.items() if points >= LARGE}


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_constant(result), _at_a_thousand(result)]


def _constant(result: ExperimentResult) -> Verdict:
    """Judge whether a look-up costs the same for every shell."""
    times = mean_times(result, EVERY_POINT)
    steady = steady_times(result, EVERY_POINT)
    each = each_point(steady)
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="The update rate is inversely proportional to the points of a shell: every look-up takes the same time.",
        why=why_not_judged(result, EVERY_POINT) or ("" if len(each) >= ENOUGH_SHELLS else "Too few large shells were run."),
        printed=f"{in_words(PRINTED_RATES)}; about {FIGURE['constant_look_up_ms']:g} ms a look-up, {min(KEPT):g} to {max(KEPT):g} "
        "except for 25, 92 and 9,337 points",
        ours=join_parts(
            [
                table_1(times),
                "a point beyond the fixed cost of a frame: "
                + ", ".join(f"{1e9 * time:.3g} ns at {points:,.10g}" for points, time in each.items()),
                in_hertz(f"{OURS} (groups of points)", mean_times(result, OURS), "points"),
            ]
            if times
            else []
        ),
    )
    if not verdict.why:
        costs = smoothed(list(each.values()))
        spread = max(costs) / min(costs) if min(costs) > 0.0 else math.inf
        verdict.verdict = "reproduced" if spread <= SPREAD else "partly" if spread <= 2.0 * SPREAD else "refuted"
        start, point = line_through(steady)
        found = f"the dearest point costs {spread:.2f} times the cheapest" if spread < math.inf else "some points cost nothing"
        verdict.why = (
            f"The line through all shells is {1e6 * start:.3g} µs a frame and {1e9 * point:.3g} ns a point. From {min(each):,.10g} "
            f"points on {found} (running medians of three shells); in the table the ratio is {SPREAD:.2f} without its exceptions."
        )
    return verdict


def _at_a_thousand(result: ExperimentResult) -> Verdict:
    """Judge the rate with a thousand points."""
    times = mean_times(result, EVERY_POINT)
    above = [points for points in times if points >= FROM]
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="A pair runs at interactive rates with a thousand shell points, all contact points reported.",
        why=why_not_judged(result, EVERY_POINT) or ("" if above else "No shell of a thousand points was run."),
        printed=f"about {FIGURE['rate_at_1000_hz']} Hz for 1,000 points",
        ours=""
        if not above
        else f"{hertz(times[min(above)])} with {min(above):,.10g} points, {hertz(times[max(above)])} with {max(above):,.10g}",
    )
    if not verdict.why:
        rate = 1.0 / times[min(above)]
        verdict.verdict = "reproduced" if rate >= FIGURE["rate_at_1000_hz"] else "refuted"
        verdict.why = f"{rate / FIGURE['rate_at_1000_hz']:,.0f} times the rate of the Pentium at 166 MHz."
    return verdict


def in_words(rates: dict[int, float]) -> str:
    """Return the printed rates as text."""
    return ", ".join(f"{rate:g} Hz at {points:,}" for points, rate in rates.items()) + " points"


def table_1(times: dict[float, float]) -> str:
    """Return the rows of the table as text."""
    rows = [f"{points:,.10g} points {hertz(time)}, {1e3 * time / points:.2g} ms" for points, time in times.items()]
    return "rate, and time of a frame over its points: " + "; ".join(rows) if rows else ""


EXPERIMENT = Experiment(
    name="voxmap/fig_12",
    title="A pair of bodies with ever more shell points, and a map of fixed size",
    about="Two polytopes of 36 faces move about a cube, near each other. Their maps have 12,650 voxels, their shells the points of "
    "table 1 and up to a million. The look-up of the paper, every point in every frame, against that of this package, which skips "
    "groups of points; a yardstick with the same work at every value measures the machine's pace. A shell much coarser than the "
    "map misses contacts, in the paper too. Detection alone is timed; the paper times motion and response, too.",
    paper=PAPER,
    figure="fig. 12",
    caption="Update rate of a pair of bodies against the points of the shell, with the map fixed at 12,672 voxels, logarithmic "
    "axes; table 1 prints the same numbers and the time of each look-up.",
    parameter="shell points",
    values=(*POINTS, *BEYOND),
    quick_values=(POINTS[0], POINTS[6]),
    scene=pair_scene,
    methods=(EVERY_POINT, OURS, YARDSTICK),
    made={EVERY_POINT: _every_point, OURS: _ours, YARDSTICK: yardstick},
    aside=(YARDSTICK,),
    frames=FRAMES,
    rounds=RUNS,
    may_be_inside=False,
    limit=LIMIT,
    enough=ENOUGH,
    draw=("update rate", "time per look-up", "log-log"),
    printed={EVERY_POINT: {float(points): 1e3 / rate for points, rate in PRINTED_RATES.items()}},
    judge=_judge,
)

"""Fig. 7: time of the colliding cycle against the number of faces.

The paper (§6) extrapolates to 5,936 faces in 100 ms by the straight line through its last two points, 24 ms at 960 and 70 ms at
3,968 faces; so do we. The naive test of §1, every edge against every face, which the paper did not run (§6), is added.
"""

from __future__ import annotations

import math

from jostle.lab.experiment import Experiment, Recordable, Value, slope, why_not_judged
from jostle.lab.papers.face_octree.fig_06_two_spheres import TIMES
from jostle.lab.papers.face_octree.printed import AS_PRINTED, AS_PRINTED_WORDS, PAPER, PRINTED, REAL_TIME
from jostle.lab.papers.judging import by_value, in_milliseconds, join_parts, last_times, middle_times, unjudged
from jostle.lab.results import ExperimentResult, Verdict
from jostle.scenes import make_scene

FIGURE = PRINTED["fig_07"]
CYCLES = PRINTED["fig_06"]["cycles"]
QUICK_CYCLES = 10
NEAR = 0.25  # exponents that differ by no more are the same
MANY = 500  # faces: from here on the naive test's own work dominates its time


def _scene(value: Value, quick: bool) -> Recordable:
    return make_scene("two_spheres", faces=value, cycles=QUICK_CYCLES if quick else CYCLES)


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_growth(result), _in_real_time(result), _naive(result)]


def _growth(result: ExperimentResult) -> Verdict:
    """Judge the growth of time with faces."""
    paper = slope(list(TIMES), list(TIMES.values()))
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim=f"At the collision the face octree's time grows more slowly than the number of faces: exponent {paper:.2f}.",
        why=why_not_judged(result, "face_octree", points=2),
        printed=", ".join(f"{time:g} ms at {faces:,} faces" for faces, time in TIMES.items()) + f" (exponent {paper:.2f})",
    )
    ours = last_times(result, "face_octree")
    others = {AS_PRINTED_WORDS: AS_PRINTED, "wide_tree": "wide_tree"}
    beside = [_with_power(words, last_times(result, method)) for words, method in others.items()]
    verdict.ours = join_parts([_with_power("face_octree", ours), *beside])
    power = _power(ours)
    if not verdict.why and math.isnan(power):
        verdict.why = "Fewer than two of the four printed numbers of faces were run."
    if not verdict.why:
        verdict.verdict = "reproduced" if abs(power - paper) <= NEAR else "partly" if power < 1.0 else "refuted"
        verdict.why = f"The exponent over the same numbers of faces is {power:.2f}; it counts as the same within {NEAR:g}."
        if power < paper - NEAR:
            verdict.why += " It grows even more slowly: with so few faces the fixed cost of a call is much of the time."
    return verdict


def _in_real_time(result: ExperimentResult) -> Verdict:
    """Judge how many faces fit in 100 ms, by the line through the last two points."""
    printed, line = FIGURE["faces_in_real_time"], faces_within(REAL_TIME, {faces: time / 1e3 for faces, time in TIMES.items()})
    verdict = unjudged(
        PAPER,
        place="§6",
        claim=f"Two bodies of up to about {printed:,} faces each are checked within 100 ms, extrapolated from fig. 7.",
        why=why_not_judged(result, "face_octree", points=2),
        printed=f"{printed:,} faces; the line through the last two printed times gives {line:,.0f}",
    )
    words = []
    for words_for, method in (("face_octree", "face_octree"), (AS_PRINTED_WORDS, AS_PRINTED), ("wide_tree", "wide_tree")):
        times = last_times(result, method)
        faces = faces_within(REAL_TIME, times)
        if faces is not None:
            words.append(
                f"{words_for}: {faces:,.0f} faces by the line through its last two points, at most {max(times):,g} were run"
            )
            if method == "face_octree" and not verdict.why:
                verdict.verdict = "reproduced" if faces >= printed else "refuted"
                verdict.why = f"{faces / printed:,.3g} times as many, on a modern machine; so far out a straight line is a guess."
    verdict.ours = "; ".join(words)
    if verdict.verdict == "not judged" and not verdict.why:
        verdict.why = "The time does not grow over the last two points."
    return verdict


def _naive(result: ExperimentResult) -> Verdict:
    """Judge the quadratic growth of testing all edges against all faces."""
    verdict = unjudged(
        PAPER,
        place="§1, §6",
        claim="Testing every edge of one body against every face of the other is work that grows with the square of their number, "
        "which the face octree avoids.",
        why=why_not_judged(result, "edge_face", points=2),
        printed="none: the naive test was not run (§6)",
    )
    work = by_value(result, "edge_face", lambda run: run.total("triangle_tests") / max(1, len(run.counters)))
    large = {value: time for value, time in middle_times(result, "edge_face").items() if value >= MANY}
    tests, times = slope(list(work), list(work.values())), slope(list(large), list(large.values()))
    powers = {"edge_face: exponent of tests": tests, f"exponent of time from {MANY} faces on": times}
    verdict.ours = join_parts(
        [*(f"{words} {power:.2f}" for words, power in powers.items() if not math.isnan(power)), _behind(result)]
    )
    if not verdict.why and math.isnan(times):
        verdict.why = f"Fewer than two points have {MANY} faces or more."
    if not verdict.why:
        square, shows = abs(tests - 2.0) < 0.05, 1.7 < times < 2.3
        verdict.verdict = "reproduced" if square and shows else "partly" if square or shows else "refuted"
        verdict.why = "Judged by the exponents of work and time over the number of faces."
    return verdict


def _behind(result: ExperimentResult) -> str:
    """Return how far the naive test is behind at the collision."""
    naive, octree = last_times(result, "edge_face"), last_times(result, "face_octree")
    both = sorted(naive.keys() & octree.keys())
    if not both:
        return ""
    most = both[-1]
    return f"at {most:,g} faces it takes {naive[most] / octree[most]:,.3g} times the time of face_octree in the last cycle"


def faces_within(seconds: float, times: dict[float, float]) -> float | None:
    """Return where the line through the last two points reaches a time, or None."""
    if len(times) < 2:
        return None
    (low, early), (high, late) = sorted(times.items())[-2:]
    return None if late <= early else high + (seconds - late) * (high - low) / (late - early)


def _power(times: dict[float, float]) -> float:
    chosen = {faces: time for faces, time in times.items() if faces in TIMES}
    return slope(list(chosen), list(chosen.values()))


def _with_power(method: str, times: dict[float, float]) -> str:
    words = in_milliseconds(method, {faces: time for faces, time in times.items() if faces in TIMES}, "faces")
    return words if math.isnan(_power(times)) else f"{words} (exponent {_power(times):.2f})"


EXPERIMENT = Experiment(
    name="face_octree/fig_07",
    title="Two spheres at the collision, with ever more faces",
    about="The last cycle of two spheres of 8 to 3,968 faces that approach until they collide, and how many faces fit in a tenth "
    "of a second. The naive test, every edge against every face, is added; the paper only mentions it.",
    paper=PAPER,
    figure="fig. 7",
    caption="Computation time of the last cycle, in which two identical spheres collide, against the number of their faces.",
    parameter="faces of a sphere",
    values=tuple(FIGURE["faces"]),
    quick_values=(48, 168, 528),
    scene=_scene,
    methods=("face_octree", AS_PRINTED, "wide_tree", "edge_face"),
    frames=CYCLES,
    quick_frames=QUICK_CYCLES,
    draw=("last frame", "log-log"),
    printed={"face_octree": TIMES},
    judge=_judge,
)

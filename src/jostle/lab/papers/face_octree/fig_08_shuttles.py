"""Fig. 8: fifteen space shuttles, and the two of them that collide (§4.2).

Boxes overlap in every cycle, so faces are tested in every cycle. The paper's point: thirteen more bodies cost about as much again
as the two that collide. The claim of §1 that the naive test is too slow for such a world is judged here, too.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment, Recordable, Value, why_not_judged
from jostle.lab.papers.face_octree.printed import PAPER, PRINTED, REAL_TIME
from jostle.lab.papers.judging import join_parts, last_times, middle, ms, run_at, unjudged
from jostle.lab.results import ExperimentResult, MethodRun, Verdict
from jostle.scenes import make_scene

FIGURE = PRINTED["fig_08"]
TWO, ALL = FIGURE["shuttles"]
TIMES = dict(zip(FIGURE["shuttles"], FIGURE["last_cycle_ms"], strict=True))
CYCLES = PRINTED["fig_06"]["cycles"]  # not printed for this figure
QUICK_CYCLES = 8


def _scene(value: Value, quick: bool) -> Recordable:
    return make_scene("meeting_shuttles", count=value, cycles=QUICK_CYCLES if quick else CYCLES)


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_fifteen_against_two(result), _untenable(result)]


def _fifteen_against_two(result: ExperimentResult) -> Verdict:
    """Judge the cost of thirteen more bodies."""
    verdict = unjudged(
        PAPER,
        place=f"{FIGURE['place']} (and §7)",
        claim="With the face octree, 15 shuttles take about twice the time of the two that collide: more bodies cost little.",
        why=why_not_judged(result, "face_octree"),
        printed=f"last cycle: {TIMES[ALL]:g} ms for {ALL}, {TIMES[TWO]:g} ms for two ({TIMES[ALL] / TIMES[TWO]:.1f} times)",
    )
    words = []
    for method in ("face_octree", "wide_tree"):
        times = last_times(result, method)
        if TWO not in times or ALL not in times:
            continue
        ratio = times[ALL] / times[TWO]
        every = run_at(result, ALL, method)
        words.append(f"{method}: {1e3 * times[ALL]:.3g} and {ms(times[TWO])}, {ratio:.1f} times{_level(every)}")
        if method == "face_octree" and not verdict.why:
            verdict.verdict = "reproduced" if ratio < 3.0 else "partly" if ratio < ALL / TWO else "refuted"
            verdict.why = f"Judged by the last cycle; {ALL} are {ALL / TWO:g} times as many bodies and 105 times as many pairs."
    verdict.ours = "; ".join(words)
    if verdict.verdict == "not judged" and not verdict.why:
        verdict.why = "Both numbers of shuttles are needed."
    return verdict


def _level(run: MethodRun | None) -> str:
    """Return the time of the cycles before the last."""
    return "" if run is None else f" ({ms(middle(run.frame_seconds[:-1]))} for {ALL} in the cycles before)"


def _untenable(result: ExperimentResult) -> Verdict:
    """Judge whether the naive test is too slow for fifteen bodies."""
    verdict = unjudged(
        PAPER,
        place="§1 (100 ms per cycle: §2.2.4)",
        claim="For more than a few bodies of some hundred faces, testing all edges against all faces is too slow for real time.",
        why="",
        printed="no time of the naive test (§6)",
    )
    run = next((point.run_of("edge_face") for point in result.points if point.value == ALL), None)
    octree = run_at(result, ALL, "face_octree")
    if run is None or (not run.frame_seconds and run.status != "too slow") or run.status in ("failed", "unsupported"):
        verdict.why = why_not_judged(result, "edge_face") or "It was not run with all shuttles."
        return verdict
    if run.median is None:
        verdict.verdict, verdict.why = "reproduced", f"edge_face: {run.why}."
        return verdict
    share = run.median / REAL_TIME
    beside = "" if octree is None else f"face_octree: {ms(octree.median or 0.0)}"
    verdict.ours = join_parts([f"edge_face: {ms(run.median)} per cycle", beside])
    # A busy machine takes twice as long, so a factor of two proves nothing.
    verdict.verdict = "reproduced" if share > 2.0 else "refuted" if share < 0.5 else "partly"
    verdict.why = f"On this machine its median is {share:,.2g} times 100 ms; the paper's processor ran at 150 MHz."
    return verdict


EXPERIMENT = Experiment(
    name="face_octree/fig_08",
    title="Fifteen space shuttles, and the two of them that collide",
    about="Fifteen identical concave space shuttles of 528 faces move and turn in a cube, their boxes overlapping in every "
    "cycle, until two of them collide in the last; and the same two alone. The naive test, all edges against all faces, is added.",
    paper=PAPER,
    figure="fig. 8",
    caption="Time of every cycle with fifteen shuttles and with only the two that touch in the end.",
    parameter="shuttles",
    values=(TWO, ALL),
    quick_values=(TWO, 4),
    scene=_scene,
    methods=("face_octree", "wide_tree", "edge_face"),
    frames=CYCLES,
    quick_frames=QUICK_CYCLES,
    draw=("frames together", "time per frame"),
    judge=_judge,
)

"""Fig. 13: 10 to 40 spheres of 528 faces, against cached separating planes (§5.1).

The planes are tested for all body pairs, as in the paper, and again for overlapping boxes only, which the paper did not try. The
paper compares the last cycle of the face octree, in which two spheres collide, with any cycle of the planes; so do we.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment, Recordable, Value, slope, why_not_judged
from jostle.lab.papers.face_octree.printed import AS_PRINTED, AS_PRINTED_WORDS, PAPER, PRINTED
from jostle.lab.papers.judging import by_value, in_milliseconds, join_parts, last_times, middle_times, unjudged
from jostle.lab.results import ExperimentResult, Verdict
from jostle.scenes import make_scene

FIGURE = PRINTED["fig_13"]
OCTREE = dict(zip(FIGURE["spheres"], FIGURE["face_octree_last_cycle_ms"], strict=True))
PLANES = dict(zip(FIGURE["spheres"], FIGURE["separating_plane_ms"], strict=True))
QUICK_CYCLES = 20
SQUARE = 1.5  # exponents above this are nearly quadratic
WITH_BOXES = "separating_plane(broad='uniform_grid')"


def _scene(value: Value, quick: bool) -> Recordable:
    cycles = QUICK_CYCLES if quick else PRINTED["fig_06"]["cycles"]  # not printed for this figure
    return make_scene("meeting_spheres", count=value, faces=FIGURE["faces"], cycles=cycles)


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_ahead(result), _growth(result)]


def _ahead(result: ExperimentResult) -> Verdict:
    """Judge from how many spheres on the face octree is ahead."""
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="With 10 spheres the face octree takes about as long as separating planes; from 20 spheres on it is ahead.",
        why=_why(result),
        printed=join_parts([in_words("face octree, last cycle", OCTREE), in_words("separating planes, each cycle", PLANES)]),
    )
    octree, planes = last_times(result, "face_octree"), middle_times(result, "separating_plane")
    others = [(f"{AS_PRINTED_WORDS}, last cycle", last_times(result, AS_PRINTED)), (WITH_BOXES, middle_times(result, WITH_BOXES))]
    others.append(("wide_tree, last cycle", last_times(result, "wide_tree")))
    verdict.ours = join_parts(
        [
            in_milliseconds("face_octree, last cycle", octree, "spheres"),
            in_milliseconds("separating_plane, median", planes, "spheres"),
            *(in_milliseconds(method, times, "spheres") for method, times in others),
        ]
    )
    if not verdict.why:
        won = [count for count in octree if octree[count] < planes[count]]
        expected = [count for count in octree if count >= 20]
        more = all(count in won for count in expected)
        verdict.verdict = "reproduced" if more else "partly" if won else "refuted"
        where = f"with {', '.join(f'{count:g}' for count in won)} spheres" if won else "nowhere"
        most = max(octree)
        verdict.why = (
            f"The face octree is ahead {where}; at {most:g} spheres planes take {planes[most] / octree[most]:.2g} times its time"
        )
        pairs = most * (most - 1) / 2.0
        verdict.why += (
            f", {1e6 * planes[most] / pairs:.3g} µs for each pair of bodies (the paper: {1e3 * PLANES[40] / 780:.0f} µs)."
        )
        if not more:
            verdict.why += " A cached plane costs so little today that the paper's conclusion falls; it still names no faces."
    return verdict


def _growth(result: ExperimentResult) -> Verdict:
    """Judge the growth of both with the number of bodies."""
    paper = [slope(list(row), list(row.values())) for row in (OCTREE, PLANES)]
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="The time of separating planes is nearly quadratic in the number of bodies; the face octree's grows more slowly.",
        why=_why(result),
        printed=f"exponent {paper[1]:.2f} against {paper[0]:.2f}",
    )
    rows = {"face_octree": last_times(result, "face_octree"), "separating_plane": middle_times(result, "separating_plane")}
    rows |= {WITH_BOXES: middle_times(result, WITH_BOXES), "wide_tree": last_times(result, "wide_tree")}
    powers = {method: slope(list(times), list(times.values())) for method, times in rows.items() if len(times) > 1}
    verdict.ours = "exponents: " + ", ".join(f"{method} {power:.2f}" for method, power in powers.items()) if powers else ""
    if not verdict.why:
        octree, planes = powers["face_octree"], powers["separating_plane"]
        pairs = by_value(result, "separating_plane", lambda run: run.total("body_pairs"))
        work = slope(list(pairs), list(pairs.values()))
        square, slower, at_work = planes > SQUARE, octree < planes, work > SQUARE
        verdict.verdict = "reproduced" if square and slower else "partly" if at_work or slower else "refuted"
        verdict.why = f"The exponents of time are {planes:.2f} and {octree:.2f}; nearly quadratic means more than {SQUARE:g}."
        if at_work and not square:
            verdict.why += f" The number of tested pairs grows with exponent {work:.2f}, but the fixed cost of a call hides it."
        if WITH_BOXES in powers and powers[WITH_BOXES] < planes:
            verdict.why += " Testing all pairs makes it quadratic: behind a broad phase planes are not."
    return verdict


def in_words(what: str, times: dict[float, float]) -> str:
    """Return the printed milliseconds as text."""
    return f"{what}: " + ", ".join(f"{time:g} ms at {count:g}" for count, time in times.items())


def _why(result: ExperimentResult) -> str:
    if len(result.points) < 2:
        return "Fewer than two numbers of spheres were run."
    return why_not_judged(result, "face_octree") or why_not_judged(result, "separating_plane")


EXPERIMENT = Experiment(
    name="face_octree/fig_13",
    title="Ten to forty spheres: the face octree against separating planes",
    about="Spheres of 528 faces move and turn in a cube until two of them collide in the last cycle. The face octree against "
    "a cached separating plane for every body pair, which needs convex rigid bodies and names no faces.",
    paper=PAPER,
    figure="fig. 13",
    caption="Computation time of each cycle for the face octree and for separating planes, with 10 to 40 spheres of 528 faces.",
    parameter="spheres",
    values=tuple(FIGURE["spheres"]),
    quick_values=(10, 20),
    scene=_scene,
    methods=("face_octree", "separating_plane", "wide_tree", WITH_BOXES, AS_PRINTED),
    frames=PRINTED["fig_06"]["cycles"],
    quick_frames=QUICK_CYCLES,
    draw=("frames together", "last frame", "log-log"),
    printed={"face_octree": OCTREE, "separating_plane": PLANES},
    judge=_judge,
)

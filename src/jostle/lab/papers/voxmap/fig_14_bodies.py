"""Fig. 14: the update rate against the number of bodies, by pruner (§8).

From 2 to 256 bodies as in the paper, in ten samples, and up to 16,384; a pruner drops out when a frame takes longer than a second.
Bodies fill 2.5 % of the cube whatever their number, so more bodies are smaller and their shells have fewer points. The paper's
accuracy of one world unit is the edge of a voxel; ours is a bound, which needs an edge of 0.63: 2.5 times the points. The paper's
look-up of all points runs behind every pruner, and behind this package's grid; `voxmap` as it is and the default engine are added.
Boxes enclose the turned bodies, where the paper's enclose spheres.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from jostle.lab.experiment import Experiment, Recordable, Value, slope
from jostle.lab.methods import NamedMethod
from jostle.lab.papers.judging import join_parts, mean_times, run_at, unjudged
from jostle.lab.papers.voxmap.pair import hertz, in_hertz
from jostle.lab.papers.voxmap.printed import CUBE, FRAMES, INTERACTIVE, MODERN, OURS, PAPER, PRINTED, RUNS
from jostle.lab.papers.voxmap.sized import our_look_up, paper_look_up
from jostle.lab.results import ExperimentResult, Verdict
from jostle.motion.record import Motion
from jostle.scenes import make_scene
from jostle.scenes.bodies import MovingBody
from jostle.scenes.polytopes import THREE_DEGREES, polytope_of_volume

FIGURE, ENVIRONMENT = PRINTED["fig_14"], PRINTED["environment"]
ALL_PAIRS, SPHERES, FAST = "all pairs", "bounding spheres", "fast boxes"
COHERENT, QUEUE, GRID = "coherent boxes", "priority queue", "uniform grid"
PRUNERS: dict[str, str | None] = {
    ALL_PAIRS: None, SPHERES: "bounding_spheres", FAST: "fast_aabb", COHERENT: "coherent_aabb", GRID: "uniform_grid",
}  # fmt: skip
COUNTS = (2, 4, 8, 16, 24, 32, 64, 96, 128, 256)
BEYOND = (1024, 4096, 16384)
ACCURACY = float(FIGURE["accuracy"])
SLOWEST, LIMIT, ENOUGH = 1.0, 7.0, 6
BODY_FRAMES = FRAMES * FIGURE["most_bodies"]  # more bodies get fewer frames
FEWEST_FRAMES = 16
AHEAD = 1.03  # times within this ratio are the same


@dataclass(frozen=True)
class Crowd:
    """Polytopes to be recorded; more than 256 get fewer frames."""

    count: int

    def record(self, frames: int | None = None) -> Motion:
        """Return the motion."""
        scene = make_scene("polytopes", count=self.count, fill=ENVIRONMENT["density"], cube=float(CUBE), speed=ENVIRONMENT["speed"])
        most = max(FEWEST_FRAMES, BODY_FRAMES // self.count)
        return scene.record(min(most, FRAMES if frames is None else frames))


def _scene(value: Value, _quick: bool) -> Recordable:
    return Crowd(int(value or 0))


def largest_speed(count: int) -> float:
    """Return how far the centre of a bounding sphere can move from frame to frame."""
    body = MovingBody("", polytope_of_volume(ENVIRONMENT["density"] * float(CUBE) ** 3 / count))
    corners = body.mesh.vertices
    apart = np.linalg.norm(corners[:, None] - corners[None, :], axis=2)
    a, b = np.unravel_index(int(apart.argmax()), apart.shape)
    aside = float(np.linalg.norm(0.5 * (corners[a] + corners[b]) - body.centre))  # it circles the centre of the body
    return 1.0001 * (float(ENVIRONMENT["speed"]) * body.radius + THREE_DEGREES * aside)


def _pruned(label: str, broad: str | None) -> Callable[[Value], NamedMethod]:
    return lambda _value: paper_look_up(label, broad, accuracy=ACCURACY)


def _queued(value: Value) -> NamedMethod:
    return paper_look_up(QUEUE, f"priority_queue(speed={largest_speed(int(value or 0))!r})", accuracy=ACCURACY)


def _ours(_value: Value) -> NamedMethod:
    return our_look_up(OURS, accuracy=ACCURACY)


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_magnitude(result), _spheres_and_boxes(result), _queue(result), _coherence(result), _interactive(result)]


def _magnitude(result: ExperimentResult) -> Verdict:
    """Judge the gain of pruning."""
    most = FIGURE["most_bodies"]
    factor = FIGURE["order_of_magnitude"]
    verdict = _new(
        f"Bounding spheres and fast boxes are at least {factor} times as fast as testing all pairs.",
        f"at least an order of magnitude, 2 to {most} bodies",
        result,
        {ALL_PAIRS: (8, 64, most), SPHERES: (8, 64, most), FAST: (8, 64, most)},
    )
    times = {method: mean_times(result, method) for method in (ALL_PAIRS, SPHERES, FAST)}
    verdict.ours = join_parts([in_hertz(method, row, "bodies") for method, row in times.items()])
    if not verdict.why:
        both = {m: [n for n in times[m] if n in times[ALL_PAIRS]] for m in (SPHERES, FAST)}
        ratios = {m: {n: time_ratio(result, n, ALL_PAIRS, m) for n in counts} for m, counts in both.items()}
        reached = [ratios[method][most] >= factor for method in (SPHERES, FAST)]
        everywhere = all(ratio >= factor for row in ratios.values() for ratio in row.values())
        verdict.verdict = "reproduced" if everywhere else "partly" if any(reached) else "refuted"
        verdict.why = join_parts(
            f"{method} {row[8]:.2g} times at 8, {row[64]:.2g} at 64, {row[most]:.2g} at {most} bodies"
            for method, row in ratios.items()
        )
        verdict.why += ". Many pairs gain an order of magnitude; with few there is little to prune."
    return verdict


def _spheres_and_boxes(result: ExperimentResult) -> Verdict:
    """Judge spheres against boxes for few and for many bodies."""
    verdict = _new(
        "With 8 bodies bounding spheres are faster than fast boxes; with 64 fast boxes are.",
        f"{FIGURE['spheres_at_8_hz']} against {FIGURE['fast_boxes_at_8_hz']} Hz at 8, {FIGURE['spheres_at_64_hz']} against "
        f"{FIGURE['fast_boxes_at_64_hz']} Hz at 64",
        result,
        {SPHERES: (8, 64), FAST: (8, 64)},
    )
    spheres, fast = mean_times(result, SPHERES), mean_times(result, FAST)
    verdict.ours = join_parts([in_hertz(SPHERES, spheres, "bodies"), in_hertz(FAST, fast, "bodies")])
    if not verdict.why:
        both = sorted(spheres.keys() & fast.keys())
        behind = {count: time_ratio(result, count, SPHERES, FAST) for count in both}
        few, many = behind[8] < 1.0 / AHEAD, behind[64] > AHEAD
        verdict.verdict = "reproduced" if few and many else "partly" if few or many else "refuted"
        ahead = [count for count in both if behind[count] > AHEAD]
        tests = [run.total("box_tests") / len(run.counters) for m in (SPHERES, FAST) if (run := run_at(result, both[-1], m))]
        verdict.why = (
            f"Spheres have {1.0 / behind[8]:.2f} times the rate of boxes at 8 and {1.0 / behind[64]:.2f} times at 64 "
            f"bodies; boxes are ahead by more than {AHEAD - 1:.0%} {f'with {_counts(ahead)} bodies' if ahead else 'nowhere'}. "
            f"At {both[-1]:,g} bodies spheres take {tests[0]:,.0f} tests a frame and boxes {tests[1]:,.0f}."
        )
    return verdict


def _queue(result: ExperimentResult) -> Verdict:
    """Judge the priority queue."""
    others = (ALL_PAIRS, SPHERES, FAST, COHERENT)
    verdict = _new(
        "The priority queue is the fastest for two bodies, and its rate falls steadily with their number.",
        f"more than {FIGURE['queue_at_2_hz']:,} Hz for two",
        result,
        dict.fromkeys((QUEUE, *others), (2,)),
    )
    queue = mean_times(result, QUEUE)
    verdict.ours = join_parts([in_hertz(QUEUE, queue, "bodies"), _at(result, 2, (*others, GRID, OURS, MODERN))])
    if not verdict.why:
        rivals = {method: mean_times(result, method)[2] for method in others}
        best = min(rivals, key=rivals.__getitem__)
        quick, first = 1.0 / queue[2] > FIGURE["queue_at_2_hz"], all(time_ratio(result, 2, QUEUE, m) < AHEAD for m in others)
        verdict.verdict = "reproduced" if quick and first else "partly" if quick or first else "refuted"
        power = slope([n for n in queue if n >= 64], [t for n, t in queue.items() if n >= 64])
        verdict.why = (
            f"{hertz(queue[2])} for two; the fastest of the other four is {best} with {hertz(rivals[best])}. From 64 bodies on "
            f"the time of the queue grows with exponent {power:.2f} of their number."
        )
    return verdict


def _coherence(result: ExperimentResult) -> Verdict:
    """Judge coherent boxes against fast ones."""
    beyond = FIGURE["coherent_poorer_beyond"]
    wanted = tuple(count for count in COUNTS if count > beyond)
    verdict = _new(
        f"Beyond {beyond} bodies coherent boxes are slower than fast ones: book-keeping outweighs the gain of coherence.",
        "curves only; the paper did not expect it",
        result,
        {COHERENT: wanted, FAST: wanted},
    )
    coherent, fast = mean_times(result, COHERENT), mean_times(result, FAST)
    verdict.ours = join_parts([in_hertz(COHERENT, coherent, "bodies"), in_hertz(FAST, fast, "bodies")])
    if not verdict.why:
        many = sorted(count for count in coherent.keys() & fast.keys() if count > beyond)
        behind = {count: time_ratio(result, count, COHERENT, FAST) for count in many}
        slower = [count for count in many if behind[count] > AHEAD]
        faster = [count for count in many if behind[count] < 1.0 / AHEAD]
        verdict.verdict = "reproduced" if len(slower) == len(many) else "partly" if slower else "refuted"
        tests = {m: run.total("box_tests") / len(run.counters) for m in (COHERENT, FAST) if (run := run_at(result, many[-1], m))}
        verdict.why = (
            f"Of {len(many)} numbers of bodies beyond {beyond} coherent boxes are slower by more than {AHEAD - 1:.0%} with "
            f"{_counts(slower) or 'none'} and faster with {_counts(faster) or 'none'}; at {many[-1]:,g} they take "
            f"{behind[many[-1]]:.2f} times as long as fast boxes, with {tests[COHERENT]:,.0f} against {tests[FAST]:,.0f} box tests."
        )
    return verdict


def _interactive(result: ExperimentResult) -> Verdict:
    """Judge how many bodies run at 20 Hz."""
    most = FIGURE["interactive_bodies"]
    verdict = _new(
        f"Interactive rates of more than {INTERACTIVE} Hz are reached for up to {most} bodies.",
        f"up to {most} bodies at {INTERACTIVE} Hz",
        result,
        dict.fromkeys((SPHERES, FAST, COHERENT, QUEUE), (most,)),
    )
    times = {method: mean_times(result, method) for method in (*PRUNERS, QUEUE, OURS, MODERN)}
    fast = {method: [count for count, time in row.items() if time * INTERACTIVE < 1.0] for method, row in times.items()}
    reach = {method: max(counts) for method, counts in fast.items() if counts}
    verdict.ours = join_parts(f"{method}: {count:,.0f} bodies, {_at(result, count, (method,))}" for method, count in reach.items())
    if not verdict.why:
        good = [method for method in (SPHERES, FAST, COHERENT, QUEUE) if reach.get(method, 0) >= most]
        verdict.verdict = "reproduced" if good else "refuted"
        verdict.why = (
            f"Listed is the largest number with more than {INTERACTIVE} Hz; the best of the paper's pruners reaches "
            f"{max(reach.get(method, 0) for method in (SPHERES, FAST, COHERENT, QUEUE)):,.0f}."
        )
    return verdict


def _new(claim: str, printed: str, result: ExperimentResult, needed: dict[str, Sequence[float]]) -> Verdict:
    missing = [f"{method} at {count:,g} bodies" for method, row in needed.items() for count in row
               if run_at(result, count, method) is None]  # fmt: skip
    why = f"Not run: {', '.join(missing)}." if missing else ""
    return unjudged(PAPER, FIGURE["place"], claim, why, printed)


def time_ratio(result: ExperimentResult, count: float, method: str, other: str) -> float:
    """Return the median ratio of the frame times of two methods.

    Both do the same work in a frame. Reported update rates are of means, as in the paper, which a few disturbed frames can distort.
    """
    runs = [run_at(result, count, each) for each in (method, other)]
    times = [run.frame_seconds if run is not None else [] for run in runs]
    return float(median(one / two for one, two in zip(*times, strict=False)))  # a slow method may have finished fewer


def _at(result: ExperimentResult, count: float, methods: Sequence[str]) -> str:
    rows = {method: mean_times(result, method) for method in methods}
    return ", ".join(f"{method} {hertz(row[count])}" for method, row in rows.items() if count in row) + f" at {count:,g}"


def _counts(counts: Sequence[float]) -> str:
    return ", ".join(f"{count:,g}" for count in counts)


EXPERIMENT = Experiment(
    name="voxmap/fig_14",
    title="Two to 16,384 bodies: four pruners, none, and a grid",
    about="Polytopes of 36 faces fill 2.5 % of a cube of 100 units, move up to a tenth of their radius per frame, bounce off its "
    "walls and exchange velocities. Accuracy is 1 unit. The paper's look-up behind each of its pruners, 1,000 frames replayed "
    "three times; beyond 256 bodies 256,000 body frames, and for slow pruners as many frames as 7 seconds allow. A pruner that "
    "needs more than 1 s for a frame is skipped from then on. Detection alone is timed; the paper times motion and response, too.",
    paper=PAPER,
    figure="fig. 14",
    caption="Update rate against the number of bodies, for all pairs, bounding spheres, fast and coherent axis-aligned boxes and "
    "the priority queue, logarithmic axes.",
    parameter="bodies",
    values=(*COUNTS, *BEYOND),
    quick_values=(2, 16),
    scene=_scene,
    methods=(ALL_PAIRS, SPHERES, FAST, COHERENT, QUEUE, GRID, OURS, MODERN),
    made={label: _pruned(label, broad) for label, broad in PRUNERS.items()} | {QUEUE: _queued, OURS: _ours},
    frames=FRAMES,
    rounds=RUNS,
    may_be_inside=False,
    limit=LIMIT,
    enough=ENOUGH,
    slowest=SLOWEST,
    draw=("update rate", "log-log"),
    printed={
        SPHERES: {8.0: 1e3 / FIGURE["spheres_at_8_hz"], 64.0: 1e3 / FIGURE["spheres_at_64_hz"]},
        FAST: {8.0: 1e3 / FIGURE["fast_boxes_at_8_hz"], 64.0: 1e3 / FIGURE["fast_boxes_at_64_hz"]},
        QUEUE: {2.0: 1e3 / FIGURE["queue_at_2_hz"]},
    },
    judge=_judge,
)

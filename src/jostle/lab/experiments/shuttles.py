"""Fifteen space shuttles in a cube, and two of them alone (Kitamura et al. 1998, §4.2, fig. 8).

The paper moves 15 identical concave bodies of 528 faces until two collide, and compares with the same two alone. Here they exchange
velocities and go on, so that there are many collisions; "two" are, of the very same motion, the two that touch in most frames.
Deviation: the paper's motion is not printed; ours is that of the scene `shuttles`.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from statistics import median

from jostle.lab.experiment import Experiment, Recordable, Value, why_not_judged
from jostle.lab.results import ExperimentResult, MethodRun, Verdict
from jostle.motion.record import Motion
from jostle.scenes import Scene, make_scene

ALL = 15  # §4.2
REAL_TIME = 0.1  # seconds per cycle, §2.2.4 and §6
PRINTED_ALL, PRINTED_TWO = 31.0, 16.0  # milliseconds at the collision, §4.2


@dataclass(frozen=True, eq=False)
class TwoThatTouch:
    """A scene of which only the two bodies are left that touch in most frames; they move as in the whole scene."""

    scene: Scene

    def record(self, frames: int | None = None) -> Motion:
        """Return the motion of the two."""
        whole = self.scene.record(frames)
        world = whole.world()
        touching: Counter[tuple[int, int]] = Counter()
        for frame in range(len(whole)):
            whole.apply(world, frame)
            touching.update(list(world.detect(rows="pairs").pairs))
        pair = min(touching, key=lambda each: (-touching[each], each), default=(0, 1))
        return dataclasses.replace(
            whole,
            names=tuple(whole.names[k] for k in pair),
            meshes=tuple(whole.meshes[k] for k in pair),
            poses=whole.poses[:, list(pair)],
            static=(),
            group=(),
            category=(),
            mask=(),
            ignored=(),
            title=f"two of: {whole.title}",
        )


def _scene(value: Value, _quick: bool) -> Recordable:
    scene = make_scene("shuttles", count=ALL)
    return TwoThatTouch(scene) if value == 2 else scene


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_untenable(result), _fifteen_against_two(result)]


def _untenable(result: ExperimentResult) -> Verdict:
    """The plain test is too slow for fifteen bodies."""
    run = _run(result, ALL, "brute_force")
    verdict = Verdict(
        paper="kitamura1998",
        place="§1 (0.1 s per cycle: §2.2.4)",
        claim="For more than a few bodies of a few hundred faces each, testing all faces against all is too slow for real time.",
        verdict="not judged",
        why=why_not_judged(result, "brute_force") if run is None else "",
        printed="no time of the plain test",
    )
    tree = _run(result, ALL, "wide_tree")
    if run is not None and run.median is not None:
        verdict.ours = f"brute_force: {1e3 * run.median:.3g} ms per frame (the slowest {1e3 * (run.maximum or 0.0):.3g} ms)"
        if tree is not None and tree.median is not None:
            verdict.ours += f"; wide_tree: {1e3 * tree.median:.3g} ms"
        share = run.median / REAL_TIME
        # A busy machine takes twice as long: what is so near to the limit is neither.
        verdict.verdict = "reproduced" if share > 2.0 else "refuted" if share < 0.5 else "partly"
        verdict.why = f"On this machine its median is {share:.2g} times 0.1 s; the paper's processor ran at 150 MHz."
    elif (slowest := _any(result, ALL, "brute_force")) is not None and slowest.status == "too slow":
        verdict.verdict, verdict.why, verdict.ours = "reproduced", f"brute_force: {slowest.why}.", ""
    return verdict


def _fifteen_against_two(result: ExperimentResult) -> Verdict:
    """Thirteen more bodies cost the paper's algorithm about as much again as the two that collide."""
    verdict = Verdict(
        paper="kitamura1998",
        place="§4.2, fig. 8 (and §7)",
        claim="With the face octree, 15 shuttles take about twice the time of the two that collide: more bodies cost little.",
        verdict="not judged",
        why=why_not_judged(result, "face_octree"),
        printed=f"at the collision {PRINTED_ALL:g} ms for 15, {PRINTED_TWO:g} ms for two ({PRINTED_ALL / PRINTED_TWO:.1f} times)",
    )
    for method in ("face_octree", "wide_tree"):
        times = _at_collisions(result, method)
        if times is not None:
            ratio = times[0] / times[1]
            verdict.ours = f"{method}: {1e3 * times[0]:.3g} and {1e3 * times[1]:.3g} ms, {ratio:.1f} times"
            if method == "face_octree" and not verdict.why:
                verdict.verdict = "reproduced" if ratio < 3.0 else "partly" if ratio < ALL / 2 else "refuted"
                verdict.why = (
                    "Judged by the frames in which the two touch; 15 are 7.5 times as many bodies and 105 times as many pairs."
                )
            break
    return verdict


def _at_collisions(result: ExperimentResult, method: str) -> tuple[float, float] | None:
    """Median seconds of all and of the two, over the frames in which the two touch."""
    every, two = _run(result, ALL, method), _run(result, 2, method)
    if every is None or two is None:
        return None
    frames = [k for k, pairs in enumerate(two.pairs) if pairs]
    if not frames:
        return None
    return median(every.frame_seconds[k] for k in frames), median(two.frame_seconds[k] for k in frames)


def _any(result: ExperimentResult, value: int, method: str) -> MethodRun | None:
    return next((point.run_of(method) for point in result.points if point.value == value), None)


def _run(result: ExperimentResult, value: int, method: str) -> MethodRun | None:
    run = _any(result, value, method)
    return run if run is not None and run.served else None


EXPERIMENT = Experiment(
    name="shuttles",
    title="Fifteen space shuttles, and the two of them that touch most often",
    about="Fifteen identical concave space shuttles of 528 faces move and turn in a cube and exchange their velocities when they "
    "touch (Kitamura et al. 1998, §4.2). Time per frame, for all of them and for two of the same motion alone.",
    parameter="shuttles",
    values=(2, ALL),
    quick_values=(2, ALL),
    scene=_scene,
    methods=("wide_tree", "brute_force"),
    frames=300,
    draw=("time per frame",),
    judge=_judge,
)

"""Two spheres approach until they touch, with ever more faces (Kitamura et al. 1998, §4.1, fig. 6 and 7).

The paper's introduction says of the plain test, every face (and edge) of one body against those of the other, that its work grows
with the square of the number of faces, and does not measure it (§6 says so). `brute_force` is that test, with boxes of faces
compared before the faces themselves; the number of these comparisons does not depend on the machine.
"""

from __future__ import annotations

import math

from jostle.lab.experiment import Experiment, Recordable, Value, served_runs, slope, why_not_judged
from jostle.lab.results import ExperimentResult, Verdict
from jostle.scenes import make_scene

FACES = (8, 10, 24, 48, 54, 80, 120, 168, 224, 360, 528, 728, 960, 3968)  # §4.1
MANY = 500  # from here on the work on faces is most of the time; below, the cost of any call hides it
PRINTED = {168: 11.0, 528: 16.0, 960: 24.0, 3968: 70.0}  # §4.1, fig. 6: milliseconds of the last cycle


def _scene(value: Value, _quick: bool) -> Recordable:
    return make_scene("two_spheres", faces=value)


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_square(result), _own_algorithm(result)]


def _square(result: ExperimentResult) -> Verdict:
    """The work of all faces against all faces grows with the square."""
    verdict = Verdict(
        paper="kitamura1998",
        place="§1 (and §6)",
        claim="Testing every face of one body against every face of the other is work that grows with the square of their number.",
        verdict="not judged",
        why="",
        printed="none: the plain test was not run (§6)",
    )
    faces, tests, times = _exponents_of(result, "brute_force")
    tree = _last_frames(result, "wide_tree")
    powers = {
        "brute_force: comparisons of faces grow with the power": tests,
        f"brute_force, from {MANY} faces on: time with the power": times,
        "wide_tree, at contact: time with the power": slope(list(tree), list(tree.values())),
    }
    verdict.ours = "; ".join(f"{words} {power:.2f}" for words, power in powers.items() if not math.isnan(power))
    verdict.why = why_not_judged(result, "brute_force", points=2)
    if not verdict.why and sum(count >= MANY for count in faces) < 2:
        verdict.why = f"Fewer than two points have {MANY} faces or more."
    if not verdict.why:
        square = abs(tests - 2.0) < 0.01
        shows = 1.7 < times < 2.3
        verdict.verdict = "reproduced" if square and shows else "partly" if square or shows else "refuted"
        verdict.why = "Judged by the slopes of work and time over the number of faces, on logarithmic scales."
    return verdict


def _own_algorithm(result: ExperimentResult) -> Verdict:
    """The paper's own algorithm grows less than linearly."""
    exponent = slope(list(PRINTED), list(PRINTED.values()))
    verdict = Verdict(
        paper="kitamura1998",
        place="§4.1, fig. 6 and 7",
        claim="The face octree needs, at contact, a time that grows more slowly than the number of faces.",
        verdict="not judged",
        why=why_not_judged(result, "face_octree", points=2),
        printed=", ".join(f"{time:g} ms at {faces:,} faces" for faces, time in PRINTED.items()) + f" (the power {exponent:.2f})",
    )
    last = _last_frames(result, "face_octree")
    verdict.ours = _in_milliseconds(last or _last_frames(result, "wide_tree"), "face_octree" if last else "wide_tree")
    if not verdict.why:
        grows = slope(list(last), list(last.values()))
        verdict.verdict = "reproduced" if grows < 1.0 else "partly" if grows < 1.5 else "refuted"
        verdict.why = f"At contact its time grows with the power {grows:.2f} of the number of faces."
    return verdict


def _exponents_of(result: ExperimentResult, method: str) -> tuple[list[float], float, float]:
    """Return the faces of the points, the exponent of the comparisons per frame, and that of the median time."""
    points = [(float(value), run) for value, run in served_runs(result, method) if isinstance(value, int | float)]
    faces = [value for value, _ in points]
    tests = slope(faces, [run.total("box_tests") / max(1, len(run.counters)) for _, run in points])
    large = [(value, run.median or 0.0) for value, run in points if value >= MANY]
    return faces, tests, slope([value for value, _ in large], [time for _, time in large])


def _last_frames(result: ExperimentResult, method: str) -> dict[float, float]:
    """Seconds of the last frame, in which the spheres touch, by the number of faces (of the paper's four, where they were run)."""
    found = {float(value): run.frame_seconds[-1] for value, run in served_runs(result, method) if isinstance(value, int | float)}
    return {value: time for value, time in found.items() if value in PRINTED} or found


def _in_milliseconds(times: dict[float, float], method: str) -> str:
    return f"{method}: " + ", ".join(f"{1e3 * time:.3g} ms at {value:,g} faces" for value, time in times.items()) if times else ""


EXPERIMENT = Experiment(
    name="spheres",
    title="Two spheres of ever more faces approach until they touch",
    about="Two identical spheres of 8 to 3,968 faces fly towards each other, turning, until faces touch (Kitamura et al. 1998, "
    "§4.1). Time and work against the number of faces of a sphere: all faces against all grow with the square, trees hardly.",
    parameter="faces of a sphere",
    values=FACES,
    quick_values=(48, 168, 528),
    scene=_scene,
    methods=("wide_tree", "brute_force"),
    frames=110,
    quick_frames=110,  # the motion ends at contact, which must be in it
    draw=("time against parameter", "log-log"),
    judge=_judge,
)

"""Fig. 5 and 9: 100 convex bodies in random motion, detection against rendering.

One experiment for each shape: flat ellipsoids, truncated cones with spherical caps, cones, with 3,600 to 1,152,000 triangles in
total on the same paths. The paper (§5.1) claims that detection is bounded by rendering and varies no more than it. Rendering is
`drawing`: the same rasteriser on the same core, at 512 by 512 pixels.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from jostle.lab.experiment import Experiment, Recordable, Value
from jostle.lab.papers.image_space.contenders import CONSERVATIVE, DRAWING, GPU, INTERVAL, STENCIL, made
from jostle.lab.papers.image_space.judged import MOST, below, deviations, times_in_words
from jostle.lab.papers.image_space.pictures import draw_crowd
from jostle.lab.papers.image_space.printed import BODIES, FRAMES, PAPER, PRINTED
from jostle.lab.papers.judging import join_parts, mean_times, unjudged, verdict_of, why_not
from jostle.lab.results import ExperimentResult, Verdict
from jostle.scenes import make_scene

FIGURE = PRINTED["fig_09"]
FACES = (36, 144, 576, 2_304, 11_520)  # of a body
TRIANGLES = tuple(BODIES * faces for faces in FACES)
SHAPES = {"ellipsoids": "flat ellipsoids", "truncated_cones": "truncated cones with spherical caps", "cones": "cones"}
METHODS = (DRAWING, INTERVAL, STENCIL, CONSERVATIVE, GPU)
SMOOTH = 0.5  # of the mean: a deviation up to this is smooth, whatever drawing does
LIMIT, ENOUGH = 60.0, 20


def crowd(name: str) -> Callable[[Value, bool], Recordable]:
    """Return the factory of a scene by its number of triangles."""

    def scene(value: Value, _quick: bool) -> Recordable:
        return make_scene(name, count=BODIES, faces=int(value or 0) // BODIES)

    return scene


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_bounded(result), _smooth(result)]


def _bounded(result: ExperimentResult) -> Verdict:
    """Judge detection time against drawing time."""
    verdict = _new("Collision detection takes no longer than rendering, whatever the number of triangles.", result)
    drawn, found = mean_times(result, DRAWING), mean_times(result, INTERVAL)
    if not verdict.why:
        held = below(found, drawn)
        worst = max(found[value] / drawn[value] for value in found)
        others = {label: below(mean_times(result, label), drawn) for label in (STENCIL, CONSERVATIVE, GPU)}
        verdict.verdict = verdict_of(held, MOST)
        verdict.why = (
            f"{INTERVAL} takes at most the time of drawing for {sum(held)} of {len(held)} numbers of triangles, {worst:.2g} times "
            "at worst" + "".join(f"; {label} for {sum(each)} of {len(each)}" for label, each in others.items() if each) + "."
        )
    return verdict


def _smooth(result: ExperimentResult) -> Verdict:
    """Judge the deviation of detection against that of drawing."""
    verdict = _new("Detection time varies no more from frame to frame than rendering time: there are no stalls.", result)
    if not verdict.why:
        found, spread, drawn = mean_times(result, INTERVAL), deviations(result, INTERVAL), deviations(result, DRAWING)
        held = below(spread, drawn)
        shares = [spread[value] / found[value] for value in found]
        smooth = max(shares) <= SMOOTH
        verdict.verdict = "reproduced" if held and all(held) else "partly" if smooth or any(held) else "refuted"
        verdict.why = (
            f"The deviation is at most that of drawing for {sum(held)} of {len(held)} numbers of triangles; it is "
            f"{min(shares):.0%} to {max(shares):.0%} of the mean time of detection."
        )
    return verdict


def _new(claim: str, result: ExperimentResult) -> Verdict:
    ours = join_parts(times_in_words(result, label) for label in METHODS)
    return unjudged(PAPER, FIGURE["place"], claim, why_not(result, (DRAWING, INTERVAL)), "charts only", ours)


def _experiment(name: str, words: str) -> Experiment:
    def pictures(folder: Path) -> list[Path]:
        return draw_crowd(name, folder)

    return Experiment(
        name=f"image_space/fig_09_{name}",
        title=f"{BODIES} {words} in random motion: detection beside drawing",
        about=f"{BODIES} {words} pass through each other slowly, without response. Detection by rendering at 64 by 64 pixels for "
        "each pair, by depth intervals, by counting in a stencil buffer as in the paper, and conservatively, against drawing all "
        "bodies at 512 by 512.",
        paper=PAPER,
        figure="fig. 5, fig. 9",
        caption="Rendering and collision time, and their standard deviations, against the number of triangles.",
        parameter="triangles",
        values=TRIANGLES,
        quick_values=TRIANGLES[:2],
        scene=crowd(name),
        methods=METHODS,
        made=made(METHODS),
        frames=FRAMES,
        quick_frames=10,
        rounds=3,
        limit=LIMIT,
        enough=ENOUGH,
        may_be_inside=False,
        draw=("mean and deviation",),
        judge=_judge,
        pictures=pictures,
    )


EXPERIMENTS = tuple(_experiment(name, words) for name, words in SHAPES.items())

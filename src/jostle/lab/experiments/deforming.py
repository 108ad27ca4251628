"""Deforming bodies: swelling spheres and bending hands.

Claims are from Kitamura et al. 1998 (§2.2.1, §4.3) and Guy, Debunne 2004 (§5). The truth of a frame uses trees built from the
vertices of that frame (`truth.py`), which exposes a method that loses contacts by following a deformation. The mixed scene of §4.3
is the figure `face_octree/fig_12`.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment, Recordable, Value, served_runs, why_not_judged
from jostle.lab.papers.judging import unjudged
from jostle.lab.results import ExperimentResult, Verdict
from jostle.scenes import make_scene

SCENES = {"spheres": "deforming_spheres", "hands": "hands"}


def _scene(value: Value, _quick: bool) -> Recordable:
    return make_scene(SCENES[str(value)])


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_nothing_precomputed(result), _precomputed(result), _samples(result)]


def _nothing_precomputed(result: ExperimentResult) -> Verdict:
    """Judge a method without memory."""
    verdict = unjudged(
        paper="kitamura1998",
        place="§2.2.1, §3.1",
        claim="A method that precomputes nothing finds colliding faces of deforming bodies exactly, as it does of rigid ones.",
        why=why_not_judged(result, "face_octree"),
        ours=_agreement(result, "face_octree"),
    )
    if not verdict.why:
        exact = all(run.agrees for _, run in served_runs(result, "face_octree"))
        verdict.verdict = "reproduced" if exact else "refuted"
        verdict.why = "Judged by agreement with the exact answer in all frames."
    return verdict


def _precomputed(result: ExperimentResult) -> Verdict:
    """Judge precomputed trees of deforming bodies."""
    verdict = unjudged(
        paper="kitamura1998",
        place="§2.2.1",
        claim="Precomputed data must be computed again when a body deforms, which costs so much that it suits rigid ones only.",
        why=why_not_judged(result, "wide_tree") or why_not_judged(result, "brute_force"),
        ours="; ".join(text for text in (_agreement(result, "wide_tree"), _times(result)) if text),
    )
    if not verdict.why:
        trees, plain = ([run for _, run in served_runs(result, method)] for method in ("wide_tree", "brute_force"))
        exact = all(run.agrees for run in trees)
        faster = [(tree.median or 0.0) < (other.median or 0.0) for tree, other in zip(trees, plain, strict=True)]
        if not exact:
            verdict.verdict, verdict.why = "reproduced", "The trees lose or invent faces when bodies deform."
        elif all(faster):
            verdict.verdict = "refuted"
            verdict.why = "Trees refitted in every frame lose nothing and cost less than no trees."
        else:
            verdict.verdict = "partly" if any(faster) else "reproduced"
            verdict.why = "Refitted trees lose nothing, but do not always cost less than no trees."
    return verdict


def _samples(result: ExperimentResult) -> Verdict:
    """Judge sampling of deforming bodies."""
    verdict = unjudged(
        paper="guy2004",
        place="§5",
        claim="Random sampling works unchanged for deforming bodies; the larger the deformation, the less it finds.",
        why=why_not_judged(result, "monte_carlo"),
        ours=_agreement(result, "monte_carlo"),
    )
    if not verdict.why:
        runs = [run for _, run in served_runs(result, "monte_carlo")]
        missed, expected = sum(run.missed or 0 for run in runs), sum(run.expected or 0 for run in runs)
        verdict.verdict = "reproduced" if missed <= 0.1 * expected else "partly" if missed <= 0.5 * expected else "refuted"
        verdict.why = f"It finds {expected - missed:,} of {expected:,}; the deformation is not swept here."
    return verdict


def _agreement(result: ExperimentResult, method: str) -> str:
    words = [
        f"{value}: {run.missed:,} missed and {run.extra:,} extra of {run.expected:,} {run.compared} in {len(run.contacts)} frames"
        for value, run in served_runs(result, method)
        if run.missed is not None
    ]
    return f"{method}, " + ", ".join(words) if words else ""


def _times(result: ExperimentResult) -> str:
    words = []
    for method in ("wide_tree", "face_octree", "brute_force"):
        times = ", ".join(f"{value} {1e3 * (run.median or 0.0):.3g} ms" for value, run in served_runs(result, method))
        if times:
            words.append(f"{method} {times}")
    return "; ".join(words)


EXPERIMENT = Experiment(
    name="deforming",
    title="Deforming bodies: swelling spheres, bending hands",
    about="Spheres whose radius varies over the surface and with time, and two hands that bend their fingers while they pass "
    "through each other (Kitamura et al. 1998, §4.3). Time per frame includes setting vertices; answers are compared with those "
    "of trees built anew in every frame.",
    parameter="scene",
    values=tuple(SCENES),
    quick_values=tuple(SCENES),
    scene=_scene,
    methods=("wide_tree", "face_octree", "brute_force"),
    frames=150,
    draw=("time per frame", "update time"),
    judge=_judge,
)

"""Degrees (§5): fixed from 2 to 6, flexible with a factor α from 0.5 to 0.9.

The paper omits its diagrams and reports their outcome: α = 0.75 is best for each type of hierarchy, and flexible degrees tend to
beat fixed ones. Like the paper we measure the running time of the whole sequence with a static test in every frame, and also the
slowest frame and the tests of bounding objects, which do not depend on the machine. The types are the three computation methods
with oriented boxes and quality by surface, and the modified Gottschalk method with quality by volume, with axis-aligned boxes and
with spheres.
"""

from __future__ import annotations

from jostle.lab.experiment import Experiment, Recordable, Value
from jostle.lab.papers.bounding_tree.printed import FACES, MODERN, PAPER, PRINTED, QUICK_FACES, label_of
from jostle.lab.papers.bounding_tree.removal import ALL_FRAMES, Removal
from jostle.lab.papers.judging import join_parts, ms, run_at, unjudged, why_not
from jostle.lab.results import ExperimentResult, Verdict

FIGURE = PRINTED["degrees"]
BEST = f"{FIGURE['best_improvement']:g}"
FIXED = {str(degree): label_of(degree=degree) for degree in FIGURE["degrees"]}
FLEXIBLE = {f"{improvement:g}": label_of(improvement=improvement) for improvement in (0.5, 0.6, 0.7, float(BEST), 0.8, 0.9)}
COMPARED = FIXED | {BEST: FLEXIBLE[BEST]}
TYPES = {
    "without optimisation": {"splitting": "without_optimisation"},
    "insertion": {"splitting": "insertion"},
    "modified Gottschalk": {"splitting": "gottschalk"},
    "modified Gottschalk by volume": {"splitting": "gottschalk", "quality": "volume"},
    "modified Gottschalk, axis-aligned boxes": {"splitting": "gottschalk", "volume": "aabb"},
    "modified Gottschalk, spheres": {"splitting": "gottschalk", "volume": "sphere"},
}
EVERY, QUICK_EVERY = 4, 12
SAME = 1.03  # totals within this ratio are equal

Totals = dict[str, float]  # by degree or α


def _scene(_value: Value, quick: bool) -> Recordable:
    return Removal(QUICK_FACES, QUICK_EVERY) if quick else Removal(FACES, EVERY)


def _settings(value: Value) -> dict[str, str]:
    return {"volume": "obb", **TYPES[str(value)]}


def _judge(result: ExperimentResult) -> list[Verdict]:
    return [_best_improvement(result), _flexible(result)]


def _best_improvement(result: ExperimentResult) -> Verdict:
    """Judge which α is best."""
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim=f"For each type of hierarchy the improvement factor {BEST} is best.",
        why=why_not(result, FLEXIBLE.values(), TYPES),
        printed="no times: the diagrams are omitted",
    )
    seconds, tests = _totals(result, "seconds", FLEXIBLE), _totals(result, "tests", FLEXIBLE)
    verdict.ours = join_parts([_best_words(kind, seconds[kind], tests[kind]) for kind in seconds])
    if not verdict.why:
        close = [kind for kind, totals in seconds.items() if totals[BEST] <= SAME * min(totals.values())]
        fewest = [kind for kind, totals in tests.items() if totals[BEST] <= SAME * min(totals.values())]
        spread = max(max(totals.values()) / min(totals.values()) for totals in seconds.values())
        verdict.verdict = "reproduced" if len(close) == len(seconds) else "partly" if close else "refuted"
        verdict.why = (
            f"Over the sequence {BEST} is within {SAME - 1:.0%} of the fastest for {len(close)} of {len(seconds)} types, and of "
            f"the fewest tests for {len(fewest)}. The worst α takes at most {spread:.2g} times as long as the best."
        )
    return verdict


def _flexible(result: ExperimentResult) -> Verdict:
    """Judge flexible degrees against fixed ones."""
    verdict = unjudged(
        PAPER,
        place=FIGURE["place"],
        claim="Hierarchies with flexible degrees tend to outperform those with a fixed degree.",
        why=why_not(result, COMPARED.values(), TYPES),
        printed="no times: the diagrams are omitted",
    )
    seconds, tests = _totals(result, "seconds", COMPARED), _totals(result, "tests", COMPARED)
    verdict.ours = join_parts([_against_words(kind, seconds[kind], tests[kind]) for kind in seconds])
    if not verdict.why:
        beaten, fewer = ([sum(each[BEST] < each[degree] for degree in FIXED) for each in row.values()] for row in (seconds, tests))
        all_beaten = sum(count == len(FIXED) for count in beaten)
        share, share_of_tests = (sum(counts) / (len(FIXED) * len(counts)) for counts in (beaten, fewer))
        verdict.verdict = "reproduced" if all_beaten > len(beaten) / 2 else "partly" if share > 0.5 else "refuted"
        verdict.why = (
            f"Flexible with α = {BEST} takes less time than a fixed degree in {share:.0%} of comparisons (fewer tests in "
            f"{share_of_tests:.0%}), and less than every fixed degree for {all_beaten} of {len(beaten)} types. Reproduced means "
            "more than half of the types, partly more than half of the comparisons."
        )
    return verdict


def _totals(result: ExperimentResult, what: str, labels: dict[str, str]) -> dict[str, Totals]:
    """Return seconds or tests over all frames, for types that finished all settings."""
    found: dict[str, Totals] = {}
    for kind in TYPES:
        runs = {setting: run_at(result, kind, label) for setting, label in labels.items()}
        totals = {
            setting: sum(run.frame_seconds) if what == "seconds" else float(run.total("box_tests"))
            for setting, run in runs.items()
            if run is not None
        }
        if len(totals) == len(labels):
            found[kind] = totals
    return found


def _best_words(kind: str, seconds: Totals, tests: Totals) -> str:
    best, fewest = min(seconds, key=seconds.__getitem__), min(tests, key=tests.__getitem__)
    return (
        f"{kind}: fastest with α = {best} ({ms(seconds[best])} for the sequence, {ms(seconds[BEST])} with {BEST}), fewest "
        f"tests with α = {fewest} ({tests[fewest]:,.0f}, {tests[BEST]:,.0f} with {BEST})"
    )


def _against_words(kind: str, seconds: Totals, tests: Totals) -> str:
    fixed, fewest = min(FIXED, key=seconds.__getitem__), min(FIXED, key=tests.__getitem__)
    return (
        f"{kind}: flexible {ms(seconds[BEST])} and {tests[BEST]:,.0f} tests, best fixed degree {fixed} with "
        f"{ms(seconds[fixed])}, fewest tests with degree {fewest} ({tests[fewest]:,.0f})"
    )


EXPERIMENT = Experiment(
    name="bounding_tree/degrees",
    title="Fixed degrees against flexible ones, and which improvement factor is best",
    about="The covers of a headlight of 60,000 faces are removed, with and without collisions, and every frame is tested. Trees "
    "have a fixed degree, or each node the least degree, up to 6, with which no child has more than a share α of its surface.",
    paper=PAPER,
    figure="§5",
    caption="Mean and slowest time of a frame for fixed degrees 2 to 6 and flexible ones with α (improvement) from 0.5 to 0.9; "
    "where neither is named, α is 0.75. The paper omits its diagrams.",
    parameter="type of hierarchy",
    values=tuple(TYPES),
    quick_values=("without optimisation",),
    scene=_scene,
    settings=_settings,
    methods=(*FIXED.values(), *FLEXIBLE.values(), MODERN),
    frames=ALL_FRAMES,
    quick_frames=ALL_FRAMES,
    draw=("slowest frame",),
    judge=_judge,
)

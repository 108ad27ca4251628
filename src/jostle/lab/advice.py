"""Advice for a user's own scene: the best method, and what the others lack.

Best is the fastest (median over the frames) of the methods that finished all frames with the exact answer; methods that name
faces come before methods that name body pairs only. If none was exact, it is the one with the fewest wrong rows, those outside
its guarantee counted first.
"""

from __future__ import annotations

from jostle.lab.results import MethodRun, Point
from jostle.lab.truth import FACES

AS_FAST = 1.1  # times below this ratio are called equal


def advise(point: Point) -> str:
    """Return the advice on a measured point."""
    served = [run for run in point.runs if run.served and run.median is not None]
    if not served:
        reasons = " ".join(_sentence(f"{run.method} {_trouble(run)}") for run in point.runs)
        return f"No method finished this scene. {reasons}".strip()
    exact = [run for run in served if run.agrees]
    best = min(exact or served, key=lambda run: (run.beyond, _wrong(run), run.compared != FACES, run.median or 0.0))
    words = [_praise(best, served, point.frames)]
    words += [_sentence(f"{run.method} {_beside(run, best)}") for run in point.runs if run is not best]
    if best.expected == 0:
        words.append("Nothing touched in any frame, so correctness was hardly tested.")
    if best.rounds == 0:
        words.append(f"{best.method} was timed in its warm-up only: a longer limit gives better times.")
    return " ".join(words)


def milliseconds(seconds: float | None) -> str:
    """Format a time."""
    if seconds is None:
        return "–"
    value = 1e3 * seconds
    digits = 4 if value < 0.1 else 3 if value < 1.0 else 2 if value < 100.0 else 0
    return f"{value:.{digits}f} ms"


def _praise(best: MethodRun, served: list[MethodRun], frames: int) -> str:
    time = f"a median of {milliseconds(best.median)} per frame"
    every = f"in all {frames} frames" if frames > 1 else "in its one frame"
    if best.agrees is None:
        return f"{best.method} serves this scene best: {time}, but nothing could be compared with the exact answer."
    if not best.agrees:
        return f"No method was exact on this scene; {best.method} came closest: {_errors(best)} over {frames} frames, with {time}."
    exact = [run for run in served if run.agrees]
    what = "every touching face pair" if best.compared == FACES else "every touching body pair"
    found = f"exact {every} ({what}, {best.expected:,} in total)"
    fastest = all((best.median or 0.0) <= (run.median or 0.0) for run in exact)
    if len(exact) == 1:
        rank = "the only exact method"
    elif fastest:
        rank = f"the fastest of {len(exact)} exact methods"
    else:
        rank = "the fastest that names faces"
    return f"{best.method} serves this scene best: {found}, {rank}, with {time}."


def _beside(run: MethodRun, best: MethodRun) -> str:
    """Return the sentence about another method."""
    if not run.served:
        return _trouble(run)
    ratio = (run.median or 0.0) / max(best.median or 0.0, 1e-12)
    if ratio > AS_FAST:
        speed = f"takes {ratio:.{0 if ratio >= 10 else 1}f} times as long ({milliseconds(run.median)})"
    elif ratio < 1.0 / AS_FAST:
        speed = f"is faster ({milliseconds(run.median)})"
    else:
        speed = f"takes as long ({milliseconds(run.median)})"
    if run.agrees:
        pairs_only = run.compared != FACES and best.compared == FACES
        return f"{speed}, but names body pairs only" if pairs_only else f"is exact too and {speed}"
    if run.agrees is None:
        return f"{speed}; its answer could not be compared"
    return f"{speed}, and {_errors(run)}"


def _errors(run: MethodRun) -> str:
    what = "touching face pairs" if run.compared == FACES else "touching body pairs"
    words = []
    if run.missed:
        words.append(f"missed {run.missed:,} of {run.expected:,} {what}")
    if run.extra:
        words.append(f"reported {run.extra:,} wrong {what}")
    errors = " and ".join(words)
    if run.keeps_guarantee is None:
        return f"{errors} ({run.guarantee})"
    if run.keeps_guarantee:
        return f"{errors}, as its guarantee allows ({run.guarantee})"
    return errors if not run.guarantee else f"{errors}, {run.beyond:,} of them against its guarantee ({run.guarantee})"


def _trouble(run: MethodRun) -> str:
    how = {
        "unsupported": "does not serve it",
        "failed": "failed",
        "too slow": "is too slow for it",
        "interrupted": "was interrupted",
    }.get(run.status, "gave no times")
    return f"{how}: {run.why}" if run.why else how


def _wrong(run: MethodRun) -> int:
    return (run.missed or 0) + (run.extra or 0)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."

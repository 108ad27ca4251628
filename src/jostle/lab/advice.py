"""Advice for a user's own scene: which method suits it best and why, and what the others lacked.

Best is the fastest (median over the frames) of those that went through all frames and found exactly what is true; of these, one
that tells faces comes before one that tells body pairs only. Where nobody was exact, the one with the fewest wrong rows is named,
those that its guarantee does not allow first. Of an approximate method it is told whether its guarantee allows what is wrong.
"""

from __future__ import annotations

from jostle.lab.results import MethodRun, Point
from jostle.lab.truth import FACES

AS_FAST = 1.1  # times below this ratio are called equal


def advise(point: Point) -> str:
    """Return one or more sentences on a measured point."""
    served = [run for run in point.runs if run.served and run.median is not None]
    if not served:
        reasons = " ".join(_sentence(f"{run.method} {_trouble(run)}") for run in point.runs)
        return f"No method went through this scene. {reasons}".strip()
    exact = [run for run in served if run.agrees]
    best = min(exact or served, key=lambda run: (run.beyond, _wrong(run), run.compared != FACES, run.median or 0.0))
    words = [_praise(best, served, point.frames)]
    words += [_sentence(f"{run.method} {_beside(run, best)}") for run in point.runs if run is not best]
    if best.expected == 0:
        words.append("Nothing touched in any frame, so what the methods find was hardly put to the test.")
    if best.rounds == 0:
        words.append(f"{best.method} was timed in its warm-up only: give it a longer limit for better times.")
    return " ".join(words)


def milliseconds(seconds: float | None) -> str:
    """Write a time."""
    if seconds is None:
        return "–"
    value = 1e3 * seconds
    digits = 4 if value < 0.1 else 3 if value < 1.0 else 2 if value < 100.0 else 0
    return f"{value:.{digits}f} ms"


def _praise(best: MethodRun, served: list[MethodRun], frames: int) -> str:
    time = f"a median of {milliseconds(best.median)} per frame"
    every = f"in all {frames} frames" if frames > 1 else "in its one frame"
    if best.agrees is None:
        return f"{best.method} serves this scene best: {time}, though nothing could be compared with the exact answer."
    if not best.agrees:
        return f"No method was exact on this scene; {best.method} came nearest: {_errors(best)} over {frames} frames, with {time}."
    exact = [run for run in served if run.agrees]
    what = "every touching face pair" if best.compared == FACES else "every touching pair of bodies"
    found = f"exact {every} ({what}, {best.expected:,} of them)"
    fastest = all((best.median or 0.0) <= (run.median or 0.0) for run in exact)
    if len(exact) == 1:
        rank = "and the only method that is"
    elif fastest:
        rank = f"and the fastest of the {len(exact)} methods that are"
    else:
        rank = "and the fastest of those that tell faces"
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
        only = ", but tells pairs of bodies only" if run.compared != FACES and best.compared == FACES else ""
        return f"is exact too and {speed}{only}" if not only else f"{speed}{only}"
    if run.agrees is None:
        return f"{speed}; what it found could not be compared"
    return f"{speed}, and {_errors(run)}"


def _errors(run: MethodRun) -> str:
    what = "touching face pairs" if run.compared == FACES else "touching pairs of bodies"
    words = []
    if run.missed:
        words.append(f"missed {run.missed:,} of {run.expected:,} {what}")
    if run.extra:
        words.append(f"told {run.extra:,} {'more ' if run.missed else what + ' '}that are none")
    told = " and ".join(words)
    if run.keeps_its_word is None:
        return f"{told} ({run.guarantee})"
    if run.keeps_its_word:
        return f"{told}, as its guarantee allows ({run.guarantee})"
    return told if not run.guarantee else f"{told}, {run.beyond:,} of them against its guarantee ({run.guarantee})"


def _trouble(run: MethodRun) -> str:
    how = {
        "unsupported": "does not serve it",
        "failed": "failed",
        "too slow": "is too slow for it",
        "interrupted": "was not measured to the end",
    }.get(run.status, "gave no times")
    return f"{how}: {run.why}" if run.why else how


def _wrong(run: MethodRun) -> int:
    return (run.missed or 0) + (run.extra or 0)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else text + "."

"""Results of the laboratory: runs, points, verdicts, experiments; JSON in and out.

Times are in seconds, memory in bytes. Lists have one entry per frame that the method finished. `measure.py` fills these
dataclasses, `files.py` writes them, plots and page read them.
"""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jostle.cast import shown
from jostle.errors import InputError

FORMAT = "jostle lab 1"
STATUSES = ("ok", "unsupported", "failed", "too slow", "interrupted")
VERDICTS = ("reproduced", "partly", "refuted", "not judged")
NO_PROMISE = "no guarantee"


@dataclass
class MethodRun:
    """One method on one point of the sweep."""

    method: str  # its name, with settings that are not defaults
    status: str = "ok"  # one of STATUSES
    why: str = ""  # the reason if the status is not "ok"
    prepare_seconds: float | None = None
    memory_bytes: int | None = None  # growth of its process through prepared shapes and detector
    frame_seconds: list[float] = field(default_factory=list)  # update and detect; the median over the rounds
    counters: list[dict[str, int]] = field(default_factory=list)
    contacts: list[int] = field(default_factory=list)
    pairs: list[int] = field(default_factory=list)
    missed: int | None = None  # over all frames, against the exact engine; None if nothing was compared
    extra: int | None = None
    guarantee: str = ""  # of an approximate method, such as "within 0.1"; "" if the answer must be exact
    missed_beyond: int | None = None  # misses that its guarantee does not allow; None in older files
    extra_beyond: int | None = None
    compared: str = ""  # "faces" | "body pairs" | ""
    frames_right: int | None = None  # frames with the exact answer; None if unknown
    update_seconds: list[float] = field(default_factory=list)  # the part of frame_seconds that sets poses and vertices
    rounds: int = 0  # timed rounds; 0: the times are those of the warm-up

    @property
    def median(self) -> float | None:
        """Seconds: median over the frames."""
        return float(np.median(self.frame_seconds)) if self.frame_seconds else None

    @property
    def p95(self) -> float | None:
        """Seconds: 95th percentile over the frames."""
        return float(np.percentile(self.frame_seconds, 95.0)) if self.frame_seconds else None

    @property
    def maximum(self) -> float | None:
        """Seconds of the slowest frame."""
        return max(self.frame_seconds, default=None)

    @property
    def deviation(self) -> float | None:
        """Seconds: standard deviation over the frames."""
        return float(np.std(self.frame_seconds)) if self.frame_seconds else None

    @property
    def served(self) -> bool:
        """Whether it finished all frames."""
        return self.status == "ok"

    @property
    def agrees(self) -> bool | None:
        """Whether it found the exact answer in all frames; None if nothing was compared."""
        return None if self.missed is None else self.missed == 0 and self.extra == 0

    @property
    def beyond(self) -> int:
        """The number of wrong rows outside its guarantee; all of them if it must be exact."""
        counts = (self.missed_beyond, self.missed), (self.extra_beyond, self.extra)
        return sum((wrong or 0) if beyond is None else beyond for beyond, wrong in counts)

    @property
    def keeps_guarantee(self) -> bool | None:
        """Whether it kept its guarantee; None if nothing was compared or promised."""
        return None if self.missed is None or self.guarantee == NO_PROMISE else self.beyond == 0

    @property
    def found(self) -> int:
        """The number of compared rows that it found, over all frames."""
        return sum(self.contacts) if self.compared == "faces" else sum(self.pairs)

    @property
    def expected(self) -> int | None:
        """The number of rows in the exact answer; None if nothing was compared."""
        return None if self.missed is None or self.extra is None else self.found + self.missed - self.extra

    def total(self, counter: str) -> int:
        """Return the sum of a counter over all frames."""
        return sum(work.get(counter, 0) for work in self.counters)

    def to_json(self) -> dict[str, Any]:
        """Return all fields and derived statistics."""
        derived = {
            "median_seconds": self.median,
            "p95_seconds": self.p95,
            "maximum_seconds": self.maximum,
            "deviation_seconds": self.deviation,
        }
        return {**vars(self), **derived}


def quality_of(run: MethodRun) -> str:
    """Return the quality of a compared answer: exact, within its guarantee, or wrong."""
    if run.agrees:
        return "exact"
    if run.keeps_guarantee is None:
        return run.guarantee
    if run.keeps_guarantee:
        return f"in its band ({run.guarantee})"
    return "wrong" if not run.guarantee else f"wrong: {run.beyond:,} out of its band ({run.guarantee})"


@dataclass
class Point:
    """One value of the swept parameter and the runs of all methods there."""

    value: float | str | None
    bodies: int
    faces: int  # of all bodies together
    frames: int
    runs: list[MethodRun] = field(default_factory=list)

    @property
    def label(self) -> str:
        """The value as text."""
        return number_words(self.value) if isinstance(self.value, int | float) else str(self.value)

    def run_of(self, method: str) -> MethodRun | None:
        """Return the run of a method by its label, or None."""
        return next((run for run in self.runs if run.method == method), None)


def number_words(value: float) -> str:
    """Return a number with thousands separators."""
    return f"{value:,.10g}"


def unserved(points: Sequence[Point]) -> dict[tuple[str, str, str], list[str]]:
    """Return the points that methods did not finish, by method, status and reason."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for point in points:
        for run in point.runs:
            if not run.served:
                found.setdefault((run.method, run.status, run.why), []).append(point.label)
    return found


@dataclass
class Verdict:
    """The verdict on a claim of a paper."""

    paper: str  # key in docs/references.bib
    place: str
    claim: str  # in our own words
    verdict: str  # one of VERDICTS
    why: str
    printed: str = ""  # values that the paper prints
    ours: str = ""


@dataclass
class ExperimentResult:
    """All measurements of one experiment; saved as DIR/<name>/result.json."""

    name: str
    title: str
    parameter: str | None = None  # what is swept, with its unit
    points: list[Point] = field(default_factory=list)
    verdicts: list[Verdict] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=dict)
    quick: bool = False
    interrupted: bool = False
    started: str = ""  # ISO time
    command: str = ""
    about: str = ""  # a paragraph for readers
    draw: list[str] = field(default_factory=list)  # drawings, see `experiment.py`
    aside: list[str] = field(default_factory=list)  # methods left out of plots
    advice: str = ""  # for a user's own scene: the best method, and why
    paper: str = ""  # key in docs/references.bib, for a figure of a paper
    figure: str = ""  # such as "fig. 13"
    caption: str = ""  # what the paper's figure shows, in our words
    panels: list[Any] = field(default_factory=list)  # values whose frames get a panel each; by default the last
    printed: dict[str, list[list[float]]] = field(default_factory=dict)  # method -> [value, milliseconds] in the paper

    @property
    def methods(self) -> list[str]:
        """The labels of all methods, in order of appearance."""
        return list(dict.fromkeys(run.method for point in self.points for run in point.runs))

    def to_json(self) -> dict[str, Any]:
        """Return plain dicts and lists, ready for `json.dump`."""
        points = [{**vars(point), "runs": [run.to_json() for run in point.runs]} for point in self.points]
        return {"format": FORMAT, **vars(self), "points": points, "verdicts": [vars(verdict) for verdict in self.verdicts]}

    @classmethod
    def from_json(cls, stored: Any, source: str = "result") -> ExperimentResult:
        """Read the output of `to_json`, as an object or text."""
        if isinstance(stored, str | bytes):
            try:
                stored = json.loads(stored)
            except (ValueError, RecursionError) as error:
                raise InputError(f"{source}: not JSON, or damaged ({error})") from None
        if not isinstance(stored, dict) or stored.get("format") != FORMAT:
            found = stored.get("format") if isinstance(stored, dict) else type(stored).__name__
            raise InputError(f"{source}: this is {found!r}, expected {FORMAT!r}; run the experiment again")
        result: ExperimentResult = _made(cls, stored, source)
        _check_name(result.name, source)
        result.points = [_made(Point, each, f"{source}: points[{k}]") for k, each in enumerate(result.points)]
        for k, point in enumerate(result.points):
            point.runs = [_made(MethodRun, each, f"{source}: points[{k}].runs[{j}]") for j, each in enumerate(point.runs)]
        result.verdicts = [_made(Verdict, each, f"{source}: verdicts[{k}]") for k, each in enumerate(result.verdicts)]
        _check_words(result, source)
        return result


def _check_name(name: str, source: str) -> None:
    """Raise unless the name, which is a folder for plots, is plain or paper/figure."""
    parts = name.split("/")
    if len(parts) > 2 or any(part in ("", "..") or "\0" in part or Path(part).name != part for part in parts):
        raise InputError(f"{source}: name is {shown(name)}; it must be a folder name, such as 'spheres' or 'voxmap/fig_09'")


def _made(kind: Any, stored: Any, source: str) -> Any:
    """Make a dataclass from a dict, ignoring unknown (derived) keys."""
    if not isinstance(stored, dict):
        raise InputError(f"{source} is {type(stored).__name__}, expected an object; run the experiment again")
    for name, hint in typing.get_type_hints(kind).items():
        if name in stored and not _fits(stored[name], hint):
            raise InputError(f"{source}: {name} is {shown(stored[name])}, expected {hint}; run the experiment again")
    try:
        return kind(**{name: value for name, value in stored.items() if name in kind.__dataclass_fields__})
    except TypeError as error:
        raise InputError(f"{source}: {str(error).partition(') ')[2] or error}; run the experiment again") from None


def _fits(value: Any, hint: Any) -> bool:
    """Return whether a JSON value has the type of a field."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, each) for each in inner)
    if origin is list:
        return isinstance(value, list) and all(_fits(each, inner[0]) for each in value)
    if origin is dict:
        return isinstance(value, dict) and all(_fits(each, inner[1]) for each in value.values())
    if hint is Any or is_dataclass(hint):  # objects are checked on their own
        return True
    return isinstance(value, (int, float) if hint is float else hint)


def _check_words(result: ExperimentResult, source: str) -> None:
    for point in result.points:
        for run in point.runs:
            if run.status not in STATUSES:
                raise InputError(f"{source}: status of {run.method!r} is {run.status!r}, expected one of {', '.join(STATUSES)}")
    for verdict in result.verdicts:
        if verdict.verdict not in VERDICTS:
            raise InputError(f"{source}: a verdict is {verdict.verdict!r}, expected one of {', '.join(VERDICTS)}")

"""The files of an experiment in its folder: summary.csv, frames.csv, result.json.

summary.csv has a row for each point and method, frames.csv one for each of their frames; times are in seconds, memory in bytes,
unknown cells are empty. result.json has everything, for `jostle lab report`. Files are written atomically.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

from jostle.atomic_file import write_text
from jostle.errors import InputError
from jostle.lab.results import ExperimentResult, MethodRun, Point

RESULT = "result.json"
SUMMARY_COLUMNS = (
    "experiment", "value", "bodies", "faces", "frames", "method", "status", "why", "prepare_seconds", "memory_bytes",
    "median_seconds", "p95_seconds", "maximum_seconds", "deviation_seconds", "update_seconds", "rounds",
    "contacts", "pairs", "compared", "missed", "extra", "guarantee", "missed_beyond", "extra_beyond",
)  # fmt: skip
FRAME_COLUMNS = ("experiment", "value", "method", "frame", "seconds", "update_seconds", "contacts", "pairs")


def folder_for(out: Path, name: str) -> Path:
    """Make the folder of an experiment; raise `InputError` if that fails."""
    folder = out / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--out {out}: the folder {folder} cannot be made ({error.strerror or error})") from None
    return folder


def write_files(result: ExperimentResult, folder: Path) -> list[Path]:
    """Write the three files and return their paths."""
    counters = _counters_of(result)
    summary = [_summary(result.name, point, run, counters) for point in result.points for run in point.runs]
    frames = [row for point in result.points for run in point.runs for row in _frames(result.name, point, run, counters)]
    texts = {
        "summary.csv": _as_csv([*SUMMARY_COLUMNS, *counters], summary),
        "frames.csv": _as_csv([*FRAME_COLUMNS, *counters], frames),
        RESULT: json.dumps(result.to_json(), allow_nan=False) + "\n",
    }
    for name, text in texts.items():
        write_text(folder / name, text)
    return [folder / name for name in texts]


def read_result(file: Path) -> ExperimentResult:
    """Read one result.json."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: it cannot be read ({error})") from None
    return ExperimentResult.from_json(text, str(file))


def read_results(out: Path) -> list[ExperimentResult]:
    """Read all results of a folder, sorted by name; figures are one folder deeper."""
    return [read_result(file) for file in sorted([*out.glob(f"*/{RESULT}"), *out.glob(f"*/*/{RESULT}")])]


def _counters_of(result: ExperimentResult) -> list[str]:
    """Return the counters that any method used."""
    runs = [run for point in result.points for run in point.runs]
    names = dict.fromkeys(name for run in runs for work in run.counters for name in work)
    return [name for name in names if any(run.total(name) for run in runs)]


def _summary(name: str, point: Point, run: MethodRun, counters: list[str]) -> list[Any]:
    update = sum(run.update_seconds) / len(run.update_seconds) if run.update_seconds else None
    place = [name, point.value, point.bodies, point.faces, point.frames, run.method, run.status, run.why]
    times = [run.prepare_seconds, run.memory_bytes, run.median, run.p95, run.maximum, run.deviation, update, run.rounds]
    found = [sum(run.contacts), sum(run.pairs)] if run.contacts or run.pairs else [None, None]
    work = [run.total(counter) if run.counters else None for counter in counters]
    wrong = [run.missed, run.extra, run.guarantee, run.missed_beyond, run.extra_beyond]
    return [*place, *times, *found, run.compared, *wrong, *work]


def _frames(name: str, point: Point, run: MethodRun, counters: list[str]) -> list[list[Any]]:
    rows = zip(run.frame_seconds, run.update_seconds, run.contacts, run.pairs, run.counters, strict=True)
    return [
        [name, point.value, run.method, frame, *columns, *(work.get(counter, 0) for counter in counters)]
        for frame, (*columns, work) in enumerate(rows)
    ]


def _as_csv(header: list[str], rows: list[list[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return text.getvalue()

"""Fuzzing of the readers: children read mutated files; one that dies, hangs, eats memory or raises another error is found."""

from __future__ import annotations

import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.corpus import corpus
from tests.fuzz.mutate import mutated

MEGABYTES = 600
HANG = 60.0  # seconds for fifty files; the limits of an upload end each after 20


@dataclass
class Result:
    """What fuzzing of one format came to."""

    ending: str
    files: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    findings: dict[int, str] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = f"{self.counts['loaded']:,} loaded, {self.counts['refused']:,} refused"
        return f"{self.ending:5}{self.files:>9,} files: {counts}, {len(self.findings)} findings"


def fuzz(ending: str, seed: int, files: int, seconds: float = float("inf"), most_findings: int = 20) -> Result:
    """Read mutations 0 … `files` of a format until time is up. Number and seed alone make a mutation."""
    result, end = Result(ending), time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="jostle-fuzz-") as folder:
        first = 0
        while first < files and time.monotonic() < end and len(result.findings) < most_findings:
            first = _one_child(result, Path(folder), seed, first, files, end)
    result.files = first
    return result


def _one_child(result: Result, folder: Path, seed: int, first: int, files: int, end: float) -> int:
    """Run a child until it ends, hangs or time is up, and return the number of the next file."""
    command = [sys.executable, "-m", "tests.fuzz.child", result.ending, str(folder)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # each thread of BLAS maps memory of its own
    child = subprocess.Popen(
        [*command, *map(str, (seed, first, files, MEGABYTES))],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        cwd=Path(__file__).parents[2],
    )
    lines: queue.Queue[str | None] = queue.Queue()
    listener = threading.Thread(target=_listen, args=(child.stdout, lines), daemon=True)
    listener.start()
    said = first - 1
    try:
        while time.monotonic() < end:
            try:
                line = lines.get(timeout=HANG)
            except queue.Empty:
                return _blame(result, folder, seed, said + 1, "hang")
            if line is None:
                return _blame(result, folder, seed, said + 1, f"the process ended with {child.wait()}")
            news = json.loads(line)
            said = news["number"]
            if "finding" in news:
                result.findings[said] = news["finding"]
            result.counts.update({key: news[key] for key in ("loaded", "refused") if key in news})
            if news.get("done"):
                return files
        return said + 1
    finally:
        child.kill()
        listener.join()
        child.stdout.close()
        child.wait()


def _listen(said: Iterable[str], lines: queue.Queue[str | None]) -> None:
    for line in said:
        lines.put(line)
    lines.put(None)


def _blame(result: Result, folder: Path, seed: int, first: int, what: str) -> int:
    """Find the mutation that the child had in hand, note it, and return the number after it."""
    current = folder / f"current.{result.ending}"
    content = current.read_bytes() if current.exists() else b""
    for number in range(first, first + 51):
        if mutation(result.ending, seed, number) == content:
            result.findings[number] = what
            return number + 1
    result.findings[first] = f"{what}, somewhere from here on"
    return first + 51


def mutation(ending: str, seed: int, number: int) -> bytes:
    """The file of this number."""
    return mutated(random.Random(f"{ending} {seed} {number}"), ending, corpus(ending))

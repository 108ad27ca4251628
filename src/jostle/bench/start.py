"""What a start costs: imports, first answers and second answers, each in fresh processes.

A process reports its own CPU time when it ends, from the start of the interpreter on, and how many kernels it has compiled. The
unit is `import numpy`: a ratio to it is the same on a slow or busy machine. Rounds are interleaved, and medians are printed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jostle.errors import JostleError
from jostle.shapes.build import icosphere
from jostle.shapes.save import save

UNIT = "import numpy"
SECONDS = 900.0  # in which a process must end; compiling takes less than a tenth of it
AT_END = """
import atexit, json, sys, time

def report():
    state = sys.modules.get("jostle.kernels.cache_state")
    compiled = 0 if state is None else state.cache_statistics.misses
    print("\\n" + json.dumps([time.process_time(), compiled]), file=sys.stderr)

atexit.register(report)
"""
COMMAND = "from jostle.cli import main; main()"
TWO_BOXES = """
import jostle
from jostle.shapes.build import box
world = jostle.World({method})
world.add(box())
world.add(box(), jostle.translation((0.5, 0.2, 0.1)))
world.detect().contacts.normal
"""


@dataclass(frozen=True)
class Start:
    """One process to measure.

    Attributes
    ----------
    name : str
    code : str
    arguments : tuple of str
        Of the command, if it is one.
    cold : bool
        Whether its cache of kernels is empty. It is then measured once: it compiles.
    status : int
        How it ends.
    """

    name: str
    code: str
    arguments: tuple[str, ...] = ()
    cold: bool = False
    status: int = 0


@dataclass
class Measured:
    """The CPU seconds of all rounds, and the kernels compiled in the last."""

    start: Start
    seconds: list[float]
    compiled: int = 0

    @property
    def median(self) -> float:
        """The median of the CPU seconds."""
        return statistics.median(self.seconds)


def starts(files: tuple[str, str]) -> list[Start]:
    """Return what is measured; the files are two meshes that touch."""
    named, distance = TWO_BOXES.format(method="'wide_tree'"), "world.distance(0, 1)"
    return [
        Start(UNIT, "import numpy"),
        Start("import jostle; jostle.World", "import jostle; jostle.World"),
        Start("jostle --help", COMMAND, ("--help",)),
        Start("jostle methods", COMMAND, ("methods",)),
        Start("jostle check --help", COMMAND, ("check", "--help")),
        Start("first answer: two boxes, with normals", TWO_BOXES.format(method="")),
        Start("first and second answer", TWO_BOXES.format(method="") + "world.detect()"),
        Start("first answer and distance", TWO_BOXES.format(method="") + distance),
        Start("jostle check of two files, 5,120 faces each", COMMAND, ("check", *files), status=1),
        Start("wide_tree, kernels on disk", named),
        Start("wide_tree, kernels to be compiled", named, cold=True),
        Start("wide_tree with distance, to be compiled", named + distance, cold=True),
    ]


def measure(rounds: int, progress: Callable[[int, int, str], None] | None = None) -> list[Measured]:
    """Measure all starts, the cold ones once."""
    with _files() as (folder, files):
        found = [Measured(start, []) for start in starts(files)]
        turns = [(number, each) for number in range(rounds) for each in found if number == 0 or not each.start.cold]
        for done, (number, each) in enumerate(turns):
            if progress is not None:
                progress(done, len(turns), each.start.name)
            cache = folder / (f"cold {found.index(each)}" if each.start.cold else "warm")
            if number == 0 and not each.start.cold:
                _run(each.start, cache)  # writes bytecode, and kernels to the cache
            seconds, each.compiled = _run(each.start, cache)
            each.seconds.append(seconds)
    return found


@contextmanager
def _files() -> Iterator[tuple[Path, tuple[str, str]]]:
    with tempfile.TemporaryDirectory(prefix="jostle-start-") as name:
        folder = Path(name)
        sphere = icosphere(4)
        first, second = save(sphere, folder / "a.obj"), save(sphere, folder / "b.stl")
        yield folder, (str(first), str(second))


def _run(start: Start, cache: Path) -> tuple[float, int]:
    """Return the CPU seconds of one process, and how many kernels it compiled."""
    environment = {**os.environ, "JOSTLE_CACHE_DIR": str(cache), "JOSTLE_QUIET": "1"}
    command = [sys.executable, "-c", AT_END + start.code, *start.arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=SECONDS)
    if done.returncode != start.status:
        raise JostleError(f"{start.name}: the process ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    seconds, compiled = json.loads(done.stderr.splitlines()[-1])
    return float(seconds), int(compiled)


def as_markdown(found: list[Measured]) -> str:
    """Return the table."""
    unit = next(each.median for each in found if each.start.name == UNIT)
    lines = ["| start | CPU s | times `import numpy` | kernels compiled |", "|---|--:|--:|--:|"]
    lines += [f"| {each.start.name} | {each.median:.3f} | {each.median / unit:.2f} | {each.compiled:,} |" for each in found]
    return "\n".join(lines)

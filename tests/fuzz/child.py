"""A process that reads mutated files, with little memory. It says what it finds on its standard output, a line of JSON each.

The file that is being read lies in the folder under a name that tells its number: if this process dies or hangs, it is the one.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from jostle.errors import InputError
from jostle.shapes.limits import UPLOAD_LIMITS
from jostle.shapes.load import load
from tests.fuzz.corpus import corpus
from tests.fuzz.mutate import mutated

OUTCOMES = ("loaded", "refused")


def limit_memory(megabytes: int) -> None:
    """Allow so much address space beyond what is mapped now: Numba alone maps gigabytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def outcome(path: Path) -> str:
    """Read a file: "loaded", "refused", or what is wrong with the reader."""
    try:
        mesh = load(path, limits=UPLOAD_LIMITS)
    except InputError as refusal:
        if refusal.__cause__ is not None:
            return f"only the net caught {type(refusal.__cause__).__name__}: {refusal.__cause__}"
        if "more memory than there is" in str(refusal):
            return "memory bomb"
        if path.name not in str(refusal):
            return f"a refusal without the file's name: {refusal}"
        return "refused"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    good = np.isfinite(mesh.vertices).all() and 0 <= mesh.faces.min() <= mesh.faces.max() < len(mesh.vertices)
    return "loaded" if good and len(mesh.source_face) == len(mesh.faces) else "a mesh that is broken"


def say(**what: Any) -> None:
    """Print one line of JSON."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main(ending: str, folder: Path, seed: int, first: int, last: int, megabytes: int) -> None:
    """Read the mutations `first` up to `last` of a format; each is made from its number alone."""
    files = corpus(ending)
    path = folder / f"current.{ending}"
    path.write_bytes(files[0])
    outcome(path)
    limit_memory(megabytes)
    counts: Counter[str] = Counter()
    for number in range(first, last):
        data = mutated(random.Random(f"{ending} {seed} {number}"), ending, files)
        path.write_bytes(data)
        found = outcome(path)
        if found in OUTCOMES:
            counts[found] += 1
        else:
            say(number=number, finding=found)
        if number % 50 == 0:
            say(number=number, **counts)
            counts.clear()
    say(number=last, **counts, done=True)


if __name__ == "__main__":
    ending, folder, *numbers = sys.argv[1:]
    main(ending, Path(folder), *map(int, numbers))

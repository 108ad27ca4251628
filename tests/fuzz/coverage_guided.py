"""Fuzzing of one format guided by coverage, with atheris (libFuzzer). `python -m tests.fuzz --coverage` starts it."""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["jostle.shapes.formats", "jostle.shapes.load"]):
    from jostle.shapes.load import load  # noqa: F401

from tests.fuzz.child import OUTCOMES, limit_memory, outcome
from tests.fuzz.corpus import corpus
from tests.fuzz.mutate import mutated
from tests.fuzz.run import MEGABYTES


class ReaderError(Exception):
    """A file that a reader does not survive; libFuzzer saves it."""


def main(ending: str, folder: str, *options: str) -> None:
    """Run libFuzzer with our mutations and its own, starting from the corpus."""
    files = corpus(ending)
    seeds = Path(folder) / f"corpus-{ending}"
    seeds.mkdir(parents=True, exist_ok=True)
    for k, data in enumerate(files):
        (seeds / f"seed-{k}").write_bytes(data)
    current = Path(tempfile.mkdtemp(prefix="jostle-fuzz-")) / f"current.{ending}"

    def read(data: bytes) -> None:
        current.write_bytes(data)
        found = outcome(current)
        if found not in OUTCOMES:
            raise ReaderError(found)

    def change(data: bytes, most: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() < 0.3 and data:
            return bytes(atheris.Mutate(data, most))
        return mutated(rng, ending, [bytes(data) or files[0]])[:most]

    read(files[0])
    limit_memory(MEGABYTES + 500)  # libFuzzer's own
    arguments = ["fuzz", *options, "-timeout=60", "-rss_limit_mb=0", "-max_len=65536", f"-artifact_prefix={folder}/{ending}-"]
    atheris.Setup([*arguments, str(seeds)], read, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])

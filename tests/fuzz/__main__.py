"""`python -m tests.fuzz`: read mutated mesh files for a while; any finding is saved, and makes the command fail."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from pathlib import Path

from tests.fuzz.corpus import FORMATS
from tests.fuzz.run import fuzz, mutation


def main() -> int:
    """Fuzz the formats one after the other and print what came of each."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--format", action="append", choices=FORMATS, help="one of the formats; may be repeated (all)")
    parser.add_argument("--seconds", type=float, default=60.0, help="for each format")
    parser.add_argument("--files", type=int, default=1 << 40, help="at most so many for each format")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"), help="folder for the files that were found")
    parser.add_argument("--coverage", action="store_true", help="guided by coverage, with atheris (pip install atheris)")
    wanted = parser.parse_args()
    formats = wanted.format or [ending for ending in FORMATS if ending != "dae" or importlib.util.find_spec("collada")]
    found = 0
    for ending in formats:
        if wanted.coverage:
            found += _guided(ending, wanted)
            continue
        result = fuzz(ending, wanted.seed, wanted.files, wanted.seconds)
        print(result, flush=True)  # noqa: T201
        for number, what in result.findings.items():
            wanted.out.mkdir(parents=True, exist_ok=True)
            file = wanted.out / f"{wanted.seed}-{number}.{ending}"
            file.write_bytes(mutation(ending, wanted.seed, number))
            print(f"  {file}: {what}", flush=True)  # noqa: T201
        found += len(result.findings)
    return 1 if found else 0


def _guided(ending: str, wanted: argparse.Namespace) -> int:
    """Run libFuzzer in a process of its own; return whether it found a file."""
    wanted.out.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={int(wanted.seconds)}", f"-seed={wanted.seed + 1}", "-print_final_stats=1", "-verbosity=0"]
    command = [sys.executable, "-m", "tests.fuzz.coverage_guided", ending, str(wanted.out), *options]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    runs = next((line.split()[-1] for line in ended.stderr.splitlines() if "number_of_executed_units" in line), "?")
    print(f"{ending:5}{runs:>9} files, guided by coverage: {'a finding' if ended.returncode else '0 findings'}", flush=True)  # noqa: T201
    if ended.returncode:
        print(ended.stderr[-3000:], flush=True)  # noqa: T201
    return int(ended.returncode != 0)


if __name__ == "__main__":
    sys.exit(main())

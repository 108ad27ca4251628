"""Run the core tests with other versions: `make versions`.

    python release/versions.py                                       every python3.N that is found, with all three sets
    python release/versions.py --python /opt/python3.14/bin/python3  one interpreter; may be repeated
    python release/versions.py --set oldest                          one set; may be repeated

A set is what is installed beside jostle's wheel, always from wheels:

| set | NumPy and Numba |
|---|---|
| oldest | the lowest versions that pyproject.toml allows for this Python |
| newest | the highest that it allows |
| without-numba | the newest NumPy alone |

The core tests are those of the kernels' own machinery, of files and reports, and the contract of the default engine's two gears,
`plain` and `wide_tree`. docs/versions.md has the results.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "versions"
SETS = ("oldest", "newest", "without-numba")
PYTHONS = [f"3.{minor}" for minor in range(11, 20)]
TESTS = ("pytest>=8", "hypothesis>=6.100", "trimesh>=4.5", "networkx>=3", "lxml>=5")
SECONDS = 3000.0
SHOW = """
import importlib.metadata, platform
found = {one.name: one.version for one in importlib.metadata.distributions()}
print("Python", platform.python_version(), *(f"{name} {found[name]}" for name in ("numpy", "numba") if name in found))
"""

PLAIN = ("tests/contract/test_methods.py", "tests/contract/test_solid_methods.py")
SMALL = ("tests/interface", "tests/report", "tests/world", "tests/contract", "tests/shapes")
KERNELS = tuple(f"tests/kernels/test_{name}.py" for name in ("jit", "structs", "sort", "compile_setting"))
EVERYWHERE = ("tests/kernels/test_without_numba.py", "tests/architecture/test_start.py", "tests/cli/test_cache.py")


def runs(kind: str) -> list[tuple[dict[str, str], list[str]]]:
    """Return the environment and arguments of each run of pytest."""
    if kind == "without-numba":
        small = ({"NUMBA_DISABLE_JIT": "1"}, ["-m", "small", *SMALL])
        return [({}, [*EVERYWHERE]), ({}, [*PLAIN, "-k", "plain and rational"]), small]
    return [({}, [*EVERYWHERE, *KERNELS]), ({}, [*PLAIN, "-k", "(plain or wide_tree) and rational"])]


def bounds(minor: str) -> dict[str, tuple[str, str]]:
    """Return the lowest and the upper bound of NumPy and Numba for a Python, from pyproject.toml."""
    found = {}
    for text in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]:
        needed, _, marker = text.partition(";")
        name, lowest, upper = re.fullmatch(r"([\w-]+)>=([\d.]+)(?:,<([\d.]+))?", needed.replace(" ", "")).groups()
        if name in ("numpy", "numba") and _holds(marker, minor):
            found[name] = (lowest, upper)
    return found


def _holds(marker: str, minor: str) -> bool:
    here = int(minor.partition(".")[2])
    for sign, number in re.findall(r"python_version\s*(<|>=|==)\s*['\"]3\.(\d+)['\"]", marker):
        if not {"<": here < int(number), ">=": here >= int(number), "==": here == int(number)}[sign]:
            return False
    return True


def wanted(kind: str, minor: str) -> list[str]:
    """Return what pip is asked for."""
    allowed = bounds(minor)
    if kind == "without-numba":
        del allowed["numba"]
    return [f"{name}=={low}" if kind == "oldest" else f"{name}<{high}" for name, (low, high) in allowed.items()]


def interpreters() -> list[str]:
    """Return the newest of each minor version on the path and among pyenv's."""
    found = {}
    for minor in PYTHONS:
        by_pyenv = sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python"))
        program = str(by_pyenv[-1]) if by_pyenv else shutil.which(f"python{minor}")
        if program:
            found[minor] = program
    return list(found.values())


def try_set(python: str, kind: str, wheel: Path) -> tuple[str, bool]:
    """Install a set in a fresh environment and run the core tests; return what it is, and whether all passed."""
    minor = subprocess.run(
        [python, "-c", "import sys; print('3.%d' % sys.version_info[1])"], check=True, stdout=-1, text=True
    ).stdout.strip()
    if "numba" not in bounds(minor) and kind != "without-numba":
        return f"{minor} {kind}: not allowed by pyproject.toml", True
    folder = BUILD / f"{minor}-{kind}"
    subprocess.run([python, "-m", "venv", "--clear", folder / "venv"], check=True)
    own = folder / "venv" / "bin" / "python"
    pip = [own, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--only-binary", ":all:"]
    subprocess.run([*pip, *wanted(kind, minor), "typer", "rich", *TESTS], check=True)
    subprocess.run([*pip, "--no-deps", wheel], check=True)
    name = f"{subprocess.run([own, '-c', SHOW], check=True, stdout=-1, text=True).stdout.strip()} ({kind})"
    environment = {one: value for one, value in os.environ.items() if not one.startswith(("NUMBA_", "JOSTLE_", "PYTHON"))}
    shutil.rmtree(folder / "cache", ignore_errors=True)
    environment |= {"JOSTLE_CACHE_DIR": str(folder / "cache")}
    passed = True
    for settings, arguments in runs(kind):
        command = [own, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
        done = subprocess.run(
            command, cwd=ROOT, env=environment | settings, stdout=-1, stderr=subprocess.STDOUT, text=True, timeout=SECONDS
        )
        print(f"{name}: {done.stdout.strip().splitlines()[-1]}", flush=True)
        if done.returncode:
            passed = False
            print(done.stdout, flush=True)
    return name, passed


def main() -> None:
    """Try every interpreter with every set; the exit status is 1 if a test failed."""
    parser = argparse.ArgumentParser(description="Run the core tests with other versions of Python, NumPy and Numba.")
    parser.add_argument("--python", action="append", help="an interpreter; by default every python3.N that is found")
    parser.add_argument("--set", action="append", choices=SETS, help="what is installed; all sets by default")
    options = parser.parse_args()
    (wheel,) = (ROOT / "dist").glob("jostle-*-py3-none-any.whl")
    outcomes = [try_set(python, kind, wheel) for python in options.python or interpreters() for kind in options.set or SETS]
    for name, passed in outcomes:
        print("passed " if passed else "FAILED ", name)
    failed = sum(not passed for _, passed in outcomes)
    print(f"{len(outcomes) - failed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

"""Every module but a few of `kernels/` can be imported without Numba."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import jostle
from tests.kernels.test_compile_setting import HIDDEN

NEEDING_NUMBA = {
    f"jostle.kernels.{name}"
    for name in (
        "cache",
        "compiling",
        "dispatch",
        "handles_compiled",
        "inner_code",
        "late_compiled",
        "shipped",
        "simd_compiled",
        "simd_grid_compiled",
        "structs_compiled",
    )
}
IMPORT_ALL = (
    HIDDEN
    + """
import importlib, json, pkgutil
import jostle

imported, failed = [], {}
for module in pkgutil.walk_packages(jostle.__path__, "jostle.", onerror=lambda name: None):
    try:
        importlib.import_module(module.name)
        imported.append(module.name)
    except ImportError as error:
        failed[module.name] = error.name or str(error)
print(json.dumps([imported, failed]))
"""
)
CALLS = (
    HIDDEN
    + """
import jostle
from jostle.shapes.build import box
for method in (None, "wide_tree"):
    world = jostle.World(method)
    first, second = world.add(box(), name="first"), world.add(box(), jostle.translation((0.5, 0.2, 0.1)), "second")
    asked = {
        "detect": lambda: (len(world.detect().contacts), world.engine),
        "distance": lambda: world.distance(0, 1).distance,
        "in_collision": world.in_collision,
        "detect_many": lambda: world.detect_many(world.poses[None]),
        "detect, again": lambda: (len(world.detect().contacts), world.engine),  # a refused call leaves the world as it was
    }
    for name, ask in asked.items():
        try:
            print(name, ask())
        except jostle.Unsupported as error:
            print(name, error)
"""
)


def without_numba(script, *arguments, refused=""):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "JOSTLE_COMPILE"))}
    environment["PYTHONPATH"] = str(Path(jostle.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", script, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2 if refused else 0, refused)
    return done.stdout


def test_modules_are_imported_without_numba():
    imported, failed = json.loads(without_numba(IMPORT_ALL))
    lacking_numba = {name for name, missing in failed.items() if missing.partition(".")[0] in ("numba", "llvmlite")}
    assert lacking_numba == NEEDING_NUMBA
    # The rest lack an optional package, such as viser.
    assert not {name for name in failed if failed[name].partition(".")[0] == "jostle"}
    assert len(imported) > 400


def test_without_numba_plain_answers_and_the_rest_refuses_with_the_cure():
    lines = without_numba(CALLS).splitlines()
    rows = lines[0].removeprefix("detect ")
    assert rows.endswith(", 'plain')")
    assert not rows.startswith("(0,")
    assert lines[1:3] == ["distance 0.0", "in_collision True"]
    assert lines[4] == f"detect, again {rows}"
    refused = [lines[3], *lines[5:]]
    assert len(refused) == 6
    cure = "needs Numba, which cannot be imported (No module named 'numba'); pip install numba, or use method='plain'"
    assert all(cure in text for text in refused)


COMMANDS = (
    HIDDEN
    + """
import jostle.bench.machine
from jostle.cli import main
print(jostle.bench.machine._version("a package that nobody has"))
main()
"""
)


@pytest.mark.parametrize(
    ("arguments", "purpose"),
    [("warmup", "compiling"), ("bench robust", "compiling"), ("bench peers --quick", "the exact reference")],
)
def test_commands_that_compile_refuse_at_once(arguments, purpose):
    refused = f"jostle: {purpose} needs Numba, which is not installed; pip install numba\n"
    assert without_numba(COMMANDS, *arguments.split(), refused=refused) == "none\n"

"""What a start imports: modules are counted and named here, since times are not tested."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import jostle
from jostle.shapes.build import icosphere
from jostle.shapes.save import save

AFTERWARDS = """
import atexit, json, sys
before = set(sys.modules)
atexit.register(lambda: print("\\n" + json.dumps(sorted(set(sys.modules) - before))))
"""
COMMAND = "from jostle.cli import main; sys.argv[0] = 'jostle'; main()"
# A command needs these to print its help; all but `registry` and `settings_text` are for the command line alone.
OF_A_COMMAND = ("jostle.cli", "jostle.errors", "jostle.registry", "jostle.settings_text")

OF_A_BUILD = "_missing_stdlib_info"  # Debian's Python 3.15 has this module, and does not list it


def imported(code, *arguments, status=0):
    """Return the modules that a fresh process imports, those of the interpreter's own start left out."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JOSTLE_", "PYTHON"))}
    environment |= {"PYTHONPATH": str(Path(jostle.__file__).parents[1]), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", AFTERWARDS + code, *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (status, "")
    return set(json.loads(done.stdout.splitlines()[-1]))


def packages(modules):
    return {name.partition(".")[0] for name in modules} - set(sys.stdlib_module_names) - {"jostle", OF_A_BUILD}


def own(modules):
    return {name for name in modules if name.partition(".")[0] == "jostle"}


def test_the_package_alone_is_one_module():
    found = imported("import jostle")
    assert packages(found) == set()
    assert own(found) == {"jostle"}


def test_a_world_needs_numpy_only():
    found = imported("import jostle; jostle.World")
    assert packages(found) <= packages(imported("import numpy"))
    folders = {name.split(".")[1] for name in own(found) if "." in name}
    assert folders == {
        *("_types", "cast", "errors", "geometry", "interface", "kernels", "registry"),
        *("report", "settings_text", "shapes", "tables", "world"),
    }
    assert len(own(found)) <= 85


@pytest.mark.parametrize(
    "question",
    [
        "jostle.collide(a, b, rows='first').contacts.normal",
        "jostle.collide(a, b, clearance=0.1).pairs.names",
        "jostle.distance(a, b).point_a",
        "jostle.self_collide(a)",
        "w = jostle.World(); w.add(a); w.add(b, deformable=True); w.in_collision(); w.detect(solid=True).contacts.point",
    ],
)
def test_a_first_answer_needs_numpy_only(question):
    found = imported(f"import jostle; from jostle.shapes.build import box; a, b = box(), box((2.0, 1.0, 1.0)); {question}")
    assert packages(found) <= packages(imported("import numpy"))
    assert "jostle.methods.wide_tree.detector" not in found


@pytest.mark.parametrize("options", [(), ("--clearance", "0.1"), ("--solid",), ("--json",)], ids=" ".join)
def test_a_check_needs_no_numba(options, tmp_path):
    for name in "ab":
        save(icosphere(3), tmp_path / f"{name}.obj")
    files = [str(tmp_path / f"{name}.obj") for name in "ab"]
    found = imported(COMMAND, "check", *files, *options, status=1)
    assert packages(found).isdisjoint({"numba", "llvmlite", "scipy", "matplotlib"})


@pytest.mark.parametrize(
    "arguments", [("--help",), ("--version",), ("check", "--help"), ("fit", "-h"), ("view", "-h"), ("methods",)], ids=" ".join
)
def test_help_and_tables_need_no_numpy(arguments):
    found = imported(COMMAND, *arguments)
    assert packages(found).isdisjoint({"numpy", "numba", "llvmlite", "scipy", "matplotlib", "viser", "trimesh", "PIL"})
    assert {name for name in own(found) if name != "jostle" and not name.startswith(OF_A_COMMAND)} == set()


def test_the_cache_is_listed_without_numba(tmp_path):
    found = imported("import os; os.environ['JOSTLE_CACHE_DIR'] = sys.argv.pop(); " + COMMAND, "cache", str(tmp_path))
    assert packages(found).isdisjoint({"numpy", "numba", "llvmlite"})

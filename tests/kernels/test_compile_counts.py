"""How many kernels each public question compiles, counted in fresh processes with an empty cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from jostle.kernels.jit import JIT_DISABLED

pytestmark = [pytest.mark.long, pytest.mark.skipif(JIT_DISABLED, reason="needs compiled kernels")]

# Asked one after the other in one process. May only get smaller: each kernel costs about 50 ms of a first answer.
COMPILED = {
    "collide": 168,
    "normals": 39,
    "clearance": 9,
    "distance": 56,
    "self_collide": 28,
}
ASK = """
import json, sys
import jostle
from jostle.kernels.cache_state import cache_statistics
from jostle.shapes.build import box

one, other, far = box(), box((1.0, 1.0, 1.0), (0.5, 0.4, 0.3)), box((1.0, 1.0, 1.0), (3.0, 0.0, 0.0))
report = None

def collide():
    global report
    report = jostle.collide(one, other, method="wide_tree")
    assert len(report.contacts)

questions = {
    "collide": collide,
    "normals": lambda: report.contacts.normal,
    "clearance": lambda: jostle.collide(one, far, clearance=5.0, method="wide_tree"),
    "distance": lambda: jostle.distance(one, far, method="wide_tree"),
    "self_collide": lambda: jostle.self_collide(one, method="wide_tree"),
}
counted = {}
for name in sys.argv[1:]:
    before = cache_statistics.misses
    questions[name]()
    counted[name] = cache_statistics.misses - before
assert not cache_statistics.failures, cache_statistics.failures
print(json.dumps(counted))
"""


def started(folder, *questions):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("JOSTLE_", "NUMBA_"))}
    environment |= {"JOSTLE_CACHE_DIR": str(folder), "JOSTLE_COMPILED": "0", "JOSTLE_QUIET": "1"}
    return subprocess.Popen([sys.executable, "-c", ASK, *questions], env=environment, stdout=-1, stderr=-1, text=True)


def counted_by(process):
    out, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors
    return json.loads(out)


def test_questions_compile_what_they_need_and_no_more(tmp_path):
    counted = counted_by(started(tmp_path, *COMPILED))
    more = {name: (count, COMPILED[name]) for name, count in counted.items() if count > COMPILED[name]}
    assert not more, f"{more}: (kernels compiled, allowed); call rare kernels by address (kernels/late.py), or merge small ones"
    names = {file.name for file in tmp_path.rglob("*.kernel")}
    assert len(names) == sum(counted.values())


def test_two_processes_compile_nothing_twice(tmp_path):
    both = [started(tmp_path, "collide") for _ in range(2)]
    counts = [counted_by(process)["collide"] for process in both]
    assert sum(counts) == len(list(tmp_path.rglob("*.kernel"))) == COMPILED["collide"], counts

"""One signature per kernel, counted in a fresh process that runs warm-ups."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from jostle.kernels.jit import JIT_DISABLED

pytestmark = [pytest.mark.long, pytest.mark.skipif(JIT_DISABLED, reason="needs compiled kernels")]

WARMED_UP = ("distances", "separating planes", "broad phases")

COUNT = """
import json, sys
import jostle.cli.warmups
from jostle.kernels.jit import KERNELS
from jostle.kernels.warmup import WARMUPS

for name, warm_up in WARMUPS:
    if name in sys.argv[1:]:
        warm_up()
forms = [(name, form, vars(one).get(form)) for name, one in KERNELS.items() for form in ("entry", "inner")]
print(json.dumps([f"{name} {form}" for name, form, made in forms if made is not None and len(made.overloads) > 1]))
"""

# May only get shorter.
SEVERAL = {
    # arrays that can be written and arrays that cannot
    "jostle.broad_phase.sorted_boxes.best_axis inner",
    "jostle.broad_phase.sorted_boxes.sort_along inner",
    "jostle.broad_phase.sorted_boxes.sort_boxes entry",
    "jostle.broad_phase.volumes.overlap inner",
    "jostle.geometry.rigid.pose_at inner",
    "jostle.geometry.triangle.face_at inner",
    "jostle.geometry.vector.point_at inner",
    # fields of records, of several lengths
    "jostle.geometry.vector.point_from inner",
    "jostle.geometry.vector.write_point_from inner",
    "jostle.methods.wide_tree.lanes.box_in_lane inner",
    "jostle.methods.wide_tree.lanes.boxes_at inner",
    "jostle.methods.wide_tree.lanes.point_in_lane inner",
    "jostle.methods.wide_tree.lanes.points_at inner",
    # numbers of either width
    "jostle.kernels.numbers.as_float64 inner",
    "jostle.kernels.numbers.as_int64 inner",
    "jostle.methods.wide_tree.lanes.in_every_lane inner",
}


def test_kernels_have_one_signature(tmp_path):
    environment = os.environ | {"JOSTLE_CACHE_DIR": str(tmp_path), "JOSTLE_QUIET": "1", "NUMBA_OPT": "0"}
    command = [sys.executable, "-c", COUNT, *WARMED_UP]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)) == SEVERAL

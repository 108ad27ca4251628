"""Without a compiler: NumPy forms have the results of their kernels, and contexts end."""

import importlib
import subprocess
import sys

import numpy as np
import pytest

from jostle.geometry.points import copy_accepted
from jostle.geometry.rigid import all_rigid, transform_into
from jostle.interface.frame import Bodies, Frame
from jostle.kernels.interpreting import called_without_compiler, is_without_compiler, without_compiler
from jostle.kernels.jit import JIT_DISABLED, KERNELS, interpreted, kernel
from jostle.report.containment.solid_bodies import SolidBodies, boxes_into
from jostle.report.row_kernels import count_runs, label_runs, mark_missing, summarise_runs
from jostle.shapes.build import icosphere
from tests.tiny import box, random_pose, random_soup

pytestmark = [pytest.mark.small, pytest.mark.skipif(JIT_DISABLED, reason="kernels are plain functions")]


@kernel
def _twice(x):
    return x + x


def both(function, inputs, outputs):
    """The results of a kernel's source and of its NumPy form, with what they wrote."""
    found = []
    for form in (interpreted(function), function.in_columns):
        written = [np.full_like(output, 7) for output in outputs]
        with np.errstate(all="ignore"):
            found.append((form(*inputs, *written), [column.tobytes() for column in written]))
    return found


def equal(function, inputs, outputs=()):
    one, other = both(function, inputs, outputs)
    return one == other


def sorted_rows(rng, count):
    a, b = np.sort(rng.integers(0, 4, (2, count)), axis=1).astype(np.int32)
    order = np.lexsort((b, a))
    return a[order], b[order]


ELSEWHERE = {
    "jostle.geometry.contact.describe_rows",
    "jostle.geometry.winding_columns.windings_into",
    "jostle.report.containment.face_contacts.test_pairs",
    "jostle.report.containment.solid_bodies.boxes_meet",
    "jostle.shapes.topology.chosen_face_touches",
    "jostle.shapes.topology.connect",
    "jostle.shapes.topology.sample_sheets",
    "jostle.shapes.topology.touches_later_face",
}
"""Those with tests of their own, beside their forms in `plain` and `shapes`."""


def test_the_kernels_with_a_numpy_form_are_these():
    for module in ("contact_geometry", "self_contact", "solid_pairs", "windings"):
        importlib.import_module(f"jostle.methods.plain.{module}")
    named = {each.name for each in KERNELS.values() if each.in_columns is not None}
    tested = (copy_accepted, all_rigid, transform_into, count_runs, summarise_runs, label_runs, mark_missing, boxes_into)
    assert named == {each.name for each in tested} | ELSEWHERE


def test_world_vertices():
    rng = np.random.default_rng(0)
    for scale in (1.0, 1e-30, 1e25):
        points = scale * rng.normal(size=(40, 3))
        points[::7] = 0.0
        assert equal(transform_into, (random_pose(rng), points), (points,))
    assert equal(transform_into, (np.eye(4), -np.zeros((2, 3))), (np.zeros((2, 3)),))


@pytest.mark.parametrize("place", [(0, 0), (1, 2), (2, 3), (3, 1), (3, 3)])
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, 1e40, 1e-9, 0.0])
def test_rigid_poses(place, value):
    rng = np.random.default_rng(1)
    poses = np.stack([random_pose(rng) for _ in range(3)])
    assert all_rigid.in_columns(poses, 1e-5, 1e31)
    assert equal(all_rigid, (poses, 1e-5, 1e31))
    poses[1][place] += value
    assert equal(all_rigid, (poses, 1e-5, 1e31))
    mirrored = poses * np.array([-1.0, 1.0, 1.0, 1.0])
    assert equal(all_rigid, (mirrored, 1e-5, 1e31))


@pytest.mark.parametrize("odd", [0.0, -0.0, 1e-40, -1e-40, 1e32, -np.inf, np.nan])
def test_accepted_coordinates(odd):
    coordinates = np.random.default_rng(2).normal(size=30)
    coordinates[4] = odd
    assert equal(copy_accepted, (coordinates, 1e-30, 1e31), (coordinates,))


def test_summaries_of_rows():
    rng = np.random.default_rng(3)
    for count in (0, 1, 2, 30, 200):
        a, b = sorted_rows(rng, count)
        kind = rng.integers(1, 6, count).astype(np.uint8)
        distance, time = rng.random((2, count))
        distance[rng.random(count) < 0.5] = np.nan
        time[:] = np.nan
        runs = count_runs.in_columns(a, b)
        assert equal(count_runs, (a, b))
        pairs = [np.empty(runs, np.int32), np.empty(runs, np.int32), np.empty(runs, np.uint8), np.empty(runs, np.int32)]
        assert equal(summarise_runs, (a, b, kind, distance, time), [*pairs, np.empty(runs), np.empty(runs)])
        pair = np.sort(rng.integers(0, 9, count)).astype(np.int32)
        bodies = np.sort(rng.integers(0, 90, (2, 9)), axis=1).astype(np.int32)
        rows = [np.empty(count, np.int32), np.empty(count, np.int32)]
        most = min(count, 9)
        found = [np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most, np.uint8), np.empty(most, np.int32)]
        assert equal(label_runs, (pair, kind, rng.random(count), *bodies), [*rows, *found, np.empty(most)])


def test_missing_pairs():
    rng = np.random.default_rng(4)
    for _ in range(20):
        mine, theirs = (np.unique(rng.integers(0, 5, (int(rng.integers(0, 12)), 2)), axis=0).astype(np.int32).T for _ in range(2))
        assert equal(mark_missing, (*mine, *theirs), (np.empty(mine.shape[1], bool),))


def test_boxes_of_solids():
    rng = np.random.default_rng(5)
    frame = Frame.at_rest(
        Bodies(np.arange(3), ("a", "b", "c"), (icosphere(1), box(), random_soup(rng)), np.zeros(3, bool)),
        np.stack([random_pose(rng) for _ in range(3)]),
    )
    used = np.array([True, False, True])
    bodies = SolidBodies(frame, used, used)
    for unused_vertices in (used, ~used):
        assert equal(boxes_into, (bodies.table, used, unused_vertices), (np.empty((3, 6)),))


def test_the_context_ends_and_calls_may_come_later():
    assert not is_without_compiler()
    with without_compiler():
        assert is_without_compiler()
    with pytest.raises(ZeroDivisionError), without_compiler():
        _ = 1 / 0
    assert not is_without_compiler()
    assert called_without_compiler(is_without_compiler)()
    assert not is_without_compiler()


def test_a_kernel_is_interpreted_only_inside_the_context():
    with without_compiler():
        assert _twice("ab") == "abab"  # which no compiled kernel takes
        assert _twice.__call__ == _twice._first_call
    assert _twice(4) == 8
    assert _twice.__call__ == _twice.entry


POSES_THEN_ROWS = """
import sys
import jostle
from jostle.shapes.build import box

world = jostle.World("wide_tree")
world.add(box(), jostle.translation((0.1, 0.2, 0.3)))
world.add(box())
assert "numba" not in sys.modules
world.detect()
assert "numba" in sys.modules
"""


def test_placing_bodies_needs_no_numba():
    subprocess.run([sys.executable, "-c", POSES_THEN_ROWS], check=True)


WARMED_UP = """
import sys
from jostle.kernels.warmup import _serve

_serve([])
assert "jostle.kernels.dispatch" in sys.modules
"""


def test_a_warm_up_compiles_kernels_that_have_a_numpy_form():
    subprocess.run([sys.executable, "-c", WARMED_UP], input=b"", check=True)

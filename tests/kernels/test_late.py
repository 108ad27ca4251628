"""Late kernels: the caller is compiled without them, and calls them by address."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from jostle.geometry.triangle import Triangle
from jostle.geometry.vector import Vec3
from jostle.kernels.jit import JIT_DISABLED, kernel
from jostle.kernels.late import address_of, late_call


class Way(NamedTuple):
    corner: Vec3
    steps: int


@kernel
def along(face: Triangle, way: Way, scale: float) -> Vec3:
    """Return a point that depends on every argument."""
    total = face.p.x + face.q.y + face.r.z
    return Vec3(scale * total, way.corner.y, float(way.steps))


along_at = late_call(along)


@kernel
def calls(address: int, x: float) -> float:
    face = Triangle(Vec3(x, 0.0, 0.0), Vec3(0.0, x, 0.0), Vec3(0.0, 0.0, x))
    point = along_at(address, (face, Way(Vec3(0.0, 7.0, 0.0), 3), 2.0))
    return point.x + 10.0 * point.y + 100.0 * point.z


@kernel
def fails(x: float) -> float:
    if x < 0.0:
        raise ValueError("negative")
    return x


fails_at = late_call(fails)


@kernel
def calls_what_fails(address: int, x: float) -> float:
    return 1.0 + fails_at(address, (x,))


def test_arguments_and_result_pass_through():
    assert calls(address_of(along), 1.5) == 2.0 * 4.5 + 70.0 + 300.0
    assert address_of(along) == address_of(along)


def test_an_error_reaches_python():
    assert calls_what_fails(address_of(fails), 2.0) == 3.0
    with pytest.raises(ValueError, match="negative"):
        calls_what_fails(address_of(fails), -2.0)


@pytest.mark.skipif(JIT_DISABLED, reason="needs compiled kernels")
def test_the_caller_is_compiled_without_it():
    script = """
import json
from tests.kernels.test_late import along, calls
calls.entry.compile("(int64, float64)")
print(json.dumps([sorted(vars(along).keys() & {"entry", "inner"}), len(calls.signatures)]))
"""
    done = subprocess.run([sys.executable, "-c", script], env=os.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[], 1]


@pytest.mark.skipif(JIT_DISABLED, reason="needs compiled kernels")
def test_arguments_must_be_those_annotated():
    @kernel
    def wrong(address: int) -> float:
        return fails_at(address, (1,))

    with pytest.raises(Exception, match="its annotations say"):
        wrong(address_of(fails))

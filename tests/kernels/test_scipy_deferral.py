"""Numba's first use imports no `scipy.linalg`, and its own answers stay the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import jostle
from jostle.kernels.jit import JIT_DISABLED
from jostle.kernels.scipy_deferral import Deferred

compiled_only = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")

FIRST_USE = """
import json, sys
__BEFORE__
import numpy as np
from jostle.kernels.jit import kernel

@kernel
def total(values):
    return values.sum()

assert total(np.arange(4.0)) == 6.0
before = "scipy.linalg" in sys.modules
from numba.np import arraymath, linalg
assert arraymath.ensure_blas is linalg.ensure_blas
print(json.dumps([before, bool(arraymath._HAVE_BLAS), "scipy.linalg" in sys.modules]))
"""


@pytest.fixture
def first_use(tmp_path):
    """Return a function that runs a kernel beside a SciPy with some modules."""

    def run(*modules, before=""):
        for name in modules:
            file = tmp_path.joinpath(*name.split(".")[:-1], name.split(".")[-1] + ".py")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("__version__ = '1.17.1'\n")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "JOSTLE_COMPILE"))}
        environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(Path(jostle.__file__).parents[1])])
        script = FIRST_USE.replace("__BEFORE__", before)
        done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


@compiled_only
def test_scipy_is_imported_when_numba_asks_for_its_blas(first_use):
    assert first_use("scipy.__init__", "scipy.linalg.__init__", "scipy.linalg.cython_blas") == [False, True, True]


@compiled_only
def test_a_scipy_without_blas_is_none(first_use):
    assert first_use("scipy.__init__", "scipy.linalg.__init__") == [False, False, True]


@compiled_only
def test_where_numba_was_used_before_nothing_is_changed(first_use):
    modules = ("scipy.__init__", "scipy.linalg.__init__", "scipy.linalg.cython_blas")
    used = "import numba, numpy as np; numba.njit(lambda values: values.sum())(np.arange(4.0))"
    assert first_use(*modules, before=used) == [True, True, True]


@pytest.mark.small
def test_a_deferred_truth_is_computed_when_asked():
    asked = []
    deferred = Deferred(lambda: bool(asked.append(1)))
    assert asked == []
    assert not deferred
    assert asked == [1]

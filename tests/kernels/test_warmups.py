"""`jostle warmup`, and with it the wheel of compiled kernels, leaves out no kernel that Python calls."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from jostle.errors import InputError
from jostle.kernels.jit import JIT_DISABLED, Kernel
from tests.architecture.kernel_rules import findings

pytestmark = pytest.mark.long

OTHERWISE_USED = {
    "jostle.geometry.morton.morton_code": "interpreted",
    "jostle.geometry.triangle_box.triangle_meets_box_sat": "has another name, for kernels",
    "jostle.geometry.vector.cross": "Python uses that of NumPy",
    "jostle.kernels.random._wrapping_times": "the compiled twin of a function",
}
ON_DEVICES = {"jostle.methods.image_space.gpu.pieces.put_on_shelves", "jostle.methods.image_space.gpu.placing.place_pieces"}
WARM_UP = """
import importlib
from jostle.cli.warmup import MODULES
from jostle.kernels.jit import KERNELS
from jostle.kernels.warmup import WARMUPS

for module in MODULES:
    importlib.import_module(module)
for _, function in WARMUPS:
    function()
for name, kernel in KERNELS.items():
    if "entry" in vars(kernel):
        print(name)
"""


def kernels_that_python_calls() -> set[str]:
    found = set()
    for file, rules in findings().items():
        name = "jostle." + file.removesuffix(".py").replace("/", ".")
        module = importlib.import_module(name.removesuffix(".__init__"))
        found |= {one.name for one in map(vars(module).get, rules.used_by_python) if isinstance(one, Kernel)}
    return found


def has_a_device() -> bool:
    try:
        from jostle.methods.image_space.gpu.device import shared_device

        shared_device(only_real=False)
    except (ImportError, InputError):
        return False
    return True


@pytest.mark.skipif(JIT_DISABLED, reason="kernels are plain functions")
def test_warm_ups_call_every_kernel_that_python_calls():
    called = kernels_that_python_calls() - OTHERWISE_USED.keys() - (set() if has_a_device() else ON_DEVICES)
    assert len(called) > 150
    result = subprocess.run([sys.executable, "-c", WARM_UP], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert sorted(called - set(result.stdout.split())) == []

"""JOSTLE_COMPILE, and kernels where there is no Numba."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import jostle
from jostle.errors import InputError, Unsupported
from jostle.kernels.compile_setting import check_may_compile, may_compile, without_numba
from jostle.kernels.jit import JIT_DISABLED

compiled_only = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")

PACKAGE = """
from jostle.kernels.jit import kernel

@kernel
def doubled(x):
    return x + x

@kernel
def quadrupled(x):
    return doubled(doubled(x))
"""
ASK = """
import json, sys
from jostle.errors import JostleError, Unsupported
from jostle.kernels.jit import cache_statistics
from trial.kernels import doubled, quadrupled
answers = []
for call in (lambda: quadrupled(2.5), lambda: quadrupled(2.5), lambda: quadrupled(3)):
    try:
        answers.append(call())
    except JostleError as error:
        kind = Unsupported if isinstance(error, Unsupported) else type(error)
        answers.append(f"{kind.__name__}: {error}")
print(json.dumps([answers, cache_statistics.misses, "numba.core.typeinfer" in sys.modules]))
"""
HIDDEN = """
import sys

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
"""
WITHOUT_MEMORY = """
import sys

class Unloadable:
    def find_spec(self, name, path=None, target=None):
        if name == "llvmlite.binding":
            raise OSError("libllvmlite.so")

sys.meta_path.insert(0, Unloadable())
"""
NEVER = "Unsupported: kernel trial.kernels.quadrupled has no code in the cache, and JOSTLE_COMPILE=never forbids compiling it"


@pytest.fixture
def trial(tmp_path):
    """Return a function that asks a small package in a fresh process, with a cache of its own."""
    (tmp_path / "trial").mkdir()
    (tmp_path / "trial" / "__init__.py").write_text("")
    (tmp_path / "trial" / "kernels.py").write_text(PACKAGE)

    def ask(script=ASK, **settings):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "JOSTLE_"))}
        environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(Path(jostle.__file__).parents[1])])
        environment |= {"JOSTLE_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment | settings, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@compiled_only
def test_never_loads_from_the_cache_and_compiles_nothing(trial):
    refused, compiled, _ = trial(JOSTLE_COMPILE="never")
    assert all(answer.startswith(NEVER) for answer in refused[:2])
    assert refused[0].endswith("; unset JOSTLE_COMPILE, or use method='plain', which needs no compiler")
    assert compiled == 0
    assert trial(JOSTLE_COMPILE="foreground")[:2] == [[10.0, 10.0, 12], 4]  # of floats and of integers, both kernels
    assert trial(JOSTLE_COMPILE="never")[:2] == [[10.0, 10.0, 12], 0]


@compiled_only
def test_a_kernel_with_code_for_other_types_only_is_refused(trial):
    trial(ASK.replace("quadrupled(3)", "quadrupled(2.5)"))
    answers, compiled, _ = trial(JOSTLE_COMPILE="never")
    assert answers[:2] == [10.0, 10.0]
    assert answers[2].startswith(NEVER)
    assert compiled == 0


@compiled_only
def test_a_kernel_that_was_refused_can_be_interpreted(trial):
    again = (
        "from jostle.kernels.interpreting import without_compiler\nwith without_compiler():\n    answers.append(quadrupled(2.5))\n"
    )
    answers, compiled, _ = trial(ASK.replace("print(", again + "print("), JOSTLE_COMPILE="never")
    assert all(answer.startswith(NEVER) for answer in answers[:3])
    assert answers[3] == 10.0
    assert compiled == 0


@compiled_only
@pytest.mark.parametrize(
    ("without", "reason", "cure"),
    [
        (HIDDEN, "No module named 'numba'", "pip install numba"),
        (WITHOUT_MEMORY, "OSError: libllvmlite.so", "allow the process more memory, or install Numba again"),
    ],
    ids=["no Numba", "no memory for LLVM"],
)
def test_where_numba_cannot_be_imported_every_call_is_refused_with_the_cure(trial, without, reason, cure):
    answers, compiled, _ = trial(without + ASK)
    expected = (
        f"Unsupported: kernel trial.kernels.quadrupled needs Numba, which cannot be imported ({reason}); "
        f"{cure}, or use method='plain', which needs no compiler"
    )
    assert answers == [expected] * 3
    assert compiled == 0


def test_with_the_compiler_disabled_kernels_need_neither_numba_nor_permission(trial):
    assert trial(HIDDEN + ASK, NUMBA_DISABLE_JIT="1", JOSTLE_COMPILE="never") == [[10.0, 10.0, 12], 0, False]


@compiled_only
def test_an_unknown_setting_is_named_before_numba_is_imported(trial):
    answers, _, imported = trial(JOSTLE_COMPILE="Never")
    assert answers == ["InputError: environment: JOSTLE_COMPILE is 'Never'; it must be foreground or never, or not set"] * 3
    assert not imported


@pytest.mark.small
@pytest.mark.parametrize(("setting", "allowed"), [(None, True), ("", True), ("foreground", True), ("never", False)])
def test_settings(monkeypatch, setting, allowed):
    monkeypatch.delenv("JOSTLE_COMPILE", raising=False)
    if setting is not None:
        monkeypatch.setenv("JOSTLE_COMPILE", setting)
    assert may_compile() == allowed


@pytest.mark.small
def test_refusals_name_the_method_and_what_is_wrong_with_numba(monkeypatch):
    monkeypatch.setenv("JOSTLE_COMPILE", "never")
    with pytest.raises(Unsupported, match=r"^method voxmap: kernel jostle\.methods\.voxmap\.look_up\.hits has no code"):
        check_may_compile("jostle.methods.voxmap.look_up.hits")
    with pytest.raises(Unsupported, match=r"^kernel jostle\.geometry\.winding\.turns has no code"):
        check_may_compile("jostle.geometry.winding.turns")
    too_old = without_numba("mine.a", ImportError("Numba needs NumPy 2.5 or less"))
    assert str(too_old).startswith("kernel mine.a needs Numba, which cannot be imported (Numba needs NumPy 2.5 or less); install a")
    monkeypatch.setenv("JOSTLE_COMPILE", "background")
    with pytest.raises(InputError, match="JOSTLE_COMPILE is 'background'"):
        check_may_compile("mine.a")

"""A wheel of compiled kernels is used if it fits, and otherwise ignored with a word; shown on a small package."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import llvmlite.binding as llvm
import pytest

from jostle.kernels import shipped
from tests.kernels.test_cache import ASK, CALLEE, RIGHT, Trial, answer_of

pytestmark = pytest.mark.long  # and a pass with checked indices would only repeat it: the processes here have settings of their own

ROOT = Path(__file__).parents[2]
MACHINE = llvm.get_default_triple().partition("-")[0]
FROM_WHEEL = {"answer": RIGHT, "hits": 3, "misses": 0, "saves": 0, "failures": {}}
COMPILED = {"answer": RIGHT, "hits": 0, "misses": 4, "saves": 4, "failures": {}}


def runs_here(baseline: shipped.Baseline) -> bool:
    host = llvm.get_host_cpu_features() if baseline.needs else {}
    return all(host.get(name) for name in baseline.needs)


if MACHINE not in shipped.TARGETS or not runs_here(shipped.TARGETS[MACHINE]):
    pytest.skip("this processor is older than what kernels are shipped for", allow_module_level=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Trial:
    """The small package with its wheel installed beside it, and an empty cache."""
    trial = Trial(tmp_path_factory.mktemp("built") / "work").write()
    maker = runpy.run_path(str(ROOT / "release" / "kernels_wheel.py"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(trial.folder))
        patch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        target = maker["baseline"]()
        manifest, files = maker["compiled"]("trial", [sys.executable, "-c", ASK, "2"], target, trial.folder / "made")
    assert (len(files), manifest["cpu"]) == (4, target.cpu)
    wheel = maker["write_wheel"]("trial", "1.0", manifest, files, trial.folder / "dist")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(trial.folder)
    assert not trial.cache.exists()
    return trial


def manifest_of(trial: Trial) -> Path:
    return trial.folder / "trial_kernels" / shipped.MANIFEST


def test_kernels_of_a_wheel_are_found_before_the_cache(built, tmp_path):
    trial = built.copy(tmp_path)
    assert trial.run() == FROM_WHEEL
    assert not trial.cache.exists()
    # Whoever wants code for this very processor gets it, and it stays in the cache beside.
    assert trial.run(JOSTLE_COMPILED="0") == COMPILED
    assert trial.run(JOSTLE_COMPILED="0") == FROM_WHEEL
    for file in trial.files:
        file.write_bytes(b"")
    assert trial.run() == FROM_WHEEL


def test_inner_forms_of_a_wheel_are_linked_into_kernels_that_it_lacks(built, tmp_path):
    trial = built.copy(tmp_path)
    for file in (trial.folder / "trial_kernels" / shipped.CODE).glob("trial.caller.outer-*"):
        file.unlink()
    assert trial.run() == {"answer": RIGHT, "hits": 3, "misses": 1, "saves": 1, "failures": {}}
    assert [file.name.split("-")[0] for file in trial.files] == ["trial.caller.outer"]
    assert trial.run() == FROM_WHEEL


def test_a_wheel_is_installed_by_pip(built, tmp_path):
    (wheel,) = (built.folder / "dist").glob("*.whl")
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", "--target", tmp_path, wheel]
    subprocess.run(command, check=True)
    names = {path.name for path in (tmp_path / "trial_kernels").iterdir()} - {"__pycache__"}
    assert names == {"__init__.py", shipped.MANIFEST, shipped.CODE}
    text = next(tmp_path.glob("*.dist-info/METADATA")).read_text()
    assert "Name: trial-kernels\nVersion: 1.0\n" in text
    assert "Requires-Dist: trial==1.0\nRequires-Dist: numba==" in text


FOREIGN = {
    "python": (".cpython-39.so 00", "they are for Python .cpython-39.so 00, this is "),
    "numba": ("0.1", "they are for Numba 0.1, this is "),
    "llvmlite": ("0.2", "they are for llvmlite 0.2, this is "),
    "numpy": ("1.9", "they are for NumPy 1.9, this is "),
    "triple": ("sparc-sun-solaris", "they are for platform sparc-sun-solaris, this is "),
    "needs": (["time travel"], "and this processor lacks time travel; "),
    "sources": ({}, "they are of other sources than those installed; "),
    "settings": (None, "manifest.json cannot be read (TypeError); "),
}


@pytest.mark.parametrize("field", FOREIGN)
def test_a_foreign_wheel_is_ignored_with_a_word(built, tmp_path, field):
    trial = built.copy(tmp_path)
    content = json.loads(manifest_of(trial).read_text())
    assert field in content
    content[field], reason = FOREIGN[field]
    manifest_of(trial).write_text(json.dumps(content))
    assert_ignored(trial, reason)


def test_a_stale_wheel_is_ignored_with_a_word(built, tmp_path):
    trial = built.copy(tmp_path)
    # `twice` does not see the callee: its file would fit, but a wheel is used whole or not at all.
    (trial.package / "callee.py").write_text(CALLEE.replace("* 3", "* 5"))
    assert_ignored(trial, FOREIGN["sources"][1], answer=[11.0, 8.0, 25.0])


def test_a_wheel_without_its_manifest_is_ignored_with_a_word(built, tmp_path):
    trial = built.copy(tmp_path)
    manifest_of(trial).write_text("{")
    assert_ignored(trial, "manifest.json cannot be read (JSONDecodeError); ")
    manifest_of(trial).unlink()
    assert trial.run() == FROM_WHEEL  # by the cache, and JOSTLE_QUIET silences the sentence


def assert_ignored(trial: Trial, reason: str, answer: list[float] = RIGHT) -> None:
    out, err = trial.start("2", JOSTLE_QUIET="0").communicate(timeout=120)
    said = [line for line in err.splitlines() if "ignoring" in line]
    assert len(said) == 1, err
    assert f"jostle: ignoring the compiled kernels in {trial.folder / 'trial_kernels'}: " in said[0]
    assert reason in said[0]
    assert said[0].endswith("pip uninstall trial-kernels removes them")
    assert json.loads(out) == {**COMPILED, "answer": answer}


@pytest.mark.parametrize("wish", ["NUMBA_BOUNDSCHECK=1", "NUMBA_OPT=1", "NUMBA_CPU_NAME=generic"])
def test_other_code_is_compiled_for_whoever_asks_for_it(built, tmp_path, wish):
    trial = built.copy(tmp_path)
    name, _, value = wish.partition("=")
    process = trial.start("2", JOSTLE_QUIET="0", **{name: value})
    assert answer_of(process) == COMPILED


def test_a_damaged_file_is_compiled(built, tmp_path):
    trial = built.copy(tmp_path)
    (file,) = (trial.folder / "trial_kernels" / shipped.CODE).glob("trial.caller.twice-*")
    file.write_bytes(file.read_bytes()[:-1])
    assert trial.run() == {"answer": RIGHT, "hits": 2, "misses": 1, "saves": 1, "failures": {"load: ValueError": 1}}
    assert trial.run() == {**FROM_WHEEL, "failures": {"load: ValueError": 1}}


def test_the_extra_asks_for_the_wheel_of_this_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["compiled"] == [f"{shipped.distribution('jostle')}=={project['version']}"]

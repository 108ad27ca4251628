"""Warm-up in other processes: distribution, reports, cache, failures, Ctrl-C."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jostle import errors
from jostle.kernels import warmup

ENTRIES = """
import os, sys, time
from jostle.kernels.jit import kernel
from jostle.kernels.warmup import warms

def note(name):
    with open(os.environ["NOTES"], "a") as file:
        file.write(f"{name} {os.getpid()}\\n")

@kernel
def double(x):
    return x + x

@warms("double")
def _():
    note("double")
    assert double(2.0) == 4.0

@warms("noisy")
def _():
    note("noisy")
    print("this must not disturb the answers")
    os.write(1, b"nor this")

@warms("raises")
def _():
    note("raises")
    raise ValueError("on purpose")

@warms("dies")
def _():
    note("dies")
    os._exit(7)

@warms("last")
def _():
    note("last")

@warms("sleeps")
def _():
    note("sleeps")
    time.sleep(60)
"""
RUN = """
import json, os
from jostle.kernels.warmup import warm_up
seen = []
names = ["double", "noisy", "raises", "dies", "last"]
outcomes = warm_up(["warmed.entries"], names, processes=2, progress=lambda *report: seen.append(report))
print(json.dumps({"outcomes": outcomes, "seen": seen, "own": os.getpid()}))
from warmed.entries import double
from jostle.kernels.jit import cache_statistics
double(3.0)
print(json.dumps(cache_statistics.as_dict()))
"""
INTERRUPTED = """
from jostle.kernels.warmup import warm_up
try:
    warm_up(["warmed.entries"], ["sleeps"])
except KeyboardInterrupt:
    print("heard")
"""

KEPT_OFF = """
import os, time
from pathlib import Path
from jostle.kernels.warmup import WarmUp

def processors():
    process = Path(os.environ["NOTES"]).read_text().split()[1]
    return {frozenset(os.sched_getaffinity(int(thread.name))) for thread in Path(f"/proc/{process}/task").iterdir()}

usable = os.sched_getaffinity(0)
with WarmUp(["warmed.entries"], ["sleeps"]) as running:
    while not Path(os.environ["NOTES"]).read_text().endswith("\\n"):
        assert running.next_outcome(0.01) is None
    with running.kept_off([max(usable)]):
        assert processors() == {frozenset(usable - {max(usable)} or usable)}
    assert processors() == {frozenset(usable)}
    with running.kept_off(usable):
        assert processors() == {frozenset(usable)}
    assert (running.left, running.ended, running.compiled) == (True, 0, 0)
"""


@pytest.fixture
def environment(tmp_path) -> dict[str, str]:
    package = tmp_path / "warmed"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "entries.py").write_text(ENTRIES)
    (tmp_path / "notes").write_text("")
    # A copy of our own: with the sources under somebody's hands the cache would rightly save nothing.
    shutil.copytree(Path(warmup.__file__).parent, tmp_path / "jostle" / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "jostle" / "__init__.py").write_text("")
    shutil.copy(errors.__file__, tmp_path / "jostle" / "errors.py")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "JOSTLE_"))}
    clean |= {"PYTHONPATH": str(tmp_path), "JOSTLE_CACHE_DIR": str(tmp_path / "cache"), "JOSTLE_QUIET": "1"}
    return clean | {"NOTES": str(tmp_path / "notes")}


def test_entries_run_once_each_and_fill_the_cache(environment, tmp_path):
    done = subprocess.run([sys.executable, "-c", RUN], env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    report, statistics = map(json.loads, done.stdout.splitlines())
    names, seconds, errors = zip(*report["outcomes"], strict=True)
    assert names == ("double", "noisy", "raises", "dies", "last")
    assert all(one > 0 for one in seconds)
    assert (errors[0], errors[1], errors[2], errors[4]) == (None, None, "ValueError: on purpose", None)
    assert "code 7" in errors[3]
    ended = {name: (done, total) for done, total, name, _ in report["seen"] if name}
    assert sorted(ended.values()) == [(k, 5) for k in range(1, 6)]
    assert sorted(ended) == sorted(names)
    compiled = [kernels for *_, kernels in report["seen"]]
    assert compiled == sorted(compiled)
    assert compiled[-1] == 1
    notes = [line.split() for line in (tmp_path / "notes").read_text().splitlines()]
    assert sorted(name for name, _ in notes) == sorted(names)
    assert len({process for _, process in notes}) in (2, 3)  # two, and one more if the dead one was needed again
    assert str(report["own"]) not in {process for _, process in notes}
    assert statistics == {"hits": 1, "misses": 0, "saves": 0, "failures": {}}


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX")
def test_an_interrupt_ends_the_processes(environment, tmp_path):
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], env=environment, stdout=subprocess.PIPE, text=True)
    notes = tmp_path / "notes"
    while not notes.read_text().endswith("\n"):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)  # to the parent alone, unlike the terminal's Ctrl-C
    out, _ = process.communicate(timeout=30)
    assert out == "heard\n"
    child = int(notes.read_text().split()[1])
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot bind a process to processors")
def test_the_processes_keep_off_a_processor_for_a_while(environment):
    done = subprocess.run(
        [sys.executable, "-c", KEPT_OFF], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stderr, done.returncode) == ("", 0)


@pytest.mark.small
def test_unknown_and_double_names_are_refused(monkeypatch):
    monkeypatch.setattr(warmup, "WARMUPS", [])
    warmup.warms("one")(lambda: None)
    with pytest.raises(ValueError, match="'one'"):
        warmup.warms("one")(lambda: None)
    with pytest.raises(ValueError, match="'two'"):
        warmup.warm_up(["jostle.kernels"], ["one", "two"])
    assert warmup.warm_up([], []) == []

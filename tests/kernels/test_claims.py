"""Claims: one process at a time, and never longer than its owner lives."""

from __future__ import annotations

import subprocess
import sys

import pytest

from jostle.kernels import claims
from jostle.kernels.claims import ENDING, claim

pytestmark = pytest.mark.skipif(claims.fcntl is None, reason="needs locks")

HOLD = """
import sys, time
from pathlib import Path
from jostle.kernels.claims import claim
held = claim(Path(sys.argv[1]))
print(held is not None, flush=True)
time.sleep(600)
"""


def test_a_claim_is_exclusive_and_leaves_no_file(tmp_path):
    file = tmp_path / "one.kernel"
    first = claim(file)
    assert first is not None
    asked = []
    assert claim(file, give_up=lambda: bool(asked.append(1)) or len(asked) > 2) is None
    assert len(asked) == 3
    first.release()
    second = claim(file)
    assert second is not None
    second.release()
    assert not list(tmp_path.iterdir())


def test_the_claim_of_a_killed_process_is_free(tmp_path):
    file = tmp_path / "one.kernel"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(file)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    assert claim(file, give_up=lambda: True) is None
    holder.kill()
    holder.communicate()
    assert file.with_name(file.name + ENDING).exists()
    made = claim(file, give_up=lambda: True)
    assert made is not None
    made.release()


def test_after_some_patience_it_gives_up(tmp_path, monkeypatch):
    monkeypatch.setattr(claims, "PATIENCE_SECONDS", 0.0)
    held = claim(tmp_path / "one.kernel")
    assert claim(tmp_path / "one.kernel") is None
    assert held is not None
    held.release()


def test_without_a_folder_or_locks_there_is_none(tmp_path, monkeypatch):
    assert claim(tmp_path / "missing" / "one.kernel") is None
    monkeypatch.setattr(claims, "fcntl", None)
    assert claim(tmp_path / "one.kernel") is None

"""A short run of the fuzzer, the same each time. `python -m tests.fuzz` runs for longer."""

from __future__ import annotations

import sys

import pytest

from jostle.shapes.load import load
from tests.fuzz.corpus import FORMATS, corpus
from tests.fuzz.run import fuzz, mutation

if sys.platform != "linux":
    pytest.skip("the fuzzer limits the address space as Linux does", allow_module_level=True)

FILES = 300


@pytest.mark.parametrize("ending", [ending for ending in FORMATS if ending != "dae"])
def test_mutated_files_load_or_are_refused(ending):
    result = fuzz(ending, seed=1, files=FILES)
    assert result.findings == {}
    assert result.counts["loaded"] + result.counts["refused"] == FILES
    assert result.counts["loaded"] > 10  # mutations that break every file would test nothing
    assert result.counts["refused"] > 10


@pytest.mark.parametrize("ending", [ending for ending in FORMATS if ending != "dae"])
def test_what_mutations_start_from_is_good(tmp_path, ending):
    for data in corpus(ending):
        (tmp_path / f"good.{ending}").write_bytes(data)
        assert len(load(tmp_path / f"good.{ending}").faces) > 0


def test_a_mutation_is_made_from_its_number_alone():
    assert mutation("ply", 1, 7) == mutation("ply", 1, 7)
    assert len({mutation("gltf", 1, k) for k in range(50)}) > 40

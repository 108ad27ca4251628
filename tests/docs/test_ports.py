"""Ports on the pages "Coming from": the other library's code runs, too, and gives the same answers."""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

PAGES = Path(__file__).parents[2] / "docs" / "coming_from"
BLOCK = re.compile(r"^```python(?: no-run)?\n(.*?)^```", re.MULTILINE | re.DOTALL)


def both_sides(name, folder, monkeypatch, *shorter):
    """Run all blocks of a page, those of the other library as well, and return what they define."""
    monkeypatch.chdir(folder)
    text = (PAGES / f"{name}.md").read_text(encoding="utf-8")
    for long, short in shorter:
        assert long in text
        text = text.replace(long, short)
    names = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for code in BLOCK.findall(text):
            exec(code, names)
    return names


def test_trimesh(tmp_path, monkeypatch):
    pytest.importorskip("fcl")
    pytest.importorskip("trimesh")
    names = both_sides("trimesh", tmp_path, monkeypatch, ("range(1000)", "range(60)"), ("range(8)", "range(3)"))
    assert names["hits"] == names["their_hits"]
    assert len({frozenset(each) for each in names["hits"]}) > 2
    np.testing.assert_allclose(names["found"].distance, names["their_room"], atol=1e-8)


def test_fcl(tmp_path, monkeypatch):
    pytest.importorskip("fcl")
    names = both_sides("fcl", tmp_path, monkeypatch)
    assert (~names["batch"].touching).tolist() == names["their_valid"] == [names["valid"](q) for q in names["states"]]
    ways = list(zip(names["start"], names["ends"], strict=True))
    assert [names["way_is_free"](*way) for way in ways[:60]] == (names["parts"][:60] == 1).tolist()


def test_coal(tmp_path, monkeypatch):
    pytest.importorskip("coal")
    names = both_sides("coal", tmp_path, monkeypatch)
    near, theirs = names["near"], names["theirs"]
    assert list(near.pairs) == list(theirs)
    np.testing.assert_allclose(near.contacts.distance, [distance for distance, *_ in theirs.values()], atol=1e-12)
    assert names["touching"].tolist() == names["hits"]


def test_ipctk(tmp_path, monkeypatch):
    pytest.importorskip("ipctk")
    names = both_sides("ipctk", tmp_path, monkeypatch)
    mesh, ends = names["mesh"], (names["v0"], names["v1"])
    theirs = names["ipctk"].compute_collision_free_stepsize(mesh, *ends, min_distance=1e-3)
    assert theirs <= names["step"] <= theirs + 1e-4  # theirs is early on purpose
    assert names["hit"]


def test_meshlib(tmp_path, monkeypatch):
    pytest.importorskip("meshlib")
    names = both_sides("meshlib", tmp_path, monkeypatch)
    assert names["ours"] == names["theirs"]
    assert names["signed"].signedDist == pytest.approx(-0.1, abs=1e-6)
    assert len(names["pairs"]) == 65

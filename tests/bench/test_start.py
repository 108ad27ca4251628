"""`jostle bench start`: what is measured and how it is shown; nothing here depends on a clock."""

import pytest

from jostle.bench import start
from jostle.errors import JostleError


@pytest.fixture
def few(monkeypatch):
    """Three starts, none of which compiles."""
    chosen = (start.UNIT, "jostle --help", "jostle check of two files, 5,120 faces each")
    every = start.starts
    monkeypatch.setattr(start, "starts", lambda files: [each for each in every(files) if each.name in chosen])


def test_rounds_are_interleaved_and_nothing_is_compiled(few):
    steps = []
    found = start.measure(2, lambda done, total, what: steps.append(what))
    names = [each.start.name for each in found]
    assert steps == names * 2
    assert [(len(each.seconds), each.compiled) for each in found] == [(2, 0)] * 3
    assert all(each.median > 0.0 for each in found)


def test_a_cold_start_is_measured_once_in_a_cache_of_its_own(monkeypatch):
    caches = []
    monkeypatch.setattr(start, "starts", lambda files: [start.Start("a", ""), start.Start("b", "", cold=True)])
    monkeypatch.setattr(start, "_run", lambda each, cache: caches.append((each.name, cache.name)) or (1.0, 7))
    found = start.measure(3)
    assert [(len(each.seconds), each.compiled) for each in found] == [(3, 7), (1, 7)]
    assert caches == [("a", "warm"), ("a", "warm"), ("b", "cold 1"), ("a", "warm"), ("a", "warm")]


def test_a_process_that_fails_is_named(monkeypatch):
    monkeypatch.setattr(start, "starts", lambda files: [start.Start("broken", "import nothing_of_this_name")])
    with pytest.raises(JostleError, match=r"(?s)^broken: the process ended with 1: .*nothing_of_this_name"):
        start.measure(1)


def test_the_table_has_ratios():
    found = [start.Measured(start.Start(start.UNIT, ""), [0.2, 0.1, 0.4]), start.Measured(start.Start("x", ""), [0.5], 1234)]
    assert start.as_markdown(found).splitlines()[2:] == ["| import numpy | 0.200 | 1.00 | 0 |", "| x | 0.500 | 2.50 | 1,234 |"]

"""The tables and the picture of docs/choosing are those that their scripts make; what was measured is not measured again here."""

import runpy
from pathlib import Path

import pytest

from jostle.registry import METHODS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def measured():
    return runpy.run_path(str(DOCS / "measure_calls.py"))


@pytest.fixture
def page(request):
    return (DOCS / "choosing" / request.param).read_text(encoding="utf-8")


def test_the_picture_is_of_now():
    made = runpy.run_path(str(DOCS / "make_decision.py"))
    assert made["FIGURE"].read_text(encoding="utf-8") == made["figure"](), "python docs/make_decision.py"
    assert {name for _, name, _ in made["QUESTIONS"]} | {made["OTHERWISE"][1]} <= set(METHODS)


@pytest.mark.parametrize("page", ["which_method.md"], indirect=True)
def test_the_costs_beside_the_questions_are_those_of_the_methods(page, measured):
    assert "\n".join(measured["questions"]()) in page, "python docs/measure_calls.py questions"
    assert all(f"| {label} |" in page for _, label, _ in measured["VARIANTS"])


@pytest.mark.parametrize("page", ["which_call.md"], indirect=True)
def test_every_call_of_the_script_is_on_the_page(page, measured):
    names = [call.name for calls in measured["CALLS"].values() for call in calls] + list(measured["FIRST"])
    assert [name for name in names if f"| {name} |" not in page] == [], "python docs/measure_calls.py calls first"


def test_a_call_of_the_script_is_timed(measured, monkeypatch):
    monkeypatch.setitem(measured["time_call"].__globals__, "ROUNDS", 1)
    call = measured["CALLS"][measured["PAIR_OF_BODIES"]][0]
    timed = measured["time_call"](call, measured["meshes"]()["12 faces"])
    assert 0.0 < timed.median <= timed.slowest

"""Verdicts as Markdown."""

import pytest

from jostle.lab.markdown import verdicts_as_markdown
from jostle.lab.results import ExperimentResult, Verdict

pytestmark = pytest.mark.small


def result_with(*verdicts, **fields):
    machine = {"cpu": "a processor", "system": "a system", "python": "3", "numba": "0", "load_average": [0.25, 0, 0]}
    return ExperimentResult("name", "A title", verdicts=list(verdicts), machine=machine, command="jostle lab run name", **fields)


def test_a_verdict_says_claim_printed_values_ours_and_why():
    verdict = Verdict("key", "§1, fig. 2", "It is fast.", "partly", "It is not slow.", "3 ms", "1 ms")
    text = verdicts_as_markdown([result_with(verdict, figure="fig. 2", caption="What it shows.")])
    assert text.splitlines() == [
        "## fig. 2: A title",
        "",
        "What it shows.",
        "",
        "**partly** (§1, fig. 2): It is fast.",
        "- *printed*: 3 ms",
        "- *here*: 1 ms",
        "- It is not slow.",
        "",
        "`jostle lab run name`, a processor, a system, Python 3, Numba 0, load average at the start 0.25.",
    ]


def test_runs_without_verdicts_are_left_out_and_nothing_is_printed_that_is_not_there():
    verdict = Verdict("key", "§1", "It is fast.", "not judged", "It did not take part.")
    text = verdicts_as_markdown([result_with(), result_with(verdict, about="About it.")])
    assert text.count("## ") == 1
    assert "About it." in text
    assert "printed" not in text
    assert verdicts_as_markdown([result_with()]) == ""


def test_paragraphs_and_items_wrap_at_120_columns():
    verdict = Verdict("key", "§1", "It is fast. " * 20, "partly", "It is not slow. " * 20, "3 ms " * 40, "1 ms " * 40)
    text = verdicts_as_markdown([result_with(verdict, caption="What it shows. " * 20)])
    assert max(map(len, text.splitlines())) <= 120
    assert [line[:2] for line in text.splitlines() if line.startswith(("- ", "  "))] == ["- ", "  ", "- ", "  ", "- ", "  ", "  "]

"""wide_tree does no more work for any kind of mesh than recorded: operations are counted, nothing is timed.

`python -m tests.bench.kind_counts` records the table again; do so when the work became less, so that it stays so.
"""

import pytest

from jostle.kernels.jit import JIT_DISABLED
from tests.bench import kind_counts

MORE = 1.05  # times the recorded count


@pytest.mark.skipif(JIT_DISABLED, reason="takes minutes as plain Python")
def test_no_kind_takes_more_operations_than_recorded():
    table = kind_counts.recorded(kind_counts.TABLE.read_text())
    exceeded = []
    for case in kind_counts.every_case():
        before = table.pop(case.label)
        counts, _ = kind_counts.count(case)
        exceeded += exceeding(case.label, counts, before)
    assert not exceeded, "\n".join(exceeded)
    assert not table, f"these are recorded but not counted: {list(table)}"


def exceeding(label, counts, before):
    """Return a sentence for each count that is too large, and for rows that are not those recorded."""
    said = []
    for name in sorted({*counts, *before}):
        now, then = counts.get(name, 0), before.get(name, 0)
        if now != then if name == "rows" else now > MORE * then:
            said.append(f"{', '.join(label)}: {name} is {now}, recorded is {then}")
    return said


@pytest.mark.small
def test_a_count_that_is_exceeded_is_named():
    label = ("pipe", "128 segments", "all rows")
    before = {"box_tests": 1000, "triangle_tests": 100, "rows": 7}
    assert exceeding(label, {"box_tests": 1050, "triangle_tests": 3, "rows": 7}, before) == []
    assert exceeding(label, {"box_tests": 1051, "triangle_tests": 105, "rows": 7}, before) == [
        "pipe, 128 segments, all rows: box_tests is 1051, recorded is 1000"
    ]
    assert exceeding(label, before | {"distance_tests": 1}, before) != []
    assert exceeding(label, before | {"rows": 6}, before) == ["pipe, 128 segments, all rows: rows is 6, recorded is 7"]


@pytest.mark.small
def test_a_line_is_read_as_it_was_written():
    (case,) = [case for case in kind_counts.KindCases(["plate"], kind_counts.GUARDED) if case.label.asked == "distance"][:1]
    line = kind_counts.line_of(case, {"node_tests": 12, "face_tests": 3})
    assert kind_counts.recorded(line) == {case.label: {"node_tests": 12, "face_tests": 3}}

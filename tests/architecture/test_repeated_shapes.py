"""No two places of the source share twelve statements in shape, and a repetition would be found."""

from pathlib import Path

import pytest

from tests.architecture.repeated_shapes import FEWEST, repetitions, sources_in

pytestmark = pytest.mark.small

ROOT = Path(__file__).parents[2]

SEARCH = '''
def search(items, wanted):
    """Return what is found."""
    import math
    found = []
    for item in items:
        size = item.size + 1
        if size > wanted:
            found.append(size)
        else:
            found.append(wanted)
    found.sort()
    total = sum(found)
    mean = total / len(found)
    while mean > 1:
        mean -= 1.0
    return mean, math.pi
'''
SAME_SHAPE = """
class Reader:
    limit: int = 3

    def count(self, rows: list, least: float) -> tuple:
        self.check(rows)
        kept = {}
        kept = []
        for row in rows:
            length = row.length + 2
            if length > least:
                kept.insert(length)
            else:
                kept.remove(least)
        kept.reverse()
        whole = max(kept)
        share = whole / any(kept)
        while share > 7:
            share -= 0.5
        return kept
"""


def test_no_two_places_share_twelve_statements():
    found = repetitions(sources_in(ROOT / "src" / "jostle"))
    assert not found, "say it once:\n" + "\n".join(map(str, found))


def test_a_repetition_is_found_under_other_names_inside_of_a_longer_function():
    found = repetitions({"search.py": SEARCH, "reader.py": SAME_SHAPE}, fewest=11)
    assert [(each.statements, each.one, each.other) for each in found] == [(11, ("search.py", 5, 16), ("reader.py", 8, 19))]
    assert not repetitions({"search.py": SEARCH, "reader.py": SAME_SHAPE}, fewest=12)


def test_a_repetition_within_one_file_is_found():
    statements = 13  # the function itself, and what is in it without docstring and import
    found = repetitions({"search.py": SEARCH + SEARCH})
    assert [each.statements for each in found] == [statements]
    assert statements >= FEWEST


def test_another_operation_or_nesting_is_another_shape():
    assert not repetitions({"a.py": SEARCH, "b.py": SEARCH.replace("size > wanted", "size < wanted")})
    assert not repetitions({"a.py": SEARCH, "b.py": SEARCH.replace("    found.sort()", "        found.sort()")})


def test_lists_of_data_are_no_repetition():
    fields = "class Record:\n" + "".join(f"    field_{k}: int = {k}\n" for k in range(20))
    assert not repetitions({"a.py": fields, "b.py": fields})

"""What an answer of `plain` costs, in operations of about a microsecond.

Fitted to the CPU time of some scenes on one machine, and good to a factor of two. The default engine adds up these numbers instead
of measuring time (`world/gears.py`), so that what it does can be repeated.
"""

from __future__ import annotations

from jostle.report.report import Counters

ANSWER = 700
FACE, BOX_TEST, TRIANGLE_TEST, DISTANCE_TEST = 0.1, 0.03, 0.2, 2.2
SOLID = 2  # times as much
DETAIL = 80


def least_operations(faces: int) -> int:
    """Return the operations of any answer: all faces are placed."""
    return ANSWER + int(FACE * faces)


def operations_of(counters: Counters, faces: int, solid: bool = False) -> int:
    """Return the operations of an answer about bodies with so many faces."""
    tests = BOX_TEST * counters.box_tests + TRIANGLE_TEST * counters.triangle_tests + DISTANCE_TEST * counters.distance_tests
    return (SOLID if solid else 1) * (least_operations(faces) + int(tests))


def operations_of_details(rows: int) -> int:
    """Return the operations of the segments and normals of so many rows."""
    return DETAIL * rows

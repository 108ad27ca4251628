"""Data of the solid kernels: body pairs with rows, marks, answers."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jostle._types import Bools, Ints
from jostle.kernels.structs import Record, Rows, Run, Struct, float64, int64, opener, uint8
from jostle.report.containment.solid_bodies import SolidBody

# The subject of a question, which may lie inside: a part that touches nothing, a part that touches, or a sheet.
FREE_PART, TOUCHING_PART, SHEET = 0, 1, 2

TOUCHED, ALONG_EDGES, CROSSED = 1, 2, 4  # marks of parts and sheets

UNTESTED = 3  # besides APART, MEETING and UNDECIDED: bodies that share no point, cross or are open


class Marks(Record):
    """The marks of sheet i and part i, of body a and of body b."""

    sheet: Run[uint8, Literal[2]]
    part: Run[uint8, Literal[2]]


class Question(Record):
    """A question for the winding number of the other body."""

    pair: int64
    of_b: int64  # whether b may lie inside a, instead of a inside b
    subject: int64  # FREE_PART, TOUCHING_PART or SHEET
    face: int64  # of the part or sheet
    flag: Run[float64, Literal[9]]  # a corner of it, or a point beside it (`geometry/winding.py`)


class ContactWork(Struct):
    """Scratch memory kept between calls, and the remaining questions."""

    marks: Rows[Marks]  # for the most sheets or parts of a body
    questions: Rows[Question]


open_work = opener(ContactWork)


class PairRows(NamedTuple):
    """Body pairs by number, and all rows of their faces."""

    body_a: Ints  # (n,)
    body_b: Ints
    first: NDArray[np.int64]  # (n,) first row of each pair
    last: NDArray[np.int64]  # (n,) the one after the last
    face_a: Ints  # (rows,)
    face_b: Ints
    kind: NDArray[np.uint8]


class PairAnswers(NamedTuple):
    """The findings along edges."""

    meet: NDArray[np.uint8]  # (n,) of each pair APART, MEETING, UNDECIDED or UNTESTED
    undecided: Bools  # (rows,) whether a row has an edge that was not decided


class ContactRows(NamedTuple):
    """Rows of faces, without counted references."""

    face_a: Ints
    face_b: Ints
    kind: NDArray[np.uint8]
    undecided: Bools


class SolidPair(NamedTuple):
    """Two bodies and their rows."""

    a: SolidBody
    b: SolidBody
    first_row: int
    last_row: int

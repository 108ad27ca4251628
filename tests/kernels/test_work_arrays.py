"""Arrays of a struct: made by their lengths, replaced and doubled, always with their addresses."""

import numpy as np
import pytest

from jostle.kernels.structs import One, Record, Rows, Struct, float64, int32, int64, opener
from jostle.kernels.work_arrays import WorkArrays, made_arrays

pytestmark = pytest.mark.small


class Count(Record):
    rows: int64


class Pair(Record):
    a: int32
    b: int32


class Work(Struct):
    count: One[Count]
    stack: Rows[Pair]
    keys: Rows[float64]


open_work = opener(Work)


def test_lengths_make_zeros_and_a_single_record_needs_none():
    keys = np.arange(3.0)
    arrays = made_arrays(Work, stack=4, keys=keys)
    assert arrays["keys"] is keys
    assert arrays["count"].shape == (1,)
    assert arrays["stack"].dtype == Pair.dtype
    assert arrays["stack"].tolist() == [(0, 0)] * 4


def test_what_is_missing_or_unknown_is_named():
    with pytest.raises(TypeError, match="keys"):
        WorkArrays(Work, stack=4)
    with pytest.raises(TypeError, match="spare"):
        WorkArrays(Work, stack=4, keys=4, spare=np.empty(1))
    with pytest.raises(TypeError, match="spare"):
        WorkArrays(Work, stack=4, keys=4).replace(spare=np.empty(1))


def test_doubled_and_replaced_arrays_are_those_at_the_addresses():
    work = WorkArrays(Work, stack=2, keys=2)
    opened = open_work(work.addresses)
    opened.count.rows, opened.stack[1].b, opened.keys[1] = 7, 5, 0.5
    work.double("stack", "keys")
    opened = open_work(work.addresses)
    assert (len(opened.stack), len(opened.keys)) == (4, 4)
    assert (opened.count.rows, opened.stack[1].b, opened.keys[1]) == (7, 5, 0.5)
    opened.keys[3] = 2.5
    assert work.arrays["keys"][3] == 2.5
    work.replace(keys=np.ones(3))
    assert len(open_work(work.addresses).keys) == 3
    assert work.arrays["keys"].tolist() == [1.0, 1.0, 1.0]
    assert work.arrays["stack"][1].tolist() == (0, 5)

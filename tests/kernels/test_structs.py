"""Structs by address: compiled against plain, refusals, bounds checks, the cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from jostle.kernels import structs
from jostle.kernels.jit import JIT_DISABLED, interpreted, kernel
from jostle.kernels.structs import (
    Addresses,
    One,
    Record,
    Rows,
    Run,
    Struct,
    borrowed,
    float32,
    float64,
    int16,
    int32,
    int64,
    opener,
    record_viewer,
    row_opener,
    uint8,
)

compiled_only = pytest.mark.skipif(JIT_DISABLED, reason="nothing is compiled")


class Corner(Record):
    at: Run[float64, Literal[3]]
    mark: uint8


class Link(Record):
    mark: uint8
    parent: int32
    weight: float64
    axis: Run[float64, Literal[3]]
    near: int16
    corner: Corner


class State(Record):
    item: int64  # also a method of NumPy's records
    size: int64
    sum: float64


class Pool(Struct):
    links: Rows[Link]
    stamps: Rows[int32]
    lengths: Rows[float32]
    state: One[State]


open_pool, open_pool_of = opener(Pool), row_opener(Pool)
view_state = record_viewer(State)


@kernel(forceinline=True)
def visit(pool: Pool, i: int) -> float:
    """Use everything: read and write numbers and records, alone, in runs, nested."""
    link = pool.links[i]
    link.mark = (link.mark + 3) % 200
    link.parent = pool.links[link.parent].parent
    link.axis[1] += link.axis[0] * pool.lengths[i]
    link.corner.at[2] = link.weight - link.near
    link.corner.mark = link.mark
    pool.stamps[link.parent] += len(pool.links)
    pool.state.item += 1
    pool.state.size = pool.stamps.shape[0]
    return link.axis[1] + link.corner.at[2]


@kernel
def visit_all(pool: Pool) -> float:
    total = 0.0
    for i in range(len(pool.links)):
        total += visit(pool, i)
    pool.state.sum = total
    return total


@kernel
def from_row(addresses: Addresses) -> float:
    return visit_all(open_pool(addresses))


@kernel
def from_table(table: Addresses, row: int) -> float:
    return visit_all(open_pool_of(table, row))


@kernel
def next_item(numbers: np.ndarray) -> int:
    state = view_state(numbers)
    state.item += 5
    return state.item + state.size


@kernel
def total_of_borrowed(numbers: np.ndarray) -> float:
    bundle = (borrowed(numbers), numbers.shape[0])
    total = 0.0
    for i in range(bundle[1]):
        total += bundle[0][i]
    return total


def made(seed: int, count: int = 20) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    links = np.zeros(count, Link.dtype)
    links["parent"], links["weight"] = rng.integers(0, count, count), rng.normal(size=count)
    links["axis"], links["near"], links["mark"] = rng.normal(size=(count, 3)), rng.integers(-9, 9, count), rng.integers(0, 9, count)
    return {
        "links": links,
        "stamps": np.zeros(count, np.int32),
        "lengths": rng.normal(size=count).astype(np.float32),
        "state": np.zeros(1, State.dtype),
    }


@pytest.mark.small
@pytest.mark.parametrize("seed", range(5))
def test_compiled_and_plain_calls_agree_in_one_process(seed):
    compiled, plain = made(seed), made(seed)
    answers = [from_row(Pool.table(**compiled).table[0]), interpreted(from_row)(Pool.table(**plain).table[0])]
    assert answers[0] == answers[1]
    for name, array in compiled.items():
        assert array.tobytes() == plain[name].tobytes(), name
    assert compiled["state"]["item"] == [20]


@pytest.mark.small
def test_a_row_of_a_table_is_opened_by_its_number():
    objects, alone = [made(seed) for seed in range(4)], made(2)
    table = Pool.tables(objects)
    assert from_table(table.table, 2) == from_row(Pool.table(**alone).table[0])
    assert [int(one["state"]["item"][0]) for one in objects] == [0, 0, 20, 0]


@pytest.mark.small
def test_the_beginning_of_an_array_is_read_as_a_record():
    numbers = np.array([1, 10, 0, 77], np.int64)
    assert next_item(numbers) == 16
    assert numbers.tolist() == [6, 10, 0, 77]
    assert interpreted(next_item)(numbers) == 21


@pytest.mark.small
def test_a_borrowed_array_is_the_same_array():
    assert total_of_borrowed(np.arange(5.0)) == 10.0


@pytest.mark.small
def test_fields_are_aligned_as_in_c():
    offsets = {name: Link.dtype.fields[name][1] for name in Link.dtype.names}
    assert offsets == {"mark": 0, "parent": 4, "weight": 8, "axis": 16, "near": 40, "corner": 48}
    assert (Link.dtype.itemsize, Link.dtype.alignment, Corner.dtype.itemsize) == (80, 8, 32)


class Entry(Record):
    a: int32
    b: Run[int32, Literal[2]]


class Ends(Record):
    a: int32
    b: int32


class Stack(Struct):
    entries: Rows[Entry]
    flat: Rows[int32]


class Pairs(Struct):
    pairs: Rows[Ends]


@pytest.mark.small
def test_arrays_of_numbers_are_read_as_records_of_these_numbers():
    numbers = np.arange(12, dtype=np.int32).reshape(4, 3)
    stack = opener(Stack)(Stack.table(entries=numbers, flat=numbers).table[0])
    assert (len(stack.entries), len(stack.flat)) == (4, 12)
    stack.entries[2].b[1] = -1
    assert numbers[2].tolist() == [6, 7, -1]


@pytest.mark.small
@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("stamps", lambda a: a.astype(np.int64), "Pool.stamps: the array has elements of int64, not int32"),
        ("lengths", lambda a: np.zeros(8, np.float32)[::2], "Pool.lengths: the array is not C-contiguous"),
        ("links", lambda a: np.zeros(4, State.dtype), "Pool.links: an array of .* cannot be read as"),
        ("links", lambda a: np.zeros(80, np.float64), "Pool.links: an array of float64 cannot be read as"),
        ("state", lambda a: np.zeros(2, State.dtype), "Pool.state: the array has 2 records; it must have one"),
        ("state", lambda a: np.zeros(0, State.dtype), "Pool.state: the array has 0 records"),
        ("stamps", lambda a: np.zeros(13, np.uint8)[1:].view(np.int32), "Pool.stamps: the array is not aligned to 4 bytes"),
        ("unknown", lambda a: np.zeros(2), r"Pool: fields \['unknown'\] are unknown"),
    ],
)
def test_a_table_refuses_arrays_that_do_not_fit(name, change, said):
    arrays = made(0)
    arrays[name] = change(arrays.get(name))
    with pytest.raises((TypeError, ValueError), match=said):
        Pool.table(**arrays)


@pytest.mark.small
def test_a_table_refuses_a_missing_array_and_a_part_of_a_record():
    arrays = made(0)
    del arrays["stamps"]
    with pytest.raises(TypeError, match=r"\['stamps'\] are missing"):
        Pool.table(**arrays)
    with pytest.raises(ValueError, match="12 bytes are no whole number of records of 8"):
        Pairs.table(pairs=np.zeros(3, np.int32))


@pytest.mark.small
def test_some_arrays_are_replaced_by_name():
    arrays = made(0)
    table = Pool.table(**arrays)
    larger = np.full(40, 7, np.int32)
    grown = open_plain(table.with_arrays(0, Pool.places(stamps=larger)).table[0])
    assert (len(grown.stamps), len(grown.links)) == (40, 20)
    with pytest.raises(TypeError, match="'stamp'"):
        Pool.places(stamp=larger)


def open_plain(addresses: Addresses) -> Pool:
    return open_pool(addresses)


@pytest.mark.small
@pytest.mark.parametrize(
    ("kind", "hint", "said"),
    [
        (Record, list, "it must be a number such as int32"),
        (Record, int, "it must be a number such as int32"),
        (Struct, int32, r"it must be Rows\[…\] or One\[…\]"),
        (Struct, Rows[list], "it must be a number such as int32"),
        (Record, None, "has no fields"),
        (Struct, None, "has no fields"),
    ],
)
def test_a_class_with_other_fields_is_refused(kind, hint, said):
    with pytest.raises(TypeError, match=said):
        type("Odd", (kind,), {"__annotations__": {} if hint is None else {"field": hint}})


@pytest.mark.small
def test_a_record_is_written_field_by_field():
    pool = open_plain(Pool.table(**made(0)).table[0])
    with pytest.raises(TypeError, match="field by field"):
        pool.links[0] = pool.links[1]


@compiled_only
def test_a_kernel_that_takes_a_struct_cannot_be_called_from_python():
    pool = open_plain(Pool.table(**made(0)).table[0])
    with pytest.raises(Exception, match="Cannot determine Numba type"):
        visit_all(pool)
    with pytest.raises(Exception, match="Pool is opened from a C-contiguous int64 array of 1 dimensions"):
        from_row(np.zeros(8))


CHILD = """
import json, sys
import numpy as np
from jostle.kernels.jit import kernel, cache_statistics
from jostle.kernels.structs import *
from typing import Literal
sys.path.insert(0, sys.argv[1])
from trial.layout import Pool, Link, ASK
print(json.dumps([ASK(), cache_statistics.as_dict()]))
"""
LAYOUT = """
from typing import Literal
import numpy as np
from jostle.kernels.jit import kernel
from jostle.kernels.structs import *

class Link(Record):
    parent: int32
    near: int32

class Pool(Struct):
    links: Rows[Link]

open_pool = opener(Pool)

@kernel
def nearest(pool: Pool) -> int:
    return pool.links[1].near

@kernel
def entry(addresses: Addresses) -> int:
    return nearest(open_pool(addresses))

def ASK():
    links = np.zeros(2, Link.dtype)
    links["parent"], links["near"] = 1, 2
    table = Pool.table(links=links)
    return int(entry(table.table[0]))
"""


@compiled_only
def test_kernels_with_structs_are_cached_by_layout(tmp_path):
    package = tmp_path / "trial"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "layout.py").write_text(LAYOUT)

    def asked() -> tuple[int, int, int]:
        done = run_child(CHILD, str(tmp_path), JOSTLE_CACHE_DIR=str(tmp_path / "cache"))
        answer, statistics = json.loads(done.stdout)
        assert statistics["failures"] == {}
        return answer, statistics["hits"], statistics["saves"]

    assert asked() == (2, 0, 2)
    assert asked() == (2, 1, 0)
    (package / "layout.py").write_text(
        LAYOUT.replace("    parent: int32\n    near: int32\n", "    near: int32\n    parent: int32\n")
    )
    assert asked() == (2, 0, 2)


TWO_RECORDS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from trial.two import ask
print(json.dumps([ask(int(one)) for one in sys.argv[2]]))
"""
# Long enough for LLVM to call it rather than to copy it into its callers.
LONG = "\n".join(
    f"    for i in range(n):\n        work[i] = work[(i + {k}) % n] * {k} - row.first if work[i] > row.second else row.second ^ {k}"
    for k in range(1, 25)
)
TWO = f"""
import numpy as np
from jostle.kernels.jit import kernel
from jostle.kernels.structs import *

class Links(Record):
    first: int64
    second: int64

class Turned(Record):
    second: int64
    first: int64

view_links, view_turned = record_viewer(Links), record_viewer(Turned)

@kernel
def second_of(row, work, n):
{LONG}
    return row.second

@kernel
def ask_links(rows, work, n):
    return max(second_of(view_links(rows), work, n), second_of(view_links(rows), work, n))

@kernel
def ask_turned(rows, work, n):
    return max(second_of(view_turned(rows), work, n), second_of(view_turned(rows), work, n))

def ask(which):
    return int((ask_links, ask_turned)[which](np.array([10, 20]), np.zeros(7, np.int64), 7))
"""


@compiled_only
def test_kernels_of_two_records_that_two_processes_compiled_are_told_apart(tmp_path):
    package = tmp_path / "trial"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "two.py").write_text(TWO)
    answers = [
        json.loads(run_child(TWO_RECORDS, str(tmp_path), which, JOSTLE_CACHE_DIR=str(tmp_path / "cache")).stdout)
        for which in ("0", "1", "01", "10")
    ]
    assert answers == [[20], [10], [20, 10], [10, 20]]


def run_child(script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    clean["PYTHONPATH"] = os.pathsep.join([str(Path(structs.__file__).parents[2]), str(Path(__file__).parents[2])])
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(command, env=clean | environment, capture_output=True, text=True, timeout=300, check=True)


# Each reads or writes beyond an end, through a struct. With unchecked indices none of them raises.
BEYOND = """
import json
from typing import Literal
import numpy as np
from jostle.kernels.jit import kernel
from jostle.kernels.structs import *

class Link(Record):
    parent: int32
    axis: Run[float64, Literal[3]]

class Pool(Struct):
    links: Rows[Link]
    stamps: Rows[int32]
    none: Rows[int32]

open_pool, open_row = opener(Pool), row_opener(Pool)

@kernel
def read_number(pool: Pool, i: int) -> float: return pool.stamps[i]
@kernel
def write_number(pool: Pool, i: int) -> float:
    pool.stamps[i] = 1
    return 0.0
@kernel
def add_number(pool: Pool, i: int) -> float:
    pool.stamps[i] += 1
    return 0.0
@kernel
def read_field(pool: Pool, i: int) -> float: return pool.links[i].parent
@kernel
def write_field(pool: Pool, i: int) -> float:
    pool.links[i].parent = 1
    return 0.0
@kernel
def read_run(pool: Pool, i: int) -> float: return pool.links[i].axis[1]
@kernel
def beyond_run(pool: Pool, i: int) -> float: return pool.links[0].axis[i]
@kernel
def write_beyond_run(pool: Pool, i: int) -> float:
    pool.links[0].axis[i] = 1.0
    return 0.0
@kernel
def read_none(pool: Pool, i: int) -> float: return pool.none[i]
@kernel(forceinline=True)
def stamp_of_parent(pool: Pool, i: int) -> float: return pool.stamps[pool.links[i].parent]
@kernel
def in_a_loop(pool: Pool, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += stamp_of_parent(pool, i)
    return total

@kernel
def entry(addresses: Addresses, which: int, i: int) -> float:
    pool = open_pool(addresses)
    if which == 0: return read_number(pool, i)
    if which == 1: return write_number(pool, i)
    if which == 2: return add_number(pool, i)
    if which == 3: return read_field(pool, i)
    if which == 4: return write_field(pool, i)
    if which == 5: return read_run(pool, i)
    if which == 6: return beyond_run(pool, i)
    if which == 7: return write_beyond_run(pool, i)
    if which == 8: return read_none(pool, i)
    return in_a_loop(pool, i)

@kernel
def entry_of_row(table: Addresses, row: int) -> float:
    return read_number(open_row(table, row), 0)

links, stamps = np.zeros(4, Link.dtype), np.zeros(4, np.int32)
# Room after the ends, so that the unchecked run does no harm either.
table = Pool.table(links=links[:3], stamps=stamps[:3], none=stamps[:0])
caught = []
for which, ends in enumerate([(3, -4), (3, -4), (3, -4), (3, -4), (3, -4), (3, -4), (3, -4), (3, -4), (0, -1), (4,)]):
    for i in ends:
        if which in (0, 3, 5) or i >= 0 or __CHECKED__:
            try:
                entry(table.table[0], which, i)
            except IndexError:
                caught.append([which, i])
if __CHECKED__:
    try:
        entry_of_row(table.table, 1)
    except IndexError:
        caught.append([10, 1])
for which, i in ((0, 2), (0, -1), (3, 2), (6, 2), (6, -1), (9, 3)):
    entry(table.table[0], which, i)
print(json.dumps(caught))
"""


@compiled_only
def test_accesses_beyond_an_end_are_caught_by_checked_indices():
    checked = run_child(BEYOND.replace("__CHECKED__", "True"), NUMBA_BOUNDSCHECK="1", NUMBA_OPT="1")
    assert json.loads(checked.stdout) == [*([which, i] for which in range(8) for i in (3, -4)), [8, 0], [8, -1], [9, 4], [10, 1]]


WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = sys.modules["llvmlite"] = None  # an import of them raises
import jostle
from tests.kernels.test_structs import *
arrays = made(3)
assert interpreted(from_row)(Pool.table(**arrays).table[0]) != 0.0
try:
    from_row(Pool.table(**arrays).table[0])
except jostle.Unsupported:
    print("as it should be")
"""


@compiled_only
def test_structs_and_plain_calls_need_no_numba():
    assert run_child(WITHOUT_NUMBA).stdout == "as it should be\n"

"""Arrays by address: one table of addresses instead of many array arguments.

Passing 16 arrays to a kernel costs 1.1 µs, and a list of arrays of different sizes cannot be passed at all; one int64 table costs
0.1 µs and holds any number of trees. The maker of a table keeps the arrays alive as long as it is used (`AddressTable` does, so
hold it and not its array alone).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.numbers import Whole
from jostle.kernels.twins import compiled_in


class AddressTable:
    """Rows of (address, length) of each object's arrays; it keeps the arrays alive.

    A table never changes: an interrupt between writing addresses, lengths and arrays would send kernels past the end of memory.
    Make another one (`with_rows`: 0.1 ms for 10,000 rows, so replace many rows at once) and replace the old one by a single
    assignment.
    """

    __slots__ = ("_arrays", "table")

    def __init__(self, objects: Sequence[Sequence[NDArray[Any]]]) -> None:
        self._arrays = [tuple(arrays) for arrays in objects]
        width = 2 * len(self._arrays[0]) if self._arrays else 2
        numbers = [_places(arrays) for arrays in self._arrays]
        self.table: NDArray[np.int64] = np.array(numbers, np.int64).reshape(len(numbers), width)

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a table of addresses cannot be copied or pickled: make another one of the copied arrays")

    def with_rows(self, rows: Mapping[int, Sequence[NDArray[Any]]]) -> AddressTable:
        """Return a table with some rows replaced."""
        made = AddressTable.__new__(AddressTable)
        made._arrays, made.table = self._arrays.copy(), self.table.copy()
        for row, arrays in rows.items():
            numbers, before = made.table[row].tolist(), made._arrays[row]
            for place, array in enumerate(arrays):
                if array is not before[place]:  # an address takes 1 µs to ask for
                    numbers[2 * place : 2 * place + 2] = _places([array])
            made._arrays[row] = tuple(arrays)
            made.table[row] = numbers
        return made

    def with_arrays(self, row: int, arrays: Mapping[int, NDArray[Any]]) -> AddressTable:
        """Return a table with some arrays of one row replaced."""
        made = AddressTable.__new__(AddressTable)
        made._arrays, made.table = self._arrays.copy(), self.table.copy()
        kept = list(made._arrays[row])
        for place, array in arrays.items():
            kept[place] = array
            made.table[row, 2 * place : 2 * place + 2] = _places([array])
        made._arrays[row] = tuple(kept)
        return made

    def array(self, row: int, place: int) -> NDArray[Any]:
        """Return one of the arrays."""
        return self._arrays[row][place]


def _places(arrays: Sequence[NDArray[Any]]) -> list[int]:
    """Return address and length of each array."""
    for array in arrays:
        if not array.flags.c_contiguous:
            raise ValueError("arrays in an address table must be C-contiguous")
    return [number for array in arrays for number in (array.ctypes.data, array.size)]


def array_at(address: Whole, length: Whole, element: Any) -> NDArray[Any]:
    """Return the flat array at an address, in Python."""
    dtype = np.dtype(element)
    return np.frombuffer((ctypes.c_char * (dtype.itemsize * int(length))).from_address(int(address)), dtype)


_twin = compiled_in("jostle.kernels.handles_compiled")


@_twin
def float64_at(address: Whole, length: Whole) -> NDArray[np.float64]:
    """Return the flat float64 array at an address."""
    return array_at(address, length, np.float64)


@_twin
def int32_at(address: Whole, length: Whole) -> NDArray[np.int32]:
    """Return the flat int32 array at an address."""
    return array_at(address, length, np.int32)

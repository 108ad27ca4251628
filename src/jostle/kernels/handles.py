"""Arrays by address: a kernel that works on many trees gets a table of addresses instead of a list of arrays.

Handing 16 arrays to a kernel costs 1.1 µs, and a list of arrays of different sizes cannot be handed over at all; one int64
table costs 0.1 µs and holds any number of trees. Whoever makes a table keeps the arrays alive as long as it is used
(`AddressTable` does, so hold it and not its array alone).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numba import carray, config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from jostle.kernels.jit import kernel


class AddressTable:
    """Rows of (address, length) for each array of each object, and the arrays, so that they stay where they are.

    A table never changes: an interrupt that parted addresses, lengths and arrays would send kernels past the end of memory. Make
    another one (`with_rows`: 0.1 ms for 10,000 rows, so take many rows at once) and put it in the place of the old by one
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
        """Return a table with other arrays in some rows."""
        made = AddressTable.__new__(AddressTable)
        made._arrays, made.table = self._arrays.copy(), self.table.copy()
        for row, arrays in rows.items():
            made._arrays[row] = tuple(arrays)
            made.table[row] = _places(arrays)
        return made

    def with_arrays(self, row: int, arrays: Mapping[int, NDArray[Any]]) -> AddressTable:
        """Return a table with other arrays in some places of one row."""
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
    """Address and length of each array."""
    for array in arrays:
        if not array.flags.c_contiguous:
            raise ValueError("arrays in an address table must be C-contiguous")
    return [number for array in arrays for number in (array.ctypes.data, array.size)]


if config.DISABLE_JIT:

    def _plain(address: int, length: int, ctype: Any) -> NDArray[Any]:
        return np.ctypeslib.as_array((ctype * int(length)).from_address(int(address)))

    def float32_at(address: int, length: int) -> NDArray[np.float32]:
        """Return the flat float32 array at an address."""
        return _plain(address, length, ctypes.c_float)

    def float64_at(address: int, length: int) -> NDArray[np.float64]:
        """Return the flat float64 array at an address."""
        return _plain(address, length, ctypes.c_double)

    def int32_at(address: int, length: int) -> NDArray[np.int32]:
        """Return the flat int32 array at an address."""
        return _plain(address, length, ctypes.c_int32)

    def int64_at(address: int, length: int) -> NDArray[np.int64]:
        """Return the flat int64 array at an address."""
        return _plain(address, length, ctypes.c_int64)

    def int16_at(address: int, length: int) -> NDArray[np.int16]:
        """Return the flat int16 array at an address."""
        return _plain(address, length, ctypes.c_int16)

else:

    def _pointer_of(element: Any) -> Any:
        @intrinsic
        def pointer(_context: Any, _address: Any) -> Any:
            def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
                return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

            return types.CPointer(element)(types.int64), generate

        return pointer

    _float32_pointer = _pointer_of(types.float32)
    _float64_pointer = _pointer_of(types.float64)
    _int32_pointer = _pointer_of(types.int32)
    _int64_pointer = _pointer_of(types.int64)
    _int16_pointer = _pointer_of(types.int16)

    @kernel
    def float32_at(address: int, length: int) -> NDArray[np.float32]:
        """Return the flat float32 array at an address."""
        return carray(_float32_pointer(address), (length,))

    @kernel
    def float64_at(address: int, length: int) -> NDArray[np.float64]:
        """Return the flat float64 array at an address."""
        return carray(_float64_pointer(address), (length,))

    @kernel
    def int32_at(address: int, length: int) -> NDArray[np.int32]:
        """Return the flat int32 array at an address."""
        return carray(_int32_pointer(address), (length,))

    @kernel
    def int64_at(address: int, length: int) -> NDArray[np.int64]:
        """Return the flat int64 array at an address."""
        return carray(_int64_pointer(address), (length,))

    @kernel
    def int16_at(address: int, length: int) -> NDArray[np.int16]:
        """Return the flat int16 array at an address."""
        return carray(_int16_pointer(address), (length,))

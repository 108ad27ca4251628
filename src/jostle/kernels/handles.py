"""Arrays by address: a kernel that works on many trees gets a table of addresses instead of a list of arrays.

Handing 16 arrays to a kernel costs 1.1 µs, and a list of arrays of different sizes cannot be handed over at all; one int64
table costs 0.1 µs and holds any number of trees. Whoever makes a table keeps the arrays alive as long as it is used
(`AddressTable` does).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import carray, config, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from jostle.kernels.jit import kernel


class AddressTable:
    """Rows of (address, length) for each array of each object, and the arrays, so that they stay where they are."""

    def __init__(self, objects: Sequence[Sequence[NDArray[Any]]]) -> None:
        self.arrays = [list(arrays) for arrays in objects]
        width = 2 * len(self.arrays[0]) if self.arrays else 2
        self.table: NDArray[np.int64] = np.zeros((len(self.arrays), width), np.int64)
        for row in range(len(self.arrays)):
            self.replace(row, self.arrays[row])

    def replace(self, row: int, arrays: Sequence[NDArray[Any]]) -> None:
        """Put other arrays in the place of a row's."""
        for array in arrays:
            if not array.flags.c_contiguous:
                raise ValueError("arrays in an address table must be C-contiguous")
        self.arrays[row] = list(arrays)
        self.table[row] = [number for array in arrays for number in (array.ctypes.data, array.size)]


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

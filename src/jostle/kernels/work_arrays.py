"""The arrays of a struct by name, made by their lengths and grown between calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.buffers import doubled
from jostle.kernels.handles import AddressTable
from jostle.kernels.structs import Addresses, Struct


def made_arrays(struct: type[Struct], **given: NDArray[Any] | int) -> dict[str, NDArray[Any]]:
    """Return an array for each field: the given one, or zeros of the given length.

    A single record needs neither.
    """
    elements = {field.name: field.dtype for field in struct.layout}
    ones = {field.name: 1 for field in struct.layout if not field.is_array}
    return {name: np.zeros(value, elements[name]) if isinstance(value, int) else value for name, value in {**ones, **given}.items()}


class WorkArrays:
    """The arrays of a struct for Python, and their addresses for kernels.

    Parameters
    ----------
    struct : type
    **given : array or int
        As for `made_arrays`.
    """

    def __init__(self, struct: type[Struct], **given: NDArray[Any] | int) -> None:
        self._struct = struct
        self._set(struct.table(**made_arrays(struct, **given)))

    def _set(self, table: AddressTable) -> None:
        arrays = {field.name: table.array(0, place) for place, field in enumerate(self._struct.layout)}
        addresses: Addresses = table.table[0]
        # One statement: no interrupt separates the addresses from the arrays.
        self._table, self.addresses, self.arrays = table, addresses, arrays

    def replace(self, **arrays: NDArray[Any]) -> None:
        """Put other arrays in the place of some."""
        self._set(self._table.with_arrays(0, self._struct.places(**arrays)))

    def double(self, *names: str) -> None:
        """Double the length of some arrays, keeping their contents."""
        self.replace(**{name: doubled(self.arrays[name]) for name in names})

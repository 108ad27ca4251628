"""Scratch arrays of builds and refits, kept from call to call, one set for each thread.

Fresh memory costs more than the work in it: the system hands out every page anew, cleared.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.buffers import KEPT_BYTES
from jostle.kernels.handles import AddressTable
from jostle.kernels.structs import Addresses, Struct


class Scratch(threading.local):
    """Arrays by name, which grow and stay; and structs of arrays."""

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[Any]] = {}
        self._tables: dict[type[Struct], AddressTable] = {}

    def array(self, name: str, length: int, dtype: type[np.generic]) -> NDArray[Any]:
        """Return an array (length,) of unknown content. The next call with this name may return the same memory."""
        kept = self._kept.get(name)
        if kept is None or len(kept) < length:
            kept = np.empty(length, dtype)
            if kept.nbytes <= KEPT_BYTES:
                self._kept[name] = kept
        return kept[:length]

    def addresses(self, struct: type[Struct], **lengths: int) -> Addresses:
        """Return a struct with arrays of these lengths, the same in each call, of unknown content."""
        table = self._tables.get(struct)
        if table is None:
            table = struct.table(**{field.name: np.empty(lengths[field.name], field.dtype) for field in struct.layout})
            self._tables[struct] = table
        addresses: Addresses = table.table[0]
        return addresses


SCRATCH = Scratch()

"""Scratch arrays of builds and refits, kept between calls, one set per thread.

Fresh memory costs more than the work in it: the system clears every page it hands out.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.buffers import KEPT_BYTES
from jostle.kernels.handles import AddressTable
from jostle.kernels.structs import Addresses, Struct
from jostle.kernels.work_arrays import made_arrays


class Scratch(threading.local):
    """Arrays by name, and structs of arrays, which grow and are kept."""

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[Any]] = {}
        self._tables: dict[type[Struct], AddressTable] = {}

    def array(self, name: str, length: int, dtype: type[np.generic]) -> NDArray[Any]:
        """Return an array (length,) of unknown content; the next call may reuse it."""
        kept = self._kept.get(name)
        if kept is None or len(kept) < length:
            kept = np.empty(length, dtype)
            if kept.nbytes <= KEPT_BYTES:
                self._kept[name] = kept
        return kept[:length]

    def addresses(self, struct: type[Struct], **lengths: int) -> Addresses:
        """Return a struct with arrays of unknown content, kept; of the same lengths in each call."""
        table = self._tables.get(struct)
        if table is None:
            table = struct.table(**made_arrays(struct, **lengths))
            self._tables[struct] = table
        addresses: Addresses = table.table[0]
        return addresses


SCRATCH = Scratch()

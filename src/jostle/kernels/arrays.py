"""Arrays as kernel arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def read_only_view(array: NDArray[Any]) -> NDArray[Any]:
    """Return a C-contiguous, read-only view; a copy only if not contiguous.

    Numba compiles one kernel for writable and another for read-only arrays. Inputs come as both: meshes and cast arrays are sealed,
    results are not. A wrapper that passes every input through this view compiles its kernel once; the view costs 0.2 µs. Read-only
    is the canonical side because a sealed array has no writable view.
    """
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view

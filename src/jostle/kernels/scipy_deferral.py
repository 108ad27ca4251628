"""Numba's first use without SciPy. Needs Numba.

`numba.np.arraymath` imports `scipy.linalg`, 75 modules, to learn whether SciPy's BLAS can be used. Only inner products inside
`np.correlate` and `np.convolve` ask for the answer, and no kernel of jostle has them. Here the import waits until someone does.
Whatever else needs BLAS checks by itself when it is compiled.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any


class Deferred:
    """A truth value that is computed each time it is asked for."""

    def __init__(self, compute: Callable[[], bool]) -> None:
        self._compute = compute

    def __bool__(self) -> bool:
        """Compute it."""
        return self._compute()


def import_array_functions() -> None:
    """Import Numba's array functions, which every kernel needs, and leave SciPy alone."""
    if "numba.np.arraymath" in sys.modules:  # somebody has used Numba before
        return
    algebra: Any = importlib.import_module("numba.np.linalg")
    check = algebra.ensure_blas
    algebra.ensure_blas = _refuse
    try:
        arrays: Any = importlib.import_module("numba.np.arraymath")
    finally:
        algebra.ensure_blas = check
    arrays.ensure_blas = check
    arrays._HAVE_BLAS = Deferred(arrays._check_blas)


def _refuse() -> None:
    raise ImportError("not asked for yet")

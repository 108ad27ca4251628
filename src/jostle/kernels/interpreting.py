"""Work without a compiler: kernels that are not compiled yet run as plain Python.

Two ways, both with the results of the compiled kernel, bit for bit.

| what | for | when |
|---|---|---|
| `in_columns`: the same in NumPy | kernels of every world, and those of `plain` | until Numba is loaded, or without code |
| `without_compiler`: the kernel's source, interpreted | all others, 50 to 100 times slower | inside the context |
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

Result = TypeVar("Result")

_without_compiler: ContextVar[bool] = ContextVar("without_compiler", default=False)


@contextlib.contextmanager
def without_compiler() -> Iterator[None]:
    """Interpret kernels that are not compiled yet, inside the context and in this thread.

    Compiled code neither warns of infinities nor raises for them, whatever `numpy.seterr` says: nor does this.
    """
    token = _without_compiler.set(True)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _without_compiler.reset(token)


def is_without_compiler() -> bool:
    """Return whether kernels are interpreted here."""
    return _without_compiler.get()


def called_without_compiler(function: Callable[[], Result]) -> Callable[[], Result]:
    """Return a function that calls another one in that context, later."""

    def called() -> Result:
        with without_compiler():
            return function()

    return called


def numba_is_loaded() -> bool:
    """Return whether a kernel was compiled or loaded in this process."""
    return "jostle.kernels.dispatch" in sys.modules


def in_columns(kernel: Any) -> Callable[[AnyFunction], AnyFunction]:
    """Return a decorator: the function stands for the kernel until Numba is loaded."""

    def paired(function: AnyFunction) -> AnyFunction:
        kernel.in_columns = function
        return function

    return paired

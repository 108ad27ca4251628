"""Functions with two bodies: plain Python for the interpreter, and what kernels compile, in a module that needs Numba.

A twin lets a module that offers intrinsics be imported without Numba, and lets the same kernel run compiled or as plain Python in
one process. With NUMBA_DISABLE_JIT=1 it is the plain function itself.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, TypeVar

from jostle.kernels.cached_property import cached_property
from jostle.kernels.deferral import load_numba
from jostle.kernels.jit import JIT_DISABLED

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


class Twin:
    """A plain function and how to get its compiled twin, which is what Numba sees (`dispatch.py`)."""

    def __init__(self, plain: Callable[..., Any], make: Callable[[], Any]) -> None:
        functools.update_wrapper(self, plain)
        self._plain, self._make = plain, make

    def __call__(self, *arguments: Any) -> Any:
        """Call the plain function."""
        return self._plain(*arguments)

    @property
    def _numba_type_(self) -> Any:  # what Numba looks for in a global that it does not know
        return load_numba("jostle.kernels.dispatch").type_of_twin(self)

    @cached_property
    def compiled(self) -> Any:
        """What kernels compile: an intrinsic."""
        return self._make()


def compiled_in(module: str, name: str = "") -> Callable[[AnyFunction], AnyFunction]:
    """Return a decorator for plain functions that have an intrinsic in a module, of the same name or of a given one."""

    def paired(plain: AnyFunction) -> AnyFunction:
        return twin(plain, lambda: getattr(importlib.import_module(module), name or plain.__name__))

    return paired


def twin(plain: AnyFunction, make: Callable[[], Any]) -> AnyFunction:
    """Return a function that is `plain` to the interpreter, and what `make` returns to the compiler."""
    return plain if JIT_DISABLED else Twin(plain, make)  # type: ignore[return-value]

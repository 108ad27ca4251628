"""Twins: functions with a plain Python body and a compiled one.

The compiled one is in a module that needs Numba. So a module that offers intrinsics can be imported without Numba, and the same
kernel can run compiled or as plain Python in one process. With NUMBA_DISABLE_JIT=1 a twin is the plain function itself.
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
    """A plain function and its compiled twin, which Numba sees (`dispatch.py`)."""

    def __init__(self, plain: Callable[..., Any], make: Callable[[], Any]) -> None:
        functools.update_wrapper(self, plain)
        self._plain, self._make = plain, make

    def __call__(self, *arguments: Any) -> Any:
        """Call the plain function."""
        return self._plain(*arguments)

    @property
    def _numba_type_(self) -> Any:  # Numba reads this from globals of unknown type
        return load_numba("jostle.kernels.dispatch").type_of_twin(self)

    @cached_property
    def compiled(self) -> Any:
        """The intrinsic that kernels compile."""
        return self._make()


def compiled_in(module: str, name: str = "", *arguments: Any) -> Callable[[AnyFunction], AnyFunction]:
    """Return a decorator that pairs a plain function with an intrinsic of a module.

    The intrinsic has the same name or a given one; with arguments, a factory of that name makes it.
    """

    def paired(plain: AnyFunction) -> AnyFunction:
        def make() -> Any:
            found = getattr(importlib.import_module(module), name or plain.__name__)
            return found(*arguments) if arguments else found

        return twin(plain, make)

    return paired


def twin(plain: AnyFunction, make: Callable[[], Any]) -> AnyFunction:
    """Return a function that is `plain` to the interpreter, `make()` to the compiler."""
    return plain if JIT_DISABLED else Twin(plain, make)  # type: ignore[return-value]

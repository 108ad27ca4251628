"""The one compiler setting: every kernel of jostle is made by the decorator `kernel`.

It fixes what must be the same everywhere (`nogil`, so that threads run side by side; `error_model='numpy'`, so that a
division by zero gives an infinity instead of a slow check), leaves signatures lazy, attaches the cache of
`kernels/cache.py`, and enters the kernel in `KERNELS` for warm-up and tests. With NUMBA_DISABLE_JIT=1 it returns
the function itself. Signals wait while a kernel is compiled or loaded (`kernels/deferral.py`), and what takes long is
reported (`kernels/progress.py`).

Kernels stand at module level. One made inside a function works, and is cached if its closure holds plain constants only.
"""

from __future__ import annotations

import functools
import hashlib
import uuid
from collections.abc import Callable
from typing import Any, TypeVar, overload

from numba.core import registry
from numba.core.decorators import jit  # the one place

from jostle.kernels.cache import KernelCache, cache_statistics, closure_constants, compile_progress, config, normalize_signature
from jostle.kernels.deferral import compiler_lock, stop_if_interrupted, with_signals_deferred

__all__ = ["KERNELS", "cache_statistics", "kernel"]

KERNELS: dict[str, Any] = {}
"""Every kernel by its unique name: a Numba dispatcher, or the plain function with NUMBA_DISABLE_JIT=1."""

FIXED: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

Dispatcher: Any = registry.CPUDispatcher
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


class KernelDispatcher(Dispatcher):  # type: ignore[misc]
    """Numba's dispatcher, for one kernel: compiles and loads with signals deferred, and reports it.

    The interpreter calls `_compile_for_args` for types of arguments that are new, the compiler `compile` for a kernel
    that another kernel calls.
    """

    def _compile_for_args(self, *args: Any, **keywords: Any) -> Any:
        return with_signals_deferred(functools.partial(super()._compile_for_args, *args, **keywords))

    def compile(self, sig: Any) -> Any:
        return with_signals_deferred(functools.partial(self._compile, sig))

    def _compile(self, sig: Any) -> Any:
        with compiler_lock:
            if tuple(normalize_signature(sig)[0]) in self.overloads:
                return super().compile(sig)
            misses = self._cache_misses.total()
            compile_progress.enter()
            failed = True
            try:
                code = super().compile(sig)
                failed = False
            finally:
                compile_progress.leave(self.py_func, self._cache_misses.total() > misses, failed)
            stop_if_interrupted()  # here only: so calls that are interrupted again and again come to an end, kernel by kernel
            return code


@overload
def kernel(function: AnyFunction, /) -> AnyFunction: ...
@overload
def kernel(*, forceinline: bool = ..., fastmath: bool | set[str] = ..., **options: Any) -> Callable[[AnyFunction], AnyFunction]: ...
def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function on its first call for each combination of argument types; `@kernel` or `@kernel(...)`.

    Parameters
    ----------
    forceinline : bool
        Inline it in every caller, by LLVM and at no cost. (`inline="always"` does it in Numba, and costs seconds.)
    fastmath : bool or set of str
        At most ``{"contract"}``, and only in box tests: `arcp` spoils outward rounding, the full set breaks NaN tests.
    **options
        Further options of `numba.njit`, except those fixed here and `cache` and `parallel`.
    """
    refused = {"cache", "parallel", *FIXED} & options.keys()
    if refused:
        raise TypeError(f"kernel() fixes {', '.join(sorted(refused))}; leave it out")
    if function is None:
        return lambda function: _compiled(function, options)
    return _compiled(function, options)


def _compiled(function: Any, options: dict[str, Any]) -> Any:
    name = _made_unique(function)
    if config.DISABLE_JIT:
        KERNELS[name] = function
        return function
    # Stated even where they are off: what is not stated, a callee takes over from the kernel that first calls it.
    options = {"forceinline": False, "fastmath": False, **options}
    dispatcher = jit(**FIXED, **options)(function)
    dispatcher.__class__ = KernelDispatcher
    dispatcher._cache = KernelCache(function, name, options)
    KERNELS[name] = dispatcher
    return dispatcher


def _made_unique(function: Any) -> str:
    """Give kernels that would share a name names of their own, and return it.

    The name becomes part of the symbols in the compiled code. Two cached files from different processes may hold
    equal symbols for the products of one factory, and the linker would take the first for both.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    if "<locals>" in name or name in KERNELS:
        constants = closure_constants(function)
        if constants is None:
            constants = uuid.uuid4().hex  # never cached, so the name need not be the same in the next process
        token = hashlib.sha256(f"{function.__code__.co_firstlineno} {constants}".encode()).hexdigest()[:8]
        qualname = f"{function.__qualname__}_{token}"
        copies = 1
        while f"{function.__module__}.{qualname}" in KERNELS:
            copies += 1
            qualname = f"{function.__qualname__}_{token}_{copies}"
        function.__qualname__ = qualname
        name = f"{function.__module__}.{qualname}"
    return name

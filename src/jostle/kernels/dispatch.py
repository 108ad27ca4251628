"""Numba's side of `kernels/jit.py`: dispatchers and types. Needs Numba.

Fixed for all kernels: `nogil`, so that threads run side by side, and `error_model='numpy'`, so that a division by zero gives an
infinity instead of a slow check. Signatures are lazy, the cache is that of `kernels/cache.py`, signals wait while a kernel is
compiled or loaded (`kernels/deferral.py`), and long compilations are reported (`kernels/progress.py`).
"""

from __future__ import annotations

import functools
import hashlib
from typing import Any

import numpy.ma  # noqa: F401  # see CONTEXTS
from numba.core import registry, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.decorators import jit  # the one place

from jostle.kernels.cache import KernelCache, normalize_signature
from jostle.kernels.compiling import KernelCompiler, lean_compiling
from jostle.kernels.deferral import stop_if_interrupted, with_signals_deferred
from jostle.kernels.inner_code import InnerCompiler, set_environments
from jostle.kernels.jit import Kernel
from jostle.kernels.progress import compile_progress
from jostle.kernels.scipy_deferral import import_array_functions
from jostle.kernels.shipped import config
from jostle.kernels.twins import Twin

FIXED: dict[str, Any] = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

Dispatcher: Any = registry.CPUDispatcher
compiler_lock: Any = global_compiler_lock
unliteral: Any = types.unliteral
SHORT = (types.int8, types.int16, types.int32)  # arithmetic on them is that of int64 in Numba

# Numba creates these contexts, and imports `numpy.ma`, on first use, holding locks that a process forked meanwhile would wait for.
# Forks wait while this module is imported (`kernels/deferral.py`).
CONTEXTS: Any = (registry.cpu_target.target_context, registry.cpu_target.typing_context)
import_array_functions()


def argument_type(kind: Any) -> Any:
    """Return the type of an argument between kernels."""
    plain = unliteral(kind)
    return types.int64 if plain in SHORT else plain


class KernelDispatcher(Dispatcher):  # type: ignore[misc]
    """Numba's dispatcher of one kernel, with signals deferred and progress reported.

    The interpreter calls `_compile_for_args` for new argument types, the compiler calls `compile` for a kernel that another one
    calls.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Type a call from another kernel: literals and short integers become int64.

        Otherwise each would compile another form. A constant still arrives as one: LLVM propagates it wherever it inlines the
        kernel.
        """
        named = {name: argument_type(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(map(argument_type, args)), named)

    def _compile_for_args(self, *args: Any, **keywords: Any) -> Any:
        return with_signals_deferred(functools.partial(super()._compile_for_args, *args, **keywords))

    def compile(self, sig: Any) -> Any:
        """Return the code for a signature, compiled or loaded if new."""
        return with_signals_deferred(functools.partial(self._compile, sig))

    def _compile(self, sig: Any) -> Any:
        with compiler_lock:
            arguments = tuple(normalize_signature(sig)[0])
            if arguments in self.overloads:
                return self.overloads[arguments].entry_point
            misses = self._cache_misses.total()
            compile_progress.enter()
            failed = True
            try:
                with lean_compiling():
                    code = super().compile(sig)
                if self._cache_misses.total() > misses and self._compiler.pipeline_class is not InnerCompiler:
                    set_environments(self.overloads[arguments])
                failed = False
            finally:
                self._cache.release_claims()
                compile_progress.leave(self.py_func, self._cache_misses.total() > misses, failed)
            stop_if_interrupted()  # only here: repeatedly interrupted calls still progress, kernel by kernel
            return code


def make_dispatcher(kernel: Kernel, *, for_python: bool) -> Any:
    """Return a dispatcher for the entry or the inner form of a kernel."""
    if config.DISABLE_JIT:  # by Numba's configuration file
        return kernel.py_func
    options = kernel.options if for_python else {**kernel.options, "no_cpython_wrapper": True}
    dispatcher = jit(**FIXED, **options, pipeline_class=KernelCompiler if for_python else InnerCompiler)(kernel.py_func)
    dispatcher.__class__ = KernelDispatcher
    dispatcher._cache = KernelCache(kernel.py_func, kernel.name, options)
    return dispatcher


def short_name(title: str, whole: str) -> str:
    """Return a symbol name that is short and unique to the whole name of a type."""
    return f"{title}_{hashlib.sha256(whole.encode()).hexdigest()[:12]}"


# Numba numbers the records of a process, and writes these numbers into the symbols of kernels. Kernels that two processes have
# compiled for two records could then have one symbol, and a process that loads both from the cache would run one for both.
types.Record.mangling_args = property(lambda record: (short_name("Record", record.name), ()))  # type: ignore[method-assign,assignment]


def type_of_kernel(kernel: Kernel) -> Any:
    """Return how the compiler sees a kernel."""
    return types.Dispatcher(kernel.inner)


def type_of_twin(twin: Twin) -> Any:
    """Return how the compiler sees a twin."""
    if "compiled" not in vars(twin):
        twin.compiled  # noqa: B018  # imports the module, whose intrinsics the compiler does not know yet
        registry.cpu_target.typing_context.refresh()
    return registry.cpu_target.typing_context.resolve_value_type(twin.compiled)

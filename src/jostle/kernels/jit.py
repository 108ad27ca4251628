"""The decorator `kernel`, which makes every kernel of jostle.

It needs no Numba: the first call imports it, and compiles, or raises `Unsupported` where that is impossible or forbidden
(`kernels/compile_setting.py`; `kernels/interpreting.py` runs kernels without a compiler). A kernel is compiled in up to two forms,
each when it is first needed:

| form | needed when | has |
|---|---|---|
| inner | another kernel calls it | bitcode: a wrapper for the interpreter and machine code would cost a fifth of the compile time |
| entry | the interpreter calls it | a wrapper |

Numba's side of this is `kernels/dispatch.py`, which fixes the options that are the same everywhere. With NUMBA_DISABLE_JIT=1 the
decorator returns the function itself.

Kernels are defined at module level. One made inside a function works, and is cached if its closure holds plain constants only.
"""

from __future__ import annotations

import functools
import hashlib
import os
import uuid
from collections.abc import Callable
from types import FunctionType
from typing import Any, TypeVar, overload

from jostle.errors import NoCompiler
from jostle.kernels.cache_state import cache_statistics
from jostle.kernels.cached_property import cached_property
from jostle.kernels.compile_setting import may_compile, without_numba
from jostle.kernels.deferral import load_numba
from jostle.kernels.interpreting import is_without_compiler, numba_is_loaded
from jostle.kernels.sources import closure_constants, note_package

__all__ = ["JIT_DISABLED", "KERNELS", "Kernel", "cache_statistics", "interpreted", "kernel"]

JIT_DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0").strip() not in ("", "0")

KERNELS: dict[str, Any] = {}
"""Every kernel by its unique name: a `Kernel`, or the plain function with NUMBA_DISABLE_JIT=1."""

FIXED = ("nopython", "nogil", "error_model", "no_cfunc_wrapper", "no_cpython_wrapper", "cache", "parallel")

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


class Kernel:
    """A function that is compiled when the interpreter or another kernel calls it.

    Numba sees it as the dispatcher of its inner form (`dispatch.py`), so kernels and a user's Numba functions may call it. It
    pickles and copies as itself, as functions do.
    """

    # A slot: Python calls the dispatcher in it directly; a method would add 0.05 µs.
    __slots__ = ("__call__", "__dict__", "__weakref__")

    def __init__(self, function: Callable[..., Any], name: str, options: dict[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.name = name
        self.options = options
        self.in_columns: Callable[..., Any] | None = None  # see `interpreting.py`
        self.__call__: Callable[..., Any] = self._first_call

    def _first_call(self, *arguments: Any) -> Any:
        alone = is_without_compiler()
        if self.in_columns is not None and (alone or not numba_is_loaded()):
            return self.in_columns(*arguments)
        if alone:
            return interpreted(self)(*arguments)
        self.__call__ = self.entry if self.in_columns is None or may_compile() else self._compiled_or_in_columns
        try:
            return self.__call__(*arguments)
        except NoCompiler:
            self.__call__ = self._first_call  # the next call may be one without compiler
            raise

    def _compiled_or_in_columns(self, *arguments: Any) -> Any:
        """Run compiled code if there is some; used where none may be compiled."""
        assert self.in_columns is not None
        try:
            return self.entry(*arguments)
        except NoCompiler:
            return self.in_columns(*arguments)

    @cached_property
    def entry(self) -> Any:
        """Numba's dispatcher for calls from Python."""
        return self._dispatcher(for_python=True)

    @cached_property
    def inner(self) -> Any:
        """Numba's dispatcher for calls from kernels. Calling it from Python would crash."""
        return self._dispatcher(for_python=False)

    @property
    def signatures(self) -> list[Any]:
        """The signatures that Python has called in this process, none before Numba is loaded."""
        return list(self.entry.signatures) if "entry" in self.__dict__ else []

    def _dispatcher(self, *, for_python: bool) -> Any:
        may_compile()  # a setting that means nothing is refused even if all code is in the cache
        try:
            dispatch = load_numba("jostle.kernels.dispatch")
        except Exception as error:  # little memory: llvmlite raises OSError, its import SystemError, too
            raise without_numba(self.name, error) from error
        return dispatch.make_dispatcher(self, for_python=for_python)

    @property
    def _numba_type_(self) -> Any:  # Numba reads this from globals of unknown type
        return load_numba("jostle.kernels.dispatch").type_of_kernel(self)

    def __reduce__(self) -> str:
        return self.py_func.__qualname__

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"


@overload
def kernel(function: AnyFunction, /) -> AnyFunction: ...
@overload
def kernel(*, forceinline: bool = ..., fastmath: bool | set[str] = ..., **options: Any) -> Callable[[AnyFunction], AnyFunction]: ...
def kernel(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function on its first call for each combination of argument types.

    Use as `@kernel` or `@kernel(...)`.

    Parameters
    ----------
    forceinline : bool
        Inline it in every caller, by LLVM and at no cost. (`inline="always"` does it in Numba, and costs seconds.)
    fastmath : bool or set of str
        At most ``{"contract"}``, and only in box tests: `arcp` spoils outward rounding, the full set breaks NaN tests.
    **options
        Further options of `numba.njit`, except those fixed here and `cache` and `parallel`.
    """
    refused = options.keys() & set(FIXED)
    if refused:
        raise TypeError(f"kernel() fixes {', '.join(sorted(refused))}; leave it out")
    if function is None:
        return lambda function: _registered(function, options)
    return _registered(function, options)


def _registered(function: Any, options: dict[str, Any]) -> Any:
    name = _made_unique(function)
    note_package(name.partition(".")[0])
    # Given even if off: a callee inherits missing options from the kernel that first calls it.
    options = {"forceinline": False, "fastmath": False, **options}
    KERNELS[name] = function if JIT_DISABLED else Kernel(function, name, options)
    return KERNELS[name]


def _made_unique(function: Any) -> str:
    """Return a unique name of a kernel, renaming it if another one has its name.

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


_interpreted: dict[FunctionType, FunctionType] = {}


def interpreted(function: Any) -> Any:
    """Return a kernel as plain Python that calls only plain Python.

    Its source is run with every callee replaced alike: 50 to 100 times slower, and nothing is compiled or loaded. Results are equal
    to the bit where a kernel is IEEE arithmetic on Python's own floats, comparisons and square roots.
    """
    plain: Any = function.py_func if isinstance(function, Kernel) else function
    if plain not in _interpreted:
        namespace = dict(plain.__globals__)
        made = FunctionType(plain.__code__, namespace, plain.__name__, plain.__defaults__, plain.__closure__)
        _interpreted[plain] = made  # before its callees: they may call it
        for name in plain.__code__.co_names:
            if isinstance(namespace.get(name), Kernel):
                namespace[name] = interpreted(namespace[name])
    return _interpreted[plain]

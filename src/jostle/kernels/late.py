"""Late kernels: called by address, and compiled when their address is first asked for.

A kernel is compiled with all kernels that it calls by name. What only some questions need, such as distances, is called by address
instead: Python puts the address into the caller's arrays when a question needs it. A late kernel is compiled once for all callers,
cannot be inlined, and has parameters and a result that are floats, ints, or NamedTuples of these.

    distance_at = late_call(distance_if_nearer)

    @kernel
    def caller(work: Work, a: Triangle, b: Triangle) -> float:
        return distance_at(work.state.distance, (a, b, 1.0))

    state.distance = address_of(distance_if_nearer)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jostle.kernels.deferral import load_numba
from jostle.kernels.jit import JIT_DISABLED
from jostle.kernels.twins import twin

_addresses: dict[Any, int] = {}

INTERPRETED = 1
"""The address with NUMBA_DISABLE_JIT=1: not 0, which callers may take for none."""


def late_call(kernel: Any) -> Callable[..., Any]:
    """Return a function for kernels that takes a kernel's address and its arguments."""

    def plain(_address: int, arguments: tuple[Any, ...]) -> Any:
        return kernel(*arguments)

    return twin(plain, lambda: load_numba("jostle.kernels.late_compiled").caller_of(kernel))


def address_of(kernel: Any) -> int:
    """Return the address of a kernel's code, loaded or compiled if new.

    Even where kernels are interpreted (`interpreting.py`): the caller may be compiled already.
    """
    if JIT_DISABLED:
        return INTERPRETED
    if kernel not in _addresses:
        _addresses[kernel] = load_numba("jostle.kernels.late_compiled").address_of(kernel)
    return _addresses[kernel]

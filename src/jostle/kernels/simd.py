"""Eight float32 or float64 at once, for box tests and the corners of eight faces.

LLVM does not vectorise a loop over the eight child boxes of a node by itself (21 ns); written with these intrinsics the test
takes 3.3 ns. Values exist inside kernels only: they are loaded from, and stored to, flat C-contiguous arrays of their element type
at an element index, of any alignment. **Loads, stores and gathers bypass bounds checks**: pad arrays so that index + 8 never
passes the end.

Masks are uint32, bit k for lane k. Comparisons with NaN are false; minimum and maximum take b where a or b is NaN, and where both
are zeros (what the hardware does in one instruction). `f32x8_multiply_add` rounds once or twice, depending on the target. Every
operation on float64 rounds as the scalar one does, lane for lane, and is never fused, so that world vertices made here are equal,
to the bit, to those of `geometry/rigid.py`. Kernels compile `simd_compiled.py`; called from Python, the operations are those of
`simd_plain.py`, on arrays of shape (8,).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np

from jostle.kernels import simd_plain as plain
from jostle.kernels.twins import compiled_in

LANES = 8
_COMPILED = "jostle.kernels.simd_compiled"

Operation = TypeVar("Operation", bound=Callable[..., Any])


def _named(name: str, operation: Operation) -> Operation:
    """Return the twin of a plain operation and its intrinsic by name."""
    return compiled_in(_COMPILED, name)(operation)


def _both(name: str, operation: Operation) -> tuple[Operation, Operation]:
    """Return the float32 and float64 twins of an operation on lanes of either."""
    return _named(f"f32x8_{name}", operation), _named(f"f64x8_{name}", operation)


_twin = compiled_in(_COMPILED)

bit_count = _twin(plain.bit_count)
f32x8_abs, f64x8_abs = _both("abs", plain.absolute)
f32x8_add, f64x8_add = _both("add", plain.added)
f32x8_equal = _twin(plain.f32x8_equal)
f32x8_less = _twin(plain.f32x8_less)
f32x8_less_equal = _twin(plain.f32x8_less_equal)
f32x8_load = _named("f32x8_load", partial(plain.loaded, np.float32))
f32x8_max, f64x8_max = _both("max", plain.maximum)
f32x8_min, f64x8_min = _both("min", plain.minimum)
f32x8_mul, f64x8_mul = _both("mul", plain.multiplied)
f32x8_multiply_add = _twin(plain.f32x8_multiply_add)
f32x8_of = _twin(plain.f32x8_of)
f32x8_overlap = _twin(plain.f32x8_overlap)
f32x8_splat = _named("f32x8_splat", partial(plain.in_all_lanes, np.float32))
f32x8_store = _named("f32x8_store", partial(plain.store, np.float32))
f32x8_sub, f64x8_sub = _both("sub", plain.subtracted)
f32x8_transpose = _twin(plain.f32x8_transpose)
f64x8_flushed = _twin(plain.f64x8_flushed)
f64x8_gather = _twin(plain.f64x8_gather)
f64x8_load = _named("f64x8_load", partial(plain.loaded, np.float64))
f64x8_splat = _named("f64x8_splat", partial(plain.in_all_lanes, np.float64))
f64x8_sqrt = _twin(plain.f64x8_sqrt)
f64x8_store = _named("f64x8_store", partial(plain.store, np.float64))
f64x8_to_f32x8 = _twin(plain.f64x8_to_f32x8)
lowest_bit = _twin(plain.lowest_bit)
prefetch = _twin(plain.prefetch)
without_lowest_bit = _twin(plain.without_lowest_bit)

"""Eight float32 at once, with what box tests need.

LLVM does not vectorise a loop over the eight child boxes of a node by itself (21 ns); written with these intrinsics the test
takes 3.3 ns. Values live inside kernels only: they are loaded from, and stored to, flat C-contiguous float32 arrays at an element
index, of any alignment. **Loads and stores bypass bounds checks**: pad arrays so that index + 8 never passes the end.

Masks are uint32, bit k for lane k. Comparisons with NaN are false; minimum and maximum take b where a or b is NaN, and where
both are zeros (what the hardware does in one instruction). `f32x8_multiply_add` rounds once or twice, as the target likes.
Kernels compile `simd_compiled.py`; called from Python, the names are those of `simd_plain.py`, on arrays of shape (8,).
"""

from jostle.kernels import simd_plain as plain
from jostle.kernels.twins import compiled_in

LANES = 8
_twin = compiled_in("jostle.kernels.simd_compiled")

bit_count = _twin(plain.bit_count)
f32x8_abs = _twin(plain.f32x8_abs)
f32x8_add = _twin(plain.f32x8_add)
f32x8_equal = _twin(plain.f32x8_equal)
f32x8_less = _twin(plain.f32x8_less)
f32x8_less_equal = _twin(plain.f32x8_less_equal)
f32x8_load = _twin(plain.f32x8_load)
f32x8_max = _twin(plain.f32x8_max)
f32x8_min = _twin(plain.f32x8_min)
f32x8_mul = _twin(plain.f32x8_mul)
f32x8_multiply_add = _twin(plain.f32x8_multiply_add)
f32x8_of = _twin(plain.f32x8_of)
f32x8_overlap = _twin(plain.f32x8_overlap)
f32x8_splat = _twin(plain.f32x8_splat)
f32x8_store = _twin(plain.f32x8_store)
f32x8_sub = _twin(plain.f32x8_sub)
f32x8_transpose = _twin(plain.f32x8_transpose)
lowest_bit = _twin(plain.lowest_bit)
without_lowest_bit = _twin(plain.without_lowest_bit)

"""Eight float64 at once, for the arithmetic on the corners of eight faces.

The companion of `simd.py`, with the same rules: values live inside kernels only, and **loads, stores and gathers bypass
bounds checks**. Every operation rounds as the scalar one does, lane for lane, and is never fused, so that world vertices
made here are equal, to the bit, to those of `geometry/rigid.py`. Kernels compile `simd64_compiled.py`; called from Python, the
names are those of `simd64_plain.py`, on arrays of shape (8,).
"""

from jostle.kernels import simd64_plain as plain
from jostle.kernels.twins import compiled_in

_twin = compiled_in("jostle.kernels.simd64_compiled")

f64x8_abs = _twin(plain.f64x8_abs)
f64x8_add = _twin(plain.f64x8_add)
f64x8_flushed = _twin(plain.f64x8_flushed)
f64x8_gather = _twin(plain.f64x8_gather)
f64x8_load = _twin(plain.f64x8_load)
f64x8_max = _twin(plain.f64x8_max)
f64x8_min = _twin(plain.f64x8_min)
f64x8_mul = _twin(plain.f64x8_mul)
f64x8_splat = _twin(plain.f64x8_splat)
f64x8_sqrt = _twin(plain.f64x8_sqrt)
f64x8_store = _twin(plain.f64x8_store)
f64x8_sub = _twin(plain.f64x8_sub)
f64x8_to_f32x8 = _twin(plain.f64x8_to_f32x8)
prefetch = _twin(plain.prefetch)

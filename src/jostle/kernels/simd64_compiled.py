"""Eight float64 at once: an LLVM `<8 x double>` as a value type for Numba. The names are explained in `simd64.py`."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

from jostle.kernels.simd import LANES
from jostle.kernels.simd_compiled import f32x8

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_I32 = ir.IntType(32)


class F64x8Type(types.Type):
    """Numba's type of eight float64 lanes."""

    def __init__(self):
        super().__init__(name="f64x8")


@register_model(F64x8Type)
class _F64x8Model(models.PrimitiveModel):
    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, _VECTOR)


f64x8 = F64x8Type()


def _require_array(array, writable):
    fits = isinstance(array, types.Array) and array.dtype == types.float64 and array.ndim == 1 and array.layout == "C"
    if not fits or (writable and not array.mutable):
        raise TypingError(f"f64x8 needs a {'writable ' if writable else ''}flat C-contiguous float64 array, not {array}")


def _require(kind, *given):
    """Refuse arguments of other types, with a message that names them."""
    wrong = [str(one) for one in given if not isinstance(one, kind)]
    if wrong:
        raise TypingError(f"this f64x8 operation takes {kind.__name__}, not {', '.join(wrong)}")


def _data(context, builder, array_type, array):
    return context.make_array(array_type)(context, builder, array).data


def _address(context, builder, array_type, array, index):
    return builder.bitcast(builder.gep(_data(context, builder, array_type, array), [index]), _VECTOR.as_pointer())


@intrinsic
def f64x8_load(_context, array, index):
    """Return array[index : index + 8]."""
    _require_array(array, writable=False)
    _require(types.Integer, index)

    def generate(context, builder, signature, arguments):
        loaded = builder.load(_address(context, builder, signature.args[0], *arguments))
        loaded.align = 8
        return loaded

    return f64x8(array, types.intp), generate


@intrinsic
def f64x8_store(_context, array, index, a):
    """Write eight lanes to array[index : index + 8]."""
    _require_array(array, writable=True)
    _require(types.Integer, index)
    _require(F64x8Type, a)

    def generate(context, builder, signature, arguments):
        stored = builder.store(arguments[2], _address(context, builder, signature.args[0], *arguments[:2]))
        stored.align = 8
        return context.get_dummy_value()

    return types.void(array, types.intp, f64x8), generate


@intrinsic
def f64x8_gather(_context, array, at, offset):
    """Return array[at[k] + offset] in lane k; `at` is a tuple of eight indices.

    Eight loads into one register: the gather instruction of many processors is slower than that.
    """
    _require_array(array, writable=False)
    _require(types.Integer, offset)
    if not (isinstance(at, types.UniTuple) and at.count == LANES and isinstance(at.dtype, types.Integer)):
        raise TypingError(f"f64x8_gather needs a tuple of {LANES} indices, not {at}")

    def generate(context, builder, signature, arguments):
        # The offset first: the eight sums then differ from row to row by a constant that fits into the instruction.
        data = builder.gep(_data(context, builder, signature.args[0], arguments[0]), [arguments[2]])
        vector = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(LANES):
            loaded = builder.load(builder.gep(data, [builder.extract_value(arguments[1], lane)]))
            vector = builder.insert_element(vector, loaded, ir.Constant(_I32, lane))
        return vector

    return f64x8(array, types.UniTuple(types.intp, LANES), types.intp), generate


@intrinsic
def f64x8_splat(_context, value):
    """Return one number in all lanes."""
    _require(types.Number, value)

    def generate(_context, builder, _signature, arguments):
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.Constant(_I32, 0))
        return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))

    return f64x8(types.float64), generate


def _on_lanes(build, *given, result=f64x8):
    """Return the signature and the generator of an operation on vectors; `build(builder, *vectors)` makes the code."""
    _require(F64x8Type, *given)

    def generate(_context, builder, _signature, arguments):
        return build(builder, *arguments)

    return result(*given), generate


def _call(builder, name, argument):
    function_type = ir.FunctionType(_VECTOR, [_VECTOR])
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, f"{name}.v{LANES}f64"), [argument])


@intrinsic
def f64x8_add(_context, a, b):
    """Return a + b."""
    return _on_lanes(lambda builder, x, y: builder.fadd(x, y), a, b)


@intrinsic
def f64x8_sub(_context, a, b):
    """Return a - b."""
    return _on_lanes(lambda builder, x, y: builder.fsub(x, y), a, b)


@intrinsic
def f64x8_mul(_context, a, b):
    """Return a * b."""
    return _on_lanes(lambda builder, x, y: builder.fmul(x, y), a, b)


@intrinsic
def f64x8_min(_context, a, b):
    """Return a where a < b, else b."""
    return _on_lanes(lambda builder, x, y: builder.select(builder.fcmp_ordered("<", x, y), x, y), a, b)


@intrinsic
def f64x8_max(_context, a, b):
    """Return a where a > b, else b."""
    return _on_lanes(lambda builder, x, y: builder.select(builder.fcmp_ordered(">", x, y), x, y), a, b)


@intrinsic
def f64x8_abs(_context, a):
    """Return |a|."""
    return _on_lanes(lambda builder, x: _call(builder, "llvm.fabs", x), a)


@intrinsic
def f64x8_sqrt(_context, a):
    """Return the square root."""
    return _on_lanes(lambda builder, x: _call(builder, "llvm.sqrt", x), a)


@intrinsic
def f64x8_flushed(_context, a, smallest):
    """Return a where |a| >= smallest, else +0 (also where a is NaN)."""

    def build(builder, x, bound):
        keeps = builder.fcmp_ordered(">=", _call(builder, "llvm.fabs", x), bound)
        return builder.select(keeps, x, ir.Constant(_VECTOR, [0.0] * LANES))

    return _on_lanes(build, a, smallest)


@intrinsic
def f64x8_to_f32x8(_context, a):
    """Return the lanes rounded to float32."""
    return _on_lanes(lambda builder, x: builder.fptrunc(x, ir.VectorType(ir.FloatType(), LANES)), a, result=f32x8)


@intrinsic
def prefetch(_context, array, index):
    """Ask for the cache line of array[index]; a hint without effect on results, allowed at any index."""
    _require(types.Integer, index)

    def generate(context, builder, signature, arguments):
        pointer = builder.gep(_data(context, builder, signature.args[0], arguments[0]), [arguments[1]])
        byte_pointer = ir.IntType(8).as_pointer()
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        read, keep, data = ir.Constant(_I32, 0), ir.Constant(_I32, 3), ir.Constant(_I32, 1)
        builder.call(function, [builder.bitcast(pointer, byte_pointer), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate

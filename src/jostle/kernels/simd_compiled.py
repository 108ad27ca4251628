"""Eight float32 at once: an LLVM `<8 x float>` as a value type for Numba. The names are explained in `simd.py`."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

from jostle.kernels.simd import LANES

_VECTOR = ir.VectorType(ir.FloatType(), LANES)
_I32 = ir.IntType(32)


class F32x8Type(types.Type):
    """Numba's type of eight float32 lanes."""

    def __init__(self):
        super().__init__(name="f32x8")


@register_model(F32x8Type)
class _F32x8Model(models.PrimitiveModel):
    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, _VECTOR)


f32x8 = F32x8Type()


def _require_array(array, writable):
    fits = isinstance(array, types.Array) and array.dtype == types.float32 and array.ndim == 1 and array.layout == "C"
    if not fits or (writable and not array.mutable):
        raise TypingError(f"f32x8 needs a {'writable ' if writable else ''}flat C-contiguous float32 array, not {array}")


def _require(kind, *given):
    """Refuse arguments of other types, with a message that names them."""
    wrong = [str(one) for one in given if not isinstance(one, kind)]
    if wrong:
        raise TypingError(f"this f32x8 operation takes {kind.__name__}, not {', '.join(wrong)}")


def _address(context, builder, array_type, array, index):
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


@intrinsic
def f32x8_load(_context, array, index):
    """Return array[index : index + 8]."""
    _require_array(array, writable=False)
    _require(types.Integer, index)

    def generate(context, builder, signature, arguments):
        loaded = builder.load(_address(context, builder, signature.args[0], *arguments))
        loaded.align = 4
        return loaded

    return f32x8(array, types.intp), generate


@intrinsic
def f32x8_store(_context, array, index, a):
    """Write eight lanes to array[index : index + 8]."""
    _require_array(array, writable=True)
    _require(types.Integer, index)
    _require(F32x8Type, a)

    def generate(context, builder, signature, arguments):
        stored = builder.store(arguments[2], _address(context, builder, signature.args[0], *arguments[:2]))
        stored.align = 4
        return context.get_dummy_value()

    return types.void(array, types.intp, f32x8), generate


@intrinsic
def f32x8_splat(_context, value):
    """Return one number in all lanes (rounded to float32)."""
    _require(types.Number, value)

    def generate(_context, builder, _signature, arguments):
        undefined = ir.Constant(_VECTOR, ir.Undefined)
        first = builder.insert_element(undefined, arguments[0], ir.Constant(_I32, 0))
        return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))

    return f32x8(types.float32), generate


@intrinsic
def f32x8_of(_context, a, b, c, d, e, f, g, h):
    """Return eight numbers as lanes (rounded to float32)."""
    _require(types.Number, a, b, c, d, e, f, g, h)

    def generate(_context, builder, _signature, arguments):
        made = ir.Constant(_VECTOR, ir.Undefined)
        for lane, value in enumerate(arguments):
            made = builder.insert_element(made, value, ir.Constant(_I32, lane))
        return made

    return f32x8(*[types.float32] * LANES), generate


def _on_lanes(build, *given, result=f32x8):
    """Return the signature and the generator of an operation on vectors; `build(builder, *vectors)` makes the code."""
    _require(F32x8Type, *given)

    def generate(_context, builder, _signature, arguments):
        return build(builder, *arguments)

    return result(*given), generate


def _call(builder, name, *arguments):
    function_type = ir.FunctionType(_VECTOR, [_VECTOR] * len(arguments))
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, f"{name}.v{LANES}f32"), arguments)


@intrinsic
def f32x8_add(_context, a, b):
    """Return a + b."""
    return _on_lanes(lambda builder, x, y: builder.fadd(x, y), a, b)


@intrinsic
def f32x8_sub(_context, a, b):
    """Return a - b."""
    return _on_lanes(lambda builder, x, y: builder.fsub(x, y), a, b)


@intrinsic
def f32x8_mul(_context, a, b):
    """Return a * b."""
    return _on_lanes(lambda builder, x, y: builder.fmul(x, y), a, b)


@intrinsic
def f32x8_min(_context, a, b):
    """Return a where a < b, else b."""
    return _on_lanes(lambda builder, x, y: builder.select(builder.fcmp_ordered("<", x, y), x, y), a, b)


@intrinsic
def f32x8_max(_context, a, b):
    """Return a where a > b, else b."""
    return _on_lanes(lambda builder, x, y: builder.select(builder.fcmp_ordered(">", x, y), x, y), a, b)


@intrinsic
def f32x8_abs(_context, a):
    """Return |a|."""
    return _on_lanes(lambda builder, x: _call(builder, "llvm.fabs", x), a)


@intrinsic
def f32x8_multiply_add(_context, a, b, c):
    """Return a * b + c, fused where the target does that in one instruction."""
    return _on_lanes(lambda builder, x, y, z: _call(builder, "llvm.fmuladd", x, y, z), a, b, c)


def _as_mask(builder, truths):
    return builder.zext(builder.bitcast(truths, ir.IntType(LANES)), _I32)


def _comparison(operator, a, b):
    return _on_lanes(lambda builder, x, y: _as_mask(builder, builder.fcmp_ordered(operator, x, y)), a, b, result=types.uint32)


@intrinsic
def f32x8_less(_context, a, b):
    """Return the mask of a < b."""
    return _comparison("<", a, b)


@intrinsic
def f32x8_less_equal(_context, a, b):
    """Return the mask of a <= b."""
    return _comparison("<=", a, b)


@intrinsic
def f32x8_equal(_context, a, b):
    """Return the mask of a == b."""
    return _comparison("==", a, b)


def _boxes_meet(builder, *vectors):
    lower, upper, other_lower, other_upper = (vectors[k : k + 3] for k in (0, 3, 6, 9))
    meet = None
    for axis in range(3):
        begins = builder.fcmp_ordered("<=", lower[axis], other_upper[axis])
        ends = builder.fcmp_ordered("<=", other_lower[axis], upper[axis])
        both = builder.and_(begins, ends)
        meet = both if meet is None else builder.and_(meet, both)
    return _as_mask(builder, meet)


@intrinsic
def f32x8_overlap(_context, lower_x, lower_y, lower_z, upper_x, upper_y, upper_z, from_x, from_y, from_z, to_x, to_y, to_z):
    """Return the mask of closed boxes that meet the other's: lower <= to and from <= upper on all three axes."""
    own = (lower_x, lower_y, lower_z, upper_x, upper_y, upper_z)
    return _on_lanes(_boxes_meet, *own, from_x, from_y, from_z, to_x, to_y, to_z, result=types.uint32)


@intrinsic
def f32x8_transpose(_context, a, b, c, d, e, f, g, h):
    """Return eight vectors: first lane 0 of a … h, last lane 7 of them."""
    rows = (a, b, c, d, e, f, g, h)
    _require(F32x8Type, *rows)
    result = types.UniTuple(f32x8, LANES)

    def generate(context, builder, _signature, arguments):
        return context.make_tuple(builder, result, _transposed(builder, arguments))

    return result(*rows), generate


def _transposed(builder, rows):
    """Interleave rows twice, then exchange halves: 24 shuffles, each one instruction (AVX interleaves within its halves only)."""

    def shuffled(distance, low, high):
        """Replace rows k and k + distance by two shuffles of them, whose lanes are 0 … 7 of the one and 8 … 15 of the other."""
        result = list(rows)
        for k in range(LANES):
            if not k & distance:
                for at, lanes in ((k, low), (k + distance, high)):
                    mask = ir.Constant(ir.VectorType(_I32, LANES), lanes)
                    result[at] = builder.shuffle_vector(rows[k], rows[k + distance], mask)
        return result

    interleaved = ([0, 8, 1, 9, 4, 12, 5, 13], [2, 10, 3, 11, 6, 14, 7, 15])
    rows = shuffled(2, *interleaved)
    rows = shuffled(1, *interleaved)
    return shuffled(4, [0, 1, 2, 3, 8, 9, 10, 11], [4, 5, 6, 7, 12, 13, 14, 15])


@intrinsic
def lowest_bit(_context, mask):
    """Return the index of the lowest set bit of a uint32; 32 if there is none."""
    _require(types.Integer, mask)

    def generate(context, builder, _signature, arguments):
        function_type = ir.FunctionType(_I32, [_I32, ir.IntType(1)])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.cttz.i32")
        index = builder.call(function, [arguments[0], ir.Constant(ir.IntType(1), 0)])
        return builder.zext(index, context.get_value_type(types.intp))

    return types.intp(types.uint32), generate


@intrinsic
def without_lowest_bit(_context, mask):
    """Return a uint32 with its lowest set bit cleared (and not widened, as Numba's own arithmetic would)."""
    _require(types.Integer, mask)

    def generate(_context, builder, _signature, arguments):
        return builder.and_(arguments[0], builder.sub(arguments[0], ir.Constant(_I32, 1)))

    return types.uint32(types.uint32), generate


@intrinsic
def bit_count(_context, mask):
    """Return how many bits of a uint32 are set."""
    _require(types.Integer, mask)

    def generate(context, builder, _signature, arguments):
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_I32, [_I32]), "llvm.ctpop.i32")
        return builder.zext(builder.call(function, arguments), context.get_value_type(types.intp))

    return types.intp(types.uint32), generate

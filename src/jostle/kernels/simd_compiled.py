"""LLVM's `<8 x float>` and `<8 x double>` as value types for Numba; see `simd.py`."""

import inspect

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic, models, register_model

from jostle.kernels.simd import LANES

_I32 = ir.IntType(32)


class VectorType(types.Type):
    """Numba's type of eight lanes of one element type."""

    def __init__(self, element):
        super().__init__(name=f"f{element.bitwidth}x{LANES}")
        self.element = element

    @property
    def lanes(self):
        """LLVM's vector type."""
        return ir.VectorType(ir.FloatType() if self.element == types.float32 else ir.DoubleType(), LANES)


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, numba_type):
        super().__init__(manager, numba_type, numba_type.lanes)


f32x8, f64x8 = VectorType(types.float32), VectorType(types.float64)


def _for_both(name):
    """Return a decorator that makes f32x8_name and f64x8_name of a definition.

    The definition takes the vector type first.
    """

    def made(define, vector):
        def operation(_context, *given):
            return define(vector, *given)

        context = inspect.Parameter("_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = list(inspect.signature(define).parameters.values())[1:]
        operation.__name__, operation.__doc__ = f"{vector}_{name}", define.__doc__
        operation.__signature__ = inspect.Signature([context, *parameters])  # Numba folds the arguments of a call by it
        return intrinsic(operation)

    def decorate(define):
        globals().update({f"{vector}_{name}": made(define, vector) for vector in (f32x8, f64x8)})
        return define

    return decorate


def require_array(element, array, writable=False):
    """Refuse all but flat C-contiguous arrays of one element type."""
    fits = isinstance(array, types.Array) and array.dtype == element and array.ndim == 1 and array.layout == "C"
    if not fits or (writable and not array.mutable):
        raise TypingError(f"this needs a {'writable ' if writable else ''}flat C-contiguous {element} array, not {array}")


def require(kind, *given):
    """Refuse arguments of other types, naming them."""
    wrong = [str(one) for one in given if not isinstance(one, kind)]
    if wrong:
        raise TypingError(f"this operation on eight lanes takes {kind.__name__}, not {', '.join(wrong)}")


def require_lanes(vector, *given):
    """Refuse arguments that are not vectors of one type, naming them."""
    wrong = [str(one) for one in given if one != vector]
    if wrong:
        raise TypingError(f"this takes {vector}, not {', '.join(wrong)}")


def data_of(context, builder, array_type, array):
    """Return the address of the first element."""
    return context.make_array(array_type)(context, builder, array).data


def in_all_lanes(builder, value):
    """Return one value in all lanes of a vector of its LLVM type."""
    undefined = ir.Constant(ir.VectorType(value.type, LANES), ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(_I32, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_I32, LANES), [0] * LANES))


def as_lanes(builder, lanes, values):
    """Return eight values as a vector of an LLVM type."""
    vector = ir.Constant(lanes, ir.Undefined)
    for lane, value in enumerate(values):
        vector = builder.insert_element(vector, value, ir.Constant(_I32, lane))
    return vector


def _address(vector, context, builder, array_type, array, index):
    return builder.bitcast(builder.gep(data_of(context, builder, array_type, array), [index]), vector.lanes.as_pointer())


@_for_both("load")
def _loaded(vector, array, index):
    """Return array[index : index + 8]."""
    require_array(vector.element, array)
    require(types.Integer, index)

    def generate(context, builder, signature, arguments):
        loaded = builder.load(_address(vector, context, builder, signature.args[0], *arguments))
        loaded.align = vector.element.bitwidth // 8
        return loaded

    return vector(array, types.intp), generate


@_for_both("store")
def _stored(vector, array, index, a):
    """Write eight lanes to array[index : index + 8]."""
    require_array(vector.element, array, writable=True)
    require(types.Integer, index)
    require_lanes(vector, a)

    def generate(context, builder, signature, arguments):
        stored = builder.store(arguments[2], _address(vector, context, builder, signature.args[0], *arguments[:2]))
        stored.align = vector.element.bitwidth // 8
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), generate


@_for_both("splat")
def _splatted(vector, value):
    """Return one number in all lanes (rounded to their type)."""
    require(types.Number, value)

    def generate(_context, builder, _signature, arguments):
        return in_all_lanes(builder, arguments[0])

    return vector(vector.element), generate


@intrinsic
def f32x8_of(_context, a, b, c, d, e, f, g, h):
    """Return eight numbers as lanes (rounded to float32)."""
    require(types.Number, a, b, c, d, e, f, g, h)

    def generate(_context, builder, _signature, arguments):
        return as_lanes(builder, f32x8.lanes, arguments)

    return f32x8(*[types.float32] * LANES), generate


@intrinsic
def f64x8_gather(_context, array, at, offset):
    """Return array[at[k] + offset] in lane k; `at` is a tuple of eight indices.

    Eight loads into one register: the gather instruction of many processors is slower than that.
    """
    require_array(types.float64, array)
    require(types.Integer, offset)
    if not (isinstance(at, types.UniTuple) and at.count == LANES and isinstance(at.dtype, types.Integer)):
        raise TypingError(f"f64x8_gather needs a tuple of {LANES} indices, not {at}")

    def generate(context, builder, signature, arguments):
        # The offset first: the eight sums then differ from row to row by a constant that fits into the instruction.
        data = builder.gep(data_of(context, builder, signature.args[0], arguments[0]), [arguments[2]])
        indices = (builder.extract_value(arguments[1], lane) for lane in range(LANES))
        return as_lanes(builder, f64x8.lanes, (builder.load(builder.gep(data, [index])) for index in indices))

    return f64x8(array, types.UniTuple(types.intp, LANES), types.intp), generate


def _on_lanes(vector, build, *given, result=None):
    """Return signature and generator of an operation on vectors.

    `build(builder, *vectors)` makes the code.
    """
    require_lanes(vector, *given)

    def generate(_context, builder, _signature, arguments):
        return build(builder, *arguments)

    return (vector if result is None else result)(*given), generate


def _call(builder, name, *arguments):
    """Call an LLVM operation on vectors of one type."""
    lanes = arguments[0].type
    suffix = f"v{LANES}f{32 if lanes.element == ir.FloatType() else 64}"
    function_type = ir.FunctionType(lanes, [lanes] * len(arguments))
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, f"{name}.{suffix}"), arguments)


@_for_both("add")
def _added(vector, a, b):
    """Return a + b."""
    return _on_lanes(vector, lambda builder, x, y: builder.fadd(x, y), a, b)


@_for_both("sub")
def _subtracted(vector, a, b):
    """Return a - b."""
    return _on_lanes(vector, lambda builder, x, y: builder.fsub(x, y), a, b)


@_for_both("mul")
def _multiplied(vector, a, b):
    """Return a * b."""
    return _on_lanes(vector, lambda builder, x, y: builder.fmul(x, y), a, b)


@_for_both("min")
def _minimum(vector, a, b):
    """Return a where a < b, else b."""
    return _on_lanes(vector, lambda builder, x, y: builder.select(builder.fcmp_ordered("<", x, y), x, y), a, b)


@_for_both("max")
def _maximum(vector, a, b):
    """Return a where a > b, else b."""
    return _on_lanes(vector, lambda builder, x, y: builder.select(builder.fcmp_ordered(">", x, y), x, y), a, b)


@_for_both("abs")
def _absolute(vector, a):
    """Return |a|."""
    return _on_lanes(vector, lambda builder, x: _call(builder, "llvm.fabs", x), a)


@intrinsic
def f32x8_multiply_add(_context, a, b, c):
    """Return a * b + c, fused where the target does that in one instruction."""
    return _on_lanes(f32x8, lambda builder, x, y, z: _call(builder, "llvm.fmuladd", x, y, z), a, b, c)


@intrinsic
def f64x8_sqrt(_context, a):
    """Return the square root."""
    return _on_lanes(f64x8, lambda builder, x: _call(builder, "llvm.sqrt", x), a)


@intrinsic
def f64x8_flushed(_context, a, smallest):
    """Return a where |a| >= smallest, else +0 (also where a is NaN)."""

    def build(builder, x, bound):
        keeps = builder.fcmp_ordered(">=", _call(builder, "llvm.fabs", x), bound)
        return builder.select(keeps, x, ir.Constant(f64x8.lanes, [0.0] * LANES))

    return _on_lanes(f64x8, build, a, smallest)


@intrinsic
def f64x8_to_f32x8(_context, a):
    """Return the lanes rounded to float32."""
    return _on_lanes(f64x8, lambda builder, x: builder.fptrunc(x, f32x8.lanes), a, result=f32x8)


def as_mask(builder, truths):
    """Return eight bits as a uint32."""
    return builder.zext(builder.bitcast(truths, ir.IntType(LANES)), _I32)


def _comparison(operator, a, b):
    def build(builder, x, y):
        return as_mask(builder, builder.fcmp_ordered(operator, x, y))

    return _on_lanes(f32x8, build, a, b, result=types.uint32)


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
    return as_mask(builder, meet)


@intrinsic
def f32x8_overlap(_context, lower_x, lower_y, lower_z, upper_x, upper_y, upper_z, from_x, from_y, from_z, to_x, to_y, to_z):
    """Return the mask of closed boxes that overlap on all three axes.

    lower <= to and from <= upper.
    """
    own = (lower_x, lower_y, lower_z, upper_x, upper_y, upper_z)
    return _on_lanes(f32x8, _boxes_meet, *own, from_x, from_y, from_z, to_x, to_y, to_z, result=types.uint32)


@intrinsic
def f32x8_transpose(_context, a, b, c, d, e, f, g, h):
    """Return eight vectors: first lane 0 of a … h, last lane 7 of them."""
    rows = (a, b, c, d, e, f, g, h)
    require_lanes(f32x8, *rows)
    result = types.UniTuple(f32x8, LANES)

    def generate(context, builder, _signature, arguments):
        return context.make_tuple(builder, result, _transposed(builder, arguments))

    return result(*rows), generate


def _transposed(builder, rows):
    """Interleave rows twice, then exchange halves: 24 shuffles of one instruction.

    AVX interleaves within its halves only.
    """

    def shuffled(distance, low, high):
        """Replace rows k and k + distance by two shuffles of them.

        Lanes are 0 … 7 of the one and 8 … 15 of the other.
        """
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
    require(types.Integer, mask)

    def generate(context, builder, _signature, arguments):
        function_type = ir.FunctionType(_I32, [_I32, ir.IntType(1)])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.cttz.i32")
        index = builder.call(function, [arguments[0], ir.Constant(ir.IntType(1), 0)])
        return builder.zext(index, context.get_value_type(types.intp))

    return types.intp(types.uint32), generate


@intrinsic
def without_lowest_bit(_context, mask):
    """Return a uint32 with its lowest set bit cleared, not widened as Numba would."""
    require(types.Integer, mask)

    def generate(_context, builder, _signature, arguments):
        return builder.and_(arguments[0], builder.sub(arguments[0], ir.Constant(_I32, 1)))

    return types.uint32(types.uint32), generate


@intrinsic
def bit_count(_context, mask):
    """Return how many bits of a uint32 are set."""
    require(types.Integer, mask)

    def generate(context, builder, _signature, arguments):
        function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_I32, [_I32]), "llvm.ctpop.i32")
        return builder.zext(builder.call(function, arguments), context.get_value_type(types.intp))

    return types.intp(types.uint32), generate


@intrinsic
def prefetch(_context, array, index):
    """Request the cache line of array[index], a hint allowed at any index."""
    require(types.Integer, index)

    def generate(context, builder, signature, arguments):
        pointer = builder.gep(data_of(context, builder, signature.args[0], arguments[0]), [arguments[1]])
        byte_pointer = ir.IntType(8).as_pointer()
        function_type = ir.FunctionType(ir.VoidType(), [byte_pointer, _I32, _I32, _I32])
        function = cgutils.get_or_insert_function(builder.module, function_type, "llvm.prefetch.p0")
        read, keep, data = ir.Constant(_I32, 0), ir.Constant(_I32, 3), ir.Constant(_I32, 1)
        builder.call(function, [builder.bitcast(pointer, byte_pointer), read, keep, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate

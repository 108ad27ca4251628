"""Eight points at once in a grid: the intrinsics of `simd_grid.py`."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from jostle.kernels.simd import LANES
from jostle.kernels.simd_compiled import as_lanes, as_mask, data_of, f32x8, in_all_lanes, require, require_array, require_lanes

_I32 = ir.IntType(32)
_INTS = ir.VectorType(_I32, LANES)


def _splat(value):
    return ir.Constant(_INTS, [value] * LANES)


def _fetched(context, builder, array_type, array, indices, vector):
    """Load eight elements into one register."""
    data = data_of(context, builder, array_type, array)
    lanes = (builder.extract_element(indices, ir.Constant(_I32, lane)) for lane in range(LANES))
    return as_lanes(builder, vector, (builder.load(builder.gep(data, [builder.zext(each, ir.IntType(64))])) for each in lanes))


@intrinsic
def bits_at(_context, words, x, y, z, end_x, end_y, end_z, row, slab):
    """Return the mask of points whose bit is set."""
    require_array(types.int32, words)
    require_lanes(f32x8, x, y, z, end_x, end_y, end_z)
    require(types.Integer, row, slab)

    def generate(context, builder, signature, arguments):
        array, points, ends = arguments[0], arguments[1:4], arguments[4:7]
        inside = None
        for point, end in zip(points, ends, strict=True):
            begins = builder.fcmp_ordered(">=", point, ir.Constant(f32x8.lanes, [0.0] * LANES))
            both = builder.and_(begins, builder.fcmp_ordered("<", point, end))
            inside = both if inside is None else builder.and_(inside, both)
        # A lane outside becomes 0 before it is an index.
        i, j, k = (builder.select(inside, builder.fptosi(point, _INTS), _splat(0)) for point in points)
        rows = builder.mul(builder.lshr(j, _splat(2)), in_all_lanes(builder, arguments[7]))
        slabs = builder.mul(builder.lshr(k, _splat(2)), in_all_lanes(builder, arguments[8]))
        word = builder.add(builder.add(slabs, rows), builder.lshr(i, _splat(2)))
        half = builder.or_(builder.shl(word, _splat(1)), builder.and_(builder.lshr(k, _splat(1)), _splat(1)))
        bit = builder.or_(builder.shl(builder.and_(k, _splat(1)), _splat(4)), builder.shl(builder.and_(j, _splat(3)), _splat(2)))
        bit = builder.or_(bit, builder.and_(i, _splat(3)))
        loaded = _fetched(context, builder, signature.args[0], array, half, _INTS)
        lowest = builder.trunc(builder.lshr(loaded, bit), ir.VectorType(ir.IntType(1), LANES))
        return as_mask(builder, builder.and_(lowest, inside))

    return types.uint32(words, x, y, z, end_x, end_y, end_z, types.int32, types.int32), generate


@intrinsic
def numbers_at(_context, numbers, x, y, z, row, slab):
    """Return numbers[k * slab + j * row + i] for the whole parts i, j, k of x, y, z.

    They must lie inside the grid.
    """
    require_array(types.float32, numbers)
    require_lanes(f32x8, x, y, z)
    require(types.Integer, row, slab)

    def generate(context, builder, signature, arguments):
        i, j, k = (builder.fptosi(point, _INTS) for point in arguments[1:4])
        rows = builder.mul(j, in_all_lanes(builder, arguments[4]))
        index = builder.add(builder.add(builder.mul(k, in_all_lanes(builder, arguments[5])), rows), i)
        return _fetched(context, builder, signature.args[0], arguments[0], index, f32x8.lanes)

    return f32x8(numbers, x, y, z, types.int32, types.int32), generate

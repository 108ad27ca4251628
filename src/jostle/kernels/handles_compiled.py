"""The intrinsics of `handles.py` and `structs.py`: arrays and records at an address. Needs Numba."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


def array_value(context: Any, builder: Any, array_type: Any, address: Any, length: Any) -> Any:
    """Return a flat array of `length` elements at an address (both int64 values), without an owner."""
    array = make_array(array_type)(context, builder)
    element = context.get_data_type(array_type.dtype)
    itemsize = cgutils.intp_t(context.get_abi_sizeof(element))
    populate_array(
        array,
        data=builder.inttoptr(address, element.as_pointer()),
        shape=[length],
        strides=[itemsize],
        itemsize=itemsize,
        meminfo=None,
    )
    return array._getvalue()


def _array_at(element: Any) -> Any:
    array_type = types.Array(element, 1, "C")

    def array_at(_context: Any, address: Any, length: Any) -> Any:  # noqa: ARG001  # Numba reads the names
        def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            return array_value(context, builder, array_type, *arguments)

        return array_type(types.int64, types.int64), generate

    return intrinsic(array_at)


float32_at = _array_at(types.float32)
float64_at = _array_at(types.float64)
int32_at = _array_at(types.int32)
int64_at = _array_at(types.int64)
int16_at = _array_at(types.int16)


@intrinsic
def borrowed(_context: Any, array: Any) -> Any:
    """Return the same array without its owner."""
    if not isinstance(array, types.Array):
        raise TypingError(f"borrowed() takes an array, not {array}")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        given = make_array(signature.args[0])(context, builder, arguments[0])
        given.meminfo = cgutils.get_null_value(given.meminfo.type)
        given.parent = cgutils.get_null_value(given.parent.type)
        return given._getvalue()

    return array(array), generate


def pointer_to_row(context: Any, builder: Any, array_type: Any, array: Any, row: Any) -> Any:
    """Return the address of array[row, 0] of a C-contiguous array, as a pointer to int64."""
    table = make_array(array_type)(context, builder, array)
    data = builder.bitcast(table.data, ir.IntType(8).as_pointer())
    stride = cgutils.unpack_tuple(builder, table.strides)[0]
    return builder.bitcast(builder.gep(data, [builder.mul(row, stride)]), ir.IntType(64).as_pointer())

"""The intrinsics of `handles.py`: arrays at an address. Needs Numba."""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array


def array_value(context: Any, builder: Any, array_type: Any, address: Any, length: Any) -> Any:
    """Return a flat array at an address, without an owner; both int64 values."""
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


float64_at = _array_at(types.float64)
int32_at = _array_at(types.int32)

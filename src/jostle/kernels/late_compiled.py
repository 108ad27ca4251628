"""Calls by address in compiled code, see `late.py`. Needs Numba."""

from __future__ import annotations

import functools
from typing import Any, get_type_hints

from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.extending import intrinsic

Tuple: Any = types.BaseTuple
generating: Any = cgutils

NUMBERS: dict[Any, Any] = {float: types.float64, int: types.int64, bool: types.boolean}


def numba_type(annotation: Any) -> Any:
    """Return the type of an annotated parameter or result."""
    if annotation in NUMBERS:
        return NUMBERS[annotation]
    return Tuple.from_types([numba_type(one) for one in get_type_hints(annotation).values()], annotation)


@functools.cache
def signature_of(kernel: Any) -> Any:
    """Return the signature that a late kernel's annotations say."""
    hints = {name: numba_type(annotation) for name, annotation in get_type_hints(kernel.py_func).items()}
    return hints.pop("return")(*hints.values())


def caller_of(kernel: Any) -> Any:
    """Return an intrinsic that calls a kernel by its address."""
    signature = signature_of(kernel)

    def call(_context: Any, address: Any, arguments: Any) -> Any:  # noqa: ARG001  # Numba reads the names
        if tuple(map(types.unliteral, arguments)) != signature.args:
            raise TypingError(f"{kernel.name} is called by address with {arguments}; its annotations say {signature.args}")

        def generate(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            convention = context.call_conv
            function = convention.get_function_type(signature.return_type, signature.args)
            callee = builder.inttoptr(values[0], function.as_pointer())
            given = generating.unpack_tuple(builder, values[1])
            status, result = convention.call_function(builder, callee, signature.return_type, signature.args, given)
            with generating.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result

        return signature.return_type(types.int64, arguments), generate

    return intrinsic(call)


def address_of(kernel: Any) -> int:
    """Return the address of a kernel's code, loaded or compiled if new."""
    dispatcher, arguments = kernel.entry, signature_of(kernel).args
    dispatcher.compile(arguments)
    result = dispatcher.overloads[arguments]
    if result.signature.return_type != signature_of(kernel).return_type:
        raise TypeError(f"{kernel.name} returns {result.signature.return_type}; its annotation says otherwise")
    address: int = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
    return address

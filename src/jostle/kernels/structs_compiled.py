"""Structs in compiled code: a pointer to a row of an address table. Needs Numba.

See `structs.py`.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.errors import TypingError
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic, lower_getattr_generic, models, register_model
from numba.np.arrayobj import make_array
from numba.np.numpy_support import from_dtype

from jostle.kernels.dispatch import short_name
from jostle.kernels.handles_compiled import array_value
from jostle.kernels.structs import Record, Struct

_I64 = ir.IntType(64)


class StructType(types.Type):
    """A struct in compiled code.

    Its name holds its whole layout, because the name is in the keys of cached kernels.
    """

    def __init__(self, title: str, fields: tuple[tuple[str, types.Type], ...]) -> None:
        self.title, self.fields = title, fields
        self.places = {name: place for place, (name, _) in enumerate(fields)}
        super().__init__(f"{title}[{', '.join(f'{name}: {kind}' for name, kind in fields)}]")

    @property
    def mangling_args(self) -> tuple[str, tuple[()]]:
        """A short name for the symbols of kernels, unique to each layout."""
        return short_name(self.title, self.name), ()


def struct_type(struct: type[Struct]) -> StructType:
    """Return Numba's type of a struct."""
    fields = []
    for field in struct.layout:
        kind = from_dtype(field.dtype)
        fields.append((field.name, types.Array(kind, 1, "C") if field.is_array else kind))
    return StructType(struct.__name__, tuple(fields))


@register_model(StructType)
class _StructModel(models.PrimitiveModel):
    def __init__(self, manager: Any, numba_type: Any) -> None:
        super().__init__(manager, numba_type, _I64.as_pointer())


@infer_getattr
class _StructFields(AttributeTemplate):
    key = StructType

    def generic_resolve(self, struct: StructType, name: str) -> Any:
        place = struct.places.get(name)
        return None if place is None else struct.fields[place][1]


@lower_getattr_generic(StructType)
def _load_field(context: Any, builder: Any, struct: StructType, table: Any, name: str) -> Any:
    place = struct.places[name]
    kind: Any = struct.fields[place][1]
    address = _table_entry(builder, table, 2 * place)
    if isinstance(kind, types.Array):
        return array_value(context, builder, kind, address, _table_entry(builder, table, 2 * place + 1))
    return builder.inttoptr(address, context.get_value_type(kind))


def _table_entry(builder: Any, table: Any, place: int) -> Any:
    """Load a number of the table, which is constant while any kernel runs."""
    loaded = builder.load(builder.gep(table, [ir.Constant(ir.IntType(32), place)]))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


def struct_opener(struct: type[Struct]) -> Any:
    """Return the intrinsic that opens a struct from its row of an address table."""
    kind = struct_type(struct)

    def opened(_context: Any, addresses: Any) -> Any:
        _require_table(kind, addresses, 1)
        return kind(addresses), _address_as(kind)

    return intrinsic(opened)


def _address_as(kind: Any) -> Any:
    """Return the generator that takes the address of an array as a pointer of a type."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.bitcast(data, context.get_value_type(kind))

    return generate


def struct_row_opener(struct: type[Struct]) -> Any:
    """Return the intrinsic that opens the struct of a row of an address table."""
    kind = struct_type(struct)
    width = cgutils.intp_t(2 * len(struct.layout))

    def opened(_context: Any, table: Any, row: Any) -> Any:
        _require_table(kind, table, 2)
        if not isinstance(row, types.Integer):
            raise TypingError(f"{kind.title} is opened at a row, not at {row}")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array, row = make_array(signature.args[0])(context, builder, arguments[0]), arguments[1]
            if context.enable_boundscheck:
                cgutils.do_boundscheck(context, builder, row, builder.extract_value(array.shape, 0), 0)
            return builder.bitcast(builder.gep(array.data, [builder.mul(row, width)]), context.get_value_type(kind))

        return kind(table, types.intp), generate

    return intrinsic(opened)


def _require_table(kind: StructType, table: Any, dimensions: int) -> None:
    fits = isinstance(table, types.Array) and table.dtype == types.int64 and table.ndim == dimensions and table.layout == "C"
    if not fits:
        raise TypingError(f"{kind.title} is opened from a C-contiguous int64 array of {dimensions} dimensions, not {table}")


def record_in_array(record: type[Record]) -> Any:
    """Return the intrinsic that reads the start of a flat array as one record."""
    kind = from_dtype(record.dtype)

    def viewed(_context: Any, array: Any) -> Any:
        if not (isinstance(array, types.Array) and array.layout == "C" and array.ndim == 1):
            raise TypingError(f"{record.__name__} is read from a flat C-contiguous array, not {array}")
        return kind(array), _address_as(kind)

    return intrinsic(viewed)


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

"""Structs by address: a kernel's whole workspace as one argument.

A class lists the arrays of a workspace and the fields of their rows. The same class gives the layout in memory, what kernels are
compiled from, and what mypy checks:

    class Link(Record):
        parent: int32
        axis: Run[float64, Literal[3]]

    class Work(Struct):
        links: Rows[Link]
        stamps: Rows[int32]
        state: One[State]

    open_work = opener(Work)

    table = Work.table(links=links, stamps=stamps, state=state)  # in Python: keeps the arrays alive

    @kernel
    def search(addresses: Addresses) -> None:                     # in Python: search(table.table[0])
        work = open_work(addresses)
        work.links[f].parent = work.state.item                    # passed to other kernels as `work: Work`

In compiled code a struct is one pointer, whatever it holds: 0.1 µs to pass from Python, nothing between kernels, and no counted
references. Addresses are loaded where a field is used, and the compiler may move these loads: **a table never changes while a
kernel runs**, and its arrays are owned by Python for as long. Indices into `Rows` are checked with NUMBA_BOUNDSCHECK=1, as those of
all arrays. Opened by the interpreter, a struct is an object with arrays of records. This module needs no Numba.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from jostle.kernels.handles import AddressTable, array_at
from jostle.kernels.numbers import Whole
from jostle.kernels.twins import compiled_in

_COMPILED = "jostle.kernels.structs_compiled"

Addresses = NDArray[np.int64]

int8 = Annotated[int, np.int8]
int16 = Annotated[int, np.int16]
int32 = Annotated[int, np.int32]
int64 = Annotated[int, np.int64]
uint8 = Annotated[int, np.uint8]
uint32 = Annotated[int, np.uint32]
uint64 = Annotated[int, np.uint64]
float32 = Annotated[float, np.float32]
float64 = Annotated[float, np.float64]

Element = TypeVar("Element")
Length = TypeVar("Length")
AnyStruct = TypeVar("AnyStruct", bound="Struct")
AnyRecord = TypeVar("AnyRecord", bound="Record")
AnyArray = TypeVar("AnyArray", bound=NDArray[Any])


class Rows(Generic[Element]):
    """A flat array of records or numbers.

    In Python, this class is the array of records, and numbers are a NumPy array.
    """

    def __init__(self, array: NDArray[Any], record: Callable[[Any], Element]) -> None:
        self._array, self._record = array, record
        self.shape = array.shape

    def __len__(self) -> int:
        """Return the number of elements."""
        return len(self._array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the records as NumPy's."""
        return np.array(self._array, dtype, copy=copy)

    def __getitem__(self, index: Whole) -> Element:
        """Return an element: a record by reference, a number by value."""
        return self._record(self._array[index])

    def __setitem__(self, index: Whole, value: Element) -> None:
        """Write a number."""
        raise TypeError("a record is written field by field")


class Run(Generic[Element, Length]):
    """A fixed number of equal fields in a record, for mypy only.

    ``Run[float64, Literal[3]]``
    """

    def __getitem__(self, index: Whole) -> Element:
        """Return an element."""
        raise NotImplementedError

    def __setitem__(self, index: Whole, value: Element) -> None:
        """Write an element."""
        raise NotImplementedError


_ONE = "one record"
One = Annotated[Element, _ONE]
"""A single record, by reference."""


class Record:
    """A row: a class annotated with numbers, `Run`s of numbers or other records.

    In Python, an instance reads and writes the row it is made from.
    """

    dtype: ClassVar[np.dtype[Any]]

    def __init_subclass__(cls) -> None:
        """Lay the fields out as a C compiler does, and make each an attribute.

        Unaligned fields would be slow to load.
        """
        super().__init_subclass__()
        hints = _hints(cls)
        if not hints:
            raise TypeError(f"record {cls.__name__} has no fields")
        cls.dtype = np.dtype([(name, *_field(cls, name, hint)) for name, hint in hints.items()], align=True)
        for name, hint in hints.items():
            setattr(cls, name, _attribute(name, hint))

    def __init__(self, row: Any) -> None:
        self._row = row


def _attribute(name: str, hint: Any) -> property:
    """Return an attribute that reads and writes a field of a row.

    `np.recarray` has methods that hide fields, such as `item`.
    """

    def read(record: Any) -> Any:
        return hint(record._row[name]) if isinstance(hint, type) else record._row[name]

    def write(record: Any, value: Any) -> None:
        record._row[name] = value

    return property(read, write)


class FieldLayout(NamedTuple):
    """A field of a struct: array or single record, element type, record class."""

    name: str
    is_array: bool
    dtype: np.dtype[Any]
    record: type[Record] | None


class Struct:
    """A class whose annotations are `Rows` and `One`."""

    layout: ClassVar[tuple[FieldLayout, ...]]

    def __init_subclass__(cls) -> None:
        """Read the fields."""
        super().__init_subclass__()
        cls.layout = tuple(_struct_field(cls, name, hint) for name, hint in _hints(cls).items())
        if not cls.layout:
            raise TypeError(f"struct {cls.__name__} has no fields")

    @classmethod
    def table(cls, **arrays: NDArray[Any]) -> AddressTable:
        """Return an address table of one row, for arrays by field name."""
        return cls.tables([arrays])

    @classmethod
    def tables(cls, objects: Sequence[Mapping[str, NDArray[Any]]]) -> AddressTable:
        """Return an address table with a row per object."""
        return AddressTable([cls.arrays(**arrays) for arrays in objects])

    @classmethod
    def arrays(cls, **arrays: NDArray[Any]) -> list[NDArray[Any]]:
        """Return flat views of contiguous, aligned arrays in the order of the fields."""
        unknown = arrays.keys() - {field.name for field in cls.layout}
        missing = [field.name for field in cls.layout if field.name not in arrays]
        if unknown or missing:
            raise TypeError(f"struct {cls.__name__}: fields {sorted(unknown)} are unknown, {missing} are missing")
        return [_laid_out(f"{cls.__name__}.{field.name}", field, arrays[field.name]) for field in cls.layout]

    @classmethod
    def places(cls, **arrays: NDArray[Any]) -> dict[int, NDArray[Any]]:
        """Return some arrays by field position, for `AddressTable.with_arrays`."""
        order = {field.name: place for place, field in enumerate(cls.layout)}
        unknown = arrays.keys() - order.keys()
        if unknown:
            raise TypeError(f"struct {cls.__name__}: fields {sorted(unknown)} are unknown")
        return {order[name]: _laid_out(f"{cls.__name__}.{name}", cls.layout[order[name]], array) for name, array in arrays.items()}


def _hints(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    return {name: hint for name, hint in hints.items() if get_origin(hint) is not ClassVar}


def _field(cls: type, name: str, hint: Any) -> tuple[Any, ...]:
    """Return what follows a field's name in a NumPy dtype."""
    if get_origin(hint) is Run:
        element, length = get_args(hint)
        if get_origin(length) is Literal:
            return (_element(cls, name, element), *get_args(length))
    return (_element(cls, name, hint),)


def _element(cls: type, name: str, hint: Any) -> Any:
    if get_origin(hint) is Annotated and isinstance(get_args(hint)[1], type):
        return np.dtype(get_args(hint)[1])
    if isinstance(hint, type) and issubclass(hint, Record):
        return hint.dtype
    raise TypeError(f"{cls.__name__}.{name} is {hint}; it must be a number such as int32, a Run of numbers or a Record")


def _struct_field(cls: type, name: str, hint: Any) -> FieldLayout:
    is_array = get_origin(hint) is Rows
    if not is_array and not (get_origin(hint) is Annotated and get_args(hint)[1] is _ONE):
        raise TypeError(f"{cls.__name__}.{name} is {hint}; it must be Rows[…] or One[…]")
    element = get_args(hint)[0]
    return FieldLayout(name, is_array, np.dtype(_element(cls, name, element)), element if isinstance(element, type) else None)


def _laid_out(name: str, field: FieldLayout, array: NDArray[Any]) -> NDArray[Any]:
    """Return the flat view of an array with the elements of a field."""
    if not array.flags.c_contiguous:
        raise ValueError(f"{name}: the array is not C-contiguous")
    plain = field.dtype.names is None
    if plain and array.dtype != field.dtype:
        raise TypeError(f"{name}: the array has elements of {array.dtype}, not {field.dtype}")
    if not plain and array.dtype != field.dtype and not _made_of(field.dtype, array.dtype):
        raise TypeError(f"{name}: an array of {array.dtype} cannot be read as {field.dtype}")
    flat = array.reshape(-1)
    if array.dtype != field.dtype:
        if flat.nbytes % field.dtype.itemsize:
            raise ValueError(f"{name}: {flat.nbytes} bytes are no whole number of records of {field.dtype.itemsize}")
        flat = flat.view(field.dtype)
    if not flat.flags.aligned:
        raise ValueError(f"{name}: the array is not aligned to {field.dtype.alignment} bytes")
    if not field.is_array and flat.size != 1:
        raise ValueError(f"{name}: the array has {flat.size} records; it must have one")
    return flat


def _made_of(record: np.dtype[Any], number: np.dtype[Any]) -> bool:
    """Return whether a record holds only numbers of one type.

    Then an array of these can be read as records.
    """
    fields = [record[name] for name in record.names or ()]
    return all((_made_of(one.base, number) if one.base.names else one.base == number) for one in fields)


def opener(struct: type[AnyStruct]) -> Callable[[Addresses], AnyStruct]:
    """Return the function that opens a struct from its row of an address table.

    For kernels and for Python.
    """

    @compiled_in(_COMPILED, "struct_opener", struct)
    def opened(addresses: Addresses) -> AnyStruct:
        """Return the struct at some addresses."""
        made = struct.__new__(struct)
        for place, field in enumerate(struct.layout):
            array: Any = array_at(addresses[2 * place], addresses[2 * place + 1], field.dtype)
            rows = array if field.record is None else Rows(array, field.record)
            setattr(made, field.name, rows if field.is_array else rows[0])
        return made

    return opened


def row_opener(struct: type[AnyStruct]) -> Callable[[Addresses, int], AnyStruct]:
    """Return the function that opens the struct of a row of a whole address table.

    For kernels and for Python.
    """
    plain = opener(struct)

    @compiled_in(_COMPILED, "struct_row_opener", struct)
    def opened(table: Addresses, row: int) -> AnyStruct:
        """Return the struct of a row of a table."""
        return plain(table[row])

    return opened


def record_viewer(record: type[AnyRecord]) -> Callable[[NDArray[Any]], AnyRecord]:
    """Return the function that reads the start of a flat array as one record.

    By reference, for kernels and for Python.
    """

    @compiled_in(_COMPILED, "record_in_array", record)
    def viewed(array: NDArray[Any]) -> AnyRecord:
        """Return the record at the beginning of an array."""
        size = record.dtype.itemsize // array.itemsize
        return record(array[:size].view(record.dtype)[0])

    return viewed


@compiled_in(_COMPILED)
def borrowed(array: AnyArray) -> AnyArray:
    """Return the array without its counted reference, for bundles of arrays.

    Its owner must live longer.
    """
    return array

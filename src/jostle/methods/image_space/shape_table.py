"""The shapes of all bodies for kernels: one row of addresses per distinct shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jostle._types import Bools
from jostle.geometry.triangle import Bounds
from jostle.geometry.vector import point_from
from jostle.interface.shape_numbers import number_shapes
from jostle.kernels.jit import kernel
from jostle.kernels.numbers import as_int64
from jostle.kernels.structs import Addresses, Rows, Struct, float64, int32, int64, opener, uint8
from jostle.render.drawn_body import PatchedMesh, open_mesh

if TYPE_CHECKING:
    from jostle.methods.image_space.shape import ImageShape


class BoxedMesh(PatchedMesh):
    """A row of the table: the arrays that `render/` draws, then the mesh's box."""

    lower: Rows[float64]
    upper: Rows[float64]


class Shapes(Struct):
    """The shape and the convexity of each body, and the table of shapes."""

    shape_of_body: Rows[int32]
    convex: Rows[uint8]
    rows: Rows[int64]


open_boxed, open_shapes = opener(BoxedMesh), opener(Shapes)
ROW = 2 * len(BoxedMesh.layout)  # numbers of a row of the table: an address and a length for each array


class ShapesOfBodies:
    """The shapes of all bodies for kernels; changes of a shape in place show through.

    Attributes
    ----------
    shape_of_body : (n,) int32
        The row of each body's shape in the table.
    convex : (n,) bool
    table : AddressTable
        A `BoxedMesh` for each distinct shape.
    addresses : (k,) int64
        The argument of kernels: `open_shapes(addresses)`.
    """

    def __init__(self, shapes: Sequence[ImageShape]) -> None:
        self.shapes = tuple(shapes)
        first, self.shape_of_body = number_shapes(shapes)
        self.convex: Bools = np.array([bool(shape.convex) for shape in shapes], bool)
        self.table = BoxedMesh.tables(
            [{field.name: getattr(shapes[body], field.name) for field in BoxedMesh.layout} for body in first]
        )
        self._own = Shapes.table(shape_of_body=self.shape_of_body, convex=self.convex.view(np.uint8), rows=self.table.table)

    @property
    def addresses(self) -> Addresses:
        """The row of addresses of `Shapes`; it does not keep the arrays alive."""
        row: Addresses = self._own.table[0]
        return row


@kernel(forceinline=True)
def row_of_body(shapes: Shapes, body: int) -> Addresses:
    """Return the addresses of a body's shape."""
    rows: Any = shapes.rows
    first = ROW * as_int64(shapes.shape_of_body[body])
    row: Addresses = rows[first : first + ROW]
    return row


@kernel(forceinline=True)
def mesh_of_body(shapes: Shapes, body: int) -> PatchedMesh:
    """Return the mesh of a body."""
    return open_mesh(row_of_body(shapes, body))


@kernel(forceinline=True)
def box_of_body(shapes: Shapes, body: int) -> Bounds:
    """Return the box of a body in its own axes."""
    mesh = open_boxed(row_of_body(shapes, body))
    return Bounds(point_from(mesh.lower, 0), point_from(mesh.upper, 0))

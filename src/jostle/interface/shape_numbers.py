"""Numbers of distinct shapes: bodies with equal meshes share one shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jostle._types import Bools, Ints


def number_shapes(shapes: Sequence[object], alone: Bools | None = None) -> tuple[list[int], Ints]:
    """Number the distinct shapes in the order of the bodies.

    Parameters
    ----------
    shapes : sequence of n shapes
        One per body; bodies that share a shape have the same object.
    alone : (n,) bool, optional
        Bodies that share with no other, because their shapes follow their vertices.

    Returns the first body of each distinct shape, and (n,) the number of each body's shape.
    """
    number_of: dict[int, int] = {}
    first: list[int] = []
    shape_of_body: Ints = np.empty(len(shapes), np.int32)
    for body, shape in enumerate(shapes):
        key = id(shape) if alone is None or not alone[body] else -1 - body  # no id is negative
        number = number_of.setdefault(key, len(first))
        if number == len(first):
            first.append(body)
        shape_of_body[body] = number
    return first, shape_of_body

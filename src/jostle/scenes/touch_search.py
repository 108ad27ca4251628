"""The first contact along a line, found by stepping inwards and halving."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Touches = Callable[[float], bool]  # position along the line -> whether the bodies touch there


def outermost_touch(touches: Touches, far: float, near: float, steps: int, halvings: int) -> float | None:
    """Return the touching position nearest to `far`, about; None if no step touches."""
    apart = far
    for position in np.linspace(far, near, steps + 1).tolist():
        if touches(position):
            return halved(touches, apart, position, halvings)
        apart = position
    return None


def halved(touches: Touches, apart: float, touching: float, halvings: int) -> float:
    """Return a touching position next to where contact begins between two positions."""
    for _ in range(halvings):
        middle = 0.5 * (apart + touching)
        if touches(middle):
            touching = middle
        else:
            apart = middle
    return touching

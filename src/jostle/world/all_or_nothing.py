"""Atomic steps: an object and its world change together or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from jostle.world.world import World

Result = TypeVar("Result")


class _Nobody:
    """An owner without state."""


def all_or_nothing(world: World, owner: Any, twin: Any, step: Callable[[], Result]) -> Result:
    """Run a step on `twin` and the world, then copy the twin to `owner`.

    If the step raises, nothing changes. The twin is a copy of the owner that shares nothing the step writes in place. Pass None for
    both if only the world changes. Returns the result of the step.
    """
    if owner is None:
        owner = twin = _Nobody()
    before = world._sealed_table()
    try:
        result = step()
        owner.__dict__ = twin.__dict__  # the last operation: no later interrupt is caught here
    except BaseException:
        # Plain assignments: a second interrupt cannot come before they are done.
        world._table = before
        world._detector = None  # it has seen poses that are undone
        raise
    return result

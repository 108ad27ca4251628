"""Atomic steps: an object that moves a world and the world change together, or, whatever raises, neither does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from jostle.world.world import World

Result = TypeVar("Result")


class _Nobody:
    """An owner without a state."""


def all_or_nothing(world: World, owner: Any, twin: Any, step: Callable[[], Result]) -> Result:
    """Return `step()`, which changes `twin` and the world; then let `owner` become the twin. If it raises, nothing has changed.

    The twin is a copy of the owner that shares nothing with it that the step writes in place; None where only the world changes.
    """
    if owner is None:
        owner = twin = _Nobody()
    before = world._sealed_table()
    try:
        result = step()
        owner.__dict__ = twin.__dict__  # the last operation: no interrupt comes after it that would still be caught here
    except BaseException:
        # Plain assignments: a second interrupt cannot come before they are done.
        world._table = before
        world._detector = None  # it has seen what did not happen
        raise
    return result

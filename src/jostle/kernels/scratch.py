"""Workspaces kept between calls: making an address table takes 30 µs.

That is more than many calls. A call takes one and gives it back when it ends, so that threads, and nested calls, never share one.
Its content is of no use to the next call. A workspace that an interrupt keeps from coming back is lost, and another one is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Workspace = TypeVar("Workspace")


class Workspaces(Generic[Workspace]):
    """Workspaces of one kind."""

    def __init__(self, make: Callable[[], Workspace]) -> None:
        self._make = make
        self._idle: list[Workspace] = []

    def take(self) -> Workspace:
        """Return an unused workspace."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._make()

    def give_back(self, workspace: Workspace) -> None:
        """Keep it for the next call."""
        self._idle.append(workspace)

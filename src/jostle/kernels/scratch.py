"""Workspaces that are kept between calls: making an address table takes 30 µs, more than many a call.

A call takes one for itself and gives it back when it ends, so that threads, and calls inside of calls, never share one. What it
leaves in there is of no use to the next call. A workspace that an interrupt keeps from coming back is lost, and another one made.
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
        """Return one that nobody uses."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._make()

    def give_back(self, workspace: Workspace) -> None:
        """Keep it for the next call."""
        self._idle.append(workspace)

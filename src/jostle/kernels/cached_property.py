"""Attributes that are computed on first access."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Owner = TypeVar("Owner")
Value = TypeVar("Value")


class cached_property(Generic[Owner, Value]):  # noqa: N801  # used as a decorator, under the name of the one of `functools`
    """`functools.cached_property` without a lock.

    Up to Python 3.11 that one holds a lock of the whole class while it computes: a process forked meanwhile waits for it forever,
    and threads with objects of their own wait for each other. Here two threads may both compute; both get the first value.
    """

    def __init__(self, function: Callable[[Owner], Value]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[Owner, Value]: ...
    @overload
    def __get__(self, instance: Owner, owner: type) -> Value: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        """Compute the value and store it in place of this descriptor."""
        if instance is None:
            return self
        return instance.__dict__.setdefault(self._name, self._function(instance))

"""The errors that jostle raises.

Every message names what is wrong (body, field, index) and what to do about it.
"""

from __future__ import annotations


class JostleError(Exception):
    """Base of all errors that jostle raises on purpose."""


class InputError(JostleError, ValueError):
    """A value passed by the caller cannot be used; the call changed nothing."""


class BoundBroken(InputError):
    """A body moved farther or faster than its stated bound; `body` is its number.

    Nothing is lost: ask for the same frame again to get the right answer.
    """

    def __init__(self, message: str, body: int) -> None:
        super().__init__(message)
        self.body = body


class Unsupported(JostleError):
    """The method does not support this scene or query; the message names the trait."""


class NoCompiler(Unsupported):
    """A kernel has no code, and cannot or must not be compiled."""


class BusyError(JostleError, RuntimeError):
    """A world was used by two threads at the same time."""

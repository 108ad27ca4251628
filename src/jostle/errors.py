"""The errors that a caller can meet.

Every message names what was wrong (body, field, index) and what to do about it.
"""

from __future__ import annotations


class JostleError(Exception):
    """Base of all errors that jostle raises on purpose."""


class InputError(JostleError, ValueError):
    """A value that a caller passed in cannot be used; nothing has been changed by the call."""


class BoundBroken(InputError):
    """A body moved farther or faster than the bound that was given for it allows; `body` is its number.

    The frame is not answered, but nothing is lost: the same frame can be asked again, and is then answered rightly.
    """

    def __init__(self, message: str, body: int) -> None:
        super().__init__(message)
        self.body = body


class Unsupported(JostleError):
    """The chosen method does not serve this scene or query; the message names the trait that says so."""


class BusyError(JostleError, RuntimeError):
    """A world was used by two threads at the same time."""

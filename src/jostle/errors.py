"""The errors a user of jostle can meet.

Every message names what was wrong (body, field, index) and what to do about it.
"""

from __future__ import annotations


class JostleError(Exception):
    """Base of all errors that jostle raises on purpose."""


class InputError(JostleError, ValueError):
    """A value that a caller passed in cannot be used; nothing has been changed by the call."""


class Unsupported(JostleError):
    """The chosen method does not serve this scene or query; the message names the trait that says so."""


class BusyError(JostleError, RuntimeError):
    """A world was used by two threads at the same time."""

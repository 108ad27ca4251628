"""Deprecated location of `open_session`, kept for one more release."""

from __future__ import annotations

import warnings


def __getattr__(name: str) -> object:
    from jostle.viewer.open_session import open_session

    if name != "shown":
        raise AttributeError(f"module 'jostle.viewer.shown' has no attribute {name!r}")
    warnings.warn("jostle.viewer.shown.shown is jostle.viewer.open_session.open_session now", DeprecationWarning, stacklevel=2)
    return open_session

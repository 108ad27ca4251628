"""Deprecated: use `jostle.translation` and `jostle.rotation`."""

from __future__ import annotations

import warnings


def __getattr__(name: str) -> object:
    from jostle.geometry import pose

    if name.startswith("_") or not hasattr(pose, name):
        raise AttributeError(f"module 'jostle.motion.pose' has no attribute {name!r}")
    public = "rotation" if name == "rotation_about" else name
    warnings.warn(f"jostle.motion.pose.{name} has moved: use jostle.{public}", DeprecationWarning, stacklevel=2)
    return getattr(pose, name)

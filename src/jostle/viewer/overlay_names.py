"""The overlays that a panel offers: those that a method's traits declare, and "nothing"."""

from __future__ import annotations

from jostle.interface.method import Method
from jostle.viewer.settings import NOTHING


def names_for(method: Method) -> list[str]:
    """Return the overlays that a panel offers for a method, "nothing" first."""
    return [NOTHING, *(method.traits.overlays or {"its overlay": ""})]


def what_of(method: Method, name: str) -> str:
    """Return the method's own name of an overlay."""
    return method.traits.overlays.get(name, "")

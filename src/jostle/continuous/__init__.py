"""Contact along a motion: moving bodies, exact and certified queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jostle.continuous.queries import MovingContacts, edge_edge, point_triangle

__all__ = ["MovingContacts", "edge_edge", "point_triangle"]


def __getattr__(name: str) -> object:
    # Imported on use: methods for motions import from this package, and none of them needs these.
    if name in __all__:
        from jostle.continuous import queries

        return getattr(queries, name)
    raise AttributeError(f"module 'jostle.continuous' has no attribute {name!r}")

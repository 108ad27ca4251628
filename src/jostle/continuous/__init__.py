"""Contact along a motion: when do moving points, edges and triangles first meet?"""

from jostle.continuous.queries import MovingContacts, edge_edge, point_triangle

__all__ = ["MovingContacts", "edge_edge", "point_triangle"]

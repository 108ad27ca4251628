"""Exact predicates, triangles, boxes, distances and rigid motion, as kernels."""

"""Scalar kernels, no classes: exact predicates, triangles, boxes, distances, rigid motion."""

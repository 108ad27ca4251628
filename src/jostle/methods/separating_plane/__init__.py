"""Separating planes of convex bodies, cached from instant to instant (Kitamura et al. 1998, §5.1)."""

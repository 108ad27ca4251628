"""Separating planes of convex bodies, cached from frame to frame.

Kitamura et al. 1998, §5.1. Open `method.py` first, then `planes.py` (the kernel over all pairs).
"""

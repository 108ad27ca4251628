"""Closest features of convex bodies, tracked from frame to frame.

Lin and Canny 1991; I-COLLIDE, Cohen et al. 1995. Open `method.py` first, then `pairs.py` (the kernel over all pairs) and
`walk.py`.
"""

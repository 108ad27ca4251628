"""Closest features of convex bodies, walked to from last frame's (Lin and Canny 1991; I-COLLIDE, Cohen et al. 1995)."""

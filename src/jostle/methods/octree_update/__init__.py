"""Octree update: precomputed face octrees that move with their bodies.

§5.2 of Kitamura et al. 1998. Open `method.py` first, then `search.py` and the kernels that it runs.
"""

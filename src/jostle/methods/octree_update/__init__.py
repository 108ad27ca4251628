"""The octree update algorithm of §5.2 of Kitamura et al. 1998: precomputed face octrees that move with their bodies."""

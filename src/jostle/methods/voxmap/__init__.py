"""Voxel maps and point shells (Lock and Wills 2000, VoxColliDe): contact points at look-up speed, within an accuracy."""

"""Voxel maps and point shells: contact points within an accuracy.

Lock and Wills (2000), VoxColliDe.
"""
